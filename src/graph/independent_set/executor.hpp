// The executors of independent set plans.
#pragma once

#include "graph/greedy/order.hpp"

#include <spargo/graph/independent_set.hpp>

#include <memory>

namespace spargo::detail::independent_set {

// States of a vertex; the first two are those of a result.
inline constexpr std::uint8_t outside = 0;
inline constexpr std::uint8_t inside = 1;
inline constexpr std::uint8_t undecided = 2;

template <class Space>
class executor : public plan_executor {
 public:
  virtual void run() = 0;
  // Of the last run.
  [[nodiscard]] virtual span<const std::uint8_t, Space> members() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t size() const = 0;
};

// The graph is checked.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                            greedy::ranking<I, host>&& ranks);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<device>> make_executor(const context<device>& ctx,
                                                              const graph_view<I, O, device>& g,
                                                              greedy::ranking<I, device>&& ranks);

}  // namespace spargo::detail::independent_set
