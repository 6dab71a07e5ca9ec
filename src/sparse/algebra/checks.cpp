// The sentences of checks.hpp.
#include "sparse/algebra/checks.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <limits>

namespace spargo::detail::algebra {

namespace {

std::int64_t most_of(std::size_t bytes) {
  return bytes == sizeof(std::int32_t) ? std::numeric_limits<std::int32_t>::max()
                                       : std::numeric_limits<std::int64_t>::max();
}

template <class... T>
[[noreturn]] void unsupported(fmt::format_string<T...> sentence, T&&... arguments) {
  throw error(error_code::unsupported, fmt::format(sentence, std::forward<T>(arguments)...));
}

}  // namespace

void expect_csr(std::string_view operation, const csr_sizes& m) {
  SPARGO_EXPECTS(m.rows >= 0 && m.cols >= 0, fmt::format("{}: a CSR matrix of {} x {}", operation, m.rows, m.cols));
  SPARGO_EXPECTS(m.offsets == m.rows + 1, fmt::format("{}: {} offsets for {} rows", operation, m.offsets, m.rows));
  SPARGO_EXPECTS(m.values == m.nnz, fmt::format("{}: {} values for {} entries", operation, m.values, m.nnz));
}

void expect_entries_fit(std::string_view operation, std::int64_t nnz, std::size_t offset_bytes) {
  const std::int64_t most = most_of(offset_bytes);
  if (nnz > most) {
    unsupported("{}: {} entries exceed {}-bit offsets (at most {})", operation, nnz, 8 * offset_bytes, most);
  }
}

void expect_factors(std::string_view operation, std::int64_t factors, std::int64_t expected) {
  SPARGO_EXPECTS(factors == expected, fmt::format("{}: {} factors for {}", operation, factors, expected));
}

void expect_range(std::string_view what, std::int64_t first, std::int64_t last, std::int64_t all) {
  SPARGO_EXPECTS(first >= 0 && first <= last && last <= all,
                 fmt::format("extract: {}s {} to {} of {}", what, first, last, all));
}

void expect_list_fits(std::string_view what, std::int64_t size, std::size_t index_bytes) {
  if (size > most_of(index_bytes)) unsupported("extract: {} {}s exceed {}-bit indices", size, what, 8 * index_bytes);
}

void expect_order_size(std::string_view what, std::int64_t size, std::int64_t all) {
  SPARGO_EXPECTS(size == all, fmt::format("permute: an order of {} for {} {}s", size, all, what));
}

void refuse_index(std::string_view operation, std::string_view what, std::int64_t index, std::int64_t position,
                  std::int64_t all) {
  if (index >= 0 && index < all) {
    throw_invalid_argument(fmt::format("{}: {} {} occurs again at position {}", operation, what, index, position));
  }
  throw_invalid_argument(fmt::format("{}: {} {} at position {} is out of range (the matrix has {})", operation, what,
                                     index, position, all));
}

void expect_stackable(std::string_view operation, stacking how, std::size_t place, const matrix_size& size,
                      const matrix_size& first) {
  SPARGO_EXPECTS(how == stacking::rows ? size.cols == first.cols : size.rows == first.rows,
                 fmt::format("{}: matrix {} is {} x {}, the first {} x {}", operation, place, size.rows, size.cols,
                             first.rows, first.cols));
}

std::int64_t size_that_fits(std::string_view operation, std::string_view what, std::int64_t a, std::int64_t b,
                            size_rule rule, std::size_t index_bytes) {
  std::int64_t size = 0;
  const bool is_product = rule == size_rule::product;
  const bool over = is_product ? __builtin_mul_overflow(a, b, &size) : __builtin_add_overflow(a, b, &size);
  if (over || size > most_of(index_bytes)) {
    unsupported("{}: {} {} {} {} exceed {}-bit indices", operation, a, is_product ? "times" : "and", b, what,
                8 * index_bytes);
  }
  return size;
}

}  // namespace spargo::detail::algebra
