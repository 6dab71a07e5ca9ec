// Names, checks, the choice of an algorithm, and the plan around an executor.
#include "core/search.hpp"
#include "graph/plan.hpp"
#include "graph/walks/executor.hpp"
#include "primitives/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace spargo {

template <>
enum_table<walks_algorithm> enum_rows() noexcept {
  return detail::walks::algorithms;
}

namespace {

namespace impl = detail::walks;

// ns: R-MAT 20, degree 16, one thread.
struct cost {
  static constexpr double uniform_step = 25;
  static constexpr double weighted_step = 120;
};

std::int64_t walks_of(const walks_options& options, std::int64_t vertices) {
  return options.walks > 0 ? options.walks : vertices;
}

void check(const walks_options& o) {
  constexpr std::int64_t longest = std::numeric_limits<std::uint32_t>::max() - 1;  // steps have 32 bits of a counter
  SPARGO_EXPECTS(o.walks >= 0, fmt::format("walks: {} walks (expected 0 or more)", o.walks));
  SPARGO_EXPECTS(o.length >= 0 && o.length <= longest,
                 fmt::format("walks: length {} (expected 0 to {})", o.length, longest));
  const auto is_factor = [](double x) { return x > 0 && std::isfinite(x) && std::isfinite(1 / x); };
  SPARGO_EXPECTS(is_factor(o.p), fmt::format("walks: p is {} (expected a positive finite number)", o.p));
  SPARGO_EXPECTS(is_factor(o.q), fmt::format("walks: q is {} (expected a positive finite number)", o.q));
}

impl::second_order order_of(const walks_options& o) {
  const double back = 1 / o.p;
  const double away = 1 / o.q;
  const double largest = std::max({1.0, back, away});
  const auto fixed = [&](double factor) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(factor / largest * 0x1p32)));
  };
  return {fixed(back), fixed(1), fixed(away)};
}

// The number of walks times their length fits 64 bits.
impl::walk_rule rule_of(const walks_options& o, std::int64_t walks) {
  std::int64_t vertices = 0;
  SPARGO_EXPECTS(!__builtin_mul_overflow(walks, o.length + 1, &vertices),
                 fmt::format("walks: {} walks of {} steps (expected fewer than 2^63 vertices)", walks, o.length));
  return {walks, o.length, o.seed, order_of(o)};
}

using choice = detail::plan_choice<walks_algorithm>;

template <class Space>
choice choose(const walks_options& o, bool weighted) {
  auto named = detail::choose_by_name<Space>(impl::algorithms, "walks", o.algorithm);
  if (!named && weighted) return {walks_algorithm::prefix_sums, "edges are chosen by their weights"};
  if (!named) return {walks_algorithm::uniform, "all edges count alike"};
  if (named->algorithm == walks_algorithm::prefix_sums && !weighted) {
    throw error(error_code::unsupported, "walks: algorithm prefix_sums for a graph without weights");
  }
  return *std::move(named);
}

template <class I, class O, class Space>
[[noreturn]] void refuse_weight(const context<Space>& ctx, const graph_view<I, O, Space>& g, std::int64_t e,
                                const std::string& weight) {
  const std::int64_t first =
      detail::first_where(std::int64_t{1}, std::int64_t{g.vertices()},
                          [&](std::int64_t row) { return detail::element<O>(ctx, g.out.offsets, row) > e; }) -
      1;  // the row of entry e
  throw error(error_code::invalid_data,
              fmt::format("walks: edge ({}, {}) has weight {} (expected a finite one, 0 or more)", first,
                          detail::element<I>(ctx, g.out.indices, e), weight));
}

template <class W, class I, class O, class Space>
array<std::uint64_t, Space> sums_of(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g) {
  auto rows = impl::sum_rows<W, O>(ctx, g.out.offsets, g.out_weights);
  if (rows.offending >= 0) {
    const W weight = detail::element<W>(ctx, g.out_weights, rows.offending);
    refuse_weight<I, O, Space>(ctx, g, rows.offending, fmt::format("{}", weight));
  }
  return std::move(rows.sums);
}

template <class I, class Space>
using any_starts = std::optional<span<const I, Space>>;

template <class I, class O, class Space>
std::int64_t count_walks(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                         const any_starts<I, Space>& starts, const walks_options& options) {
  const std::int64_t n = g.vertices();
  if (!starts) {
    SPARGO_EXPECTS(options.walks == 0 || n > 0,
                   fmt::format("walks: {} walks in a graph without vertices", options.walks));
    return walks_of(options, n);
  }
  const std::int64_t bad = impl::first_bad_start<I>(ctx, *starts, n);
  if (bad >= 0) {
    const std::int64_t start = detail::element<I>(ctx, *starts, bad);
    detail::throw_invalid_argument(
        n == 0 ? fmt::format("walks: start {} is {} in a graph without vertices", bad, start)
               : fmt::format("walks: start {} is {} (expected a vertex, 0 to {})", bad, start, n - 1));
  }
  return starts->size();
}

}  // namespace

// The walks, and prefix sums of weights.
plan_estimate estimate(const graph_shape& s, const walks_options& options) {
  const bool weighted = options.algorithm == walks_algorithm::prefix_sums;
  const std::int64_t walks = walks_of(options, s.vertices);
  const std::int64_t results = walks * (options.length + 1) * s.index_bytes;
  plan_estimate of;
  of.host_bytes = results + (weighted ? s.entries * 8 : 0);
  of.device_bytes = of.host_bytes + 1024;
  const double steps = static_cast<double>(walks) * static_cast<double>(options.length);
  const double tries = std::max({1.0, 1 / options.p, 1 / options.q}) * (options.p == 1 && options.q == 1 ? 1 : 3);
  of.host_seconds =
      steps * tries * (weighted ? cost::weighted_step : cost::uniform_step) * 1e-9 / std::clamp(s.threads, 1, 64);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<walks_plan<I, O, Space>> : detail::executor_state<detail::walks::executor<I, Space>> {
  std::int64_t walks = 0;

  // weighted: null, or a weighted view. Fills the state of a plan.
  template <class Sums>
  static plan_state<state_of, walks_algorithm> make(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                    const any_starts<I, Space>& starts, const walks_options& options,
                                                    bool weighted, const Sums& sums) {
    if constexpr (is_built<Space>) {
      check(options);
      choice chosen = choose<Space>(options, weighted);
      const auto rule = rule_of(options, count_walks(ctx, g, starts, options));
      array<std::uint64_t, Space> of_rows;
      if (chosen.algorithm == walks_algorithm::prefix_sums) of_rows = sums();
      auto made =
          detail::walks::make_executor<I, O>(ctx, g, starts.value_or(span<const I, Space>{}), std::move(of_rows), rule);
      return {std::move(chosen), std::make_unique<state_of>(state_of{{g.vertices(), std::move(made)}, rule.walks})};
    } else {
      no_device("walks");
    }
  }
  static plan_state<state_of, walks_algorithm> make(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                    const any_starts<I, Space>& starts, const walks_options& options) {
    expect_graph("walks", g);
    return make(ctx, g, starts, options, false, [] { return array<std::uint64_t, Space>(); });
  }
  template <class W>
  static plan_state<state_of, walks_algorithm> make(const context<Space>& ctx,
                                                    const weighted_graph_view<W, I, O, Space>& g,
                                                    const any_starts<I, Space>& starts, const walks_options& options) {
    expect_graph("walks", g);
    return make(ctx, g, starts, options, true, [&] { return sums_of(ctx, g); });
  }
};

template <index_type I, index_type O, class Space>
walks_plan<I, O, Space>::walks_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                    const walks_options& options) try {
  this->state_ = state::make(ctx, g, {}, options);
} catch (...) {
  detail::rethrow("walks");
}
template <index_type I, index_type O, class Space>
walks_plan<I, O, Space>::walks_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                    std::type_identity_t<span<const I, Space>> starts,
                                    const walks_options& options) try {
  this->state_ = state::make(ctx, g, starts, options);
} catch (...) {
  detail::rethrow("walks");
}
template <index_type I, index_type O, class Space>
template <detail::scalar W>
walks_plan<I, O, Space>::walks_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                    const walks_options& options) try {
  this->state_ = state::make(ctx, g, {}, options);
} catch (...) {
  detail::rethrow("walks");
}
template <index_type I, index_type O, class Space>
template <detail::scalar W>
walks_plan<I, O, Space>::walks_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                    std::type_identity_t<span<const I, Space>> starts,
                                    const walks_options& options) try {
  this->state_ = state::make(ctx, g, starts, options);
} catch (...) {
  detail::rethrow("walks");
}

template <index_type I, index_type O, class Space>
void walks_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("walks");
}
template <index_type I, index_type O, class Space>
span<const I, Space> walks_plan<I, O, Space>::vertices() const noexcept {
  return std::as_const(this->state_->executor->vertices()).view();
}
template <index_type I, index_type O, class Space>
std::int64_t walks_plan<I, O, Space>::walks() const noexcept {
  return this->state_->walks;
}
template <index_type I, index_type O, class Space>
array<I, Space> walks_plan<I, O, Space>::take() {
  return std::move(this->state_->executor->vertices());
}

#define INSTANTIATE_W(W, I, O, S)                                                                     \
  template walks_plan<I, O, S>::walks_plan(const context<S>&, const weighted_graph_view<W, I, O, S>&, \
                                           const walks_options&);                                     \
  template walks_plan<I, O, S>::walks_plan(const context<S>&, const weighted_graph_view<W, I, O, S>&, \
                                           span<const I, S>, const walks_options&);
#define INSTANTIATE(I, O, S)          \
  template class walks_plan<I, O, S>; \
  SPARGO_FOR_EACH_WEIGHT(INSTANTIATE_W, I, O, S)
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
