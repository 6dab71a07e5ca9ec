// Krylov methods over the ranks of a distributed matrix, on their CPUs or GPUs.
#pragma once

#include <spargo/distributed/matrix.hpp>
#include <spargo/solvers/krylov.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// krylov_plan for a matrix over ranks: every method, with jacobi or without preconditioner; the same choices, messages
// and results. Each rank passes its own elements of b and x. Sums are added in rank order: every rank has the same
// history and outcome, and the same bits on every run with the same number of ranks; other numbers differ within
// rounding. GPUs must all be of one model: each decides on its own when to stop. An iteration of cg is an exchange of
// ghosts and two sums.
//
// Devices exchange sums and ghosts as exchange<device> does, decide on convergence, and are enqueued in chunks of
// iterations as by krylov_plan. Besides reading the state once per chunk, a host waits only for other hosts; over
// `host_memory` also for its device at each exchange and sum.
template <value_type V, class Space = host>
class SPARGO_EXPORT distributed_krylov_plan {
 public:
  // Collective, as `run`. Borrows the matrix; a device copies it. Throws as krylov_plan does, on all ranks alike
  // (agreed_error), rows numbered among those of all ranks; also unsupported for preconditioners other than jacobi and
  // none, and as exchange<device> for `links`. Memory: as krylov_plan for the rank's rows, on hosts with its ghosts in
  // each vector; while it is made also the entries in columns of other ranks, twice, on the host.
  distributed_krylov_plan(const communicator& comm, const context<Space>& ctx, const distributed_matrix<V>& matrix,
                          const krylov_options& options = {}, const exchange_options& links = {});

  // An `interruption` on one rank ends the others too, as any error of one rank alone.
  krylov_result run(span<const V, Space> b, span<V, Space> x) const;

  [[nodiscard]] krylov_method method() const noexcept { return state_.algorithm(); }  // never `automatic`
  [[nodiscard]] const std::string& reason() const noexcept { return state_.reason(); }
  [[nodiscard]] krylov_preconditioner preconditioner() const noexcept;                              // never `automatic`
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return state_.workspace_bytes(); }  // of this rank,
  // without a device's copy of the matrix
  [[nodiscard]] std::string_view how() const noexcept;  // transport of the ghosts

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::plan_state<state, krylov_method> state_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
