// Interface of the compressed copy: the attempt to make one, and the reasons against it.
#pragma once

#include "sparse/spmv/copies/copy.hpp"

#include <string>

namespace spargo::detail::spmv {

// For a matrix with at least one entry. O(rows + nnz); the device version synchronises the stream. The host has two
// forms; the number of products (0: many) decides which of them pay off.
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> compress(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                       copy_demand demand, std::int64_t products);
template <class V, class I, class O>
[[nodiscard]] copy_attempt<V> compress(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                       copy_demand demand);

// A matrix in slices of 32 rows.
struct slice_statistics {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  std::int64_t slots;  // entries plus padding of shorter rows to the longest of their slice
  std::int64_t longest_row;
};

// The reason against compressing, before anything is stored; empty if there is none.
[[nodiscard]] std::string reason_against_compressing(const slice_statistics& slices, copy_demand demand);

struct compressed_size {
  std::int64_t rows;
  std::int64_t csr_bytes;
  std::int64_t compressed_bytes;
};

// The reason against keeping the copy; empty if there is none.
[[nodiscard]] std::string reason_against_compressing(const compressed_size& size);

// How a matrix is stored. Dictionary sizes; 0: no dictionary.
struct compressed_storage {
  int differences;      // dictionary of column - row
  double column_bytes;  // per entry, if columns are stored separately
  int values;
  int pairs;  // dictionary of both together
};
[[nodiscard]] std::string description_of(const compressed_storage& how);

}  // namespace spargo::detail::spmv
