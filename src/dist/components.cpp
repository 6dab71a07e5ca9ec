// Labels of components, which spread along edges between ranks until they settle.
//
// A rank joins what its own edges join, ghosts included, once (union-find); then only labels travel, from
// owners to ghosts, and each of these trees takes the least it has seen, until none changes. Every edge is known at
// both ends, so a smaller label on either side comes to the other.
#include "core/instantiate.hpp"
#include "dist/deal.hpp"

#include <spargo/dist/graph.hpp>

#include <numeric>

namespace spargo {

template <index_type I>
distributed_components_result<I> distributed_components(const communicator& comm, const context<host>& ctx,
                                                        const distributed_graph<I>& g) {
  if (g.direction() != direction_kind::undirected) {
    throw agreed_error(error_code::unsupported, "components: several ranks need an undirected graph");
  }
  const auto out = g.out();
  const std::int64_t first = g.parts().first(comm.rank());
  detail::dist::local_columns columns;
  std::vector<std::int32_t> root;  // [own, then ghosts]
  std::vector<I> labels;
  comm.agree_on([&] {
    columns = detail::dist::number_columns<I>(ctx, out.indices, first, g.parts().last(comm.rank()), g.vertices());
    root.resize(static_cast<std::size_t>(columns.size()));
    labels.resize(root.size());
  });
  std::iota(root.begin(), root.end(), 0);
  const auto root_of = [&](std::int32_t v) {
    while (root[static_cast<std::size_t>(v)] != v) {
      std::int32_t& above = root[static_cast<std::size_t>(v)];
      v = above = root[static_cast<std::size_t>(above)];
    }
    return v;
  };
  for (std::int64_t u = 0; u < out.rows; ++u) {
    for (std::int64_t e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
      const std::int32_t a = root_of(static_cast<std::int32_t>(u));
      const std::int32_t b = root_of(columns.indices[e]);
      root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  }
  for (std::size_t v = 0; v < root.size(); ++v) root[v] = root_of(static_cast<std::int32_t>(v));
  for (std::size_t v = 0; v < root.size(); ++v) {
    labels[v] = static_cast<I>(static_cast<std::int64_t>(v) < columns.own
                                   ? first + static_cast<std::int64_t>(v)
                                   : columns.ghosts[v - static_cast<std::size_t>(columns.own)]);
  }
  exchange<host> halo(comm, ctx, g.parts(), columns.ghosts, sizeof(I));
  const span<I, host> own(labels.data(), columns.own);
  distributed_components_result<I> result;
  for (std::int64_t changed = 1; changed > 0; ++result.rounds) {
    for (std::size_t v = 0; v < root.size(); ++v) {  // the tree's least, at its root
      I& least = labels[static_cast<std::size_t>(root[v])];
      least = std::min(least, labels[v]);
    }
    changed = 0;
    for (std::size_t v = 0; v < root.size(); ++v) {
      const I least = labels[static_cast<std::size_t>(root[v])];
      changed += labels[v] != least ? 1 : 0;
      labels[v] = least;
    }
    halo.start(span<const I, host>(own));
    halo.finish(span<I, host>(labels.data() + columns.own, std::ssize(columns.ghosts)));
    // A ghost that falls now has changed at its owner in this round.
    changed = comm.all_reduce(changed, reduction::max);
  }
  result.labels = clone(ctx, own);
  std::int64_t count = 0;
  for (std::int64_t v = 0; v < own.size(); ++v) count += own[v] == first + v ? 1 : 0;
  result.count = comm.all_reduce(count, reduction::sum);
  return result;
}

#define INSTANTIATE(I)                                                                                           \
  template distributed_components_result<I> distributed_components<I>(const communicator&, const context<host>&, \
                                                                      const distributed_graph<I>&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
