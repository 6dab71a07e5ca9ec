// Device PageRank: runs the steps of steps.cuh. The host checks for convergence only every few steps.
#include "core/instantiate.hpp"
#include "graph/pagerank/steps.cuh"
#include "graph/ranks/check_schedule.hpp"

namespace spargo::detail::pagerank {

namespace {

// Sums the values in `dangling` and counts negative ones in `change`.
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

constexpr int add_threads = 1024;

__global__ void __launch_bounds__(add_threads)
    add_kernel(const step_outcome* outcomes, std::int64_t size, step_outcome* to) {
  step_outcome mine;
  for (std::int64_t k = threadIdx.x; k < size; k += add_threads) mine.add(outcomes[k], pagerank_norm::l1);
  mine = block_outcome(mine, pagerank_norm::l1);
  if (threadIdx.x == 0) *to = mine;
}

template <class V, class I, class O>
class device_executor final : public executor<V, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const pagerank_options& options)
      : device_executor(ctx, options, device_steps<V, I, O>(ctx, g, options, 0)) {}
  device_executor(const context<device>& ctx, const weighted_graph_view<double, I, O, device>& g,
                  const pagerank_options& options)
      : device_executor(ctx, options, device_steps<V, I, O>(ctx, g, options)) {}

  run_outcome run(span<const V, device> personalization, span<const V, device> guess) override {
    const std::int64_t n = steps_.n;
    const step_rule rule{static_cast<double>(n), options_.damping, sum_of("personalization", personalization),
                         options_.dangling};
    const double guess_sum = sum_of("guess", guess);
    const device_guard guard(ctx_);
    fill_zero(ctx_, steps_.state);
    step_arguments<V> a = steps_.arguments(options_, rule);
    a.personalization = personalization.data();
    if (personalization.empty() && guess.empty()) a.kept = steps_.with_edges();
    launch_kernel(ctx_, {steps_.vertex_blocks, block_threads}, start_kernel<V>, a, n, steps_.order(), guess.data(),
                  guess_sum, steps_.shares[0].data());
    if (steps_.order() != nullptr && !personalization.empty()) {
      // By position, in the array that later receives the ranks.
      gather_words(ctx_, n, steps_.order(), personalization.data(), ranks_.data());
      a.personalization = ranks_.data();
    }
    const std::int64_t most = most_iterations(options_);
    const bool skips = steps_.copy == nullptr || steps_.copy->skips_after_end();
    ranks::check_schedule schedule;
    std::int64_t wait = skips ? steps_tuning::check_interval : ranks::check_schedule::first;
    for (std::int64_t launched = 0; launched < most;) {
      const std::int64_t until = std::min(most, options_.iterations > 0 ? most : launched + wait);
      for (; launched < until; ++launched) steps_.take_step(a, launched);
      const run_state seen = steps_.read_state();
      if (seen.done != 0) break;
      if (!skips) wait = schedule.next(seen.iterations, seen.residual, options_.tolerance);
    }
    const run_state end = steps_.read_state();
    steps_.write_ranks(a, end.iterations, n, ranks_.data());
    return {end.iterations, end.residual};
  }

  [[nodiscard]] span<const V, device> ranks() const noexcept override { return ranks_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return steps_.bytes() + bytes_of(ranks_, sum_);
  }
  [[nodiscard]] std::string reason() const override { return steps_.reason; }

 private:
  device_executor(const context<device>& ctx, const pagerank_options& options, device_steps<V, I, O> steps)
      : ctx_(ctx), options_(options), steps_(std::move(steps)), ranks_(ctx, steps_.n), sum_(ctx, 1) {}

  // Sum of the values, checked; 0 if empty. Synchronizes.
  [[nodiscard]] double sum_of(const char* name, span<const V, device> values) {
    if (values.empty()) return 0;
    const device_guard guard(ctx_);
    launch_kernel(ctx_, {steps_.vertex_blocks, block_threads}, sum_kernel<V>, steps_.n, values.data(),
                  steps_.outcomes.data());
    launch_kernel(ctx_, {1, add_threads}, add_kernel, steps_.outcomes.data(), steps_.vertex_blocks, sum_.data());
    const auto sum = element<step_outcome>(ctx_, sum_.view(), 0);
    check_sum(name, sum.dangling, sum.change > 0);
    return sum.dangling;
  }

  context<device> ctx_;
  pagerank_options options_;
  device_steps<V, I, O> steps_;
  array<V, device> ranks_;  // of the last run; during a run, the personalization by position
  array<step_outcome, device> sum_;
};

}  // namespace

template <class V, class I, class O>
std::unique_ptr<executor<V, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   const pagerank_options& options) {
  return std::make_unique<device_executor<V, I, O>>(ctx, g, options);
}
template <class V, class I, class O>
std::unique_ptr<executor<V, device>> make_executor(const context<device>& ctx,
                                                   const weighted_graph_view<double, I, O, device>& g,
                                                   const pagerank_options& options) {
  return std::make_unique<device_executor<V, I, O>>(ctx, g, options);
}

#define INSTANTIATE_V(V, I, O)                                                           \
  template std::unique_ptr<executor<V, device>> make_executor<V, I, O>(                  \
      const context<device>&, const graph_view<I, O, device>&, const pagerank_options&); \
  template std::unique_ptr<executor<V, device>> make_executor<V, I, O>(                  \
      const context<device>&, const weighted_graph_view<double, I, O, device>&, const pagerank_options&);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank
