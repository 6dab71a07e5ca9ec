// The symbolic phase of a product: its pattern, and how rows are divided among threads. For values of any type.
#pragma once

#include <spargo/core/error.hpp>
#include <spargo/sparse/spgemm.hpp>

#include <fmt/format.h>

namespace spargo::detail::spgemm {

template <class I, class O, class Space>
void expect_sizes(const csr_pattern_view<I, O, Space>& a, const csr_pattern_view<I, O, Space>& b) {
  SPARGO_EXPECTS(a.cols == b.rows, fmt::format("spgemm: A is {} x {} and B {} x {} (expected as many rows as A has "
                                               "columns)",
                                               a.rows, a.cols, b.rows, b.cols));
}

// What the numeric phase knows of C.
template <class I, class O>
struct symbolic {
  csr_matrix<pattern, I, O, host> result;  // rows first .. first + result.rows() of C
  std::int64_t first = 0;
  std::int64_t products = 0;
  std::vector<std::int64_t> parts;  // bounds of parts of similar work, rows of the pattern
  bool masked = false;
  std::int64_t widest = 0;   // most columns from the first to the last of a row with a dense accumulator
  std::int64_t longest = 0;  // most entries of a row with a hash table
};

// A dense accumulator, from a row's first column to its last, where it fits the L2 cache or is not sparse; else a hash
// table of the row's columns. Untuned.
struct accumulator_tuning {
  static constexpr std::int64_t dense_columns = 1 << 15;
  static constexpr std::int64_t columns_per_entry = 16;
};

template <class I>
[[nodiscard]] bool has_dense_accumulator(const I* columns, std::int64_t count) {
  const std::int64_t width = std::int64_t{columns[count - 1]} - columns[0] + 1;
  return width <= accumulator_tuning::dense_columns || width / accumulator_tuning::columns_per_entry <= count;
}

// Without a mask if `mask` is null; `value_bytes` for the limit.
template <index_type I, index_type O>
[[nodiscard]] symbolic<I, O> find_pattern(const context<host>& ctx, const csr_pattern_view<I, O, host>& a,
                                          const csr_pattern_view<I, O, host>& b,
                                          const csr_pattern_view<I, O, host>* mask, const spgemm_options& options,
                                          std::int64_t value_bytes);

}  // namespace spargo::detail::spgemm
