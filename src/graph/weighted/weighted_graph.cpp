// Building weighted graphs, for both backends; see common.hpp for the idea.
#include "graph/weighted/common.hpp"

#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/build.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace spargo {

template <>
enum_table<duplicate_weights> enum_rows() noexcept {
  static constexpr std::array<enum_row<duplicate_weights>, 4> rows{{
      {duplicate_weights::min, "min"},
      {duplicate_weights::max, "max"},
      {duplicate_weights::sum, "sum"},
      {duplicate_weights::first, "first"},
  }};
  return rows;
}

namespace detail {

void throw_weight_overflow(std::int64_t from, std::int64_t to, std::size_t bytes) {
  throw error(
      error_code::invalid_data,
      fmt::format("build_weighted_graph: the weights of edge ({}, {}) overflow {} bits in sum", from, to, 8 * bytes));
}

namespace {

template <class I, class Space>
void check_pairs(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs, std::int64_t weights) {
  SPARGO_EXPECTS(pairs.rows >= 0 && pairs.rows == pairs.cols,
                 fmt::format("build_weighted_graph: edges are {} x {} (expected a square)", pairs.rows, pairs.cols));
  SPARGO_EXPECTS(pairs.row_indices.size() == pairs.col_indices.size() && weights == pairs.nnz(),
                 fmt::format("build_weighted_graph: {} row indices, {} column indices and {} weights",
                             pairs.row_indices.size(), pairs.col_indices.size(), weights));
  if constexpr (std::same_as<Space, device>) {  // the host checks while it picks pairs
    if (const std::int64_t k = convert::examine(ctx, pairs).first_invalid; k >= 0) {
      throw_bad_pair("build_weighted_graph", k, element(ctx, pairs.row_indices, k), element(ctx, pairs.col_indices, k),
                     pairs.rows);
    }
  }
}

template <class W, class I, class O, class Space>
struct weighted_rows {
  csr_matrix<pattern, I, O, Space> structure;
  array<W, Space> weights;
};

inline void copy_bits(const context<host>& ctx, const void* from, void* to, std::size_t bytes) {
  copy_host_to_host(ctx, from, to, bytes);
}
inline void copy_bits(const context<device>& ctx, const void* from, void* to, std::size_t bytes) {
  copy_on_device(ctx, from, to, bytes);
}

template <class W, class O, class I, class Space>
weighted_rows<W, I, O, Space> rows_of(const context<Space>& ctx, wide_csr<weight_carrier<W>, I, Space> entries) {
  array<W, Space> weights;
  if constexpr (std::same_as<W, weight_carrier<W>>) {
    weights = std::move(entries.values());
  } else {
    weights = array<W, Space>(ctx, entries.nnz());
    copy_bits(ctx, entries.values().data(), weights.data(), static_cast<std::size_t>(entries.nnz()) * sizeof(W));
  }
  return {structure_of<O>(ctx, "build_weighted_graph", std::move(entries.offsets()), std::move(entries.indices())),
          std::move(weights)};
}

template <class O, class W, class I, class Space>
weighted_graph<W, I, O, Space> build_weighted(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                              span<const W, Space> weights, const weighted_graph_options& options) {
  using V = weight_carrier<W>;
  wide_csr<V, I, Space> entries;
  {
    const coo_matrix<V, I, Space> proper =
        proper_pairs<W, I, Space>(ctx, pairs, weights, {options.direction, options.loops});
    entries = to_csr<std::int64_t, V, I, Space>(ctx, proper.view(), {.on_duplicates = duplicates::keep});
  }
  entries = fold_duplicates<W, I, Space>(ctx, std::move(entries), options.duplicates);
  const std::int64_t edges = entries.nnz();
  weighted_rows<W, I, O, Space> in;
  if (options.direction == direction_kind::undirected) {
    entries = mirrored(ctx, std::move(entries));
  } else if (options.in_edges) {
    in = rows_of<W, O>(ctx, transpose<V, I, std::int64_t, Space>(ctx, entries.view()));
  }
  auto out = rows_of<W, O>(ctx, std::move(entries));
  const std::int64_t loops =
      options.loops == self_loops::keep ? count_loops<I, O>(ctx, std::as_const(out.structure).view()) : 0;
  ctx.synchronize();
  return {graph<I, O, Space>(std::move(out.structure), std::move(in.structure), options.direction, loops),
          std::move(out.weights), std::move(in.weights), edges};
}

}  // namespace

}  // namespace detail

template <index_type O, detail::scalar W, index_type I, class Space>
weighted_graph<W, I, O, Space> build_weighted_graph(const context<Space>& ctx, const coo_pattern_view<I, Space>& pairs,
                                                    span<const W, Space> weights,
                                                    const weighted_graph_options& options) try {
  if constexpr (detail::is_built<Space>) {
    detail::check_pairs(ctx, pairs, weights.size());
    return detail::build_weighted<O, W, I, Space>(ctx, pairs, weights, options);
  } else {
    detail::no_device("build_weighted_graph");
  }
} catch (...) {
  detail::rethrow("build_weighted_graph");
}

#define INSTANTIATE(W, I, O, S)                                         \
  template weighted_graph<W, I, O, S> build_weighted_graph<O, W, I, S>( \
      const context<S>&, const coo_pattern_view<I, S>&, span<const W, S>, const weighted_graph_options&);
SPARGO_FOR_EACH_WEIGHTED_GRAPH(INSTANTIATE)

}  // namespace spargo
