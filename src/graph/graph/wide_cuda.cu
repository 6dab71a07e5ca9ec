// Building graphs on the device without keys: select the pairs to keep, then convert to CSR. Keeps the input order.
// Scratch: 9 bytes per pair besides the copy of the pairs.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/graph/keys.hpp"
#include "primitives/element.hpp"
#include "primitives/select/select.hpp"

namespace spargo {

namespace {

// Positions of the pairs to keep. Also checks every end; synchronizes.
template <class I>
array<std::int64_t, device> kept_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs,
                                       self_loops loops) {
  const I n = pairs.rows;
  const I* rows = pairs.row_indices.data();
  const I* cols = pairs.col_indices.data();
  const std::int64_t size = pairs.nnz();
  array<std::uint8_t, device> flags(ctx, size);
  std::uint8_t* const flag = flags.data();
  array<unsigned long long, device> first_bad(ctx, 1);
  detail::fill_bytes(ctx, first_bad.data(), 0xff, sizeof(unsigned long long));
  unsigned long long* bad = first_bad.data();
  detail::for_each(ctx, size, [=] __device__(std::int64_t k) {
    const I u = rows[k];
    const I v = cols[k];
    if (u < 0 || u >= n || v < 0 || v >= n) atomicMin(bad, static_cast<unsigned long long>(k));
    flag[k] = u != v || loops == self_loops::keep ? 1 : 0;
  });
  const auto bad_pair = detail::element<unsigned long long>(ctx, first_bad.view(), 0);
  if (bad_pair < static_cast<unsigned long long>(size)) {
    const auto k = static_cast<std::int64_t>(bad_pair);
    detail::throw_bad_pair("build_graph", k, detail::element(ctx, pairs.row_indices, k),
                           detail::element(ctx, pairs.col_indices, k), n);
  }
  return detail::positions_of(ctx, flags.view());
}

// The pairs kept, followed by their mirror images if the graph is undirected (a loop twice). Asynchronous.
template <class I>
coo_matrix<pattern, I, device> copy_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs,
                                          const array<std::int64_t, device>& kept, direction_kind direction) {
  const bool mirrored = direction == direction_kind::undirected;
  const std::int64_t proper = kept.size();
  coo_matrix<pattern, I, device> to(ctx, pairs.rows, pairs.cols, mirrored ? 2 * proper : proper);
  const I* rows = pairs.row_indices.data();
  const I* cols = pairs.col_indices.data();
  const std::int64_t* const place = kept.data();
  I* from = to.row_indices().data();
  I* into = to.col_indices().data();
  detail::for_each(ctx, proper, [=] __device__(std::int64_t k) {
    const I u = rows[place[k]];
    const I v = cols[place[k]];
    from[k] = u;
    into[k] = v;
    if (mirrored) {
      from[k + proper] = v;
      into[k + proper] = u;
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
  auto kept = kept_pairs(ctx, edges, options.loops);
  if (options.direction == direction_kind::directed && kept.size() == edges.nnz()) {
    return graph_of_pairs<O>(ctx, edges, options);
  }
  const auto pairs = copy_pairs(ctx, edges, kept, options.direction);
  kept = {};
  return graph_of_pairs<O, I>(ctx, pairs.view(), options);
}

#define INSTANTIATE(I, O)                                                                                   \
  template graph<I, O, device> build_wide<O, I>(const context<device>&, const coo_pattern_view<I, device>&, \
                                                const graph_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace detail

}  // namespace spargo
