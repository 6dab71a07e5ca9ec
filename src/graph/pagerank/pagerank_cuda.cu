// PageRank on the device: a pull over in-edges, with ranks divided by out-degrees beforehand.
//
// Rows are binned once by their number of in-edges: one thread, 8 lanes, a warp or a block per row. Contributions stay
// in the L2 cache, indices stream past it. Each block leaves what its step changed and what its dangling vertices hold;
// one block adds these, decides whether that was the last step, and leaves the next step's terms. Steps launched after
// the end do nothing, so the host looks only once in some steps.
// Invariants: contributions[v] = ranks[v] / out-degree(v), 0 for a dangling vertex; which block has which rows depends
// on the graph alone, so all sums are formed in the same order on every run.
// Cost of a step: 4 bytes per edge (I = int32), 6 values and an index per vertex; workspace as said in the header, and
// 16 bytes per block.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "graph/pagerank/executor.hpp"
#include "primitives/element.hpp"

#include <spargo/primitives/scan.hpp>

#include <utility>

namespace spargo::detail::pagerank {

namespace {

struct tuning {
  // In-edges of the longest row of a bin. A thread's 4 indices are 16 bytes, 8 lanes read a sector at a time.
  static constexpr std::int64_t thread_row = 4;
  static constexpr std::int64_t team_row = 64;
  static constexpr std::int64_t warp_row = 4096;
  static constexpr int rounds = 8;      // groups of rows of a block, but for blocks that have one row
  static constexpr int look_every = 8;  // steps between two looks of the host
};

constexpr int bins = 4;  // block, warp, team, thread: long rows first, so that no block of them comes last
constexpr int lanes_of_bin[bins] = {block_threads, warp_size, 8, 1};

// Bin b has rows order[first_row[b]] to order[first_row[b + 1]], in blocks first_block[b] to first_block[b + 1].
struct row_bins {
  std::int64_t first_row[bins + 1] = {};
  std::int64_t first_block[bins + 1] = {};
};

// On the device; the host reads it every few steps.
struct run_state {
  step_terms terms;
  double residual;
  std::int64_t iterations;
  int done;
};

struct end_rule {
  double tolerance;  // below 0: never met
  std::int64_t most;
};

template <class V, class I, class O>
struct pull_arguments {
  const O* offsets;
  const I* indices;
  const I* order;
  const V* inverses;
  const V* personalization;
  V* ranks;
  double damping;
  pagerank_norm norm;
};

__device__ step_outcome shuffled(const step_outcome& mine, int mask) {
  return {shuffle_xor(mine.change, mask), shuffle_xor(mine.dangling, mask)};
}

// In thread 0, of all threads of the block; always in the same order.
__device__ step_outcome block_outcome(step_outcome mine, pagerank_norm norm) {
  __shared__ step_outcome of_warps[1024 / warp_size];
  for (int mask = warp_size / 2; mask > 0; mask /= 2) mine.add(shuffled(mine, mask), norm);
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / warp_size; ++w) mine.add(of_warps[w], norm);
  }
  return mine;
}

// The sum over a row by `Lanes` threads, in all of them. Four loads are in flight in each lane.
template <int Lanes, class V, class I>
__device__ V gather_row(const I* indices, std::int64_t first, std::int64_t last, int lane, const V* contributions) {
  V sums[4] = {};
  std::int64_t e = first + lane;
  for (; e + 3 * Lanes < last; e += 4 * Lanes) {
#pragma unroll
    for (int k = 0; k < 4; ++k) sums[k] += contributions[__ldcs(indices + e + k * Lanes)];
  }
  for (; e < last; e += Lanes) sums[0] += contributions[__ldcs(indices + e)];
  V sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if constexpr (Lanes > 1 && Lanes <= warp_size) sum = group_sum(sum, Lanes);
  return sum;
}

template <class V, class I, class O>
__device__ step_outcome finish_row(const pull_arguments<V, I, O>& a, const step_terms& terms, std::int64_t v,
                                   V incoming, V* contributions) {
  const double preference = terms.per_preference == 0 ? 0.0 : terms.per_preference * a.personalization[v];
  const V rank = static_cast<V>(terms.constant + preference + a.damping * incoming);
  const V inverse = a.inverses[v];
  const step_outcome outcome{fabs(static_cast<double>(rank) - a.ranks[v]), inverse == 0 ? rank : 0.0};
  a.ranks[v] = rank;
  contributions[v] = rank * inverse;
  return outcome;
}

// The rows of one block of a bin whose rows have `Lanes` threads each, at most a warp.
template <int Lanes, class V, class I, class O>
__device__ step_outcome pull_rows(const pull_arguments<V, I, O>& a, const step_terms& terms, std::int64_t first,
                                  std::int64_t last, const V* now, V* next) {
  constexpr int rows = block_threads / Lanes;
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  step_outcome mine;
  for (int round = 0; round < tuning::rounds; ++round) {
    const std::int64_t at = first + round * rows + threadIdx.x / Lanes;
    const bool any = at < last;  // all lanes of a warp reach the sum
    const std::int64_t v = any ? a.order[at] : 0;
    const std::int64_t begin = any ? a.offsets[v] : 0;
    const std::int64_t end = any ? a.offsets[v + 1] : 0;
    const V incoming = gather_row<Lanes>(a.indices, begin, end, lane, now);
    if (any && lane == 0) mine.add(finish_row(a, terms, v, incoming, next), a.norm);
  }
  return mine;
}

// One row by a whole block.
template <class V, class I, class O>
__device__ step_outcome pull_long_row(const pull_arguments<V, I, O>& a, const step_terms& terms, std::int64_t v,
                                      const V* now, V* next) {
  __shared__ V of_warps[block_threads / warp_size];
  const V mine =
      gather_row<block_threads>(a.indices, a.offsets[v], a.offsets[v + 1], static_cast<int>(threadIdx.x), now);
  const V sum = group_sum(mine, warp_size);
  if (lane_id() == 0) of_warps[threadIdx.x / warp_size] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return {};
  V incoming = 0;
  for (const V part : of_warps) incoming += part;
  return finish_row(a, terms, v, incoming, next);
}

template <class V, class I, class O>
__global__ void __launch_bounds__(block_threads)
    pull_kernel(pull_arguments<V, I, O> a, row_bins b, const run_state* state, const V* now, V* next,
                step_outcome* outcomes) {
  if (state->done != 0) return;
  const step_terms terms = state->terms;
  const std::int64_t block = blockIdx.x;
  step_outcome mine;
  const auto first_of = [&](int bin, int lanes) {
    return b.first_row[bin] + (block - b.first_block[bin]) * tuning::rounds * (block_threads / lanes);
  };
  if (block < b.first_block[1]) {
    mine = pull_long_row(a, terms, a.order[block], now, next);
  } else if (block < b.first_block[2]) {
    mine = pull_rows<warp_size>(a, terms, first_of(1, warp_size), b.first_row[2], now, next);
  } else if (block < b.first_block[3]) {
    mine = pull_rows<8>(a, terms, first_of(2, 8), b.first_row[3], now, next);
  } else {
    mine = pull_rows<1>(a, terms, first_of(3, 1), b.first_row[4], now, next);
  }
  mine = block_outcome(mine, a.norm);
  if (threadIdx.x == 0) outcomes[block] = mine;
}

constexpr int finish_threads = 1024;

// One block. `counts`: whether the outcomes are those of a step, or only what is held at the start.
__global__ void __launch_bounds__(finish_threads)
    finish_kernel(const step_outcome* outcomes, std::int64_t size, step_rule rule, end_rule end, pagerank_norm norm,
                  int counts, run_state* state) {
  if (state->done != 0) return;
  step_outcome mine;
  for (std::int64_t k = threadIdx.x; k < size; k += finish_threads) mine.add(outcomes[k], norm);
  mine = block_outcome(mine, norm);
  if (threadIdx.x != 0) return;
  state->terms = rule.terms(mine.dangling);
  if (counts == 0) return;
  state->residual = mine.change;
  ++state->iterations;
  if (mine.change <= end.tolerance || state->iterations >= end.most) state->done = 1;
}

// ranks = guess / guess_sum, or 1/n; and what follows from them.
template <class V>
__global__ void __launch_bounds__(block_threads)
    start_kernel(std::int64_t n, const V* guess, double guess_sum, const V* inverses, V* ranks, V* contributions,
                 step_outcome* outcomes) {
  step_outcome mine;
  for (std::int64_t v = global_thread(); v < n; v += grid_threads()) {
    const V rank = static_cast<V>(guess == nullptr ? 1.0 / static_cast<double>(n) : guess[v] / guess_sum);
    ranks[v] = rank;
    contributions[v] = rank * inverses[v];
    if (inverses[v] == 0) mine.dangling += rank;
  }
  mine = block_outcome(mine, pagerank_norm::l1);
  if (threadIdx.x == 0) outcomes[blockIdx.x] = mine;
}

// Sums of values in `dangling`, of those below 0 in `change`.
template <class V>
__global__ void __launch_bounds__(block_threads) sum_kernel(std::int64_t n, const V* values, step_outcome* outcomes) {
  step_outcome mine;
  for (std::int64_t v = global_thread(); v < n; v += grid_threads()) {
    mine.dangling += values[v];
    if (values[v] < 0) mine.change += 1;
  }
  mine = block_outcome(mine, pagerank_norm::l1);
  if (threadIdx.x == 0) outcomes[blockIdx.x] = mine;
}

__global__ void __launch_bounds__(finish_threads)
    add_kernel(const step_outcome* outcomes, std::int64_t size, step_outcome* to) {
  step_outcome mine;
  for (std::int64_t k = threadIdx.x; k < size; k += finish_threads) mine.add(outcomes[k], pagerank_norm::l1);
  mine = block_outcome(mine, pagerank_norm::l1);
  if (threadIdx.x == 0) *to = mine;
}

__host__ __device__ inline int bin_of(std::int64_t edges) {
  return edges > tuning::warp_row ? 0 : (edges > tuning::team_row ? 1 : (edges > tuning::thread_row ? 2 : 3));
}

// Rows by bin, ascending within one. Synchronises.
template <class I, class O>
row_bins bin_rows(const context<device>& ctx, const O* offsets, std::int64_t n, array<I, device>& order) {
  row_bins b;
  array<std::int64_t, device> places(ctx, n + 1);
  std::int64_t* place = places.data();
  for (int bin = 0; bin < bins; ++bin) {
    for_each(ctx, n + 1, [=] __device__(std::int64_t v) {
      place[v] = v < n && bin_of(offsets[v + 1] - offsets[v]) == bin ? 1 : 0;
    });
    exclusive_scan<std::int64_t, device>(ctx, places.view(), places.view());
    I* to = order.data() + b.first_row[bin];
    for_each(ctx, n, [=] __device__(std::int64_t v) {
      if (bin_of(offsets[v + 1] - offsets[v]) == bin) to[place[v]] = static_cast<I>(v);
    });
    const auto rows = element<std::int64_t>(ctx, places.view(), n);
    const std::int64_t rows_of_block = bin == 0 ? 1 : tuning::rounds * (block_threads / lanes_of_bin[bin]);
    b.first_row[bin + 1] = b.first_row[bin] + rows;
    b.first_block[bin + 1] = b.first_block[bin] + div_up(rows, rows_of_block);
  }
  return b;
}

// inverses[v] = 1 / out-degree(v), 0 where that is 0.
template <class V, class O>
void invert_degrees(const context<device>& ctx, span<const O, device> offsets, array<V, device>& inverses) {
  const O* offset = offsets.data();
  V* inverse = inverses.data();
  for_each(ctx, inverses.size(), [=] __device__(std::int64_t v) {
    const O degree = offset[v + 1] - offset[v];
    inverse[v] = degree == 0 ? V{0} : V{1} / static_cast<V>(degree);
  });
}

template <class V, class I, class O>
class device_executor final : public executor<V, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const pagerank_options& options)
      : ctx_(ctx),
        n_(g.vertices()),
        options_(options),
        in_(g.in),
        ranks_(ctx, n_),
        inverses_(ctx, n_),
        now_(ctx, n_),
        next_(ctx, n_),
        order_(ctx, n_),
        state_(ctx, 1),
        sum_(ctx, 1) {
    if (n_ == 0) return;
    invert_degrees(ctx, g.out.offsets, inverses_);
    bins_ = bin_rows<I, O>(ctx, in_.offsets.data(), n_, order_);
    vertex_blocks_ = blocks_for(ctx, n_, block_threads);
    outcomes_ = {ctx, std::max<std::int64_t>(bins_.first_block[bins], vertex_blocks_)};
  }

  run_outcome run(span<const V, device> personalization, span<const V, device> guess) override {
    const step_rule rule{static_cast<double>(n_), options_.damping, sum_of("personalization", personalization),
                         options_.dangling};
    const double guess_sum = sum_of("guess", guess);
    const device_guard guard(ctx_);
    fill_zero(ctx_, state_);
    start_kernel<V><<<vertex_blocks_, block_threads, 0, ctx_.stream()>>>(n_, guess.data(), guess_sum, inverses_.data(),
                                                                         ranks_.data(), now_.data(), outcomes_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    finish(rule, vertex_blocks_, 0);
    const pull_arguments<V, I, O> arguments{in_.offsets.data(), in_.indices.data(),     order_.data(),
                                            inverses_.data(),   personalization.data(), ranks_.data(),
                                            options_.damping,   options_.norm};
    const std::int64_t most = most_iterations(options_);
    for (std::int64_t launched = 0; launched < most;) {
      const std::int64_t until = std::min(most, options_.iterations > 0 ? most : launched + tuning::look_every);
      for (; launched < until; ++launched) take_step(arguments, rule);
      if (look().done != 0) break;
    }
    const run_state end = look();
    return {end.iterations, end.residual};
  }

  [[nodiscard]] span<const V, device> ranks() const noexcept override { return ranks_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return n_ * std::int64_t{4 * sizeof(V) + sizeof(I)} + outcomes_.size() * std::int64_t{sizeof(step_outcome)} +
           std::int64_t{sizeof(run_state) + sizeof(step_outcome)};
  }

 private:
  [[nodiscard]] run_state look() const { return element<run_state>(ctx_, state_.view(), 0); }

  // A step whose end is past is skipped by the kernels; the arrays change places all the same, and nobody reads them.
  void take_step(const pull_arguments<V, I, O>& arguments, const step_rule& rule) {
    const auto blocks = static_cast<unsigned>(bins_.first_block[bins]);
    pull_kernel<V, I, O><<<blocks, block_threads, 0, ctx_.stream()>>>(arguments, bins_, state_.data(), now_.data(),
                                                                      next_.data(), outcomes_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    finish(rule, blocks, 1);
    now_.swap(next_);
  }

  void finish(const step_rule& rule, std::int64_t blocks, int counts) {
    const end_rule end{options_.iterations > 0 ? -1.0 : options_.tolerance, most_iterations(options_)};
    finish_kernel<<<1, finish_threads, 0, ctx_.stream()>>>(outcomes_.data(), blocks, rule, end, options_.norm, counts,
                                                           state_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  // Checked; 0 of an empty one. Synchronises.
  [[nodiscard]] double sum_of(const char* name, span<const V, device> values) {
    if (values.empty()) return 0;
    const device_guard guard(ctx_);
    sum_kernel<V><<<vertex_blocks_, block_threads, 0, ctx_.stream()>>>(n_, values.data(), outcomes_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    add_kernel<<<1, finish_threads, 0, ctx_.stream()>>>(outcomes_.data(), vertex_blocks_, sum_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    const auto sum = element<step_outcome>(ctx_, sum_.view(), 0);
    check_sum(name, sum.dangling, sum.change > 0);
    return sum.dangling;
  }

  context<device> ctx_;
  std::int64_t n_;
  pagerank_options options_;
  csr_pattern_view<I, O, device> in_;
  array<V, device> ranks_;
  array<V, device> inverses_;  // of out-degrees
  array<V, device> now_;       // contributions
  array<V, device> next_;      // of the step under way
  array<I, device> order_;     // rows by bin
  array<run_state, device> state_;
  array<step_outcome, device> sum_;
  array<step_outcome, device> outcomes_;  // [block]
  row_bins bins_;
  unsigned vertex_blocks_ = 0;
};

}  // namespace

template <class V, class I, class O>
std::unique_ptr<executor<V, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   const pagerank_options& options) {
  return std::make_unique<device_executor<V, I, O>>(ctx, g, options);
}

#define INSTANTIATE_V(V, I, O)                                          \
  template std::unique_ptr<executor<V, device>> make_executor<V, I, O>( \
      const context<device>&, const graph_view<I, O, device>&, const pagerank_options&);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank
