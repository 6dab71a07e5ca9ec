// Sorts each row of a graph by weight, so that a search can stop at the first edge that is too heavy.
#pragma once

#include "core/device/launch.cuh"
#include "core/search.hpp"
#include "graph/frontier/edge_shares.cuh"
#include "graph/sssp/cuda_search.cuh"
#include "graph/sssp/executor.hpp"
#include "primitives/element.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <algorithm>
#include <cmath>

namespace spargo::detail::sssp {

// Edges sorted at once (or one longer row): 28 bytes of scratch each.
inline constexpr std::int64_t sorted_at_once = std::int64_t{1} << 27;

// Integer key with the order of the nonnegative weights; -0 equals 0.
template <class W>
[[nodiscard]] __device__ __forceinline__ std::uint64_t weight_key(W weight) {
  if constexpr (std::is_same_v<W, float>) {
    return __float_as_uint(weight + 0.0F);
  } else if constexpr (std::is_same_v<W, double>) {
    return static_cast<std::uint64_t>(__double_as_longlong(weight + 0.0));
  } else {
    return static_cast<std::uint64_t>(weight);
  }
}

inline constexpr std::int64_t numbered_at_once = 2048;  // edges per warp

// rows[e] = row of edge range.first + e, relative to the first row.
template <class I, class O>
__global__ void __launch_bounds__(block_threads) number_rows_kernel(const O* offsets, edge_range range, I* rows) {
  for_each_edge_in_share(
      offsets, range, numbered_at_once, [](std::int64_t) {},
      [&](std::int64_t e, std::int64_t row) { rows[e - range.first] = static_cast<I>(row - range.first_vertex); });
}

// Two stable sorts: by weight, then by row, of `at_once` edges or one longer row at a time; batches synchronize.
template <class W, class I, class O>
[[nodiscard]] array<target_and_weight<W, I>, device> sort_rows(const context<device>& ctx,
                                                               const csr_pattern_view<I, O, device>& g,
                                                               span<const W, device> weights, const weight_facts& facts,
                                                               std::int64_t at_once = sorted_at_once) {
  const std::int64_t n = g.rows;
  const std::int64_t edges = g.nnz();
  array<target_and_weight<W, I>, device> sorted(ctx, edges);
  int weight_bits = static_cast<int>(8 * sizeof(W));
  if (std::integral<W>) weight_bits = std::min(weight_bits, std::ilogb(std::max(facts.largest, 1.0)) + 1);
  const auto offset = [&](std::int64_t row) { return std::int64_t{element<O>(ctx, g.offsets, row)}; };
  std::int64_t first_row = 0;
  for (std::int64_t first = 0; first < edges;) {
    std::int64_t past_row = n;
    std::int64_t past = edges;
    if (edges - first > at_once) {
      const auto begins_later = [&](std::int64_t row) { return offset(row) - first > at_once; };
      past_row = std::max(first_where(first_row + 1, n, begins_later) - 1, first_row + 1);
      past = offset(past_row);
    }
    const std::int64_t size = past - first;
    if (size > 0) {
      array<I, device> rows(ctx, size);
      array<std::uint64_t, device> keys(ctx, size);
      auto order = iota(ctx, size);
      const std::int64_t warps = div_up(size, numbered_at_once);
      launch_kernel(ctx, one_thread_each(warps * warp_size, block_threads), number_rows_kernel<I, O>, g.offsets.data(),
                    edge_range{first_row, n, first, past}, rows.data());
      const W* const weight = weights.data() + first;
      const I* const index = g.indices.data() + first;
      std::uint64_t* const key = keys.data();
      for_each(ctx, size, [=] __device__(std::int64_t e) { key[e] = weight_key(weight[e]); });
      sort_pairs(ctx, keys, order, 0, weight_bits);
      const std::uint32_t* const from = order.data();
      const I* const row = rows.data();
      std::uint64_t* const row_key = keys.data();
      for_each(ctx, size, [=] __device__(std::int64_t e) { row_key[e] = static_cast<std::uint64_t>(row[from[e]]); });
      sort_pairs(ctx, keys, order, 0, std::bit_width(static_cast<std::uint64_t>(past_row - first_row - 1)));
      const std::uint32_t* const at = order.data();
      target_and_weight<W, I>* const edge = sorted.data() + first;
      for_each(ctx, size, [=] __device__(std::int64_t e) { edge[e] = {index[at[e]], weight[at[e]]}; });
    }
    first_row = past_row;
    first = past;
  }
  return sorted;
}

}  // namespace spargo::detail::sssp
