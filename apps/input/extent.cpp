#include "input/extent.hpp"

#include "cli/report.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

namespace spargo::apps {

namespace {

struct extent_tuning {
  // Rows and columns. Vectors of 2^29 elements take a second or two, written by a thread or copied to a GPU.
  static constexpr double small = 1U << 29;
  // Maximum rows and columns per entry. Matrices of the SuiteSparse collection have at most 2.
  static constexpr double most = 1000;
};

}  // namespace

std::string reason_against_extent(std::int64_t rows, std::int64_t cols, std::int64_t entries) {
  const double extent = static_cast<double>(rows) + static_cast<double>(cols);
  if (extent <= extent_tuning::small || extent <= extent_tuning::most * static_cast<double>(entries)) return {};
  return fmt::format(
      "{} rows and {} columns for {} entries: the vectors alone would take {} of memory (expected at most {:.0f} rows "
      "and columns per entry, or {} in all)",
      with_commas(rows), with_commas(cols), with_commas(entries), format_bytes(8 * extent), extent_tuning::most,
      with_commas(static_cast<std::int64_t>(extent_tuning::small)));
}

void expect_reasonable_extent(const std::string& path, std::int64_t rows, std::int64_t cols, std::int64_t entries) {
  const std::string reason = reason_against_extent(rows, cols, entries);
  if (!reason.empty()) throw error(error_code::out_of_memory, source_position{path, 0, 0}, reason);
}

}  // namespace spargo::apps
