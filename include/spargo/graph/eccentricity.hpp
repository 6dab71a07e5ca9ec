// Eccentricities, diameter and radius of a graph's largest component, exact or between bounds.
//
// The eccentricity of v is the largest distance, in hops, from v to another vertex; the diameter is the largest
// eccentricity, the radius the smallest. They are of the component with the most vertices (of several, the one with the
// smallest vertex): of a directed graph the largest strong component, whose distances are the same within the graph.
//
// A search from s gives ecc(s) and bounds max(d(v, s), ecc(s) - d(s, v)) <= ecc(v) <= d(v, s) + ecc(s) for all v.
// Searches start at vertices of the largest upper and smallest lower bound in turn; where bounds hardly improve, 64
// searches share each visit of an edge (multi_bfs.hpp). A vertex with one neighbour takes no search. Usually tens of
// searches; at worst one per vertex (max_expected_searches). Deterministic, also the bounds after a limited number of
// searches. Takes, Kosters, Algorithms 6, 2013; Then et al., VLDB 2015.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class eccentricity_algorithm {
  automatic,  // the fastest for this graph and backend
  bounds,     // searches until lower and upper bounds meet
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<eccentricity_algorithm> enum_rows() noexcept;
[[nodiscard]] inline eccentricity_algorithm parse_eccentricity_algorithm(std::string_view name) {  // throws
  return parse_enum<eccentricity_algorithm>("eccentricity: unknown algorithm", name);
}

// When to stop.
enum class eccentricity_output {
  all,       // every eccentricity is known
  extremes,  // diameter and radius are known
  diameter,
};

struct SPARGO_EXPORT eccentricity_options {
  eccentricity_algorithm algorithm = eccentricity_algorithm::automatic;
  eccentricity_output output = eccentricity_output::all;
  std::int64_t max_searches = -1;  // stop after this many searches, with bounds; -1: no limit
  // Stop with bounds, too, when more searches than this are expected to follow, by the vertices that the last 256 or
  // more settled; -1: never. In graphs whose vertices have nearly equal eccentricities, such as uniform random ones,
  // every vertex takes a search of its own.
  std::int64_t max_expected_searches = -1;
};

struct SPARGO_EXPORT eccentricity_bounds {
  std::int32_t lower = 0;
  std::int32_t upper = 0;

  [[nodiscard]] bool are_exact() const noexcept { return lower == upper; }
  friend bool operator==(const eccentricity_bounds&, const eccentricity_bounds&) = default;
};

struct SPARGO_EXPORT eccentricity_summary {
  std::int64_t vertices = 0;  // of the component; 0 of a graph without vertices
  eccentricity_bounds diameter;
  eccentricity_bounds radius;
  std::int64_t peripheral = -1;  // a vertex whose eccentricity is diameter.lower; -1 without one
  std::int64_t central = -1;     // a vertex whose eccentricity is radius.upper
  std::int64_t searches = 0;     // of a directed graph pairs: forwards and backwards
  bool exact = true;             // what was requested is known
};

template <class Space>
struct eccentricity_result {
  array<std::int32_t, Space> lower;  // [vertex] bounds of its eccentricity; -1 outside of the component
  array<std::int32_t, Space> upper;
  eccentricity_summary summary;
  eccentricity_algorithm algorithm = eccentricity_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: 16 searches, which are often enough for the diameter.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const eccentricity_options& options);

// Workspace for many runs on one graph: allocated once. The plan borrows an undirected graph; of a directed graph it
// owns a copy of the largest strong component in both directions. A device run synchronizes after every search.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT eccentricity_plan
    : public detail::graph_plan_base<eccentricity_plan<I, O, Space>, eccentricity_options, I, O> {
 public:
  // Finds the components. Throws invalid_argument for options that do not exist or an inconsistent graph view.
  eccentricity_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                    const eccentricity_options& options = {});

  // Can be interrupted between searches.
  void run();

  // [vertex], of the last run; valid until the next. -1 outside of the component.
  [[nodiscard]] span<const std::int32_t, Space> lower() const noexcept;
  [[nodiscard]] span<const std::int32_t, Space> upper() const noexcept;
  [[nodiscard]] const eccentricity_summary& summary() const noexcept;

 private:
  using state = detail::state_of<eccentricity_plan>;
};

template <index_type I, index_type O, class Space>
eccentricity_plan(const context<Space>&, const graph<I, O, Space>&, const eccentricity_options& = {})
    -> eccentricity_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] eccentricity_result<Space> eccentricities(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                        const eccentricity_options& options = {}) {
  eccentricity_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.lower()), clone(ctx, plan.upper()), plan.summary(), plan.algorithm()};
}
template <index_type I, index_type O, class Space>
[[nodiscard]] eccentricity_result<Space> eccentricities(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                        const eccentricity_options& options = {}) {
  return eccentricities(ctx, g.view(), options);
}

// Empty when bounds and summary are right as far as `searches` breadth-first searches with a queue can tell, else one
// sentence. Independent of the plans. The component is found again. Searches start at the peripheral and the central
// vertex, whose eccentricities must be diameter.lower and radius.upper, and at evenly spaced vertices, whose
// eccentricities must be within their bounds, as must all vertices' by d(v, s) - and, from the search of the central
// vertex, diameter.upper is compared with the pairs that can be farther apart. O(searches * (vertices + edges)).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_eccentricities(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                             std::type_identity_t<span<const std::int32_t, host>> lower,
                                                             std::type_identity_t<span<const std::int32_t, host>> upper,
                                                             const eccentricity_summary& summary,
                                                             std::int64_t searches);
template <index_type I, index_type O>
[[nodiscard]] std::string check_eccentricities(const context<host>& ctx, const graph<I, O, host>& g,
                                               std::type_identity_t<span<const std::int32_t, host>> lower,
                                               std::type_identity_t<span<const std::int32_t, host>> upper,
                                               const eccentricity_summary& summary, std::int64_t searches) {
  return check_eccentricities(ctx, g.view(), lower, upper, summary, searches);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
