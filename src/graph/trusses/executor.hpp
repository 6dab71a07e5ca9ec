// The executor of a backend: the edges, workspace, and the trusses of the last run.
#pragma once

#include <spargo/graph/trusses.hpp>

#include <memory>

namespace spargo::detail::trusses {

// Spans have an element for each edge of the result; `numbers` is empty for a single k.
template <class I, class Space>
struct truss_edges {
  span<const I, Space> sources;
  span<const I, Space> targets;
  span<const I, Space> numbers;
  I max_k = 0;
};

template <class I, class Space>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  virtual void run() = 0;
  [[nodiscard]] virtual const truss_edges<I, Space>& result() const noexcept = 0;  // of the last run
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

// Precondition: the graph is valid and undirected, and k is 0 or at least 2.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g, std::int64_t k);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g, std::int64_t k);

}  // namespace spargo::detail::trusses
