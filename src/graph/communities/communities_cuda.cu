// Label propagation on the device: the lists of rows, the frontier and the executor.
//
// A round reads the labels of the previous round and writes new ones. The plan lists rows by length: up to 8 neighbours
// for threads, up to 128 for warps (cuda_rows.cuh), longer ones for blocks (cuda_long_rows.cuh). When a round changed
// few labels, the changed vertices and their neighbours are marked, and the next round processes only those: the
// frontier.
//
// Invariant: a label depends on counts alone, so results are deterministic. After each round the host reads the number
// of changed labels to decide whether to stop. Vertices without neighbours keep their labels and are in no list.
// Memory, I = int32: 16 bytes per vertex, 4 more for the frontier, and 4 per 128 edges. H200, ten rounds: R-MAT 22 of
// degree 16 10.2 ms, a grid of 2048^2 1.11, uniform 2^22 of degree 16 14.4.
#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/communities/cuda_long_rows.cuh"
#include "graph/communities/cuda_rows.cuh"
#include "graph/communities/executor.hpp"
#include "primitives/element.hpp"

#include <spargo/graph/frontier/expansion.cuh>
#include <spargo/primitives/reduce.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace spargo::detail::communities {

namespace {

// Marks the vertices whose labels changed, and their neighbours, for the next round.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    mark_active_kernel(std::int64_t n, neighbour_lists<I, O> lists, const I* now, const I* before, unsigned* marks,
                       unsigned round) {
  __shared__ I changed[block_threads];
  __shared__ unsigned count;
  const auto mark_from = [&](const neighbour_list<I>& row, std::int64_t first, std::int64_t step) {
#pragma unroll 4
    for (std::int64_t k = first; k < row.size; k += step) marks[row[k]] = round;
  };
  for (std::int64_t base = std::int64_t{blockIdx.x} * block_threads; base < n; base += grid_threads()) {
    if (threadIdx.x == 0) count = 0;
    const std::int64_t v = base + threadIdx.x;
    const bool has_changed = v < n && now[v] != before[v];
    if (__syncthreads_or(has_changed ? 1 : 0) == 0) continue;
    if (has_changed) {
      marks[v] = round;
      changed[atomicAdd(&count, 1U)] = static_cast<I>(v);
    }
    __syncthreads();
    for (unsigned k = threadIdx.x / warp_size; k < count; k += warps_per_block) {
      const neighbour_list<I> row = lists.of(changed[k]);
      if (row.size <= cuda_tuning::block_row) mark_from(row, lane_id(), warp_size);
    }
    for (unsigned k = 0; k < count; ++k) {
      const neighbour_list<I> row = lists.of(changed[k]);
      if (row.size > cuda_tuning::block_row) mark_from(row, threadIdx.x, block_threads);
    }
    __syncthreads();
  }
}

// --- Before and after the rounds ------------------------------------------

// A list of rows that grows from `begin`, upwards (step 1) or downwards (step -1).
template <class I>
struct row_list {
  I* begin;
  int step;
  count64* size;

  // One atomic per warp; all lanes call it.
  __device__ void append(bool adds, I v) const {
    const unsigned mask = __ballot_sync(full_mask, adds);
    if (mask == 0) return;
    const count64 at = place_by_warp(size, mask, lane_id());
    if (adds) begin[static_cast<std::int64_t>(at) * step] = v;
  }
};

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_rows_kernel(std::int64_t n, neighbour_lists<I, O> lists, row_list<I> tiny, row_list<I> small,
                     row_list<I> large, row_list<I> huge) {
  const std::int64_t v = global_thread();
  const std::int64_t size = v < n ? lists.of(v).size : 0;
  tiny.append(size > 0 && size <= cuda_tuning::thread_row, static_cast<I>(v));
  small.append(size > cuda_tuning::thread_row && size <= cuda_tuning::warp_row, static_cast<I>(v));
  large.append(size > cuda_tuning::warp_row && size <= cuda_tuning::block_row, static_cast<I>(v));
  huge.append(size > cuda_tuning::block_row, static_cast<I>(v));
}

template <class I, class O>
void set_labels(const context<device>& ctx, const neighbour_lists<I, O>& lists, span<const I, device> initial,
                std::int64_t limit, span<I, device> now, span<I, device> next, tallies* all) {
  for_each(ctx, now.size(), [lists, initial, limit, now, next, all] __device__(std::int64_t v) {
    const I label = initial.empty() ? static_cast<I>(v) : initial[v];
    if (label < 0 || label >= limit) atomicMax(&all->bad, static_cast<count64>(now.size() - v));
    now[v] = label;
    next[v] = lists.of(v).size > 0 ? I{-1} : label;
  });
}

template <class I>
void mark_labels(const context<device>& ctx, span<const I, device> labels, span<I, device> marks) {
  for_each(ctx, labels.size(), [labels, marks] __device__(std::int64_t v) { marks[labels[v]] = 1; });
}

// A bit per label.
template <class I>
void mark_used(const context<device>& ctx, span<const I, device> labels, span<count64, device> used) {
  for_each(ctx, labels.size(), [labels, used] __device__(std::int64_t v) {
    const count64 bit = count64{1} << (labels[v] % 64);
    count64* const word = used.data() + labels[v] / 64;
    if ((__ldcg(word) & bit) == 0) atomicOr(word, bit);
  });
}

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const communities_options& options,
                  shared_part<I, device> part)
      : ctx_(ctx),
        n_(g.vertices()),
        part_(std::move(part)),
        iterations_(options.iterations),
        active_(ctx, options.algorithm == communities_algorithm::frontier ? n_ : 0),
        lists_{g.out.offsets.data(), g.out.indices.data(), nullptr, nullptr},
        now_(ctx, n_),
        next_(ctx, n_),
        marks_(ctx, part_.count ? 0 : n_),
        used_(ctx, part_.count ? div_up(part_.labels, 64) : 0),
        tallies_(ctx, 1),
        pinned_tallies_(context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1) {
    std::int64_t entries = g.out.nnz();
    if (g.direction == direction_kind::directed && g.has_in_edges()) {
      lists_.in_offsets = g.in.offsets.data();
      lists_.in = g.in.indices.data();
      entries += g.in.nnz();
    }
    list_rows(entries);
  }

  run_outcome run(span<const I, device> initial) override {
    run_outcome outcome;
    start(initial);
    labels_are kind = initial.empty() ? labels_are::vertices : part_.count ? labels_are::ascending : labels_are::any;
    active_vertices active;
    while (outcome.rounds < iterations_) {
      const tallies round = take_round(std::exchange(kind, labels_are::any), active);
      now_.swap(next_);
      ++outcome.rounds;
      round_outcome all{static_cast<std::int64_t>(round.changed), 0, static_cast<std::int64_t>(round.unlike)};
      if (part_.exchange) part_.exchange(now_.view(), all);
      if (all.changed == 0) break;
      if (all.unlike == 0) {  // two labellings alternate from now on
        if ((iterations_ - outcome.rounds) % 2 != 0) now_.swap(next_);
        break;
      }
      active = {};
      if (!active_.empty() && round.changed * cuda_tuning::changed_share < static_cast<count64>(n_) &&
          outcome.rounds < iterations_) {
        mark_active(outcome.rounds + 1);
        active = {active_.data(), static_cast<unsigned>(outcome.rounds + 1)};
      }
    }
    outcome.count = count_labels();
    return outcome;
  }

  [[nodiscard]] span<const I, device> labels() const noexcept override { return now_.view().subspan(0, part_.rows); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(now_, next_, marks_, used_, rows_, large_rows_, active_, tallies_);
  }

 private:
  // Waits for the device.
  [[nodiscard]] tallies read_tallies() {
    copy_to_host(ctx_, tallies_.data(), pinned_tallies_.data(), sizeof(tallies));
    ctx_.synchronize();
    return pinned_tallies_[0];
  }

  void list_rows(std::int64_t entries) {
    const std::int64_t n = part_.rows;
    if (n == 0) return;
    const device_guard guard(ctx_);
    rows_ = {ctx_, n};
    large_rows_ = {ctx_, entries / cuda_tuning::warp_row + 1};
    fill_zero<tallies, device>(ctx_, tallies_.view());
    tallies* const all = tallies_.data();
    const std::int64_t last = large_rows_.size() - 1;
    launch_kernel(ctx_, one_thread_each(n, block_threads), list_rows_kernel<I, O>, n, lists_,
                  {rows_.data(), 1, &all->tiny}, {rows_.data() + n - 1, -1, &all->small},
                  {large_rows_.data(), 1, &all->large}, {large_rows_.data() + last, -1, &all->huge});
    counts_ = read_tallies();
  }

  void start(span<const I, device> initial) {
    fill_zero<tallies, device>(ctx_, tallies_.view());
    if (!active_.empty()) fill_zero<unsigned, device>(ctx_, active_.view());
    set_labels<I, O>(ctx_, lists_, initial, part_.labels, now_.view(), next_.view(), tallies_.data());
    if (initial.empty()) return;
    const auto bad = static_cast<std::int64_t>(read_tallies().bad);
    if (bad > 0) throw_bad_label(n_ - bad, element<I>(ctx_, initial, n_ - bad), part_.labels);
  }

  void mark_active(std::int64_t round) {
    const device_guard guard(ctx_);
    launch_kernel(ctx_, grid_stride(ctx_, n_), mark_active_kernel<I, O>, n_, lists_, now_.data(), next_.data(),
                  active_.data(), static_cast<unsigned>(round));
  }

  [[nodiscard]] tallies take_round(labels_are kind, const active_vertices& active) {
    const device_guard guard(ctx_);
    fill_zero<tallies, device>(ctx_, tallies_.view());
    const label_arrays<I> arrays{now_.data(), next_.data(), kind};
    const auto find = [&](std::int64_t rows, const I* order, const launch_shape& shape, auto kernel) {
      if (rows == 0) return;
      launch_kernel(ctx_, shape, kernel, rows, order, lists_, arrays, active, tallies_.data());
    };
    const auto tiny = static_cast<std::int64_t>(counts_.tiny);
    const auto small = static_cast<std::int64_t>(counts_.small);
    const auto large = static_cast<std::int64_t>(counts_.large);
    const auto huge = static_cast<std::int64_t>(counts_.huge);
    find(huge, large_rows_.data() + large_rows_.size() - huge, {blocks_for(ctx_, huge, 1), cuda_tuning::huge_block},
         huge_rows_kernel<I, O>);
    find(large, large_rows_.data(), grid_stride(ctx_, large, 1), large_rows_kernel<I, O>);
    const std::int64_t most = std::int64_t{cuda_tuning::warp_grid} * ctx_.properties().multiprocessors;
    find(small, rows_.data() + rows_.size() - small,
         {std::min(div_up(small, std::int64_t{warps_per_block}), most), block_threads}, small_rows_kernel<I, O>);
    find(tiny, rows_.data(), grid_stride(ctx_, tiny), tiny_rows_kernel<I, O>);
    return read_tallies();
  }

  [[nodiscard]] std::int64_t count_labels() {
    if (part_.count) {
      fill_zero<count64, device>(ctx_, used_.view());
      mark_used<I>(ctx_, labels(), used_.view());
      std::vector<std::uint64_t> used(static_cast<std::size_t>(used_.size()));
      copy_to_host(ctx_, used_.data(), used.data(), used.size() * sizeof(std::uint64_t));
      ctx_.synchronize();
      return part_.count(used);
    }
    fill_zero<I, device>(ctx_, marks_.view());
    mark_labels<I>(ctx_, now_.view(), marks_.view());
    return reduce_sum<I, device>(ctx_, marks_.view());
  }

  context<device> ctx_;
  std::int64_t n_;  // vertices, those of other parts included
  shared_part<I, device> part_;
  std::int64_t iterations_;
  array<unsigned, device> active_;  // [vertex] the last round that it was marked for; empty: all are active
  neighbour_lists<I, O> lists_;
  array<I, device> now_;         // labels
  array<I, device> next_;        // labels of the current round; until written, of two rounds before
  array<I, device> marks_;       // [label] 1: some vertex has it
  array<count64, device> used_;  // the same of a part, as bits
  array<tallies, device> tallies_;
  array<tallies, host> pinned_tallies_;
  array<I, device> rows_;        // thread rows from the front, warp rows from the back
  array<I, device> large_rows_;  // block rows; all lists are roughly in vertex order
  tallies counts_{};             // numbers of rows
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   const communities_options& options) {
  return std::make_unique<device_executor<I, O>>(ctx, g, options, shared_part<I, device>{g.vertices(), g.vertices()});
}

template <class L>
std::unique_ptr<executor<L, device>> make_part_executor(const context<device>& ctx,
                                                        const graph_view<L, std::int64_t, device>& g,
                                                        const communities_options& options,
                                                        shared_part<L, device> part) {
  return std::make_unique<device_executor<L, std::int64_t>>(ctx, g, options, std::move(part));
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              const communities_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

#define INSTANTIATE_PART(L)                                                                           \
  template std::unique_ptr<executor<L, device>> make_part_executor(                                   \
      const context<device>&, const graph_view<L, std::int64_t, device>&, const communities_options&, \
      shared_part<L, device>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_PART)

}  // namespace spargo::detail::communities
