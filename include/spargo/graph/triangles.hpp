// Triangle counts and clustering coefficients.
//
// A triangle is three pairwise joined vertices; direction, loops and duplicate edges are ignored. Counts are exact and
// deterministic. Vertices are ordered by degree, and every edge points to its end of higher degree; then the work is at
// most O(edges^1.5): the sum over the edges of the remaining out-degrees, which are at most sqrt(2 edges). Sources:
// Chiba and Nishizeki, SIAM J. Comput. 1985; Latapy, Theoretical Computer Science 2008.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class triangles_algorithm {
  automatic,  // the fastest for this graph and backend
  merge,      // intersects ascending neighbour lists; uses the rows as stored if they ascend
  bitmap,     // marks a vertex's neighbours and looks up their neighbours; hubs are bitmap rows
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<triangles_algorithm> enum_rows() noexcept;
[[nodiscard]] inline triangles_algorithm parse_triangles_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<triangles_algorithm>("triangles: unknown algorithm", name);
}

enum class triangles_output {
  total,
  per_vertex,  // also each vertex's triangles and degree
  links,       // also the directed edges among each vertex's neighbours, for coefficients of directed graphs
};

struct SPARGO_EXPORT triangles_options {
  triangles_output output = triangles_output::total;
  triangles_algorithm algorithm = triangles_algorithm::automatic;
};

template <index_type I, class Space>
struct triangles_result {
  std::int64_t total = 0;
  array<std::int64_t, Space> per_vertex;  // [vertex] triangles; their sum is 3 total
  array<std::int64_t, Space> links;       // [vertex] directed edges among its neighbours; undirected: 2 per_vertex
  array<I, Space> degrees;                // [vertex] distinct neighbours, in or out, without the vertex itself
  triangles_algorithm algorithm = triangles_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const triangles_options& options);

// Workspace for one graph, allocated once; each run orders and orients the graph. The plan borrows the graph,
// which must not change, since the plan has surveyed it. Memory besides the graph for `bitmap`, I = int32: 4 bytes per
// stored entry (directed: 8 per edge, links 2 more) and 20 per vertex, per_vertex 20 and links 8 more, and a bit per
// vertex and thread. On a device building a plan synchronizes; run is asynchronous, and total waits for it. Memory
// besides the graph, I = O = int32: for `merge` the results; for `bitmap` 12 bytes per entry of the undirected graph
// and 50 per vertex, per_vertex 20 and links 16 more, and some MB from the context's pool in each run. A directed
// graph, or rows that do not ascend, are copied when the plan is built: 8 bytes per edge and per vertex, for links of a
// directed one 4 and 8 more, and temporarily what build_graph needs. An undirected graph must have each edge in both
// directions, otherwise the behaviour is undefined. Throws unsupported for `bitmap` beyond 2^31 - 1 vertices.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT triangles_plan
    : public detail::graph_plan_base<triangles_plan<I, O, Space>, triangles_options, I, O> {
 public:
  // Throws invalid_argument for an invalid algorithm or output, or an inconsistent graph view, and device_unavailable
  // in a library without CUDA.
  triangles_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const triangles_options& options = {});

  void run();

  // Of the last run; valid until the next. Empty if not requested.
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] span<const std::int64_t, Space> per_vertex() const noexcept;
  [[nodiscard]] span<const std::int64_t, Space> links() const noexcept;
  [[nodiscard]] span<const I, Space> degrees() const noexcept;

 private:
  using state = detail::state_of<triangles_plan>;
};

template <index_type I, index_type O, class Space>
triangles_plan(const context<Space>&, const graph<I, O, Space>&, const triangles_options& = {})
    -> triangles_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT triangles_result<I, Space> triangles(const context<Space>& ctx,
                                                                 const graph_view<I, O, Space>& g,
                                                                 const triangles_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] triangles_result<I, Space> triangles(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                   const triangles_options& options = {}) {
  return triangles(ctx, g.view(), options);
}

// --- Clustering coefficients ----------------------------------------------

// Kind of counts: triangles of a vertex, or directed edges among its neighbours (`links`).
enum class clustering_counts { triangles, links };

// The fraction of joined pairs among each vertex's neighbours, 0 to 1: 2 triangles / (d (d - 1)), or links / (d (d -
// 1)), LDBC Graphalytics' LCC; 0 if d < 2. With links of a directed graph, ordered pairs count. Throws invalid_argument
// unless there is one count and one degree per vertex. O(vertices). Asynchronous on a device, except for the last form
// below, whose plan synchronizes.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT array<double, host> local_clustering(const context<host>& ctx,
                                                                 span<const std::int64_t, host> counts,
                                                                 span<const I, host> degrees,
                                                                 clustering_counts kind = clustering_counts::triangles);
template <index_type I>
[[nodiscard]] SPARGO_EXPORT array<double, device> local_clustering(
    const context<device>& ctx, span<const std::int64_t, device> counts, span<const I, device> degrees,
    clustering_counts kind = clustering_counts::triangles);
template <index_type I, class Space>
[[nodiscard]] array<double, Space> local_clustering(const context<Space>& ctx,
                                                    const triangles_result<I, Space>& counted,
                                                    clustering_counts kind = clustering_counts::triangles) {
  const auto& counts = kind == clustering_counts::links ? counted.links : counted.per_vertex;
  return local_clustering<I>(ctx, counts.view(), counted.degrees.view(), kind);
}

// The same for a graph, counted first: LDBC's LCC for a directed graph.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT array<double, Space> local_clustering(const context<Space>& ctx,
                                                                  const graph_view<I, O, Space>& g);
template <index_type I, index_type O, class Space>
[[nodiscard]] array<double, Space> local_clustering(const context<Space>& ctx, const graph<I, O, Space>& g) {
  return local_clustering(ctx, g.view());
}

// The mean over all vertices, including those of degree below 2; 0 if there are none. Summed in order.
[[nodiscard]] SPARGO_EXPORT double average_local(span<const double, host> coefficients);

// 3 triangles / pairs of edges that share an end; 0 without such pairs.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT double transitivity(std::int64_t triangles, span<const I, host> degrees);
template <index_type I>
[[nodiscard]] double transitivity(const triangles_result<I, host>& counted) {
  return transitivity<I>(counted.total, counted.degrees.view());
}

// --- The check ------------------------------------------------------------

// Counts to check; empty ones are not checked.
template <index_type I>
struct triangles_claim {
  std::int64_t total = 0;
  span<const std::int64_t, host> per_vertex = {};
  span<const std::int64_t, host> links = {};
  span<const I, host> degrees = {};
};

// Recounts all triangles on the host, independently of the algorithms. Empty when all counts are right; else one
// sentence about the first wrong one. Reads the out-edges only. Takes one to two times as long as counting per vertex
// (R-MAT 20, degree 16), and at most 17 bytes per vertex and thread besides a copy of the graph.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_triangles(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                        const std::type_identity_t<triangles_claim<I>>& claim);
template <index_type I, index_type O>
[[nodiscard]] std::string check_triangles(const context<host>& ctx, const graph<I, O, host>& g,
                                          const std::type_identity_t<triangles_claim<I>>& claim) {
  return check_triangles(ctx, g.view(), claim);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
