// Scaling, sums of rows and norms on a device. Norms add in the host's order (magnitude.hpp): rows in chunks of 1024
// entries, so that no thread has a long chain; columns as rows of the transpose, cut where blocks of rows end.
#include "core/device/run_sums.cuh"
#include "core/instantiate.hpp"
#include "core/parts.hpp"
#include "primitives/element.hpp"
#include "sparse/algebra/entries.cuh"
#include "sparse/algebra/magnitude.hpp"
#include "sparse/rounded.cuh"

#include <spargo/formats/convert.hpp>

#include <bit>
#include <cmath>

namespace spargo::detail::algebra {

namespace {

// Values of at least 0 or NaN are ordered as their bits are, NaN last.
__global__ void __launch_bounds__(block_threads)
    largest_kernel(const double* values, std::int64_t size, count64* largest) {
  count64 mine = 0;
  for (std::int64_t k = global_thread(); k < size; k += grid_threads()) {
    mine = maximum{}(mine, static_cast<count64>(__double_as_longlong(values[k])));
  }
  mine = warp_reduce(mine, maximum{});
  if (lane_id() == 0 && mine != 0) atomicMax(largest, mine);
}

double largest_of(const context<device>& ctx, const array<double, device>& values) {
  const device_guard guard(ctx);
  array<count64, device> largest(ctx, 1);
  fill_zero(ctx, largest);
  launch_kernel(ctx, grid_stride(ctx, values.size()), largest_kernel, values.data(), values.size(), largest.data());
  return std::bit_cast<double>(element<count64>(ctx, largest.view(), 0));
}

// Of a matrix with entries.
template <class I, class O>
array<double, device> row_sums(const context<device>& ctx, const csr_view<const double, I, O, device>& m) {
  const O* const offset = m.offsets.data();
  const device_offsets<std::int64_t> chunks =
      offsets_of<std::int64_t>(ctx, "norms", m.rows, [=] __device__(std::int64_t r) {
        return (offset[r + 1] - offset[r] + norm_order::chunk - 1) / norm_order::chunk;
      });
  const std::int64_t* const first = chunks.offsets.data();
  array<std::int64_t, device> starts(ctx, chunks.nnz + 1);
  std::int64_t* const start = starts.data();
  const std::int64_t last = chunks.nnz - 1;
  const std::int64_t nnz = m.nnz();
  for_each_entry<std::int64_t>(ctx, chunks.offsets, chunks.nnz, [=] __device__(std::int64_t p, std::int64_t r) {
    start[p] = offset[r] + (p - first[r]) * norm_order::chunk;
    if (p == last) start[p + 1] = nnz;
  });
  array<double, device> of_chunks(ctx, chunks.nnz);
  sum_runs(ctx, m.values.data(), start, chunks.nnz, of_chunks.data());
  array<double, device> sums(ctx, m.rows);
  sum_runs(ctx, of_chunks.data(), first, sums.size(), sums.data());
  return sums;
}

struct block_ends {
  std::int64_t first_rows[norm_order::most_blocks + 1];
};

template <class I, class O>
array<double, device> column_sums(const context<device>& ctx, const csr_view<const double, I, O, device>& m) {
  const csr_matrix<double, I, O, device> turned = transpose(ctx, m);
  const std::int64_t blocks = norm_order::blocks(m.nnz(), m.cols);
  const parts shares{m.rows, blocks};
  block_ends ends{};
  for (std::int64_t p = 0; p <= blocks; ++p) ends.first_rows[p] = shares.first(p);
  array<std::int64_t, device> starts(ctx, m.cols * blocks + 1);
  std::int64_t* const start = starts.data();
  const O* const offset = turned.offsets().data();
  const I* const row = turned.indices().data();
  for_each(ctx, starts.size(), [=] __device__(std::int64_t k) {
    const std::int64_t first = offset[k / blocks];
    const std::int64_t length = k % blocks == 0 ? 0 : offset[k / blocks + 1] - first;
    start[k] = first + lower_bound(row + first, length, ends.first_rows[k % blocks]);
  });
  array<double, device> of_blocks(ctx, starts.size() - 1);
  sum_runs(ctx, turned.values().data(), start, of_blocks.size(), of_blocks.data());
  array<double, device> sums(ctx, m.cols);
  const double* const of_block = of_blocks.data();
  double* const sum = sums.data();
  for_each(ctx, sums.size(), [=] __device__(std::int64_t c) {
    double own = 0;
    for (std::int64_t p = 0; p < blocks; ++p) own += of_block[c * blocks + p];
    sum[c] = own;
  });
  return sums;
}

double sum_by_groups(const context<device>& ctx, array<double, device> sums) {
  while (sums.size() > 1) {
    array<double, device> groups(ctx, div_up(sums.size(), norm_order::group));
    const double* const from = sums.data();
    const std::int64_t size = sums.size();
    double* const to = groups.data();
    for_each(ctx, groups.size(), [=] __device__(std::int64_t g) {
      const std::int64_t first = g * norm_order::group;
      const std::int64_t last = first + norm_order::group < size ? first + norm_order::group : size;
      double sum = 0;
      for (std::int64_t k = first; k < last; ++k) sum += from[k];
      to[g] = sum;
    });
    sums.swap(groups);
  }
  return element<double>(ctx, sums.view(), 0);
}

}  // namespace

template <value_type V, index_type O>
void scale_values_of_rows(const context<device>& ctx, span<const V, device> factors, span<const O, device> offsets,
                          span<V, device> values) {
  const auto* const factor = device_cast(factors.data());
  auto* const value = device_cast(values.data());
  for_each_entry(ctx, offsets, values.size(), [=] __device__(std::int64_t k, std::int64_t row) {
    value[k] = rounded_product(factor[row], value[k]);
  });
}

template <value_type V, index_type I>
void scale_values_of_columns(const context<device>& ctx, span<const V, device> factors, span<const I, device> indices,
                             span<V, device> values) {
  const auto* const factor = device_cast(factors.data());
  const I* const index = indices.data();
  auto* const value = device_cast(values.data());
  for_each(ctx, values.size(),
           [=] __device__(std::int64_t k) { value[k] = rounded_product(factor[index[k]], value[k]); });
}

template <value_type V>
void conjugate(const context<device>& ctx, span<V, device> values) {
  auto* const value = device_cast(values.data());
  for_each(ctx, values.size(), [=] __device__(std::int64_t k) { value[k] = conj(value[k]); });
}

template <value_type V, index_type O>
void sum_rows(const context<device>& ctx, span<const V, device> values, span<const O, device> offsets,
              span<V, device> sums) {
  sum_runs(ctx, values.data(), offsets.data(), sums.size(), sums.data());
  auto* const sum = device_cast(sums.data());
  // A sum that starts with 0 is never -0.
  for_each(ctx, sums.size(), [=] __device__(std::int64_t r) { sum[r] = rounded_sum(sum[r], device_value_t<V>{}); });
}

template <value_type V, index_type I, index_type O>
matrix_norms norms_of(const context<device>& ctx, const csr_view<const V, I, O, device>& m) {
  if (m.nnz() == 0) return {};
  array<double, device> magnitudes(ctx, m.nnz());
  const auto* const value = device_cast(m.values.data());
  double* const number = magnitudes.data();
  for_each(ctx, m.nnz(), [=] __device__(std::int64_t k) { number[k] = magnitude(value[k]); });
  const double largest = largest_of(ctx, magnitudes);
  if (std::isnan(largest)) return {largest, largest, largest, largest};
  const csr_view<const double, I, O, device> numbers{{m}, magnitudes.view()};
  const double infinity = largest_of(ctx, row_sums(ctx, numbers));
  matrix_norms found{largest_of(ctx, column_sums(ctx, numbers)), infinity, largest, largest};
  if (largest == 0 || std::isinf(largest)) return found;
  for_each(ctx, m.nnz(), [=] __device__(std::int64_t k) {
    const double part = number[k] / largest;
    number[k] = part * part;
  });
  found.frobenius = largest * std::sqrt(sum_by_groups(ctx, row_sums(ctx, numbers)));
  return found;
}

#define INSTANTIATE_V(V) template void conjugate(const context<device>&, span<V, device>);
INSTANTIATE_V(std::complex<float>)
INSTANTIATE_V(std::complex<double>)

#define INSTANTIATE_VI(V, I)                                                                                  \
  template void scale_values_of_rows(const context<device>&, span<const V, device>, span<const I, device>,    \
                                     span<V, device>);                                                        \
  template void scale_values_of_columns(const context<device>&, span<const V, device>, span<const I, device>, \
                                        span<V, device>);                                                     \
  template void sum_rows(const context<device>&, span<const V, device>, span<const I, device>, span<V, device>);
SPARGO_FOR_EACH_VALUE_INDEX(INSTANTIATE_VI)

#define INSTANTIATE(V, I, O) \
  template matrix_norms norms_of(const context<device>&, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::algebra
