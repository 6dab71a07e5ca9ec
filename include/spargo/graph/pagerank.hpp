// PageRank: the stationary distribution of a random walk along out-edges with restarts.
//
// A step gives vertex v the rank (1 - d) p(v) + d (sum of rank(u) / out-degree(u) over the edges u -> v + D w(v)),
// where d is the damping, p the personalization scaled to sum 1 (1/n by default), D the rank of the dangling vertices,
// which have no out-edges, and w its distribution. Loops and duplicate edges of a view count as edges. Over weights, a
// vertex divides its rank in proportion to the weights of its out-edges, and dangles if they sum to 0. A step pulls
// over in-edges: O(vertices + edges). Source: Page, Brin, Motwani, Winograd, 1999.
//
// Determinism: jacobi gives the same bits on every run and for any number of threads, on a device on every run.
// gauss_seidel gives the same bits on every run with one thread only; with more, ranks differ by about the tolerance.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>
#include <spargo/graph/weighted_graph.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class pagerank_algorithm {
  automatic,     // host: gauss_seidel with a tolerance, jacobi with a number of iterations; device: jacobi
  jacobi,        // all ranks of a step from those of the previous step
  gauss_seidel,  // host: new ranks are used immediately: fewer steps (R-MAT 20 to 1e-4: 5, not 8)
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<pagerank_algorithm> enum_rows() noexcept;
[[nodiscard]] inline pagerank_algorithm parse_pagerank_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<pagerank_algorithm>("pagerank: unknown algorithm", name);
}

// What device steps read. A copy is made once per plan, costs up to dozens of steps, pays off for millions of edges.
enum class pagerank_copy {
  automatic,  // chosen by the graph and the expected number of steps
  none,       // the in-edges as stored
  blocked,    // vertices sorted by out-degree, shares in shared-memory blocks: graphs with hubs
  binned,     // shares sorted into bins of vertices: graphs with neither hubs nor locality
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<pagerank_copy> enum_rows() noexcept;

// Distance between two rank vectors: sum or maximum of the differences.
enum class pagerank_norm { l1, linf };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<pagerank_norm> enum_rows() noexcept;

// Where the rank of vertices without out-edges goes.
enum class pagerank_dangling {
  uniform,          // to all vertices equally, as in LDBC Graphalytics
  personalization,  // by the personalization, as in networkx; by default the same as uniform
  drop,             // nowhere, as in the GAP benchmark: ranks then sum to less than 1
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<pagerank_dangling> enum_rows() noexcept;

struct SPARGO_EXPORT pagerank_options {
  pagerank_algorithm algorithm = pagerank_algorithm::automatic;
  double damping = 0.85;    // 0 to 1, 1 excluded
  double tolerance = 1e-6;  // stop when one step changes the ranks by at most this
  pagerank_norm norm = pagerank_norm::l1;
  std::int64_t max_iterations = 1000;  // maximum number of iterations
  std::int64_t iterations = 0;         // above 0: exactly this many, ignoring the tolerance; jacobi only
  pagerank_dangling dangling = pagerank_dangling::personalization;
  pagerank_copy copy = pagerank_copy::automatic;
};

template <detail::real V, class Space>
struct pagerank_result {
  array<V, Space> ranks;
  std::int64_t iterations = 0;
  double residual = 0;                                           // change of the last step, in the norm
  bool converged = false;                                        // residual <= tolerance
  pagerank_algorithm algorithm = pagerank_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan. host_seconds: options.iterations, or 10 if 0.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const pagerank_options& options);

// Workspace for many runs on one graph, allocated once. The plan borrows the graph. The host checks a device run for
// convergence, which synchronizes, every few iterations. On large graphs gauss_seidel in double precision keeps ranks
// in single precision between steps if the tolerance is at least 1e-6. Memory besides the graph: 2 values per vertex, 1
// for gauss_seidel, 2.5 if in single precision; on a device 4 and an index, and for a copy of the graph 2 to 4 bytes
// per edge (binned: 4 and a value); over weights a value per edge.
template <detail::real V, index_type I, index_type O, class Space>
class SPARGO_EXPORT pagerank_plan
    : public detail::graph_plan_base<pagerank_plan<V, I, O, Space>, pagerank_options, I, O, V> {
 public:
  // Throws invalid_argument for options out of range or an inconsistent graph view; unsupported for an algorithm that
  // the backend lacks, for a number of iterations with gauss_seidel, and for a directed graph without in-edges
  // (add_in_edges builds them).
  pagerank_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const pagerank_options& options = {});

  // Over the graph's weights, which the plan copies as probabilities or as values of a product. Builds
  // the in-edges of a directed graph that lacks them. Throws as above, and invalid_data for weights that are negative
  // or not finite, or whose sum over a vertex's edges is not finite.
  template <detail::scalar W>
  pagerank_plan(const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g,
                const pagerank_options& options = {});

  // Restart distribution and initial guess, 1/n by default. Each is empty or has one value per vertex, finite and
  // nonnegative, with a sum of at least 2.2e-308 (not necessarily 1); else throws invalid_argument. Synchronizes.
  void run(span<const V, Space> personalization = {}, span<const V, Space> guess = {});

  // Of the last run; valid until the next.
  [[nodiscard]] span<const V, Space> ranks() const noexcept;
  [[nodiscard]] std::int64_t iterations() const noexcept;
  [[nodiscard]] double residual() const noexcept;
  [[nodiscard]] bool converged() const noexcept;

  // Over weights.
  [[nodiscard]] static plan_estimate estimate_weighted(const graph_shape& shape, const pagerank_options& options = {}) {
    plan_estimate of = estimate(shape, options);
    of.host_bytes += shape.entries * std::int64_t{sizeof(V)} + shape.vertices * 5;
    of.device_bytes += shape.entries * (2 * std::int64_t{sizeof(V)} + 8) + shape.vertices * 16;
    return of;
  }

 private:
  using state = detail::state_of<pagerank_plan>;
};

template <index_type I, index_type O, class Space>
pagerank_plan(const context<Space>&, const graph_view<I, O, Space>&, const pagerank_options& = {})
    -> pagerank_plan<double, I, O, Space>;
template <index_type I, index_type O, class Space>
pagerank_plan(const context<Space>&, const graph<I, O, Space>&, const pagerank_options& = {})
    -> pagerank_plan<double, I, O, Space>;

template <detail::scalar W, index_type I, index_type O, class Space>
pagerank_plan(const context<Space>&, const weighted_graph_view<W, I, O, Space>&, const pagerank_options& = {})
    -> pagerank_plan<double, I, O, Space>;
template <detail::scalar W, index_type I, index_type O, class Space>
pagerank_plan(const context<Space>&, const weighted_graph<W, I, O, Space>&, const pagerank_options& = {})
    -> pagerank_plan<double, I, O, Space>;

// One run with a temporary plan. Builds the in-edges of a directed graph that lacks them. In double precision unless V
// is given: pagerank<float>(ctx, g).
template <detail::real V = double, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT pagerank_result<V, Space> pagerank(
    const context<Space>& ctx, const graph_view<I, O, Space>& g, const pagerank_options& options = {},
    std::type_identity_t<span<const V, Space>> personalization = {},
    std::type_identity_t<span<const V, Space>> guess = {});
template <detail::real V = double, index_type I, index_type O, class Space>
[[nodiscard]] pagerank_result<V, Space> pagerank(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                 const pagerank_options& options = {},
                                                 std::type_identity_t<span<const V, Space>> personalization = {},
                                                 std::type_identity_t<span<const V, Space>> guess = {}) {
  return pagerank<V>(ctx, g.view(), options, personalization, guess);
}

// The same over weights.
template <detail::real V = double, detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT pagerank_result<V, Space> pagerank(
    const context<Space>& ctx, const weighted_graph_view<W, I, O, Space>& g, const pagerank_options& options = {},
    std::type_identity_t<span<const V, Space>> personalization = {},
    std::type_identity_t<span<const V, Space>> guess = {});
template <detail::real V = double, detail::scalar W, index_type I, index_type O, class Space>
[[nodiscard]] pagerank_result<V, Space> pagerank(const context<Space>& ctx, const weighted_graph<W, I, O, Space>& g,
                                                 const pagerank_options& options = {},
                                                 std::type_identity_t<span<const V, Space>> personalization = {},
                                                 std::type_identity_t<span<const V, Space>> guess = {}) {
  return pagerank<V>(ctx, g.view(), options, personalization, guess);
}

// Empty when `ranks` are correct for the options; else one sentence. Independent of the plans; reads the out-edges
// only, in double precision. With a tolerance: one more step changes the ranks by at most that (in the l1 norm; for
// linf by at most vertices * tolerance), and they sum to 1 unless dangling rank is dropped. With a number of
// iterations: repeats them from the guess, and each rank must agree to 1e-9 (float: 1e-4).
template <detail::real V = double, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_pagerank(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                       std::type_identity_t<span<const V, host>> ranks,
                                                       const pagerank_options& options = {},
                                                       std::type_identity_t<span<const V, host>> personalization = {},
                                                       std::type_identity_t<span<const V, host>> guess = {});
template <detail::real V = double, index_type I, index_type O>
[[nodiscard]] std::string check_pagerank(const context<host>& ctx, const graph<I, O, host>& g,
                                         std::type_identity_t<span<const V, host>> ranks,
                                         const pagerank_options& options = {},
                                         std::type_identity_t<span<const V, host>> personalization = {},
                                         std::type_identity_t<span<const V, host>> guess = {}) {
  return check_pagerank<V>(ctx, g.view(), ranks, options, personalization, guess);
}
// The same over weights.
template <detail::real V = double, detail::scalar W, index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_pagerank(const context<host>& ctx,
                                                       const weighted_graph_view<W, I, O, host>& g,
                                                       std::type_identity_t<span<const V, host>> ranks,
                                                       const pagerank_options& options = {},
                                                       std::type_identity_t<span<const V, host>> personalization = {},
                                                       std::type_identity_t<span<const V, host>> guess = {});
template <detail::real V = double, detail::scalar W, index_type I, index_type O>
[[nodiscard]] std::string check_pagerank(const context<host>& ctx, const weighted_graph<W, I, O, host>& g,
                                         std::type_identity_t<span<const V, host>> ranks,
                                         const pagerank_options& options = {},
                                         std::type_identity_t<span<const V, host>> personalization = {},
                                         std::type_identity_t<span<const V, host>> guess = {}) {
  return check_pagerank<V>(ctx, g.view(), ranks, options, personalization, guess);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
