// Dense matrix product on the host: one problem for our rungs and their peer.
#pragma once

#include "bench/host_timing.hpp"
#include "bench/references.hpp"

#include <spargo/primitives/matmul.hpp>

namespace spargo::bench {

inline constexpr std::int64_t matmul_side = 2048;

template <class V>
[[nodiscard]] std::string matmul_group() {
  return std::string("matmul/") + (sizeof(V) == 4 ? "float" : "double") + "/2048/cpu/";
}

// multiply(a, b, c) computes C = A * B for square matrices without gaps; every element is checked.
template <class V, class Multiply>
double measure_matmul(benchmark::State& state, Multiply&& multiply) {
  constexpr std::int64_t n = matmul_side;
  huge_page_array<V> a(n * n);
  huge_page_array<V> b(n * n);
  huge_page_array<V> c(n * n);
  for (std::int64_t i = 0; i < n * n; ++i) {
    a[i] = random_input<V>(i);
    b[i] = random_input<V>(i + n * n);
  }
  poison(c.view());
  const double seconds = median_seconds([&] { multiply(a.data(), b.data(), c.data()); }, 7, 1);
  expect_product(n, std::as_const(a).view(), std::as_const(b).view(), std::as_const(c).view());
  state.counters[gflops] = 2e-9 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / seconds;
  return seconds;
}

}  // namespace spargo::bench
