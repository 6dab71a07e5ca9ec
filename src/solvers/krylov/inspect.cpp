#include "solvers/krylov/inspect.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spargo::detail::krylov {

namespace {

template <class V>
[[nodiscard]] V conjugated(V v) {
  if constexpr (complex_type<V>) {
    return std::conj(v);
  } else {
    return v;
  }
}

// Up to rounding, as where the halves were computed apart. Rows ascend, so the entries (j, i) of row j are met in order
// of i: one cursor per row finds the partner of each entry.
template <class V, class I, class O>
bool is_hermitian(const context<host>& ctx, const csr_view<const V, I, O, host>& m, double largest) {
  using real = decltype(std::abs(V{}));
  const auto rounding = static_cast<real>(64 * static_cast<double>(std::numeric_limits<real>::epsilon()) * largest);
  array<O, host> next(ctx, m.rows);
  std::copy_n(m.offsets.begin(), m.rows, next.begin());
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (O k = m.offsets[i]; k < m.offsets[i + 1]; ++k) {
      const I j = m.indices[k];
      const O partner = next[j]++;
      if (partner >= m.offsets[std::int64_t{j} + 1] || m.indices[partner] != i) return false;
      if (!(std::abs(m.values[partner] - conjugated(m.values[k])) <= rounding)) return false;
    }
  }
  return true;
}

}  // namespace

template <class V, class I, class O>
inspected_matrix<V> inspect(const context<host>& ctx, const csr_view<const V, I, O, host>& m) {
  inspected_matrix<V> found;
  found.diagonal = {ctx, m.rows};
  for (std::int64_t i = 0; i < m.rows; ++i) {
    V diagonal{};
    for (O k = m.offsets[i]; k < m.offsets[i + 1]; ++k) {
      const V v = m.values[k];
      // The larger part: the magnitude of a complex number may overflow.
      const double size =
          std::max(std::abs(static_cast<double>(std::real(v))), std::abs(static_cast<double>(std::imag(v))));
      if (!(std::isfinite(std::real(v)) && std::isfinite(std::imag(v)))) {
        if (found.bad_row < 0) found.bad_row = i;
      }
      found.largest = std::max(found.largest, size);
      if (m.indices[k] == i) diagonal += v;
    }
    found.diagonal[i] = diagonal;
    if (diagonal == V{} && found.zero_row < 0) found.zero_row = i;
    if (!(std::real(diagonal) > 0 && std::imag(diagonal) == 0) && found.negative_row < 0) found.negative_row = i;
  }
  found.is_hermitian = is_hermitian(ctx, m, found.largest);
  return found;
}

#define INSTANTIATE(V, I, O) \
  template inspected_matrix<V> inspect(const context<host>&, const csr_view<const V, I, O, host>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::krylov
