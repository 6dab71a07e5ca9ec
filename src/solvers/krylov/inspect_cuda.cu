// The choice's facts about a matrix on a device: a warp per row. Entries above the diagonal add a hash of their place
// and value, those below it take the hash of their partner away: a sum of 0 shows that every entry (i, j) has the same
// value as (j, i), but for one matrix in 2^64. Else a second pass searches row j for the partner of each entry (i, j),
// which may differ by rounding.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "core/search.hpp"
#include "primitives/element.hpp"
#include "solvers/krylov/inspect.hpp"
#include "sparse/device.cuh"

#include <cstring>

namespace spargo::detail::krylov {

namespace {

struct facts {
  count64 largest;  // bits of a double
  count64 bad_row;  // the largest number: none
  count64 zero_row;
  count64 negative_row;
  count64 unmatched;  // the sum of hashes
  int is_unsorted;
  int is_asymmetric;
};

template <class D>
struct parts_of {
  double re;
  double im;
  __device__ explicit parts_of(D v) {
    if constexpr (std::is_floating_point_v<D>) {
      re = v;
      im = 0;
    } else {
      re = v.re;
      im = v.im;
    }
  }
};

// Of splitmix64.
__device__ inline count64 mixed(count64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
// The share of entry (row, col) in the sum: pairs of equal values cancel, and so do elements that are real on the
// diagonal. -0 + 0.0 is +0.
template <class D>
__device__ count64 unmatched(std::int64_t row, std::int64_t col, const parts_of<D>& v) {
  if (row == col && v.im == 0) return 0;
  const bool is_above = row < col;
  count64 hash = mixed(static_cast<count64>(is_above ? row : col) + 0x9E3779B97F4A7C15ULL);
  hash = mixed(hash + static_cast<count64>(is_above ? col : row));
  hash = mixed(hash + static_cast<count64>(__double_as_longlong(v.re + 0.0)));
  if constexpr (!std::is_floating_point_v<D>) {
    hash = mixed(hash + static_cast<count64>(__double_as_longlong((is_above ? v.im : -v.im) + 0.0)));
  }
  return is_above ? hash : ~hash + 1;
}

template <class D, class I, class O>
__global__ void __launch_bounds__(block_threads)
    rows_kernel(const O* offsets, const I* indices, const D* values, std::int64_t rows, D* diagonal, double* roots,
                facts* found) {
  double largest = 0;
  count64 sum = 0;
  bool is_unsorted = false;
  for (std::int64_t row = global_thread() / warp_size; row < rows; row += grid_threads() / warp_size) {
    const std::int64_t first = offsets[row];
    const std::int64_t last = offsets[row + 1];
    D on_diagonal{};
    double most = 0;
    bool is_bad = false;
#pragma unroll 4  // loads of a long row in flight
    for (std::int64_t e = first + lane_id(); e < last; e += warp_size) {
      const D v = values[e];
      const std::int64_t col = indices[e];
      const parts_of<D> p(v);
      const double size = fmax(fabs(p.re), fabs(p.im));
      most = size > most ? size : most;
      is_bad = is_bad || !isfinite(p.re) || !isfinite(p.im);
      if (col == row) on_diagonal = on_diagonal + v;
      is_unsorted = is_unsorted || (e > first && !(indices[e - 1] < col));
      sum += unmatched(row, col, p);
    }
    if (is_bad) atomicMin(&found->bad_row, static_cast<count64>(row));
    on_diagonal = warp_reduce(on_diagonal, plus{});
    most = warp_reduce(most, maximum{});
    if (lane_id() != 0) continue;
    largest = most > largest ? most : largest;
    diagonal[row] = on_diagonal;
    roots[row] = sqrt(most);
    const parts_of<D> d(on_diagonal);
    if (d.re == 0 && d.im == 0) atomicMin(&found->zero_row, static_cast<count64>(row));
    if (!(d.re > 0 && d.im == 0)) atomicMin(&found->negative_row, static_cast<count64>(row));
  }
  if (is_unsorted) found->is_unsorted = 1;
  sum = warp_sum(sum);
  if (lane_id() != 0) return;
  atomicMax(&found->largest, static_cast<count64>(__double_as_longlong(largest)));
  atomicAdd(&found->unmatched, sum);
}

template <class D, class I, class O>
__global__ void __launch_bounds__(block_threads)
    partners_kernel(const O* offsets, const I* indices, const D* values, std::int64_t rows, double rounding,
                    const double* roots, facts* found) {
  for (std::int64_t row = global_thread() / warp_size; row < rows; row += grid_threads() / warp_size) {
    if (__ldcg(&found->is_asymmetric) != 0) return;
    for (std::int64_t e = offsets[row] + lane_id(); e < offsets[row + 1]; e += warp_size) {
      const std::int64_t col = indices[e];
      const std::int64_t first = offsets[col];
      const std::int64_t end = offsets[col + 1];
      const std::int64_t at = first + lower_bound(indices + first, end - first, row);
      bool matches = at < end && indices[at] == row;
      if (matches) {
        const parts_of<D> here(values[e]);
        const parts_of<D> there(values[at]);
        matches = hypot(here.re - there.re, here.im + there.im) <= rounding * roots[row] * roots[col];
      }
      if (!matches) found->is_asymmetric = 1;
    }
  }
}

[[nodiscard]] std::int64_t row_or_none(count64 row) { return row == ~count64{0} ? -1 : static_cast<std::int64_t>(row); }

}  // namespace

template <class V, class I, class O>
inspected_matrix<V, device> inspect(const context<device>& ctx, const csr_view<const V, I, O, device>& m) {
  using D = device_value_t<V>;
  const device_guard guard(ctx);
  inspected_matrix<V, device> seen;
  seen.diagonal = {ctx, m.rows};
  seen.is_hermitian = true;
  if (m.rows == 0) return seen;
  const facts none{0, ~count64{0}, ~count64{0}, ~count64{0}, 0, 0, 0};
  array<facts, device> found(ctx, 1);
  copy<facts>(ctx, span<const facts, host>(&none, 1), found.view());
  array<double, device> roots(ctx, m.rows);
  const launch_shape shape = grid_stride(ctx, std::int64_t{m.rows} * warp_size);
  launch_kernel(ctx, shape, rows_kernel<D, I, O>, m.offsets.data(), m.indices.data(), device_cast(m.values.data()),
                m.rows, device_cast(seen.diagonal.data()), roots.data(), found.data());
  facts all = element<facts>(ctx, std::as_const(found).view(), 0);
  std::memcpy(&seen.largest, &all.largest, sizeof(seen.largest));
  seen.bad_row = row_or_none(all.bad_row);
  seen.zero_row = row_or_none(all.zero_row);
  seen.negative_row = row_or_none(all.negative_row);
  seen.is_hermitian = all.is_unsorted == 0;
  if (!seen.is_hermitian) seen.asymmetry = "a row is not sorted by column, or has a column twice";
  if (!seen.is_hermitian || seen.bad_row >= 0 || all.unmatched == 0) return seen;
  launch_kernel(ctx, shape, partners_kernel<D, I, O>, m.offsets.data(), m.indices.data(), device_cast(m.values.data()),
                m.rows, asymmetry_of_rounding<V>(), std::as_const(roots).data(), found.data());
  all = element<facts>(ctx, std::as_const(found).view(), 0);
  seen.is_hermitian = all.is_asymmetric == 0;
  if (!seen.is_hermitian) seen.asymmetry = "an entry has no counterpart, or another one than its conjugate";
  return seen;
}

#define INSTANTIATE(V, I, O) \
  template inspected_matrix<V, device> inspect(const context<device>&, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::krylov
