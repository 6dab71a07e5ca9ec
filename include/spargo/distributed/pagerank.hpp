// PageRank over the ranks of a distributed graph, and the check of its result.
#pragma once

#include <spargo/distributed/graph.hpp>
#include <spargo/graph/pagerank.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Workspace for many runs of PageRank on one graph: Jacobi iteration (pagerank.hpp) from 1/n, without personalization.
// Sums over ranks: the same bits on every run with the same number of ranks.
template <index_type I, class Space>
class SPARGO_EXPORT distributed_pagerank_plan {
 public:
  // Borrows a host graph; a device plan copies this rank's rows in the form of options.copy. Throws unsupported for a
  // directed graph without in-edges, and for gauss_seidel. `links`: for devices.
  distributed_pagerank_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                            const pagerank_options& options = {}, const exchange_options& links = {});

  // Synchronises a device after each step.
  void run();

  // Results of the last run: `ranks` of this rank's vertices, the others of the whole graph.
  [[nodiscard]] span<const double, Space> ranks() const noexcept;
  [[nodiscard]] std::int64_t iterations() const noexcept;
  [[nodiscard]] double residual() const noexcept;
  [[nodiscard]] bool converged() const noexcept;
  [[nodiscard]] pagerank_algorithm algorithm() const noexcept { return pagerank_algorithm::jacobi; }
  [[nodiscard]] std::string reason() const;             // why, one sentence
  [[nodiscard]] std::string_view how() const noexcept;  // transport of contributions

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

// A plan that is used once.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT pagerank_result<double, host> distributed_pagerank(const communicator& comm,
                                                                               const context<host>& ctx,
                                                                               const distributed_graph<I>& g,
                                                                               const pagerank_options& options = {});
// One more step, pushed along out-edges to their owners, must change the ranks by at most the tolerance (or the last
// step, if that is more), and they must sum to 1 unless dangling rank is dropped. Returns an empty string if right.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_pagerank(const communicator& comm, const context<host>& ctx,
                                                       const distributed_graph<I>& g,
                                                       const pagerank_result<double, host>& found,
                                                       const pagerank_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
