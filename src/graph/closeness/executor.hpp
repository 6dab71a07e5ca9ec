// The executor of a backend: sums over batches of sources, and values from sums.
#pragma once

#include <spargo/graph/closeness.hpp>

#include "graph/multi_bfs/common.hpp"

#include <memory>

namespace spargo::detail::closeness {

using multi_bfs::distance_sum;
using multi_bfs::sum_rule;

inline constexpr std::int64_t batch_size = 256;

// Whether frontiers of an undirected graph may stay small; in denser graphs they grow at once.
[[nodiscard]] inline bool may_stay_narrow(std::int64_t vertices, std::int64_t entries) {
  return entries <= 8 * vertices;
}

// The value of a vertex, from its sum over `sources` vertices of `vertices`.
struct value_rule {
  closeness_measure measure = closeness_measure::closeness;
  closeness_scaling scaling = closeness_scaling::reachable;
  std::int64_t vertices = 0;
  std::int64_t sources = 0;
  sum_rule sums;

  [[nodiscard]] SPARGO_HD bool is_exact() const { return sources == vertices; }

  [[nodiscard]] SPARGO_HD double value(const distance_sum& sum, bool is_source) const {
    if (sum.sources == 0) return 0;
    const auto weighted = static_cast<double>(sum.weighted);
    const auto others = static_cast<double>(sources - (is_source ? 1 : 0));
    if (measure == closeness_measure::harmonic) {
      const double inverses = weighted / sums.scale;
      return is_exact() ? inverses : inverses / others * static_cast<double>(vertices - 1);
    }
    const auto reached = static_cast<double>(sum.sources);
    const double value = reached / weighted;
    return scaling == closeness_scaling::none ? value : value * (reached / others);
  }
};

template <class I, class Space>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  // Sources that an add() takes at most; may fall with any of them.
  [[nodiscard]] virtual std::int64_t batch() const noexcept { return batch_size; }
  virtual void reset() = 0;  // no sources so far
  // Adds the distances from at most batch() sources, none of which was added before.
  virtual void add(span<const I, host> sources, const sum_rule& rule) = 0;
  virtual void finish(const value_rule& rule) = 0;
  [[nodiscard]] virtual span<const double, Space> values() const noexcept = 0;  // of the last finish()
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

// Precondition: the graph is valid.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g);

}  // namespace spargo::detail::closeness
