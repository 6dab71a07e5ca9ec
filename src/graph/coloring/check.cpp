// Whether colours are a colouring: one pass over the edges and one over the vertices.
#include <spargo/graph/coloring.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <atomic>
#include <vector>

namespace spargo {

template <index_type I, index_type O>
std::string check_coloring(const context<host>& ctx, const graph_view<I, O, host>& g,
                           std::type_identity_t<span<const I, host>> colors, std::type_identity_t<I> count) try {
  const std::int64_t n = g.vertices();
  if (colors.size() != n) return fmt::format("{} colours for {} vertices", colors.size(), n);
  if (count < 0 || count > n) return fmt::format("{} colours are used by {} vertices", count, n);
  std::vector<bool> used(static_cast<std::size_t>(count));
  for (std::int64_t v = 0; v < n; ++v) {
    if (colors[v] < 0 || colors[v] >= count) {
      return fmt::format("vertex {} has colour {} (expected 0 to {})", v, colors[v], count - 1);
    }
    used[static_cast<std::size_t>(colors[v])] = true;
  }
  for (I c = 0; c < count; ++c) {
    if (!used[static_cast<std::size_t>(c)]) return fmt::format("no vertex has colour {} of {}", c, count);
  }
  // Each edge is an out-edge of one end at least. The first vertex with a conflict.
  const auto& out = g.out;
  const auto conflict = [&](std::int64_t v) {
    for (O e = out.offsets[v]; e < out.offsets[v + 1]; ++e) {
      const I u = out.indices[e];
      if (u != v && colors[u] == colors[v]) return u;
    }
    return I{-1};
  };
  std::atomic<std::int64_t> first{n};
  detail::parallel_for(ctx.threads(), n, detail::grain::rows, [&](std::int64_t v) {
    if (conflict(v) >= 0) detail::lower_to(first, v);
  });
  const std::int64_t v = first;
  if (v == n) return {};
  return fmt::format("vertices {} and {} are joined by an edge and both have colour {}", v, conflict(v), colors[v]);
} catch (...) {
  detail::rethrow("check_coloring");
}

#define INSTANTIATE(I, O)                                                                        \
  template std::string check_coloring<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                            std::type_identity_t<span<const I, host>>, std::type_identity_t<I>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
