// Communities by label propagation over the ranks of a distributed graph, and the check of their labels.
#pragma once

#include <spargo/distributed/graph.hpp>
#include <spargo/graph/communities.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Workspace for many runs of communities_method::cdlp on one graph: the labels, rounds and number of communities of one
// process (graph/communities.hpp), bit for bit, for any number of ranks. Self-loops are ignored. After each round every
// label travels to the ranks that have one of the vertex's neighbours. Memory: this rank's edges in local numbers,
// those to other ranks twice; three labels and a byte per vertex and ghost (one rank alone on a device: five labels and
// four bytes); a bit per vertex of the whole graph, and a label if one of this rank's vertices has over 2^15
// neighbours.
template <index_type I, class Space>
class SPARGO_EXPORT distributed_communities_plan {
 public:
  // Copies this rank's rows. `links`: for devices. Throws unsupported for methods other than cdlp and for a directed
  // graph without in-edges, invalid_argument for options out of range; on all ranks. Collective.
  distributed_communities_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                               const communities_options& options = {}, const exchange_options& links = {});

  // Synchronises a device after each round. Collective.
  void run();

  // Results of the last run: `labels` of this rank's vertices, the others of the whole graph.
  [[nodiscard]] span<const I, Space> labels() const noexcept;
  [[nodiscard]] std::int64_t count() const noexcept;   // of distinct labels
  [[nodiscard]] std::int64_t rounds() const noexcept;  // carried out, as on one process
  [[nodiscard]] communities_algorithm algorithm() const noexcept;
  [[nodiscard]] std::string reason() const;             // why, one sentence
  [[nodiscard]] std::string_view how() const noexcept;  // transport of labels

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

// A plan that is used once.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT communities_result<I, host> distributed_communities(
    const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
    const communities_options& options = {});

// Repeats all rounds of cdlp independently of the plans: each vertex sorts its neighbours' labels. Returns an empty
// string if the labels are right. Collective. O(edges log degree) per round.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_communities(const communicator& comm, const context<host>& ctx,
                                                          const distributed_graph<I>& g,
                                                          std::type_identity_t<span<const I, host>> labels,
                                                          const communities_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
