// Induced subgraphs and relabelling: rows are copied one by one with renumbered neighbours.
//
// Rows are counted, filled, and sorted (stably) if the new numbers do not ascend. Two passes over the edges of the
// selected vertices; memory besides the result: one number per vertex of the old graph, and one row per thread.
#include <spargo/graph/structure.hpp>

#include "core/counted.hpp"
#include "core/function_ref.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace spargo {

namespace detail::structure {

namespace {

// [old vertex] its new number; -1: not selected.
template <class I>
array<I, host> new_numbers(const context<host>& ctx, const char* operation, I old_vertices,
                           const span<const I, host>& vertices) {
  array<I, host> numbers(ctx, old_vertices);
  std::fill(numbers.begin(), numbers.end(), I{-1});
  for (std::int64_t k = 0; k < vertices.size(); ++k) {
    const I v = vertices[k];
    SPARGO_EXPECTS(v >= 0 && v < old_vertices,
                   fmt::format("{}: vertex {} is out of range (the graph has {}; position {})", operation, v,
                               counted(old_vertices, "vertex", "vertices"), k));
    SPARGO_EXPECTS(numbers[v] < 0,
                   fmt::format("{}: vertex {} occurs twice, at positions {} and {}", operation, v, numbers[v], k));
    numbers[v] = static_cast<I>(k);
  }
  return numbers;
}

// An entry of a copied row: its new number, and its position in the old graph.
template <class I, class O>
struct chosen_entry {
  I neighbour;
  O place;
};

// Called for each row with its entries and the position of the first one in the new graph.
template <class I, class O>
using visit_row = function_ref<void(const std::vector<chosen_entry<I, O>>& row, std::int64_t first)>;

template <class I, class O>
class row_chooser {
 public:
  row_chooser(const context<host>& ctx, const char* operation, I old_vertices, const span<const I, host>& vertices)
      : ctx_(ctx), vertices_(vertices), numbers_(new_numbers(ctx, operation, old_vertices, vertices)) {}

  [[nodiscard]] csr_matrix<pattern, I, O, host> choose(const csr_pattern_view<I, O, host>& rows) const {
    return fill(rows, count(rows), [](const auto&, std::int64_t) {});
  }

  // Copies `weights` of the old graph (may be empty) to `chosen`.
  template <class W>
  [[nodiscard]] csr_matrix<pattern, I, O, host> choose(const csr_pattern_view<I, O, host>& rows,
                                                       const span<const W, host>& weights,
                                                       array<W, host>& chosen) const {
    array<O, host> offsets = count(rows);
    chosen = {ctx_, weights.empty() ? 0 : offsets[vertices_.size()]};
    return fill(rows, std::move(offsets), [&](const std::vector<entry>& row, std::int64_t to) {
      if (weights.empty()) return;
      for (const entry& e : row) chosen[to++] = weights[e.place];
    });
  }

 private:
  using entry = chosen_entry<I, O>;

  [[nodiscard]] array<O, host> count(const csr_pattern_view<I, O, host>& rows) const {
    const std::int64_t n = vertices_.size();
    array<O, host> offsets(ctx_, n + 1);
    offsets[0] = 0;
    parallel_for(ctx_.threads(), n, grain::rows, [&](std::int64_t k) {
      O count = 0;
      for (O e = rows.offsets[vertices_[k]]; e < rows.offsets[vertices_[k] + std::int64_t{1}]; ++e) {
        count += numbers_[rows.indices[e]] >= 0 ? 1 : 0;
      }
      offsets[k + 1] = count;
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    return offsets;
  }

  [[nodiscard]] csr_matrix<pattern, I, O, host> fill(const csr_pattern_view<I, O, host>& rows, array<O, host> offsets,
                                                     visit_row<I, O> visit) const {
    const std::int64_t n = vertices_.size();
    array<I, host> indices(ctx_, offsets[n]);
    parallel_ranges(ctx_.threads(), n, grain::rows, [&](std::int64_t first, std::int64_t last) {
      std::vector<entry> row;
      for (std::int64_t k = first; k < last; ++k) {
        read_row(rows, vertices_[k], row);
        visit(row, offsets[k]);
        std::int64_t to = offsets[k];
        for (const entry& e : row) indices[to++] = e.neighbour;
      }
    });
    const I count = static_cast<I>(n);
    return {count, count, std::move(offsets), std::move(indices), {}};
  }

  void read_row(const csr_pattern_view<I, O, host>& rows, std::int64_t v, std::vector<entry>& row) const {
    row.clear();
    for (O e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
      const I number = numbers_[rows.indices[e]];
      if (number >= 0) row.push_back({number, e});
    }
    const auto before = [](const entry& x, const entry& y) {
      return x.neighbour != y.neighbour ? x.neighbour < y.neighbour : x.place < y.place;
    };
    if (!std::is_sorted(row.begin(), row.end(), before)) std::sort(row.begin(), row.end(), before);
  }

  context<host> ctx_;
  span<const I, host> vertices_;
  array<I, host> numbers_;
};

template <class I, class O>
bool stores_in_edges(const graph_view<I, O, host>& g) {
  return g.direction == direction_kind::directed && g.has_in_edges();
}

template <class I, class O>
graph<I, O, host> choose_vertices(const context<host>& ctx, const char* operation, const graph_view<I, O, host>& g,
                                  const span<const I, host>& vertices) {
  const row_chooser<I, O> chooser(ctx, operation, g.vertices(), vertices);
  csr_matrix<pattern, I, O, host> in;
  if (stores_in_edges(g)) in = chooser.choose(g.in);
  auto out = chooser.choose(g.out);
  const std::int64_t loops = count_loops<I, O>(ctx, std::as_const(out).view());
  return {std::move(out), std::move(in), g.direction, loops};
}

// Distinct edges: an undirected edge is stored twice, a loop once.
template <class I, class O>
std::int64_t count_edges(const context<host>& ctx, const csr_pattern_view<I, O, host>& out, direction_kind direction) {
  if (direction == direction_kind::directed) return out.nnz();
  return (out.nnz() + count_loops<I, O>(ctx, out)) / 2;
}

template <class W, class I, class O>
weighted_graph<W, I, O, host> choose_vertices(const context<host>& ctx, const char* operation,
                                              const weighted_graph_view<W, I, O, host>& g,
                                              const span<const I, host>& vertices) {
  const row_chooser<I, O> chooser(ctx, operation, g.vertices(), vertices);
  csr_matrix<pattern, I, O, host> in;
  array<W, host> in_weights;
  if (stores_in_edges<I, O>(g)) in = chooser.choose(g.in, g.in_weights, in_weights);
  array<W, host> weights;
  csr_matrix<pattern, I, O, host> out = chooser.choose(g.out, g.out_weights, weights);
  const std::int64_t edges = count_edges<I, O>(ctx, out.view(), g.direction);
  return {{std::move(out), std::move(in), g.direction}, std::move(weights), std::move(in_weights), edges};
}

template <class I, class O>
void expect_all(const graph_view<I, O, host>& g, const span<const I, host>& order) {
  SPARGO_EXPECTS(order.size() == g.vertices(),
                 fmt::format("relabel: an order of {} for {} vertices", order.size(), g.vertices()));
}

}  // namespace

}  // namespace detail::structure

template <index_type I, index_type O>
graph<I, O, host> induced_subgraph(const context<host>& ctx, const graph_view<I, O, host>& g,
                                   std::type_identity_t<span<const I, host>> vertices) try {
  return detail::structure::choose_vertices(ctx, "induced_subgraph", g, vertices);
} catch (...) {
  detail::rethrow("induced_subgraph");
}

template <detail::scalar W, index_type I, index_type O>
weighted_graph<W, I, O, host> induced_subgraph(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                               std::type_identity_t<span<const I, host>> vertices) try {
  return detail::structure::choose_vertices(ctx, "induced_subgraph", g, vertices);
} catch (...) {
  detail::rethrow("induced_subgraph");
}

template <index_type I, index_type O>
graph<I, O, host> relabel(const context<host>& ctx, const graph_view<I, O, host>& g,
                          std::type_identity_t<span<const I, host>> order) try {
  detail::structure::expect_all(g, order);
  return detail::structure::choose_vertices(ctx, "relabel", g, order);
} catch (...) {
  detail::rethrow("relabel");
}

template <detail::scalar W, index_type I, index_type O>
weighted_graph<W, I, O, host> relabel(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                      std::type_identity_t<span<const I, host>> order) try {
  detail::structure::expect_all<I, O>(g, order);
  return detail::structure::choose_vertices(ctx, "relabel", g, order);
} catch (...) {
  detail::rethrow("relabel");
}

#define INSTANTIATE_W(W, I, O)                                                                                     \
  template weighted_graph<W, I, O, host> induced_subgraph<W, I, O>(                                                \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, std::type_identity_t<span<const I, host>>); \
  template weighted_graph<W, I, O, host> relabel<W, I, O>(                                                         \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, std::type_identity_t<span<const I, host>>);
#define INSTANTIATE(I, O)                                                                                \
  template graph<I, O, host> induced_subgraph<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                                    std::type_identity_t<span<const I, host>>);          \
  template graph<I, O, host> relabel<I, O>(const context<host>&, const graph_view<I, O, host>&,          \
                                           std::type_identity_t<span<const I, host>>);                   \
  SPARGO_FOR_EACH_WEIGHT(INSTANTIATE_W, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
