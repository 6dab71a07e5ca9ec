// The lengths of a matrix's rows, by which products choose their algorithm.
#pragma once

#include <spargo/formats/csr.hpp>

namespace spargo::detail {

struct row_profile {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t longest = 0;  // entries of the longest row
  std::int64_t empty_rows = 0;
  std::int64_t long_entries = 0;  // entries in rows of more than long_row_limit entries
  // Device: of pairs of entries at the same place in neighbouring rows, in a sample, those whose columns are near.
  std::int64_t sampled_pairs = 0;
  std::int64_t near_pairs = 0;

  // Whether neighbouring rows gather neighbouring elements of x, as those of stencils and bands do.
  [[nodiscard]] bool is_local() const { return 2 * near_pairs >= sampled_pairs; }

  [[nodiscard]] double mean() const { return rows == 0 ? 0.0 : static_cast<double>(nnz) / static_cast<double>(rows); }
};

// A row beyond this length upsets a static assignment of rows to threads: eight times the mean, and 32 more so that
// matrices of few entries per row are not called irregular for a row of ten.
[[nodiscard]] inline std::int64_t long_row_limit(std::int64_t rows, std::int64_t nnz) {
  return rows == 0 ? 0 : 8 * (nnz / rows) + 32;
}

// O(rows). The device one synchronises the stream.
template <class I, class O>
[[nodiscard]] row_profile profile_rows(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix);
template <class I, class O>
[[nodiscard]] row_profile profile_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix);

}  // namespace spargo::detail
