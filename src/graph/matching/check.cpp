// Whether mates are a maximal matching: one pass over the out-edges.
#include <spargo/graph/matching.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <vector>

namespace spargo {

template <index_type I, index_type O>
std::string check_matching(const context<host>&, const graph_view<I, O, host>& g,
                           std::type_identity_t<span<const I, host>> mates, std::int64_t size) try {
  const std::int64_t n = g.vertices();
  if (mates.size() != n) return fmt::format("{} mates for {} vertices", mates.size(), n);
  std::int64_t matched = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    const I mate = mates[v];
    if (mate == -1) continue;
    if (mate < 0 || mate >= n || mate == v || mates[mate] != v) {
      return fmt::format("vertex {} has mate {} (expected another vertex whose mate is {})", v, mate, v);
    }
    ++matched;
  }
  if (matched != 2 * size) return fmt::format("{} vertices have mates (expected {})", matched, 2 * size);
  std::vector<bool> joined(static_cast<std::size_t>(n));  // to its mate
  for (std::int64_t v = 0; v < n; ++v) {
    for (O e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e) {
      const I u = g.out.indices[e];
      if (u == v) continue;
      if (mates[v] == u) joined[static_cast<std::size_t>(v)] = joined[static_cast<std::size_t>(u)] = true;
      if (mates[v] == -1 && mates[u] == -1) {
        return fmt::format("vertices {} and {} are joined by an edge and both without a mate", v, u);
      }
    }
  }
  for (std::int64_t v = 0; v < n; ++v) {
    if (mates[v] != -1 && !joined[static_cast<std::size_t>(v)]) {
      return fmt::format("vertex {} has mate {}, but no edge joins them", v, mates[v]);
    }
  }
  return {};
} catch (...) {
  detail::rethrow("check_matching");
}

#define INSTANTIATE(I, O)                                                                        \
  template std::string check_matching<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                            std::type_identity_t<span<const I, host>>, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
