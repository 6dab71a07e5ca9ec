// Writes Matrix Market files through line_writer.hpp.
#include <spargo/io/matrix_market.hpp>
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/matrix_market/detail.hpp"
#include "io/text/line_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <string_view>
#include <vector>

namespace spargo {

namespace {

using detail::put_number;
using options_type = matrix_market_write_options;

template <class V>
char* put_value(char* to, V value) {
  if constexpr (complex_type<V>) {
    to = put_number(to, value.real());
    *to++ = ' ';
    return put_number(to, value.imag());
  } else {
    return put_number(to, value);
  }
}

template <class V>
constexpr const char* field_of() {
  if constexpr (std::same_as<V, std::uint64_t>) return "unsigned-integer";
  if constexpr (std::same_as<V, std::int64_t>) return "integer";
  return is_pattern<V> ? "pattern" : complex_type<V> ? "complex" : "real";
}

// Banner and comment. A comment that ends with a newline is not followed by an empty line.
std::string heading(const char* layout, const char* field, const options_type& options) {
  std::string text = fmt::format("%%MatrixMarket matrix {} {} {}\n", layout, field, to_string(options.symmetry));
  std::string_view rest = options.comment;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text.append("%").append(rest.substr(0, end)).append("\n");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

template <class V>
void check_symmetry(std::int64_t rows, std::int64_t cols, const options_type& options) {
  const symmetry_kind symmetry = options.symmetry;
  const bool possible =
      symmetry == symmetry_kind::general || symmetry == symmetry_kind::symmetric ||
      (symmetry == symmetry_kind::hermitian ? complex_type<V> : !is_pattern<V> && !std::same_as<V, std::uint64_t>);
  SPARGO_EXPECTS(possible && (symmetry == symmetry_kind::general || rows == cols),
                 fmt::format("write_matrix_market: a {} {} x {} matrix cannot be {}", field_of<V>(), rows, cols,
                             to_string(symmetry)));
}

// Describes an invalid value; empty if it is valid.
template <class V>
std::string fault_of(V value, bool on_diagonal, const options_type& options) {
  if constexpr (real_type<V>) {
    constexpr V limit = V(9223372036854775808.0);
    if (options.numbers == matrix_market_numbers::integers &&
        !(value >= -limit && value <= limit && value == std::trunc(value))) {
      return "expected an integer of 64 bits";
    }
  }
  if (!on_diagonal) return {};
  if (options.symmetry == symmetry_kind::skew_symmetric && value != V(0)) return "expected 0 on this diagonal";
  if constexpr (complex_type<V>) {
    if (options.symmetry == symmetry_kind::hermitian && value.imag() != 0)
      return "expected a real one on this diagonal";
  }
  return {};
}

template <class V>
void check_value(std::int64_t k, V value, bool on_diagonal, const options_type& options) {
  if (const std::string fault = fault_of(value, on_diagonal, options); !fault.empty()) {
    char number[2 * 25];
    throw error(error_code::invalid_data, fmt::format("write_matrix_market: entry {} is {} ({})", k,
                                                      std::string_view(number, put_value(number, value)), fault));
  }
}

template <class V, index_type I>
void check_entries(const coo_pattern_view<I, host>& places, span<const V, host> values, const options_type& options) {
  for (std::int64_t k = 0; k < places.nnz(); ++k) {
    const I row = places.row_indices[k];
    const I col = places.col_indices[k];
    if (row < 0 || row >= places.rows || col < 0 || col >= places.cols) {
      throw error(error_code::invalid_data, fmt::format("write_matrix_market: entry {} is at ({}, {}), outside {} x {}",
                                                        k, row, col, places.rows, places.cols));
    }
    if constexpr (!is_pattern<V>) check_value(k, values[k], row == col, options);
  }
}

template <class V, index_type I>
void write_coordinates(const std::string& path, const coo_pattern_view<I, host>& places, span<const V, host> values,
                       const options_type& options) try {
  const std::int64_t count = places.nnz();
  SPARGO_EXPECTS(
      places.rows >= 0 && places.cols >= 0 && places.col_indices.size() == count &&
          values.size() == (is_pattern<V> ? 0 : count),
      fmt::format("write_matrix_market: a {} x {} matrix with {} row indices, {} column indices and {} values",
                  places.rows, places.cols, count, places.col_indices.size(), values.size()));
  check_symmetry<V>(places.rows, places.cols, options);
  const bool integers = options.numbers == matrix_market_numbers::integers;
  SPARGO_EXPECTS(!integers || real_type<V>,
                 fmt::format("write_matrix_market: {} values as integers (expected real ones)", field_of<V>()));
  check_entries(places, values, options);
  output_file out(path);
  out.write(heading("coordinate", integers ? "integer" : field_of<V>(), options));
  out.write(fmt::format("{} {} {}\n", places.rows, places.cols, count));
  detail::write_lines(context<host>(), out, count, [&](char* to, std::int64_t k) {
    to = put_number(to, static_cast<std::int64_t>(places.row_indices[k]) + 1);
    *to++ = ' ';
    to = put_number(to, static_cast<std::int64_t>(places.col_indices[k]) + 1);
    if constexpr (!is_pattern<V>) {
      *to++ = ' ';
      if constexpr (real_type<V>) {
        if (integers) return detail::put_integer(to, static_cast<double>(values[k]));
      }
      to = put_value(to, values[k]);
    }
    return to;
  });
  out.commit();
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(path, "host memory ran out while the file was written");
}

// Number of elements before each column in the text: for a symmetry from the diagonal on, for skew-symmetry below it.
std::vector<std::int64_t> column_starts(std::int64_t rows, std::int64_t cols, symmetry_kind symmetry) {
  std::vector<std::int64_t> starts{0};
  for (std::int64_t j = 0; j < cols; ++j) {
    const std::int64_t above = symmetry == symmetry_kind::general ? 0 : j + (symmetry == symmetry_kind::skew_symmetric);
    starts.push_back(starts.back() + rows - above);
  }
  return starts;
}

}  // namespace

template <entry_type V, index_type I>
void write_matrix_market(const std::string& path, const coo_view<const V, I, host>& matrix,
                         const matrix_market_write_options& options) {
  write_coordinates<V>(path, matrix, matrix.values, options);
}

template <matrix_market_integer W, index_type I>
void write_matrix_market(const std::string& path, const coo_pattern_view<I, host>& places, span<const W, host> values,
                         const matrix_market_write_options& options) {
  write_coordinates<W>(path, places, values, options);
}

template <class V>
void write_matrix_market(const std::string& path, const dense_view<const V, host>& matrix,
                         const matrix_market_write_options& options) try {
  const std::int64_t rows = matrix.rows;
  const std::int64_t cols = matrix.cols;
  const std::int64_t stride = matrix.stride;
  const auto data = matrix.data;
  SPARGO_EXPECTS(
      rows >= 0 && cols >= 0 && stride >= cols && (rows == 0 || cols == 0 || data.size() >= (rows - 1) * stride + cols),
      fmt::format("write_matrix_market: {} elements for {} x {} with stride {}", data.size(), rows, cols, stride));
  SPARGO_EXPECTS(options.numbers == matrix_market_numbers::of_the_type,
                 "write_matrix_market: an array's values as integers (expected an array of integers)");
  check_symmetry<V>(rows, cols, options);
  if (options.symmetry != symmetry_kind::general) {
    for (std::int64_t i = 0; i < rows; ++i) check_value(i * rows + i, matrix(i, i), true, options);
  }
  const std::vector<std::int64_t> starts = column_starts(rows, cols, options.symmetry);
  output_file out(path);
  out.write(heading("array", field_of<V>(), options));
  out.write(fmt::format("{} {}\n", rows, cols));
  detail::write_lines(context<host>(), out, starts.back(), [&](char* to, std::int64_t k) {
    const std::int64_t j = std::upper_bound(starts.begin(), starts.end(), k) - starts.begin() - 1;
    const std::int64_t i = rows - (starts[static_cast<std::size_t>(j) + 1] - k);
    return put_value(to, matrix(i, j));
  });
  out.commit();
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(path, "host memory ran out while the file was written");
}

#define INSTANTIATE(V, I)                                                                  \
  template void write_matrix_market(const std::string&, const coo_view<const V, I, host>&, \
                                    const matrix_market_write_options&);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(W, I)                                                                                      \
  template void write_matrix_market(const std::string&, const coo_pattern_view<I, host>&, span<const W, host>, \
                                    const matrix_market_write_options&);
INSTANTIATE(std::int64_t, std::int32_t)
INSTANTIATE(std::int64_t, std::int64_t)
INSTANTIATE(std::uint64_t, std::int32_t)
INSTANTIATE(std::uint64_t, std::int64_t)
#undef INSTANTIATE
#define INSTANTIATE(V)                                                                    \
  template void write_matrix_market(const std::string&, const dense_view<const V, host>&, \
                                    const matrix_market_write_options&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
INSTANTIATE(std::int64_t)
INSTANTIATE(std::uint64_t)
#undef INSTANTIATE

}  // namespace spargo
