// Invariants of the formats: what is checked in which order, and the messages; backends search.
#include <spargo/formats/validate.hpp>

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "formats/validate/backend.hpp"

#include <fmt/format.h>

namespace spargo {

namespace {

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> format, T&&... arguments) {
  throw error(error_code::invalid_data, fmt::format(format, std::forward<T>(arguments)...));
}

// "column 912 outside 0..911"
std::string outside(const char* what, std::int64_t value, std::int64_t bound) {
  if (bound <= 0) return fmt::format("{} {} (expected none)", what, value);
  return fmt::format("{} {} outside 0..{}", what, value, bound - 1);
}

void check_size(const char* format, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0) fail("{}: negative size {} x {}", format, rows, cols);
}

void check_count(const char* format, const char* what, std::int64_t count, std::int64_t expected) {
  if (count != expected) fail("{}: {} {} (expected {})", format, count, what, expected);
}

template <class V>
void check_values(const char* format, std::int64_t values, std::int64_t stored) {
  check_count(format, "values", values, is_pattern<V> ? 0 : stored);
}

// Checks start, order and end. `what` is what the offsets delimit.
template <class O, class Space>
void check_offsets(const char* format, const char* what, const context<Space>& ctx, span<const O, Space> offsets,
                   std::int64_t stored) {
  if (const O start = detail::element(ctx, offsets, 0); start != 0) {
    fail("{}: offsets start at {} (expected 0)", format, start);
  }
  if (const std::int64_t i = detail::validate::find_decrease(ctx, offsets); i >= 0) {
    fail("{}: {} {}: offsets decrease from {} to {}", format, what, i, detail::element(ctx, offsets, i),
         detail::element(ctx, offsets, i + 1));
  }
  if (const O end = detail::element(ctx, offsets, offsets.size() - 1); end != stored) {
    fail("{}: offsets end at {} (expected the number of entries, {})", format, end, stored);
  }
}

// The row (or slice) of entry k: the last one that starts at or before it.
template <class O, class Space>
std::int64_t owner_of(const context<Space>& ctx, span<const O, Space> offsets, std::int64_t k) {
  std::int64_t first = 0;
  std::int64_t last = offsets.size() - 1;
  while (last - first > 1) {
    const std::int64_t middle = first + (last - first) / 2;
    (detail::element(ctx, offsets, middle) <= k ? first : last) = middle;
  }
  return first;
}

template <class I, class O, class Space>
void check_csr(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& m, column_order order) {
  check_size("csr", m.rows, m.cols);
  check_count("csr", "offsets", m.offsets.size(), std::int64_t{m.rows} + 1);
  check_offsets("csr", "row", ctx, m.offsets, m.nnz());
  if (const std::int64_t k = detail::validate::find_outside(ctx, m.indices, 0, m.cols); k >= 0) {
    fail("csr: row {}, entry {}: {}", owner_of(ctx, m.offsets, k), k,
         outside("column", detail::element(ctx, m.indices, k), m.cols));
  }
  if (order == column_order::any) return;
  if (const std::int64_t k = detail::validate::find_unordered(ctx, m.offsets, m.indices); k >= 0) {
    fail("csr: row {}, entry {}: column {} after column {} (expected ascending, distinct columns)",
         owner_of(ctx, m.offsets, k), k, detail::element(ctx, m.indices, k), detail::element(ctx, m.indices, k - 1));
  }
}

template <class V, class I, class Space>
void check_coo(const context<Space>& ctx, const coo_view<const V, I, Space>& m) {
  check_size("coo", m.rows, m.cols);
  check_count("coo", "column indices", m.col_indices.size(), m.nnz());
  check_values<V>("coo", m.values.size(), m.nnz());
  const std::int64_t row = detail::validate::find_outside(ctx, m.row_indices, 0, m.rows);
  const std::int64_t col = detail::validate::find_outside(ctx, m.col_indices, 0, m.cols);
  if (row >= 0 && (col < 0 || row <= col)) {
    fail("coo: entry {}: {}", row, outside("row", detail::element(ctx, m.row_indices, row), m.rows));
  }
  if (col >= 0) {
    fail("coo: row {}, entry {}: {}", detail::element(ctx, m.row_indices, col), col,
         outside("column", detail::element(ctx, m.col_indices, col), m.cols));
  }
}

template <class V, class I, class Space>
void check_ell(const context<Space>& ctx, const ell_view<const V, I, Space>& m) {
  check_size("ell", m.rows, m.cols);
  if (m.width < 0) fail("ell: negative width {}", m.width);
  if (m.width != 0 && m.rows > INT64_MAX / m.width) fail("ell: {} rows of {} entries exceed 2^63", m.rows, m.width);
  check_count("ell", "row lengths", m.row_lengths.size(), m.rows);
  check_count("ell", "column indices", m.indices.size(), std::int64_t{m.rows} * m.width);
  check_values<V>("ell", m.values.size(), m.indices.size());
  if (const std::int64_t r = detail::validate::find_outside(ctx, m.row_lengths, 0, std::int64_t{m.width} + 1); r >= 0) {
    fail("ell: row {}: {}", r, outside("length", detail::element(ctx, m.row_lengths, r), std::int64_t{m.width} + 1));
  }
  check_count("ell", "entries in the rows", detail::validate::sum_lengths(ctx, m.row_lengths), m.nnz);
  // Padding too, since x is read there.
  if (const std::int64_t at = detail::validate::find_outside(ctx, m.indices, 0, m.cols); at >= 0) {
    fail("ell: row {}, entry {}: {}", at % m.rows, at / m.rows,
         outside("column", detail::element(ctx, m.indices, at), m.cols));
  }
}

template <class I, class Space>
void check_permutation(const context<Space>& ctx, span<const I, Space> permutation, std::int64_t rows) {
  if (const std::int64_t s = detail::validate::find_outside(ctx, permutation, -1, rows); s >= 0) {
    fail("sell: slot {}: row {} outside -1..{}", s, detail::element(ctx, permutation, s), rows - 1);
  }
  array<std::uint64_t, Space> owner(ctx, rows);
  detail::validate::claim_rows(ctx, permutation, owner.view());
  const span<const std::uint64_t, Space> claimed = owner.view();
  if (const std::int64_t s = detail::validate::find_repeated(ctx, permutation, claimed); s >= 0) {
    const I row = detail::element(ctx, permutation, s);
    fail("sell: slot {}: row {} is in slot {} already", s, row, detail::element(ctx, claimed, row));
  }
  if (const std::int64_t r = detail::validate::find_unclaimed(ctx, claimed); r >= 0)
    fail("sell: row {} is in no slot", r);
}

template <class V, class I, class O, class Space>
void check_sell(const context<Space>& ctx, const sell_view<const V, I, O, Space>& m) {
  check_size("sell", m.rows, m.cols);
  const std::int64_t height = m.slice_height;
  if (height < 1 || height > 1024) fail("sell: slice height {} (expected 1 to 1024)", height);
  const std::int64_t slices = div_up<std::int64_t>(m.rows, height);
  check_count("sell", "slice offsets", m.slice_offsets.size(), slices + 1);
  check_count("sell", "slots in the permutation", m.permutation.size(), slices * height);
  check_count("sell", "row lengths", m.row_lengths.size(), slices * height);
  check_values<V>("sell", m.values.size(), m.indices.size());
  check_offsets("sell", "slice", ctx, m.slice_offsets, m.indices.size());
  if (const std::int64_t s = detail::validate::find_uneven_slice(ctx, m.slice_offsets, height); s >= 0) {
    fail("sell: slice {}: {} entries (expected a multiple of the height, {})", s,
         detail::element(ctx, m.slice_offsets, s + 1) - detail::element(ctx, m.slice_offsets, s), height);
  }
  check_permutation(ctx, m.permutation, m.rows);
  if (const auto s = detail::validate::find_long_slot(ctx, m.slice_offsets, m.permutation, m.row_lengths, height);
      s >= 0) {
    const I row = detail::element(ctx, m.permutation, s);
    const std::int64_t width =
        (detail::element(ctx, m.slice_offsets, s / height + 1) - detail::element(ctx, m.slice_offsets, s / height)) /
        height;
    fail("sell: slot {} (row {}): {}", s, row,
         outside("length", detail::element(ctx, m.row_lengths, s), row < 0 ? 1 : width + 1));
  }
  check_count("sell", "entries in the rows", detail::validate::sum_lengths(ctx, m.row_lengths), m.nnz);
  if (const std::int64_t at = detail::validate::find_outside(ctx, m.indices, 0, m.cols); at >= 0) {
    const std::int64_t slice = owner_of(ctx, m.slice_offsets, at);
    const std::int64_t in_slice = at - detail::element(ctx, m.slice_offsets, slice);
    fail("sell: row {}, entry {}: {}", detail::element(ctx, m.permutation, slice * height + in_slice % height),
         in_slice / height, outside("column", detail::element(ctx, m.indices, at), m.cols));
  }
}

}  // namespace

template <index_type I, index_type O, class Space>
void validate(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& matrix, column_order order) try {
  if constexpr (detail::is_built<Space>) {
    check_csr(ctx, matrix, order);
  } else {
    detail::no_device("validate");
  }
} catch (...) {
  detail::rethrow("validate");
}

template <entry_type V, index_type I, index_type O, class Space>
void validate(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix, column_order order) try {
  check_values<V>("csr", matrix.values.size(), matrix.nnz());
  validate<I, O, Space>(ctx, static_cast<const csr_pattern_view<I, O, Space>&>(matrix), order);
} catch (...) {
  detail::rethrow("validate");
}

template <entry_type V, index_type I, class Space>
void validate(const context<Space>& ctx, const coo_view<const V, I, Space>& matrix) try {
  if constexpr (detail::is_built<Space>) {
    check_coo<V, I, Space>(ctx, matrix);
  } else {
    detail::no_device("validate");
  }
} catch (...) {
  detail::rethrow("validate");
}

template <entry_type V, index_type I, class Space>
void validate(const context<Space>& ctx, const ell_view<const V, I, Space>& matrix) try {
  if constexpr (detail::is_built<Space>) {
    check_ell<V, I, Space>(ctx, matrix);
  } else {
    detail::no_device("validate");
  }
} catch (...) {
  detail::rethrow("validate");
}

template <entry_type V, index_type I, index_type O, class Space>
void validate(const context<Space>& ctx, const sell_view<const V, I, O, Space>& matrix) try {
  if constexpr (detail::is_built<Space>) {
    check_sell<V, I, O, Space>(ctx, matrix);
  } else {
    detail::no_device("validate");
  }
} catch (...) {
  detail::rethrow("validate");
}

#define INSTANTIATE_IO(I, O)                                                                       \
  template void validate(const context<host>&, const csr_pattern_view<I, O, host>&, column_order); \
  template void validate(const context<device>&, const csr_pattern_view<I, O, device>&, column_order);
#define INSTANTIATE_VI(V, I)                                                                         \
  template void validate<V, I, host>(const context<host>&, const coo_view<const V, I, host>&);       \
  template void validate<V, I, device>(const context<device>&, const coo_view<const V, I, device>&); \
  template void validate<V, I, host>(const context<host>&, const ell_view<const V, I, host>&);       \
  template void validate<V, I, device>(const context<device>&, const ell_view<const V, I, device>&);
#define INSTANTIATE_VIO(V, I, O)                                                                        \
  template void validate(const context<host>&, const csr_view<const V, I, O, host>&, column_order);     \
  template void validate(const context<device>&, const csr_view<const V, I, O, device>&, column_order); \
  template void validate(const context<host>&, const sell_view<const V, I, O, host>&);                  \
  template void validate(const context<device>&, const sell_view<const V, I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_IO)
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE_VI)
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE_VIO)

}  // namespace spargo
