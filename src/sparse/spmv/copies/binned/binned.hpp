// Interface of the binned copy: the attempt to make one, and the reasons against it.
#pragma once

#include "sparse/spmv/copies/copy.hpp"

#include <cstdint>
#include <string>

namespace spargo::detail::spmv {

// Entries of a row that one thread sums; longer rows are cut. A bin holds at least one such segment.
inline constexpr std::int64_t longest_bin_segment = 128;

// For a matrix with at least one entry. O(rows + nnz + blocks * bins); synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> bin_products(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                           copy_demand demand);

// The quantities that the choice is based on; not yet measured ones are 1000 sectors and one block.
struct binning_profile {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  std::int64_t value_bytes;
  std::int64_t l2_bytes;  // of the device's cache
  std::int64_t sectors;   // sectors (32 bytes of x) read by 1000 consecutive entries
  std::int64_t blocks;    // of columns that have entries
  std::int64_t bins;
  bool is_uneven = false;  // some blocks have many more entries than others
};

// The reason against binning; empty if there is none.
[[nodiscard]] std::string reason_against_binning(const binning_profile& profile, copy_demand demand);

}  // namespace spargo::detail::spmv
