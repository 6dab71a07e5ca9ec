// Core numbers: the k-core of a graph is the largest subgraph in which every vertex has k neighbours or more, and a
// vertex's core number is the largest k for which it is in the k-core.
//
// Degrees are networkx's: in a directed graph in- and out-edges count, so a pair joined both ways counts twice. Loops
// never count; every duplicate edge of a view does. A vertex without edges has core number 0. Core numbers are
// unique, so the result does not depend on the algorithm or the number of threads. O(vertices + edges): the vertices
// that remain are scanned once for every two to eight levels, and no core number exceeds its vertex's degree. Sources:
// Matula, Beck, J. ACM 30, 1983; Dhulipala, Blelloch, Shun, SPAA 2017 (buckets of several levels); Liu, Dong, Gu, Sun,
// SIGMOD 2025 (chains without barriers).
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class cores_algorithm {
  automatic,  // the fastest for this graph and backend
  peel,       // vertices are removed in the order of their core numbers
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<cores_algorithm> enum_rows() noexcept;
[[nodiscard]] inline cores_algorithm parse_cores_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<cores_algorithm>("cores: unknown algorithm", name);
}

struct SPARGO_EXPORT cores_options {
  cores_algorithm algorithm = cores_algorithm::automatic;
};

template <index_type I, class Space>
struct cores_result {
  array<I, Space> cores;                                   // [vertex] its core number
  I max_core = 0;                                          // 0 of a graph without vertices
  cores_algorithm algorithm = cores_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const cores_options& options);

// Workspace for many runs on one graph: allocated once, none inside `run`. The plan borrows the graph. Memory besides
// the graph: six indices per vertex, and 11 KB per thread (I = int32); on a device seven, and one per 256 edges. On a
// device building a plan synchronizes; run is asynchronous, and max_core waits for it.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT cores_plan : public detail::graph_plan_base<cores_plan<I, O, Space>, cores_options, I, O> {
 public:
  // Reads the edges once, to see whether there are loops. Throws invalid_argument for an algorithm that does not exist
  // or an inconsistent graph view; unsupported for a directed graph without in-edges (add_in_edges builds them) and for
  // a degree that exceeds I.
  cores_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const cores_options& options = {});

  void run();

  // Of the last run; valid until the next.
  [[nodiscard]] span<const I, Space> cores() const noexcept;
  [[nodiscard]] I max_core() const;

 private:
  using state = detail::state_of<cores_plan>;
};

template <index_type I, index_type O, class Space>
cores_plan(const context<Space>&, const graph<I, O, Space>&, const cores_options& = {}) -> cores_plan<I, O, Space>;

// One run with a temporary plan. Builds the in-edges of a directed graph that lacks them.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT cores_result<I, Space> cores(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                         const cores_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] cores_result<I, Space> cores(const context<Space>& ctx, const graph<I, O, Space>& g,
                                           const cores_options& options = {}) {
  return cores(ctx, g.view(), options);
}

// The vertices of the k-core, ascending: those of core number k or more. `induced_subgraph` (structure.hpp) makes a
// graph of them. O(vertices).
template <index_type I>
[[nodiscard]] SPARGO_EXPORT array<I, host> k_core_vertices(const context<host>& ctx, span<const I, host> cores,
                                                           std::type_identity_t<I> k);

// Empty when `cores` are the core numbers of the graph; else one sentence about a vertex whose number is wrong.
// Independent of the plans: it does not compute core numbers but proves that these are neither too high nor too low.
// O(vertices + edges); memory: three indices per vertex.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_cores(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                    std::type_identity_t<span<const I, host>> cores);
template <index_type I, index_type O>
[[nodiscard]] std::string check_cores(const context<host>& ctx, const graph<I, O, host>& g,
                                      std::type_identity_t<span<const I, host>> cores) {
  return check_cores(ctx, g.view(), cores);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
