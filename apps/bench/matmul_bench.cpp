// The dense product on the host, beside OpenBLAS where it is there.
#include "bench/host_timing.hpp"
#include "bench/references.hpp"

#include <spargo/primitives/matmul.hpp>

namespace spargo::bench {

namespace {

template <class V>
double measure(benchmark::State& state, std::int64_t n, matmul_algorithm algorithm) {
  const context<host> ctx({.threads = current_settings().threads});
  huge_page_array<V> a(n * n);
  huge_page_array<V> b(n * n);
  huge_page_array<V> c(n * n);
  for (std::int64_t i = 0; i < n * n; ++i) {
    a[i] = random_input<V>(i);
    b[i] = random_input<V>(i + n * n);
  }
  poison(c.view());
  const dense_view<const V, host> left{n, n, n, {a.data(), n * n}};
  const dense_view<const V, host> right{n, n, n, {b.data(), n * n}};
  const double seconds = median_seconds(
      [&] {
        matmul<V, host>(ctx, V(1), left, right, V(0), dense_view<V, host>{n, n, n, {c.data(), n * n}},
                        {.algorithm = algorithm});
      },
      7, 1);
  expect_product(n, std::as_const(a).view(), std::as_const(b).view(), std::as_const(c).view());
  state.counters[gflops] = 2e-9 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / seconds;
  return seconds;
}

template <class V>
void add_type(const std::string& type) {
  const std::string group = "matmul/" + type + "/2048/cpu/";
  add_case(group + "blocked",
           [](benchmark::State& state) { return measure<V>(state, 2048, matmul_algorithm::blocked); });
  add_case(group + "automatic",
           [](benchmark::State& state) { return measure<V>(state, 2048, matmul_algorithm::automatic); });
  add_peer(group + "openblas",
           [](benchmark::State& state) { return measure<V>(state, 2048, matmul_algorithm::openblas); });
}

void add_all() {
  if (!current_settings().host) return;
  add_type<float>("float");
  add_type<double>("double");
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
