// Whether a set is independent and maximal: one pass over the out-edges.
#include <spargo/graph/independent_set.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <vector>

namespace spargo {

template <index_type I, index_type O>
std::string check_independent_set(const context<host>&, const graph_view<I, O, host>& g,
                                  std::type_identity_t<span<const std::uint8_t, host>> members, std::int64_t size) try {
  const std::int64_t n = g.vertices();
  if (members.size() != n) return fmt::format("{} states for {} vertices", members.size(), n);
  std::vector<bool> covered(static_cast<std::size_t>(n));  // a member, or next to one
  std::int64_t count = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    if (members[v] > 1) return fmt::format("vertex {} has state {} (expected 0 or 1)", v, int{members[v]});
    count += members[v];
    if (members[v] == 1) covered[static_cast<std::size_t>(v)] = true;
    for (O e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e) {
      const I u = g.out.indices[e];
      if (u == v) continue;
      if (members[v] == 1 && members[u] == 1) {
        return fmt::format("vertices {} and {} are joined by an edge and both in the set", v, u);
      }
      if (members[v] == 1) covered[static_cast<std::size_t>(u)] = true;
      if (members[u] == 1) covered[static_cast<std::size_t>(v)] = true;
    }
  }
  if (count != size) return fmt::format("the set has {} vertices (expected {})", count, size);
  for (std::int64_t v = 0; v < n; ++v) {
    if (!covered[static_cast<std::size_t>(v)]) {
      return fmt::format("vertex {} is not in the set and has no neighbour that is", v);
    }
  }
  return {};
} catch (...) {
  detail::rethrow("check_independent_set");
}

#define INSTANTIATE(I, O)                                                                                \
  template std::string check_independent_set<I, O>(const context<host>&, const graph_view<I, O, host>&,  \
                                                   std::type_identity_t<span<const std::uint8_t, host>>, \
                                                   std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
