// PageRank: the stationary distribution of a walk that follows out-edges and now and then starts afresh.
//
// A step gives vertex v the rank (1 - d) p(v) + d (sum of rank(u) / out-degree(u) over the edges u -> v + D w(v)),
// where d is the damping, p the personalization scaled to sum 1 (1/n without one), D the rank of the dangling vertices,
// which have no out-edges, and w what becomes of it. Loops and duplicate edges of a view count as edges. A step pulls
// over in-edges: O(vertices + edges). Source: Page, Brin, Motwani, Winograd, 1999.
//
// Determinism: jacobi gives the same bits on every run and for any number of threads, on a device on every run.
// gauss_seidel gives the same bits on every run with one thread only; with more, ranks differ by about the tolerance.
#pragma once

#include <spargo/graph/graph.hpp>

#include <memory>
#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class pagerank_algorithm {
  automatic,     // host: gauss_seidel until a tolerance is met, jacobi for a number of iterations; device: jacobi
  jacobi,        // all ranks of a step from those of the step before
  gauss_seidel,  // host: ranks are used as soon as they are there: fewer steps (R-MAT 20 to 1e-4: 5, not 8)
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(pagerank_algorithm algorithm);
[[nodiscard]] SPARGO_EXPORT pagerank_algorithm parse_pagerank_algorithm(std::string_view name);  // invalid_argument

// What a device's steps read. A copy is made once per plan, costs up to some dozens of steps, and pays for graphs of
// millions of edges.
enum class pagerank_copy {
  automatic,  // by the graph and the number of steps expected
  none,       // the in-edges as they are
  blocked,    // vertices by out-degree, shares by blocks in shared memory: graphs with hubs
  binned,     // shares sorted into bins of vertices: graphs without hubs nor locality
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(pagerank_copy copy);

// How far apart two vectors of ranks are: the sum of the differences, or the largest.
enum class pagerank_norm { l1, linf };

// Where the rank of vertices without out-edges goes.
enum class pagerank_dangling {
  uniform,          // to all vertices alike, as LDBC Graphalytics has it
  personalization,  // by the personalization, as networkx has it; without one the same as uniform
  drop,             // nowhere, as the GAP benchmark has it: ranks then sum to less than 1
};

struct SPARGO_EXPORT pagerank_options {
  pagerank_algorithm algorithm = pagerank_algorithm::automatic;
  double damping = 0.85;    // 0 to 1, 1 excluded
  double tolerance = 1e-6;  // the iteration ends with a step that changes the ranks by no more than this
  pagerank_norm norm = pagerank_norm::l1;
  std::int64_t max_iterations = 1000;  // then it ends without having converged
  std::int64_t iterations = 0;         // above 0: exactly so many, whatever the tolerance; by jacobi only
  pagerank_dangling dangling = pagerank_dangling::personalization;
  pagerank_copy copy = pagerank_copy::automatic;
};

template <detail::real V, class Space>
struct pagerank_result {
  array<V, Space> ranks;
  std::int64_t iterations = 0;
  double residual = 0;                                           // what the last step changed, in the norm
  bool converged = false;                                        // residual <= tolerance
  pagerank_algorithm algorithm = pagerank_algorithm::automatic;  // the one that ran
};

// Workspace for many runs on one graph: allocated once, none inside `run`. The plan borrows the graph.
// A device run looks every few iterations, by a host synchronisation, whether the device has found an end.
// Memory besides the graph: 2 values per vertex, 1 for gauss_seidel; on a device 4 and an index, and for a copy of the
// graph 2 to 4 bytes an edge (binned: 4 and a value).
template <detail::real V, index_type I, index_type O, class Space>
class SPARGO_EXPORT pagerank_plan {
 public:
  // Throws invalid_argument for options out of range or a graph whose parts do not fit together, unsupported for an
  // algorithm that the backend does not have, for a number of iterations by gauss_seidel, and for a directed graph
  // without in-edges (add_in_edges builds them).
  pagerank_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const pagerank_options& options = {});
  pagerank_plan(pagerank_plan&&) noexcept;
  pagerank_plan& operator=(pagerank_plan&&) noexcept;
  ~pagerank_plan();

  // Both are empty or have one value per vertex, finite, none negative, with a sum of at least 2.2e-308; it need not
  // be 1. The guess is what the iteration starts with, 1/n without one. Throws invalid_argument for others.
  // Synchronises a device.
  void run(span<const V, Space> personalization = {}, span<const V, Space> guess = {});

  // Of the last run; valid until the next.
  [[nodiscard]] span<const V, Space> ranks() const noexcept;
  [[nodiscard]] std::int64_t iterations() const noexcept;
  [[nodiscard]] double residual() const noexcept;
  [[nodiscard]] bool converged() const noexcept;

  [[nodiscard]] pagerank_algorithm algorithm() const noexcept;  // never `automatic`
  [[nodiscard]] const std::string& reason() const noexcept;     // why, one sentence
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept;

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

template <index_type I, index_type O, class Space>
pagerank_plan(const context<Space>&, const graph_view<I, O, Space>&, const pagerank_options& = {})
    -> pagerank_plan<double, I, O, Space>;
template <index_type I, index_type O, class Space>
pagerank_plan(const context<Space>&, const graph<I, O, Space>&, const pagerank_options& = {})
    -> pagerank_plan<double, I, O, Space>;

// One run: a plan that is used once. Builds the in-edges of a directed graph that has none. In double precision unless
// V is named: pagerank<float>(ctx, g).
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

// Empty when `ranks` are what the options ask for; else one sentence. Shares nothing with the plans, and reads the
// out-edges only, in double precision. Until a tolerance: one step from `ranks` changes them by no more than that (in
// the l1 norm; for linf by no more than vertices * tolerance), and they sum to 1 unless dangling rank is dropped. For a
// number of iterations they are done again, from the guess, and each rank is to agree to 1e-9 (float: 1e-4).
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

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
