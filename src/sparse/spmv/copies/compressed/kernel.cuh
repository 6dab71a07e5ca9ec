// Products with a compressed matrix: one warp per slice, one lane per row, for any encoding of columns and values.
//
// A source gives a row's terms, four at a time while the row has them, so that four loads of each kind are in flight.
#pragma once

#include "sparse/spmv/copies/compressed/device.cuh"
#include "sparse/spmv/device.cuh"

#include <spargo/core/device_features.cuh>

namespace spargo::detail::spmv {

// The number of warps hides the latency: H200, ms, banded 8.4M x 15 in fp32 and fp64, 5-point Laplacian 4096 x 4096 in
// fp32: all 2048 threads of an SM (32 registers each) .201, .312, .209; 1536 threads and two slices per warp at once
// .246, .360, .231; 1024 threads and four quads of a row at once .259, .337, .349.
struct compressed_tuning {
  template <class D>
  static constexpr int resident_threads = std::is_floating_point_v<D> ? 2048 : 1024;
};

// Reads a slice's units as one lane. Streaming loads, so that x stays in the caches.
template <class Unit>
struct unit_reader {
  const Unit* units;  // the slice's
  int width;
  int lane;

  // Entries k .. k+3; k is a multiple of four and k + 4 <= width.
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
__device__ D value_of_key(unsigned long long key) {
  D value;
  __builtin_memcpy(&value, &key, sizeof(value));
  return value;
}

// Up to four terms of a row's sum: values and their elements of x.
template <class D>
struct terms {
  D value[4];
  D x[4];
};

// The elements of x of a row with column offsets.
template <class D, class Unit>
struct offset_columns {
  unit_reader<Unit> offsets;
  const D* x;  // at the column that offsets are relative to

  __device__ void whole(int k, D (&met)[4]) const {
    const unit_quad<Unit> offset = offsets.whole(k);
#pragma unroll
    for (int j = 0; j < 4; ++j) met[j] = read(x + offset.v[j]);
  }
  __device__ D one(int k) const { return read(x + offsets.one(k)); }
};

// The same for dictionary-encoded column - row.
template <class D>
struct named_columns {
  unit_reader<std::uint8_t> names;
  const std::int32_t* differences;
  const D* x;  // at the row's own number, which may not exist

  __device__ void whole(int k, D (&met)[4]) const {
    const unit_quad<std::uint8_t> name = names.whole(k);
#pragma unroll
    for (int j = 0; j < 4; ++j) met[j] = read(x + differences[name.v[j]]);
  }
  __device__ D one(int k) const { return read(x + differences[names.one(k)]); }
};

// The values of a row, unencoded.
template <class D>
struct plain_values {
  const D* values;  // the lane's first value

  __device__ void whole(int k, D (&value)[4]) const {
#pragma unroll
    for (int j = 0; j < 4; ++j) value[j] = one(k + j);
  }
  __device__ D one(int k) const { return read_once(values + value_place(k, 0)); }
};

template <class D>
struct named_values {
  unit_reader<std::uint8_t> names;
  const D* values;  // the dictionary

  __device__ void whole(int k, D (&value)[4]) const {
    const unit_quad<std::uint8_t> name = names.whole(k);
#pragma unroll
    for (int j = 0; j < 4; ++j) value[j] = values[name.v[j]];
  }
  __device__ D one(int k) const { return values[names.one(k)]; }
};

template <class D, class Columns, class Values>
struct separate_source {
  Columns columns;
  Values values;

  __device__ terms<D> whole(int k) const {
    terms<D> t;
    values.whole(k, t.value);
    columns.whole(k, t.x);
    return t;
  }
  __device__ terms<D> some(int k, int count) const {
    terms<D> t;
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      if (j < count) {
        t.value[j] = values.one(k + j);
        t.x[j] = columns.one(k + j);
      }
    }
    return t;
  }
};

// (column - row, value) encoded together.
template <class D>
struct paired_source {
  unit_reader<std::uint8_t> names;
  const named_pair<D>* pairs;
  const D* x;  // at the row's own number, which may not exist

  __device__ void take(terms<D>& t, int j, std::uint8_t name) const {
    const named_pair<D> pair = pairs[name];
    t.value[j] = pair.value;
    t.x[j] = read(x + pair.difference);
  }
  __device__ terms<D> whole(int k) const {
    const unit_quad<std::uint8_t> name = names.whole(k);
    terms<D> t;
#pragma unroll
    for (int j = 0; j < 4; ++j) take(t, j, name.v[j]);
    return t;
  }
  __device__ terms<D> some(int k, int count) const {
    terms<D> t;
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      if (j < count) take(t, j, names.one(k + j));
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
  std::int64_t rows;
};

struct column_arguments {
  const std::uint8_t* columns;
  const name_table* differences;  // if columns are encoded
  int named;
};

// Values, or dictionary indices and the dictionary.
template <class D>
struct value_arguments {
  const D* plain;
  const std::uint8_t* names;
  const name_table* table;
  int named;
};

template <class D>
struct product_arguments {
  const D* x;
  D alpha;
  D beta;
  D* y;
};

struct lane_row {
  compressed_slice slice;
  std::int64_t row;
  int lane;
  int length;

  __device__ lane_row(const compressed_arguments& a, const slice_place& place)
      : slice(a.slices[place.slice]),
        row(place.row),
        lane(place.lane),
        length(slice.uniform != 0 ? slice.width : a.lengths[row]) {}

  template <class Unit>
  __device__ unit_reader<Unit> reader(const std::uint8_t* stream, std::uint32_t start) const {
    return {reinterpret_cast<const Unit*>(stream + std::int64_t{start} * slice_rows), slice.width, lane};
  }
};

// The sum of a row for given values, by the encoding of its columns.
template <column_encoding Columns, class D, class Values>
__device__ D sum_by_columns(const lane_row& r, const std::uint8_t* columns, const std::int32_t* differences, const D* x,
                            const Values& values) {
  if constexpr (Columns == column_encoding::named) {
    const named_columns<D> named{r.reader<std::uint8_t>(columns, r.slice.start), differences, x + r.row};
    return row_sum<D>(separate_source<D, named_columns<D>, Values>{named, values}, r.length);
  } else {
    const auto sum_of = [&](auto unit) {
      using Unit = decltype(unit);
      const offset_columns<D, Unit> offsets{r.reader<Unit>(columns, r.slice.column_start), x + r.slice.base};
      return row_sum<D>(separate_source<D, offset_columns<D, Unit>, Values>{offsets, values}, r.length);
    };
    if (r.slice.unit == 1) return sum_of(std::uint8_t{});
    if (r.slice.unit == 2) return sum_of(std::uint16_t{});
    return sum_of(std::uint32_t{});
  }
}

template <class D, column_encoding Columns, value_encoding Values>
__global__ void __launch_bounds__(compressed_threads,
                                  resident_blocks(compressed_tuning::resident_threads<D> / compressed_threads,
                                                  compressed_threads))
    separate_kernel(compressed_arguments a, column_arguments columns, value_arguments<D> values,
                    product_arguments<D> p) {
  __shared__ std::int32_t differences[Columns == column_encoding::named ? most_names : 1];
  __shared__ D named[Values == value_encoding::named ? most_names : 1];
  const int first = static_cast<int>(threadIdx.x);
  if constexpr (Columns == column_encoding::named) {
    for (int t = first; t < columns.named; t += compressed_threads) {
      differences[t] = static_cast<std::int32_t>(difference_of(columns.differences->sorted[t]));
    }
  }
  if constexpr (Values == value_encoding::named) {
    for (int t = first; t < values.named; t += compressed_threads) named[t] = value_of_key<D>(values.table->sorted[t]);
  }
  if constexpr (Columns == column_encoding::named || Values == value_encoding::named) __syncthreads();
  const slice_place place(compressed_threads);
  if (place.row >= a.rows) return;
  const lane_row r(a, place);
  D sum;
  if constexpr (Values == value_encoding::named) {
    const named_values<D> mine{r.reader<std::uint8_t>(values.names, r.slice.start), named};
    sum = sum_by_columns<Columns>(r, columns.columns, differences, p.x, mine);
  } else {
    const plain_values<D> mine{values.plain + std::int64_t{r.slice.start} * slice_rows + r.lane};
    sum = sum_by_columns<Columns>(r, columns.columns, differences, p.x, mine);
  }
  update(p.y[r.row], p.alpha, sum, p.beta);
}

template <class D>
__global__ void __launch_bounds__(paired_threads,
                                  resident_blocks(compressed_tuning::resident_threads<D> / paired_threads,
                                                  paired_threads))
    paired_kernel(compressed_arguments a, const std::uint8_t* names, const named_pair<D>* pairs, int count,
                  product_arguments<D> p) {
  __shared__ named_pair<D> table[most_names];
  for (int t = static_cast<int>(threadIdx.x); t < count; t += paired_threads) table[t] = pairs[t];
  __syncthreads();
  const slice_place place(paired_threads);
  if (place.row >= a.rows) return;
  const lane_row r(a, place);
  const paired_source<D> source{r.reader<std::uint8_t>(names, r.slice.start), table, p.x + r.row};
  update(p.y[r.row], p.alpha, row_sum<D>(source, r.length), p.beta);
}

}  // namespace spargo::detail::spmv
