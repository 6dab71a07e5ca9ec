// The rows that device searches traverse: lengths, chunks, and copies with vertices sorted by descending degree.
//
// In skewed graphs most edges lead to few vertices. Sorting those first keeps their data in the L1 caches, and adjacent
// rows have similar lengths. Cost of a copy: a sort of the vertices, and a gather of 4 or 8 bytes per edge.
#pragma once

#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "graph/betweenness/cuda_search.cuh"
#include "primitives/sort/radix_sort.hpp"

#include <spargo/formats/csr.hpp>
#include <spargo/primitives/scan.hpp>

#include <bit>
#include <cstdint>

namespace spargo::detail::betweenness {

struct row_facts {
  count64 chunks;
  count64 longest;  // edges
};

template <class O>
__global__ void measure_rows_kernel(const O* offsets, std::int64_t n, row_facts* facts) {
  const std::int64_t v = global_thread();
  const count64 degree = v < n ? static_cast<count64>(offsets[v + 1] - offsets[v]) : 0;
  const count64 longest = warp_reduce(degree, maximum{});
  if (lane_id() == 0 && longest > 0) atomicMax(&facts->longest, longest);
  if (degree > cuda_tuning::chunk) atomicAdd(&facts->chunks, (degree + cuda_tuning::chunk - 1) / cuda_tuning::chunk);
}

// A warp copies a chunk, or 32 rows that are not in chunks. order[r] is the vertex with rank r.
template <class I, class O>
__global__ void copy_rows_kernel(const O* offsets, const I* indices, const std::uint32_t* order, const I* rank,
                                 const edge_set<I, O> to, std::int64_t n, I* to_indices) {
  const std::int64_t warp = global_thread() / warp_size;
  const bool is_chunk = warp < to.chunk_count;
  const edge_chunk<I> chunk = is_chunk ? to.chunks[warp] : edge_chunk<I>{};
  const std::int64_t begin = is_chunk ? chunk.vertex : (warp - to.chunk_count) * warp_size;
  const std::int64_t end = is_chunk ? begin + 1 : min(n, begin + warp_size);
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t degree = to.offsets[r + 1] - to.offsets[r];
    if (!is_chunk && degree > cuda_tuning::chunk) continue;
    const std::int64_t first = is_chunk ? std::int64_t{chunk.number} * cuda_tuning::chunk : 0;
    const std::int64_t last = min(degree, first + cuda_tuning::chunk);
    const I* const from = indices + offsets[order[r]];
    I* const to_row = to_indices + to.offsets[r];
    for (std::int64_t k = first + lane_id(); k < last; k += warp_size) to_row[k] = rank[from[k]];
  }
}

template <class I, class O>
row_facts measure(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows) {
  array<row_facts, device> facts(ctx, 1);
  fill_zero(ctx, facts.view());
  launch_kernel(ctx, one_thread_each(rows.rows, block_threads), measure_rows_kernel<O>, rows.offsets.data(), rows.rows,
                facts.data());
  return to_host(ctx, std::as_const(facts).view())[0];
}

// The vertices by descending degree (stable). `most`: bound of degrees. linked: receives the number with edges.
template <class I, class O>
array<std::uint32_t, device> by_degree(const context<device>& ctx, const csr_pattern_view<I, O, device>& out,
                                       const csr_pattern_view<I, O, device>& in, std::uint64_t most,
                                       std::int64_t& linked) {
  const std::int64_t n = out.rows;
  array<std::uint64_t, device> keys(ctx, n);
  for_each(ctx, n, [to = keys.data(), out = out.offsets.data(), in = in.offsets.data(), most] __device__(auto v) {
    to[v] = most - static_cast<std::uint64_t>(out[v + 1] - out[v] + in[v + 1] - in[v]);
  });
  array<std::uint32_t, device> order = iota(ctx, n);
  sort_pairs(ctx, keys, order, 0, std::bit_width(most));
  array<std::int64_t, device> found(ctx, 1);
  for_each(ctx, 1, [n, most, keys = keys.data(), to = found.data()] __device__(auto) {
    *to = lower_bound(keys, n, static_cast<std::int64_t>(most));
  });
  linked = to_host(ctx, std::as_const(found).view())[0];
  return order;
}

// rank[order[r]] = r.
template <class I>
array<I, device> ranks_of(const context<device>& ctx, const array<std::uint32_t, device>& order) {
  array<I, device> rank(ctx, order.size());
  invert_permutation(ctx, order.view(), rank.data());
  return rank;
}

template <class I, class O>
array<O, device> sorted_offsets(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                const array<std::uint32_t, device>& order) {
  const std::int64_t n = rows.rows;
  array<O, device> offsets(ctx, n + 1);
  for_each(ctx, n + 1, [n, from = rows.offsets.data(), of = order.data(), to = offsets.data()] __device__(auto r) {
    to[r] = r < n ? from[std::int64_t{of[r]} + 1] - from[of[r]] : 0;
  });
  exclusive_scan(ctx, std::as_const(offsets).view(), offsets.view());
  return offsets;
}

template <class I, class O>
class traversed_rows {
 public:
  traversed_rows() = default;

  // The graph's own rows.
  traversed_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, const row_facts& facts)
      : edges_{rows.offsets.data(), rows.indices.data(), nullptr, 0} {
    cut(ctx, rows.rows, facts);
  }

  // A copy in the given order.
  traversed_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, const row_facts& facts,
                 const array<std::uint32_t, device>& order, const array<I, device>& rank)
      : offsets_(sorted_offsets(ctx, rows, order)), indices_(ctx, std::int64_t{rows.nnz()}) {
    const std::int64_t n = rows.rows;
    edges_ = {offsets_.data(), indices_.data(), nullptr, 0};
    cut(ctx, n, facts);
    const std::int64_t warps = edges_.chunk_count + div_up(n, warp_size);
    launch_kernel(ctx, one_thread_each(warps * warp_size, block_threads), copy_rows_kernel<I, O>, rows.offsets.data(),
                  rows.indices.data(), order.data(), rank.data(), edges_, n, indices_.data());
  }

  [[nodiscard]] const edge_set<I, O>& edges() const { return edges_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(offsets_, indices_, chunks_); }

 private:
  void cut(const context<device>& ctx, std::int64_t n, const row_facts& facts) {
    chunks_ = {ctx, static_cast<std::int64_t>(facts.chunks)};
    edges_.chunks = chunks_.data();
    edges_.chunk_count = chunks_.size();
    if (chunks_.empty()) return;
    array<count64, device> count(ctx, 1);
    fill_zero(ctx, count.view());
    launch_kernel(ctx, one_thread_each(n, block_threads), cut_rows_kernel<cuda_tuning::chunk, I, O>, edges_.offsets, n,
                  chunks_.data(), count.data());
  }

  edge_set<I, O> edges_{};
  array<O, device> offsets_;  // of a copy
  array<I, device> indices_;
  array<edge_chunk<I>, device> chunks_;
};

}  // namespace spargo::detail::betweenness
