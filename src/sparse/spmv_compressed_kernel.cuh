// Products with a compressed matrix: a warp a slice, a lane a row, whatever the encoding of columns and values.
//
// A source gives a row's terms, four at a time where the row has them, so that four loads of each kind are in flight.
#pragma once

#include "sparse/spmv_compressed.cuh"
#include "sparse/spmv_device.cuh"

namespace spargo::detail {

// What hides the latency is the number of warps: on an H200, ms, banded 8.4M x 15 in fp32 and fp64, 5-point Laplacian
// 4096 x 4096 in fp32: all 2048 threads of a multiprocessor (32 registers each) .201, .312, .209; 1536 .246, .360, .231
// with two slices a warp at once; 1024 .259, .337, .349 with four quads of a row at once.
struct compressed_tuning {
  template <class D>
  static constexpr int resident_threads = std::is_floating_point_v<D> ? 2048 : 1024;
};

// Units of a slice, as a lane reads them. Marked as read once, so that x keeps the caches.
template <class Unit>
struct unit_reader {
  const Unit* units;  // the slice's
  int width;
  int lane;

  // Entries k .. k+3, k a multiple of four and k + 4 <= width.
  __device__ unit_quad<Unit> whole(int k) const {
    using word = std::conditional_t<sizeof(Unit) == 1, unsigned, std::conditional_t<sizeof(Unit) == 2, uint2, uint4>>;
    const word raw = __ldcs(reinterpret_cast<const word*>(units + unit_place(k, lane, width)));
    unit_quad<Unit> quad;
    __builtin_memcpy(&quad, &raw, sizeof(quad));
    return quad;
  }
  __device__ Unit one(int k) const { return __ldcs(units + unit_place(k, lane, width)); }
};

template <class D>
__device__ D read_once(const D* p) {
  if constexpr (sizeof(D) == 4) {
    return __ldcs(p);
  } else {
    using word = std::conditional_t<sizeof(D) == 8, uint2, uint4>;
    const word raw = __ldcs(reinterpret_cast<const word*>(p));
    D value;
    __builtin_memcpy(&value, &raw, sizeof(value));
    return value;
  }
}

// Four terms or fewer of a row's sum: the value of an entry and the element of x that it meets.
template <class D>
struct terms {
  D value[4];
  D x[4];
};

// Columns as offsets from the slice's first one, values as they are.
template <class D, class Unit>
struct plain_source {
  unit_reader<Unit> offsets;
  const D* values;  // the lane's first; the next is slice_rows further
  const D* x;       // of the column that offsets count from

  __device__ terms<D> whole(int k) const {
    const unit_quad<Unit> offset = offsets.whole(k);
    terms<D> t;
#pragma unroll
    for (int j = 0; j < 4; ++j) t.value[j] = read_once(values + value_place(k + j, 0));
#pragma unroll
    for (int j = 0; j < 4; ++j) t.x[j] = read(x + offset.v[j]);
    return t;
  }
  __device__ terms<D> some(int k, int count) const {
    terms<D> t;
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      if (j < count) {
        t.value[j] = read_once(values + value_place(k + j, 0));
        t.x[j] = read(x + offsets.one(k + j));
      }
    }
    return t;
  }
};

// In the order of the entries, one fused multiply-add each.
template <class D, class Source>
__device__ D row_sum(const Source& source, int length) {
  D sum{};
  int k = 0;
#pragma unroll 1
  for (; k + 4 <= length; k += 4) {
    const terms<D> t = source.whole(k);
#pragma unroll
    for (int j = 0; j < 4; ++j) sum = multiply_add(t.value[j], t.x[j], sum);
  }
  const terms<D> t = source.some(k, length - k);
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    if (k + j < length) sum = multiply_add(t.value[j], t.x[j], sum);
  }
  return sum;
}

struct compressed_arguments {
  const compressed_slice* slices;
  const std::uint16_t* lengths;
  const std::uint8_t* columns;
  std::int64_t rows;
};

template <class D>
struct product_arguments {
  const D* x;
  D alpha;
  D beta;
  D* y;
};

template <class D>
__global__ void __launch_bounds__(compressed_threads, compressed_tuning::resident_threads<D> / compressed_threads)
    plain_kernel(compressed_arguments a, const D* values, product_arguments<D> p) {
  const slice_place here;
  if (here.row >= a.rows) return;
  const compressed_slice slice = a.slices[here.slice];
  const int length = slice.uniform != 0 ? slice.width : a.lengths[here.row];
  const std::uint8_t* const columns = a.columns + std::int64_t{slice.column_start} * slice_rows;
  const D* const mine = values + std::int64_t{slice.start} * slice_rows + here.lane;
  const auto sum_of = [&](auto unit) {
    using Unit = decltype(unit);
    const unit_reader<Unit> offsets{reinterpret_cast<const Unit*>(columns), slice.width, here.lane};
    return row_sum<D>(plain_source<D, Unit>{offsets, mine, p.x + slice.base}, length);
  };
  D sum;
  if (slice.unit == 1) {
    sum = sum_of(std::uint8_t{});
  } else if (slice.unit == 2) {
    sum = sum_of(std::uint16_t{});
  } else {
    sum = sum_of(std::uint32_t{});
  }
  update(p.y[here.row], p.alpha, sum, p.beta);
}

}  // namespace spargo::detail
