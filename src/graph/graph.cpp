// What all builders share, and graphs between spaces: the parts are copied, an undirected graph's one part once.
#include "graph/graph_common.hpp"

#include "core/instantiate.hpp"

#include <fmt/format.h>

namespace spargo {

namespace detail {

void check_pair_shape(std::int64_t rows, std::int64_t cols, std::int64_t froms, std::int64_t tos) {
  SPARGO_EXPECTS(rows >= 0 && rows == cols,
                 fmt::format("build_graph: edges are {} x {} (expected a square)", rows, cols));
  SPARGO_EXPECTS(froms == tos, fmt::format("build_graph: {} row indices and {} column indices", froms, tos));
}

void throw_bad_pair(std::int64_t entry, std::int64_t from, std::int64_t to, std::int64_t vertices) {
  throw error(error_code::invalid_data,
              fmt::format("build_graph: edge {} is ({}, {}) in a graph of {} vertices", entry, from, to, vertices));
}

template <class I, class O, class Space>
[[nodiscard]] bool stores_in_edges(const graph_view<I, O, Space>& g) {
  return g.direction == direction_kind::directed && g.has_in_edges();
}

}  // namespace detail

template <index_type I, index_type O, class Space>
void add_in_edges(const context<Space>& ctx, graph<I, O, Space>& g) {
  if (g.direction_ == direction_kind::undirected || !g.in_.offsets().empty()) return;
  g.in_ = transpose(ctx, std::as_const(g.out_).view());
}

template <index_type I, index_type O>
graph<I, O, device> to_device(const context<device>& ctx, const graph_view<I, O, host>& g) {
  auto out = to_device(ctx, detail::with_pattern(g.out));
  if (!detail::stores_in_edges(g)) return {std::move(out), {}, g.direction};
  return {std::move(out), to_device(ctx, detail::with_pattern(g.in)), g.direction};
}

template <index_type I, index_type O>
graph<I, O, host> to_host(const context<device>& ctx, const graph_view<I, O, device>& g) {
  auto out = to_host(ctx, detail::with_pattern(g.out));
  if (!detail::stores_in_edges(g)) return {std::move(out), {}, g.direction};
  return {std::move(out), to_host(ctx, detail::with_pattern(g.in)), g.direction};
}

#define INSTANTIATE(I, O)                                                                              \
  template void add_in_edges<I, O, host>(const context<host>&, graph<I, O, host>&);                    \
  template void add_in_edges<I, O, device>(const context<device>&, graph<I, O, device>&);              \
  template graph<I, O, device> to_device<I, O>(const context<device>&, const graph_view<I, O, host>&); \
  template graph<I, O, host> to_host<I, O>(const context<device>&, const graph_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
