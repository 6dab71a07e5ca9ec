// Interface of distributed PageRank: a rank's vertices in one memory space.
#pragma once

#include "core/plan_executor.hpp"
#include "distributed/exchange/local_columns.hpp"

#include <spargo/distributed/pagerank.hpp>

#include <memory>

namespace spargo::detail::distributed {

// Of a step, or of the start.
struct step_sums {
  double change = 0;         // in the norm
  double dangling_rank = 0;  // rank of vertices without out-edges

  void add(const step_sums& other, pagerank_norm norm) {
    change = norm == pagerank_norm::l1 ? change + other.change : std::max(change, other.change);
    dangling_rank += other.dangling_rank;
  }
};

template <class Space>
class pagerank_executor : public executor_base {
 public:
  // Sets every vertex to `rank`.
  virtual step_sums start(double rank) = 0;
  // Each vertex gets its damped in-flow plus `constant`. Collective.
  virtual step_sums step(double constant) = 0;
  // After the last step; makes `ranks` available.
  virtual void end() {}
  [[nodiscard]] virtual span<const double, Space> ranks() const noexcept = 0;
  [[nodiscard]] virtual std::string_view how() const noexcept = 0;  // transport of contributions
};

// Collective. On the host the graph is borrowed.
template <class I>
[[nodiscard]] std::unique_ptr<pagerank_executor<host>> make_pagerank_executor(
    const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g, local_columns columns,
    const pagerank_options& options, const exchange_options& links);
template <class I>
[[nodiscard]] std::unique_ptr<pagerank_executor<device>> make_pagerank_executor(
    const communicator& comm, const context<device>& ctx, const distributed_graph<I>& g, local_columns columns,
    const pagerank_options& options, const exchange_options& links);

}  // namespace spargo::detail::distributed
