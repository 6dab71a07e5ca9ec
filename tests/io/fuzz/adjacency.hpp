// Guarantees of both undirected graph formats: entries are valid vertices, on and below the diagonal.
#pragma once

#include "io/fuzz/fuzz.hpp"

namespace spargo::fuzz {

template <class I>
void expect_pairs(const coo_matrix<double, I, host>& a, bool triangle) {
  if (a.rows() != a.cols()) std::abort();
  for (std::int64_t k = 0; k < a.nnz(); ++k) {
    const I row = a.row_indices()[k];
    const I col = a.col_indices()[k];
    if (row < 0 || col < 0 || row >= a.rows() || col >= a.cols() || (triangle && row < col)) std::abort();
  }
}

}  // namespace spargo::fuzz
