// Building graphs on the device; see keys.hpp for the idea.
//
// Every step streams the keys in order at memory bandwidth; CUB's radix sort between them takes most of the time.
// Distinct keys are flagged and selected. Invariant: keys and rows ascend at every step. Cost: O(pairs + vertices);
// memory besides the pairs at most 24 bytes per pair, result included (I = int32): two arrays of keys and the sort's
// spare one, or two and the rows. H200, 2^27 pairs, R-MAT 23: 13.0 ms, of which the two sorts 6.1 and 3.0, joining rows
// 1.9, selecting 0.8, packing 0.7.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "core/search.hpp"
#include "graph/graph/keys.hpp"
#include "primitives/element.hpp"
#include "primitives/select/select.hpp"
#include "primitives/sort/radix_sort.hpp"

namespace spargo::detail {

namespace {

struct build_tuning {
  static constexpr int per_thread = 8;  // pairs per thread and tile; packing takes 0.7 of 13 ms
  static constexpr int tile = block_threads * per_thread;
};

struct pair_facts {
  unsigned long long first_bad;
  unsigned long long descents;
};

template <class I>
struct pair_packer {
  const I* rows;
  const I* cols;
  key_format format;
  bool mirrored;

  __device__ std::uint64_t operator()(I u, I v) const {
    const auto a = static_cast<std::uint64_t>(u);
    const auto b = static_cast<std::uint64_t>(v);
    return mirrored && b < a ? format.pack(b, a) : format.pack(a, b);
  }
};

// keys[k] = pair k. Also finds the first pair with an end outside [0, n), and whether keys descend anywhere.
template <class I>
__global__ void __launch_bounds__(block_threads)
    pack_kernel(pair_packer<I> packer, std::int64_t size, I n, std::uint64_t* keys, pair_facts* facts) {
  bool descends = false;
  for (std::int64_t tile = std::int64_t{blockIdx.x} * build_tuning::tile; tile < size;
       tile += std::int64_t{gridDim.x} * build_tuning::tile) {
#pragma unroll
    for (int j = 0; j < build_tuning::per_thread; ++j) {
      const std::int64_t k = tile + j * block_threads + threadIdx.x;
      if (k >= size) continue;
      const I u = packer.rows[k];
      const I v = packer.cols[k];
      if (u < 0 || u >= n || v < 0 || v >= n) atomicMin(&facts->first_bad, static_cast<unsigned long long>(k));
      const std::uint64_t key = packer(u, v);
      keys[k] = key;
      descends |= k > 0 && packer(packer.rows[k - 1], packer.cols[k - 1]) > key;
    }
  }
  if (__syncthreads_or(descends) != 0 && threadIdx.x == 0) atomicOr(&facts->descents, 1ULL);
}

struct packed_pairs {
  array<std::uint64_t, device> keys;
  bool ascending = false;  // they need no sort
};

// Packs all pairs as keys in input order; undirected pairs with the smaller end in the high bits. Throws invalid_data
// for the first pair that names no vertex. Synchronizes.
template <class I>
packed_pairs pack_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs, const key_format& format,
                        direction_kind direction) {
  const std::int64_t size = pairs.nnz();
  packed_pairs packed{array<std::uint64_t, device>(ctx, size), true};
  if (size == 0) return packed;
  const device_guard guard(ctx);
  array<pair_facts, device> facts(ctx, 1);
  fill_bytes(ctx, &facts.data()->first_bad, 0xff, sizeof(unsigned long long));
  fill_bytes(ctx, &facts.data()->descents, 0, sizeof(unsigned long long));
  const pair_packer<I> packer{pairs.row_indices.data(), pairs.col_indices.data(), format,
                              direction == direction_kind::undirected};
  launch_kernel(ctx, grid_stride(ctx, size, build_tuning::tile), pack_kernel<I>, packer, size, pairs.rows,
                packed.keys.data(), facts.data());
  const pair_facts found = element<pair_facts>(ctx, facts.view(), 0);
  if (found.first_bad < static_cast<unsigned long long>(size)) {
    const auto k = static_cast<std::int64_t>(found.first_bad);
    throw_bad_pair("build_graph", k, element(ctx, pairs.row_indices, k), element(ctx, pairs.col_indices, k),
                   pairs.rows);
  }
  packed.ascending = found.descents == 0;
  return packed;
}

// Row r: the high ends of the keys of `reversed` whose low end is r, then the low ends of the keys of `forward` whose
// high end is r. `forward` ascends; `reversed` ascends by low end, then high end.
template <class I, class O>
csr_matrix<pattern, I, O, device> join_rows(const context<device>& ctx, I vertices,
                                            const array<std::uint64_t, device>& forward,
                                            const array<std::uint64_t, device>& reversed, const key_format& format) {
  const std::int64_t n = vertices;
  const std::int64_t forward_size = forward.size();
  const std::int64_t reversed_size = reversed.size();
  array<O, device> offsets(ctx, n + 1);
  array<I, device> indices(ctx, forward_size + reversed_size);
  array<O, device> reversed_offsets(ctx, n + 1);  // reversed keys in earlier rows
  const std::uint64_t* ahead = forward.data();
  const std::uint64_t* back = reversed.data();
  O* offset = offsets.data();
  O* reversed_offset = reversed_offsets.data();
  I* index = indices.data();
  // One binary search per row: balanced regardless of the gaps between keys, unlike filling the gaps.
  for_each(ctx, n + 1, [=] __device__(std::int64_t r) {
    const auto row = static_cast<std::uint64_t>(r);
    const std::int64_t before =
        first_where(std::int64_t{0}, reversed_size, [&](std::int64_t k) { return format.low(back[k]) >= row; });
    reversed_offset[r] = static_cast<O>(before);
    offset[r] = static_cast<O>(before + first_where(std::int64_t{0}, forward_size,
                                                    [&](std::int64_t k) { return format.high(ahead[k]) >= row; }));
  });
  // Position of a reversed key: the reversed keys before it, and the forward keys of earlier rows. Position of a
  // forward key: the forward keys before it, and the reversed keys of rows up to its own.
  for_each(ctx, reversed_size, [=] __device__(std::int64_t k) {
    const std::uint64_t row = format.low(back[k]);
    index[k + (offset[row] - reversed_offset[row])] = static_cast<I>(format.high(back[k]));
  });
  for_each(ctx, forward_size, [=] __device__(std::int64_t k) {
    index[k + reversed_offset[format.high(ahead[k]) + 1]] = static_cast<I>(format.low(ahead[k]));
  });
  ctx.synchronize();
  return {vertices, vertices, std::move(offsets), std::move(indices), {}};
}

// The keys without loops, sorted by low end. `keys` ascend and the sort is stable, so high ends ascend.
array<std::uint64_t, device> reversed_keys(const context<device>& ctx, const array<std::uint64_t, device>& keys,
                                           const key_format& format) {
  array<std::uint64_t, device> reversed(ctx, keys.size());
  copy<std::uint64_t>(ctx, keys.view(), reversed.view());
  if (format.loops == self_loops::keep) reversed = distinct_edges(ctx, std::move(reversed), {format.bits});
  sort_keys(ctx, reversed, 0, format.bits);
  return reversed;
}

template <class O, class I>
graph<I, O, device> build_packed(const context<device>& ctx, const coo_pattern_view<I, device>& pairs,
                                 const graph_options& options) {
  const bool undirected = options.direction == direction_kind::undirected;
  const key_format format = format_for(pairs.rows, options.loops);
  auto [keys, ascending] = pack_pairs(ctx, pairs, format, options.direction);
  if (!ascending) sort_keys(ctx, keys, 0, 2 * format.bits);
  keys = distinct_edges(ctx, std::move(keys), format);
  check_entries("build_graph", undirected ? 2 * keys.size() : keys.size(), 8 * static_cast<int>(sizeof(O)));
  if (undirected) {
    const auto reversed = reversed_keys(ctx, keys, format);
    return {
        join_rows<I, O>(ctx, pairs.rows, keys, reversed, format), {}, options.direction, keys.size() - reversed.size()};
  }
  const array<std::uint64_t, device> none;
  auto out = join_rows<I, O>(ctx, pairs.rows, keys, none, format);
  const std::int64_t loops = options.loops == self_loops::keep ? count_loops<I, O>(ctx, out.view()) : 0;
  if (!options.in_edges) return {std::move(out), {}, options.direction, loops};
  sort_keys(ctx, keys, 0, format.bits);
  return {std::move(out), join_rows<I, O>(ctx, pairs.rows, none, keys, format), options.direction, loops};
}

}  // namespace

array<std::uint64_t, device> distinct_edges(const context<device>& ctx, array<std::uint64_t, device> keys,
                                            const key_format& format) {
  array<std::uint8_t, device> flags(ctx, keys.size());
  std::uint8_t* const flag = flags.data();
  const std::uint64_t* const key = keys.data();
  for_each(ctx, keys.size(), [=] __device__(std::int64_t k) {
    flag[k] = format.is_edge(key[k]) && (k == 0 || key[k] != key[k - 1]) ? 1 : 0;
  });
  return select_flagged(ctx, keys.view(), flags.view());
}

template <class I, class O>
std::int64_t count_loops(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, std::int64_t first) {
  const device_guard guard(ctx);
  array<unsigned long long, device> loops(ctx, 1);
  fill_zero(ctx, loops.view());
  unsigned long long* const count = loops.data();
  for_each(ctx, rows.rows, [=] __device__(std::int64_t r) {
    const I* const row = rows.indices.data() + rows.offsets[r];
    const std::int64_t size = rows.offsets[r + 1] - rows.offsets[r];
    const std::int64_t at = lower_bound(row, size, first + r);
    if (at < size && row[at] == first + r) atomicAdd(count, 1ULL);
  });
  return static_cast<std::int64_t>(element<unsigned long long>(ctx, loops.view(), 0));
}

template <index_type O, index_type I>
graph<I, O, device> build_from_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs,
                                     const graph_options& options) {
  return fits_keys(pairs.rows) ? build_packed<O>(ctx, pairs, options) : build_wide<O>(ctx, pairs, options);
}

#define INSTANTIATE(I, O)                                                                                         \
  template graph<I, O, device> build_from_pairs<O, I>(const context<device>&, const coo_pattern_view<I, device>&, \
                                                      const graph_options&);                                      \
  template std::int64_t count_loops(const context<device>&, const csr_pattern_view<I, O, device>&, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
