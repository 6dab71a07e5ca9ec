// Rows of C of few entries of A, one per thread: the rows of B that they select are sorted, and merged, so that C's
// columns come in order and each one's products in the order of A's row. No tables and no exchange between lanes but to
// write whole sectors.
#pragma once

#include "core/device/launch.cuh"
#include "sparse/spgemm/device/products.cuh"

#include <limits>

namespace spargo::detail::spgemm {

struct merge_tuning {
  static constexpr int lists = 8;                    // entries of A at most: heads of lists are in registers
  static constexpr std::int64_t few_products = 32;   // rows of similar length are in a bin
  static constexpr std::int64_t most_products = 96;  // untuned
  static constexpr int threads = 128;
};

// A row's columns in order, and their sums.
template <class I, class O, class Values>
class row_merge {
 public:
  using D = typename Values::value;

  __device__ row_merge(const device_factors<I, O>& f, const Values& values, I row) : f_(f), values_(values) {
    const O first = f.a_offsets[row];
    const O last = f.a_offsets[row + 1];
#pragma unroll
    for (int e = 0; e < merge_tuning::lists; ++e) {
      at_[e] = end_[e] = 0;
      if (e < last - first) {
        const auto k = static_cast<O>(first + e);
        const I j = f.a_columns[k];
        at_[e] = f.b_offsets[j];
        end_[e] = f.b_offsets[j + 1];
        if constexpr (has_values) factors_[e] = values.a[k];
      }
      load(e);
    }
  }

  // False after the last column.
  __device__ bool next(I& column, D& sum) {
    column = heads_[0];
#pragma unroll
    for (int e = 1; e < merge_tuning::lists; ++e) column = min(column, heads_[e]);
    if (column == none) return false;
    sum = D{};
    unsigned taken = 0;
#pragma unroll
    for (int e = 0; e < merge_tuning::lists; ++e) {
      if (heads_[e] != column) continue;
      take(e, sum);
      taken |= 1U << e;
    }
    if (f_.b_ascends) return true;
    bool again = false;
#pragma unroll
    for (int e = 0; e < merge_tuning::lists; ++e) again = again || heads_[e] == column;
    if (again) repeat(column, taken, sum);
    return true;
  }

 private:
  static constexpr bool has_values = !std::is_same_v<Values, no_values>;
  static constexpr I none = std::numeric_limits<I>::max();

  __device__ void load(int e) {
    heads_[e] = at_[e] < end_[e] ? f_.b_columns[at_[e]] : none;
    if constexpr (has_values) {
      if (at_[e] < end_[e]) products_[e] = rounded_product(factors_[e], values_.b[at_[e]]);
    }
  }
  __device__ void take(int e, D& sum) {
    if constexpr (has_values) sum = rounded_sum(sum, products_[e]);
    ++at_[e];
    load(e);
  }
  // A row of B has the column more than once: the sum again, row after row.
  __device__ void repeat(I column, unsigned taken, D& sum) {
    sum = D{};
#pragma unroll
    for (int e = 0; e < merge_tuning::lists; ++e) {
      if ((taken >> e & 1) == 0) continue;
      --at_[e];
      load(e);
      while (heads_[e] == column) take(e, sum);
    }
  }

  const device_factors<I, O>& f_;
  const Values& values_;
  I heads_[merge_tuning::lists];
  O at_[merge_tuning::lists];
  O end_[merge_tuning::lists];
  D factors_[merge_tuning::lists];
  D products_[merge_tuning::lists];
};

// Lengths of the rows.
template <class I, class O>
__global__ void __launch_bounds__(merge_tuning::threads)
    count_merged_kernel(const device_factors<I, O> f, const I* rows, std::int64_t count, O* lengths) {
  const std::int64_t k = global_thread();
  if (k >= count) return;
  const I row = rows[k];
  row_merge<I, O, no_values> merge(f, no_values{}, row);
  O length = 0;
  I column;
  for (no_value nothing; merge.next(column, nothing);) ++length;
  lengths[row] = length;
}

// Columns (null: not) and values, by aligned segments of 8 entries of a row, which a warp's lanes have in shared memory
// before they write them. All lanes stay in the loop for as long as one has entries left.
template <class I, class O, class Values>
__global__ void __launch_bounds__(merge_tuning::threads)
    write_merged_kernel(const device_factors<I, O> f, const Values values, const I* rows, std::int64_t count,
                        const O* offsets, I* columns, typename Values::value* sums) {
  using D = typename Values::value;
  constexpr bool has_values = !std::is_same_v<Values, no_values>;
  constexpr int segment = 8;
  constexpr int stride = segment + 1;
  constexpr int warps = merge_tuning::threads / warp_size;
  __shared__ I segment_columns[warps][warp_size * stride];
  __shared__ D segment_sums[warps][has_values ? warp_size * stride : 1];
  I* const my_columns = segment_columns[threadIdx.x / warp_size];
  D* const my_sums = segment_sums[threadIdx.x / warp_size];
  const int lane = lane_id();
  const std::int64_t k = global_thread();
  const I row = rows[min(k, count - 1)];
  row_merge<I, O, Values> merge(f, values, row);
  O left = k < count ? static_cast<O>(offsets[row + 1] - offsets[row]) : O{0};
  int slot = static_cast<int>(offsets[row] & (segment - 1));
  O start = static_cast<O>(offsets[row] - slot);
  while (__any_sync(full_mask, left > 0) != 0) {
    const int first = slot;
    for (; left > 0 && slot < segment; --left, ++slot) {
      I column;
      D sum;
      merge.next(column, sum);
      my_columns[lane * stride + slot] = column;
      if constexpr (has_values) my_sums[lane * stride + slot] = sum;
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < warp_size; r += warp_size / segment) {
      const int from = r + lane / segment;
      const int s = lane % segment;
      const int least = shuffle(first, from);
      const int past = shuffle(slot, from);
      const O to = static_cast<O>(shuffle(start, from) + s);
      if (s >= least && s < past) {
        if (columns != nullptr) columns[to] = my_columns[from * stride + s];
        if constexpr (has_values) sums[to] = my_sums[from * stride + s];
      }
    }
    __syncwarp();
    start += segment;
    slot = 0;
  }
}

}  // namespace spargo::detail::spgemm
