// What a plan hides: an executor with its workspace and the core numbers of the last run.
#pragma once

#include <spargo/graph/cores.hpp>

#include <memory>

namespace spargo::detail::cores {

template <class I, class Space>
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  virtual void run() = 0;
  // Of the last run.
  [[nodiscard]] virtual span<const I, Space> cores() const noexcept = 0;
  [[nodiscard]] virtual I max_core() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t workspace_bytes() const noexcept = 0;
};

// The graph is checked. Throws unsupported for a degree that exceeds I.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g);

}  // namespace spargo::detail::cores
