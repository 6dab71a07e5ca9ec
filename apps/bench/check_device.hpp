// Checks of device results. Small results are copied to the host and compared there (check.hpp); products and
// convolutions are recomputed on the device by naive kernels in double, independent of src/.
#pragma once

#include "bench/check.hpp"
#include "bench/device_timing.hpp"

#include <spargo/formats/csr.hpp>

#include <string_view>
#include <vector>

namespace spargo::bench {

template <class T>
void poison(const context<device>& ctx, span<T, device> out) {
  if (out.empty()) return;
  expect(cudaMemsetAsync(out.data(), 0xff, static_cast<std::size_t>(out.size()) * sizeof(T), ctx.stream()));
}

template <class T, class Right>
void expect_all_on_device(std::string_view what, const array<T, device>& got, Right&& right) {
  const array<T, host> host_values = to_host(device_context(), got.view());
  device_context().synchronize();
  expect_all(what, host_values.view(), right);
}

// C = A op(B), row-major: A m x k, op(B) k x n. `rounding`: relative, of operands (0: none). V: float, double.
struct product_shape {
  std::int64_t m = 0, n = 0, k = 0;
  bool b_is_transposed = false;
  double rounding = 0;
};
template <class V>
void expect_product_on_device(const product_shape& shape, span<const V, device> a, span<const V, device> b,
                              span<const V, device> c);

// Y = A X for row-major X and Y of k columns. V: float, double.
template <class V>
void expect_sparse_product_on_device(const csr_view<const V, std::int32_t, std::int32_t, device>& a, std::int64_t k,
                                     span<const V, device> x, span<const V, device> y);

// Convolution of rows x cols inputs with a filter of down x across. V: float, double.
template <class V>
void expect_convolved_on_device(std::int64_t rows, std::int64_t cols, const std::vector<V>& filter, std::int64_t down,
                                std::int64_t across, span<const V, device> in, span<const V, device> out);

}  // namespace spargo::bench
