// The executor of a backend: its workspace and the core numbers of the last run.
#pragma once

#include "core/plan_executor.hpp"

#include <spargo/graph/cores.hpp>

#include <memory>

namespace spargo::detail::cores {

template <class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run() = 0;
  // Of the last run.
  [[nodiscard]] virtual span<const I, Space> cores() const noexcept = 0;
  [[nodiscard]] virtual I max_core() const = 0;
};

// Levels that a backend may look ahead: degrees and they fit an index.
inline constexpr int most_levels_ahead = 8;

// Throws unsupported for a degree that exceeds I.
template <class I>
void expect_narrow_degree(std::int64_t largest);

// The graph is checked. Throws as expect_narrow_degree.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g);

}  // namespace spargo::detail::cores
