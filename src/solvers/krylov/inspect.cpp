#include "solvers/krylov/inspect.hpp"

#include "core/instantiate.hpp"
#include "core/rows_from_one.hpp"
#include "solvers/krylov/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spargo::detail::krylov {

namespace {

std::string without_counterpart(std::int64_t row, std::int64_t col) {
  return fmt::format("({0}, {1}) is an entry and ({1}, {0}) is none{2}", shown_row(row), shown_row(col),
                     counted_from());
}

// Whether each row ascends; otherwise the sentence about the first that does not.
template <class V, class I, class O>
bool is_sorted(const csr_view<const V, I, O, host>& m, std::string& why) {
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (O k = m.offsets[i] + 1; k < m.offsets[i + 1]; ++k) {
      if (m.indices[k - 1] < m.indices[k]) continue;
      why = m.indices[k - 1] == m.indices[k]
                ? fmt::format("row {} has column {} twice{}", shown_row(i), shown_row(m.indices[k]), counted_from())
                : fmt::format("row {} is not sorted by column{}", shown_row(i), counted_from());
      return false;
    }
  }
  return true;
}

// Up to rounding, as where the halves were computed apart; roots[i]: of row i's largest size. Rows ascend, so the
// entries (j, i) of row j are met in order of i: one cursor per row finds the partner of each entry.
template <class V, class I, class O>
bool is_hermitian(const context<host>& ctx, const csr_view<const V, I, O, host>& m, const array<double, host>& roots,
                  std::string& why) {
  if (!is_sorted(m, why)) return false;
  constexpr double rounding = asymmetry_of_rounding<V>();
  array<O, host> next(ctx, m.rows);
  std::copy_n(m.offsets.begin(), m.rows, next.begin());
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (O k = m.offsets[i]; k < m.offsets[i + 1]; ++k) {
      const I j = m.indices[k];
      const O partner = next[j]++;
      const bool is_last = partner >= m.offsets[std::int64_t{j} + 1];
      if (is_last || m.indices[partner] != i) {
        // An earlier row may lack the counterpart of an entry that row j has.
        const bool is_earlier = !is_last && m.indices[partner] < i;
        why = is_earlier ? without_counterpart(j, m.indices[partner]) : without_counterpart(i, j);
        return false;
      }
      if (!(std::abs(m.values[partner] - conjugated(m.values[k])) <= rounding * roots[i] * roots[j])) {
        why = i == j ? fmt::format("({0}, {0}) is not real{1}", shown_row(i), counted_from())
                     : fmt::format("({0}, {1}) and ({1}, {0}) differ{2}", shown_row(i), shown_row(j), counted_from());
        return false;
      }
    }
  }
  return true;
}

}  // namespace

template <class V, class I, class O>
inspected_matrix<V> inspect_rows(const context<host>& ctx, const csr_view<const V, I, O, host>& m, std::int64_t first,
                                 span<double, host> roots) {
  inspected_matrix<V> found;
  found.diagonal = {ctx, m.rows};
  for (std::int64_t i = 0; i < m.rows; ++i) {
    V diagonal{};
    double largest = 0;
    for (O k = m.offsets[i]; k < m.offsets[i + 1]; ++k) {
      const V v = m.values[k];
      // The larger part: the magnitude of a complex number may overflow.
      const double size =
          std::max(std::abs(static_cast<double>(std::real(v))), std::abs(static_cast<double>(std::imag(v))));
      if (!(std::isfinite(std::real(v)) && std::isfinite(std::imag(v)))) {
        if (found.bad_row < 0) found.bad_row = i;
      }
      largest = std::max(largest, size);
      if (m.indices[k] == first + i) diagonal += v;
    }
    found.largest = std::max(found.largest, largest);
    roots[i] = std::sqrt(largest);
    found.diagonal[i] = diagonal;
    if (diagonal == V{} && found.zero_row < 0) found.zero_row = i;
    if (!(std::real(diagonal) > 0 && std::imag(diagonal) == 0) && found.negative_row < 0) found.negative_row = i;
  }
  return found;
}

template <class V, class I, class O>
inspected_matrix<V> inspect(const context<host>& ctx, const csr_view<const V, I, O, host>& m) {
  array<double, host> roots(ctx, m.rows);
  inspected_matrix<V> found = inspect_rows<V, I, O>(ctx, m, 0, roots.view());
  found.is_hermitian = is_hermitian(ctx, m, roots, found.asymmetry);
  return found;
}

#define INSTANTIATE(V, I, O)                                                                                          \
  template inspected_matrix<V> inspect_rows(const context<host>&, const csr_view<const V, I, O, host>&, std::int64_t, \
                                            span<double, host>);                                                      \
  template inspected_matrix<V> inspect(const context<host>&, const csr_view<const V, I, O, host>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::krylov
