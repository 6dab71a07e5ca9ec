// Statistics of row lengths, from which products choose their algorithm.
#pragma once

#include <spargo/formats/csr.hpp>

namespace spargo::detail {

struct row_profile {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t longest = 0;  // entries of the longest row
  std::int64_t empty_rows = 0;
  std::int64_t long_entries = 0;  // entries in rows of more than long_row_limit entries
  // Device: sampled pairs of entries at the same position in neighbouring rows, and those with near columns.
  std::int64_t sampled_pairs = 0;
  std::int64_t near_pairs = 0;

  // Whether neighbouring rows gather neighbouring elements of x, as in stencils and bands.
  [[nodiscard]] bool is_local() const { return 2 * near_pairs >= sampled_pairs; }

  [[nodiscard]] double mean() const { return rows == 0 ? 0.0 : static_cast<double>(nnz) / static_cast<double>(rows); }
};

// Longer rows unbalance a static assignment of rows to threads: eight times the mean, plus 32 so that a row of ten in a
// matrix with few entries per row does not count.
[[nodiscard]] inline std::int64_t long_row_limit(std::int64_t rows, std::int64_t nnz) {
  return rows == 0 ? 0 : 8 * (nnz / rows) + 32;
}

// O(rows). The device version synchronises the stream.
template <class I, class O>
[[nodiscard]] row_profile profile_rows(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix);
template <class I, class O>
[[nodiscard]] row_profile profile_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix);

}  // namespace spargo::detail
