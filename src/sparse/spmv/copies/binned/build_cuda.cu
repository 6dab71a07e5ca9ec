// Builds the copy of a binned product by counting: cells are counted, a prefix sum gives their starts, and each bin
// distributes its entries to its cells. Entries have no fixed order within a cell; the product does not depend on it,
// since a bin sums its rows in CSR's order.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "sparse/merge_path.hpp"
#include "sparse/spmv/copies/binned/device.cuh"
#include "sparse/spmv/device.cuh"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::spmv {

namespace {

constexpr int word_bits = 32;

// The sample: windows as long as what a block of other products gathers at a time.
constexpr int window_entries = 1024;
constexpr std::int64_t windows = 512;
constexpr int table_slots = 4 * window_entries;
constexpr std::int64_t sector_bytes = 32;

// Numbers the columns that have entries.
struct column_numbering {
  const std::uint32_t* words;  // null: all columns
  const std::int64_t* bases;

  __device__ std::int64_t operator()(std::int64_t column) const {
    if (words == nullptr) return column;
    const std::uint32_t below = words[column / word_bits] & ((1U << (column % word_bits)) - 1);
    return bases[column / word_bits] + __popc(below);
  }
};

// A bin, as the build kernels' argument.
template <class I, class O>
struct bin_arguments {
  const O* offsets;
  const I* indices;
  std::int64_t rows;
  std::int64_t nnz;
  std::int64_t bins;
  binned_shape shape;
  column_numbering number;
  const std::uint32_t* bin_rows;

  [[nodiscard]] __device__ std::int64_t diagonal(std::int64_t bin) const {
    const std::int64_t total = rows + nnz;
    const std::int64_t d = bin * shape.bin_items;
    return d < total ? d : total;
  }
  [[nodiscard]] __device__ std::int64_t first_entry(std::int64_t bin) const { return diagonal(bin) - bin_rows[bin]; }
};

template <class I, class O>
__global__ void __launch_bounds__(threads_per_block) bin_rows_kernel(bin_arguments<I, O> a, std::uint32_t* bin_rows) {
  const std::int64_t bin = static_cast<std::int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
  if (bin > a.bins) return;
  bin_rows[bin] = static_cast<std::uint32_t>(merge_path_row(a.offsets, a.rows, a.nnz, a.diagonal(bin)));
}

template <class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    row_ends_kernel(bin_arguments<I, O> a, std::uint16_t* row_ends, std::int64_t* carry_rows) {
  const std::int64_t bin = blockIdx.x;
  const std::int64_t begin = a.first_entry(bin);
  const std::int64_t end = a.first_entry(bin + 1);
  const std::int64_t last_row = a.bin_rows[bin + 1];
  for (std::int64_t r = a.bin_rows[bin] + threadIdx.x; r < last_row; r += threads_per_block) {
    row_ends[r] = static_cast<std::uint16_t>(static_cast<std::int64_t>(a.offsets[r + 1]) - begin);
  }
  if (threadIdx.x != 0) return;
  const bool carries = last_row < a.rows && end > begin && end > static_cast<std::int64_t>(a.offsets[last_row]);
  carry_rows[bin] = carries ? last_row : -1;
}

// One block per bin. Integer counts, so the order of additions does not matter.
template <class I, class O>
__global__ void __launch_bounds__(threads_per_block) count_kernel(bin_arguments<I, O> a, unsigned long long* counts) {
  const std::int64_t bin = blockIdx.x;
  const std::int64_t end = a.first_entry(bin + 1);
  for (std::int64_t e = a.first_entry(bin) + threadIdx.x; e < end; e += threads_per_block) {
    const std::int64_t block = a.number(static_cast<std::int64_t>(a.indices[e])) / a.shape.block_columns;
    atomicAdd(counts + block * a.bins + bin, 1ULL);
  }
}

// One block per bin; `next` starts as the cells' starts.
template <class D, class I, class O>
__global__ void __launch_bounds__(threads_per_block)
    place_kernel(bin_arguments<I, O> a, const D* values, unsigned long long* next, std::uint16_t* block_columns,
                 std::uint16_t* bin_places, D* placed) {
  const std::int64_t bin = blockIdx.x;
  const std::int64_t begin = a.first_entry(bin);
  const std::int64_t end = a.first_entry(bin + 1);
  for (std::int64_t e = begin + threadIdx.x; e < end; e += threads_per_block) {
    const std::int64_t column = a.number(static_cast<std::int64_t>(a.indices[e]));
    const std::int64_t block = column / a.shape.block_columns;
    const unsigned long long place = atomicAdd(next + block * a.bins + bin, 1ULL);
    block_columns[place] = static_cast<std::uint16_t>(column - block * a.shape.block_columns);
    bin_places[place] = static_cast<std::uint16_t>(e - begin);
    placed[place] = values[e];
  }
}

// One block per bin, one warp per cell.
template <class D>
__global__ void __launch_bounds__(threads_per_block)
    place_values_kernel(const D* values, const std::uint32_t* starts, const std::uint32_t* bin_rows,
                        const std::uint16_t* bin_places, std::int64_t blocks, std::int64_t bins, std::int64_t bin_items,
                        D* placed) {
  const std::int64_t bin = blockIdx.x;
  const D* const from = values + (bin * bin_items - bin_rows[bin]);  // every bin but the last is full
  constexpr int warps = threads_per_block / warp_size;
  for (std::int64_t block = threadIdx.x / warp_size; block < blocks; block += warps) {
    const std::int64_t end = starts[block * bins + bin + 1];
    for (std::int64_t k = starts[block * bins + bin] + threadIdx.x % warp_size; k < end; k += warp_size) {
      placed[k] = from[bin_places[k]];
    }
  }
}

// Counts the sectors that a window reads, in a hash table.
template <class I>
__global__ void __launch_bounds__(threads_per_block)
    sectors_kernel(const I* indices, std::int64_t stride, int size, std::int64_t value_bytes,
                   unsigned long long* total) {
  __shared__ std::uint32_t table[table_slots];
  for (int s = static_cast<int>(threadIdx.x); s < table_slots; s += threads_per_block) table[s] = 0;
  __syncthreads();
  const I* const window = indices + static_cast<std::int64_t>(blockIdx.x) * stride;
  unsigned mine = 0;
  for (int k = static_cast<int>(threadIdx.x); k < size; k += threads_per_block) {
    const auto sector =
        static_cast<std::uint32_t>(static_cast<std::int64_t>(window[k]) * value_bytes / sector_bytes) + 1;
    std::uint32_t slot = sector * 2654435761U >> 20;
    static_assert(table_slots == 1 << 12);
    while (true) {
      const std::uint32_t found = atomicCAS(table + slot, 0U, sector);
      if (found == 0) ++mine;
      if (found == 0 || found == sector) break;
      slot = (slot + 1) % table_slots;
    }
  }
  atomicAdd(total, static_cast<unsigned long long>(mine));
}

template <class T>
[[nodiscard]] array<T, device> padded(const context<device>& ctx, std::int64_t nnz) {
  array<T, device> a(ctx, div_up(nnz, std::int64_t{4}) * 4);
  fill_zero(ctx, a.view().subspan(nnz, a.size() - nnz));
  return a;
}

}  // namespace

template <class I>
used_columns count_used(const context<device>& ctx, const I* indices, std::int64_t nnz, std::int64_t cols) {
  const std::int64_t words = div_up(cols, std::int64_t{word_bits});
  used_columns used{0, {ctx, words}, {ctx, words + 1}};
  fill_zero(ctx, used.words.view());
  fill_zero(ctx, used.bases.view());
  std::uint32_t* const word = used.words.data();
  std::int64_t* const base = used.bases.data();
  for_each(ctx, nnz, [=] __device__(std::int64_t e) {
    const auto column = static_cast<std::int64_t>(indices[e]);
    const std::uint32_t bit = 1U << (column % word_bits);
    if ((__ldcg(word + column / word_bits) & bit) == 0) atomicOr(word + column / word_bits, bit);
  });
  for_each(ctx, words, [=] __device__(std::int64_t w) { base[w] = __popc(word[w]); });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(used.bases).view(), used.bases.view());
  used.count = to_host(ctx, std::as_const(used.bases).view().subspan(words, 1))[0];
  return used;
}

template <class I>
std::int64_t sectors_per_1000(const context<device>& ctx, const I* indices, std::int64_t nnz,
                              std::int64_t value_bytes) {
  const std::int64_t size = std::min<std::int64_t>(nnz, window_entries);
  const std::int64_t count = std::min(windows, nnz / size);
  array<unsigned long long, device> total(ctx, 1);
  fill_zero(ctx, total.view());
  launch_kernel(ctx, {count, threads_per_block}, sectors_kernel<I>, indices, nnz / count, static_cast<int>(size),
                value_bytes, total.data());
  return static_cast<std::int64_t>(to_host(ctx, std::as_const(total).view())[0]) * 1000 / (count * size);
}

template <class V, class I, class O>
binned_matrix<V> bin_entries(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                             const used_columns* used, const binned_shape& shape) {
  const std::int64_t nnz = matrix.nnz();
  const std::int64_t rows = matrix.rows;
  binned_matrix<V> to;
  to.rows = rows;
  to.nnz = nnz;
  to.blocks = div_up(used == nullptr ? static_cast<std::int64_t>(matrix.cols) : used->count, shape.block_columns);
  to.bins = div_up(rows + nnz, shape.bin_items);
  to.bin_items = shape.bin_items;
  const std::int64_t cells = to.blocks * to.bins;
  to.bin_rows = {ctx, to.bins + 1};
  to.carry_rows = {ctx, to.bins};
  to.row_ends = {ctx, rows};
  to.starts = {ctx, cells + 1};
  to.block_columns = padded<std::uint16_t>(ctx, nnz);
  to.bin_places = padded<std::uint16_t>(ctx, nnz);
  to.values = padded<V>(ctx, nnz);

  const column_numbering number{used == nullptr ? nullptr : used->words.data(),
                                used == nullptr ? nullptr : used->bases.data()};
  const bin_arguments<I, O> a{matrix.offsets.data(), matrix.indices.data(), rows, nnz, to.bins, shape, number,
                              to.bin_rows.data()};
  const launch_shape a_bin{to.bins, threads_per_block};
  launch_kernel(ctx, one_thread_each(to.bins + 1, threads_per_block), bin_rows_kernel<I, O>, a, to.bin_rows.data());
  launch_kernel(ctx, a_bin, row_ends_kernel<I, O>, a, to.row_ends.data(), to.carry_rows.data());

  array<std::int64_t, device> cells_next(ctx, cells + 1);
  fill_zero(ctx, cells_next.view());
  auto* const next = reinterpret_cast<unsigned long long*>(cells_next.data());
  launch_kernel(ctx, a_bin, count_kernel<I, O>, a, next);
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(cells_next).view(), cells_next.view());
  std::uint32_t* const starts = to.starts.data();
  for_each(ctx, cells + 1, [=] __device__(std::int64_t c) { starts[c] = static_cast<std::uint32_t>(next[c]); });
  launch_kernel(ctx, a_bin, place_kernel<device_value_t<V>, I, O>, a, device_cast(matrix.values.data()), next,
                to.block_columns.data(), to.bin_places.data(), device_cast(to.values.data()));

  if (used != nullptr) {
    to.columns = {ctx, used->count};
    std::uint32_t* const columns = to.columns.data();
    const std::uint32_t* const words = used->words.data();
    for_each(ctx, matrix.cols, [=] __device__(std::int64_t c) {
      if ((words[c / word_bits] >> (c % word_bits) & 1U) != 0) columns[number(c)] = static_cast<std::uint32_t>(c);
    });
  }
  return to;
}

template <class V>
void place_values(const context<device>& ctx, const V* values, binned_matrix<V>& matrix) {
  launch_kernel(ctx, {matrix.bins, threads_per_block}, place_values_kernel<device_value_t<V>>, device_cast(values),
                matrix.starts.data(), matrix.bin_rows.data(), matrix.bin_places.data(), matrix.blocks, matrix.bins,
                matrix.bin_items, device_cast(matrix.values.data()));
}

#define INSTANTIATE(I)                                                                            \
  template used_columns count_used(const context<device>&, const I*, std::int64_t, std::int64_t); \
  template std::int64_t sectors_per_1000(const context<device>&, const I*, std::int64_t, std::int64_t);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V) template void place_values(const context<device>&, const V*, binned_matrix<V>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I, O)                                                                            \
  template binned_matrix<V> bin_entries(const context<device>&, const csr_view<const V, I, O, device>&, \
                                        const used_columns*, const binned_shape&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
