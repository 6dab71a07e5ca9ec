// One pass over a matrix that collects what the choice of a solver needs.
#pragma once

#include <spargo/formats/csr.hpp>

#include <cstdint>
#include <string>

namespace spargo::detail::krylov {

template <class V>
struct inspected_matrix {
  double largest = 0;              // magnitude
  std::int64_t bad_row = -1;       // first with a value that is not finite
  bool is_hermitian = false;       // up to rounding; seen in sorted rows without duplicates only
  std::string asymmetry;           // if not: where, or which row is not sorted
  array<V, host> diagonal;         // duplicates summed, 0 where there is no entry
  std::int64_t zero_row = -1;      // first with a zero on the diagonal
  std::int64_t negative_row = -1;  // first whose diagonal is not real and positive
};

// O(rows + nnz).
template <class V, class I, class O>
[[nodiscard]] inspected_matrix<V> inspect(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix);

}  // namespace spargo::detail::krylov
