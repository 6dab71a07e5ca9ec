// Naive kernels for check_device.hpp: one thread per element, in double. The first wrong element is reported.
#include "bench/check_device.hpp"

namespace spargo::bench {

namespace {

constexpr int threads = 256;
constexpr unsigned long long none = ~0ULL;

struct finding {
  unsigned long long first = none;  // first wrong element
};

// eps times twice the number of terms, plus a fraction of each product.
struct allowance {
  double eps;
  double rounding;
};

__device__ void judge(std::int64_t at, double got, double sum, double magnitude, double terms, allowance allowed,
                      finding* found) {
  const double bound = (2 * (terms + 2) * allowed.eps + allowed.rounding) * magnitude;
  if (!(fabs(got - sum) <= bound)) atomicMin(&found->first, static_cast<unsigned long long>(at));
}

template <class V>
__global__ void __launch_bounds__(threads)
    product_kernel(product_shape s, const V* a, const V* b, const V* c, allowance allowed, finding* found) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= s.m * s.n) return;
  const std::int64_t i = at / s.n;
  const std::int64_t j = at % s.n;
  const std::int64_t start = s.b_is_transposed ? j * s.k : j;
  const std::int64_t step = s.b_is_transposed ? 1 : s.n;
  double sum = 0;
  double magnitude = 0;
  for (std::int64_t l = 0; l < s.k; ++l) {
    const double term = static_cast<double>(a[i * s.k + l]) * static_cast<double>(b[start + l * step]);
    sum += term;
    magnitude += fabs(term);
  }
  judge(at, static_cast<double>(c[at]), sum, magnitude, static_cast<double>(s.k), allowed, found);
}

template <class V>
__global__ void __launch_bounds__(threads)
    sparse_product_kernel(csr_view<const V, std::int32_t, std::int32_t, device> a, std::int64_t k, const V* x,
                          const V* y, allowance allowed, finding* found) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= std::int64_t{a.rows} * k) return;
  const std::int64_t row = at / k;
  const std::int64_t j = at % k;
  const std::int32_t first = a.offsets[row];
  const std::int32_t last = a.offsets[row + 1];
  double sum = 0;
  double magnitude = 0;
  for (std::int32_t e = first; e < last; ++e) {
    const double term = static_cast<double>(a.values[e]) * static_cast<double>(x[a.indices[e] * k + j]);
    sum += term;
    magnitude += fabs(term);
  }
  judge(at, static_cast<double>(y[at]), sum, magnitude, static_cast<double>(last - first), allowed, found);
}

struct image {
  std::int64_t rows, cols, down, across;
};

template <class V>
__global__ void __launch_bounds__(threads)
    convolution_kernel(image s, const V* filter, const V* in, const V* out, allowance allowed, finding* found) {
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= s.rows * s.cols) return;
  double sum = 0;
  double magnitude = 0;
  for (std::int64_t p = 0; p < s.down; ++p) {
    const std::int64_t y = at / s.cols + p - s.down / 2;
    if (y < 0 || y >= s.rows) continue;
    for (std::int64_t t = 0; t < s.across; ++t) {
      const std::int64_t x = at % s.cols + t - s.across / 2;
      if (x < 0 || x >= s.cols) continue;
      const double term = static_cast<double>(in[y * s.cols + x]) * static_cast<double>(filter[p * s.across + t]);
      sum += term;
      magnitude += fabs(term);
    }
  }
  judge(at, static_cast<double>(out[at]), sum, magnitude, static_cast<double>(s.down * s.across), allowed, found);
}

// Launches run(blocks, stream, found) for `size` elements; throws if one is wrong.
template <class Run>
void expect_none(const char* what, std::int64_t size, Run&& run) {
  if (size == 0) return;
  const auto& ctx = device_context();
  const finding nothing;
  array<finding, device> found(ctx, 1);
  expect(cudaMemcpyAsync(found.data(), &nothing, sizeof(finding), cudaMemcpyHostToDevice, ctx.stream()));
  run(static_cast<unsigned>((size + threads - 1) / threads), ctx.stream(), found.data());
  expect(cudaGetLastError());
  finding first_wrong;
  expect(cudaMemcpyAsync(&first_wrong, found.data(), sizeof(finding), cudaMemcpyDeviceToHost, ctx.stream()));
  ctx.synchronize();
  if (first_wrong.first != none)
    throw wrong_result(std::string(what) + " " + std::to_string(first_wrong.first) + " is beyond its rounding bound");
}

template <class V>
allowance allowed_in(double rounding = 0) {
  return {static_cast<double>(std::numeric_limits<V>::epsilon()), rounding};
}

}  // namespace

template <class V>
void expect_product_on_device(const product_shape& shape, span<const V, device> a, span<const V, device> b,
                              span<const V, device> c) {
  expect_none("product: element", shape.m * shape.n, [&](unsigned blocks, cudaStream_t stream, finding* found) {
    product_kernel<<<blocks, threads, 0, stream>>>(shape, a.data(), b.data(), c.data(), allowed_in<V>(shape.rounding),
                                                   found);
  });
}

template <class V>
void expect_sparse_product_on_device(const csr_view<const V, std::int32_t, std::int32_t, device>& a, std::int64_t k,
                                     span<const V, device> x, span<const V, device> y) {
  expect_none("y: element", std::int64_t{a.rows} * k, [&](unsigned blocks, cudaStream_t stream, finding* found) {
    sparse_product_kernel<<<blocks, threads, 0, stream>>>(a, k, x.data(), y.data(), allowed_in<V>(), found);
  });
}

template <class V>
void expect_convolved_on_device(std::int64_t rows, std::int64_t cols, const std::vector<V>& filter, std::int64_t down,
                                std::int64_t across, span<const V, device> in, span<const V, device> out) {
  const array<V, device> taps = to_device(device_context(), span<const V, host>(filter));
  expect_none("output", rows * cols, [&](unsigned blocks, cudaStream_t stream, finding* found) {
    convolution_kernel<<<blocks, threads, 0, stream>>>(image{rows, cols, down, across}, taps.data(), in.data(),
                                                       out.data(), allowed_in<V>(), found);
  });
}

template void expect_product_on_device<float>(const product_shape&, span<const float, device>,
                                              span<const float, device>, span<const float, device>);
template void expect_sparse_product_on_device<float>(const csr_view<const float, std::int32_t, std::int32_t, device>&,
                                                     std::int64_t, span<const float, device>,
                                                     span<const float, device>);
template void expect_convolved_on_device<float>(std::int64_t, std::int64_t, const std::vector<float>&, std::int64_t,
                                                std::int64_t, span<const float, device>, span<const float, device>);
template void expect_product_on_device<double>(const product_shape&, span<const double, device>,
                                               span<const double, device>, span<const double, device>);
template void expect_sparse_product_on_device<double>(const csr_view<const double, std::int32_t, std::int32_t, device>&,
                                                      std::int64_t, span<const double, device>,
                                                      span<const double, device>);
template void expect_convolved_on_device<double>(std::int64_t, std::int64_t, const std::vector<double>&, std::int64_t,
                                                 std::int64_t, span<const double, device>, span<const double, device>);

}  // namespace spargo::bench
