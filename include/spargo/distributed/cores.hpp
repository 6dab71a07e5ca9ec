// Core numbers over the ranks of a distributed graph, on hosts, and their check.
#pragma once

#include <spargo/distributed/graph.hpp>
#include <spargo/graph/cores.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Workspace for many runs of core numbers (graph/cores.hpp) on one graph. Upper bounds fall until each vertex has as
// many neighbours of its bound or more as the bound says; between ranks only bounds travel. Rounds: usually some tens,
// at most as many as a chain of vertices crosses ranks. Memory: this rank's edges in local numbers, those to other
// ranks twice; six indices per vertex and one per ghost. Source: Montresor, De Pellegrini, Miorandi, IEEE TPDS 24(2),
// 2013.
template <index_type I>
class SPARGO_EXPORT distributed_cores_plan {
 public:
  // Copies this rank's rows. Throws unsupported on all ranks for a directed graph without in-edges, and for a degree
  // that exceeds I. Collective.
  distributed_cores_plan(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g);

  void run();  // collective

  // Results of the last run: `cores` of this rank's vertices, the others of the whole graph.
  [[nodiscard]] span<const I, host> cores() const noexcept;
  [[nodiscard]] I max_core() const noexcept;
  [[nodiscard]] std::int64_t rounds() const noexcept;   // exchanges of bounds
  [[nodiscard]] std::string reason() const;             // why, one sentence
  [[nodiscard]] std::string_view how() const noexcept;  // transport of bounds

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

// Result of a plan that is used once.
template <index_type I>
struct distributed_cores_result {
  array<I, host> cores;
  I max_core = 0;
  std::int64_t rounds = 0;
};
template <index_type I>
[[nodiscard]] SPARGO_EXPORT distributed_cores_result<I> distributed_cores(const communicator& comm,
                                                                          const context<host>& ctx,
                                                                          const distributed_graph<I>& g);

// Proves that no number is too high, then that none is too low, as check_cores of one process; independent of the plan.
// Returns an empty string if right. Collective.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_cores(const communicator& comm, const context<host>& ctx,
                                                    const distributed_graph<I>& g,
                                                    std::type_identity_t<span<const I, host>> cores);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
