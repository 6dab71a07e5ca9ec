// Dispatch of device SpMM algorithms, and scaling of Y alone.
#include "core/instantiate.hpp"
#include "sparse/spmm/device.cuh"

namespace spargo::detail::spmm {

namespace {

template <class D>
__global__ void __launch_bounds__(threads_per_block)
    scale_rows_kernel(D beta, D* y, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (i >= rows * columns) return;
  D& element = y[i / columns * stride + i % columns];
  element = beta == D{} ? D{} : beta * element;
}

}  // namespace

template <class V>
void scale_rows(const context<device>& ctx, V beta, const dense_view<V, device>& y) {
  if (beta == V{1}) return;
  const device_guard guard(ctx);
  launch_kernel(ctx, one_thread_each(y.rows * y.cols, threads_per_block), scale_rows_kernel<device_value_t<V>>,
                to_device_value(beta), device_cast(y.data.data()), y.rows, y.cols, y.stride);
}

template <class V, class I, class O>
executor_ptr<V, device> make_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                      spmm_algorithm algorithm, std::int64_t max_columns) {
  if (algorithm == spmm_algorithm::merge_path) return make_merge<V, I, O>(ctx, matrix, max_columns);
  return make_rows<V, I, O>(ctx, matrix);
}

#define INSTANTIATE(V) template void scale_rows(const context<device>&, V, const dense_view<V, device>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I, O)                                                                                     \
  template executor_ptr<V, device> make_executor(const context<device>&, const csr_view<const V, I, O, device>&, \
                                                 spmm_algorithm, std::int64_t);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmm
