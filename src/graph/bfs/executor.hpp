// The executor of a backend: workspace and the results of the last run.
#pragma once

#include "core/plan_executor.hpp"
#include "graph/bfs/common.hpp"

#include <memory>

namespace spargo::detail::bfs {

template <class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run(I source) = 0;
  // Results of the last run; empty if not requested.
  [[nodiscard]] virtual span<const std::int32_t, Space> levels() const noexcept = 0;
  [[nodiscard]] virtual span<const I, Space> parents() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t reached() const noexcept = 0;
  [[nodiscard]] virtual span<const std::int64_t, host> level_sizes() const noexcept = 0;
};

// A device search that other algorithms run between their own kernels.
template <class I>
class device_search : public executor<I, device> {
 public:
  // Asynchronous. Of the results only levels and parents belong to this search.
  virtual void enqueue(I source) = 0;
  // On the device, after the search: the number of vertices in the last level if the depth limit kept it unexpanded.
  [[nodiscard]] virtual const std::int64_t* unexpanded() const noexcept = 0;
};

// Precondition: the graph and the options are valid, and `choice` is made for them.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g, const choice& choice,
                                                               const bfs_options& options);
template <class I, class O>
[[nodiscard]] std::unique_ptr<device_search<I>> make_executor(const context<device>& ctx,
                                                              const graph_view<I, O, device>& g, const choice& choice,
                                                              const bfs_options& options);

}  // namespace spargo::detail::bfs
