// What the host and the device each contribute to building a graph, and the steps that weighted graphs share.
//
// Pairs become the entries of a matrix: of an undirected graph those above the diagonal, which are mirrored once they
// are distinct. The device sorts them as keys where they fit (keys.hpp).
#pragma once

#include "formats/convert/backend.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/graph/weighted_graph.hpp>

namespace spargo::detail {

[[noreturn]] void throw_bad_pair(const char* operation, std::int64_t entry, std::int64_t from, std::int64_t to,
                                 std::int64_t vertices);
// Throws unsupported when that many entries exceed offsets of so many bits.
void check_entries(const char* operation, std::int64_t entries, int offset_bits);

// What weights travel as; a pattern has none.
template <class W>
using weight_carrier =
    std::conditional_t<real_type<W> || is_pattern<W>, W, std::conditional_t<sizeof(W) == 4, float, double>>;

// Which pairs are edges, and which way they point.
struct pair_rules {
  direction_kind direction;
  self_loops loops;
};

// The pairs in their order: without loops unless they are kept, the smaller end first if the graph is undirected.
// Throws invalid_data for the first that names no vertex; the device's have been checked.
template <class W, class I, class Space>
[[nodiscard]] coo_matrix<weight_carrier<W>, I, Space> proper_pairs(const context<Space>& ctx,
                                                                   const coo_pattern_view<I, Space>& pairs,
                                                                   span<const W, Space> weights,
                                                                   const pair_rules& rules);

// The pairs' shape has been checked; throws invalid_data for the first that names no vertex.
template <index_type O, index_type I>
[[nodiscard]] graph<I, O, host> build_from_pairs(const context<host>& ctx, const coo_pattern_view<I, host>& pairs,
                                                 const graph_options& options);
template <index_type O, index_type I>
[[nodiscard]] graph<I, O, device> build_from_pairs(const context<device>& ctx, const coo_pattern_view<I, device>& pairs,
                                                   const graph_options& options);

template <class V, class I, class Space>
using wide_csr = csr_matrix<V, I, std::int64_t, Space>;

// The matrix of which `upper` is the upper triangle.
template <class V, class I, class T, class Space>
[[nodiscard]] csr_matrix<V, I, T, Space> mirrored(const context<Space>& ctx, csr_matrix<V, I, T, Space> upper) {
  array<I, Space> rows(ctx, upper.nnz());
  convert::expand_rows<I, T>(ctx, std::as_const(upper).offsets().view(), rows.view());
  const coo_matrix<V, I, Space> entries(upper.rows(), upper.cols(), std::move(rows), std::move(upper.indices()),
                                        std::move(upper.values()));
  upper = {};
  if constexpr (std::same_as<Space, host>) {  // without the name of to_csr in what may be thrown
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

// Entries on the diagonal of a matrix, or of its rows from `first` on. A device's rows ascend; it synchronises.
template <class I, class O>
[[nodiscard]] std::int64_t count_loops(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows,
                                       std::int64_t first = 0);
template <class I, class O>
[[nodiscard]] std::int64_t count_loops(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                       std::int64_t first = 0);

// A graph's part of what was put together. Throws when O does not hold the offsets.
template <class O, class I, class T, class Space>
[[nodiscard]] csr_matrix<pattern, I, O, Space> structure_of(const context<Space>& ctx, const char* operation,
                                                            array<T, Space> offsets, array<I, Space> indices) {
  check_entries(operation, indices.size(), 8 * static_cast<int>(sizeof(O)));
  const auto n = static_cast<I>(offsets.size() - 1);
  return {n, n, narrowed<O>(ctx, std::move(offsets)), std::move(indices), {}};
}

}  // namespace spargo::detail
