// The oracle for the tests of spanning forests.
#pragma once

#include "graph/sssp_support.hpp"

#include <spargo/graph/forest.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace spargo::test {

// By the definition, with labels for trees: edges by weight, equal ones in the order of their entries in a raw graph,
// by the smaller end first; without loops and NaN. Returned in the order of the entries.
template <class W>
weighted_edges<W> naive_forest(std::int64_t n, const weighted_edges<W>& edges, forest_objective objective) {
  weighted_edges<W> stored;
  for (const auto& e : edges) {
    if (e.from != e.to && e.weight == e.weight) {
      stored.push_back({std::min(e.from, e.to), std::max(e.from, e.to), e.weight});
    }
  }
  std::stable_sort(stored.begin(), stored.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  std::vector<std::size_t> order(stored.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const W x = stored[a].weight;
    const W y = stored[b].weight;
    return objective == forest_objective::minimum ? x < y : y < x;
  });
  std::vector<std::int64_t> labels(static_cast<std::size_t>(n));
  std::iota(labels.begin(), labels.end(), 0);
  std::vector<std::size_t> taken;
  for (const std::size_t k : order) {
    const std::int64_t mine = labels[static_cast<std::size_t>(stored[k].from)];
    const std::int64_t other = labels[static_cast<std::size_t>(stored[k].to)];
    if (mine == other) continue;
    std::replace(labels.begin(), labels.end(), mine, other);
    taken.push_back(k);
  }
  std::sort(taken.begin(), taken.end());
  weighted_edges<W> found;
  for (const std::size_t k : taken) found.push_back(stored[k]);
  return found;
}

template <class W>
bool are_same(const weighted_edges<W>& a, const weighted_edges<W>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.from == y.from && x.to == y.to && x.weight == y.weight;
  });
}

}  // namespace spargo::test
