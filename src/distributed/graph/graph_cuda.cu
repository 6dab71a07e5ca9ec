// Generates distributed graphs on the devices.
//
// Random entries are pure functions of their index (io/generate/entries.hpp), so every device generates all of them,
// repeatedly, and keeps those in its rows: nothing is sent, and no pair exists on the host. Rows are built in rounds
// that fit the sort's memory: the round's pairs as keys (row in the high bits) are sorted, made unique, and appended to
// the rows of earlier rounds. Block-wise row counts, to which each rank contributes its part of the entries, determine
// the rows of a round and of a rank.
// Invariant: before a round, entries [0, placed) and the offsets of all earlier rows are final.
// Cost: O(entries * rounds) to generate, 30 to 40 integer operations per R-MAT level; one sort of every key.
#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "core/parts.hpp"
#include "core/search.hpp"
#include "distributed/exchange/exchange_pattern.hpp"
#include "distributed/graph/device_graph.hpp"
#include "graph/graph/keys.hpp"
#include "io/generate/entries.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <spargo/io/generate.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace spargo::detail::distributed {

namespace {

struct making_tuning {
  static constexpr int per_thread = 4;  // entries per thread of a tile
  static constexpr int tile = block_threads * per_thread;
  static constexpr std::int64_t scratch = 24;  // bytes per key: the key, the sort's copy, the unique copy
};

struct row_range {
  std::int64_t first;
  std::int64_t last;
};

enum class pair_ways { out, in, both };

// Calls f(way, row, column), way 0 or 1, for the pairs of an entry (a loop has one or none).
template <class Places>
struct pair_source {
  Places place;
  pair_ways ways;
  self_loops loops;

  template <class F>
  __device__ void operator()(std::int64_t e, F&& f) const {
    const entry_place at = place(e);
    const bool is_loop = at.row == at.col;
    if (is_loop && loops == self_loops::drop) return;
    if (ways != pair_ways::in) f(0, at.row, at.col);
    if (ways == pair_ways::in || (ways == pair_ways::both && !is_loop)) f(1, at.col, at.row);
  }
};

// counts[b] += pairs of entries [first, last) in rows of block b.
template <class Places>
__global__ void __launch_bounds__(block_threads)
    count_pairs_kernel(pair_source<Places> source, std::int64_t first, std::int64_t last, count64* counts) {
  for (std::int64_t e = first + global_thread(); e < last; e += grid_threads()) {
    source(e, [&](int, std::int64_t row, std::int64_t) { atomicAdd(counts + row / partition::grain, count64{1}); });
  }
}

// Collects, unordered, the keys of all pairs in `rows`. A block reserves space for a tile's pairs at once.
template <class Places>
__global__ void __launch_bounds__(block_threads)
    collect_pairs_kernel(pair_source<Places> source, std::int64_t entries, row_range rows, key_format format,
                         std::uint64_t* keys, count64* size) {
  __shared__ int by_warp[block_threads / warp_size];
  __shared__ count64 place;
  for (std::int64_t tile = std::int64_t{blockIdx.x} * making_tuning::tile; tile < entries;
       tile += std::int64_t{gridDim.x} * making_tuning::tile) {
    std::uint64_t key[2 * making_tuning::per_thread];
    unsigned kept = 0;
#pragma unroll
    for (int j = 0; j < making_tuning::per_thread; ++j) {
      const std::int64_t e = tile + j * block_threads + threadIdx.x;
      if (e >= entries) continue;
      source(e, [&](int way, std::int64_t row, std::int64_t column) {
        if (row < rows.first || row >= rows.last) return;
        kept |= 1U << (2 * j + way);
        key[2 * j + way] = format.pack(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column));
      });
    }
    const auto [before, total] = block_exclusive_sum(__popc(kept), by_warp);
    if (threadIdx.x == 0 && total > 0) place = atomicAdd(size, static_cast<count64>(total));
    __syncthreads();
    std::uint64_t* to = keys + place + before;
#pragma unroll
    for (int k = 0; k < 2 * making_tuning::per_thread; ++k) {
      if ((kept >> k & 1U) != 0) *to++ = key[k];
    }
    __syncthreads();  // by_warp and place are reused
  }
}

// Appends the rows of `round` to those from `first` on. Synchronises.
template <class I>
void append(const context<device>& scratch, const array<std::uint64_t, device>& keys, const key_format& format,
            std::int64_t first, const row_range& round, device_rows<I>& to) {
  const std::int64_t size = keys.size();
  const std::int64_t placed = to.entries;
  const std::uint64_t* const key = keys.data();
  I* const index = to.indices.data() + placed;
  std::int64_t* const offset = to.offsets.data() + (round.first - first);
  for_each(scratch, size, [=] __device__(std::int64_t k) { index[k] = static_cast<I>(format.low(key[k])); });
  // Keys have at most 62 bits.
  const auto* const ascending = reinterpret_cast<const std::int64_t*>(key);
  for_each(scratch, round.last - round.first + 1, [=] __device__(std::int64_t r) {
    const std::uint64_t least = format.pack(static_cast<std::uint64_t>(round.first + r), 0);
    offset[r] = placed + lower_bound(ascending, size, static_cast<std::int64_t>(least));
  });
  scratch.synchronize();
  to.entries += size;
}

// One rank's part in building a graph of generated entries.
template <class I, class Places>
class graph_maker {
 public:
  graph_maker(const communicator& comm, const context<device>& ctx, const generator_spec& spec, self_loops loops)
      : comm_(comm), ctx_(ctx), spec_(spec), place_(spec), format_(format_for(spec.rows, loops)) {}

  [[nodiscard]] graph_on_device<I> make(const graph_options& options, std::int64_t scratch_bytes) {
    // Its own pool is freed with this context: plans allocate outside the pools.
    const context<device> scratch = comm_.agree_on([&] { return context<device>({.ordinal = ctx_.ordinal()}); });
    const std::vector<int> ordinals = comm_.all_gather(ctx_.ordinal());
    const std::int64_t sharing = std::count(ordinals.begin(), ordinals.end(), ctx_.ordinal());
    const bool both = options.direction == direction_kind::undirected;
    graph_on_device<I> made;
    const auto rows_of = [&](pair_ways ways) {
      const std::vector<std::int64_t> counts = count(scratch, ways);
      if (ways != pair_ways::in) made.parts = balance(spec_.rows, comm_.size(), counts);
      const row_range rows{made.parts.first(comm_.rank()), made.parts.last(comm_.rank())};
      device_rows<I> to = comm_.agree_on([&] { return room_for(rows, counts); });
      const std::int64_t most = comm_.agree_on([&] {  // once all have allocated
        return scratch_bytes > 0 ? scratch_bytes : scratch.memory().free_bytes / 2 / sharing;
      });
      comm_.agree_on([&] { build(scratch, ways, rows, counts, most / making_tuning::scratch, to); });
      return to;
    };
    made.out = rows_of(both ? pair_ways::both : pair_ways::out);
    if (!both && options.in_edges) made.in = rows_of(pair_ways::in);
    if (options.loops == self_loops::keep) {
      made.loops =
          comm_.agree_on([&] { return count_loops(ctx_, made.out.view(spec_.rows), made.parts.first(comm_.rank())); });
    }
    return made;
  }

 private:
  // Pairs in each block of rows, over all entries. Collective.
  std::vector<std::int64_t> count(const context<device>& scratch, pair_ways ways) const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(div_up(spec_.rows, partition::grain)));
    comm_.agree_on([&] {
      const device_guard guard(scratch);
      const parts shares{spec_.entries, comm_.size()};
      const std::int64_t first = shares.first(comm_.rank());
      const std::int64_t last = shares.last(comm_.rank());
      array<std::int64_t, device> device_counts(scratch, std::ssize(counts));
      fill_zero(scratch, device_counts.view());
      if (first < last) {
        launch_kernel(scratch, grid_stride(scratch, last - first), count_pairs_kernel<Places>,
                      pair_source<Places>{place_, ways, format_.loops}, first, last,
                      reinterpret_cast<count64*>(device_counts.data()));
      }
      copy<std::int64_t>(scratch, std::as_const(device_counts).view(), span<std::int64_t, host>(counts));
      scratch.synchronize();
    });
    comm_.reduce_in_place(span<std::int64_t, host>(counts), reduction::sum);
    return counts;
  }

  device_rows<I> room_for(const row_range& rows, const std::vector<std::int64_t>& counts) const {
    std::int64_t entries = 0;
    for (std::int64_t row = rows.first; row < rows.last; row += partition::grain) entries += of_block(counts, row);
    device_rows<I> made{{ctx_, rows.last - rows.first + 1}, {ctx_, entries}, 0};
    fill_zero(ctx_, made.offsets.view());
    ctx_.synchronize();
    return made;
  }

  // In rounds of at most `most` keys, unless one block has more.
  void build(const context<device>& scratch, pair_ways ways, const row_range& rows,
             const std::vector<std::int64_t>& counts, std::int64_t most, device_rows<I>& to) const {
    for (row_range round{rows.first, rows.first}; round.first < rows.last; round.first = round.last) {
      std::int64_t size = 0;
      while (round.last < rows.last && (size == 0 || size + of_block(counts, round.last) <= most)) {
        size += of_block(counts, round.last);
        round.last = std::min(round.last + partition::grain, rows.last);
      }
      append(scratch, sorted_keys(scratch, ways, round, size), format_, rows.first, round, to);
    }
  }

  array<std::uint64_t, device> sorted_keys(const context<device>& scratch, pair_ways ways, const row_range& round,
                                           std::int64_t size) const {
    array<std::uint64_t, device> keys(scratch, size);
    if (size == 0) return keys;
    const device_guard guard(scratch);
    array<count64, device> counter(scratch, 1);
    fill_zero(scratch, counter.view());
    launch_kernel(scratch, grid_stride(scratch, spec_.entries, making_tuning::tile), collect_pairs_kernel<Places>,
                  pair_source<Places>{place_, ways, format_.loops}, spec_.entries, round, format_, keys.data(),
                  counter.data());
    sort_keys(scratch, keys, 0, 2 * format_.bits);
    return distinct_edges(scratch, std::move(keys), format_);
  }

  [[nodiscard]] static std::int64_t of_block(const std::vector<std::int64_t>& counts, std::int64_t row) {
    return counts[static_cast<std::size_t>(row / partition::grain)];
  }

  const communicator& comm_;
  context<device> ctx_;
  generator_spec spec_;
  Places place_;
  key_format format_;
};

}  // namespace

template <class I>
graph_on_device<I> make_graph_on_device(const communicator& comm, const context<device>& ctx, std::string_view spec,
                                        const graph_options& options, std::int64_t scratch_bytes) {
  const generator_spec s = comm.agree_on([&] {
    generator_spec parsed = parse_generator_spec(spec);
    const std::string name(spec);
    if (parsed.rows != parsed.cols) {
      throw error(error_code::invalid_argument, name + ": rows and columns differ (expected a graph)");
    }
    if (!is_made_on_device(parsed.kind)) {
      throw error(error_code::unsupported, name + ": not available on devices (expected R-MAT or uniform)");
    }
    if (parsed.rows > std::int64_t{std::numeric_limits<std::int32_t>::max()}) {
      throw error(error_code::unsupported, name + ": more than 2^31 - 1 vertices");
    }
    return parsed;
  });
  if (s.kind == generator_kind::rmat) {
    return graph_maker<I, rmat_entries>(comm, ctx, s, options.loops).make(options, scratch_bytes);
  }
  return graph_maker<I, uniform_entries>(comm, ctx, s, options.loops).make(options, scratch_bytes);
}

#define INSTANTIATE(I)                                                                                            \
  template graph_on_device<I> make_graph_on_device(const communicator&, const context<device>&, std::string_view, \
                                                   const graph_options&, std::int64_t);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed
