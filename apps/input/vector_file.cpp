#include "input/vector_file.hpp"

#include "cli/text.hpp"

#include <spargo/io/matrix_market.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <complex>
#include <string_view>

namespace spargo::apps {

namespace {

constexpr std::string_view blanks = " \t";

// Without blanks around it.
std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Whether the first line is not a Matrix Market banner.
bool has_numbers(const input_file& file) {
  return !trimmed(file.head().substr(0, file.head().find('\n'))).starts_with("%%");
}

double number_of(std::string_view text, const source_position& at) {
  double value = 0;
  const char* const first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* const last = text.data() + text.size();
  const auto [end, status] = std::from_chars(first, last, value);
  if (status == std::errc::result_out_of_range) {
    throw error(error_code::parse, at, fmt::format("{} is beyond the range of float64", text.substr(0, 60)));
  }
  if (status != std::errc{} || end != last || (first != text.data() && *first == '-')) {
    throw error(
        error_code::parse, at,
        fmt::format("'{}' is not a number (expected one number a line, or a Matrix Market file)", text.substr(0, 60)));
  }
  return value;
}

template <value_type V>
array<V, host> read_numbers(const context<host>& ctx, const input_file& file, std::int64_t size,
                            const vector_use& use) {
  array<V, host> x(ctx, size);
  input_lines lines(file);
  std::int64_t count = 0;
  for (std::string line; lines.next(line);) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#' || text.front() == '%') continue;
    const source_position at = lines.at(text.data() - line.data() + 1);
    const double value = number_of(text, at);
    if (use.finite && !std::isfinite(value)) {
      throw error(error_code::invalid_data, at, fmt::format("{} is not finite (expected finite numbers)", text));
    }
    if (count < size) x[count] = static_cast<V>(value);
    ++count;
  }
  if (count != size) {
    throw error(
        error_code::invalid_data, source_position{file.name(), 0, 0},
        fmt::format("{} has {} (expected {}, the matrix's {})", use.name, counted(count, "number"), size, use.side));
  }
  return x;
}

}  // namespace

template <value_type V>
array<V, host> read_vector(const context<host>& ctx, const std::string& path, std::int64_t size,
                           const vector_use& use) {
  const input_file file(path);
  if (has_numbers(file)) return read_numbers<V>(ctx, file, size, use);
  const auto column = read_matrix_market<V, std::int64_t>(ctx, file);
  const bool is_column = column.cols() == 1 && column.rows() == size;
  const bool is_row = column.rows() == 1 && column.cols() == size;
  if (!is_column && !is_row) {
    throw error(error_code::invalid_data, source_position{path, 0, 0},
                fmt::format("{} is {} x {} (expected {} x 1, the matrix's {})", use.name, column.rows(), column.cols(),
                            size, use.side));
  }
  array<V, host> x(ctx, size);
  fill_zero(ctx, x.view());
  const auto& at = is_column ? column.row_indices() : column.col_indices();
  for (std::int64_t k = 0; k < column.nnz(); ++k) x[at[k]] += column.values()[k];
  for (std::int64_t i = 0; use.finite && i < size; ++i) {
    if (std::isfinite(std::abs(x[i]))) continue;
    throw error(error_code::invalid_data, source_position{path, 0, 0},
                fmt::format("{} has an infinite element or NaN in place {} (expected finite ones)", use.name, i + 1));
  }
  return x;
}

template array<float, host> read_vector(const context<host>&, const std::string&, std::int64_t, const vector_use&);
template array<double, host> read_vector(const context<host>&, const std::string&, std::int64_t, const vector_use&);
template array<std::complex<double>, host> read_vector(const context<host>&, const std::string&, std::int64_t,
                                                       const vector_use&);

}  // namespace spargo::apps
