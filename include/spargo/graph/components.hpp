// Connected components: weak ones, joined by paths that ignore direction, and strong ones, whose vertices reach each
// other along edge directions.
//
// Labels are deterministic: the same on every run, backend, algorithm and thread count. Loops and duplicate edges do
// not matter. Weak components read only the out-edges, also of directed graphs; in-edges, if present, let a search skip
// most edges. Strong components need in-edges and build them if missing, except for tarjan. Nearly O(vertices + edges)
// work; on a device the vertices outside a hub's component are processed several times. Afforest: Sutton, Ben-Nun,
// Barak, IPDPS 2018. Strong components: Tarjan, SIAM J. Comput. 1972; Fleischer, Hendrickson, Pinar, IPDPS 2000;
// Alabandi, Sands, Biros, Burtscher, SC 2023.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class components_algorithm {
  automatic,         // the fastest for this graph and backend
  union_find,        // weak, host: one thread, each edge once; the reference
  afforest,          // weak: a few edges per vertex first, then those of vertices outside the largest tree
  tarjan,            // strong, host: one depth-first search on one thread; the reference
  forward_backward,  // strong: what a hub reaches and what reaches it, then the remaining vertices
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<components_algorithm> enum_rows() noexcept;
[[nodiscard]] inline components_algorithm parse_components_algorithm(
    std::string_view name) {  // throws invalid_argument
  return parse_enum<components_algorithm>("components: unknown algorithm", name);
}

enum class components_connection { weak, strong };  // the same on an undirected graph

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<components_connection> enum_rows() noexcept;

enum class components_labels {
  smallest_vertex,  // of the component
  dense,            // 0 to count - 1, in the order of the components' smallest vertices
  sinks_first,      // 0 to count - 1 such that no edge leads to a larger label: the order in which a depth-first search
                    // from vertices 0, 1, ... finishes them. Strong components by tarjan, on the host
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<components_labels> enum_rows() noexcept;

struct SPARGO_EXPORT components_options {
  components_connection connection = components_connection::weak;
  components_labels labels = components_labels::smallest_vertex;
  components_algorithm algorithm = components_algorithm::automatic;
};

template <index_type I, class Space>
struct components_result {
  array<I, Space> labels;                                            // [vertex]
  std::int64_t count = 0;                                            // of components
  components_algorithm algorithm = components_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const components_options& options);

// Workspace for one graph, allocated once. The plan borrows the graph, whose edges may change between runs; but not for
// strong components, whose plan may own the transpose and on a device uses the degrees. On a device strong components
// need about 75 bytes per vertex (I = int32), and the transpose if in-edges are missing.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT components_plan
    : public detail::graph_plan_base<components_plan<I, O, Space>, components_options, I, O> {
 public:
  // Throws unsupported for an algorithm or a connection that the backend lacks, and invalid_argument for an algorithm
  // that does not compute the requested connection or labels, or an inconsistent graph view.
  components_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const components_options& options = {});

  // Asynchronous on a device.
  void run();

  // Of the last run; valid until the next.
  [[nodiscard]] span<const I, Space> labels() const noexcept;
  [[nodiscard]] std::int64_t count() const;  // on a device it synchronizes the stream

 private:
  using state = detail::state_of<components_plan>;
};

template <index_type I, index_type O, class Space>
components_plan(const context<Space>&, const graph<I, O, Space>&, const components_options& = {})
    -> components_plan<I, O, Space>;

// One run with a temporary plan. Synchronizes.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT components_result<I, Space> components(const context<Space>& ctx,
                                                                   const graph_view<I, O, Space>& g,
                                                                   const components_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] components_result<I, Space> components(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                     const components_options& options = {}) {
  return components(ctx, g.view(), options);
}

// Checks labels on the host, independently of the algorithms. Empty when right; else one sentence about an offending
// vertex. Weak: no edge joins two labels, and edges span every label's vertices. Strong: each label's vertices reach
// each other within the label, and the labels form no cycle. Labels must have the requested form. Reads the out-edges
// only. O(vertices + edges), on one thread except for the weak pass over edges; strong needs memory for a transpose.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_components(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                         std::type_identity_t<span<const I, host>> labels,
                                                         const components_options& options = {});
template <index_type I, index_type O>
[[nodiscard]] std::string check_components(const context<host>& ctx, const graph<I, O, host>& g,
                                           std::type_identity_t<span<const I, host>> labels,
                                           const components_options& options = {}) {
  return check_components(ctx, g.view(), labels, options);
}

// Sizes of the components that `labels` defines, largest first. O(vertices) plus sorting the sizes.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::vector<std::int64_t> component_sizes(span<const I, host> labels);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
