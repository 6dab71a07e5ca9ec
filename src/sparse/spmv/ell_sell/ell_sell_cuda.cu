// ELL and SELL-C-sigma products on the device: one thread per row, coalesced over the lanes of a warp.
//
// A thread stops at its row's length, so padding is never multiplied. Four entries are loaded before the first is used;
// otherwise each entry would wait for its chain of index and x loads. With C = 32 a slice is a warp.
#include "core/instantiate.hpp"
#include "sparse/spmv/device.cuh"

namespace spargo::detail::spmv {

namespace {

// The sum over `length` entries at `at`, `at + stride`, ...
template <class D, class I>
__device__ D strided_dot(const D* values, const I* indices, std::int64_t at, std::int64_t stride, I length,
                         const D* x) {
  D sum{};
  I k = 0;
  for (; k + 4 <= length; k += 4) {
    I column[4];
    D value[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      column[j] = __ldcs(indices + at + j * stride);
      value[j] = values[at + j * stride];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) sum = multiply_add(value[j], read(x + column[j]), sum);
    at += 4 * stride;
  }
  for (; k < length; ++k, at += stride) sum = multiply_add(values[at], read(x + indices[at]), sum);
  return sum;
}

template <class D, class I>
__global__ void __launch_bounds__(threads_per_block) ell_kernel(const D* values, const I* indices, const I* lengths,
                                                                std::int64_t rows, const D* x, D alpha, D beta, D* y) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (row >= rows) return;
  update(y[row], alpha, strided_dot(values, indices, row, rows, lengths[row], x), beta);
}

template <class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    sell_kernel(const D* values, const I* indices, const I* lengths, const I* permutation, const O* slice_offsets,
                std::int64_t slots, std::int64_t height, const D* x, D alpha, D beta, D* y) {
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (slot >= slots) return;
  const I row = permutation[slot];
  if (row < 0) return;
  const std::int64_t slice = height == warp_size ? slot / warp_size : slot / height;
  const std::int64_t at = static_cast<std::int64_t>(slice_offsets[slice]) + (slot - slice * height);
  update(y[row], alpha, strided_dot(values, indices, at, height, lengths[slot], x), beta);
}

template <class V, class I>
class device_ell final : public executor<V> {
 public:
  device_ell(const context<device>& ctx, const ell_view<const V, I, device>& a) : ctx_(ctx), a_(a) {}

  void run(V alpha, const V* x, V beta, V* y) const override {
    const device_guard guard(ctx_);
    const std::int64_t rows = a_.rows;
    launch_kernel(ctx_, one_thread_each(rows, threads_per_block), ell_kernel<device_value_t<V>, I>,
                  device_cast(a_.values.data()), a_.indices.data(), a_.row_lengths.data(), rows, device_cast(x),
                  to_device_value(alpha), to_device_value(beta), device_cast(y));
  }

 private:
  context<device> ctx_;
  ell_view<const V, I, device> a_;
};

template <class V, class I, class O>
class device_sell final : public executor<V> {
 public:
  device_sell(const context<device>& ctx, const sell_view<const V, I, O, device>& a) : ctx_(ctx), a_(a) {}

  void run(V alpha, const V* x, V beta, V* y) const override {
    const device_guard guard(ctx_);
    const std::int64_t slots = a_.permutation.size();
    launch_kernel(ctx_, one_thread_each(slots, threads_per_block), sell_kernel<device_value_t<V>, I, O>,
                  device_cast(a_.values.data()), a_.indices.data(), a_.row_lengths.data(), a_.permutation.data(),
                  a_.slice_offsets.data(), slots, static_cast<std::int64_t>(a_.slice_height), device_cast(x),
                  to_device_value(alpha), to_device_value(beta), device_cast(y));
  }

 private:
  context<device> ctx_;
  sell_view<const V, I, O, device> a_;
};

}  // namespace

template <class V, class I>
executor_ptr<V> make_executor(const context<device>& ctx, const ell_view<const V, I, device>& matrix) {
  return std::make_unique<device_ell<V, I>>(ctx, matrix);
}

template <class V, class I, class O>
executor_ptr<V> make_executor(const context<device>& ctx, const sell_view<const V, I, O, device>& matrix) {
  return std::make_unique<device_sell<V, I, O>>(ctx, matrix);
}

#define INSTANTIATE(V, I) \
  template executor_ptr<V> make_executor(const context<device>&, const ell_view<const V, I, device>&);
SPARGO_FOR_EACH_VALUE_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I, O) \
  template executor_ptr<V> make_executor(const context<device>&, const sell_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
