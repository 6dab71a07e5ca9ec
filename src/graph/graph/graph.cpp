// Building graphs, for both backends (build.hpp), and copying them between host and device.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/build.hpp"

#include <fmt/format.h>

#include <limits>

namespace spargo {

namespace detail {

void throw_bad_pair(const char* operation, std::int64_t entry, std::int64_t from, std::int64_t to,
                    std::int64_t vertices) {
  throw error(error_code::invalid_data,
              fmt::format("{}: edge {} is ({}, {}) in a graph of {} vertices", operation, entry, from, to, vertices));
}

void check_entries(const char* operation, std::int64_t entries, int offset_bits) {
  const std::int64_t most = (std::int64_t{1} << (offset_bits - 2)) - 1 + (std::int64_t{1} << (offset_bits - 2));
  if (entries > most) {
    throw error(error_code::unsupported, fmt::format("{}: {} entries exceed {}-bit offsets (at most {})", operation,
                                                     entries, offset_bits, most));
  }
}

namespace {

template <class I, class O, class Space>
[[nodiscard]] bool stores_in_edges(const graph_view<I, O, Space>& g) {
  return g.direction == direction_kind::directed && g.has_in_edges();
}

template <class I, class O, class Space>
[[nodiscard]] csr_view<const pattern, I, O, Space> with_pattern(const csr_pattern_view<I, O, Space>& edges) {
  return {edges, {}};
}

template <class I, class Space>
void check_pair_shape(const coo_pattern_view<I, Space>& pairs) {
  SPARGO_EXPECTS(pairs.rows >= 0 && pairs.rows == pairs.cols,
                 fmt::format("build_graph: edges are {} x {} (expected a square)", pairs.rows, pairs.cols));
  SPARGO_EXPECTS(pairs.row_indices.size() == pairs.col_indices.size(),
                 fmt::format("build_graph: {} row indices and {} column indices", pairs.row_indices.size(),
                             pairs.col_indices.size()));
  if (std::int64_t{pairs.rows} == std::numeric_limits<std::int64_t>::max()) {  // rows + 1 must not overflow
    throw error(error_code::out_of_memory, "build_graph: no memory for the offsets of 2^63-1 vertices");
  }
}

}  // namespace

}  // namespace detail

template <index_type O, index_type I, class Space>
graph<I, O, Space> build_graph(const context<Space>& ctx, const coo_pattern_view<I, Space>& edges,
                               const graph_options& options) try {
  detail::check_pair_shape(edges);
  if constexpr (detail::is_built<Space>) {
    return detail::build_from_pairs<O>(ctx, edges, options);
  } else {
    detail::no_device("build_graph");
  }
} catch (...) {
  detail::rethrow("build_graph");
}

template <index_type I, index_type O, class Space>
void add_in_edges(const context<Space>& ctx, graph<I, O, Space>& g) try {
  if (g.direction_ == direction_kind::undirected || !g.in_.offsets().empty()) return;
  g.in_ = transpose(ctx, std::as_const(g.out_).view());
} catch (...) {
  detail::rethrow("add_in_edges");
}

template <index_type I, index_type O>
graph<I, O, device> to_device(const context<device>& ctx, const graph_view<I, O, host>& g) try {
  auto out = to_device(ctx, detail::with_pattern(g.out));
  if (!detail::stores_in_edges(g)) return {std::move(out), {}, g.direction, g.loops};
  return {std::move(out), to_device(ctx, detail::with_pattern(g.in)), g.direction, g.loops};
} catch (...) {
  detail::rethrow("to_device");
}

template <index_type I, index_type O>
graph<I, O, host> to_host(const context<device>& ctx, const graph_view<I, O, device>& g) try {
  auto out = to_host(ctx, detail::with_pattern(g.out));
  if (!detail::stores_in_edges(g)) return {std::move(out), {}, g.direction, g.loops};
  return {std::move(out), to_host(ctx, detail::with_pattern(g.in)), g.direction, g.loops};
} catch (...) {
  detail::rethrow("to_host");
}

#define INSTANTIATE(I, O)                                                                                 \
  template graph<I, O, host> build_graph<O>(const context<host>&, const coo_pattern_view<I, host>&,       \
                                            const graph_options&);                                        \
  template graph<I, O, device> build_graph<O>(const context<device>&, const coo_pattern_view<I, device>&, \
                                              const graph_options&);                                      \
  template void add_in_edges<I, O, host>(const context<host>&, graph<I, O, host>&);                       \
  template void add_in_edges<I, O, device>(const context<device>&, graph<I, O, device>&);                 \
  template graph<I, O, device> to_device<I, O>(const context<device>&, const graph_view<I, O, host>&);    \
  template graph<I, O, host> to_host<I, O>(const context<device>&, const graph_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
