// Neighbour sampling: checks of the arguments.
#include "graph/neighbor_samples/backend.hpp"
#include "graph/plan.hpp"

#include <fmt/format.h>

namespace spargo {

void detail::neighbor_samples::refuse_vertex(std::int64_t k, std::int64_t vertex, std::int64_t vertices) {
  throw_invalid_argument(
      vertices == 0
          ? fmt::format("sample_neighbors: seed {} is {} in a graph without vertices", k, vertex)
          : fmt::format("sample_neighbors: seed {} is {} (expected a vertex, 0 to {})", k, vertex, vertices - 1));
}
void detail::neighbor_samples::refuse_duplicate(std::int64_t k, std::int64_t vertex) {
  throw_invalid_argument(fmt::format("sample_neighbors: seed {} is {} again (expected distinct seeds)", k, vertex));
}

template <index_type I, index_type O, class Space>
neighbor_sample<I, O, Space> sample_neighbors(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                              std::type_identity_t<span<const I, Space>> seeds,
                                              const neighbor_sample_options& options) try {
  detail::expect_graph("sample_neighbors", g);
  for (const std::int64_t fan_out : options.fan_outs) {
    SPARGO_EXPECTS(fan_out >= -1, fmt::format("sample_neighbors: fan-out {} (expected 0 or more, or -1 for all "
                                              "neighbours)",
                                              fan_out));
  }
  if constexpr (detail::is_built<Space>) {
    return detail::neighbor_samples::sample<I, O>(ctx, g.out, seeds, options);
  } else {
    detail::no_device("sample_neighbors");
  }
} catch (...) {
  detail::rethrow("sample_neighbors");
}

#define INSTANTIATE(I, O, S)                                                                        \
  template neighbor_sample<I, O, S> sample_neighbors(const context<S>&, const graph_view<I, O, S>&, \
                                                     std::type_identity_t<span<const I, S>>,        \
                                                     const neighbor_sample_options&);
SPARGO_FOR_EACH_GRAPH(INSTANTIATE)

}  // namespace spargo
