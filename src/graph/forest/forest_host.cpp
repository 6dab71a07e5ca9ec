// Spanning forests on the host: Kruskal for small graphs, Boruvka (host_rounds.hpp) for others, and the summary of a
// graph.
#include "core/instantiate.hpp"
#include "graph/forest/host_rounds.hpp"

namespace spargo::detail::forest {

namespace {

// Sorts all edges. O(edges log edges), one thread.
template <class Key, class W, class I, class O>
class kruskal final : public host_executor<W, I, O> {
 public:
  kruskal(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, const forest_options& options)
      : host_executor<W, I, O>(ctx, g, options) {
    std::int64_t count = 0;
    for_each_edge([&](I, I, std::int64_t) { ++count; });
    edges_ = {ctx, count};
  }

 private:
  template <class F>
  void for_each_edge(F&& f) const {
    const auto& rows = this->rows_;
    for (I u = 0; u < rows.rows; ++u) {
      for (O e = rows.offsets[u]; e < rows.offsets[u + 1]; ++e) {
        if (u < rows.indices[e] && !is_nan(this->given_[e])) f(u, rows.indices[e], e);
      }
    }
  }

  void mark_forest() override {
    const auto order = this->template order<Key>();
    std::int64_t next = 0;
    for_each_edge([&](I u, I v, std::int64_t e) { edges_[next++] = {order(this->given_[e], e), u, v}; });
    interruption::look();
    std::sort(edges_.begin(), edges_.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    interruption::look();
    const host_forest<I> trees = this->trees();
    for (const auto& edge : edges_) {
      const I u = trees.shorten(edge.u);
      const I v = trees.shorten(edge.v);
      if (u == v) continue;
      trees.set_parent(std::max(u, v), std::min(u, v));
      this->mark(edge.key.place(), true);
    }
  }
  [[nodiscard]] std::int64_t own_bytes() const noexcept override { return bytes_of(edges_); }

  array<tree_edge<Key, I>, host> edges_;
};

template <class Key, class W, class I, class O>
std::unique_ptr<executor<W, I, host>> make(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                           const graph_facts& facts, const forest_options& options) {
  if (options.algorithm == forest_algorithm::kruskal) return std::make_unique<kruskal<Key, W, I, O>>(ctx, g, options);
  return std::make_unique<boruvka<Key, W, I, O>>(ctx, g, facts, options);
}

}  // namespace

template <class W, class I, class O>
graph_facts examine_graph(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, nan_weights nan) {
  const auto count = [&](std::int64_t size, auto is) {
    return parallel_reduce(
        ctx.threads(), size, grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t own = 0;
          for (std::int64_t k = first; k < last; ++k) own += is(k) ? 1 : 0;
          return own;
        },
        [](std::int64_t a, std::int64_t b) { return a + b; });
  };
  const auto& offsets = g.out.offsets;
  const auto& weights = g.out_weights;
  graph_facts facts;
  facts.connected = count(g.vertices(), [&](std::int64_t v) { return offsets[v] < offsets[v + 1]; });
  // Neighbours descend between rows only.
  const auto& indices = g.out.indices;
  facts.ascending =
      count(indices.size() - 1, [&](std::int64_t e) { return indices[e] > indices[e + 1]; }) ==
      count(g.vertices(), [&](std::int64_t v) {
        return offsets[v] > 0 && offsets[v] < offsets[v + 1] && indices[offsets[v] - 1] > indices[offsets[v]];
      });
  if constexpr (sizeof(W) == 8) {
    facts.narrow = count(weights.size(), [&](std::int64_t e) { return !fits_32_bits(weights[e]); }) == 0;
  }
  if constexpr (std::floating_point<W>) {
    if (nan == nan_weights::refuse && count(weights.size(), [&](std::int64_t e) { return is_nan(weights[e]); }) > 0) {
      const auto at = std::find_if(weights.begin(), weights.end(), [](W weight) { return is_nan(weight); });
      const std::int64_t e = at - weights.begin();
      refuse_nan(row_of(ctx, g.out, e), g.out.indices[e]);
    }
  }
  return facts;
}

template <class W, class I, class O>
std::unique_ptr<executor<W, I, host>> make_executor(const context<host>& ctx,
                                                    const weighted_graph_view<W, I, O, host>& g,
                                                    const graph_facts& facts, const forest_options& options) {
  if (facts.narrow && g.out.nnz() < narrow_key::most_entries) return make<narrow_key, W, I, O>(ctx, g, facts, options);
  return make<wide_key, W, I, O>(ctx, g, facts, options);
}

#define INSTANTIATE(W, I, O)                                                                                        \
  template graph_facts examine_graph(const context<host>&, const weighted_graph_view<W, I, O, host>&, nan_weights); \
  template std::unique_ptr<executor<W, I, host>> make_executor(                                                     \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, const graph_facts&, const forest_options&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::forest
