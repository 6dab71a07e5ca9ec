// Conversions: checks, sizes and allocation for host and device; the backends fill the arrays.
#include <spargo/formats/convert.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "formats/convert/backend.hpp"

#include <spargo/primitives/reduce.hpp>
#include <spargo/primitives/scan.hpp>

#include <fmt/format.h>

#include <array>
#include <limits>

namespace spargo {

template <>
enum_table<symmetry_kind> enum_rows() noexcept {
  static constexpr std::array<enum_row<symmetry_kind>, 4> rows{{
      {symmetry_kind::general, "general"},
      {symmetry_kind::symmetric, "symmetric"},
      {symmetry_kind::skew_symmetric, "skew-symmetric"},
      {symmetry_kind::hermitian, "hermitian"},
  }};
  return rows;
}

namespace {

// Padded formats of at most this many entries are never refused.
constexpr std::int64_t always_padded = 1 << 16;

void check_size(const char* operation, std::int64_t rows, std::int64_t cols) {
  SPARGO_EXPECTS(rows >= 0 && cols >= 0, fmt::format("{}: negative size {} x {}", operation, rows, cols));
}

void check_coo(const char* operation, std::int64_t rows, std::int64_t cols, std::int64_t row_indices,
               std::int64_t col_indices, std::int64_t values) {
  check_size(operation, rows, cols);
  SPARGO_EXPECTS(
      col_indices == row_indices && values == row_indices,
      fmt::format("{}: {} row indices, {} column indices and {} values", operation, row_indices, col_indices, values));
}

void check_csr(const char* operation, std::int64_t rows, std::int64_t cols, std::int64_t offsets, std::int64_t indices,
               std::int64_t values) {
  check_size(operation, rows, cols);
  SPARGO_EXPECTS(offsets == rows + 1,
                 fmt::format("{}: {} offsets for {} rows (expected {})", operation, offsets, rows, rows + 1));
  SPARGO_EXPECTS(values == indices, fmt::format("{}: {} column indices and {} values", operation, indices, values));
}

template <class V, class I, class Space>
void check_entries(const char* operation, const coo_view<V, I, Space>& m) {
  check_coo(operation, m.rows, m.cols, m.nnz(), m.col_indices.size(), is_pattern<V> ? m.nnz() : m.values.size());
}

void check_square(const char* operation, std::int64_t rows, std::int64_t cols) {
  SPARGO_EXPECTS(rows == cols, fmt::format("{}: a {} x {} matrix (expected a square one)", operation, rows, cols));
}

template <class V, class I, class O, class Space>
void check_entries(const char* operation, const csr_view<V, I, O, Space>& m) {
  check_csr(operation, m.rows, m.cols, m.offsets.size(), m.nnz(), is_pattern<V> ? m.nnz() : m.values.size());
}

template <class I, class Space>
detail::convert::coo_facts examine(const char* operation, const context<Space>& ctx,
                                   const coo_pattern_view<I, Space>& m) {
  const detail::convert::coo_facts order = detail::convert::examine(ctx, m);
  if (const std::int64_t k = order.first_invalid; k >= 0) {
    throw error(error_code::invalid_data, fmt::format("{}: entry {}: ({}, {}) is outside the {} x {} matrix", operation,
                                                      k, detail::element(ctx, m.row_indices, k),
                                                      detail::element(ctx, m.col_indices, k), m.rows, m.cols));
  }
  return order;
}

template <class O>
void check_offsets(const char* operation, std::int64_t nnz) {
  if (nnz > std::numeric_limits<O>::max()) {
    throw error(error_code::unsupported, fmt::format("{}: {} entries exceed {}-bit offsets (at most {})", operation,
                                                     nnz, 8 * sizeof(O), std::numeric_limits<O>::max()));
  }
}

template <class I>
void check_width(const char* operation, std::int64_t width) {
  if (width > std::numeric_limits<I>::max()) {
    throw error(error_code::unsupported,
                fmt::format("{}: a row of {} entries exceeds {}-bit indices", operation, width, 8 * sizeof(I)));
  }
}

void check_padding(const char* operation, std::int64_t stored, std::int64_t nnz, double ratio) {
  SPARGO_EXPECTS(ratio >= 1.0, fmt::format("{}: max_padding_ratio is {} (expected 1 or more)", operation, ratio));
  if (stored <= always_padded) return;
  if (static_cast<double>(stored) > ratio * static_cast<double>(nnz)) {
    throw error(
        error_code::unsupported,
        fmt::format(
            "{}: padding gives {} slots for {} entries (expected at most {:g} times as many; CSR has no padding)",
            operation, stored, nnz, ratio));
  }
}

// rows * width; throws if it overflows.
std::int64_t checked_product(const char* operation, std::int64_t rows, std::int64_t width) {
  if (width != 0 && rows > std::numeric_limits<std::int64_t>::max() / width) {
    throw error(error_code::unsupported, fmt::format("{}: {} rows of {} entries exceed 2^63", operation, rows, width));
  }
  return rows * width;
}

template <class V>
std::int64_t value_count(std::int64_t nnz) {
  return is_pattern<V> ? 0 : nnz;
}

// Turns rows + 1 row lengths, the last one 0, into offsets; their end must equal nnz.
template <class O, class Space>
void lengths_to_offsets(const char* operation, const context<Space>& ctx, array<O, Space>& offsets, std::int64_t nnz) {
  exclusive_scan<O, Space>(ctx, offsets.view(), offsets.view());
  const O total = detail::element<O>(ctx, offsets.view(), offsets.size() - 1);
  SPARGO_EXPECTS(total == nnz, fmt::format("{}: the rows have {} entries (expected {})", operation, total, nnz));
}

template <class O, class Space>
std::int64_t longest_row(const context<Space>& ctx, const span<const O, Space>& offsets) {
  const std::int64_t rows = offsets.size() - 1;
  return max_abs_difference<O, Space>(ctx, offsets.subspan(1, rows), offsets.subspan(0, rows));
}

// ELL or SELL as CSR: places the rows' lengths, then gather(offsets, indices, values).
template <class V, class I, class O, class Matrix, class Space, class Gather>
csr_matrix<V, I, O, Space> without_padding(const context<Space>& ctx, const Matrix& matrix,
                                           const span<const I, Space>& permutation, const Gather& gather) {
  if constexpr (detail::is_built<Space>) {
    array<O, Space> offsets(ctx, std::int64_t{matrix.rows} + 1);
    detail::convert::place_lengths<I, O>(ctx, permutation, matrix.row_lengths, offsets.view());
    lengths_to_offsets("to_csr", ctx, offsets, matrix.nnz);
    array<I, Space> indices(ctx, matrix.nnz);
    array<V, Space> values(ctx, value_count<V>(matrix.nnz));
    gather(offsets.view(), indices.view(), values.view());
    ctx.synchronize();
    return {matrix.rows, matrix.cols, std::move(offsets), std::move(indices), std::move(values)};
  } else {
    detail::no_device("to_csr");
  }
}

}  // namespace

template <entry_type V, index_type I, class Space>
void sort(const context<Space>& ctx, coo_matrix<V, I, Space>& matrix) try {
  if constexpr (detail::is_built<Space>) {
    check_entries("sort", matrix.view());
    const auto order = examine<I>("sort", ctx, matrix.view());
    if (!order.sorted) detail::convert::sort_entries(ctx, matrix, order);
  } else {
    detail::no_device("sort");
  }
} catch (...) {
  detail::rethrow("sort");
}

template <entry_type V, index_type I, class Space>
std::int64_t sum_duplicates(const context<Space>& ctx, coo_matrix<V, I, Space>& matrix) try {
  if constexpr (detail::is_built<Space>) {
    const std::int64_t before = matrix.nnz();
    check_entries("sum_duplicates", matrix.view());
    const auto order = examine<I>("sum_duplicates", ctx, matrix.view());
    if (!order.sorted || !order.distinct) detail::convert::sum_entries(ctx, matrix, order);
    return before - matrix.nnz();
  } else {
    detail::no_device("sum_duplicates");
  }
} catch (...) {
  detail::rethrow("sum_duplicates");
}

template <entry_type V, index_type I, class Space>
coo_matrix<V, I, Space> expand_symmetry(const context<Space>& ctx, const coo_view<const V, I, Space>& matrix,
                                        symmetry_kind kind) try {
  check_entries("expand_symmetry", matrix);
  if (kind == symmetry_kind::general) {
    return {matrix.rows, matrix.cols, clone(ctx, matrix.row_indices), clone(ctx, matrix.col_indices),
            clone(ctx, matrix.values)};
  }
  check_square("expand_symmetry", matrix.rows, matrix.cols);
  if constexpr (detail::is_built<Space>) {
    return detail::convert::expand(ctx, matrix, kind);
  } else {
    detail::no_device("expand_symmetry");
  }
} catch (...) {
  detail::rethrow("expand_symmetry");
}

// The host mirrors a triangle on the fly; other entries are expanded first, so that sums keep their order.
template <index_type O, entry_type V, index_type I, class Space>
csr_matrix<V, I, O, Space> to_csr(const context<Space>& ctx, const coo_view<const V, I, Space>& matrix,
                                  const to_csr_options& options) try {
  check_entries("to_csr", matrix);
  check_offsets<O>("to_csr", matrix.nnz());
  if (std::int64_t{matrix.rows} == std::numeric_limits<std::int64_t>::max()) {  // rows + 1 must not overflow
    throw error(error_code::out_of_memory, "to_csr: no memory for the offsets of 2^63-1 rows");
  }
  if (options.symmetry != symmetry_kind::general) check_square("to_csr", matrix.rows, matrix.cols);
  if constexpr (detail::is_built<Space>) {
    const auto order = examine<I>("to_csr", ctx, matrix);
    if constexpr (std::same_as<Space, host>) {
      const bool on_the_way = order.all_below || order.all_above;
      if (options.symmetry == symmetry_kind::general || on_the_way) {
        if (options.symmetry != symmetry_kind::general) check_offsets<O>("to_csr", 2 * matrix.nnz() - order.diagonal);
        return detail::convert::coo_to_csr<O>(ctx, matrix, order, options.on_duplicates, options.symmetry);
      }
    } else if (options.symmetry == symmetry_kind::general) {
      return detail::convert::coo_to_csr<O>(ctx, matrix, order, options.on_duplicates);
    }
    const auto full = detail::convert::expand(ctx, matrix, options.symmetry);
    return to_csr<O, V, I, Space>(ctx, full.view(), {.on_duplicates = options.on_duplicates});
  } else {
    detail::no_device("to_csr");
  }
} catch (...) {
  detail::rethrow("to_csr");
}

template <entry_type V, index_type I, index_type O, class Space>
coo_matrix<V, I, Space> to_coo(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix) try {
  check_entries("to_coo", matrix);
  if constexpr (detail::is_built<Space>) {
    array<I, Space> row_indices(ctx, matrix.nnz());
    detail::convert::expand_rows<I, O>(ctx, matrix.offsets, row_indices.view());
    return {matrix.rows, matrix.cols, std::move(row_indices), clone(ctx, matrix.indices), clone(ctx, matrix.values)};
  } else {
    detail::no_device("to_coo");
  }
} catch (...) {
  detail::rethrow("to_coo");
}

template <entry_type V, index_type I, index_type O, class Space>
ell_matrix<V, I, Space> to_ell(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                               const ell_options& options) try {
  check_entries("to_ell", matrix);
  if constexpr (detail::is_built<Space>) {
    const std::int64_t width = longest_row(ctx, matrix.offsets);
    check_width<I>("to_ell", width);
    const std::int64_t stored = checked_product("to_ell", matrix.rows, width);
    check_padding("to_ell", stored, matrix.nnz(), options.max_padding_ratio);
    array<I, Space> lengths(ctx, matrix.rows);
    array<I, Space> indices(ctx, stored);
    array<V, Space> values(ctx, value_count<V>(stored));
    detail::convert::fill_ell<V, I, O>(ctx, matrix, static_cast<I>(width), lengths.view(), indices.view(),
                                       values.view());
    ctx.synchronize();
    return {matrix.rows,        matrix.cols,        static_cast<I>(width), matrix.nnz(),
            std::move(lengths), std::move(indices), std::move(values)};
  } else {
    detail::no_device("to_ell");
  }
} catch (...) {
  detail::rethrow("to_ell");
}

template <entry_type V, index_type I, index_type O, class Space>
sell_matrix<V, I, O, Space> to_sell(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                    const sell_options& options) try {
  check_entries("to_sell", matrix);
  SPARGO_EXPECTS(options.slice_height >= 1 && options.slice_height <= 1024,
                 fmt::format("to_sell: slice_height is {} (expected 1 to 1024)", options.slice_height));
  SPARGO_EXPECTS(options.sorting_window >= 1,
                 fmt::format("to_sell: sorting_window is {} (expected 1 or more)", options.sorting_window));
  if constexpr (detail::is_built<Space>) {
    const std::int64_t height = options.slice_height;
    const std::int64_t window =
        options.sorting_window == 1 ? 1 : div_up<std::int64_t>(options.sorting_window, height) * height;
    const std::int64_t slices = div_up<std::int64_t>(matrix.rows, height);
    const std::int64_t longest = longest_row(ctx, matrix.offsets);
    check_width<I>("to_sell", longest);
    checked_product("to_sell", slices * height, longest);  // so that no sum below overflows

    array<I, Space> permutation(ctx, slices * height);
    array<I, Space> lengths(ctx, slices * height);
    detail::convert::order_rows<I, O>(ctx, matrix.offsets, window, longest, permutation.view(), lengths.view());
    array<std::int64_t, Space> ends(ctx, slices + 1);
    detail::convert::slice_sizes<I>(ctx, lengths.view(), static_cast<I>(height), ends.view());
    exclusive_scan<std::int64_t, Space>(ctx, ends.view(), ends.view());
    const auto stored = detail::element<std::int64_t>(ctx, ends.view(), slices);
    check_padding("to_sell", stored, matrix.nnz(), options.max_padding_ratio);
    check_offsets<O>("to_sell", stored);

    array<O, Space> slice_offsets(ctx, slices + 1);
    detail::convert::narrow<O>(ctx, ends.view(), slice_offsets.view());
    array<I, Space> indices(ctx, stored);
    array<V, Space> values(ctx, value_count<V>(stored));
    const sell_view<const V, I, O, Space> shape{matrix.rows,
                                                matrix.cols,
                                                static_cast<I>(height),
                                                matrix.nnz(),
                                                slice_offsets.view(),
                                                permutation.view(),
                                                lengths.view(),
                                                {},
                                                {}};
    detail::convert::fill_sell<V, I, O>(ctx, matrix, shape, indices.view(), values.view());
    ctx.synchronize();
    return {matrix.rows,
            matrix.cols,
            static_cast<I>(height),
            matrix.nnz(),
            std::move(slice_offsets),
            std::move(permutation),
            std::move(lengths),
            std::move(indices),
            std::move(values)};
  } else {
    detail::no_device("to_sell");
  }
} catch (...) {
  detail::rethrow("to_sell");
}

template <index_type O, entry_type V, index_type I, class Space>
csr_matrix<V, I, O, Space> to_csr(const context<Space>& ctx, const ell_view<const V, I, Space>& matrix) try {
  check_offsets<O>("to_csr", matrix.nnz);
  SPARGO_EXPECTS(matrix.row_lengths.size() == matrix.rows,
                 fmt::format("to_csr: {} row lengths for {} rows", matrix.row_lengths.size(), matrix.rows));
  return without_padding<V, I, O>(ctx, matrix, span<const I, Space>(),
                                  [&](const auto&... to) { detail::convert::gather_ell<V, I, O>(ctx, matrix, to...); });
} catch (...) {
  detail::rethrow("to_csr");
}

template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> to_csr(const context<Space>& ctx, const sell_view<const V, I, O, Space>& matrix) try {
  check_offsets<O>("to_csr", matrix.nnz);
  SPARGO_EXPECTS(
      matrix.row_lengths.size() == matrix.permutation.size(),
      fmt::format("to_csr: {} row lengths for {} slots", matrix.row_lengths.size(), matrix.permutation.size()));
  return without_padding<V, I, O>(ctx, matrix, matrix.permutation, [&](const auto&... to) {
    detail::convert::gather_sell<V, I, O>(ctx, matrix, to...);
  });
} catch (...) {
  detail::rethrow("to_csr");
}

// Entries in row order have ascending columns after swapping rows and columns, which saves the column sort.
template <entry_type V, index_type I, index_type O, class Space>
csr_matrix<V, I, O, Space> transpose(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix) try {
  check_entries("transpose", matrix);
  if constexpr (detail::is_built<Space>) {
    array<I, Space> row_indices(ctx, matrix.nnz());
    detail::convert::expand_rows<I, O>(ctx, matrix.offsets, row_indices.view());
    const coo_view<const V, I, Space> swapped{{matrix.cols, matrix.rows, matrix.indices, row_indices.view()},
                                              matrix.values};
    const auto order = examine<I>("transpose", ctx, swapped);
    return detail::convert::coo_to_csr<O>(ctx, swapped, order, duplicates::keep);
  } else {
    detail::no_device("transpose");
  }
} catch (...) {
  detail::rethrow("transpose");
}

namespace detail {

template <index_type I, class Space>
sorted_entries<I, Space> sort_pattern(const char* operation, const context<Space>& ctx,
                                      const coo_pattern_view<I, Space>& entries) {
  if constexpr (is_built<Space>) {
    return convert::sort_pattern<I>(ctx, entries, spargo::examine<I>(operation, ctx, entries));
  } else {
    no_device(operation);
  }
}

#define INSTANTIATE_I(I)                                                                                              \
  template sorted_entries<I, host> sort_pattern(const char*, const context<host>&, const coo_pattern_view<I, host>&); \
  template sorted_entries<I, device> sort_pattern(const char*, const context<device>&,                                \
                                                  const coo_pattern_view<I, device>&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_I)

}  // namespace detail

#define INSTANTIATE_COO(V, I, Space)                                                                          \
  template void sort(const context<Space>&, coo_matrix<V, I, Space>&);                                        \
  template std::int64_t sum_duplicates(const context<Space>&, coo_matrix<V, I, Space>&);                      \
  template coo_matrix<V, I, Space> expand_symmetry(const context<Space>&, const coo_view<const V, I, Space>&, \
                                                   symmetry_kind);
#define INSTANTIATE_CSR(V, I, O, Space)                                                                      \
  template csr_matrix<V, I, O, Space> to_csr<O, V, I, Space>(                                                \
      const context<Space>&, const coo_view<const V, I, Space>&, const to_csr_options&);                     \
  template coo_matrix<V, I, Space> to_coo(const context<Space>&, const csr_view<const V, I, O, Space>&);     \
  template ell_matrix<V, I, Space> to_ell(const context<Space>&, const csr_view<const V, I, O, Space>&,      \
                                          const ell_options&);                                               \
  template sell_matrix<V, I, O, Space> to_sell(const context<Space>&, const csr_view<const V, I, O, Space>&, \
                                               const sell_options&);                                         \
  template csr_matrix<V, I, O, Space> to_csr<O, V, I, Space>(const context<Space>&,                          \
                                                             const ell_view<const V, I, Space>&);            \
  template csr_matrix<V, I, O, Space> to_csr(const context<Space>&, const sell_view<const V, I, O, Space>&); \
  template csr_matrix<V, I, O, Space> transpose(const context<Space>&, const csr_view<const V, I, O, Space>&);
#define INSTANTIATE_COO_BOTH(V, I) INSTANTIATE_COO(V, I, host) INSTANTIATE_COO(V, I, device)
#define INSTANTIATE_CSR_BOTH(V, I, O) INSTANTIATE_CSR(V, I, O, host) INSTANTIATE_CSR(V, I, O, device)
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE_COO_BOTH)
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE_CSR_BOTH)

}  // namespace spargo
