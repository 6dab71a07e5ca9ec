// Incomplete factors without fill on a device.
//
// Idea: one warp per row, in level order. For each entry left of the diagonal the warp waits until that row is
// factored, then subtracts its multiple, each element at its place in the row by binary search, as the host does
// (incomplete.cpp): only the rounding of fused products differs. A row's slot says that it is done, and where its
// diagonal is (sparse/triangular_solve/in_order.cuh). IC(0) of a Hermitian matrix is its ILU(0) with the pivots divided
// between both factors, so M is the same and the factors are those of ILU(0), whose pivots must be positive. Cost: the
// longest chain of rows, a few microseconds each, or the traffic: a row is read by each of the rows that name it.
// Applied by triangular solves.
#include "core/instantiate.hpp"
#include "core/search.hpp"
#include "primitives/element.hpp"
#include "solvers/krylov/passes.cuh"
#include "solvers/preconditioners/preconditioner.hpp"
#include "sparse/triangular_solve/executor.hpp"
#include "sparse/triangular_solve/in_order.cuh"

#include <spargo/sparse/algebra.hpp>

#include <limits>
#include <memory>
#include <utility>

namespace spargo::detail::krylov {

namespace {

// Which pivots a factorisation takes.
enum class pivots { not_zero, positive, positive_real_part };

template <class R>
__device__ bool is_taken(R pivot, pivots which) {
  return pivot != 0 && isfinite(pivot) && (which == pivots::not_zero || pivot > 0);
}
template <class R>
__device__ bool is_taken(device_complex<R> pivot, pivots which) {
  if (pivot == device_complex<R>{} || !isfinite(pivot.re) || !isfinite(pivot.im)) return false;
  if (which == pivots::not_zero) return true;
  // The root of the rounding unit, as on the host.
  constexpr R rounding = sizeof(R) == 4 ? static_cast<R>(3.4526698e-4) : static_cast<R>(1.4901161193847656e-8);
  return pivot.re > 0 && (which == pivots::positive_real_part || fabs(pivot.im) <= rounding * pivot.re);
}

template <class D, class I, class O>
struct factored_rows {
  const O* offsets;
  const I* indices;
  D* values;
};

// Rows of a canonical matrix in this order; done[row]: the place of its diagonal.
template <class D, class I, class O>
__global__ void __launch_bounds__(triangular::waiting_tuning::threads)
    factor_kernel(factored_rows<D, I, O> m, const std::uint32_t* order, std::int64_t rows, pivots which, count64* done,
                  count64* taken, count64* bad_row) {
  constexpr int warps = triangular::waiting_tuning::threads / warp_size;
  __shared__ count64 claimed;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) claimed = atomicAdd(taken, 1ULL) + 1;
    __syncthreads();
    const std::int64_t first = static_cast<std::int64_t>(claimed) * warps;
    if (first >= rows) return;
    const std::int64_t place = first + threadIdx.x / warp_size;
    if (place >= rows) continue;
    const std::int64_t row = order[place];
    const std::int64_t last = m.offsets[row + 1];
    const std::int64_t begin = m.offsets[row];
    const std::int64_t diagonal = begin + lower_bound(m.indices + begin, last - begin, row);
    for (std::int64_t k = begin; k < diagonal; ++k) {
      const auto other = static_cast<std::int64_t>(m.indices[k]);
      count64 seen = 0;
      for (int looks = 0; !triangular::look(done + other, seen); ++looks) {
        if (looks >= triangular::waiting_tuning::looks) __nanosleep(triangular::waiting_tuning::sleep_ns);
      }
      __threadfence();  // the row is read behind the look
      const auto pivot = static_cast<std::int64_t>(seen);
      const std::int64_t end = m.offsets[other + 1];
      // A row without a diagonal is reported, and what follows from it is of no use.
      const D by = pivot < end ? m.values[k] / read_l2(m.values + pivot) : D{};
      __syncwarp();
      if (lane_id() == 0) m.values[k] = by;
      for (std::int64_t e = pivot + 1 + lane_id(); e < end; e += warp_size) {
        const auto col = static_cast<std::int64_t>(m.indices[e]);
        const std::int64_t at = k + 1 + lower_bound(m.indices + k + 1, last - k - 1, col);
        if (at < last && static_cast<std::int64_t>(m.indices[at]) == col) {
          m.values[at] = multiply_add(-by, read_l2(m.values + e), m.values[at]);
        }
      }
      __syncwarp();  // the next entry reads what this one has written
    }
    const bool has_diagonal = diagonal < last && static_cast<std::int64_t>(m.indices[diagonal]) == row;
    if (lane_id() == 0 && !is_taken(has_diagonal ? m.values[diagonal] : D{}, which)) {
      atomicMin(bad_row, static_cast<count64>(row));
    }
    __threadfence();  // every lane's values before the slot
    __syncwarp();
    if (lane_id() == 0) triangular::give(done + row, static_cast<count64>(diagonal));
  }
}

// In place. Synchronises the stream.
template <class V, class I, class O>
void factor(const context<device>& ctx, csr_matrix<V, I, O, device>& matrix, const triangular::device_order& order,
            pivots which) {
  using D = device_value_t<V>;
  const std::int64_t n = matrix.rows();
  if (n == 0) return;
  constexpr int threads = triangular::waiting_tuning::threads;
  triangular::slots<count64> done(ctx, n);
  done.clear_all(ctx);
  array<count64, device> bad(ctx, 1);
  fill_bytes(ctx, bad.data(), 0xff, sizeof(count64));
  const factored_rows<D, I, O> rows{matrix.offsets().data(), matrix.indices().data(),
                                    device_cast(matrix.values().data())};
  const std::int64_t blocks =
      std::min(resident_grid(ctx, factor_kernel<D, I, O>, threads), div_up(n, std::int64_t{threads / warp_size}));
  launch_kernel(ctx, {blocks, threads}, factor_kernel<D, I, O>, rows, order.rows.data(), n, which, done.data(),
                done.counter(), bad.data());
  const count64 row = element<count64>(ctx, std::as_const(bad).view(), 0);
  if (row == ~count64{0}) return;
  const auto bad_row = static_cast<std::int64_t>(row);
  const array<O, host> range = to_host(ctx, std::as_const(matrix).offsets().view().subspan(bad_row, 2));
  const auto first = static_cast<std::int64_t>(range[0]);
  const auto length = static_cast<std::int64_t>(range[1]) - first;
  const array<I, host> columns = to_host(ctx, std::as_const(matrix).indices().view().subspan(first, length));
  const array<V, host> values = to_host(ctx, std::as_const(matrix).values().view().subspan(first, length));
  V pivot{};
  for (std::int64_t k = 0; k < length; ++k) {
    if (columns[k] == static_cast<I>(bad_row)) pivot = values[k];
  }
  if (which == pivots::positive_real_part) refuse_cholesky_pivot(static_cast<double>(std::real(pivot)), bad_row);
  refuse_pivot(pivot, bad_row, pivot != V{} && std::isfinite(std::abs(pivot)));
}

}  // namespace

template <class V, class I, class O>
built_preconditioner<V, device> build_preconditioner(const context<device>& ctx,
                                                     const csr_view<const V, I, O, device>& matrix,
                                                     const preconditioner_request& wanted, const int* active) {
  if (wanted.kind == krylov_preconditioner::block_jacobi) return block_jacobi<V, I, O>(ctx, matrix, wanted, active);
  const bool is_cholesky = wanted.kind == krylov_preconditioner::ic0;
  if (is_cholesky && !wanted.asymmetry.empty()) refuse_asymmetry(wanted.asymmetry);
  const device_guard guard(ctx);
  constexpr auto lower = triangle_part::lower_triangle;
  csr_matrix<V, I, O, device> made = canonical(ctx, matrix);
  if (wanted.exponent != 0) {
    const power<real_of<V>> by(-wanted.exponent);
    for_each(ctx, made.nnz(), [values = device_cast(made.values().data()), by] __device__(std::int64_t k) {
      values[k] = by(values[k]);
    });
  }
  triangular::device_order order =
      triangular::order_by_levels<I, O>(ctx, csr_pattern_view<I, O, device>(std::as_const(made).view()), lower);
  factor(ctx, made, order,
         is_cholesky             ? pivots::positive_real_part
         : wanted.needs_definite ? pivots::positive
                                 : pivots::not_zero);
  if (wanted.sweeps > 0) order = {};
  struct factors {
    triangular::executor_ptr<V, device> first;
    triangular::executor_ptr<V, device> second;
  };
  const auto plans = std::make_shared<factors>();
  plans->first = triangular::make_executor<V, I, O>(
      ctx, std::as_const(made).view(),
      {.part = lower, .diagonal = triangle_diagonal::implicit_unit_diagonal, .sweeps = wanted.sweeps},
      std::move(order));
  plans->second = triangular::make_executor<V, I, O>(ctx, std::as_const(made).view(),
                                                     {.part = triangle_part::upper_triangle, .sweeps = wanted.sweeps});
  return {{static_cast<std::int64_t>(matrix.rows),
           [plans, active](span<const V, device> r, span<V, device> z) {
             plans->first->run(r.data(), z.data(), active);
             plans->second->run(z.data(), z.data(), active);
           }},
          plans->first->workspace_bytes() + plans->second->workspace_bytes()};
}

#define INSTANTIATE(V, I, O)                                     \
  template built_preconditioner<V, device> build_preconditioner( \
      const context<device>&, const csr_view<const V, I, O, device>&, const preconditioner_request&, const int*);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::krylov
