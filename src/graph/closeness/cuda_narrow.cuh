// Searches of undirected graphs whose frontiers stay small, such as grids and roads: one thread block per source.
//
// Where searches have thousands of levels, a vertex is rarely found by two of 256 sources in the same level, so that
// sharing visits saves nothing, and every level waits for the whole grid. Instead a block runs all levels of a search
// alone. In an undirected graph a neighbour of level d is in level d - 1, d or d + 1, so a search needs no marks on
// all vertices: hash tables of three levels in shared memory tell which neighbours are new.
//
// Invariant: a level's vertices are in one list and one table, each vertex once. A search whose frontier exceeds the
// list, or that meets a long row, stops; its contributions, all of levels found whole, are then taken back by the same
// search with the opposite sign, and the caller searches from that source in another way.
//
// Rows of up to four edges are copied, 16 bytes per vertex, so that a vertex's neighbours arrive in one load.
//
// Cost: per vertex and source its row, one 64-bit atomic addition, and about ten probes of shared memory; two barriers
// of a block per level. Grid of 2048^2, 1024 sources, H100: 260 ms, without the copy 504, by multi_bfs 3490; with marks
// in global memory instead of tables 705 to 870.
#pragma once

#include "core/bytes_of.hpp"
#include "core/cuda.cuh"
#include "core/device/launch.cuh"
#include "core/device/resident.cuh"
#include "core/device/shared_limit.cuh"
#include "graph/closeness/executor.hpp"

#include <spargo/core/device_features.cuh>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace spargo::detail::closeness {

struct narrow_tuning {
  static constexpr int block = 768;            // 512, 768, 1024: 308, 273, 263 ms
  static constexpr int blocks = 2;             // per SM, by shared memory
  static constexpr int list = 4608;            // vertices of a level; a grid of 2048^2 has up to 4096
  static constexpr unsigned slots = 6144;      // of a table: room for the list and a vertex more of each thread
  static constexpr int row = 64;               // longest row that a thread follows
  static constexpr std::int64_t batch = 1024;  // sources of a launch
  static constexpr std::size_t shared_bytes = sizeof(unsigned) * (3 * slots + 2 * list);
};
static_assert(narrow_tuning::slots > narrow_tuning::list + narrow_tuning::block && narrow_tuning::slots % 4 == 0);

// Up to four neighbours; `none` where there are fewer, and x = `is_long` of a row with more.
struct short_row {
  static constexpr unsigned none = ~0U;
  static constexpr unsigned is_long = none - 1;
};

template <class I, class O>
struct narrow_arguments {
  const O* offsets;
  const I* indices;
  const uint4* rows;  // short_row, [vertex]
  const I* sources;
  int count;
  unsigned* next;            // source
  std::uint8_t* overflowed;  // [source]
  count64* sums;             // [vertex]
  multi_bfs::sum_rule rule;
  int sign;  // of the contributions
};

// Sets of vertices with open addressing.
struct vertex_table {
  static constexpr unsigned empty = short_row::none;
  unsigned* slots;

  [[nodiscard]] __device__ static unsigned home(unsigned v) { return __umulhi(v * 2654435769U, narrow_tuning::slots); }
  [[nodiscard]] __device__ static unsigned after(unsigned slot) {
    return slot + 1 == narrow_tuning::slots ? 0 : slot + 1;
  }
  [[nodiscard]] __device__ bool contains(unsigned v) const {
    for (unsigned slot = home(v);; slot = after(slot)) {
      const unsigned held = slots[slot];
      if (held == v || held == empty) return held == v;
    }
  }
  // Returns whether v is new. Other threads may insert at the same time.
  [[nodiscard]] __device__ bool insert(unsigned v) const {
    for (unsigned slot = home(v);; slot = after(slot)) {
      unsigned held = *const_cast<volatile unsigned*>(slots + slot);
      if (held == empty) held = atomicCAS(slots + slot, empty, v);
      if (held == empty) return true;
      if (held == v) return false;
    }
  }
  // Called by the whole block.
  __device__ void clear() const {
    for (unsigned k = threadIdx.x; k < narrow_tuning::slots / 4; k += blockDim.x) {
      reinterpret_cast<uint4*>(slots)[k] = {empty, empty, empty, empty};
    }
  }
};

// A search by a block: its levels d - 1, d and d + 1, and the lists of the last two.
class narrow_search {
 public:
  __device__ explicit narrow_search(unsigned* memory)
      : before_{memory},
        now_{memory + narrow_tuning::slots},
        next_{memory + 2 * narrow_tuning::slots},
        list_(memory + 3 * narrow_tuning::slots),
        next_list_(list_ + narrow_tuning::list) {}

  // Returns whether all levels fit. The whole block calls it.
  template <class I, class O>
  [[nodiscard]] __device__ bool run(const narrow_arguments<I, O>& a, unsigned source, int* counts) {
    before_.clear();
    now_.clear();
    next_.clear();
    if (threadIdx.x < 2) counts[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
      (void)now_.insert(source);
      list_[0] = source;
    }
    int count = 1;
    for (int level = 0; count > 0; ++level) {
      int* const found = counts + level % 2;
      __syncthreads();
      expand(a, count, level, found);
      __syncthreads();
      count = *found;
      if (count > narrow_tuning::list) return false;
      if (threadIdx.x == 0) counts[(level + 1) % 2] = 0;
      std::swap(list_, next_list_);
      const vertex_table oldest = before_;
      before_ = now_;
      now_ = next_;
      next_ = oldest;
      next_.clear();
    }
    return true;
  }

 private:
  // Adds the level's distances, and finds the next level; `found` exceeds a list where that does not fit.
  template <class I, class O>
  __device__ void expand(const narrow_arguments<I, O>& a, int count, int level, int* found) {
    const std::int64_t weight = level == 0 ? 0 : a.sign * a.rule.weight(level);
    for (int k = static_cast<int>(threadIdx.x); k < count; k += narrow_tuning::block) {
      const unsigned v = list_[k];
      const uint4 row = __ldg(a.rows + v);
      if (weight != 0) atomicAdd(a.sums + v, static_cast<count64>(weight));
      if (row.x == short_row::is_long) {
        expand_long(a, v, found);
        continue;
      }
      const unsigned neighbours[] = {row.x, row.y, row.z, row.w};
#pragma unroll
      for (const unsigned u : neighbours) {
        if (u != short_row::none) reach(u, found);
      }
    }
  }
  template <class I, class O>
  __device__ void expand_long(const narrow_arguments<I, O>& a, unsigned v, int* found) {
    const O last = a.offsets[v + std::int64_t{1}];
    O e = a.offsets[v];
    if (last - e > narrow_tuning::row) atomicAdd(found, narrow_tuning::list + 1);
    for (; e < last && last - e <= narrow_tuning::row; ++e) reach(static_cast<unsigned>(a.indices[e]), found);
  }
  __device__ void reach(unsigned u, int* found) {
    if (before_.contains(u) || now_.contains(u)) return;
    if (*const_cast<volatile int*>(found) > narrow_tuning::list || !next_.insert(u)) return;
    const int at = atomicAdd(found, 1);
    if (at < narrow_tuning::list) next_list_[at] = u;
  }

  vertex_table before_, now_, next_;
  unsigned* list_;
  unsigned* next_list_;
};

extern __shared__ uint4 narrow_memory[];

template <class I, class O>
__global__ void __launch_bounds__(narrow_tuning::block, resident_blocks(narrow_tuning::blocks, narrow_tuning::block))
    narrow_kernel(const __grid_constant__ narrow_arguments<I, O> a) {
  __shared__ int counts[2];
  __shared__ unsigned taken;
  for (;;) {
    __syncthreads();  // the last search is over
    if (threadIdx.x == 0) taken = atomicAdd(a.next, 1U);
    __syncthreads();
    const auto k = static_cast<int>(taken);
    if (k >= a.count) return;
    narrow_search search(reinterpret_cast<unsigned*>(narrow_memory));
    const bool whole = search.run(a, static_cast<unsigned>(a.sources[k]), counts);
    if (threadIdx.x == 0) a.overflowed[k] = whole ? 0 : 1;
  }
}

template <class I, class O>
void copy_short_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, uint4* to) {
  for_each(ctx, rows.rows,
           [offsets = rows.offsets.data(), indices = rows.indices.data(), to] __device__(std::int64_t v) {
             const O first = offsets[v];
             const auto length = static_cast<std::int64_t>(offsets[v + 1] - first);
             unsigned u[4];
#pragma unroll
             for (int e = 0; e < 4; ++e) {
               u[e] = e < length ? static_cast<unsigned>(indices[first + static_cast<O>(e)]) : short_row::none;
             }
             to[v] = {length > 4 ? short_row::is_long : u[0], u[1], u[2], u[3]};
           });
}

// Launches, and the sources that need another search.
template <class I, class O>
class narrow_searches {
 public:
  narrow_searches(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows)
      : ctx_(ctx),
        rows_(rows),
        short_rows_(ctx, rows.rows),
        sources_(ctx, narrow_tuning::batch),
        overflowed_(ctx, narrow_tuning::batch),
        next_(ctx, 1),
        of_host_(context<host>({.threads = 1, .resource = &pinned_host_resource()}), narrow_tuning::batch) {
    copy_short_rows(ctx, rows, short_rows_.data());
    allow_shared(narrow_kernel<I, O>, narrow_tuning::shared_bytes);
    blocks_ = resident_grid(ctx, narrow_kernel<I, O>, narrow_tuning::block, narrow_tuning::shared_bytes);
  }

  // Whether frontiers may stay small, and vertices fit a table.
  [[nodiscard]] static bool suits(const context<device>& ctx, const graph_view<I, O, device>& g) {
    return g.direction == direction_kind::undirected && g.vertices() > 0 &&
           g.vertices() < std::int64_t{short_row::is_long} && may_stay_narrow(g.vertices(), g.out.nnz()) &&
           ctx.properties().shared_memory_per_block >= static_cast<std::int64_t>(narrow_tuning::shared_bytes);
  }

  // Adds the distances from at most narrow_tuning::batch sources; returns those it did not add. Synchronizes.
  [[nodiscard]] std::vector<I> add(span<const I, host> sources, count64* sums, const multi_bfs::sum_rule& rule) {
    launch(sources, sums, rule, 1);
    copy_to_host(ctx_, overflowed_.data(), of_host_.data(), static_cast<std::size_t>(sources.size()));
    ctx_.synchronize();
    std::vector<I> others;
    for (std::int64_t k = 0; k < sources.size(); ++k) {
      if (of_host_[k] != 0) others.push_back(sources[k]);
    }
    if (!others.empty()) launch(span<const I, host>(others), sums, rule, -1);
    return others;
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    return bytes_of(short_rows_, sources_, overflowed_, next_);
  }

 private:
  void launch(span<const I, host> sources, count64* sums, const multi_bfs::sum_rule& rule, int sign) {
    copy<I>(ctx_, sources, sources_.view().subspan(0, sources.size()));
    fill_zero(ctx_, next_.view());
    const narrow_arguments<I, O> a{.offsets = rows_.offsets.data(),
                                   .indices = rows_.indices.data(),
                                   .rows = short_rows_.data(),
                                   .sources = sources_.data(),
                                   .count = static_cast<int>(sources.size()),
                                   .next = next_.data(),
                                   .overflowed = overflowed_.data(),
                                   .sums = sums,
                                   .rule = rule,
                                   .sign = sign};
    launch_kernel(ctx_, {std::min(blocks_, sources.size()), narrow_tuning::block, narrow_tuning::shared_bytes},
                  narrow_kernel<I, O>, a);
  }

  context<device> ctx_;
  csr_pattern_view<I, O, device> rows_;
  std::int64_t blocks_ = 0;
  array<uint4, device> short_rows_;
  array<I, device> sources_;
  array<std::uint8_t, device> overflowed_;
  array<unsigned, device> next_;
  array<std::uint8_t, host> of_host_;  // pinned
};

}  // namespace spargo::detail::closeness
