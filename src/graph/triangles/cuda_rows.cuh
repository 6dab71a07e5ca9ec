// Triangles of ascending rows as they are, on the device: an edge is followed from its end of higher id, so every
// triangle is met once, at its highest vertex. For graphs of short rows, which are read once or twice from L1.
//
// v's neighbours below it are put into a hash table by a warp, and for each u of them but the first, those of u's row
// below u are looked up there, by groups of four lanes with four entries each. Rows of a few entries have a thread
// instead of a warp: it searches u's row for what v has below u. So do the lanes of a warp where v's row is long.
// Cost: the sum over the edges of the row at the lower end.
#pragma once

#include "graph/triangles/cuda_count.cuh"

#include <limits>

namespace spargo::detail::triangles {

struct cuda_rows_tuning {
  static constexpr std::int64_t thread_row = 8;   // up to here all vertices have a thread each; not timed
  static constexpr std::int64_t table_row = 128;  // up to here a table; not timed
  // Of a row, and entries of each. H200, uniform graph of 2^22 vertices, rows of 32, ms: 4 and 4: 6.43, 2 and 8: 6.47.
  static constexpr int lanes = 4;
  static constexpr int entries = 4;
};

// Adds what is found to all three vertices; directed: where links are wanted of a directed graph.
template <triangles_output Output, class I>
struct row_tally {
  count_sums sums;  // [vertex]
  device_rows<I, std::int64_t> directed;
  std::int64_t total = 0;

  __device__ __forceinline__ void meet(I v, I u, I w) {
    ++total;
    if constexpr (Output != triangles_output::total) {
      for (const I x : {v, u, w}) atomicAdd(sums.counts + x, count64{1});
    }
    if constexpr (Output == triangles_output::links) {
      atomicAdd(sums.links + v, count64{1 + joined_both_ways(directed, u, w)});
      atomicAdd(sums.links + u, count64{1 + joined_both_ways(directed, v, w)});
      atomicAdd(sums.links + w, count64{1 + joined_both_ways(directed, v, u)});
    }
  }
};

// f(w) for what two ascending lists have in common: steps through the shorter and searches the other.
template <class I, class F>
__device__ void for_common(const I* a, std::int64_t a_size, const I* b, std::int64_t b_size, F f) {
  const bool turned = b_size < a_size;
  const I* const few = turned ? b : a;
  const I* many = turned ? a : b;
  const std::int64_t few_size = turned ? b_size : a_size;
  std::int64_t many_size = turned ? a_size : b_size;
  for (std::int64_t k = 0; k < few_size && many_size > 0; ++k) {
    const std::int64_t at = lower_bound(many, many_size, few[k]);
    many += at;
    many_size -= at;
    if (many_size > 0 && *many == few[k]) f(few[k]);
  }
}

// Of v with its k-th neighbour u: what comes before u in both rows.
template <triangles_output Output, class I, class O>
__device__ __forceinline__ void count_by_search(const device_rows<I, O>& rows, std::int64_t v, std::int64_t first,
                                                std::int64_t k, row_tally<Output, I>& mine) {
  const I u = rows.indices[first + k];
  const std::int64_t theirs = rows.offsets[u];
  for_common(rows.indices + first, k, rows.indices + theirs, rows.offsets[u + 1] - theirs,
             [&](I w) { mine.meet(static_cast<I>(v), u, w); });
}

template <triangles_output Output, class I>
__device__ __forceinline__ void add_total(const row_tally<Output, I>& mine, count_control* control) {
  const auto total = warp_sum(static_cast<count64>(mine.total));
  if (lane_id() == 0 && total > 0) atomicAdd(&control->total, total);
}

template <triangles_output Output, class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_rows_by_threads_kernel(device_rows<I, O> rows, row_tally<Output, I> mine, count_control* control) {
  for (std::int64_t v = global_thread(); v < rows.vertices; v += grid_threads()) {
    const std::int64_t first = rows.offsets[v];
    const std::int64_t size = rows.offsets[v + 1] - first;
    for (std::int64_t k = 1; k < size && rows.indices[first + k] < static_cast<I>(v); ++k) {
      count_by_search(rows, v, first, k, mine);
    }
  }
  __syncwarp();
  add_total(mine, control);
}

// Ids in shared memory, at most half full; an empty slot holds -1.
template <class I>
struct id_table {
  I* slots;
  int shift;

  [[nodiscard]] __device__ __forceinline__ unsigned size() const { return 1U << (32 - shift); }
  [[nodiscard]] __device__ __forceinline__ unsigned home(I id) const {
    return static_cast<unsigned>(id) * 2654435769U >> shift;
  }
  __device__ __forceinline__ void insert(I id) const {
    unsigned slot = home(id);
    while (!claims(slots + slot, id)) slot = (slot + 1) & (size() - 1);
  }
  [[nodiscard]] __device__ __forceinline__ bool has(I id) const {
    unsigned slot = home(id);
    while (slots[slot] != id && slots[slot] != I{-1}) slot = (slot + 1) & (size() - 1);
    return slots[slot] == id;
  }

 private:
  __device__ __forceinline__ static bool claims(std::int32_t* slot, std::int32_t id) {
    return atomicCAS(slot, -1, id) == -1;
  }
  __device__ __forceinline__ static bool claims(std::int64_t* slot, std::int64_t id) {
    return atomicCAS(reinterpret_cast<count64*>(slot), ~count64{0}, static_cast<count64>(id)) == ~count64{0};
  }
};

// v has `size` neighbours below it, from entry `first` on, which are in the table.
template <triangles_output Output, class I, class O>
__device__ __forceinline__ void count_by_table(const device_rows<I, O>& rows, std::int64_t v, std::int64_t first,
                                               std::int64_t size, const id_table<I>& table,
                                               row_tally<Output, I>& mine) {
  constexpr int lanes = cuda_rows_tuning::lanes;
  constexpr int entries = cuda_rows_tuning::entries;
  constexpr unsigned group_mask = (1U << lanes) - 1;
  constexpr I none = std::numeric_limits<I>::max();
  const int in_group = lane_id() % lanes;
  const int group_first = lane_id() - in_group;
  for (std::int64_t base = 1; base < size; base += warp_size) {
    const int edges = size - base < warp_size ? static_cast<int>(size - base) : warp_size;
    I lower = 0;
    O row_first = 0;
    O row_end = 0;
    if (lane_id() < edges) {
      lower = rows.indices[first + base + lane_id()];
      row_first = rows.offsets[lower];
      row_end = rows.offsets[lower + 1];
    }
    int edge = lane_id() / lanes;
    int next = warp_size / lanes;
    I u = shuffle(lower, edge);
    std::int64_t at = shuffle(row_first, edge) + O(in_group);
    O end = shuffle(row_end, edge);
    while (__any_sync(full_mask, edge < edges ? 1 : 0) != 0) {
      I w[entries];
#pragma unroll
      for (int j = 0; j < entries; ++j) {
        const std::int64_t mine_at = at + j * lanes;
        w[j] = edge < edges && mine_at < end ? rows.indices[mine_at] : none;
      }
#pragma unroll
      for (int j = 0; j < entries; ++j) {
        if (w[j] < u && table.has(w[j])) mine.meet(static_cast<I>(v), u, w[j]);
      }
      __syncwarp();
      const bool done = (__ballot_sync(full_mask, w[entries - 1] >= u) >> group_first & group_mask) != 0;
      const unsigned finished = __ballot_sync(full_mask, done && edge < edges && in_group == 0);
      if (done) edge = next + __popc(finished & ((1U << group_first) - 1));
      next += __popc(finished);
      const I new_u = shuffle(lower, edge % warp_size);
      const O new_first = shuffle(row_first, edge % warp_size);
      const O new_end = shuffle(row_end, edge % warp_size);
      u = done ? new_u : u;
      end = done ? new_end : end;
      at = done ? std::int64_t{new_first} + in_group : at + lanes * entries;
    }
  }
}

// Where a row is, and the lane's entry of its first 32.
template <class I>
struct row_head {
  std::int64_t first = 0;
  std::int64_t size = 0;
  I entry = 0;

  __device__ __forceinline__ void load_entry(const I* indices) {
    if (lane_id() < size) entry = indices[first + lane_id()];
  }
};
template <class I, class O>
__device__ __forceinline__ row_head<I> find_row(const device_rows<I, O>& rows, std::int64_t v) {
  row_head<I> head;
  if (v >= rows.vertices) return head;
  head.first = rows.offsets[v];
  head.size = rows.offsets[v + 1] - head.first;
  return head;
}

template <triangles_output Output, class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_rows_by_warps_kernel(device_rows<I, O> rows, row_tally<Output, I> mine, count_control* control) {
  using tuning = cuda_rows_tuning;
  __shared__ I tables[block_threads / warp_size][2 * tuning::table_row];
  I* const slots = tables[threadIdx.x / warp_size];
  for (int k = lane_id(); k < 2 * tuning::table_row; k += warp_size) slots[k] = -1;
  __syncwarp();
  row_head<I> now = find_row(rows, global_warp());
  now.load_entry(rows.indices);
  for (std::int64_t v = global_warp(); v < rows.vertices; v += grid_warps()) {
    row_head<I> next = find_row(rows, v + grid_warps());  // on its way while v's is looked at
    if (now.size > tuning::table_row) {
      const std::int64_t size = lower_bound(rows.indices + now.first, now.size, v);
      for (std::int64_t k = 1 + lane_id(); k < size; k += warp_size) count_by_search(rows, v, now.first, k, mine);
      __syncwarp();
      next.load_entry(rows.indices);
    } else {
      const id_table<I> table{slots, hash_set<false>::shift_for(now.size > 0 ? now.size : 1)};
      bool below = lane_id() < now.size && now.entry < static_cast<I>(v);
      if (below) table.insert(now.entry);
      std::int64_t size = __popc(__ballot_sync(full_mask, below));  // neighbours below v
      for (std::int64_t from = warp_size; from < now.size; from += warp_size) {
        const std::int64_t k = from + lane_id();
        below = k < now.size && rows.indices[now.first + k] < static_cast<I>(v);
        if (below) table.insert(rows.indices[now.first + k]);
        size += __popc(__ballot_sync(full_mask, below));
      }
      next.load_entry(rows.indices);
      __syncwarp();
      count_by_table(rows, v, now.first, size, table, mine);
      __syncwarp();
      for (unsigned k = static_cast<unsigned>(lane_id()); k < table.size(); k += warp_size) slots[k] = -1;
      __syncwarp();
    }
    now = next;
  }
  add_total(mine, control);
}

// --- Looking at rows ------------------------------------------------------

struct row_findings {
  count64 longest;
  unsigned disorder;  // not zero: a row that does not ascend, or a loop
};

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    survey_rows_kernel(device_rows<I, O> rows, std::int64_t parts, row_findings* found) {
  std::int64_t longest = 0;
  bool disorder = false;
  for (std::int64_t v = global_thread(); v < rows.vertices; v += grid_threads()) {
    const std::int64_t size = rows.offsets[v + 1] - rows.offsets[v];
    longest = size > longest ? size : longest;
  }
  for (std::int64_t part = global_warp(); part < parts; part += grid_warps()) {
    walk_entries(rows.vertices, rows.offsets, part, [&](const walked_entry(&walked)[walk_tuning::steps]) {
      for (const auto& [row, entry, valid] : walked) {
        if (!valid) continue;
        const I here = rows.indices[entry];
        disorder =
            disorder || here == static_cast<I>(row) || (entry > rows.offsets[row] && rows.indices[entry - 1] >= here);
      }
    });
  }
  longest = warp_max(longest);
  if (lane_id() == 0 && longest > 0) atomicMax(&found->longest, static_cast<count64>(longest));
  if (disorder) atomicOr(&found->disorder, 1U);
}

}  // namespace spargo::detail::triangles
