// Betweenness of test graphs, in either memory space.
#pragma once

#include "graph/betweenness_support.hpp"
#include "graph/placed_graph.hpp"

#include <vector>

namespace spargo::test {

using sources_type = std::vector<std::int64_t>;

inline constexpr betweenness_algorithm both_betweenness[] = {betweenness_algorithm::by_level,
                                                             betweenness_algorithm::by_source};

template <class I, class O>
doubles values_of(const graph_view<I, O, host>& g, const sources_type& sources, const betweenness_options& options,
                  int threads = 3) {
  const context<host> ctx({.threads = threads});
  const std::vector<I> given(sources.begin(), sources.end());
  const auto result = betweenness(ctx, g, all_if_none(given), options);
  return {result.values.begin(), result.values.end()};
}

// The device has a single algorithm.
template <class I, class O>
doubles device_values(const raw_graph<I, O>& raw, const sources_type& sources, betweenness_options options = {}) {
  const placed_graph<I, O, device> g(raw);
  const std::vector<I> given(sources.begin(), sources.end());
  const auto result = betweenness(g.ctx(), g.view(), all_if_none(given), options);
  return g.fetch(result.values.view());
}

template <class I, class O, class Space>
doubles values_in(const raw_graph<I, O>& raw, const sources_type& sources, const betweenness_options& options) {
  if constexpr (std::same_as<Space, host>) {
    return values_of(raw.view(), sources, options);
  } else {
    return device_values(raw, sources, options);
  }
}

}  // namespace spargo::test
