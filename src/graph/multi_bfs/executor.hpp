// The executor of a backend: workspace and the results of the last run.
#pragma once

#include "core/plan_executor.hpp"
#include "graph/multi_bfs/common.hpp"

#include <memory>

namespace spargo::detail::multi_bfs {

template <class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run(span<const I, host> sources) = 0;  // vertices, at most the plan's max_sources
  // Results of the last run; no levels unless requested.
  [[nodiscard]] virtual span<const std::int32_t, Space> levels() const noexcept = 0;
  [[nodiscard]] virtual const std::vector<multi_bfs_counts>& counts() const noexcept = 0;
};

// Precondition: the graph and the options are valid, and `choice` is made for them.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g, const choice& choice,
                                                               std::int64_t max_sources, multi_bfs_output output);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 const choice& choice, std::int64_t max_sources,
                                                                 multi_bfs_output output);

}  // namespace spargo::detail::multi_bfs
