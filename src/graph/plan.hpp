// Shared by all graph plans: checks of arguments, and the state that owns an executor. Every operation reports the same
// mistake with the same error code and sentence: invalid_argument for bad input, unsupported for valid input that the
// backend or the graph does not support.
#pragma once

#include "core/algorithm_table.hpp"
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

#include <spargo/core/plan_state.hpp>
#include <spargo/graph/estimate.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace spargo::detail {

// Sizes of the edges in one direction; `weights` is -1 without weights.
struct edges_shape {
  std::int64_t rows, cols, offsets, entries;
  std::int64_t weights = -1;
};

template <class I, class O, class Space>
[[nodiscard]] edges_shape shape_of(const csr_pattern_view<I, O, Space>& edges, std::int64_t weights = -1) {
  return {edges.rows, edges.cols, edges.offsets.size(), edges.nnz(), weights};
}

// Throws invalid_argument if the arrays of a graph are inconsistent; `in` is null without in-edges. O(1): reads no
// contents.
void expect_shapes(std::string_view operation, const edges_shape& out, const edges_shape* in);

template <class I, class O, class Space>
void expect_graph(std::string_view operation, const graph_view<I, O, Space>& g) {
  const edges_shape in = shape_of(g.in);
  expect_shapes(operation, shape_of(g.out), g.has_in_edges() ? &in : nullptr);
}
template <class W, class I, class O, class Space>
void expect_graph(std::string_view operation, const weighted_graph_view<W, I, O, Space>& g) {
  const edges_shape in = shape_of(g.in, g.in_weights.size());
  expect_shapes(operation, shape_of(g.out, g.out_weights.size()), g.has_in_edges() ? &in : nullptr);
}

// Throws invalid_argument unless 0 <= source < vertices.
void expect_source(std::string_view operation, std::int64_t source, std::int64_t vertices);
// Throws invalid_argument unless the target is -1 (none) or a vertex.
void expect_target(std::string_view operation, std::int64_t target, std::int64_t vertices);
// Throws invalid_argument unless `values` is 0 or equals `vertices`.
void expect_one_per_vertex(std::string_view operation, std::string_view name, std::int64_t values,
                           std::int64_t vertices);

[[noreturn]] void refuse_without_in_edges(std::string_view operation);

// Seconds on shape.threads threads, at most 64 (more were not timed), if one thread takes entry_ns per vertex or entry.
[[nodiscard]] double expected_seconds(const graph_shape& shape, double entry_ns);

// The state of a plan whose backends have one algorithm, the only row of `table` besides `automatic`. make(ctx): a
// pointer to the State. Throws as choose_by_name, and unsupported where the library lacks the space.
template <class State, class Space, class Algorithm, class Make>
[[nodiscard]] plan_state<State, Algorithm> plan_only(const algorithm_table<Algorithm, 2>& table, const char* operation,
                                                     Algorithm asked, const context<Space>& ctx, const Make& make) {
  auto chosen = choose_by_name<Space>(table, operation, asked);
  if (!chosen) chosen = {table[1].value, "there is no other"};
  if constexpr (is_built<Space>) {
    return {*std::move(chosen), make(ctx)};
  } else {
    no_device(operation);
  }
}

// The state of a plan, or the base of it.
template <class Executor>
struct executor_state {
  std::int64_t vertices = 0;
  std::unique_ptr<Executor> executor;

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return executor->workspace_bytes(); }
};

}  // namespace spargo::detail
