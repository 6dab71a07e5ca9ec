// What spreads along edges between ranks until it settles: ranks of vertices, and labels of components.
//
// PageRank pulls over in-edges, as on one rank, from contributions of which the ghosts' are exchanged each step.
// Components: a rank joins what its own edges join, ghosts included, once (union-find); then only labels travel, from
// owners to ghosts, and each of these trees takes the least it has seen, until none changes. Every edge is known at
// both ends, so a smaller label on either side comes to the other.
#include "core/instantiate.hpp"
#include "dist/deal.hpp"

#include <spargo/dist/graph.hpp>

#include <cmath>
#include <numeric>

namespace spargo {

namespace {

struct step_sums {
  double change = 0;
  double held = 0;  // by vertices without out-edges
};

// By four, so that nothing waits for an addition; double throughout.
double sum_row(const double* contributions, const std::int32_t* indices, std::int64_t count) {
  double sums[4] = {};
  std::int64_t e = 0;
  for (; e + 4 <= count; e += 4) {
    for (int k = 0; k < 4; ++k) sums[k] += contributions[indices[e + k]];
  }
  for (; e < count; ++e) sums[0] += contributions[indices[e]];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

template <index_type I>
pagerank_result<double, host> distributed_pagerank(const communicator& comm, const context<host>& ctx,
                                                   const distributed_graph<I>& g, const pagerank_options& options) {
  const auto in = g.in();
  const auto out = g.out();
  const std::int64_t rows = out.rows;
  const auto n = static_cast<double>(g.vertices());
  if (in.offsets.empty() && g.vertices() > 0) {
    throw agreed_error(error_code::unsupported, "pagerank: a directed graph without in-edges");
  }
  if (options.algorithm == pagerank_algorithm::gauss_seidel) {
    throw agreed_error(error_code::unsupported, "pagerank: several ranks have algorithm jacobi only");
  }
  SPARGO_EXPECTS(options.damping >= 0 && options.damping < 1, fmt::format("pagerank: damping {}", options.damping));
  detail::dist::local_columns columns;
  pagerank_result<double, host> result;
  array<double, host> contributions;  // with the ghosts'
  comm.agree_on([&] {
    columns = detail::dist::number_columns<I>(ctx, in.indices, g.parts().first(comm.rank()),
                                              g.parts().last(comm.rank()), g.vertices());
    result.ranks = {ctx, rows};
    contributions = {ctx, columns.size()};
  });
  exchange<host> halo(comm, ctx, g.parts(), columns.ghosts, sizeof(double));
  result.algorithm = pagerank_algorithm::jacobi;
  std::fill(result.ranks.begin(), result.ranks.end(), 1 / n);
  const auto degree = [&](std::int64_t v) { return static_cast<double>(out.offsets[v + 1] - out.offsets[v]); };
  const detail::parts shares = detail::chunks_of(rows, detail::grain::rows);  // of a sum, whatever the threads
  std::vector<step_sums> sums(static_cast<std::size_t>(shares.count));
  const auto add = [&] {
    step_sums mine;
    for (const step_sums& each : sums) {
      mine.change = options.norm == pagerank_norm::l1 ? mine.change + each.change : std::max(mine.change, each.change);
      mine.held += each.held;
    }
    step_sums all;
    for (const step_sums& each : comm.all_gather(mine)) {
      all.change = options.norm == pagerank_norm::l1 ? all.change + each.change : std::max(all.change, each.change);
      all.held += each.held;
    }
    return all;
  };
  const auto for_shares = [&](const auto& body) {
    detail::parallel_parts(ctx.threads(), shares.count, [&](std::int64_t s) {
      step_sums mine;
      for (std::int64_t v = shares.first(s); v < shares.last(s); ++v) body(v, mine);
      sums[static_cast<std::size_t>(s)] = mine;
    });
    return add();
  };
  double held = for_shares([&](std::int64_t v, step_sums& mine) {
                  if (degree(v) == 0) mine.held += result.ranks[v];
                }).held;
  const std::int64_t most = options.iterations > 0 ? options.iterations : options.max_iterations;
  while (result.iterations < most) {
    detail::parallel_for(ctx.threads(), rows, detail::grain::rows,
                         [&](std::int64_t v) { contributions[v] = degree(v) == 0 ? 0 : result.ranks[v] / degree(v); });
    halo.start(span<const double, host>(contributions.view().subspan(0, rows)));
    halo.finish(contributions.view().subspan(rows, std::ssize(columns.ghosts)));
    const double lands = options.dangling == pagerank_dangling::drop ? 0 : held / n;
    const step_sums step = for_shares([&](std::int64_t v, step_sums& mine) {
      const double sum =
          sum_row(contributions.data(), columns.indices.data() + in.offsets[v], in.offsets[v + 1] - in.offsets[v]);
      const double rank = (1 - options.damping) / n + options.damping * (sum + lands);
      const double change = std::abs(rank - result.ranks[v]);
      mine.change = options.norm == pagerank_norm::l1 ? mine.change + change : std::max(mine.change, change);
      if (degree(v) == 0) mine.held += rank;
      result.ranks[v] = rank;
    });
    held = step.held;
    result.residual = step.change;
    ++result.iterations;
    if (options.iterations == 0 && result.residual <= options.tolerance) break;
  }
  result.converged = result.residual <= options.tolerance;
  return result;
}

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
  template pagerank_result<double, host> distributed_pagerank<I>(                                                \
      const communicator&, const context<host>&, const distributed_graph<I>&, const pagerank_options&);          \
  template distributed_components_result<I> distributed_components<I>(const communicator&, const context<host>&, \
                                                                      const distributed_graph<I>&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
