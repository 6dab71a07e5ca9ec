// Label propagation over ranks: each computes the labels of its own vertices by the executor of one process, on a graph
// of its vertices and ghosts. After a round labels travel from owners to ghosts, and the counters that end the run are
// added up, so every rank stops after the same round as one process would.
//
// A rank's frontier follows from the labels that changed, those of ghosts included: a ghost's row lists its neighbours
// among the own vertices. Bytes sent per round: a label for every pair of a vertex and another rank with a neighbour of
// it. A rank alone runs as one process does, without exchanges.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "distributed/graph/neighbourhoods.hpp"
#include "distributed/products/executor.hpp"
#include "graph/communities/algorithms.hpp"
#include "graph/communities/executor.hpp"

#include <spargo/distributed/communities.hpp>

#include <fmt/format.h>

#include <bit>
#include <numeric>
#include <optional>

namespace spargo {

namespace {

namespace impl = detail::communities;

// The number of labels that some rank has, from a bit per label.
std::int64_t count_distinct(const communicator& comm, const context<host>& ctx, const partition& parts,
                            span<const std::uint64_t, host> used) {
  std::vector<std::int64_t> words;
  for (int r = 0; r < comm.size(); ++r) words.push_back(div_up(parts.last(r), 64) - div_up(parts.first(r), 64));
  std::vector<std::int64_t> received;
  const array<std::uint64_t, host> all = comm.all_to_all<std::uint64_t>(ctx, used, words, received);
  const std::int64_t own = words[static_cast<std::size_t>(comm.rank())];
  std::int64_t count = 0;
  for (std::int64_t w = 0; w < own; ++w) {
    std::uint64_t word = 0;
    for (std::int64_t r = 0; r < comm.size(); ++r) word |= all[r * own + w];
    count += std::popcount(word);
  }
  return comm.all_reduce(count, reduction::sum);
}

template <class Space>
communities_algorithm choose(const communities_options& options) {
  if (options.method != communities_method::cdlp) {
    throw error(error_code::unsupported,
                fmt::format("communities: several ranks find none by {} (expected cdlp)", to_string(options.method)));
  }
  SPARGO_EXPECTS(options.iterations >= 0,
                 fmt::format("communities: {} iterations (expected 0 or more)", options.iterations));
  if (auto named = detail::choose_by_name<Space>(impl::algorithms, "communities", options.algorithm)) {
    return named->algorithm;
  }
  return communities_algorithm::frontier;
}

}  // namespace

template <index_type I, class Space>
struct distributed_communities_plan<I, Space>::state {
  // Devices have kernels for labels and indices of one type.
  using index = std::conditional_t<std::same_as<Space, host>, std::int32_t, I>;

  communicator comm;
  context<host> cpu;
  partition parts;
  communities_options options;
  array<std::int64_t, Space> offsets{};
  array<index, Space> indices{};
  array<I, Space> initial{};
  std::optional<exchange<Space>> halo{};
  std::unique_ptr<impl::executor<I, Space>> executor{};
  impl::run_outcome outcome{};

  void take_rows(const context<host>&, detail::distributed::neighbourhoods rows,
                 array<I, host> vertices) requires std::same_as<Space, host> {
    offsets = std::move(rows.offsets);
    indices = std::move(rows.indices);
    initial = std::move(vertices);
  }
  void take_rows(const context<device>& ctx, const detail::distributed::neighbourhoods& rows,
                 const array<I, host>& vertices) requires std::same_as<Space, device> {
    offsets = to_device(ctx, rows.offsets);
    if constexpr (std::same_as<I, std::int32_t>) {
      indices = to_device(ctx, rows.indices);
    } else {
      indices = to_device(ctx, std::vector<I>(rows.indices.begin(), rows.indices.end()));
    }
    initial = to_device(ctx, vertices);
  }
};

template <index_type I, class Space>
distributed_communities_plan<I, Space>::distributed_communities_plan(const communicator& comm,
                                                                     const context<Space>& ctx,
                                                                     const distributed_graph<I>& g,
                                                                     const communities_options& options,
                                                                     const exchange_options& links) {
  if constexpr (detail::is_built<Space>) {
    std::vector<std::int64_t> ghosts;
    comm.agree_on([&] {
      state_ = detail::new_state<state>(comm, detail::distributed::host_of(comm, ctx), g.parts(), options);
      state& s = *state_;
      s.options.algorithm = choose<Space>(options);
      s.options.iterations = impl::iterations_of(options, g.vertices(), g.edges());
      if (g.in().offsets.empty() && g.vertices() > 0) {
        throw error(error_code::unsupported, "communities: a directed graph without in-edges");
      }
      auto rows = detail::distributed::neighbourhoods_of(s.cpu, g, comm.rank());
      array<I, host> vertices(s.cpu, rows.size());
      std::iota(vertices.data(), vertices.data() + rows.own, static_cast<I>(g.parts().first(comm.rank())));
      std::transform(rows.ghosts.begin(), rows.ghosts.end(), vertices.data() + rows.own,
                     [](std::int64_t v) { return static_cast<I>(v); });
      ghosts = rows.ghosts;
      s.take_rows(ctx, std::move(rows), std::move(vertices));
    });
    state& s = *state_;
    if constexpr (std::same_as<Space, host>) {
      s.halo.emplace(comm, ctx, g.parts(), ghosts, sizeof(I));
    } else {
      s.halo.emplace(comm, ctx, g.parts(), ghosts, sizeof(I), links);
    }
    comm.agree_on([&] {
      const std::int64_t own = g.parts().count(comm.rank());
      impl::shared_part<I, Space> part{own, g.vertices()};
      if (comm.size() > 1) {
        part.exchange = [&s, own](span<I, Space> labels, impl::round_outcome& round) {
          s.halo->start(span<const I, Space>(labels.subspan(0, own)));
          s.halo->finish(labels.subspan(own, labels.size() - own));
          std::int64_t sums[] = {round.changed, round.unlike};
          s.comm.reduce_in_place(span<std::int64_t, host>(sums, 2), reduction::sum);
          round.changed = sums[0];
          round.unlike = sums[1];
        };
        part.count = [&s](span<const std::uint64_t, host> used) {
          return count_distinct(s.comm, s.cpu, s.parts, used);
        };
      }
      using index = typename state::index;
      const auto n = static_cast<index>(s.initial.size());
      const graph_view<index, std::int64_t, Space> view{
          {n, n, std::as_const(s.offsets).view(), std::as_const(s.indices).view()}, {}, direction_kind::undirected};
      s.executor = impl::make_part_executor<I>(ctx, view, s.options, std::move(part));
    });
  } else {
    detail::no_device("communities");
  }
}

template <index_type I, class Space>
void distributed_communities_plan<I, Space>::run() {
  state& s = *state_;
  s.outcome = s.executor->run(s.comm.size() > 1 ? std::as_const(s.initial).view() : span<const I, Space>());
}
template <index_type I, class Space>
span<const I, Space> distributed_communities_plan<I, Space>::labels() const noexcept {
  return state_->executor->labels();
}
template <index_type I, class Space>
std::int64_t distributed_communities_plan<I, Space>::count() const noexcept {
  return state_->outcome.count;
}
template <index_type I, class Space>
std::int64_t distributed_communities_plan<I, Space>::rounds() const noexcept {
  return state_->outcome.rounds;
}
template <index_type I, class Space>
communities_algorithm distributed_communities_plan<I, Space>::algorithm() const noexcept {
  return state_->options.algorithm;
}
template <index_type I, class Space>
std::string distributed_communities_plan<I, Space>::reason() const {
  return fmt::format("the algorithm of one process; vertices distributed over {} ranks by edges", state_->comm.size());
}
template <index_type I, class Space>
std::string_view distributed_communities_plan<I, Space>::how() const noexcept {
  return state_->halo->how();
}

template <index_type I>
communities_result<I, host> distributed_communities(const communicator& comm, const context<host>& ctx,
                                                    const distributed_graph<I>& g, const communities_options& options) {
  distributed_communities_plan<I, host> plan(comm, ctx, g, options);
  plan.run();
  return {
      comm.agree_on([&] { return clone(ctx, plan.labels()); }), plan.count(), plan.rounds(), 0, 0, plan.algorithm()};
}

#define INSTANTIATE(I)                                             \
  template class distributed_communities_plan<I, host>;            \
  template class distributed_communities_plan<I, device>;          \
  template communities_result<I, host> distributed_communities<I>( \
      const communicator&, const context<host>&, const distributed_graph<I>&, const communities_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
