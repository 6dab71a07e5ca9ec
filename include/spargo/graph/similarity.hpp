// Similarity of vertices by their neighbours: of given pairs, of the ends of every edge, or the most similar vertices
// of each vertex.
//
// N(v) are the neighbours of v; in a directed graph its out-neighbours. Self-loops and duplicate edges are ignored.
// Values of a pair (u, v), c = |N(u) and N(v)|, a = |N(u)|, b = |N(v)|:
//   jaccard              c / (a + b - c)
//   overlap              c / min(a, b)
//   sorensen             2 c / (a + b)
//   cosine               c / sqrt(a b)
//   adamic-adar          the sum of 1 / ln d(w) over the common neighbours w
//   resource-allocation  the sum of 1 / d(w) over the common neighbours w
//   common-neighbors     c
// d(w) is the number of vertices that have w as a neighbour: its degree, or in-degree in a directed graph. A value is 0
// where there is no common neighbour. (A pair (v, v) may have a common neighbour with d(w) = 1; it adds nothing to
// adamic-adar.)
//
// Determinism: values are computed from exact counts; the sums over d(w) are sums of 64-bit fixed-point numbers, whose
// resolution depends on the longest row only. So the bits are the same on both backends and for any number of threads.
// The error of a fixed-point sum is below 1e-12 of the value for vertices of at most 2^16 neighbours.
//
// Sources: Liben-Nowell and Kleinberg, CIKM 2003; Chiba and Nishizeki, SIAM J. Comput. 1985 (edges from the end of
// lower degree).
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <string>
#include <string_view>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class similarity_algorithm {
  automatic,
  rows,  // intersects the rows of pairs; for the most similar vertices counts the paths of two edges from each vertex
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<similarity_algorithm> enum_rows() noexcept;

enum class similarity_measure {
  jaccard,
  overlap,
  sorensen,
  cosine,
  adamic_adar,
  resource_allocation,
  common_neighbors,
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<similarity_measure> enum_rows() noexcept;
[[nodiscard]] inline similarity_measure parse_similarity_measure(std::string_view name) {  // throws invalid_argument
  return parse_enum<similarity_measure>("similarity: unknown measure", name);
}

struct SPARGO_EXPORT similarity_options {
  similarity_measure measure = similarity_measure::jaccard;
  std::int64_t top = 0;  // 0: the ends of every edge; K: the K most similar vertices of each vertex
  similarity_algorithm algorithm = similarity_algorithm::automatic;
};

// values[k] is the similarity of sources[k] and targets[k].
template <index_type I, class Space>
struct similarity_result {
  array<I, Space> sources;
  array<I, Space> targets;
  array<double, Space> values;
};

// Estimates memory and time of a plan over edges, or of the most similar vertices.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const similarity_options& options);

// Workspace for many runs on one graph, allocated once. The plan borrows the graph, which must not change. Rows that do
// not ascend, or have duplicates or loops, are copied.
//
// Edges: each once, ascending by (u, v); u < v in an undirected graph. O(edges^1.5) time in an undirected graph; 16
// bytes per edge for the results (I = int32), a bit per vertex and thread on the host.
// The top K: for each vertex u, ascending, up to K vertices v != u, joined to u or not, that have a common neighbour
// with it; the highest value first, of equal values the smallest v. Time: the number of paths of two edges, the sum of
// squared degrees. Memory: 16 bytes for each of the K results, and on the host 8 bytes per vertex and thread (12 for
// sums over d(w)); pairs are never stored. A directed graph needs in-edges.
// On a device, edges of undirected graphs take 31 bytes more each (0 for sums over d(w)), and pairs 17.
//
// On a device building a plan synchronizes; run is asynchronous for pairs and edges, and synchronizes once at the end
// for the top K, of which a device finds at most 1024.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT similarity_plan
    : public detail::graph_plan_base<similarity_plan<I, O, Space>, similarity_options, I, O> {
 public:
  // Every edge, or the top K. Throws invalid_argument for a measure or algorithm that does not exist, a negative `top`
  // or an inconsistent graph view, unsupported for a directed graph without in-edges if `top` is positive, for a
  // `top` above 1024 on a device, or for an algorithm that the backend lacks.
  similarity_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const similarity_options& options = {});
  // The pairs (sources[k], targets[k]), which are copied. Throws invalid_argument also for pairs that are not of
  // vertices, arrays of different sizes, and a positive `top`.
  similarity_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                  std::type_identity_t<span<const I, Space>> sources,
                  std::type_identity_t<span<const I, Space>> targets, const similarity_options& options = {});

  void run();

  // Of the last run; valid until the next.
  [[nodiscard]] span<const I, Space> sources() const noexcept;
  [[nodiscard]] span<const I, Space> targets() const noexcept;
  [[nodiscard]] span<const double, Space> values() const noexcept;

 private:
  using state = detail::state_of<similarity_plan>;
};

template <index_type I, index_type O, class Space>
similarity_plan(const context<Space>&, const graph<I, O, Space>&, const similarity_options& = {})
    -> similarity_plan<I, O, Space>;
template <index_type I, index_type O, class Space, class Vertices>
similarity_plan(const context<Space>&, const graph<I, O, Space>&, const Vertices&, const Vertices&,
                const similarity_options& = {}) -> similarity_plan<I, O, Space>;

// One run with a temporary plan, which adds in-edges where they are missing.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT similarity_result<I, Space> similarity(const context<Space>& ctx,
                                                                   const graph_view<I, O, Space>& g,
                                                                   const similarity_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT array<double, Space> similarity(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                            std::type_identity_t<span<const I, Space>> sources,
                                                            std::type_identity_t<span<const I, Space>> targets,
                                                            const similarity_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] similarity_result<I, Space> similarity(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                     const similarity_options& options = {}) {
  return similarity(ctx, g.view(), options);
}
template <index_type I, index_type O, class Space>
[[nodiscard]] array<double, Space> similarity(const context<Space>& ctx, const graph<I, O, Space>& g,
                                              std::type_identity_t<span<const I, Space>> sources,
                                              std::type_identity_t<span<const I, Space>> targets,
                                              const similarity_options& options = {}) {
  return similarity(ctx, g.view(), sources, targets, options);
}

// Which pairs a result has values for.
enum class similarity_pairs { given, edges, top };

// Results to check.
template <index_type I>
struct similarity_claim {
  span<const I, host> sources;
  span<const I, host> targets;
  span<const double, host> values;
};

struct SPARGO_EXPORT similarity_verdict {
  std::string fault;         // empty: right; else one sentence about the first wrong pair
  std::int64_t checked = 0;  // values computed again; for the top K vertices whose whole lists were
};

// Checks a result on the host, independently of the algorithms: that the pairs are the edges, or that lists are in
// order; and computes values again, as the definition says, from sorted copies of both neighbourhoods: all of them, or
// an evenly spaced sample that reads some 2^26 entries of rows. Of the top K it takes a sample of vertices, and
// compares each with every other vertex. Values may differ by 1e-9 of the value.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT similarity_verdict check_similarity(const context<host>& ctx,
                                                                const graph_view<I, O, host>& g,
                                                                const std::type_identity_t<similarity_claim<I>>& claim,
                                                                similarity_pairs pairs,
                                                                const similarity_options& options = {});
template <index_type I, index_type O>
[[nodiscard]] similarity_verdict check_similarity(const context<host>& ctx, const graph<I, O, host>& g,
                                                  const std::type_identity_t<similarity_claim<I>>& claim,
                                                  similarity_pairs pairs, const similarity_options& options = {}) {
  return check_similarity(ctx, g.view(), claim, pairs, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
