// Matrix Market files, written: lines by line_writer.hpp.
#include <spargo/io/matrix_market.hpp>
#include "core/instantiate.hpp"
#include "io/line_writer.hpp"

#include <fmt/format.h>

#include <new>

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
void check(const coo_view<const V, I, host>& matrix) {
  const std::int64_t count = matrix.nnz();
  SPARGO_EXPECTS(
      matrix.rows >= 0 && matrix.cols >= 0 && matrix.col_indices.size() == count &&
          matrix.values.size() == (is_pattern<V> ? 0 : count),
      fmt::format("write_matrix_market: a {} x {} matrix with {} row indices, {} column indices and {} values",
                  matrix.rows, matrix.cols, count, matrix.col_indices.size(), matrix.values.size()));
  for (std::int64_t k = 0; k < count; ++k) {
    const I row = matrix.row_indices[k];
    const I col = matrix.col_indices[k];
    if (row >= 0 && row < matrix.rows && col >= 0 && col < matrix.cols) continue;
    throw error(error_code::invalid_data, fmt::format("write_matrix_market: entry {} is at ({}, {}), outside {} x {}",
                                                      k, row, col, matrix.rows, matrix.cols));
  }
}

}  // namespace

template <entry_type V, index_type I>
void write_matrix_market(const std::string& path, const coo_view<const V, I, host>& matrix) {
  try {
    check(matrix);
    output_file out(path);
    out.write(fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field_of<V>(), matrix.rows,
                          matrix.cols, matrix.nnz()));
    detail::write_lines(context<host>(), out, matrix.nnz(), [&](char* to, std::int64_t k) {
      to = put_number(to, static_cast<std::int64_t>(matrix.row_indices[k]) + 1);
      *to++ = ' ';
      to = put_number(to, static_cast<std::int64_t>(matrix.col_indices[k]) + 1);
      if constexpr (!is_pattern<V>) {
        *to++ = ' ';
        to = put_value(to, matrix.values[k]);
      }
      return to;
    });
    out.commit();
  } catch (const std::bad_alloc&) {
    throw error(error_code::out_of_memory, {path}, "host memory ran out while the file was written");
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
    throw error(error_code::out_of_memory, {path}, "host memory ran out while the file was written");
  }
}

#define INSTANTIATE(V, I) template void write_matrix_market(const std::string&, const coo_view<const V, I, host>&);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V) template void write_matrix_market(const std::string&, const dense_view<const V, host>&);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
