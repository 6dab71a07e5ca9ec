// Component labels, propagated along edges between ranks until no label changes.
//
// Each rank first unites its vertices and ghosts along its own edges, once. Then only labels travel, from owners to
// ghosts; each local tree takes the smallest label received, until none changes. Both ends of an edge know it, so
// smaller labels reach either side. Edges that a rank may skip, and how that is detected: executor.hpp.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "distributed/components/executor.hpp"
#include "distributed/graph/deal.hpp"
#include "distributed/products/executor.hpp"

namespace spargo {

template <index_type I, class Space>
struct distributed_components_plan<I, Space>::state {
  communicator comm;
  std::unique_ptr<detail::distributed::components_executor<I, Space>> executor{};
  std::int64_t count = 0;
  std::int64_t rounds = 0;
};

template <index_type I, class Space>
distributed_components_plan<I, Space>::distributed_components_plan(const communicator& comm, const context<Space>& ctx,
                                                                   const distributed_graph<I>& g,
                                                                   const exchange_options& links) {
  if constexpr (detail::is_built<Space>) {
    if (g.direction() != direction_kind::undirected) {
      throw agreed_error(error_code::unsupported, "components: several ranks need an undirected graph");
    }
    auto columns = comm.agree_on([&] {
      state_ = detail::new_state<state>(comm);
      return detail::distributed::number_columns<I>(detail::distributed::host_of(comm, ctx), g.out().indices, g.parts(),
                                                    comm.rank());
    });
    state_->executor = detail::distributed::make_components_executor(comm, ctx, g, std::move(columns), links);
  } else {
    detail::no_device("components");
  }
}

template <index_type I, class Space>
void distributed_components_plan<I, Space>::run() {
  state& s = *state_;
  s.rounds = 0;
  const auto settle = [&] {
    for (bool changes = true; changes; ++s.rounds) {
      const std::int64_t mine = s.executor->spread() ? 1 : 0;
      changes = s.comm.all_reduce(mine, reduction::max) != 0;
    }
    return s.comm.all_gather(s.executor->summary());
  };
  s.executor->start();
  std::vector<detail::distributed::components_summary> ranks = settle();
  if (!detail::distributed::is_settled(ranks)) {
    s.executor->start_with_all();
    ranks = settle();
  }
  s.count = 0;
  for (const detail::distributed::components_summary& each : ranks) s.count += each.count;
}
template <index_type I, class Space>
span<const I, Space> distributed_components_plan<I, Space>::labels() const noexcept {
  return state_->executor->labels();
}
template <index_type I, class Space>
std::int64_t distributed_components_plan<I, Space>::count() const noexcept {
  return state_->count;
}
template <index_type I, class Space>
std::int64_t distributed_components_plan<I, Space>::rounds() const noexcept {
  return state_->rounds;
}

template <index_type I, class Space>
std::string distributed_components_plan<I, Space>::reason() const {
  return fmt::format("the algorithm for several ranks; vertices distributed over {} ranks by edges",
                     state_->comm.size());
}
template <index_type I, class Space>
std::string_view distributed_components_plan<I, Space>::how() const noexcept {
  return state_->executor->how();
}

template <index_type I>
distributed_components_result<I> distributed_components(const communicator& comm, const context<host>& ctx,
                                                        const distributed_graph<I>& g) {
  distributed_components_plan<I, host> plan(comm, ctx, g);
  plan.run();
  return {comm.agree_on([&] { return clone(ctx, plan.labels()); }), plan.count(), plan.rounds()};
}

#define INSTANTIATE(I)                                                                                           \
  template class distributed_components_plan<I, host>;                                                           \
  template class distributed_components_plan<I, device>;                                                         \
  template distributed_components_result<I> distributed_components<I>(const communicator&, const context<host>&, \
                                                                      const distributed_graph<I>&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
