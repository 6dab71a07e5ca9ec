// The executors of coloring plans.
#pragma once

#include "graph/greedy/order.hpp"

#include <spargo/graph/coloring.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace spargo::detail::coloring {

// An upper bound: a greedy colouring has an edge between every two of its colours.
[[nodiscard]] inline std::int64_t most_colors(std::int64_t vertices, std::int64_t entries) {
  return std::min(vertices, static_cast<std::int64_t>(std::sqrt(2.0 * static_cast<double>(entries))) + 2);
}

template <class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run() = 0;
  // Of the last run.
  [[nodiscard]] virtual span<const I, Space> colors() const noexcept = 0;
  [[nodiscard]] virtual I count() const = 0;
};

// The graph is checked.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               greedy::ranking<I, host>&& ranks);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 greedy::ranking<I, device>&& ranks);

}  // namespace spargo::detail::coloring
