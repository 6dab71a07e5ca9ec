// Building graphs, the same on host and device (see common.hpp for the idea; the backends do the steps), and
// graphs between spaces: the parts are copied, an undirected graph's one part once.
#include "graph/graph/common.hpp"

#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <fmt/format.h>

#include <limits>

namespace spargo {

namespace detail {

void throw_bad_pair(std::int64_t entry, std::int64_t from, std::int64_t to, std::int64_t vertices) {
  throw error(error_code::invalid_data,
              fmt::format("build_graph: edge {} is ({}, {}) in a graph of {} vertices", entry, from, to, vertices));
}

template <class I, class O, class Space>
[[nodiscard]] bool stores_in_edges(const graph_view<I, O, Space>& g) {
  return g.direction == direction_kind::directed && g.has_in_edges();
}

namespace {

template <class I, class Space>
void check_pair_shape(const coo_pattern_view<I, Space>& pairs) {
  SPARGO_EXPECTS(pairs.rows >= 0 && pairs.rows == pairs.cols,
                 fmt::format("build_graph: edges are {} x {} (expected a square)", pairs.rows, pairs.cols));
  SPARGO_EXPECTS(pairs.row_indices.size() == pairs.col_indices.size(),
                 fmt::format("build_graph: {} row indices and {} column indices", pairs.row_indices.size(),
                             pairs.col_indices.size()));
}

template <class O>
void check_offsets(std::int64_t entries) {
  if (entries > std::numeric_limits<O>::max()) {
    throw error(error_code::unsupported, fmt::format("build_graph: {} entries exceed {}-bit offsets (at most {})",
                                                     entries, 8 * sizeof(O), std::numeric_limits<O>::max()));
  }
}

// The same keys by their lower end. `keys` ascend, so the sort, being stable, leaves the upper ends ascending.
template <class Space>
array<std::uint64_t, Space> turned_keys(const context<Space>& ctx, const array<std::uint64_t, Space>& keys,
                                        const key_format& format) {
  array<std::uint64_t, Space> turned(ctx, keys.size());
  copy<std::uint64_t>(ctx, keys.view(), turned.view());
  sort_keys(ctx, turned, 0, format.bits);
  return turned;
}

template <class O, class I, class Space>
graph<I, O, Space> build_packed(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                const graph_options& options) {
  const bool undirected = options.direction == direction_kind::undirected;
  const key_format format = format_for(pairs.rows);
  auto [keys, ascending] = pack_pairs(ctx, pairs, format, options.direction);
  if (!ascending) sort_keys(ctx, keys, 0, 2 * format.bits);
  keys = distinct_edges(ctx, std::move(keys), format);
  check_offsets<O>(undirected ? 2 * keys.size() : keys.size());
  if (undirected) {
    const auto turned = turned_keys(ctx, keys, format);
    return {join_rows<I, O>(ctx, pairs.rows, keys, turned, format), {}, options.direction};
  }
  const array<std::uint64_t, Space> none;
  auto out = join_rows<I, O>(ctx, pairs.rows, keys, none, format);
  if (!options.in_edges) return {std::move(out), {}, options.direction};
  sort_keys(ctx, keys, 0, format.bits);
  return {std::move(out), join_rows<I, O>(ctx, pairs.rows, none, keys, format), options.direction};
}

}  // namespace

}  // namespace detail

template <index_type O, index_type I, class Space>
graph<I, O, Space> build_graph(const context<Space>& ctx, const coo_pattern_view<I, Space>& edges,
                               const graph_options& options) try {
  detail::check_pair_shape(edges);
  if constexpr (detail::is_built<Space>) {
    return detail::fits_keys(edges.rows) ? detail::build_packed<O>(ctx, edges, options)
                                         : detail::build_wide<O>(ctx, edges, options);
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
  if (!detail::stores_in_edges(g)) return {std::move(out), {}, g.direction};
  return {std::move(out), to_device(ctx, detail::with_pattern(g.in)), g.direction};
} catch (...) {
  detail::rethrow("to_device");
}

template <index_type I, index_type O>
graph<I, O, host> to_host(const context<device>& ctx, const graph_view<I, O, device>& g) try {
  auto out = to_host(ctx, detail::with_pattern(g.out));
  if (!detail::stores_in_edges(g)) return {std::move(out), {}, g.direction};
  return {std::move(out), to_host(ctx, detail::with_pattern(g.in)), g.direction};
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
