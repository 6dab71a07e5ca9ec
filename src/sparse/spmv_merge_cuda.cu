// CSR products on the device by merge path (Merrill and Garland, SC 2016): blocks take equal shares of rows + entries.
//
// The plan searches where each tile begins. A block stages the products of its entries (see spmv_device.cuh), sums
// the rows that end in its tile and writes them, and leaves the sum of the row that does not end there as its carry; a
// second kernel adds the carries of each row in tile order. One writer an element and a fixed order: deterministic.
// Workspace: 2 indices and a value a tile.
#include "core/instantiate.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/spmv_device.cuh"

#include <algorithm>

namespace spargo::detail {

namespace {

// Rows + entries a tile. Its entries, and up to three before them from rounding down to a multiple of four, fit the
// stage.
template <class D>
inline constexpr int tile_items = stage_capacity<D> - 4;

template <class D, class I, class O>
struct merge_arguments {
  device_entries<D, I> entries;
  const O* offsets;
  std::int64_t rows;
  std::int64_t tiles;
  I* tile_rows;   // tiles + 1: rows finished before the tile
  I* carry_rows;  // the row that a tile's carry belongs to; -1: none
  D* carries;

  [[nodiscard]] __device__ std::int64_t diagonal(std::int64_t tile) const {
    const std::int64_t total = rows + entries.nnz;
    const std::int64_t d = tile * tile_items<D>;
    return d < total ? d : total;
  }
};

template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads) tile_rows_kernel(merge_arguments<D, I, O> a) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (tile <= a.tiles) {
    a.tile_rows[tile] = static_cast<I>(merge_path_row(a.offsets, a.rows, a.entries.nnz, a.diagonal(tile)));
  }
}

template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads) carry_rows_kernel(merge_arguments<D, I, O> a) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * spmv_threads + threadIdx.x;
  if (tile >= a.tiles) return;
  const std::int64_t row = a.tile_rows[tile + 1];
  const std::int64_t begin = a.diagonal(tile) - a.tile_rows[tile];
  const std::int64_t end = a.diagonal(tile + 1) - row;
  const bool carries = row < a.rows && end > begin && end > static_cast<std::int64_t>(a.offsets[row]);
  a.carry_rows[tile] = carries ? static_cast<I>(row) : I{-1};
}

template <class D, class I, class O>
__global__ void __launch_bounds__(spmv_threads)
    merge_path_kernel(merge_arguments<D, I, O> a, const D* x, D alpha, D beta, D* y) {
  __shared__ D products[stage_elements<D>];
  __shared__ std::uint16_t bounds[tile_items<D> + 2];  // at most stage_capacity
  __shared__ long_segments<D> list;
  const std::int64_t tile = blockIdx.x;
  const std::int64_t first_row = a.tile_rows[tile];
  const std::int64_t last_row = a.tile_rows[tile + 1];
  const std::int64_t begin = a.diagonal(tile) - first_row;
  const std::int64_t end = a.diagonal(tile + 1) - last_row;
  const std::int64_t origin = begin & ~std::int64_t{3};
  const int rows_here = static_cast<int>(last_row - first_row);

  if (threadIdx.x == 0) {
    list.count = 0;
    bounds[0] = static_cast<std::uint16_t>(begin - origin);
    bounds[rows_here + 1] = static_cast<std::uint16_t>(end - origin);
  }
  for (int j = 1 + static_cast<int>(threadIdx.x); j <= rows_here; j += spmv_threads) {
    bounds[j] = static_cast<std::uint16_t>(static_cast<std::int64_t>(a.offsets[first_row + j]) - origin);
  }
  stage_products(a.entries, x, origin, end, products);
  __syncthreads();

  sum_segments(products, bounds, rows_here + 1, list, [&](int j, D sum) {
    if (j < rows_here) {
      update(y[first_row + j], alpha, sum, beta);
    } else {
      a.carries[tile] = sum;
    }
  });
}

template <class V, class I, class O>
class device_merge final : public spmv_executor<V> {
  using D = device_value_t<V>;

 public:
  device_merge(const context<device>& ctx, const csr_view<const V, I, O, device>& a)
      : ctx_(ctx), tiles_(div_up(a.rows + a.nnz(), tile_items<D>)) {
    const device_guard guard(ctx);
    tile_rows_ = {ctx, tiles_ + 1};
    carry_rows_ = {ctx, tiles_};
    carries_ = {ctx, tiles_};
    arguments_ = {entries_of(a.values.data(), a.indices.data(), a.nnz()),
                  a.offsets.data(),
                  a.rows,
                  tiles_,
                  tile_rows_.data(),
                  carry_rows_.data(),
                  device_cast(carries_.data())};
    tile_rows_kernel<<<grid_of(tiles_ + 1, spmv_threads), spmv_threads, 0, ctx.stream()>>>(arguments_);
    SPARGO_CUDA_TRY(cudaGetLastError());
    carry_rows_kernel<<<grid_of(tiles_, spmv_threads), spmv_threads, 0, ctx.stream()>>>(arguments_);
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  void run(V alpha_value, const V* x, V beta, V* y_values) const override {
    const device_guard guard(ctx_);
    const D alpha = to_device_value(alpha_value);
    D* const y = device_cast(y_values);
    merge_path_kernel<<<grid_of(tiles_, 1), spmv_threads, 0, ctx_.stream()>>>(arguments_, device_cast(x), alpha,
                                                                              to_device_value(beta), y);
    SPARGO_CUDA_TRY(cudaGetLastError());
    add_carries<D, I>(ctx_, arguments_.carry_rows, arguments_.carries, tiles_, alpha, y);
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(sizeof(I)) * (tile_rows_.size() + carry_rows_.size()) +
           static_cast<std::int64_t>(sizeof(V)) * carries_.size();
  }

 private:
  context<device> ctx_;
  std::int64_t tiles_;
  array<I, device> tile_rows_;
  array<I, device> carry_rows_;
  array<V, device> carries_;
  merge_arguments<D, I, O> arguments_{};
};

}  // namespace

template <class V, class I, class O>
spmv_executor_ptr<V> make_merge_executor(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix) {
  return std::make_unique<device_merge<V, I, O>>(ctx, matrix);
}

#define INSTANTIATE(V, I, O) \
  template spmv_executor_ptr<V> make_merge_executor(const context<device>&, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
