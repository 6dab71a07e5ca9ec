// What distributed components hide: a rank's vertices and ghosts in one memory space.
#pragma once

#include "dist/local_columns.hpp"

#include <spargo/dist/graph.hpp>

#include <memory>

namespace spargo::detail::dist {

template <class I, class Space>
class components_executor {
 public:
  components_executor() = default;
  components_executor(const components_executor&) = delete;
  components_executor& operator=(const components_executor&) = delete;
  virtual ~components_executor() = default;

  // What this rank's edges join, with each vertex its own label.
  virtual void start() = 0;
  // The least label of each of these trees goes to all its vertices, and from owners to ghosts. Collective. Whether any
  // label here has changed before that.
  virtual bool spread() = 0;
  [[nodiscard]] virtual std::int64_t count() = 0;  // of own vertices that are their own label
  [[nodiscard]] virtual span<const I, Space> labels() const noexcept = 0;
  [[nodiscard]] virtual std::string_view how() const noexcept = 0;  // they travel
};

// Collective.
template <class I>
[[nodiscard]] std::unique_ptr<components_executor<I, host>> make_components_executor(const communicator& comm,
                                                                                     const context<host>& ctx,
                                                                                     const distributed_graph<I>& g,
                                                                                     local_columns columns,
                                                                                     const exchange_options& links);
template <class I>
[[nodiscard]] std::unique_ptr<components_executor<I, device>> make_components_executor(const communicator& comm,
                                                                                       const context<device>& ctx,
                                                                                       const distributed_graph<I>& g,
                                                                                       local_columns columns,
                                                                                       const exchange_options& links);

}  // namespace spargo::detail::dist
