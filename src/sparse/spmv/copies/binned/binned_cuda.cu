// CSR products on the device in two passes over a copy of the matrix, both with sequential memory accesses.
//
// If a row's columns are scattered over x, each entry costs a sector of x from L2 or beyond: 32 bytes for one element.
// Here the first pass processes the entries by blocks of columns whose part of x fits shared memory, and writes the
// products in that order. The second pass processes bins, tiles of the merge path whose products fit shared memory: it
// reads the bin's cells, a short run from every column block, moves each product to its entry's place in the bin, and
// sums the rows in CSR's order. Neighbouring bins run at the same time and their cells are adjacent, so memory sees
// long runs.
//
// The sum of a bin's unfinished row is added to the row afterwards, in order: deterministic for any order within cells.
// If many columns have no entries, these are excluded from the blocks.
//
// Cost of a run: an entry's value, two 16-bit numbers, and its product written and read once: 16 bytes in fp32, 28 in
// fp64, at the speed of a copy. Workspace: all of these, 4 bytes per cell, 2 per row.
// Sources: propagation blocking (Beamer, Asanovic and Patterson, IPDPS 2017), with the binning done in the plan; merge
// path (Merrill and Garland, SC 2016).
#include "core/bytes_of.hpp"
#include "core/device/async_copy.cuh"
#include "core/device/launch.cuh"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "sparse/spmv/copies/binned/device.cuh"
#include "sparse/spmv/device.cuh"

#include <spargo/core/device_features.cuh>

#include <algorithm>
#include <bit>
#include <utility>

namespace spargo::detail::spmv {

namespace {

// H200, uniform columns, 8.4M rows of 16; ms per pass.
struct tuning {
  // One block per SM, with as much of x as fits. First pass, fp32: 0.425; with 768 threads 0.442, two blocks of 512 and
  // 96 KiB 0.425. 128 KiB takes 0.415, but the shorter cells slow down the second pass (96 KiB: 0.372 becomes 0.461).
  static constexpr int multiply_threads = 1024;
  static constexpr std::int64_t block_bytes = std::int64_t{192} * 1024;
  // Least bytes of values per thread and step, while the next ones are loaded. fp32, 32 bytes 0.425, 16 bytes 0.436, 32
  // without load ahead 0.428; fp64, 32 bytes 0.734, 64 bytes 0.818, 32 without 0.752.
  static constexpr int multiply_bytes = 32;
  // Second pass, two blocks per SM. fp32: 0.345; three blocks of 512 threads 0.372, of 384 threads 0.390; bins of 96
  // KiB and two blocks of 768 threads 0.359. fp64: 0.676; 1024 threads 0.714; three blocks of 512 threads 0.83, of 384
  // threads 0.797; bins of 96 KiB and 768 threads 0.702. Padding cells to whole quads takes fewer instructions and more
  // bytes: both passes together 0.774 and 1.591 with 1024 threads.
  static constexpr int narrow_sum_threads = 1024;
  static constexpr int sum_threads = 512;
  static constexpr std::int64_t bin_bytes = std::int64_t{64} * 1024;
  // If a smaller share of columns has entries, columns are renumbered; an element of x then costs its number too.
  static constexpr double dense_share = 0.75;
};

template <class D>
inline constexpr std::int64_t block_columns = tuning::block_bytes / static_cast<std::int64_t>(sizeof(D));
template <class D>
inline constexpr std::int64_t bin_items = tuning::bin_bytes / static_cast<std::int64_t>(sizeof(D));
template <class D>
inline constexpr int sum_threads = sizeof(D) <= 4 ? tuning::narrow_sum_threads : tuning::sum_threads;
// Quads of products per thread and step: what the registers of two blocks hold.
template <class D>
inline constexpr int sum_quads = sizeof(D) <= 4 ? 1 : 2;
template <class D>
inline constexpr int multiply_quads = std::max(1, tuning::multiply_bytes / static_cast<int>(sizeof(quad<D>)));
static_assert(block_columns<float> <= 1 << 16 && bin_items<float> < 1 << 16);

template <class D>
struct binned_arguments {
  std::int64_t rows;
  std::int64_t nnz;
  std::int64_t used;  // columns used
  std::int64_t blocks;
  std::int64_t bins;
  std::int64_t bin_items;
  const std::uint32_t* bin_rows;
  const std::uint16_t* row_ends;
  const std::uint32_t* starts;
  const std::uint32_t* columns;  // null: all columns
  const std::uint16_t* block_columns;
  const std::uint16_t* bin_places;
  const D* values;
  D* products;
  D* carries;
};

__device__ inline quad<std::uint16_t> load_short_quad(const std::uint16_t* p) {
  const uint2 raw = __ldcs(reinterpret_cast<const uint2*>(p));
  quad<std::uint16_t> q;
  __builtin_memcpy(&q, &raw, sizeof(q));
  return q;
}

template <class D>
__device__ void store_quad(D* to, const quad<D>& q) {
  constexpr int words = static_cast<int>(sizeof(quad<D>) / 16);
  int4 raw[words];
  __builtin_memcpy(raw, &q, sizeof(q));
#pragma unroll
  for (int w = 0; w < words; ++w) reinterpret_cast<int4*>(to)[w] = raw[w];
}

extern __shared__ int4 binned_bytes[];

// Starts asynchronous copies of the block's part of x, which occupy no registers.
template <class D>
__device__ void load_block(const binned_arguments<D>& a, const D* x, std::int64_t block, D* x_block) {
  const std::int64_t first = block * block_columns<D>;
  const int size = static_cast<int>(min(block_columns<D>, a.used - first));
  const int thread = static_cast<int>(threadIdx.x);
  if (a.columns == nullptr) {
    for (int c = thread; c < size; c += tuning::multiply_threads) copy_async(x_block + c, x + first + c);
    return;
  }
  constexpr int batch = 8;  // indices in flight
  for (int c = thread; c < size; c += batch * tuning::multiply_threads) {
    std::uint32_t columns[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int at = c + k * tuning::multiply_threads;
      columns[k] = at < size ? a.columns[first + at] : 0;
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int at = c + k * tuning::multiply_threads;
      if (at < size) copy_async(x_block + at, x + columns[k]);
    }
  }
}

// A thread's quads of one step; threads are adjacent.
template <class D>
struct multiply_round {
  quad<std::uint16_t> columns[multiply_quads<D>];
  quad<D> values[multiply_quads<D>];

  static constexpr std::int64_t step = 4 * tuning::multiply_threads;

  __device__ void load(const binned_arguments<D>& a, std::int64_t first, std::int64_t end) {
#pragma unroll
    for (int q = 0; q < multiply_quads<D>; ++q) {
      const std::int64_t k = first + q * step;
      if (k >= end) continue;
      columns[q] = load_short_quad(a.block_columns + k);
      values[q] = load_quad(a.values + k);
    }
  }
  __device__ void multiply(const binned_arguments<D>& a, const D* x_block, std::int64_t first, std::int64_t begin,
                           std::int64_t end) {
#pragma unroll
    for (int q = 0; q < multiply_quads<D>; ++q) {
      const std::int64_t k = first + q * step;
      if (k >= begin && k + 4 <= end) {
#pragma unroll
        for (int j = 0; j < 4; ++j) values[q].v[j] = values[q].v[j] * x_block[columns[q].v[j]];
        store_quad(a.products + k, values[q]);
      } else if (k < end) {  // quad shared with a neighbouring block
        for (int j = 0; j < 4; ++j) {
          if (k + j >= begin && k + j < end) a.products[k + j] = values[q].v[j] * x_block[columns[q].v[j]];
        }
      }
    }
  }
};

// The last column block that starts at or before `place`.
template <class D>
__device__ std::int64_t block_of(const binned_arguments<D>& a, std::int64_t place) {
  std::int64_t low = 0;
  std::int64_t high = a.blocks - 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (static_cast<std::int64_t>(a.starts[middle * a.bins]) <= place) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Thread blocks take equal shares of the places, across column blocks.
template <class D>
__global__ void __launch_bounds__(tuning::multiply_threads, 1) multiply_kernel(binned_arguments<D> a, const D* x) {
  D* const x_block = reinterpret_cast<D*>(binned_bytes);
  const std::int64_t share = 4 * div_up(div_up(a.nnz, std::int64_t{4}), static_cast<std::int64_t>(gridDim.x));
  const std::int64_t last = min(share * (blockIdx.x + 1), a.nnz);
  std::int64_t place = share * blockIdx.x;
  if (place >= last) return;
  for (std::int64_t block = block_of(a, place); place < last; ++block) {
    const std::int64_t end = min(static_cast<std::int64_t>(a.starts[(block + 1) * a.bins]), last);
    if (end <= place) continue;
    constexpr std::int64_t step = multiply_round<D>::step * multiply_quads<D>;
    std::int64_t first = (place & ~std::int64_t{3}) + 4 * static_cast<int>(threadIdx.x);
    multiply_round<D> next;
    next.load(a, first, end);
    __syncthreads();  // the previous block of x has been used
    load_block(a, x, block, x_block);
    wait_for_copies();
    __syncthreads();
    for (; first < end; first += step) {
      multiply_round<D> now = next;
      next.load(a, first + step, end);
      now.multiply(a, x_block, first, place, end);
    }
    place = end;
  }
}

// A bin's cells as one list of quads, up to `Threads` cells at a time. Quads start at multiples of four places.
template <int Threads>
struct cell_list {
  alignas(16) int warp_quads[Threads / warp_size];  // in its own 16 bytes: the compiler loads these at once
  std::uint32_t begin[Threads];
  std::uint32_t end[Threads];
  int first_quad[Threads + 1];  // position in the list
};

// Lists the cells of column blocks first .. first + size - 1. The whole block must call it; the list is then readable.
template <class D>
__device__ void list_cells(const binned_arguments<D>& a, std::int64_t bin, std::int64_t first, int size,
                           cell_list<sum_threads<D>>& list) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warp_size;
  const int warp = thread / warp_size;
  const std::int64_t cell = (first + thread) * a.bins + bin;
  const std::uint32_t begin = thread < size ? a.starts[cell] : 0;
  const std::uint32_t end = thread < size ? a.starts[cell + 1] : 0;
  const int quads = begin < end ? static_cast<int>((end - 1) / 4 - begin / 4) + 1 : 0;
  int upto = warp_inclusive_sum(quads);
  __syncthreads();  // the previous list has been used
  list.begin[thread] = begin;
  list.end[thread] = end;
  if (lane == warp_size - 1) list.warp_quads[warp] = upto;
  __syncthreads();
  for (int w = 0; w < warp; ++w) upto += list.warp_quads[w];
  list.first_quad[thread + 1] = upto;
  if (thread == 0) list.first_quad[0] = 0;
  __syncthreads();
}

// The last cell whose quads start at or before `quad`.
template <int Threads>
__device__ int cell_of(const cell_list<Threads>& list, int size, int quad) {
  int low = 0;
  int high = size - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (list.first_quad[middle] <= quad) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Moves the products of the listed cells to their places in the bin, in `stage`. Warps take equal shares of the quads.
template <class D>
__device__ void stage_cells(const binned_arguments<D>& a, const cell_list<sum_threads<D>>& list, int size, D* stage) {
  constexpr int warps = sum_threads<D> / warp_size;
  const int quads = list.first_quad[size];
  const int share = div_up(quads, warps * warp_size) * warp_size;
  const int first = static_cast<int>(threadIdx.x) / warp_size * share;
  const int last = min(first + share, quads);
  int k = first + static_cast<int>(threadIdx.x) % warp_size;
  int cell = cell_of(list, size, k);
  while (k < last) {
    quad<D> products[sum_quads<D>];
    quad<std::uint16_t> places[sum_quads<D>];
    unsigned inside[sum_quads<D>] = {};  // bit j: value j belongs to the cell
#pragma unroll
    for (int q = 0; q < sum_quads<D>; ++q, k += warp_size) {
      if (k >= last) continue;
      while (k >= list.first_quad[cell + 1]) ++cell;
      const std::uint32_t begin = list.begin[cell];
      const std::uint32_t end = list.end[cell];
      const std::uint32_t place = (begin & ~3U) + 4 * static_cast<std::uint32_t>(k - list.first_quad[cell]);
      products[q] = load_quad(a.products + place);
      places[q] = load_short_quad(a.bin_places + place);
      const unsigned before = place < begin ? begin - place : 0;
      const unsigned upto = end - place < 4 ? end - place : 4;
      inside[q] = ((1U << upto) - 1) & ~((1U << before) - 1);
    }
#pragma unroll
    for (int q = 0; q < sum_quads<D>; ++q) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if ((inside[q] >> j & 1U) != 0) stage[skewed<D>(places[q].v[j])] = products[q].v[j];
      }
    }
  }
}

template <class D>
__global__ void __launch_bounds__(sum_threads<D>, resident_blocks(sizeof(D) <= 8 ? 2 : 1, sum_threads<D>))
    sum_kernel(binned_arguments<D> a, D alpha, D beta, D* y) {
  __shared__ cell_list<sum_threads<D>> cells;
  __shared__ int long_count;
  __shared__ std::uint16_t long_items[bin_items<D> / long_segment + 1];
  D* const stage = reinterpret_cast<D*>(binned_bytes);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t bin = blockIdx.x;
  if (thread == 0) long_count = 0;
  for (std::int64_t first = 0; first < a.blocks; first += sum_threads<D>) {
    const int size = static_cast<int>(min(a.blocks - first, std::int64_t{sum_threads<D>}));
    list_cells(a, bin, first, size, cells);
    stage_cells(a, cells, size, stage);
  }
  __syncthreads();

  const std::int64_t first_row = a.bin_rows[bin];
  const int rows = static_cast<int>(a.bin_rows[bin + 1] - first_row);
  const int entries = static_cast<int>(min(a.bin_items, a.rows + a.nnz - bin * a.bin_items)) - rows;
  const std::uint16_t* const ends = a.row_ends + first_row;
  const auto begin_of = [&](int j) { return j == 0 ? 0 : static_cast<int>(ends[j - 1]); };
  const auto end_of = [&](int j) { return j < rows ? static_cast<int>(ends[j]) : entries; };
  const auto emit = [&](int j, D sum) {
    if (j < rows) {
      update(y[first_row + j], alpha, sum, beta);
    } else {
      a.carries[bin] = sum;
    }
  };
  for (int j = thread; j <= rows; j += sum_threads<D>) {
    const int first = begin_of(j);
    const int end = end_of(j);
    if (end - first > long_segment) {
      long_items[atomicAdd(&long_count, 1)] = static_cast<std::uint16_t>(j);
      continue;
    }
    D sum{};
    for (int k = first; k < end; ++k) sum += stage[skewed<D>(k)];
    emit(j, sum);
  }
  __syncthreads();
  const int lane = thread % warp_size;
  for (int i = thread / warp_size; i < long_count; i += sum_threads<D> / warp_size) {
    const int j = long_items[i];
    const int end = end_of(j);
    D sum{};
    for (int k = begin_of(j) + lane; k < end; k += warp_size) sum += stage[skewed<D>(k)];
    sum = group_sum(sum, warp_size);
    if (lane == 0) emit(j, sum);
  }
}

template <class V>
class device_binned final : public executor<V> {
  using D = device_value_t<V>;

 public:
  device_binned(const context<device>& ctx, binned_matrix<V> matrix, std::int64_t used)
      : ctx_(ctx), matrix_(std::move(matrix)), products_(ctx, matrix_.values.size()), carries_(ctx, matrix_.bins) {
    fill_zero(ctx, products_.view().subspan(matrix_.nnz, products_.size() - matrix_.nnz));
    arguments_ = {.rows = matrix_.rows,
                  .nnz = matrix_.nnz,
                  .used = used,
                  .blocks = matrix_.blocks,
                  .bins = matrix_.bins,
                  .bin_items = matrix_.bin_items,
                  .bin_rows = matrix_.bin_rows.data(),
                  .row_ends = matrix_.row_ends.data(),
                  .starts = matrix_.starts.data(),
                  .columns = matrix_.columns.empty() ? nullptr : matrix_.columns.data(),
                  .block_columns = matrix_.block_columns.data(),
                  .bin_places = matrix_.bin_places.data(),
                  .values = device_cast(matrix_.values.data()),
                  .products = device_cast(products_.data()),
                  .carries = device_cast(carries_.data())};
    x_bytes_ = static_cast<std::size_t>(std::min(used, block_columns<D>)) * sizeof(D);
    allow_shared(multiply_kernel<D>, tuning::block_bytes);
    allow_shared(sum_kernel<D>, stage_bytes);
  }

  void run(V alpha_value, const V* x, V beta, V* y_values) const override {
    const device_guard guard(ctx_);
    const D alpha = to_device_value(alpha_value);
    D* const y = device_cast(y_values);
    const std::int64_t work = div_up(arguments_.nnz, std::int64_t{4} * tuning::multiply_threads);
    const auto grid = std::min<std::int64_t>(ctx_.properties().multiprocessors, work);
    launch_kernel(ctx_, {grid, tuning::multiply_threads, x_bytes_}, multiply_kernel<D>, arguments_, device_cast(x));
    launch_kernel(ctx_, {arguments_.bins, sum_threads<D>, stage_bytes}, sum_kernel<D>, arguments_, alpha,
                  to_device_value(beta), y);
    add_carries<D, std::int64_t>(ctx_, matrix_.carry_rows.data(), arguments_.carries, arguments_.bins, alpha, y);
  }
  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override {
    const device_guard guard(ctx_);
    place_values(ctx_, values, matrix_);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(matrix_.bin_rows, matrix_.carry_rows, matrix_.row_ends, matrix_.starts, matrix_.columns,
                    matrix_.block_columns, matrix_.bin_places, matrix_.values, products_, carries_);
  }

 private:
  static constexpr std::size_t stage_bytes =
      static_cast<std::size_t>(bin_items<D> + bin_items<D> * static_cast<std::int64_t>(sizeof(D)) / 128 + 1) *
      sizeof(D);

  context<device> ctx_;
  binned_matrix<V> matrix_;
  mutable array<V, device> products_;  // written by each run, by place
  array<V, device> carries_;
  binned_arguments<D> arguments_{};
  std::size_t x_bytes_ = 0;
};

}  // namespace

template <class V, class I, class O>
copy_attempt<V> bin_products(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                             copy_demand demand) {
  using D = device_value_t<V>;
  const device_guard guard(ctx);
  const auto columns = static_cast<std::int64_t>(matrix.cols);
  binning_profile profile{.rows = matrix.rows,
                          .cols = columns,
                          .nnz = matrix.nnz(),
                          .value_bytes = static_cast<std::int64_t>(sizeof(V)),
                          .l2_bytes = ctx.properties().l2_bytes,
                          .sectors = 1000,
                          .blocks = 1,
                          .bins = div_up(matrix.rows + matrix.nnz(), bin_items<D>)};
  auto refused = reason_against_device(ctx.properties(), tuning::block_bytes);
  if (refused.empty()) refused = reason_against_binning(profile, demand);  // before anything is measured
  if (!refused.empty()) return {nullptr, std::move(refused)};
  profile.sectors = sectors_per_1000(ctx, matrix.indices.data(), profile.nnz, profile.value_bytes);
  refused = reason_against_binning(profile, demand);  // before columns are counted
  if (!refused.empty()) return {nullptr, std::move(refused)};
  const auto used = count_used(ctx, matrix.indices.data(), profile.nnz, columns);
  const bool renumbered = static_cast<double>(used.count) < tuning::dense_share * static_cast<double>(columns);
  const std::int64_t kept = renumbered ? used.count : columns;
  profile.blocks = div_up(kept, block_columns<D>);
  refused = reason_against_binning(profile, demand);
  if (!refused.empty()) return {nullptr, std::move(refused)};
  auto copy = bin_entries<V, I, O>(ctx, matrix, renumbered ? &used : nullptr, {block_columns<D>, bin_items<D>});
  auto reason = "products by " + std::to_string(copy.blocks) + " blocks of columns, sums by " +
                std::to_string(copy.bins) + " bins of rows: 1000 entries read " + std::to_string(profile.sectors) +
                " sectors of x";
  return {std::make_unique<device_binned<V>>(ctx, std::move(copy), kept), std::move(reason)};
}

#define INSTANTIATE(V, I, O) \
  template copy_attempt<V> bin_products(const context<device>&, const csr_view<const V, I, O, device>&, copy_demand);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
