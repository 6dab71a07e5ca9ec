// The executor of a backend: workspace and the values of the last run. And how sums become values, on both backends.
#pragma once

#include "core/plan_executor.hpp"
#include "graph/betweenness/algorithms.hpp"

#include <memory>
#include <string>

namespace spargo::detail::betweenness {

using choice = plan_choice<betweenness_algorithm>;

// Factors that sums of dependencies are multiplied by, before a division by the maximum.
struct scale_rule {
  double vertices = 0;
  double sources = 0;         // given ones; of all the vertices
  bool counts_twice = false;  // each pair, once from either end
  betweenness_options options;

  [[nodiscard]] bool by_pairs() const { return options.normalization == betweenness_normalization::pairs; }
  [[nodiscard]] bool with_endpoints() const { return options.endpoints == betweenness_endpoints::included; }

  // For edges, which have two ends on every path.
  [[nodiscard]] double edge_factor() const {
    const double pairs = sources * (vertices - 1) * (counts_twice ? 0.5 : 1);
    return !by_pairs() ? 1 : pairs > 0 ? 1 / pairs : 0;
  }

  // For a vertex that occurs `times` times among the sources.
  [[nodiscard]] double factor(double times) const {
    if (!by_pairs()) return counts_twice ? 0.5 : 1;
    const double targets = with_endpoints() ? vertices - 1 : vertices - 2;
    const double pairs = targets * (with_endpoints() ? sources : sources - times);
    return pairs > 0 ? 1 / pairs : 0;
  }
};

template <class I, class Space>
class executor : public plan_executor {
 public:
  // Sources are vertices; empty: all vertices.
  virtual void run(span<const I, host> sources) = 0;
  // Sets all values to 0.
  virtual void clear() = 0;
  [[nodiscard]] virtual span<const double, Space> values() const noexcept = 0;
  [[nodiscard]] virtual span<const double, Space> edges() const noexcept = 0;
};

// Precondition: the graph and the options are valid; options.algorithm is not `automatic`.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               const betweenness_options& options);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 const betweenness_options& options);

}  // namespace spargo::detail::betweenness
