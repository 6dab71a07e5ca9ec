// Single-source shortest paths: lengths of shortest paths from a vertex along edge directions, and the paths' tree.
//
// Weights must be nonnegative; a plan refuses others. Loops and duplicate edges are harmless. Lengths are int64 for
// integer weights, since sums of 32-bit weights exceed 32 bits, and double for float and double, so that long paths do
// not accumulate float rounding. Paths that overflow int64 or contain an edge of infinite weight do not count.
//
// Determinism: distances have the same bits on every run, for every algorithm, thread count and backend: a distance is
// the minimum of sums formed in path order. `parents` chooses among equally short paths.
//
// dijkstra: O((vertices + edges) log vertices). delta_stepping: O(vertices + edges) if few vertices are reached more
// than once. Sources: Dijkstra, 1959; Meyer, Sanders, Delta-stepping, J. Algorithms 2003; bucket fusion: Zhang et al.,
// CGO 2020; pruning by a bound: Chakaravarthy et al., IPDPS 2014; near and far vertices on a GPU: Davidson et al.,
// IPDPS 2014.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class sssp_algorithm {
  automatic,       // the fastest for this graph
  dijkstra,        // host: a heap, one thread; the reference
  delta_stepping,  // vertices in buckets by distance; all threads, or the whole device, process one bucket at a time
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<sssp_algorithm> enum_rows() noexcept;
[[nodiscard]] inline sssp_algorithm parse_sssp_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<sssp_algorithm>("sssp: unknown algorithm", name);
}

// Type of path lengths for weights W.
template <detail::scalar W>
using sssp_distance = std::conditional_t<std::is_integral_v<W>, std::int64_t, double>;

// The distance of unreached vertices.
template <detail::scalar W>
inline constexpr sssp_distance<W> sssp_unreached = std::is_integral_v<W>
                                                       ? std::numeric_limits<sssp_distance<W>>::max()
                                                       : std::numeric_limits<sssp_distance<W>>::infinity();

enum class sssp_output { distances, distances_and_parents };

// Which of several neighbours on shortest paths becomes a vertex's parent. Neighbours nearer than the vertex come
// first. A vertex that has only equally near ones, over zero-length edges, gets a parent with the fewest such edges
// back to a vertex that has a nearer one: so parents form no cycle.
enum class sssp_parents {
  any,       // may differ between runs
  smallest,  // the smallest id: deterministic
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<sssp_parents> enum_rows() noexcept;

struct SPARGO_EXPORT sssp_options {
  sssp_algorithm algorithm = sssp_algorithm::automatic;
  // Width of a bucket, or 0: chosen by weights and degrees. Rounded down to a power of 2, on a device to that or 1.5
  // times it; at least 1 for integers. Affects only the speed.
  double delta = 0;
  sssp_output output = sssp_output::distances_and_parents;  // parents need another pass over the edges
  sssp_parents parents = sssp_parents::any;
  // A vertex to stop at, or -1: vertices farther than it stay unreached; the others and their parents equal those of a
  // complete search. An unreachable target has no effect.
  std::int64_t target = -1;
  // Vertices farther than this from the source stay unreached.
  double cutoff = std::numeric_limits<double>::infinity();
};

// Unreached vertices have distance sssp_unreached<W> and parent -1. The source has distance 0 and is its own parent.
// Parents are empty unless requested.
template <detail::scalar W, index_type I, class Space>
struct sssp_result {
  array<sssp_distance<W>, Space> distances;
  array<I, Space> parents;
  I source = 0;
  std::int64_t reached = 0;                              // vertices, the source included
  sssp_algorithm algorithm = sssp_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: one search.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const sssp_options& options);

// Workspace for many searches of one graph, allocated once. The plan borrows the graph, whose edges and weights must
// not change. On a device `run` synchronizes once, at its end. Memory besides the graph, delta_stepping, 32-bit weights
// and indices: some 24 bytes per vertex and half a MiB per thread; 8 more per vertex for parents. On a device 92 bytes
// per vertex and 8.2 per edge, of which 8 are a copy of the graph with each row sorted by weight; 4 more per vertex for
// parents; and 28 per edge, for at most 2^27 edges at a time, while the plan is built.
template <detail::scalar W, index_type I, index_type O, class Space>
class SPARGO_EXPORT sssp_plan : public detail::graph_plan_base<sssp_plan<W, I, O, Space>, sssp_options, I, O, W> {
 public:
  // Reads all weights; on a device it synchronizes. Throws invalid_data naming the first edge with a negative or NaN
  // weight, unsupported for an algorithm that the backend lacks, and invalid_argument for a negative or NaN delta or
  // cutoff, a target that is neither -1 nor a vertex, or an inconsistent graph view.
  sssp_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g, const sssp_options& options = {});

  // Throws invalid_argument when the source is not a vertex.
  void run(I source);

  // Of the last run; valid until the next.
  [[nodiscard]] span<const sssp_distance<W>, Space> distances() const noexcept;
  [[nodiscard]] span<const I, Space> parents() const noexcept;
  [[nodiscard]] std::int64_t reached() const noexcept;

  [[nodiscard]] double delta() const noexcept;  // width of a bucket; 0: no buckets

 private:
  using state = detail::state_of<sssp_plan>;
};

template <detail::scalar W, index_type I, index_type O, class Space>
sssp_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const sssp_options& = {})
    -> sssp_plan<W, I, O, Space>;

// One search with a temporary plan; prefer a plan for repeated searches.
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT sssp_result<W, I, Space> sssp(const context<Space>& ctx,
                                                          const weighted_graph_view<W, I, O, Space>& g,
                                                          std::int64_t source, const sssp_options& options = {});
template <detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] sssp_result<W, I, Space> sssp(const context<Space>& ctx, const weighted_graph<W, I, O, Space>& g,
                                            std::int64_t source, const sssp_options& options = {}) {
  return sssp(ctx, g.view(), source, options);
}

// Checks distances, and parents unless empty, on the host, independently of the algorithms. Empty when right; else one
// sentence about an offending vertex. Distances: the source has 0; no edge shortens a distance; every reached vertex
// has its distance through an edge from another one, and such edges lead to it from the source. Parents: each is joined
// by such an edge, and they lead back to the source; the smallest ones if the options require it. Reads the out-edges
// only. O(vertices + edges).
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
