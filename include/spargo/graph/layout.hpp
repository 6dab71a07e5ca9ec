// A layout of a graph: ForceAtlas2 places the vertices in the plane so that its structure becomes visible.
//
// Every two vertices repel each other by scaling_ratio * m(u) * m(v) / distance, where a vertex's mass m is its degree
// plus 1; edges attract their ends by weight * distance, and gravity pulls vertices towards the mean of all positions.
// A step moves each vertex along its force, by a speed that adapts to how much the forces swing. Edges of a directed
// graph attract both ends. A loop adds 2 to its vertex's mass and attracts nothing; duplicate edges of a view count
// each. Positions stay finite.
//
// Repulsion is summed over a tree of bounding boxes by series of 5 complex terms, to within 1e-3 of the sums over all
// pairs (root mean square, against the size of the forces that a vertex's force is made of). A step is O(vertices +
// edges) on the host and O(vertices log vertices + edges) on a device; forces are single precision. Deterministic: the
// same bits for any number of threads, on a device on every run. Sources: Jacomy, Venturini, Heymann, Bastian, PLoS ONE
// 9(6), 2014; Greengard, Rokhlin, J. Comput. Phys. 73, 1987 (series); Hachul, Juenger, GD 2004 (levels).
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class layout_algorithm {
  automatic,    // the fastest for this graph and backend
  force_atlas,  // ForceAtlas2
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<layout_algorithm> enum_rows() noexcept;
[[nodiscard]] inline layout_algorithm parse_layout_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<layout_algorithm>("layout: unknown algorithm", name);
}

enum class layout_start {
  multilevel,  // layouts of contracted graphs, from the coarsest on: unfolds meshes; large random graphs start at
               // random
  random,      // positions drawn from a square
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<layout_start> enum_rows() noexcept;
[[nodiscard]] inline layout_start parse_layout_start(std::string_view name) {  // throws invalid_argument
  return parse_enum<layout_start>("layout: unknown start", name);
}

enum class layout_attraction {
  linear,       // weight * distance
  logarithmic,  // weight * log(1 + distance), "LinLog": clusters become denser
};

enum class layout_gravity {
  constant,  // gravity * mass, at any distance
  strong,    // gravity * mass * distance
};

struct SPARGO_EXPORT layout_options {
  layout_algorithm algorithm = layout_algorithm::automatic;
  std::int64_t iterations = 500;  // steps; 0 or more
  layout_start start = layout_start::multilevel;
  double jitter_tolerance = 1;  // more is faster and less precise
  double scaling_ratio = 2;     // of the repulsion; more makes the layout sparser
  double gravity = 1;
  layout_attraction attraction = layout_attraction::linear;
  layout_gravity gravity_kind = layout_gravity::constant;
  bool dissuades_hubs = false;  // divides a vertex's attraction by its mass: hubs move outwards
  std::uint64_t seed = 1;
};

template <class Space>
struct layout_result {
  array<double, Space> positions;                            // x and y of each vertex, 2 * vertices
  array<double, Space> forces;                               // on them, as long
  layout_algorithm algorithm = layout_algorithm::automatic;  // the one that ran
};

// Of a plan for a graph of this shape.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const layout_options& options);

// Workspace for many runs on one graph, allocated once; the contracted graphs of a multilevel start, which the host
// finds, belong to it. The plan borrows the graph, and builds the in-edges of a directed one that lacks them.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT layout_plan : public detail::graph_plan_base<layout_plan<I, O, Space>, layout_options, I, O> {
 public:
  // Throws invalid_argument for options out of range or an inconsistent graph view, unsupported for 2^31 vertices or
  // more.
  layout_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const layout_options& options = {});
  // Over the graph's weights. Also throws invalid_data for weights that are negative, not finite or above 2^40.
  template <detail::scalar W>
  layout_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
              const layout_options& options = {});

  // From positions, x and y of each vertex, or from options.start if there are none. Vertices at one position are moved
  // apart. Positions further than 2^40 from the middle of all are scaled into that distance. Throws invalid_argument
  // unless `start` is empty or has two finite values per vertex. On a device it waits when a level begins and ends.
  void run(span<const double, Space> start = {});

  // Of the last run; valid until the next. x and y of each vertex.
  [[nodiscard]] span<const double, Space> positions() const noexcept;
  // Attraction, repulsion and gravity at these positions, as the plan computes them.
  [[nodiscard]] span<const double, Space> forces() const noexcept;
  // Graphs laid out, this one and contracted ones, in the last run.
  [[nodiscard]] std::int64_t levels() const noexcept;

 private:
  using state = detail::state_of<layout_plan>;
};

template <index_type I, index_type O, class Space>
layout_plan(const context<Space>&, const graph<I, O, Space>&, const layout_options& = {}) -> layout_plan<I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
layout_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const layout_options& = {})
    -> layout_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] layout_result<Space> layout(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                          const layout_options& options = {},
                                          std::type_identity_t<span<const double, Space>> start = {}) {
  layout_plan plan(ctx, g, options);
  plan.run(start);
  return {clone(ctx, plan.positions()), clone(ctx, plan.forces()), plan.algorithm()};
}
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] layout_result<Space> layout(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                                          const layout_options& options = {},
                                          std::type_identity_t<span<const double, Space>> start = {}) {
  layout_plan plan(ctx, g, options);
  plan.run(start);
  return {clone(ctx, plan.positions()), clone(ctx, plan.forces()), plan.algorithm()};
}
// The same for owning graphs.
template <class Space, detail::viewable Graph>
[[nodiscard]] layout_result<Space> layout(const context<Space>& ctx, const Graph& g, const layout_options& options = {},
                                          std::type_identity_t<span<const double, Space>> start = {}) {
  return layout(ctx, g.view(), options, start);
}

// How well distances in the layout agree with those in the graph: the least, over all scales of the layout, of the mean
// of ((distance in the layout - distance in the graph) / distance in the graph)^2, edges counted as 1, over the pairs
// of `sources` vertices drawn by `seed` with the vertices they reach. 0: perfect; 1: all vertices at one place.
// O(sources * (vertices + edges)).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT double layout_stress(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 std::type_identity_t<span<const double, host>> positions,
                                                 std::int64_t sources = 32, std::uint64_t seed = 1);

// Empty when the positions are finite and the forces are those on them, to within 1e-3; else one sentence. Independent
// of the plans: it sums over all other vertices in double precision, for all vertices of a small graph, and for a
// sample of a large one. O(vertices + edges) and up to 2^29 pairs.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_layout(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                     const layout_result<host>& found,
                                                     const layout_options& options = {});
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_layout(const context<host>& ctx,
                                                     const weighted_graph_view<W, I, O, host>& g,
                                                     const layout_result<host>& found,
                                                     const layout_options& options = {});
template <detail::viewable Graph>
[[nodiscard]] std::string check_layout(const context<host>& ctx, const Graph& g, const layout_result<host>& found,
                                       const layout_options& options = {}) {
  return check_layout(ctx, g.view(), found, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
