// Front ends of shortest paths, on the host: one path (between two vertices, or towards a vertex by coordinates),
// lengths of many pairs, all pairs in batches, and the k shortest simple paths.
//
// Weights must be nonnegative; others are refused. Lengths are int64 for integer weights, else double. Paths that
// overflow int64 or contain an edge of infinite weight do not count. Self-loops are harmless; of parallel edges the
// lightest counts. Results are the same on every run and for any number of threads.
#pragma once

#include <spargo/core/state_pointer.hpp>
#include <spargo/graph/sssp.hpp>

#include <cstdint>
#include <functional>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Whether a path leads from the source to the target. As `shortest_path`, without the path.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT bool has_path(const context<host>& ctx, const graph_view<I, O, host>& g,
                                          std::type_identity_t<I> source, std::type_identity_t<I> target);

// The vertices of a path with the fewest edges, both ends included; empty if no path leads to the target. Breadth-first
// from both ends, the smaller frontier first, neighbours in the order of their storage: networkx's path in an
// undirected graph. From the source alone in a directed graph without in-edges. One thread, O(vertices + edges near the
// ends). Throws invalid_argument for a vertex out of range.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::vector<I> shortest_path(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                         std::type_identity_t<I> source,
                                                         std::type_identity_t<I> target);
// It would ignore the weights, which `path_finder` adds up.
template <detail::scalar W, index_type I, index_type O, class Vertex>
void shortest_path(const context<host>&, const weighted_graph_view<W, I, O, host>&, Vertex, Vertex) = delete;
template <detail::scalar W, index_type I, index_type O, class Vertex>
void shortest_path(const context<host>&, const weighted_graph<W, I, O, host>&, Vertex, Vertex) = delete;

template <detail::scalar W, index_type I>
struct path_result {
  std::vector<I> vertices;                      // from the source to the target; empty: no path
  sssp_distance<W> length = sssp_unreached<W>;  // the sum of the weights in the order of the path

  [[nodiscard]] bool exists() const noexcept { return !vertices.empty(); }
};

// Distance between the coordinates of two vertices.
enum class path_metric {
  euclidean,
  great_circle,  // between longitude and latitude in degrees, on a sphere of radius 1
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<path_metric> enum_rows() noexcept;

struct SPARGO_EXPORT path_options {
  // [vertex * dimensions + k]; empty: none. great_circle: longitude, then latitude.
  span<const double, host> coordinates = {};
  std::int64_t dimensions = 2;
  path_metric metric = path_metric::euclidean;
  // Least length of a path per unit of distance between its ends; no edge may be shorter. Negative: the largest such
  // number, from all edges.
  double scale = -1;
};

// Shortest paths between pairs of vertices of one graph, one after another; borrows the graph. With coordinates A*:
// vertices in the order of the length so far plus a bound on the rest; the length has the bits of `sssp`. Otherwise
// Dijkstra's algorithm from both ends, or from the source alone in a directed graph without in-edges; the path is a
// shortest one up to rounding. Each search takes time by the part of the graph that it reaches. One thread; 2 lengths
// and 2 indices per vertex. Hart, Nilsson, Raphael, IEEE Trans. Systems Science and Cybernetics 1968; Pohl, 1971.
template <detail::scalar W, index_type I, index_type O>
class SPARGO_EXPORT path_finder {
 public:
  // Reads all weights. Throws invalid_data naming the first edge with a negative or NaN weight, and invalid_argument
  // for a wrong number of coordinates, one that is not finite, or a scale that exceeds an edge, which is named.
  path_finder(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, const path_options& options = {});

  // Throws invalid_argument for a vertex out of range.
  [[nodiscard]] path_result<W, I> find(I source, I target);

  [[nodiscard]] std::int64_t expanded() const noexcept;  // vertices whose edges the last search followed
  [[nodiscard]] double scale() const noexcept;           // the one used; 0 without coordinates

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

template <detail::scalar W, index_type I, index_type O>
path_finder(const context<host>&, const weighted_graph<W, I, O, host>&, const path_options& = {})
    -> path_finder<W, I, O>;

// [k] the length of a shortest path from sources[k] to targets[k], with the bits of `sssp`; sssp_unreached<W> if there
// is none. One search per distinct source, which ends with the last of its targets; threads share the searches. 16
// bytes (8 with 32-bit indices: 12) per vertex and thread. Throws as `path_finder`, and invalid_argument for lists of
// different sizes.
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::vector<sssp_distance<W>> path_lengths(
    const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
    std::type_identity_t<span<const I, host>> sources, std::type_identity_t<span<const I, host>> targets);

// Called with the position of the first source of a batch and its distances, [source][vertex].
template <class D>
using distance_rows_visitor = std::function<void(std::int64_t first, span<const D, host> rows)>;

// Distances of all vertices from each source (none given: from every vertex), in batches of as many sources as fit into
// `batch_bytes`, at least one. Threads share the sources of a batch. The distances have the bits of `sssp`, or are the
// levels of `bfs` (-1: unreached) without weights. Throws as `path_finder`.
template <detail::scalar W, index_type I, index_type O>
SPARGO_EXPORT void all_distances(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                 std::type_identity_t<span<const I, host>> sources, std::int64_t batch_bytes,
                                 const distance_rows_visitor<sssp_distance<W>>& visit);
template <index_type I, index_type O>
SPARGO_EXPORT void all_distances(const context<host>& ctx, const graph_view<I, O, host>& g,
                                 std::type_identity_t<span<const I, host>> sources, std::int64_t batch_bytes,
                                 const distance_rows_visitor<std::int32_t>& visit);

// The `count` shortest paths without repeated vertices, or all if there are fewer, by length; ties by the path's
// vertices, where they compete for the next place. Yen's algorithm with Lawler's rule; each search is A* with the exact
// distances to the target as bounds. One thread; O(count * path length) searches at worst. In-edges of a directed graph
// are made if they are missing. Throws as `path_finder`, and invalid_argument for a negative count. Yen, Management
// Science 1971; Lawler, Management Science 1972.
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::vector<path_result<W, I>> k_shortest_paths(const context<host>& ctx,
                                                                            const weighted_graph_view<W, I, O, host>& g,
                                                                            std::type_identity_t<I> source,
                                                                            std::type_identity_t<I> target,
                                                                            std::int64_t count);

// The same for owning graphs.
template <detail::viewable Graph, class Vertex>
[[nodiscard]] bool has_path(const context<host>& ctx, const Graph& g, Vertex source, Vertex target) {
  return has_path(ctx, g.view(), source, target);
}
template <detail::viewable Graph, class Vertex>
[[nodiscard]] auto shortest_path(const context<host>& ctx, const Graph& g, Vertex source, Vertex target) {
  return shortest_path(ctx, g.view(), source, target);
}
template <detail::viewable Graph, class Vertices>
[[nodiscard]] auto path_lengths(const context<host>& ctx, const Graph& g, const Vertices& sources,
                                const Vertices& targets) {
  return path_lengths(ctx, g.view(), sources, targets);
}
template <detail::viewable Graph, class Vertices, class Visit>
void all_distances(const context<host>& ctx, const Graph& g, const Vertices& sources, std::int64_t batch_bytes,
                   const Visit& visit) {
  all_distances(ctx, g.view(), sources, batch_bytes, visit);
}
template <detail::viewable Graph, class Vertex>
[[nodiscard]] auto k_shortest_paths(const context<host>& ctx, const Graph& g, Vertex source, Vertex target,
                                    std::int64_t count) {
  return k_shortest_paths(ctx, g.view(), source, target, count);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
