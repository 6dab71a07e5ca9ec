// Reading text into device memory, parsed there or on the host and copied; to COO and to CSR.
#include "bench/device_timing.hpp"
#include "bench/read_cases.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/device_read.hpp>

namespace spargo::bench {

namespace {

using index = std::int32_t;

struct rung {
  const char* name;
  device_read_algorithm algorithm;
};
constexpr rung rungs[] = {{"cuda:on_device", device_read_algorithm::on_device},
                          {"cuda:on_host", device_read_algorithm::on_host}};

// Makes sure that the intended reader was measured.
void expect_where(device_read_algorithm parsed, const rung& how) {
  if (parsed != how.algorithm) throw wrong_result(fmt::format("the text was parsed {}", to_string(parsed)));
}

template <class V>
coo_matrix<V, index, device> read(const context<host>& reading, const std::string& path, const rung& how) {
  device_read_summary summary;
  auto matrix = read_matrix_market<V, index>(device_context(), reading, path, {{}, how.algorithm}, &summary);
  expect_where(summary.parsed, how);
  return matrix;
}

template <class V>
void add_matrix(const context<host>& reading, text_kind kind, const rung& how) {
  const std::string group = fmt::format("read/{}/{}:", name_of(kind), how.name);
  add_case(group + "coo", [=](benchmark::State& state) {
    return measure_reading(state, kind, [&](const std::string& path) { (void)read<V>(reading, path, how); });
  });
  add_case(group + "csr", [=](benchmark::State& state) {
    return measure_reading(state, kind, [&](const std::string& path) {
      (void)to_csr<index>(device_context(), read<V>(reading, path, how).view());
    });
  });
}

void add_all() {
  if (!current_settings().device) return;
  const context<host> reading({.threads = current_settings().threads});
  for (const rung& how : rungs) {
    add_matrix<double>(reading, text_kind::real, how);
    add_matrix<pattern>(reading, text_kind::pattern_symmetric, how);
    add_case(fmt::format("read/edges/{}:coo", how.name), [=](benchmark::State& state) {
      return measure_reading(state, text_kind::edges, [&](const std::string& path) {
        expect_where(read_edge_list<index>(device_context(), reading, path, {{}, how.algorithm}).parsed, how);
      });
    });
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
