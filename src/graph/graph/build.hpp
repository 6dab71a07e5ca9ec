// Graph construction: the steps implemented per backend, and those shared with weighted graphs.
//
// Pairs become the entries of a matrix; of an undirected graph the upper triangle, which is mirrored once its entries
// are distinct. The device sorts them as keys where they fit (keys.hpp).
#pragma once

#include "formats/convert/backend.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/graph/weighted_graph.hpp>

namespace spargo::detail {

[[noreturn]] void throw_bad_pair(const char* operation, std::int64_t entry, std::int64_t from, std::int64_t to,
                                 std::int64_t vertices);
// Throws unsupported if that many entries exceed offsets of offset_bits bits.
void check_entries(const char* operation, std::int64_t entries, int offset_bits);

// Floating-point type in which weights of type W travel through conversions; a pattern has none.
template <class W>
using weight_carrier =
    std::conditional_t<real_type<W> || is_pattern<W>, W, std::conditional_t<sizeof(W) == 4, float, double>>;

// Which pairs are edges, and how they are oriented.
struct pair_rules {
  direction_kind direction;
  self_loops loops;
};

// The pairs in input order: without loops unless they are kept, smaller end first if undirected. The host throws
// invalid_data for the first pair that names no vertex; on the device they have been checked.
template <class W, class I, class Space>
[[nodiscard]] coo_matrix<weight_carrier<W>, I, Space> proper_pairs(const context<Space>& ctx,
                                                                   const coo_pattern_view<I, Space>& pairs,
                                                                   span<const W, Space> weights,
                                                                   const pair_rules& rules);

// The shape has been checked; throws invalid_data for the first pair that names no vertex.
template <index_type O, index_type I>
[[nodiscard]] graph<I, O, host> build_from_pairs(const context<host>& ctx, const coo_pattern_view<I, host>& pairs,
                                                 const graph_options& options);
template <index_type O, index_type I>
[[nodiscard]] graph<I, O, device> build_from_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs,
                                                   const graph_options& options);

template <class V, class I, class Space>
using wide_csr = csr_matrix<V, I, std::int64_t, Space>;

// The symmetric matrix whose upper triangle is `upper`.
template <class V, class I, class T, class Space>
[[nodiscard]] csr_matrix<V, I, T, Space> mirrored(const context<Space>& ctx, csr_matrix<V, I, T, Space> upper) {
  array<I, Space> rows(ctx, upper.nnz());
  convert::expand_rows<I, T>(ctx, std::as_const(upper).offsets().view(), rows.view());
  const coo_matrix<V, I, Space> entries(upper.rows(), upper.cols(), std::move(rows), std::move(upper.indices()),
                                        std::move(upper.values()));
  upper = {};
  if constexpr (std::same_as<Space, host>) {  // to_csr would put its name into error messages
    const coo_view<const V, I, host> view = entries.view();
    return convert::coo_to_csr<T>(ctx, view, convert::examine<I>(ctx, view), duplicates::keep,
                                  symmetry_kind::symmetric);
  }
  return to_csr<T, V, I, Space>(ctx, entries.view(),
                                {.on_duplicates = duplicates::keep, .symmetry = symmetry_kind::symmetric});
}

template <class O, class T, class Space>
[[nodiscard]] array<O, Space> narrowed(const context<Space>& ctx, array<T, Space> offsets) {
  if constexpr (std::same_as<O, T>) {
    return offsets;
  } else {
    array<O, Space> narrow_offsets(ctx, offsets.size());
    convert::narrow<O>(ctx, std::as_const(offsets).view(), narrow_offsets.view());
    return narrow_offsets;
  }
}

// Diagonal entries of a matrix, or of its rows from `first` on. The device version needs ascending rows and waits.
template <class I, class O>
[[nodiscard]] std::int64_t count_loops(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows,
                                       std::int64_t first = 0);
template <class I, class O>
[[nodiscard]] std::int64_t count_loops(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                       std::int64_t first = 0);

// Builds the structure of a graph from its arrays. Throws when O cannot hold the offsets.
template <class O, class I, class T, class Space>
[[nodiscard]] csr_matrix<pattern, I, O, Space> structure_of(const context<Space>& ctx, const char* operation,
                                                            array<T, Space> offsets, array<I, Space> indices) {
  check_entries(operation, indices.size(), 8 * static_cast<int>(sizeof(O)));
  const auto n = static_cast<I>(offsets.size() - 1);
  return {n, n, narrowed<O>(ctx, std::move(offsets)), std::move(indices), {}};
}

}  // namespace spargo::detail
