// What the structure operations refuse, in the same sentences on host and device. Sizes instead of types, so that all
// types share the code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spargo::detail::algebra {

struct csr_sizes {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t offsets;
  std::int64_t nnz;
  std::int64_t values;  // nnz for a pattern
};
void expect_csr(std::string_view operation, const csr_sizes& sizes);

// Throws `unsupported` for more entries than offsets of this size hold.
void expect_entries_fit(std::string_view operation, std::int64_t nnz, std::size_t offset_bytes);

void expect_factors(std::string_view operation, std::int64_t factors, std::int64_t expected);

// `what`: row or column.
void expect_range(std::string_view what, std::int64_t first, std::int64_t last, std::int64_t all);
void expect_list_fits(std::string_view what, std::int64_t size, std::size_t index_bytes);
void expect_order_size(std::string_view what, std::int64_t size, std::int64_t all);
// For the first index of a list or an order that is not in [0, all), or that an order has a second time.
[[noreturn]] void refuse_index(std::string_view operation, std::string_view what, std::int64_t index,
                               std::int64_t position, std::int64_t all);

// Matrix number `place` (from 1) of a stack must have as many columns, or rows, as the first.
enum class stacking { rows, columns };
struct matrix_size {
  std::int64_t rows;
  std::int64_t cols;
};
void expect_stackable(std::string_view operation, stacking how, std::size_t place, const matrix_size& size,
                      const matrix_size& first);

// a + b or a * b; throws `unsupported` if integers of this size do not hold it.
enum class size_rule { sum, product };
[[nodiscard]] std::int64_t size_that_fits(std::string_view operation, std::string_view what, std::int64_t a,
                                          std::int64_t b, size_rule rule, std::size_t index_bytes);

}  // namespace spargo::detail::algebra
