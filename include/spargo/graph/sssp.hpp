// Single-source shortest paths: the lengths of the shortest paths from one vertex along the edges' direction, and the
// tree of these paths.
//
// Weights are 0 or more; anything else is refused when a plan is made. Loops and duplicate edges do no harm. Lengths
// are int64 for integer weights, since sums of 32-bit ones exceed 32 bits, and double for float and double, so that
// long paths do not gather float's rounding. A path longer than int64 holds, or with an edge of infinite weight, is
// none.
//
// Determinism: distances have the same bits on every run, for every algorithm, any number of threads and both backends:
// a distance is the least of sums that are each formed in the order of their path. Of equally short paths `parents`
// says which.
//
// dijkstra: O((vertices + edges) log vertices). delta_stepping: O(vertices + edges) where few vertices are reached more
// than once. Sources: Dijkstra, 1959; Meyer, Sanders, Delta-stepping, J. Algorithms 2003; bucket fusion: Zhang et al.,
// CGO 2020; edges left out by a bound: Chakaravarthy et al., IPDPS 2014; near and far vertices on a GPU: Davidson et
// al., IPDPS 2014.
#pragma once

#include <spargo/graph/weighted_graph.hpp>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class sssp_algorithm {
  automatic,       // the fastest for this graph
  dijkstra,        // host: a heap, one thread; the reference
  delta_stepping,  // vertices by distance in buckets; those of one bucket by all threads, or by the whole device
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(sssp_algorithm algorithm);
[[nodiscard]] SPARGO_EXPORT sssp_algorithm parse_sssp_algorithm(std::string_view name);  // throws invalid_argument

// What lengths of paths are for weights W.
template <detail::scalar W>
using sssp_distance = std::conditional_t<std::is_integral_v<W>, std::int64_t, double>;

// The distance of a vertex that is not reached.
template <detail::scalar W>
inline constexpr sssp_distance<W> sssp_unreached = std::is_integral_v<W>
                                                       ? std::numeric_limits<sssp_distance<W>>::max()
                                                       : std::numeric_limits<sssp_distance<W>>::infinity();

enum class sssp_output { distances, distances_and_parents };

// Which of several neighbours through which a vertex has its distance becomes its parent. Both look first at neighbours
// that are nearer than the vertex. Where it has only neighbours as near as itself, over edges that add nothing, its
// parent is one from which the fewest such edges lead back to a vertex that has a nearer one: no parents form a cycle.
enum class sssp_parents {
  any,       // may differ between runs
  smallest,  // the smallest id: the same on every run and for any number of threads
};

struct SPARGO_EXPORT sssp_options {
  sssp_algorithm algorithm = sssp_algorithm::automatic;
  // Width of a bucket, or 0: chosen by weights and degrees. Rounded down to a power of 2, on a device to that or half
  // as much again, for integers to 1 at least. It decides how fast the search is and never what it finds.
  double delta = 0;
  sssp_output output = sssp_output::distances_and_parents;  // parents take another pass over the edges
  sssp_parents parents = sssp_parents::any;
  // A vertex to stop at, or -1: vertices farther than it stay unreached; those no farther, and their parents, are those
  // of a complete search. A target that the source does not reach stops nothing.
  std::int64_t target = -1;
  // Vertices farther than this from the source stay unreached.
  double cutoff = std::numeric_limits<double>::infinity();
};

// Distances are sssp_unreached<W>, and parents -1, where unreached. The source has distance 0 and is its own parent.
// Parents are empty where they were not asked for.
template <detail::scalar W, index_type I, class Space>
struct sssp_result {
  array<sssp_distance<W>, Space> distances;
  array<I, Space> parents;
  I source = 0;
  std::int64_t reached = 0;                              // vertices, the source included
  sssp_algorithm algorithm = sssp_algorithm::automatic;  // the one that ran
};

// Workspace for many searches of one graph: allocated once, none inside `run`. The plan borrows the graph, whose edges
// and weights must not change. On a device `run` synchronises once, at its end.
// Memory besides the graph, delta_stepping, 32-bit weights and indices: some 24 bytes per vertex and half a MiB per
// thread; 8 more per vertex for parents. On a device 92 bytes per vertex and 8.2 per edge, of which 8 are a copy of the
// graph with the edges of each vertex sorted by weight; 4 more per vertex for parents, and, while the plan is made, 28
// per edge, of at most 2^27 edges at once.
template <detail::scalar W, index_type I, index_type O, class Space>
class SPARGO_EXPORT sssp_plan {
 public:
  // Reads all weights; on a device it synchronises. Throws invalid_data naming the first edge whose weight is negative
  // or NaN, unsupported for an algorithm that the backend lacks, and invalid_argument for a delta or a cutoff that is
  // negative or NaN, a target that is neither -1 nor a vertex, or a graph whose parts do not fit together.
  sssp_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g, const sssp_options& options = {});
  sssp_plan(sssp_plan&&) noexcept;
  sssp_plan& operator=(sssp_plan&&) noexcept;
  ~sssp_plan();

  // Throws invalid_argument when the source is not a vertex.
  void run(I source);

  // Of the last run; valid until the next.
  [[nodiscard]] span<const sssp_distance<W>, Space> distances() const noexcept;
  [[nodiscard]] span<const I, Space> parents() const noexcept;
  [[nodiscard]] std::int64_t reached() const noexcept;

  [[nodiscard]] sssp_algorithm algorithm() const noexcept;   // never `automatic`
  [[nodiscard]] const std::string& reason() const noexcept;  // why, one sentence
  [[nodiscard]] double delta() const noexcept;               // width of a bucket; 0: there are none
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept;

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

template <detail::scalar W, index_type I, index_type O, class Space>
sssp_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const sssp_options& = {})
    -> sssp_plan<W, I, O, Space>;

// One search: a plan that is used once. Prefer a plan for repeated searches.
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT sssp_result<W, I, Space> sssp(const context<Space>& ctx,
                                                          const weighted_graph_view<W, I, O, Space>& g,
                                                          std::int64_t source, const sssp_options& options = {});
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] sssp_result<W, I, Space> sssp(const context<Space>& ctx, const weighted_graph<W, I, O, Space>& g,
                                            std::int64_t source, const sssp_options& options = {}) {
  return sssp(ctx, g.view(), source, options);
}

// Checks distances, and parents unless they are empty, on the host, sharing nothing with the algorithms. Empty when
// right; else one sentence about an offending vertex. Distances: the source has 0; no edge leads from a reached vertex
// to one that is farther than by this edge; every reached vertex has its distance over an edge from another one, and
// such edges lead to it from the source. Parents: each is joined by such an edge, and they lead back to the source;
// the smallest ones where the options say so. Reads the out-edges only. O(vertices + edges).
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_sssp(const context<host>& ctx,
                                                   const weighted_graph_view<W, I, O, host>& g, std::int64_t source,
                                                   std::type_identity_t<span<const sssp_distance<W>, host>> distances,
                                                   std::type_identity_t<span<const I, host>> parents = {},
                                                   const sssp_options& options = {});
template <detail::scalar W, index_type I, index_type O>
[[nodiscard]] std::string check_sssp(const context<host>& ctx, const weighted_graph<W, I, O, host>& g,
                                     std::int64_t source,
                                     std::type_identity_t<span<const sssp_distance<W>, host>> distances,
                                     std::type_identity_t<span<const I, host>> parents = {},
                                     const sssp_options& options = {}) {
  return check_sssp(ctx, g.view(), source, distances, parents, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
