// Interface of the backends of random walks, and the weights that steps are drawn by.
#pragma once

#include "core/plan_executor.hpp"
#include "graph/walks/algorithms.hpp"
#include "graph/walks/step.hpp"

#include <memory>

namespace spargo::detail::walks {

// What the plan has chosen.
struct walk_rule {
  std::int64_t walks = 0;
  std::int64_t length = 0;
  std::uint64_t seed = 0;
  second_order order;
};

template <class I, class Space>
class executor : public plan_executor {
 public:
  virtual void run() = 0;
  [[nodiscard]] virtual array<I, Space>& vertices() noexcept = 0;  // of the last run
};

// Inclusive prefix sums of the weights of each row, as integers (fixed_weights.hpp), and the number of the first entry
// whose weight is negative, infinite or NaN, or -1. Synchronizes a device.
template <class Space>
struct row_sums {
  array<std::uint64_t, Space> sums;
  std::int64_t offending = -1;
};
template <class W, class O>
[[nodiscard]] row_sums<host> sum_rows(const context<host>& ctx, span<const O, host> offsets,
                                      span<const W, host> weights);
template <class W, class O>
[[nodiscard]] row_sums<device> sum_rows(const context<device>& ctx, span<const O, device> offsets,
                                        span<const W, device> weights);

// The number of the first start that is not a vertex, or -1. Synchronizes a device.
template <class I>
[[nodiscard]] std::int64_t first_bad_start(const context<host>& ctx, span<const I, host> starts, std::int64_t vertices);
template <class I>
[[nodiscard]] std::int64_t first_bad_start(const context<device>& ctx, span<const I, device> starts,
                                           std::int64_t vertices);

// Precondition: the graph and the starts are valid; without starts walk k starts at vertex k modulo their number.
// `sums` is empty for uniform walks.
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx,
                                                               const graph_view<I, O, host>& g,
                                                               span<const I, host> starts,
                                                               array<std::uint64_t, host> sums, const walk_rule& rule);
template <class I, class O>
[[nodiscard]] std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx,
                                                                 const graph_view<I, O, device>& g,
                                                                 span<const I, device> starts,
                                                                 array<std::uint64_t, device> sums,
                                                                 const walk_rule& rule);

}  // namespace spargo::detail::walks
