// PageRank steps of one rank of a distributed run: those of a single device, over its own vertices and ghosts.
#include "graph/pagerank/steps.cuh"
#include "primitives/sort/radix_sort.hpp"

namespace spargo::detail::pagerank {

namespace {

template <class V>
void set_degrees(const context<device>& ctx, const std::uint32_t* order, span<const V, device> of_vertices,
                 array<V, device>& degrees) {
  for_each(ctx, degrees.size(),
           [=, own = of_vertices.size(), from = of_vertices.data(), to = degrees.data()] __device__(std::int64_t i) {
             const std::int64_t v = order == nullptr ? i : std::int64_t{order[i]};
             to[i] = v < own ? from[v] : ghost_degree<V>;
           });
}

template <class V>
void set_shares(const context<device>& ctx, V rank, const array<V, device>& degrees, array<V, device>& shares) {
  for_each(ctx, degrees.size(), [=, degree = degrees.data(), to = shares.data()] __device__(std::int64_t i) {
    to[i] = share_of(rank, degree[i]);
  });
}

template <class V>
void place_values(const context<device>& ctx, span<const V, device> from, const std::int32_t* places, V* to) {
  for_each(ctx, from.size(), [=, value = from.data()] __device__(std::int64_t k) { to[places[k]] = value[k]; });
}

template <class V, class I, class O>
class device_part final : public part_steps<V> {
 public:
  device_part(const context<device>& ctx, const graph_view<I, O, device>& local, span<const V, device> degrees,
              const pagerank_options& options)
      : own_(degrees.size()),
        options_(options),
        is_undirected_(local.direction == direction_kind::undirected),
        steps_(ctx, local, options, local.vertices() - own_) {
    if (steps_.n == 0) return;
    set_degrees(ctx, steps_.order(), degrees, steps_.degrees);
    if (steps_.order() == nullptr) return;
    places_ = {ctx, steps_.n};
    invert_permutation(ctx, {steps_.order(), steps_.n}, places_.data());
  }

  void start(V rank) override {
    number_ = 0;
    if (steps_.n > 0) set_shares(steps_.ctx, rank, steps_.degrees, steps_.shares[0]);
  }
  [[nodiscard]] span<const V, device> shares() override { return now().view().subspan(0, steps_.n); }
  [[nodiscard]] span<V, device> ghosts() override { return now().view().subspan(own_, steps_.n - own_); }
  void place_ghosts(span<const V, device> values, span<const std::int32_t, device> places) override {
    place_values<V>(steps_.ctx, values, places.data(), now().data());
  }
  [[nodiscard]] span<const std::int32_t, device> places() const override { return places_.view(); }
  void step(const step_terms& terms) override {
    if (steps_.n == 0) return;
    const device_guard guard(steps_.ctx);
    const run_state before{.terms = terms, .residual = 0, .iterations = 0, .done = 0, .arrived = 0};
    copy<run_state>(steps_.ctx, span<const run_state, host>(&before, 1), steps_.state.view());
    steps_.take_step(arguments(), number_++);
  }
  [[nodiscard]] step_outcome outcome() override {
    if (steps_.n == 0) return {};
    const run_state after = steps_.read_state();
    return {after.residual, after.terms.constant};
  }
  void write_ranks(span<V, device> ranks) override {
    if (steps_.n > 0) steps_.write_ranks(arguments(), number_, own_, ranks.data());
  }
  [[nodiscard]] bool has_copy() const noexcept override { return steps_.copy != nullptr; }

 private:
  [[nodiscard]] array<V, device>& now() { return steps_.shares[number_ % 2]; }
  // With this rule the next step's constant equals the dangling rank. In a directed graph a vertex without local edges
  // may have edges elsewhere, hence a rank of its own.
  [[nodiscard]] step_arguments<V> arguments() {
    step_arguments<V> a = steps_.arguments(
        options_, {.vertices = 1, .damping = 1, .preference_sum = 0, .dangling = pagerank_dangling::uniform});
    if (is_undirected_) a.kept = steps_.with_edges();
    return a;
  }

  std::int64_t own_;
  pagerank_options options_;
  bool is_undirected_;
  device_steps<V, I, O> steps_;
  array<std::int32_t, device> places_;
  std::int64_t number_ = 0;  // of the next step
};

}  // namespace

template <class V, class I, class O>
std::unique_ptr<part_steps<V>> make_part_steps(const context<device>& ctx, const graph_view<I, O, device>& local,
                                               span<const V, device> degrees, const pagerank_options& options) {
  return std::make_unique<device_part<V, I, O>>(ctx, local, degrees, options);
}
template std::unique_ptr<part_steps<double>> make_part_steps(const context<device>&,
                                                             const graph_view<std::int32_t, std::int64_t, device>&,
                                                             span<const double, device>, const pagerank_options&);

}  // namespace spargo::detail::pagerank
