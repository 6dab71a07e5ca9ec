// Predicates of trees, shares of degrees, and graphs made from a graph.
#include <spargo/graph/derived.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/plan.hpp"
#include "graph/structure/checks.hpp"
#include "graph/weighted/transposed.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace spargo {

namespace detail::structure {

namespace {

template <class I, class O>
bool is_undirected(const graph_view<I, O, host>& g) {
  return g.direction == direction_kind::undirected;
}

template <class I, class O, class Visit>
void for_each_loop(const csr_pattern_view<I, O, host>& rows, const Visit& visit) {
  for (I u = 0; u < rows.rows; ++u) {
    for (O e = rows.offsets[u]; e < rows.offsets[std::int64_t{u} + 1]; ++e) {
      if (rows.indices[e] == u) visit(u);
    }
  }
}

// Both directions, and a loop twice.
template <class I, class O>
array<O, host> total_degrees(const context<host>& ctx, const graph_view<I, O, host>& g) {
  array<O, host> total = degrees(ctx, g);
  if (is_undirected(g)) {  // which stores a loop once
    for_each_loop(g.out, [&](I v) { ++total[v]; });
    return total;
  }
  const array<O, host> in = degrees(ctx, g, edge_side::in);
  for (std::int64_t v = 0; v < total.size(); ++v) total[v] += in[v];
  return total;
}

template <class I, class O>
csr_matrix<pattern, I, O, host> copy_of(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows) {
  return {rows.rows, rows.cols, clone(ctx, rows.offsets), clone(ctx, rows.indices), {}};
}

}  // namespace

}  // namespace detail::structure

template <index_type I, index_type O>
tree_properties classify_tree(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  detail::expect_graph("classify_tree", g);
  SPARGO_EXPECTS(g.vertices() > 0, "classify_tree: the graph has no vertices (expected one or more)");
  const bool undirected = detail::structure::is_undirected(g);
  std::int64_t edges = g.out.nnz();
  if (undirected) {
    detail::structure::for_each_loop(g.out, [&](I) { ++edges; });
    edges /= 2;
  }
  const std::int64_t parts = components(ctx, g).count;
  tree_properties found;
  found.forest = g.vertices() - parts == edges;
  found.tree = found.forest && parts == 1;
  if (undirected || !found.forest) return found;
  const array<O, host> in = degrees(ctx, g, edge_side::in);
  found.branching = std::all_of(in.begin(), in.end(), [](O degree) { return degree <= 1; });
  found.arborescence = found.branching && found.tree;
  return found;
} catch (...) {
  detail::rethrow("classify_tree");
}

template <index_type I, index_type O>
array<I, host> isolated_vertices(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  detail::expect_graph("isolated_vertices", g);
  const array<O, host> total = detail::structure::total_degrees(ctx, g);
  array<I, host> found(ctx, std::count(total.begin(), total.end(), O{0}));
  std::int64_t next = 0;
  for (std::int64_t v = 0; v < total.size(); ++v) {
    if (total[v] == 0) found[next++] = static_cast<I>(v);
  }
  return found;
} catch (...) {
  detail::rethrow("isolated_vertices");
}

template <index_type I, index_type O>
array<double, host> degree_centrality(const context<host>& ctx, const graph_view<I, O, host>& g, degree_kind kind) try {
  detail::expect_graph("degree_centrality", g);
  const array<O, host> counts = kind == degree_kind::total
                                    ? detail::structure::total_degrees(ctx, g)
                                    : degrees(ctx, g, kind == degree_kind::in ? edge_side::in : edge_side::out);
  array<double, host> shares(ctx, counts.size());
  const double share = 1.0 / (static_cast<double>(counts.size()) - 1.0);
  for (std::int64_t v = 0; v < counts.size(); ++v) {
    shares[v] = counts.size() == 1 ? 1 : static_cast<double>(counts[v]) * share;
  }
  return shares;
} catch (...) {
  detail::rethrow("degree_centrality");
}

template <index_type I, index_type O>
double reciprocity(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  detail::expect_graph("reciprocity", g);
  SPARGO_EXPECTS(!detail::structure::is_undirected(g),
                 "reciprocity: the graph is undirected (expected a directed one)");
  const auto row = [&](I u) {
    return std::pair(g.out.indices.data() + g.out.offsets[u],
                     g.out.indices.data() + g.out.offsets[std::int64_t{u} + 1]);
  };
  const std::int64_t returned = detail::parallel_reduce(
      ctx.threads(), g.vertices(), detail::grain::rows, std::int64_t{0},
      [&](std::int64_t first, std::int64_t last) {
        std::int64_t count = 0;
        for (I u = static_cast<I>(first); u < last; ++u) {
          const auto [begin, end] = row(u);
          for (const I* v = begin; v != end; ++v) {
            SPARGO_EXPECTS(v == begin || v[-1] < *v,
                           "reciprocity: neighbours that do not ascend (expected a canonical graph)");
            const auto [there, past] = row(*v);
            count += *v != u && std::binary_search(there, past, u) ? 1 : 0;
          }
        }
        return count;
      },
      [](std::int64_t a, std::int64_t b) { return a + b; });
  if (g.out.nnz() == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(returned) / static_cast<double>(g.out.nnz());
} catch (...) {
  detail::rethrow("reciprocity");
}

template <index_type I, index_type O>
graph<I, O, host> reverse(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  detail::expect_graph("reverse", g);
  auto out = detail::structure::copy_of(ctx, g.out);
  if (detail::structure::is_undirected(g)) return {std::move(out), {}, g.direction, g.loops};
  const detail::with_in_edges<I, O, host> both(ctx, g);
  return {detail::structure::copy_of(ctx, both.view().in), std::move(out), g.direction, g.loops};
} catch (...) {
  detail::rethrow("reverse");
}

template <detail::scalar W, index_type I, index_type O>
weighted_graph<W, I, O, host> reverse(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g) try {
  detail::expect_graph("reverse", g);
  auto out = detail::structure::copy_of(ctx, g.out);
  auto weights = clone(ctx, g.out_weights);
  if (detail::structure::is_undirected<I, O>(g)) {
    graph<I, O, host> same(std::move(out), {}, g.direction, g.loops);
    const std::int64_t edges = same.edges() + same.loops();
    return {std::move(same), std::move(weights), {}, edges};
  }
  const std::int64_t edges = g.out.nnz();
  auto turned = detail::weighted::transpose<W, I, O>(ctx, g.out, g.out_weights);
  return {graph<I, O, host>(std::move(turned.edges), std::move(out), g.direction, g.loops), std::move(turned.weights),
          std::move(weights), edges};
} catch (...) {
  detail::rethrow("reverse");
}

template <index_type I, index_type O>
graph<I, O, host> complement(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  detail::expect_graph("complement", g);
  const I n = g.vertices();
  std::vector<I> seen(static_cast<std::size_t>(n), -1);  // [vertex] the last row in which it occurred
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(n) + 1, 0);
  const auto mark = [&](I u) {
    I distinct = 0;
    seen[static_cast<std::size_t>(u)] = u;
    for (O e = g.out.offsets[u]; e < g.out.offsets[std::int64_t{u} + 1]; ++e) {
      I& last = seen[static_cast<std::size_t>(g.out.indices[e])];
      distinct += last != u ? 1 : 0;
      last = u;
    }
    return n - 1 - distinct;
  };
  for (I u = 0; u < n; ++u) sizes[static_cast<std::size_t>(u) + 1] = sizes[static_cast<std::size_t>(u)] + mark(u);
  if (sizes.back() > std::numeric_limits<O>::max()) {
    throw error(error_code::unsupported, "complement: more edges than the type of offsets holds");
  }
  array<O, host> offsets(ctx, std::int64_t{n} + 1);
  std::transform(sizes.begin(), sizes.end(), offsets.begin(), [](std::int64_t size) { return static_cast<O>(size); });
  array<I, host> indices(ctx, sizes.back());
  std::fill(seen.begin(), seen.end(), I{-1});
  std::int64_t to = 0;
  for (I u = 0; u < n; ++u) {
    mark(u);
    for (I v = 0; v < n; ++v) {
      if (seen[static_cast<std::size_t>(v)] != u) indices[to++] = v;
    }
  }
  return {{n, n, std::move(offsets), std::move(indices), {}}, {}, g.direction};
} catch (...) {
  detail::rethrow("complement");
}

template <index_type I, index_type O>
graph<I, O, host> ego_graph(const context<host>& ctx, const graph_view<I, O, host>& g, std::type_identity_t<I> source,
                            std::int64_t radius) {
  return induced_subgraph(ctx, g, k_hop_neighborhood(ctx, g, source, radius));
}

template <index_type I, index_type O>
graph<I, O, host> bfs_tree(const context<host>& ctx, const graph_view<I, O, host>& g,
                           std::type_identity_t<I> source) try {
  const auto found = bfs_order(ctx, g, source);
  const I n = g.vertices();
  array<O, host> offsets(ctx, std::int64_t{n} + 1);
  std::fill(offsets.begin(), offsets.end(), O{0});
  for (const I parent : found.predecessors) {
    if (parent >= 0) ++offsets[std::int64_t{parent} + 1];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<O> next(offsets.begin(), offsets.end() - 1);
  array<I, host> indices(ctx, offsets[n]);
  for (I v = 0; v < n; ++v) {
    const I parent = found.predecessors[v];
    if (parent >= 0) indices[next[static_cast<std::size_t>(parent)]++] = v;
  }
  return {{n, n, std::move(offsets), std::move(indices), {}}, {}, direction_kind::directed};
} catch (...) {
  detail::rethrow("bfs_tree");
}

#define INSTANTIATE_W(W, I, O)                                                  \
  template weighted_graph<W, I, O, host> reverse<W, I, O>(const context<host>&, \
                                                          const weighted_graph_view<W, I, O, host>&);
#define INSTANTIATE(I, O)                                                                                   \
  template tree_properties classify_tree<I, O>(const context<host>&, const graph_view<I, O, host>&);        \
  template array<I, host> isolated_vertices<I, O>(const context<host>&, const graph_view<I, O, host>&);     \
  template array<double, host> degree_centrality<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                                       degree_kind);                                        \
  template double reciprocity<I, O>(const context<host>&, const graph_view<I, O, host>&);                   \
  template graph<I, O, host> reverse<I, O>(const context<host>&, const graph_view<I, O, host>&);            \
  template graph<I, O, host> complement<I, O>(const context<host>&, const graph_view<I, O, host>&);         \
  template graph<I, O, host> ego_graph<I, O>(const context<host>&, const graph_view<I, O, host>&,           \
                                             std::type_identity_t<I>, std::int64_t);                        \
  template graph<I, O, host> bfs_tree<I, O>(const context<host>&, const graph_view<I, O, host>&,            \
                                            std::type_identity_t<I>);                                       \
  SPARGO_FOR_EACH_WEIGHT(INSTANTIATE_W, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
