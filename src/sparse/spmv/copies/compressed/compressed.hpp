// What the rest of the product sees of compressed matrices: the attempt at a copy, and when it is refused.
#pragma once

#include "sparse/spmv/copies/copy.hpp"

#include <string>

namespace spargo::detail::spmv {

// The matrix has at least one entry. O(rows + nnz); the device one synchronises the stream. The host has two forms,
// and the number of products (0: many) says which of them pay.
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
  std::int64_t slots;  // entries, and what fills the shorter rows of each slice up to its longest
  std::int64_t longest_row;
};

// Why not, before anything is stored; empty: nothing speaks against it.
[[nodiscard]] std::string why_not_compressed(const slice_statistics& slices, copy_demand demand);

struct compressed_size {
  std::int64_t rows;
  std::int64_t csr_bytes;
  std::int64_t compressed_bytes;
};

// Why the copy is not worth keeping; empty: it is.
[[nodiscard]] std::string why_not_compressed(const compressed_size& size);

// How a matrix is stored. Numbers of names; 0: not by name.
struct compressed_storage {
  int differences;      // of column and row
  double column_bytes;  // an entry, where columns are stored apart from values
  int values;
  int pairs;  // of both
};
[[nodiscard]] std::string in_words(const compressed_storage& how);

}  // namespace spargo::detail::spmv
