// The executors of matching plans.
#pragma once

#include "graph/greedy/order.hpp"

#include <spargo/graph/matching.hpp>

#include <memory>

namespace spargo::detail::matching {

// The state of a vertex: its mate, `single`, or anything below: undecided.
inline constexpr int single = -1;

template <class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run() = 0;
  // Of the last run.
  [[nodiscard]] virtual span<const I, Space> mates() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t size() const = 0;
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

}  // namespace spargo::detail::matching
