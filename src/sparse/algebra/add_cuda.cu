// Sums of canonical matrices on a device. An entry finds its place in the other matrix's row by binary search: it lies
// behind the entries of its own row before it, and the other row's smaller columns, less the columns that both have
// before it. 8 lanes per row; O(entries * log(longest row)).
#include "core/device/launch.cuh"
#include "core/device/row_groups.cuh"
#include "core/instantiate.hpp"
#include "sparse/algebra/backend.hpp"
#include "sparse/rounded.cuh"

#include <spargo/primitives/scan.hpp>

namespace spargo::detail::algebra {

namespace {

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    check_order_kernel(const O* offsets, const I* columns, std::int64_t rows, int* ascends) {
  for_each_row(rows, [&](std::int64_t row, int lane) {
    if (row == rows) return;
    const std::int64_t last = offsets[row + 1];
    for (std::int64_t q = offsets[row] + std::int64_t{1} + lane; q < last; q += row_lanes) {
      if (columns[q - 1] >= columns[q]) *ascends = 0;
    }
  });
}

// A row's columns.
template <class I>
struct row_span {
  const I* columns = nullptr;
  std::int64_t first = 0;  // of its entries in the matrix
  std::int64_t size = 0;

  [[nodiscard]] __device__ std::int64_t place_of(I column) const {
    return first_where(std::int64_t{0}, size, [&](std::int64_t i) { return columns[i] >= column; });
  }
};

template <class I, class O>
__device__ __forceinline__ row_span<I> row_of(const O* offsets, const I* columns, std::int64_t row, std::int64_t rows) {
  if (row == rows) return {};
  const std::int64_t first = offsets[row];
  return {columns + first, first, offsets[row + 1] - first};
}

template <class I, class O>
struct pattern_arrays {
  const O* offsets;
  const I* columns;
};

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_union_kernel(const pattern_arrays<I, O> a, const pattern_arrays<I, O> b, std::int64_t rows, O* lengths,
                       count64* total) {
  count64 mine = 0;
  for_each_row(rows, [&](std::int64_t row, int lane) {
    const auto x = row_of(a.offsets, a.columns, row, rows);
    const auto y = row_of(b.offsets, b.columns, row, rows);
    std::int64_t common = 0;
    for (std::int64_t i = lane; i < x.size; i += row_lanes) {
      const std::int64_t place = y.place_of(x.columns[i]);
      common += place < y.size && y.columns[place] == x.columns[i];
    }
    const std::int64_t both = group_sum(common, row_lanes);
    if (row == rows || lane != 0) return;
    lengths[row] = static_cast<O>(x.size + y.size - both);
    mine += static_cast<count64>(x.size + y.size - both);
  });
  mine = warp_sum(mine);
  if (lane_id() == 0 && mine != 0) atomicAdd(total, mine);
}

// Values of a pattern.
struct no_sums {};

template <class D>
struct scaled_values {
  const D* values;
  D factor;
  bool is_one;  // a complex product with 1 would make NaN of (infinity, 0)

  [[nodiscard]] __device__ D operator[](std::int64_t k) const {
    return is_one ? values[k] : rounded_product(factor, values[k]);
  }
};

// Writes x's entries into the sum's row, those alone that y lacks if y writes the others.
template <bool WithCommon, class I, class X, class Y, class D>
__device__ __forceinline__ void write_side(const row_span<I>& x, const X& x_values, const row_span<I>& y,
                                           const Y& y_values, int lane, std::int64_t to, I* columns, D* sums) {
  std::int64_t common_before = 0;
  for (std::int64_t from = 0; __any_sync(full_mask, from < x.size) != 0; from += row_lanes) {
    const std::int64_t i = from + lane;
    const bool is_entry = i < x.size;
    const I column = is_entry ? x.columns[i] : I{0};
    const std::int64_t place = is_entry ? y.place_of(column) : 0;
    const bool is_common = is_entry && place < y.size && y.columns[place] == column;
    const unsigned common = group_ballot(is_common);
    if (is_entry && (WithCommon || !is_common)) {
      const std::int64_t at = to + i + place - common_before - __popc(common & ((1U << lane) - 1));
      columns[at] = column;
      if constexpr (!std::is_same_v<D, no_sums>) {
        const D mine = x_values[x.first + i];
        sums[at] = is_common ? rounded_sum(mine, y_values[y.first + place]) : mine;
      }
    }
    common_before += __popc(common);
  }
}

template <class I, class O, class Values, class D>
__global__ void __launch_bounds__(block_threads)
    write_union_kernel(const pattern_arrays<I, O> a, const Values a_values, const pattern_arrays<I, O> b,
                       const Values b_values, std::int64_t rows, const O* offsets, I* columns, D* sums) {
  for_each_row(rows, [&](std::int64_t row, int lane) {
    const auto x = row_of(a.offsets, a.columns, row, rows);
    const auto y = row_of(b.offsets, b.columns, row, rows);
    const std::int64_t to = row < rows ? offsets[row] : O{0};
    write_side<true>(x, a_values, y, b_values, lane, to, columns, sums);
    write_side<false>(y, b_values, x, a_values, lane, to, columns, sums);
  });
}

}  // namespace

template <index_type I, index_type O>
bool has_canonical_rows(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix) {
  if (matrix.nnz() == 0) return true;
  const device_guard guard(ctx);
  array<int, device> ascends(ctx, 1);
  fill_bytes(ctx, ascends.data(), 1, sizeof(int));
  launch_kernel(ctx, grid_stride(ctx, std::int64_t{matrix.rows} * row_lanes), check_order_kernel<I, O>,
                matrix.offsets.data(), matrix.indices.data(), matrix.rows, ascends.data());
  return to_host(ctx, std::as_const(ascends).view())[0] != 0;
}

template <entry_type V, index_type I, index_type O>
csr_matrix<V, I, O, device> device_sum(const context<device>& ctx, V alpha, const csr_view<const V, I, O, device>& a,
                                       V beta, const csr_view<const V, I, O, device>& b) {
  const device_guard guard(ctx);
  const std::int64_t rows = a.rows;
  array<O, device> offsets(ctx, rows + 1);
  array<count64, device> total(ctx, 1);
  fill_zero(ctx, offsets);
  fill_zero(ctx, total);
  const pattern_arrays<I, O> left{a.offsets.data(), a.indices.data()};
  const pattern_arrays<I, O> right{b.offsets.data(), b.indices.data()};
  const launch_shape shape = grid_stride(ctx, rows * row_lanes);
  launch_kernel(ctx, shape, count_union_kernel<I, O>, left, right, rows, offsets.data() + 1, total.data());
  const auto nnz = static_cast<std::int64_t>(to_host(ctx, std::as_const(total).view())[0]);
  expect_entries_fit("add", nnz, sizeof(O));
  inclusive_scan<O, device>(ctx, std::as_const(offsets).view(), offsets.view());
  array<I, device> indices(ctx, nnz);
  array<V, device> values(ctx, is_pattern<V> ? 0 : nnz);
  if constexpr (is_pattern<V>) {
    launch_kernel(ctx, shape, write_union_kernel<I, O, no_sums, no_sums>, left, no_sums{}, right, no_sums{}, rows,
                  offsets.data(), indices.data(), nullptr);
  } else {
    using D = device_value_t<V>;
    const auto scaled = [](V factor, const V* from) {
      return scaled_values<D>{device_cast(from), to_device_value(factor), factor == V(1)};
    };
    launch_kernel(ctx, shape, write_union_kernel<I, O, scaled_values<D>, D>, left, scaled(alpha, a.values.data()),
                  right, scaled(beta, b.values.data()), rows, offsets.data(), indices.data(),
                  device_cast(values.data()));
  }
  return {a.rows, a.cols, std::move(offsets), std::move(indices), std::move(values)};
}

#define INSTANTIATE_PATTERN(I, O) \
  template bool has_canonical_rows(const context<device>&, const csr_pattern_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE_PATTERN)

#define INSTANTIATE(V, I, O)                                                                                         \
  template csr_matrix<V, I, O, device> device_sum(const context<device>&, V, const csr_view<const V, I, O, device>&, \
                                                  V, const csr_view<const V, I, O, device>&);
SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::algebra
