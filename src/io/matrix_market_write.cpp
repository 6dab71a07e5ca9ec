// Matrix Market files, written: threads format pieces of the entries, which go out in order.
//
// Numbers are the shortest that read back to the same bits (std::to_chars: Adams, "Ryu", PLDI 2018). The text is a
// function of the entries alone. Memory: a bounded buffer for each thread.
#include "core/instantiate.hpp"
#include "io/matrix_market_detail.hpp"
#include "io/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>

namespace spargo {

namespace {

struct tuning {
  // Entries that a thread formats at a time: about 0.5 MiB of text, some ms of work.
  static constexpr std::int64_t piece = std::int64_t{1} << 14;
  // Two 64-bit indices of at most 19 digits, two numbers of at most 24, four separators.
  static constexpr std::int64_t longest_line = 2 * 19 + 2 * 24 + 4;
};

template <class T>
char* put_number(char* to, T value) {
  return std::to_chars(to, to + 24, value).ptr;
}

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

// Writes `count` lines, line k as `put_line(to, k)` formats it: returns past what it wrote.
template <class PutLine>
void write_lines(const context<host>& ctx, detail::output_file& out, std::int64_t count, const PutLine& put_line) {
  const std::int64_t pieces = div_up(count, tuning::piece);
  const std::int64_t threads = std::min<std::int64_t>(ctx.threads(), pieces);
  std::vector<array<char, host>> texts;
  for (std::int64_t t = 0; t < threads; ++t) texts.emplace_back(ctx, tuning::piece * tuning::longest_line);
  std::vector<std::size_t> sizes(texts.size());
  for (std::int64_t first = 0; first < pieces; first += threads) {
    const std::int64_t now = std::min(threads, pieces - first);
#pragma omp parallel for num_threads(ctx.threads()) schedule(static) if (now > 1)
    for (std::int64_t t = 0; t < now; ++t) {
      const std::int64_t begin = (first + t) * tuning::piece;
      char* const text = texts[static_cast<std::size_t>(t)].data();
      char* to = text;
      for (std::int64_t k = begin; k < std::min(count, begin + tuning::piece); ++k) {
        to = put_line(to, k);
        *to++ = '\n';
      }
      sizes[static_cast<std::size_t>(t)] = static_cast<std::size_t>(to - text);
    }
    for (std::size_t t = 0; t < static_cast<std::size_t>(now); ++t) out.write({texts[t].data(), sizes[t]});
  }
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
    detail::output_file out(path);
    out.write(fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field_of<V>(), matrix.rows,
                          matrix.cols, matrix.nnz()));
    write_lines(context<host>(), out, matrix.nnz(), [&](char* to, std::int64_t k) {
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
    detail::output_file out(path);
    out.write(fmt::format("%%MatrixMarket matrix array {} general\n{} {}\n", field_of<V>(), matrix.rows, matrix.cols));
    write_lines(context<host>(), out, matrix.rows * matrix.cols, [&](char* to, std::int64_t k) {
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
