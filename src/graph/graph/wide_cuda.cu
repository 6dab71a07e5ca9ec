// Building graphs on the device without keys: flag the valid pairs, scan, scatter; then convert to CSR. Keeps the input
// order. Scratch: 8 bytes per pair besides the copy of the pairs.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/graph/keys.hpp"
#include "primitives/element.hpp"

#include <spargo/primitives/scan.hpp>

namespace spargo {

namespace {

// places[k]: destination of pair k; places[pairs]: number of pairs kept. Also checks every end; synchronizes.
template <class I>
std::int64_t place_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs, self_loops loops,
                         array<std::int64_t, device>& places) {
  const I n = pairs.rows;
  const I* rows = pairs.row_indices.data();
  const I* cols = pairs.col_indices.data();
  const std::int64_t size = pairs.nnz();
  std::int64_t* place = places.data();
  array<unsigned long long, device> first_bad(ctx, 1);
  detail::fill_bytes(ctx, first_bad.data(), 0xff, sizeof(unsigned long long));
  unsigned long long* bad = first_bad.data();
  detail::for_each(ctx, size + 1, [=] __device__(std::int64_t k) {
    if (k == size) {
      place[k] = 0;
      return;
    }
    const I u = rows[k];
    const I v = cols[k];
    if (u < 0 || u >= n || v < 0 || v >= n) atomicMin(bad, static_cast<unsigned long long>(k));
    place[k] = u != v || loops == self_loops::keep ? 1 : 0;
  });
  exclusive_scan(ctx, std::as_const(places).view(), places.view());
  unsigned long long bad_pair = 0;
  std::int64_t proper = 0;
  copy<unsigned long long>(ctx, first_bad.view(), span<unsigned long long, host>(&bad_pair, 1));
  copy<std::int64_t>(ctx, places.view().subspan(size, 1), span<std::int64_t, host>(&proper, 1));
  ctx.synchronize();
  if (bad_pair < static_cast<unsigned long long>(size)) {
    const auto k = static_cast<std::int64_t>(bad_pair);
    detail::throw_bad_pair("build_graph", k, detail::element(ctx, pairs.row_indices, k),
                           detail::element(ctx, pairs.col_indices, k), n);
  }
  return proper;
}

// The pairs kept, followed by their mirror images if the graph is undirected (a loop twice). Asynchronous.
template <class I>
coo_matrix<pattern, I, device> copy_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs,
                                          const array<std::int64_t, device>& places, std::int64_t proper,
                                          const graph_options& options) {
  const bool mirrored = options.direction == direction_kind::undirected;
  const bool drops = options.loops == self_loops::drop;
  coo_matrix<pattern, I, device> to(ctx, pairs.rows, pairs.cols, mirrored ? 2 * proper : proper);
  const I* rows = pairs.row_indices.data();
  const I* cols = pairs.col_indices.data();
  const std::int64_t* place = places.data();
  I* from = to.row_indices().data();
  I* into = to.col_indices().data();
  detail::for_each(ctx, pairs.nnz(), [=] __device__(std::int64_t k) {
    const I u = rows[k];
    const I v = cols[k];
    if (drops && u == v) return;
    const std::int64_t at = place[k];
    from[at] = u;
    into[at] = v;
    if (mirrored) {
      from[at + proper] = v;
      into[at + proper] = u;
    }
  });
  return to;
}

}  // namespace

namespace detail {

namespace {

// `pairs` are filtered, and mirrored if the graph is undirected.
template <class O, class I>
[[nodiscard]] graph<I, O, device> graph_of_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs,
                                                 const graph_options& options) {
  auto out = to_csr<O>(ctx, coo_view<const pattern, I, device>{pairs, {}});
  const std::int64_t loops = options.loops == self_loops::keep ? count_loops<I, O>(ctx, std::as_const(out).view()) : 0;
  graph<I, O, device> g(std::move(out), {}, options.direction, loops);
  if (options.in_edges) add_in_edges(ctx, g);
  return g;
}

}  // namespace

template <index_type O, index_type I>
graph<I, O, device> build_wide(const context<device>& ctx, const coo_pattern_view<I, device>& edges,
                               const graph_options& options) {
  const device_guard guard(ctx);
  array<std::int64_t, device> places(ctx, edges.nnz() + 1);
  const std::int64_t proper = place_pairs(ctx, edges, options.loops, places);
  if (options.direction == direction_kind::directed && proper == edges.nnz()) {
    return graph_of_pairs<O>(ctx, edges, options);
  }
  const auto pairs = copy_pairs(ctx, edges, places, proper, options);
  places = {};
  return graph_of_pairs<O, I>(ctx, pairs.view(), options);
}

#define INSTANTIATE(I, O)                                                                                   \
  template graph<I, O, device> build_wide<O, I>(const context<device>&, const coo_pattern_view<I, device>&, \
                                                const graph_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace detail

}  // namespace spargo
