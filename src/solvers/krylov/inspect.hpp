// One pass over a matrix that collects what the choice of a solver needs.
#pragma once

#include <spargo/formats/csr.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace spargo::detail::krylov {

template <class V, class Space = host>
struct inspected_matrix {
  double largest = 0;              // magnitude
  std::int64_t bad_row = -1;       // first with a value that is not finite
  bool is_hermitian = false;       // up to rounding; seen in sorted rows without duplicates only
  std::string asymmetry;           // if not: why; on the host with the row
  array<V, Space> diagonal;        // duplicates summed, 0 where there is no entry
  std::int64_t zero_row = -1;      // first with a zero on the diagonal
  std::int64_t negative_row = -1;  // first whose diagonal is not real and positive
  std::optional<V> negative{};     // its element, where `diagonal` lacks the row: over ranks
};

// (i, j) and (j, i) may differ by this times the root of the product of their rows' largest sizes: symmetric scaling
// changes nothing, and a large element elsewhere, such as a boundary condition by penalty, hides no asymmetry.
template <class V>
[[nodiscard]] constexpr double asymmetry_of_rounding() {
  return 64 * static_cast<double>(std::numeric_limits<decltype(std::abs(V{}))>::epsilon());
}

// O(rows + nnz); on the device each entry is searched for in another row. Synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] inspected_matrix<V> inspect(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix);
// All but symmetry, of consecutive rows of a matrix from `first` on; rows are numbered from 0. `roots`, one for each
// row, gets the root of its largest size.
template <class V, class I, class O>
[[nodiscard]] inspected_matrix<V> inspect_rows(const context<host>& ctx, const csr_view<const V, I, O, host>& rows,
                                               std::int64_t first, span<double, host> roots);
template <class V, class I, class O>
[[nodiscard]] inspected_matrix<V, device> inspect(const context<device>& ctx,
                                                  const csr_view<const V, I, O, device>& matrix);

}  // namespace spargo::detail::krylov
