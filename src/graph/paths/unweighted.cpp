// Paths with the fewest edges between two vertices, breadth-first from both ends in networkx's order; and levels of all
// vertices from many in batches.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/plan.hpp"
#include "graph/structure/checks.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/graph/multi_bfs.hpp>
#include <spargo/graph/paths.hpp>

#include <algorithm>
#include <numeric>

namespace spargo {

namespace detail::paths {

namespace {

// One end of the search: parents of what it has found, and its last level.
template <class I, class O>
class wave {
 public:
  wave(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows, I root)
      : rows_(rows), parents_(ctx, rows.rows), frontier_{root} {
    std::fill(parents_.begin(), parents_.end(), I{-1});
    parents_[root] = root;
  }

  [[nodiscard]] bool has_found(I v) const { return parents_[v] >= 0; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(frontier_.size()); }

  // Searches one level; the first vertex, found now or before, for which `is_met`, or -1.
  template <class Met>
  I advance(const Met& is_met) {
    interruption::look();
    std::vector<I> next;
    for (const I u : frontier_) {
      for (O e = rows_.offsets[u]; e < rows_.offsets[std::int64_t{u} + 1]; ++e) {
        const I v = rows_.indices[e];
        if (!has_found(v)) {
          parents_[v] = u;
          next.push_back(v);
        }
        if (is_met(v)) return v;
      }
    }
    frontier_ = std::move(next);
    return -1;
  }

  void trace(I v, std::vector<I>& to) const {
    for (to.push_back(v); parents_[v] != v; to.push_back(v)) v = parents_[v];
  }

 private:
  const csr_pattern_view<I, O, host>& rows_;
  array<I, host> parents_;
  std::vector<I> frontier_;
};

template <class I, class O>
std::vector<I> search(const char* operation, const context<host>& ctx, const graph_view<I, O, host>& g, I source,
                      I target) {
  expect_graph(operation, g);
  structure::expect_vertex(operation, source, g.vertices());
  structure::expect_vertex(operation, target, g.vertices());
  if (source == target) return {source};
  const bool both = g.direction == direction_kind::undirected || g.has_in_edges();
  wave<I, O> forward(ctx, g.out, source);
  wave<I, O> backward(ctx, g.direction == direction_kind::undirected || !both ? g.out : g.in, target);
  I meeting = -1;
  while (meeting < 0) {
    if (forward.size() == 0 || backward.size() == 0) return {};
    if (!both || forward.size() <= backward.size()) {
      meeting = forward.advance([&](I v) { return backward.has_found(v); });
    } else {
      meeting = backward.advance([&](I v) { return forward.has_found(v); });
    }
  }
  std::vector<I> path;
  forward.trace(meeting, path);
  std::reverse(path.begin(), path.end());
  path.pop_back();
  backward.trace(meeting, path);
  return path;
}

}  // namespace

}  // namespace detail::paths

template <index_type I, index_type O>
std::vector<I> shortest_path(const context<host>& ctx, const graph_view<I, O, host>& g, std::type_identity_t<I> source,
                             std::type_identity_t<I> target) try {
  return detail::paths::search("shortest_path", ctx, g, source, target);
} catch (...) {
  detail::rethrow("shortest_path");
}

template <index_type I, index_type O>
bool has_path(const context<host>& ctx, const graph_view<I, O, host>& g, std::type_identity_t<I> source,
              std::type_identity_t<I> target) try {
  return !detail::paths::search("has_path", ctx, g, source, target).empty();
} catch (...) {
  detail::rethrow("has_path");
}

template <index_type I, index_type O>
void all_distances(const context<host>& ctx, const graph_view<I, O, host>& g,
                   std::type_identity_t<span<const I, host>> sources, std::int64_t batch_bytes,
                   const distance_rows_visitor<std::int32_t>& visit) try {
  const std::int64_t n = g.vertices();
  std::vector<I> all(static_cast<std::size_t>(sources.empty() ? n : 0));
  std::iota(all.begin(), all.end(), I{0});
  const span<const I, host> from = sources.empty() ? span<const I, host>(all) : sources;
  if (from.empty()) return;
  constexpr std::int64_t copies = 2;  // by vertex, as the search has them, and by source
  const std::int64_t row_bytes = copies * n * std::int64_t{sizeof(std::int32_t)};
  const std::int64_t batch =
      std::clamp<std::int64_t>(batch_bytes / std::max<std::int64_t>(row_bytes, 1), 1, from.size());
  multi_bfs_plan<I, O, host> plan(ctx, g, batch);
  array<std::int32_t, host> rows(ctx, batch * n);
  for (std::int64_t first = 0; first < from.size(); first += batch) {
    const std::int64_t count = std::min(batch, from.size() - first);
    plan.run(from.subspan(first, count));
    const auto levels = plan.levels();
    for (std::int64_t v = 0; v < n; ++v) {
      for (std::int64_t k = 0; k < count; ++k) rows[k * n + v] = levels[v * count + k];
    }
    visit(first, rows.view().subspan(0, count * n));
  }
} catch (...) {
  detail::rethrow("all_distances");
}

#define INSTANTIATE(I, O)                                                                                    \
  template std::vector<I> shortest_path<I, O>(const context<host>&, const graph_view<I, O, host>&,           \
                                              std::type_identity_t<I>, std::type_identity_t<I>);             \
  template bool has_path<I, O>(const context<host>&, const graph_view<I, O, host>&, std::type_identity_t<I>, \
                               std::type_identity_t<I>);                                                     \
  template void all_distances<I, O>(const context<host>&, const graph_view<I, O, host>&,                     \
                                    std::type_identity_t<span<const I, host>>, std::int64_t,                 \
                                    const distance_rows_visitor<std::int32_t>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
