// Reading text on the host, to COO and to CSR.
#include "bench/read_cases.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

namespace spargo::bench {

namespace {

using index = std::int32_t;

template <class V>
void add_matrix(const context<host>& ctx, text_kind kind) {
  const std::string group = fmt::format("read/{}/host:", name_of(kind));
  add_case(group + "coo", [=](benchmark::State& state) {
    return measure_reading(state, kind,
                           [&](const std::string& path) { (void)read_matrix_market<V, index>(ctx, path); });
  });
  add_case(group + "csr", [=](benchmark::State& state) {
    return measure_reading(state, kind, [&](const std::string& path) {
      (void)to_csr<index>(ctx, read_matrix_market<V, index>(ctx, path).view());
    });
  });
}

void add_all() {
  if (!current_settings().host) return;
  const context<host> ctx({.threads = current_settings().threads});
  add_matrix<double>(ctx, text_kind::real);
  add_matrix<pattern>(ctx, text_kind::pattern_symmetric);
  add_case("read/edges/host:coo", [=](benchmark::State& state) {
    return measure_reading(state, text_kind::edges,
                           [&](const std::string& path) { (void)read_edge_list<index>(ctx, path); });
  });
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
