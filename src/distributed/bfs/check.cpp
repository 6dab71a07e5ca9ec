// Checks of distributed results by rows, with received values for ghosts; independent of the algorithms.
#include "distributed/bfs/check.hpp"
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "distributed/exchange/with_ghosts.hpp"
#include "distributed/graph/device_graph.hpp"

#include <spargo/distributed/bfs.hpp>
#include <spargo/distributed/components.hpp>
#include <spargo/distributed/pagerank.hpp>

#include <cmath>

namespace spargo {

namespace detail::distributed {

namespace {

std::string level_of(std::int64_t level) { return level < 0 ? "unreached" : fmt::format("at level {}", level); }

}  // namespace

std::string first_of(const communicator& comm, std::string mine) {
  const std::vector<std::int64_t> sizes = comm.all_gather(std::ssize(mine));
  for (int r = 0; r < comm.rank(); ++r) {
    if (sizes[static_cast<std::size_t>(r)] > 0) mine.clear();
  }
  const std::vector<char> text = comm.all_gather(span<const char, host>(mine));
  return {text.begin(), text.end()};
}

std::string vertex_fault(std::int64_t v, std::int64_t n, std::int64_t source, std::int64_t level, std::int64_t parent) {
  if (suits_vertex(v, n, source, level, parent)) return {};
  if (level < -1 || level >= n || parent < -1 || parent >= n) {
    return fmt::format("vertex {} is at level {} with parent {} (expected -1 to {})", v, level, parent, n - 1);
  }
  if ((level < 0) != (parent < 0)) {
    return fmt::format("vertex {} is {}, and its parent is {}", v, level_of(level), parent);
  }
  return fmt::format("vertex {} is {} with parent {}, where the source is {}", v, level_of(level), parent, source);
}

std::string edge_fault(std::int64_t u, std::int64_t from, std::int64_t v, std::int64_t to) {
  return fmt::format("an edge leads from vertex {}, {}, to vertex {}, {}", u, level_of(from), v, level_of(to));
}

std::string parent_fault(std::int64_t v, std::int64_t level, std::int64_t parent, std::int64_t parent_level,
                         bool has_edge) {
  if (parent_level + 1 != level) {
    return fmt::format("vertex {} is at level {}, but its parent {} is {}", v, level, parent, level_of(parent_level));
  }
  return has_edge ? "" : fmt::format("vertex {} has the parent {}, but no edge leads from there", v, parent);
}

}  // namespace detail::distributed

namespace {

using detail::distributed::edge_fault;
using detail::distributed::first_of;
using detail::distributed::parent_fault;
using detail::distributed::suits_edge;
using detail::distributed::vertex_fault;
using detail::distributed::with_ghosts;

}  // namespace

template <index_type I>
std::string check_bfs(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                      std::int64_t source, span<const std::int32_t, host> levels,
                      std::type_identity_t<span<const I, host>> parents) {
  const auto out = g.out();
  const partition& parts = g.parts();
  const std::int64_t first = parts.first(comm.rank());
  std::string wrong;
  if (levels.size() != out.rows || parents.size() != out.rows) {
    wrong = fmt::format("there are {} levels and {} parents for {} vertices", levels.size(), parents.size(), out.rows);
  }
  for (std::int64_t v = 0; v < out.rows && wrong.empty(); ++v) {
    wrong = vertex_fault(first + v, g.vertices(), source, levels[v], parents[v]);
  }
  wrong = first_of(comm, std::move(wrong));
  if (!wrong.empty()) return wrong;

  with_ghosts<std::int32_t, I> seen(comm, ctx, out, g.parts());
  seen.exchange_values(levels);
  const bool both = g.direction() == direction_kind::undirected;
  for (std::int64_t u = 0; u < out.rows && wrong.empty(); ++u) {
    for (std::int64_t e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
      const std::int32_t to = seen.values[seen.place(e)];
      if (suits_edge(both, levels[u], to)) continue;
      wrong = edge_fault(first + u, levels[u], out.indices[e], to);
      break;
    }
  }
  wrong = first_of(comm, std::move(wrong));
  if (!wrong.empty()) return wrong;

  // Each tree edge is sent to its parent's owner: (parent, vertex, level).
  std::vector<std::vector<std::int64_t>> boxes(static_cast<std::size_t>(comm.size()));
  for (std::int64_t v = 0; v < out.rows; ++v) {
    if (levels[v] < 1) continue;
    auto& box = boxes[static_cast<std::size_t>(parts.owner(parents[v]))];
    box.insert(box.end(), {std::int64_t{parents[v]}, first + v, std::int64_t{levels[v]}});
  }
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> sent;
  for (const auto& box : boxes) {
    counts.push_back(std::ssize(box));
    sent.insert(sent.end(), box.begin(), box.end());
  }
  std::vector<std::int64_t> received;
  const auto tree_edges = comm.all_to_all<std::int64_t>(ctx, sent, counts, received);
  for (std::int64_t k = 0; k < tree_edges.size() && wrong.empty(); k += 3) {
    const std::int64_t p = tree_edges[k] - first;
    const I* const row = out.indices.data();
    const bool has_edge =
        std::binary_search(row + out.offsets[p], row + out.offsets[p + 1], static_cast<I>(tree_edges[k + 1]));
    wrong = parent_fault(tree_edges[k + 1], tree_edges[k + 2], tree_edges[k], levels[p], has_edge);
  }
  return first_of(comm, std::move(wrong));
}

template <index_type I>
std::string check_bfs(const communicator& comm, const context<device>& ctx, const distributed_graph<I, device>& g,
                      std::int64_t source, span<const std::int32_t, device> levels,
                      std::type_identity_t<span<const I, device>> parents) {
  if constexpr (detail::is_built<device>) {
    return detail::distributed::check_bfs_on_device<I>(comm, ctx, g, source, levels, parents);
  } else {
    detail::no_device("check_bfs");
  }
}

template <index_type I>
std::int64_t count_traversed(const communicator& comm, const context<device>& ctx,
                             const distributed_graph<I, device>& g, span<const std::int32_t, device> levels) {
  if constexpr (detail::is_built<device>) {
    const std::int64_t mine =
        comm.agree_on([&] { return detail::distributed::count_traversed_on_device(ctx, g.out().offsets, levels); });
    return comm.all_reduce(mine, reduction::sum);
  } else {
    detail::no_device("count_traversed");
  }
}

template <index_type I>
std::string check_pagerank(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                           const pagerank_result<double, host>& found, const pagerank_options& options) {
  if (g.vertices() == 0) return {};
  const auto out = g.out();
  const auto n = static_cast<double>(g.vertices());
  with_ghosts<double, I> shares(comm, ctx, out, g.parts());  // contributions of this rank's vertices to each vertex
  double dangling_rank = 0;
  double total = 0;
  for (std::int64_t u = 0; u < out.rows; ++u) {
    const std::int64_t degree = out.offsets[u + 1] - out.offsets[u];
    total += found.ranks[u];
    if (degree == 0) dangling_rank += found.ranks[u];
    for (std::int64_t e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
      shares.values[shares.place(e)] += found.ranks[u] / static_cast<double>(degree);
    }
  }
  struct contribution {
    std::int64_t to;
    double share;
  };
  std::vector<contribution> contributions;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()));
  for (std::size_t k = 0; k < shares.ghosts().size(); ++k) {
    contributions.push_back({shares.ghosts()[k], shares.values[static_cast<std::size_t>(out.rows) + k]});
    ++counts[static_cast<std::size_t>(g.parts().owner(contributions.back().to))];
  }
  std::vector<std::int64_t> received;
  for (const contribution& each : comm.all_to_all<contribution>(ctx, contributions, counts, received)) {
    shares.values[static_cast<std::size_t>(each.to - g.parts().first(comm.rank()))] += each.share;
  }
  dangling_rank = comm.all_reduce(dangling_rank, reduction::sum);
  total = comm.all_reduce(total, reduction::sum);
  const double dangling_share = options.dangling == pagerank_dangling::drop ? 0 : dangling_rank / n;
  double change = 0;
  for (std::int64_t v = 0; v < out.rows; ++v) {
    const double after =
        (1 - options.damping) / n + options.damping * (shares.values[static_cast<std::size_t>(v)] + dangling_share);
    change += std::abs(after - found.ranks[v]);
  }
  change = comm.all_reduce(change, reduction::sum);
  const double widest = options.norm == pagerank_norm::l1 ? 1.0 : n;
  const double allowed = 1e-14 + std::max(options.tolerance, found.residual) * widest;
  if (!(change <= allowed)) {
    return fmt::format("a step changes the ranks by {:.3g} (expected at most {:.3g})", change, allowed);
  }
  if (options.dangling != pagerank_dangling::drop && !(std::abs(total - 1) <= allowed / (1 - options.damping))) {
    return fmt::format("the ranks sum to {} (expected 1)", total);
  }
  return {};
}

template <index_type I>
std::string check_components(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                             std::type_identity_t<span<const I, host>> labels) {
  const auto out = g.out();
  const std::int64_t first = g.parts().first(comm.rank());
  std::string wrong;
  if (labels.size() != out.rows) wrong = fmt::format("there are {} labels for {} vertices", labels.size(), out.rows);
  for (std::int64_t v = 0; v < labels.size() && wrong.empty(); ++v) {
    if (labels[v] >= 0 && labels[v] <= first + v) continue;
    wrong = fmt::format("vertex {} has the label {} (expected the component's smallest vertex)", first + v,
                        std::int64_t{labels[v]});
  }
  wrong = first_of(comm, std::move(wrong));
  if (!wrong.empty()) return wrong;
  with_ghosts<I, I> seen(comm, ctx, out, g.parts());
  seen.exchange_values(labels);
  for (std::int64_t u = 0; u < out.rows && wrong.empty(); ++u) {
    for (std::int64_t e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
      if (seen.values[seen.place(e)] == labels[u]) continue;
      wrong =
          fmt::format("an edge joins vertex {} with label {} to vertex {} with label {}", first + u,
                      std::int64_t{labels[u]}, std::int64_t{out.indices[e]}, std::int64_t{seen.values[seen.place(e)]});
      break;
    }
  }
  wrong = first_of(comm, std::move(wrong));
  if (!wrong.empty()) return wrong;
  // Searches from all labels' own vertices: each rank as far as it gets alone, then an exchange, repeatedly.
  with_ghosts<std::int32_t, I> reached(comm, ctx, out, g.parts());
  std::vector<std::int32_t> mine(static_cast<std::size_t>(out.rows));
  std::vector<std::int64_t> next;
  for (std::int64_t v = 0; v < out.rows; ++v) {
    if (labels[v] == first + v) mine[static_cast<std::size_t>(v)] = 1;
  }
  for (std::int64_t found = 1; found > 0;) {
    reached.exchange_values(mine);
    found = 0;
    for (std::int64_t v = 0; v < out.rows; ++v) {  // starts at neighbours reached by others
      if (reached.values[static_cast<std::size_t>(v)] != 0) continue;
      for (std::int64_t e = out.offsets[v]; e < out.offsets[v + 1]; ++e) {
        if (reached.values[reached.place(e)] == 0) continue;
        next.push_back(v);
        break;
      }
      while (!next.empty()) {
        const std::int64_t u = next.back();
        next.pop_back();
        if (std::exchange(reached.values[static_cast<std::size_t>(u)], 1) != 0) continue;
        mine[static_cast<std::size_t>(u)] = 1;
        ++found;
        for (std::int64_t e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
          if (reached.place(e) < mine.size()) next.push_back(static_cast<std::int64_t>(reached.place(e)));
        }
      }
    }
    found = comm.all_reduce(found, reduction::sum);
  }
  for (std::int64_t v = 0; v < out.rows && wrong.empty(); ++v) {
    if (mine[static_cast<std::size_t>(v)] != 0) continue;
    wrong = fmt::format("no path leads from vertex {} to vertex {}, its label", first + v, std::int64_t{labels[v]});
  }
  return first_of(comm, std::move(wrong));
}

#define INSTANTIATE(I)                                                                                                \
  template std::string check_bfs<I>(const communicator&, const context<host>&, const distributed_graph<I>&,           \
                                    std::int64_t, span<const std::int32_t, host>, span<const I, host>);               \
  template std::string check_bfs<I>(const communicator&, const context<device>&, const distributed_graph<I, device>&, \
                                    std::int64_t, span<const std::int32_t, device>, span<const I, device>);           \
  template std::int64_t count_traversed<I>(const communicator&, const context<device>&,                               \
                                           const distributed_graph<I, device>&, span<const std::int32_t, device>);    \
  template std::string check_pagerank<I>(const communicator&, const context<host>&, const distributed_graph<I>&,      \
                                         const pagerank_result<double, host>&, const pagerank_options&);              \
  template std::string check_components<I>(const communicator&, const context<host>&, const distributed_graph<I>&,    \
                                           span<const I, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
