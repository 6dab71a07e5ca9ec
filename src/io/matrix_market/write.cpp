// Matrix Market files, written: lines by line_writer.hpp.
#include <spargo/io/matrix_market.hpp>
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/matrix_market/detail.hpp"
#include "io/text/line_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <new>
#include <string_view>

namespace spargo {

namespace {

using detail::put_number;

template <value_type V>
char* put_value(char* to, V value) {
  if constexpr (complex_type<V>) {
    to = put_number(to, value.real());
    *to++ = ' ';
    return put_number(to, value.imag());
  } else {
    return put_number(to, value);
  }
}

template <entry_type V>
constexpr const char* field_of() {
  return is_pattern<V> ? "pattern" : complex_type<V> ? "complex" : "real";
}

template <entry_type V, index_type I>
void check_shape(const coo_view<const V, I, host>& matrix, const matrix_market_write_options& options) {
  const std::int64_t count = matrix.nnz();
  SPARGO_EXPECTS(
      matrix.rows >= 0 && matrix.cols >= 0 && matrix.col_indices.size() == count &&
          matrix.values.size() == (is_pattern<V> ? 0 : count),
      fmt::format("write_matrix_market: a {} x {} matrix with {} row indices, {} column indices and {} values",
                  matrix.rows, matrix.cols, count, matrix.col_indices.size(), matrix.values.size()));
  const symmetry_kind symmetry = options.symmetry;
  const bool possible = symmetry == symmetry_kind::general || symmetry == symmetry_kind::symmetric ||
                        (symmetry == symmetry_kind::hermitian ? complex_type<V> : !is_pattern<V>);
  SPARGO_EXPECTS(possible && (symmetry == symmetry_kind::general || matrix.rows == matrix.cols),
                 fmt::format("write_matrix_market: a {} {} x {} matrix cannot be {}", field_of<V>(), matrix.rows,
                             matrix.cols, detail::name_of(symmetry)));
  SPARGO_EXPECTS(options.numbers == matrix_market_numbers::of_the_type || real_type<V>,
                 fmt::format("write_matrix_market: {} values as integers (expected real ones)", field_of<V>()));
}

// What is wrong with the value of an entry; empty where nothing is.
template <value_type V>
std::string fault_of(V value, bool on_diagonal, const matrix_market_write_options& options) {
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

template <entry_type V, index_type I>
void check_entries(const coo_view<const V, I, host>& matrix, const matrix_market_write_options& options) {
  for (std::int64_t k = 0; k < matrix.nnz(); ++k) {
    const I row = matrix.row_indices[k];
    const I col = matrix.col_indices[k];
    if (row < 0 || row >= matrix.rows || col < 0 || col >= matrix.cols) {
      throw error(error_code::invalid_data, fmt::format("write_matrix_market: entry {} is at ({}, {}), outside {} x {}",
                                                        k, row, col, matrix.rows, matrix.cols));
    }
    if constexpr (!is_pattern<V>) {
      if (const std::string fault = fault_of(matrix.values[k], row == col, options); !fault.empty()) {
        char number[2 * 25];
        throw error(error_code::invalid_data,
                    fmt::format("write_matrix_market: entry {} is {} ({})", k,
                                std::string_view(number, put_value(number, matrix.values[k])), fault));
      }
    }
  }
}

}  // namespace

template <entry_type V, index_type I>
void write_matrix_market(const std::string& path, const coo_view<const V, I, host>& matrix,
                         const matrix_market_write_options& options) {
  try {
    check_shape(matrix, options);
    check_entries(matrix, options);
    const bool integers = options.numbers == matrix_market_numbers::integers;
    output_file out(path);
    out.write(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", integers ? "integer" : field_of<V>(),
                          detail::name_of(options.symmetry), matrix.rows, matrix.cols, matrix.nnz()));
    detail::write_lines(context<host>(), out, matrix.nnz(), [&](char* to, std::int64_t k) {
      to = put_number(to, static_cast<std::int64_t>(matrix.row_indices[k]) + 1);
      *to++ = ' ';
      to = put_number(to, static_cast<std::int64_t>(matrix.col_indices[k]) + 1);
      if constexpr (!is_pattern<V>) {
        *to++ = ' ';
        if constexpr (real_type<V>) {
          if (integers) return detail::put_integer(to, static_cast<double>(matrix.values[k]));
        }
        to = put_value(to, matrix.values[k]);
      }
      return to;
    });
    out.commit();
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(path, "host memory ran out while the file was written");
  }
}

template <value_type V>
void write_matrix_market(const std::string& path, const dense_view<const V, host>& matrix) {
  SPARGO_EXPECTS(matrix.rows >= 0 && matrix.cols >= 0 && matrix.stride >= matrix.cols &&
                     (matrix.rows == 0 || matrix.cols == 0 ||
                      matrix.data.size() >= (matrix.rows - 1) * matrix.stride + matrix.cols),
                 fmt::format("write_matrix_market: {} elements for {} x {} with stride {}", matrix.data.size(),
                             matrix.rows, matrix.cols, matrix.stride));
  try {
    output_file out(path);
    out.write(fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field_of<V>(), matrix.rows, matrix.cols));
    detail::write_lines(context<host>(), out, matrix.rows * matrix.cols, [&](char* to, std::int64_t k) {
      return put_value(to, matrix.data[k % matrix.rows * matrix.stride + k / matrix.rows]);
    });
    out.commit();
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(path, "host memory ran out while the file was written");
  }
}

#define INSTANTIATE(V, I)                                                                  \
  template void write_matrix_market(const std::string&, const coo_view<const V, I, host>&, \
                                    const matrix_market_write_options&);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V) template void write_matrix_market(const std::string&, const dense_view<const V, host>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
