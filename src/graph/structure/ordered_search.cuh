// Breadth-first searches on a device that visit vertices in Cuthill and McKee's order.
//
// Idea: a level is the set of new vertices sorted by (position of the first neighbour in the level before, degree,
// number). `list` has the vertices of all levels one after the other, and a vertex's position there is its number in
// the order. parent[v] is the least position of v's neighbours seen so far, found by an atomic minimum; the edge that
// takes it from `none` lists v. Degree and number are one value, the vertex's rank among all by (degree, number).
//
// Invariant: positions grow from level to level, so the parent of a visited vertex is less than every position of the
// frontier: the minimum leaves it as it is, and no other mark of visited vertices is needed. The result does not depend
// on the order of atomics. Several starts are searched at once: children keep the order of their parents, hence the
// vertices of a component keep the order that a search of the component alone would give them.
//
// Narrow levels, of which meshes and road networks have thousands, run in one kernel of one block, without the host.
// Children are counted by parent in shared memory; a prefix sum gives each parent's group its place, and a vertex's
// place in its group is the number of lower ranks there: no sort. Wide levels take one kernel over the frontier's edges
// (and one over those of hubs), and CUB's radix sort of (parent, rank); the host waits once for each. Cost: each edge
// once, O(level log level) per level; groups in narrow levels are quadratic, of at most `narrow_degree` vertices.
//
// George, Liu, ACM TOMS 5, 1979; Karantasis, Lenharth, Nguyen, Garzaran, Pingali, SC 2014 (levels in parallel).
#pragma once

#include "core/device/block.cuh"
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "graph/frontier/append_chunks.cuh"
#include "primitives/element.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/graph/frontier/expansion.cuh>

#include <bit>
#include <cstdint>

namespace spargo::detail::reorder {

using number = std::uint32_t;  // a vertex, a rank or a position
inline constexpr number none = ~number{0};

// None is tuned.
struct search_tuning {
  static constexpr int unroll = 4;    // edges in flight per lane
  static constexpr int chunk = 1024;  // edges of a hub that a warp takes
  static constexpr int slots = 128;   // new vertices that a warp lists together
  // A level with more vertices, more edges, or a vertex with more edges is wide. Half the width where a block has not
  // 96 KB of shared memory.
  static constexpr int width = 4096;
  static constexpr number narrow_edges = 1 << 15;
  static constexpr number narrow_degree = 2048;
  static constexpr int narrow_block = 1024;
  static constexpr int narrow_warps = narrow_block / warp_size;
  static constexpr int narrow_levels = 1 << 14;  // per launch, so that an interruption is seen
};

// Where a search is, and what a wide level counts.
struct search_control {
  count64 first;  // the frontier: positions [first, last)
  count64 last;
  count64 level;   // its number
  count64 found;   // new vertices, listed but not yet in order
  count64 chunks;  // of hubs
};

template <class I, class O>
struct searched_rows {
  const O* offsets;
  const I* indices;
  const number* rank;
  number* parent;            // [vertex]
  number* list;              // [position] vertex
  number* level;             // [position]
  number* found;             // new vertices of a wide level, in any order
  edge_chunk<number>* hubs;  // chunks of the frontier's vertices, by their positions
  search_control* control;
};

struct met_vertex {
  number vertex;    // none: there is no edge
  number position;  // of the edge's other end
};

// Follows an edge met(q) per lane for each q < Edges; calls add(v, is_new) for each. All lanes of the warp call it.
template <int Edges, class Met, class Add>
__device__ __forceinline__ void follow(number* parent, const Met& met, const Add& add) {
  met_vertex to[Edges];
  number before[Edges];
#pragma unroll
  for (int q = 0; q < Edges; ++q) to[q] = met(q);
#pragma unroll
  for (int q = 0; q < Edges; ++q) before[q] = to[q].vertex != none ? __ldcg(parent + to[q].vertex) : 0;
#pragma unroll
  for (int q = 0; q < Edges; ++q) {
    before[q] = before[q] > to[q].position ? atomicMin(parent + to[q].vertex, to[q].position) : 0;
  }
#pragma unroll
  for (int q = 0; q < Edges; ++q) add(to[q].vertex, before[q] == none);
}

// follow() for edges met(0) to met(count - 1), where met(k) is asked beyond them too. All lanes of the warp call it.
template <class Met, class Add>
__device__ __forceinline__ void follow_range(number* parent, int count, const Met& met, const Add& add) {
  const int lane = lane_id();
  for (int e = 0; e < count; e += search_tuning::unroll * warp_size) {
    if (count - e <= warp_size) {
      follow<1>(
          parent, [&](int) { return met(e + lane); }, add);
    } else {
      follow<search_tuning::unroll>(
          parent, [&](int q) { return met(e + q * warp_size + lane); }, add);
    }
  }
}

// Follows the edges of a warp's vertices: each lane gives one, by its position, its first edge and their number.
template <class I, class O, class Add>
__device__ __forceinline__ void follow_rows(const searched_rows<I, O>& s, number position, O begin, int degree,
                                            const Add& add) {
  const packed_edges<O> edges(begin, degree, warp_inclusive_sum(degree));
  follow_range(
      s.parent, edges.total,
      [&](int e) {
        const int owner = edges.owner(e);
        const O from = edges.first(owner);
        const number parent = shuffle(position, owner);
        return met_vertex{e < edges.total ? static_cast<number>(s.indices[from + static_cast<O>(e)]) : none, parent};
      },
      add);
}

// --- Wide levels ----------------------------------------------------------

// Lists a warp's new vertices.
template <class I, class O>
class found_list {
 public:
  __device__ explicit found_list(const searched_rows<I, O>& s, number* slots) : s_(s), staged_{slots} {}

  __device__ void operator()(number v, bool is_new) {
    const unsigned lanes = __ballot_sync(full_mask, is_new);
    if (lanes == 0) return;
    if (staged_.count > search_tuning::slots - warp_size) flush();
    staged_.add(lanes, is_new, v, lane_id());
  }
  __device__ void flush() {
    staged_.flush(&s_.control->found, lane_id(), [&](std::int64_t k, const number& v) { s_.found[k] = v; });
  }

 private:
  const searched_rows<I, O>& s_;
  staged_items<number> staged_;
};

// The rows of the frontier; those of hubs become chunks.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    push_kernel(const __grid_constant__ searched_rows<I, O> s, std::int64_t first, std::int64_t last) {
  __shared__ number slots[block_threads / warp_size][search_tuning::slots];
  found_list<I, O> found(s, slots[threadIdx.x / warp_size]);
  const int lane = lane_id();
  const std::int64_t each = (last - first + grid_warps() - 1) / grid_warps();
  const std::int64_t tile = each < warp_size ? each : warp_size;
  for (std::int64_t t = first + grid_warp() * tile; t < last; t += grid_warps() * tile) {
    const bool here = lane < tile && t + lane < last;
    const number v = here ? s.list[t + lane] : 0;
    const O begin = here ? s.offsets[v] : O{0};
    const std::int64_t degree = here ? static_cast<std::int64_t>(s.offsets[std::int64_t{v} + 1] - begin) : 0;
    const auto position = static_cast<number>(t + lane);
    append_chunks(s.hubs, &s.control->chunks, position, degree, search_tuning::chunk);
    const int own = degree > search_tuning::chunk ? 0 : static_cast<int>(degree);
    follow_rows(s, position, begin, own, [&](number u, bool is_new) { found(u, is_new); });
  }
  found.flush();
}

template <class I, class O>
__global__ void __launch_bounds__(block_threads) hubs_kernel(const __grid_constant__ searched_rows<I, O> s) {
  __shared__ number slots[block_threads / warp_size][search_tuning::slots];
  found_list<I, O> found(s, slots[threadIdx.x / warp_size]);
  const auto chunks = static_cast<std::int64_t>(s.control->chunks);
  for (std::int64_t t = grid_warp(); t < chunks; t += grid_warps()) {
    const edge_chunk<number> chunk = s.hubs[t];
    const number v = s.list[chunk.vertex];
    const O begin = chunk.first(s.offsets[v], search_tuning::chunk);
    const auto left = static_cast<std::int64_t>(s.offsets[std::int64_t{v} + 1] - begin);
    const int count = left < search_tuning::chunk ? static_cast<int>(left) : search_tuning::chunk;
    follow_range(
        s.parent, count,
        [&](int e) {
          return met_vertex{e < count ? static_cast<number>(s.indices[begin + static_cast<O>(e)]) : none, chunk.vertex};
        },
        [&](number u, bool is_new) { found(u, is_new); });
  }
  found.flush();
}

// --- Narrow levels --------------------------------------------------------

// The shared memory of the block, for levels of at most `width` vertices.
template <class O>
struct narrow_memory {
  O* begin;        // of a vertex's edges, in the order of the level
  number* degree;  // at most narrow_degree + 1
  number* child;   // new vertices, in any order
  number* group;   // [parent] children, then the place of the first
  number* ranks;   // of the children, by parent

  static constexpr std::size_t bytes(int width) { return static_cast<std::size_t>(width) * (sizeof(O) + 4 * 4); }

  __device__ narrow_memory(unsigned char* raw, int width)
      : begin(reinterpret_cast<O*>(raw)),
        degree(reinterpret_cast<number*>(begin + width)),
        child(degree + width),
        group(child + width),
        ranks(group + width) {}
};

struct narrow_counts {
  number children;
  number edges;    // of the frontier
  number longest;  // the largest degree in it
};

// Adds a level's vertices, whose lanes have `edges` and `longest`.
__device__ inline void add_counts(narrow_counts& to, number edges, number longest) {
  edges = warp_sum(edges);
  longest = warp_max(longest);
  if (lane_id() != 0) return;
  if (edges > 0) atomicAdd(&to.edges, edges);
  if (longest > 0) atomicMax(&to.longest, longest);
}

template <class O>
__device__ __forceinline__ number clipped_degree(O degree) {
  constexpr O most = search_tuning::narrow_degree + 1;
  return static_cast<number>(degree < most ? degree : most);
}

// A new vertex on its way to its place.
template <class O>
struct narrow_child {
  number vertex;
  number parent;  // its place in the frontier
  number rank;
  number degree;
  number slot;  // in its group, in any order
  O begin;
};

// Exclusive prefix sums of values[0, count). All threads of the block call it, between barriers.
__device__ inline void scan_groups(number* values, int count, number (&of_warps)[search_tuning::narrow_warps]) {
  constexpr int each = search_tuning::width / search_tuning::narrow_block;
  const int first = static_cast<int>(threadIdx.x) * each;
  number mine[each];
  number sum = 0;
#pragma unroll
  for (int q = 0; q < each; ++q) {
    mine[q] = first + q < count ? values[first + q] : 0;
    sum += mine[q];
  }
  number at = block_exclusive_sum(sum, of_warps).before;
#pragma unroll
  for (int q = 0; q < each; ++q) {
    if (first + q < count) values[first + q] = at;
    at += mine[q];
  }
}

// Runs levels from `at` on while they are narrow. Leaves in control where it stopped; found > 0: the new vertices of
// the frontier were too many, and are in s.found.
template <class I, class O>
__global__ void __launch_bounds__(search_tuning::narrow_block, 1)
    narrow_kernel(const __grid_constant__ searched_rows<I, O> s, search_control at, int width) {
  constexpr number block = search_tuning::narrow_block;
  constexpr int warps = search_tuning::narrow_warps;
  constexpr int each = search_tuning::width / block;
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ narrow_counts counts;
  __shared__ number of_warps[warps];
  const narrow_memory<O> memory(raw, width);
  const number thread = threadIdx.x;
  const int lane = lane_id();
  auto first = static_cast<number>(at.first);
  auto last = static_cast<number>(at.last);
  auto level = static_cast<number>(at.level);
  number found = 0;
  if (thread == 0) counts = {};
  __syncthreads();
  number edges = 0, longest = 0;
  for (number k = thread; k < last - first; k += block) {
    const number v = s.list[first + k];
    memory.begin[k] = s.offsets[v];
    const number degree = clipped_degree(s.offsets[std::int64_t{v} + 1] - memory.begin[k]);
    memory.degree[k] = degree;
    edges += degree;
    longest = longest < degree ? degree : longest;
  }
  __syncwarp();
  add_counts(counts, edges, longest);
  __syncthreads();
  for (int levels = 0; levels < search_tuning::narrow_levels; ++levels) {
    const number size = last - first;
    const bool goes_on =
        size > 0 && counts.edges <= search_tuning::narrow_edges && counts.longest <= search_tuning::narrow_degree;
    __syncthreads();  // all have read the counts
    if (!goes_on) break;
    if (thread == 0) counts = {};
    for (number k = thread; k < size; k += block) memory.group[k] = 0;
    __syncthreads();
    // 1. New vertices.
    const number per_warp = (size + warps - 1) / warps;
    const number tile = per_warp < warp_size ? per_warp : warp_size;
    for (number t = thread / warp_size * tile; t < size; t += warps * tile) {
      const number k = t + lane;
      const bool here = k < t + tile && k < size;
      const O begin = here ? memory.begin[k] : O{0};
      const int degree = here ? static_cast<int>(memory.degree[k]) : 0;
      follow_rows(s, first + k, begin, degree, [&](number u, bool is_new) {
        const unsigned lanes = __ballot_sync(full_mask, is_new);
        if (lanes == 0) return;
        const number place = place_by_warp(&counts.children, lanes, lane);
        if (!is_new) return;
        number* const to = place < static_cast<number>(width) ? memory.child : s.found;
        to[place] = u;
      });
    }
    __syncthreads();
    const number children = counts.children;
    if (children > static_cast<number>(width)) {  // too many: the host puts them in order
      for (number k = thread; k < static_cast<number>(width); k += block) s.found[k] = memory.child[k];
      found = children;
      break;
    }
    // 2. Their parents, and the sizes of their groups.
    narrow_child<O> mine[each];
#pragma unroll
    for (int q = 0; q < each; ++q) {
      const number k = thread + q * block;
      if (k >= children) continue;
      narrow_child<O>& c = mine[q];
      c.vertex = memory.child[k];
      c.parent = __ldcg(s.parent + c.vertex) - first;
      c.rank = s.rank[c.vertex];
      c.begin = s.offsets[c.vertex];
      c.degree = clipped_degree(s.offsets[std::int64_t{c.vertex} + 1] - c.begin);
    }
#pragma unroll
    for (int q = 0; q < each; ++q) {
      if (thread + q * block < children) mine[q].slot = atomicAdd(memory.group + mine[q].parent, 1U);
    }
    __syncthreads();
    // 3. The places of the groups, and their ranks.
    scan_groups(memory.group, static_cast<int>(size), of_warps);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < each; ++q) {
      if (thread + q * block < children) memory.ranks[memory.group[mine[q].parent] + mine[q].slot] = mine[q].rank;
    }
    __syncthreads();
    // 4. The order within the groups; the new frontier.
    edges = longest = 0;
#pragma unroll
    for (int q = 0; q < each; ++q) {
      if (thread + q * block >= children) continue;
      const narrow_child<O>& c = mine[q];
      number place = memory.group[c.parent];
      const number end = c.parent + 1 < size ? memory.group[c.parent + 1] : children;
      for (number k = place; k < end; ++k) place += memory.ranks[k] < c.rank ? 1 : 0;
      s.list[last + place] = c.vertex;
      s.level[last + place] = level + 1;
      memory.begin[place] = c.begin;
      memory.degree[place] = c.degree;
      edges += c.degree;
      longest = longest < c.degree ? c.degree : longest;
    }
    __syncwarp();
    add_counts(counts, edges, longest);
    first = last;
    last += children;
    ++level;
    __syncthreads();
  }
  if (thread == 0) *s.control = {first, last, level, found, 0};
}

// --- The search -----------------------------------------------------------

// The keys of new vertices: (parent, rank).
template <class I, class O>
void make_keys(const context<device>& ctx, const searched_rows<I, O>& s, number first, int rank_bits,
               array<std::uint64_t, device>& keys) {
  std::uint64_t* const to = keys.data();
  for_each(ctx, keys.size(), [=] __device__(std::int64_t i) {
    const number v = s.found[i];
    to[i] = std::uint64_t{s.parent[v] - first} << rank_bits | s.rank[v];
  });
}

// A level at list[last, last + keys.size()).
inline void place_level(const context<device>& ctx, const array<std::uint64_t, device>& keys, int rank_bits,
                        const number* by_rank, number level, number* list, number* levels) {
  const std::uint64_t* const from = keys.data();
  const std::uint64_t mask = (std::uint64_t{1} << rank_bits) - 1;
  for_each(ctx, keys.size(), [=] __device__(std::int64_t i) {
    list[i] = by_rank[from[i] & mask];
    levels[i] = level;
  });
}

template <class I, class O>
class ordered_search {
 public:
  // rank: the place of each vertex in `by_rank`, all vertices by (degree, number).
  ordered_search(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                 const array<number, device>& rank, const array<number, device>& by_rank)
      : ctx_(ctx), vertices_(rows.rows), by_rank_(by_rank.data()), memory_(ctx) {
    s_.offsets = rows.offsets.data();
    s_.indices = rows.indices.data();
    s_.rank = rank.data();
    s_.parent = memory_.take<number>(vertices_);
    s_.list = memory_.take<number>(vertices_);
    s_.level = memory_.take<number>(vertices_);
    s_.found = memory_.take<number>(vertices_);
    most_chunks_ = 2 * rows.nnz() / search_tuning::chunk + 1;
    s_.hubs = memory_.take<edge_chunk<number>>(most_chunks_);
    s_.control = memory_.take<search_control>(1);
    rank_bits_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vertices_ - 1)));
    width_ = search_tuning::width;
    constexpr std::int64_t fixed = 1024;  // what the kernel declares
    while (static_cast<std::int64_t>(narrow_memory<O>::bytes(width_)) + fixed >
           ctx.properties().shared_memory_per_block) {
      width_ /= 2;
    }
    allow_shared(&narrow_kernel<I, O>, narrow_memory<O>::bytes(width_));
  }

  [[nodiscard]] const searched_rows<I, O>& rows() const { return s_; }

  // Searches from the vertices list[0, starts), which are distinct and in different components. Their parents are 0 and
  // their levels too; those of all other vertices are `none`. Returns the number of vertices visited. Synchronizes.
  std::int64_t run(std::int64_t starts) {
    search_control at{0, static_cast<count64>(starts), 0, 0, 0};
    while (at.first < at.last) {
      interruption::look();
      if (static_cast<std::int64_t>(at.last - at.first) <= width_) {
        launch_kernel(ctx_, {dim3(1), dim3(search_tuning::narrow_block), narrow_memory<O>::bytes(width_)},
                      narrow_kernel<I, O>, s_, at, width_);
        const search_control was = at;
        at = control();
        if (at.found == 0 && at.level != was.level) continue;  // it looks again whether the level is narrow
      }
      if (at.found == 0) push(at);
      place(at);
    }
    return static_cast<std::int64_t>(at.last);
  }

 private:
  [[nodiscard]] search_control control() const {
    return element(ctx_, span<const search_control, device>(s_.control, 1), 0);
  }

  // Lists the new vertices of the frontier.
  void push(search_control& at) {
    const auto first = static_cast<std::int64_t>(at.first);
    const auto last = static_cast<std::int64_t>(at.last);
    fill_bytes(ctx_, s_.control, 0, sizeof(search_control));
    launch_kernel(ctx_, grid_stride(ctx_, (last - first) * warp_size), push_kernel<I, O>, s_, first, last);
    launch_kernel(ctx_, grid_stride(ctx_, most_chunks_ * warp_size), hubs_kernel<I, O>, s_);
    at.found = control().found;
  }

  // Sorts them into the next level, which becomes the frontier.
  void place(search_control& at) {
    const auto count = static_cast<std::int64_t>(at.found);
    array<std::uint64_t, device> keys(ctx_, count);
    const int parent_bits = static_cast<int>(std::bit_width(at.last - at.first - 1));
    make_keys(ctx_, s_, static_cast<number>(at.first), rank_bits_, keys);
    sort_keys(ctx_, keys, 0, rank_bits_ + parent_bits);
    place_level(ctx_, keys, rank_bits_, by_rank_, static_cast<number>(at.level + 1), s_.list + at.last,
                s_.level + at.last);
    at = {at.last, at.last + at.found, at.level + 1, 0, 0};
  }

  context<device> ctx_;
  std::int64_t vertices_;
  const number* by_rank_;
  plan_memory memory_;
  searched_rows<I, O> s_{};
  std::int64_t most_chunks_ = 0;
  int rank_bits_ = 0;
  int width_ = 0;
};

}  // namespace spargo::detail::reorder
