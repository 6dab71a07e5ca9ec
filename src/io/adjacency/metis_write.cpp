// METIS graphs, written one line per vertex.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/text/line_writer.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/metis.hpp>

#include <fmt/format.h>

#include <cmath>
#include <new>
#include <string>

namespace spargo {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;  // written at a time

[[noreturn]] void refuse(std::int64_t row, std::int64_t col, const std::string& what) {
  throw error(error_code::invalid_data, fmt::format("write_metis: entry ({}, {}) {}", row, col, what));
}

template <class V, index_type I, index_type O>
void check(const csr_view<const V, I, O, host>& matrix, const csr_matrix<V, I, O, host>& mirrored) {
  SPARGO_EXPECTS(matrix.rows == matrix.cols,
                 fmt::format("write_metis: a {} x {} matrix (expected a square one)", matrix.rows, matrix.cols));
  for (I row = 0; row < matrix.rows; ++row) {
    for (O k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const I col = matrix.indices[k];
      if (row == col) refuse(row, col, "is a self-loop (expected none)");
      const bool same_row =
          mirrored.offsets()[row] == matrix.offsets[row] && mirrored.offsets()[row + 1] == matrix.offsets[row + 1];
      if (!same_row || mirrored.indices()[k] != col) refuse(row, col, "has no mirrored entry (expected both)");
      if constexpr (real_type<V>) {
        if (mirrored.values()[k] != matrix.values[k]) refuse(row, col, "differs from the mirrored entry");
        const V value = matrix.values[k];
        if (!(value >= 1 && value <= V(9223372036854775807.0) && value == std::trunc(value))) {
          refuse(row, col, fmt::format("is {} (expected an integer above 0)", value));
        }
      }
    }
  }
}

template <class V, index_type I, index_type O>
void write_vertices(output_file& out, const csr_view<const V, I, O, host>& matrix) {
  std::string text;
  char number[32];
  const auto put = [&](const char* end) { text.append(number, static_cast<std::size_t>(end - number)); };
  for (I row = 0; row < matrix.rows; ++row) {
    for (O k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      if (k > matrix.offsets[row]) text += ' ';
      put(detail::put_number(number, static_cast<std::int64_t>(matrix.indices[k]) + 1));
      if constexpr (real_type<V>) {
        text += ' ';
        put(detail::put_integer(number, static_cast<double>(matrix.values[k])));
      }
      if (text.size() < chunk_bytes) continue;
      out.write(text);
      text.clear();
    }
    text += '\n';
  }
  out.write(text);
}

}  // namespace

template <entry_type V, index_type I, index_type O>
void write_metis(const context<host>& ctx, const std::string& path, const csr_view<const V, I, O, host>& matrix) {
  if constexpr (complex_type<V>) {
    throw error(error_code::unsupported, "write_metis: complex weights (expected integers above 0, or none)");
  } else {
    try {
      check<V, I, O>(matrix, transpose(ctx, matrix));
      output_file out(path);
      // For people who see the file under another name: the format has no magic number.
      out.write(fmt::format("% METIS graph\n{} {}{}\n", matrix.rows, matrix.nnz() / 2, is_pattern<V> ? "" : " 001"));
      write_vertices<V, I, O>(out, matrix);
      out.commit();
    } catch (const std::bad_alloc&) {
      detail::throw_out_of_memory(path, "host memory ran out while the file was written");
    }
  }
}

#define INSTANTIATE(V, I, O) \
  template void write_metis<V, I, O>(const context<host>&, const std::string&, const csr_view<const V, I, O, host>&);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
