// Host SSSP: the check of the weights, the choice of search, and the conversion of lengths to distances.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/frontier/row_of.hpp"
#include "graph/sssp/executor.hpp"
#include "graph/sssp/host_delta.hpp"
#include "graph/sssp/host_dijkstra.hpp"
#include "graph/sssp/host_parents.hpp"

#include <algorithm>

namespace spargo::detail::sssp {

namespace {

template <class W>
partial_facts facts_of_range(span<const W, host> weights, std::int64_t first, std::int64_t last) {
  partial_facts own;
  for (std::int64_t e = first; e < last; ++e) {
    if (!(weights[e] >= 0)) {
      own.offending = e;
      return own;
    }
    const auto weight = static_cast<double>(weights[e]);
    own.smallest = std::min(own.smallest, weight);
    own.largest = std::max(own.largest, weight);
    const bool finite = weight < std::numeric_limits<double>::infinity();
    own.sum += finite ? weight : 0;
    own.finite += finite ? 1 : 0;
  }
  return own;
}

// Marks vertices past the target as unreached; returns the number of the others.
template <class W, class D>
std::int64_t publish(int threads, D* found, D farthest, span<sssp_distance<W>, host> distances) {
  return parallel_reduce(
      threads, distances.size(), grain::elements, std::int64_t{0},
      [&](std::int64_t first, std::int64_t last) {
        std::int64_t reached = 0;
        for (std::int64_t v = first; v < last; ++v) {
          const bool is_reached = found[v] <= farthest && found[v] != unreached<D>;
          reached += is_reached ? 1 : 0;
          distances[v] = is_reached ? static_cast<sssp_distance<W>>(found[v]) : sssp_unreached<W>;
          if (!is_reached) found[v] = unreached<D>;
        }
        return reached;
      },
      [](std::int64_t a, std::int64_t b) { return a + b; });
}

template <class W, class D, class I, class O>
class host_executor final : public executor<W, I, host> {
 public:
  host_executor(const context<host>& ctx, const host_search<W, D, I, O>& s, const sssp_options& options,
                std::unique_ptr<distance_search<I, D>> search)
      : s_(s), search_(std::move(search)), found_(ctx, s.vertices()), distances_(ctx, s.vertices()) {
    if (options.output == sssp_output::distances) return;
    finder_.emplace(ctx, s, options.parents);
    parents_ = {ctx, s.vertices()};
  }

  void run(I source) override {
    search_->run(source, found_.data());
    const D farthest = s_.limits.target < 0 ? unreached<D> : found_[s_.limits.target];
    reached_ = publish<W, D>(s_.threads, found_.data(), farthest, distances_.view());
    if (finder_) finder_->run(source, found_.data(), parents_.data());
  }

  [[nodiscard]] span<const sssp_distance<W>, host> distances() const noexcept override { return distances_.view(); }
  [[nodiscard]] span<const I, host> parents() const noexcept override { return parents_.view(); }
  [[nodiscard]] std::int64_t reached() const noexcept override { return reached_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return search_->bytes() + found_.size() * std::int64_t{sizeof(D) + sizeof(sssp_distance<W>)} +
           parents_.size() * std::int64_t{sizeof(I)} + (finder_ ? finder_->bytes() : 0);
  }

 private:
  host_search<W, D, I, O> s_;
  std::unique_ptr<distance_search<I, D>> search_;
  std::optional<parent_finder<W, D, I, O>> finder_;
  array<D, host> found_;
  array<sssp_distance<W>, host> distances_;
  array<I, host> parents_;
  std::int64_t reached_ = 0;
};

template <class D, class W, class I, class O>
std::unique_ptr<executor<W, I, host>> make(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                           const sssp_options& options) {
  host_search<W, D, I, O> s;
  s.out = {g.out, g.out_weights.data()};
  s.undirected = g.direction == direction_kind::undirected;
  if (s.undirected) {
    s.in = s.out;
  } else if (g.has_in_edges()) {
    s.in = {g.in, g.in_weights.data()};
  }
  s.limits = {options.target, length_limit<D>(options.cutoff)};
  s.threads = ctx.threads();
  std::unique_ptr<distance_search<I, D>> search;
  if (options.algorithm == sssp_algorithm::dijkstra) {
    search = std::make_unique<dijkstra_search<W, D, I, O>>(ctx, s);
  } else {
    search = std::make_unique<delta_search<W, D, I, O>>(ctx, s, options.delta);
  }
  return std::make_unique<host_executor<W, D, I, O>>(ctx, s, options, std::move(search));
}

}  // namespace

template <class W, class I, class O>
weight_facts examine_weights(const context<host>& ctx, const csr_pattern_view<I, O, host>& edges,
                             span<const W, host> weights) {
  const partial_facts all = parallel_reduce(
      ctx.threads(), weights.size(), grain::elements, partial_facts{},
      [&](std::int64_t first, std::int64_t last) { return facts_of_range(weights, first, last); },
      [](partial_facts a, const partial_facts& b) {
        a.add(b);
        return a;
      });
  if (all.offending < weights.size()) {
    refuse_weight<W>(row_of(ctx, edges, all.offending), edges.indices[all.offending], weights[all.offending]);
  }
  return facts_of(all);
}

template <class W, class I, class O>
std::unique_ptr<executor<W, I, host>> make_executor(const context<host>& ctx,
                                                    const weighted_graph_view<W, I, O, host>& g,
                                                    const weight_facts& weights, const sssp_options& options) {
  if constexpr (std::same_as<W, std::int32_t>) {
    if (fit_32_bits(weights.largest, g.vertices())) return make<std::uint32_t>(ctx, g, options);
  }
  return make<wide_length<W>>(ctx, g, options);
}

#define INSTANTIATE(W, I, O)                                                                       \
  template weight_facts examine_weights(const context<host>&, const csr_pattern_view<I, O, host>&, \
                                        span<const W, host>);                                      \
  template std::unique_ptr<executor<W, I, host>> make_executor(                                    \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, const weight_facts&, const sssp_options&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::sssp
