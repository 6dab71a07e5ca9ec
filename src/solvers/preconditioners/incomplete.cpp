// Incomplete factors without fill: ILU(0) and IC(0), which are exact on the pattern of the matrix.
//
// Idea: Gaussian elimination by rows that drops what falls outside of the pattern (Saad, "Iterative Methods for Sparse
// Linear Systems", 2nd edition, algorithm 10.4; Meijerink and van der Vorst, Math. Comp. 31, 1977). A row is scattered
// into a table of places by column, so that the update by an earlier row costs that row's length. One thread; O(sum of
// the lengths of the rows that each row's entries name). Applied by triangular solves.
#include "core/instantiate.hpp"
#include "core/rows_from_one.hpp"
#include "solvers/krylov/iteration.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

#include <spargo/sparse/algebra.hpp>
#include <spargo/sparse/triangular_solve.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace spargo::detail::krylov {

namespace {

template <class V>
[[nodiscard]] std::string pivot_text(V pivot) {
  if (std::imag(pivot) == 0) return fmt::format("{:.3g}", std::real(pivot));
  return fmt::format("{:.3g} + {:.3g}i", std::real(pivot), std::imag(pivot));
}

[[noreturn]] void refuse(std::string message) { throw error(error_code::invalid_data, std::move(message)); }

template <class V>
void expect_pivot(V pivot, std::int64_t row, bool needs_definite) {
  const bool is_usable = pivot != V{} && std::isfinite(std::abs(pivot));
  const auto rounding = std::sqrt(std::numeric_limits<real_of<V>>::epsilon()) * std::real(pivot);
  if (is_usable && (!needs_definite || (std::real(pivot) > 0 && std::abs(std::imag(pivot)) <= rounding))) return;
  refuse_pivot(pivot, row, is_usable);
}

// The places of a row's entries by column; -1: none.
template <class I, class O>
class places {
 public:
  places(const context<host>& ctx, const csr_pattern_view<I, O, host>& m) : m_(m), at_(ctx, m.cols) {
    std::fill(at_.begin(), at_.end(), O{-1});
  }
  void enter(std::int64_t row) {
    for (O k = m_.offsets[row]; k < m_.offsets[row + 1]; ++k) at_[m_.indices[k]] = k;
  }
  void leave(std::int64_t row) {
    for (O k = m_.offsets[row]; k < m_.offsets[row + 1]; ++k) at_[m_.indices[k]] = -1;
  }
  [[nodiscard]] O operator[](std::int64_t col) const { return at_[col]; }

 private:
  csr_pattern_view<I, O, host> m_;
  array<O, host> at_;
};

}  // namespace

template <class V>
void refuse_pivot(V pivot, std::int64_t row, bool is_definite_needed) {
  refuse(fmt::format("solve: ilu0 meets the pivot {} in row {}{}{}", pivot_text(pivot), shown_row(row), counted_from(),
                     is_definite_needed
                         ? ", but cg and minres need positive ones (expected jacobi, or bicgstab or gmres)"
                         : " (expected another preconditioner)"));
}

void refuse_cholesky_pivot(double pivot, std::int64_t row) {
  refuse(fmt::format(
      "solve: ic0 meets the pivot {:.3g} in row {}{}: the matrix is not positive definite, or not enough for "
      "factors without fill (expected block-jacobi or jacobi)",
      pivot, shown_row(row), counted_from()));
}

void refuse_asymmetry(const std::string& where) {
  refuse("solve: ic0 needs a symmetric (Hermitian) matrix: " + where + " (expected ilu0)");
}

template <class V, class I, class O>
void factor_ilu0(const context<host>& ctx, csr_matrix<V, I, O, host>& matrix, bool needs_definite) {
  const csr_pattern_view<I, O, host> m = matrix.view();
  V* const a = matrix.values().data();
  places<I, O> in_row(ctx, m);
  array<O, host> diagonal(ctx, m.rows);  // the place of each row's
  for (std::int64_t i = 0; i < m.rows; ++i) {
    in_row.enter(i);
    O k = m.offsets[i];
    for (; k < m.offsets[i + 1] && m.indices[k] < i; ++k) {
      const std::int64_t j = m.indices[k];
      a[k] /= a[diagonal[j]];
      for (O e = diagonal[j] + 1; e < m.offsets[j + 1]; ++e) {
        const O place = in_row[m.indices[e]];
        if (place >= 0) a[place] -= multiply(a[k], a[e]);
      }
    }
    diagonal[i] = k;
    const bool has_diagonal = k < m.offsets[i + 1] && m.indices[k] == i;
    expect_pivot(has_diagonal ? a[k] : V{}, i, needs_definite);
    in_row.leave(i);
  }
}

template <class V, class I, class O>
void factor_ic0(const context<host>& ctx, csr_matrix<V, I, O, host>& lower) {
  const csr_pattern_view<I, O, host> m = lower.view();
  V* const l = lower.values().data();
  places<I, O> in_row(ctx, m);
  for (std::int64_t i = 0; i < m.rows; ++i) {
    in_row.enter(i);
    O k = m.offsets[i];
    double pivot = 0;
    for (; k < m.offsets[i + 1]; ++k) {
      const std::int64_t j = m.indices[k];
      if (j == i) break;
      const O last = m.offsets[j + 1] - 1;  // the diagonal of row j
      V sum = l[k];
      for (O e = m.offsets[j]; e < last; ++e) {
        const O place = in_row[m.indices[e]];
        if (place >= 0) sum -= multiply(l[place], conjugated(l[e]));
      }
      l[k] = sum / std::real(l[last]);
      pivot += square(l[k]);
    }
    const bool has_diagonal = k < m.offsets[i + 1];
    pivot = (has_diagonal ? static_cast<double>(std::real(l[k])) : 0) - pivot;
    if (!(pivot > 0) || !std::isfinite(pivot)) refuse_cholesky_pivot(pivot, i);
    l[k] = V(static_cast<real_of<V>>(std::sqrt(pivot)));
    in_row.leave(i);
  }
}

template <class V, class I, class O>
built_preconditioner<V> build_preconditioner(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                                             const preconditioner_request& wanted) {
  if (wanted.kind == krylov_preconditioner::block_jacobi) return block_jacobi<V, I, O>(ctx, matrix, wanted);
  using solve_plan = triangular_solve_plan<V, I, O, host>;
  const bool is_cholesky = wanted.kind == krylov_preconditioner::ic0;
  if (is_cholesky && !wanted.asymmetry.empty()) refuse_asymmetry(wanted.asymmetry);
  csr_matrix<V, I, O, host> factor = canonical(ctx, matrix);
  if (is_cholesky) factor = part_of(ctx, std::as_const(factor).view(), matrix_part::lower);
  if (wanted.exponent != 0) {
    for (V& v : factor.values()) v = times_power(v, -wanted.exponent);
  }
  struct factors {
    solve_plan first;
    solve_plan second;
  };
  const auto with = [&](triangle_part part, triangle_diagonal diagonal) {
    return triangular_solve_options{.part = part, .diagonal = diagonal, .sweeps = wanted.sweeps};
  };
  constexpr auto lower = triangle_part::lower_triangle;
  constexpr auto upper = triangle_part::upper_triangle;
  constexpr auto as_it_is = triangle_diagonal::explicit_diagonal;
  const auto plans = [&] {
    if (!is_cholesky) {
      factor_ilu0(ctx, factor, wanted.needs_definite);
      return std::make_shared<const factors>(
          factors{{ctx, std::as_const(factor).view(), with(lower, triangle_diagonal::implicit_unit_diagonal)},
                  {ctx, std::as_const(factor).view(), with(upper, as_it_is)}});
    }
    factor_ic0(ctx, factor);
    const csr_matrix<V, I, O, host> turned = conjugate_transpose(ctx, std::as_const(factor).view());
    return std::make_shared<const factors>(factors{{ctx, std::as_const(factor).view(), with(lower, as_it_is)},
                                                   {ctx, turned.view(), with(upper, as_it_is)}});
  }();
  return {{static_cast<std::int64_t>(matrix.rows),
           [plans](span<const V, host> r, span<V, host> z) {
             plans->first.run(r, z);
             plans->second.run(span<const V, host>(z), z);
           }},
          plans->first.workspace_bytes() + plans->second.workspace_bytes()};
}

std::int64_t preconditioner_bytes(const matrix_shape& s, const krylov_options& options) {
  const std::int64_t copy = s.entries * (s.index_bytes + s.value_bytes) + (s.rows + 1) * s.offset_bytes;
  const std::int64_t order = s.rows * (2 * s.offset_bytes + 3 * s.value_bytes + 6 * 8);
  switch (options.preconditioner) {
    case krylov_preconditioner::block_jacobi:
      return s.rows * std::min(options.block_size, s.rows) * s.value_bytes;
    case krylov_preconditioner::ilu0:
    case krylov_preconditioner::ic0:
      return 2 * copy + order;
    default:
      return s.rows * s.value_bytes;
  }
}

std::int64_t device_preconditioner_bytes(const matrix_shape& s, const krylov_options& options) {
  switch (options.preconditioner) {
    case krylov_preconditioner::block_jacobi:
      return preconditioner_bytes(s, options) + inversion_scratch_bytes;
    case krylov_preconditioner::ilu0:
    case krylov_preconditioner::ic0: {
      // The factors as a copy of the matrix and as two triangles; of a row offsets, the diagonal and its inverse,
      // places, sweeps and the order of levels, with the sort's spare memory.
      const std::int64_t copy = s.entries * (s.index_bytes + s.value_bytes) + (s.rows + 1) * s.offset_bytes;
      const std::int64_t triangles = s.entries * (4 + s.value_bytes);
      const std::int64_t rows = s.rows * (3 * s.offset_bytes + 8 * s.value_bytes + 48);
      // Unsorted rows are sorted before: 24 bytes per entry, and its row.
      const std::int64_t sorting = s.entries * (24 + s.index_bytes);
      return copy + std::max(triangles + rows, sorting) + (std::int64_t{16} << 20);
    }
    default:
      return s.rows * s.value_bytes;
  }
}

#define INSTANTIATE(V) template void refuse_pivot(V, std::int64_t, bool);
SPARGO_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(V, I, O)                                                                                        \
  template void factor_ilu0(const context<host>&, csr_matrix<V, I, O, host>&, bool);                                \
  template void factor_ic0(const context<host>&, csr_matrix<V, I, O, host>&);                                       \
  template built_preconditioner<V> build_preconditioner(const context<host>&, const csr_view<const V, I, O, host>&, \
                                                        const preconditioner_request&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::krylov
