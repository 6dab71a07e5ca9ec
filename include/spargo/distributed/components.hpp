// Weakly connected components over the ranks of a distributed graph, and the check of their labels.
#pragma once

#include <spargo/distributed/graph.hpp>
#include <spargo/graph/components.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Workspace for many runs of weakly connected components on one undirected graph (unsupported for a directed one). A
// vertex's label is the smallest vertex of its component. Labels travel to neighbouring ranks in rounds: usually about
// logarithmically many, at most the length of a component's path over ranks.
template <index_type I, class Space>
class SPARGO_EXPORT distributed_components_plan {
 public:
  // Copies this rank's rows. `links`: for devices.
  distributed_components_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                              const exchange_options& links = {});

  // Synchronises a device in each round.
  void run();

  // Results of the last run: `labels` of this rank's vertices, the others of the whole graph.
  [[nodiscard]] span<const I, Space> labels() const noexcept;
  [[nodiscard]] std::int64_t count() const noexcept;
  [[nodiscard]] std::int64_t rounds() const noexcept;
  // Of each rank; between ranks only labels travel.
  [[nodiscard]] components_algorithm algorithm() const noexcept { return components_algorithm::afforest; }
  [[nodiscard]] std::string reason() const;             // why, one sentence
  [[nodiscard]] std::string_view how() const noexcept;  // transport of labels

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

// Result of a plan that is used once.
template <index_type I>
struct distributed_components_result {
  array<I, host> labels;
  std::int64_t count = 0;  // of components
  std::int64_t rounds = 0;
};
template <index_type I>
[[nodiscard]] SPARGO_EXPORT distributed_components_result<I> distributed_components(const communicator& comm,
                                                                                    const context<host>& ctx,
                                                                                    const distributed_graph<I>& g);
// No edge may join two labels; each label must be the smallest vertex that has it; and a search from all labels at once
// must reach every vertex from its own label. Returns an empty string if right.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT std::string check_components(const communicator& comm, const context<host>& ctx,
                                                         const distributed_graph<I>& g,
                                                         std::type_identity_t<span<const I, host>> labels);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
