// Whether a matching of a bipartite graph is maximum: a cover of as many vertices proves it.
#include <spargo/graph/bipartite_matching.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <vector>

namespace spargo {

template <index_type I, index_type O>
std::string check_bipartite_matching(const context<host>&, const graph_view<I, O, host>& g,
                                     std::type_identity_t<span<const I, host>> mates,
                                     std::type_identity_t<span<const std::uint8_t, host>> cover,
                                     std::int64_t size) try {
  const std::int64_t n = g.vertices();
  if (mates.size() != n || cover.size() != n) {
    return fmt::format("{} mates and {} vertices that may be in the cover, for {} vertices", mates.size(), cover.size(),
                       n);
  }
  std::int64_t matched = 0;
  std::int64_t covering = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    covering += cover[v] == 1 ? 1 : 0;
    if (mates[v] == -1) continue;
    if (mates[v] < 0 || mates[v] >= n || mates[v] == v || mates[mates[v]] != v) {
      return fmt::format("vertex {} has mate {} (expected another vertex whose mate is {})", v, mates[v], v);
    }
    ++matched;
  }
  if (matched != 2 * size) return fmt::format("{} vertices have mates (expected {})", matched, 2 * size);
  if (covering != size) return fmt::format("{} vertices cover the edges (expected {})", covering, size);
  std::vector<bool> joined(static_cast<std::size_t>(n));  // to its mate
  for (std::int64_t v = 0; v < n; ++v) {
    for (O e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e) {
      const I u = g.out.indices[e];
      if (cover[v] != 1 && cover[u] != 1) return fmt::format("no end of the edge from {} to {} is in the cover", v, u);
      if (mates[v] == u) joined[static_cast<std::size_t>(v)] = joined[static_cast<std::size_t>(u)] = true;
    }
  }
  for (std::int64_t v = 0; v < n; ++v) {
    if (mates[v] != -1 && !joined[static_cast<std::size_t>(v)]) {
      return fmt::format("vertex {} has mate {}, but no edge joins them", v, mates[v]);
    }
  }
  return {};
} catch (...) {
  detail::rethrow("check_bipartite_matching");
}

#define INSTANTIATE(I, O)                                                                             \
  template std::string check_bipartite_matching<I, O>(                                                \
      const context<host>&, const graph_view<I, O, host>&, std::type_identity_t<span<const I, host>>, \
      std::type_identity_t<span<const std::uint8_t, host>>, std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
