// Orders by degree and envelopes on a device. The edges of an envelope are shared evenly by the warps.
#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/frontier/edge_shares.cuh"
#include "graph/structure/reorder_device.hpp"
#include "primitives/element.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <bit>
#include <utility>

namespace spargo::detail::reorder {

namespace {

using number = std::uint32_t;
constexpr number none = ~number{0};
constexpr std::int64_t edge_share = 1024;  // of a warp

// position[row]: its first in the order. Rows out of range have none.
template <class I>
void find_positions(const context<device>& ctx, span<const I, device> order, number* position) {
  const std::int64_t n = order.size();
  const I* const rows = order.data();
  fill_bytes(ctx, position, 0xff, static_cast<std::size_t>(n) * sizeof(number));
  for_each(ctx, n, [=] __device__(std::int64_t k) {
    const auto row = static_cast<std::int64_t>(rows[k]);
    if (row >= 0 && row < n) atomicMin(position + row, static_cast<number>(k));
  });
}

// least[i]: the smallest position adjacent to i, at most i. A lane keeps its row's minimum in a register and flushes it
// when the row changes; the other end of an entry takes an atomic minimum.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    envelope_kernel(const O* offsets, const I* indices, edge_range edges, const number* position, number* least,
                    count64* bandwidth) {
  const auto lower = [&](number at, number value) {
    if (value < __ldcg(least + at)) atomicMin(least + at, value);
  };
  number i = none, lowest = none, width = 0;
  for_each_edge_in_share(
      offsets, edges, edge_share,
      [&](std::int64_t v) {
        if (lowest < i) lower(i, lowest);
        i = lowest = position == nullptr ? static_cast<number>(v) : position[v];
      },
      [&](std::int64_t e, std::int64_t) {
        const I column = indices[e];
        const number j = position == nullptr ? static_cast<number>(column) : position[column];
        if (j < i) {
          lowest = min(lowest, j);
          width = max(width, i - j);
        } else if (i < j) {
          lower(j, i);
          width = max(width, j - i);
        }
      });
  if (lowest < i) lower(i, lowest);
  width = warp_max(width);
  if (lane_id() == 0 && width > __ldcg(bandwidth)) atomicMax(bandwidth, count64{width});
}

__global__ void __launch_bounds__(block_threads) profile_kernel(const number* least, std::int64_t n, count64* profile) {
  __shared__ count64 of_warps[block_threads / warp_size];
  count64 sum = 0;
  for (std::int64_t i = global_thread(); i < n; i += grid_threads()) sum += static_cast<count64>(i) - least[i];
  sum = block_sum(sum, of_warps);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(profile, sum);
}

struct device_envelope {
  count64 bandwidth;
  count64 profile;
};

}  // namespace

template <class I, class O>
array<std::uint32_t, device> by_length(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                       length_order which) {
  const std::int64_t n = rows.rows;
  const auto most = static_cast<std::uint64_t>(rows.nnz());
  array<std::uint64_t, device> keys(ctx, n);
  std::uint64_t* const key = keys.data();
  const O* const offsets = rows.offsets.data();
  const std::uint64_t flip = which == length_order::ascending ? 0 : ~std::uint64_t{0};  // in the bits sorted by
  for_each(ctx, n,
           [=] __device__(std::int64_t v) { key[v] = static_cast<std::uint64_t>(offsets[v + 1] - offsets[v]) ^ flip; });
  array<std::uint32_t, device> order = iota(ctx, n);
  sort_pairs(ctx, keys, order, 0, static_cast<int>(std::bit_width(most)));
  return order;
}

template <class I>
array<I, device> as_indices(const context<device>& ctx, const array<std::uint32_t, device>& order) {
  array<I, device> indices(ctx, order.size());
  I* const to = indices.data();
  const std::uint32_t* const from = order.data();
  for_each(ctx, order.size(), [=] __device__(std::int64_t k) { to[k] = static_cast<I>(from[k]); });
  return indices;
}

template <class I>
std::int64_t first_fault(const context<device>& ctx, span<const I, device> order) {
  const std::int64_t n = order.size();
  array<number, device> position(ctx, n + 1);
  find_positions<I>(ctx, order, position.data());
  const number* const at = position.data();
  number* const fault = position.data() + n;
  const I* const rows = order.data();
  fill_bytes(ctx, fault, 0xff, sizeof(number));
  for_each(ctx, n, [=] __device__(std::int64_t k) {
    const auto row = static_cast<std::int64_t>(rows[k]);
    if (row < 0 || row >= n || at[row] != static_cast<number>(k)) atomicMin(fault, static_cast<number>(k));
  });
  const number found = element<number>(ctx, std::as_const(position).view(), n);
  return found == none ? -1 : static_cast<std::int64_t>(found);
}

template <class I, class O>
matrix_envelope envelope(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                         span<const I, device> order) {
  const std::int64_t n = m.rows;
  if (m.nnz() == 0) return {};
  const device_guard guard(ctx);
  array<number, device> position(ctx, order.size());
  if (!order.empty()) find_positions<I>(ctx, order, position.data());
  array<number, device> least = iota(ctx, n);
  array<device_envelope, device> found(ctx, 1);
  fill_zero(ctx, found.view());
  launch_kernel(ctx, one_thread_each(div_up(m.nnz(), edge_share) * warp_size, block_threads), envelope_kernel<I, O>,
                m.offsets.data(), m.indices.data(), edge_range{0, n, 0, m.nnz()},
                order.empty() ? nullptr : position.data(), least.data(), &found.data()->bandwidth);
  launch_kernel(ctx, grid_stride(ctx, n), profile_kernel, least.data(), n, &found.data()->profile);
  const auto all = element<device_envelope>(ctx, std::as_const(found).view(), 0);
  return {static_cast<std::int64_t>(all.bandwidth), static_cast<std::int64_t>(all.profile)};
}

#define INSTANTIATE(I, O)                                                                                        \
  template array<std::uint32_t, device> by_length(const context<device>&, const csr_pattern_view<I, O, device>&, \
                                                  length_order);                                                 \
  template matrix_envelope envelope(const context<device>&, const csr_pattern_view<I, O, device>&,               \
                                    span<const I, device>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#define INSTANTIATE_INDEX(I)                                                                               \
  template array<I, device> as_indices(const context<device>&, const array<std::uint32_t, device>& order); \
  template std::int64_t first_fault(const context<device>&, span<const I, device>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_INDEX)

}  // namespace spargo::detail::reorder
