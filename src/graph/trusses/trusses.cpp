// Names, checks and the plan around an executor.
#include "graph/plan.hpp"
#include "graph/trusses/algorithms.hpp"
#include "graph/trusses/executor.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace spargo {

namespace {

// Checks graph and options. O(1).
template <class I, class O, class Space>
void check(const graph_view<I, O, Space>& g, const trusses_options& options) {
  detail::expect_graph("trusses", g);
  if (options.k != 0 && options.k < 2) {
    throw error(error_code::invalid_argument, fmt::format("trusses: k is {} (expected 2 or more)", options.k));
  }
  if (g.direction == direction_kind::directed) {
    throw error(error_code::unsupported, "trusses: a directed graph (expected an undirected one)");
  }
}

}  // namespace

template <>
enum_table<trusses_algorithm> enum_rows() noexcept {
  return detail::trusses::algorithms;
}

// All edges, copies of a half and a quarter of them, results and a queue; marks of each thread.
plan_estimate estimate(const graph_shape& s, const trusses_options& options) {
  constexpr double all_ns = 400;
  constexpr double one_ns = 100;
  const std::int64_t index = s.index_bytes;
  const std::int64_t offset = s.offset_bytes;
  const std::int64_t edges = s.entries / 2;
  const auto longest = static_cast<std::int64_t>(std::sqrt(2.0 * static_cast<double>(edges))) + 1;
  plan_estimate of;
  of.host_bytes = edges * ((options.k == 0 ? 29 : 31) * index + 25 * offset / 2) / 2 +
                  s.vertices * (6 * offset + s.threads * index) + s.threads * (longest * index + 33'000) + 256;
  // Device: 32-bit ranks and numbers.
  of.device_bytes = edges * (options.k == 0 ? 90 + 3 * index : 86 + 4 * index) + s.vertices * 6 * 4 + 2048;
  of.host_seconds = detail::expected_seconds(s, options.k == 0 ? all_ns : one_ns);
  return of;
}

template <index_type I, index_type O, class Space>
struct detail::state_of<trusses_plan<I, O, Space>> : detail::executor_state<detail::trusses::executor<I, Space>> {
  [[nodiscard]] const auto& result() const noexcept { return this->executor->result(); }
};

template <index_type I, index_type O, class Space>
trusses_plan<I, O, Space>::trusses_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                        const trusses_options& options) try {
  check(g, options);
  this->state_ =
      detail::plan_only<state>(detail::trusses::algorithms, "trusses", options.algorithm, ctx, [&](const auto& where) {
        auto executor = detail::trusses::make_executor<I, O>(where, g, options.k);
        return std::make_unique<state>(state{{g.vertices(), std::move(executor)}});
      });
} catch (...) {
  detail::rethrow("trusses");
}

template <index_type I, index_type O, class Space>
void trusses_plan<I, O, Space>::run() try {
  this->state_->executor->run();
} catch (...) {
  detail::rethrow("trusses");
}
template <index_type I, index_type O, class Space>
span<const I, Space> trusses_plan<I, O, Space>::sources() const noexcept {
  return this->state_->result().sources;
}
template <index_type I, index_type O, class Space>
span<const I, Space> trusses_plan<I, O, Space>::targets() const noexcept {
  return this->state_->result().targets;
}
template <index_type I, index_type O, class Space>
span<const I, Space> trusses_plan<I, O, Space>::numbers() const noexcept {
  return this->state_->result().numbers;
}
template <index_type I, index_type O, class Space>
I trusses_plan<I, O, Space>::max_k() const noexcept {
  return this->state_->result().max_k;
}

#define INSTANTIATE(I, O, S) template class trusses_plan<I, O, S>;
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
