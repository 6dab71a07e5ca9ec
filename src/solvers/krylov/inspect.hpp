// One pass over a matrix that collects what the choice of a solver needs.
#pragma once

#include <spargo/formats/csr.hpp>

#include <cstdint>
#include <string>

namespace spargo::detail::krylov {

template <class V, class Space = host>
struct inspected_matrix {
  double largest = 0;              // magnitude
  std::int64_t bad_row = -1;       // first with a value that is not finite
  bool is_hermitian = false;       // up to rounding; seen in sorted rows without duplicates only
  std::string asymmetry;           // if not, on the host: where, or which row is not sorted
  array<V, Space> diagonal;        // duplicates summed, 0 where there is no entry
  std::int64_t zero_row = -1;      // first with a zero on the diagonal
  std::int64_t negative_row = -1;  // first whose diagonal is not real and positive
};

// O(rows + nnz); on the device each entry is searched for in another row. Synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] inspected_matrix<V> inspect(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix);
template <class V, class I, class O>
[[nodiscard]] inspected_matrix<V, device> inspect(const context<device>& ctx,
                                                  const csr_view<const V, I, O, device>& matrix);

}  // namespace spargo::detail::krylov
