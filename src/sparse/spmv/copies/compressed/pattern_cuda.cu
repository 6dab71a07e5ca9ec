// Builds the pattern of a compressed matrix on the device: widths and column ranges of slices, their places, the column
// stream. Three passes over the rows, one row per lane; integers only, so the same matrix gives the same bytes.
#include "core/instantiate.hpp"
#include "sparse/spmv/copies/compressed/build.cuh"

#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::spmv {

namespace {

// What the host must know before anything is stored.
struct pattern_totals {
  unsigned long long slots;    // of existing rows, padding included
  unsigned long long longest;  // longest row
};

// Widths, not yet known to fit the descriptor's 16 bits.
template <class O>
__global__ void __launch_bounds__(compressed_threads)
    widths_kernel(const O* offsets, std::int64_t rows, std::int64_t slices, std::int64_t* widths,
                  pattern_totals* totals) {
  __shared__ pattern_totals mine;
  if (threadIdx.x == 0) mine = {0, 0};
  __syncthreads();
  const slice_place place(compressed_threads);
  const std::int64_t length = place.row < rows ? offsets[place.row + 1] - offsets[place.row] : 0;
  const std::int64_t width = warp_max(length);
  if (place.lane == 0 && place.slice < slices) {
    const std::int64_t height = min(std::int64_t{slice_rows}, rows - place.slice * slice_rows);
    widths[place.slice] = width;
    atomicAdd(&mine.slots, static_cast<unsigned long long>(width * height));
    atomicMax(&mine.longest, static_cast<unsigned long long>(width));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(&totals->slots, mine.slots);
  atomicMax(&totals->longest, mine.longest);
}

// Bytes needed for offsets up to `range`.
__device__ inline unsigned unit_for(std::uint32_t range) { return range < 256 ? 1 : range < 65536 ? 2 : 4; }

__device__ inline void insert_difference(name_table* table, std::int64_t difference) {
  if (difference > INT32_MAX || difference < INT32_MIN) return give_up(table);
  insert_key(table, key_of(difference));
}

// Everything of a slice except its places; the bytes of its columns per row; row lengths.
template <class I, class O>
__global__ void __launch_bounds__(compressed_threads)
    describe_kernel(const O* offsets, const I* indices, std::int64_t rows, std::int64_t slices,
                    compressed_slice* described, std::int64_t* first_entry, std::uint16_t* lengths,
                    std::int64_t* column_bytes, name_table* differences) {
  const slice_place place(compressed_threads);
  if (place.slice >= slices) return;
  const bool exists = place.row < rows;
  const std::int64_t begin = exists ? offsets[place.row] : 0;
  const int length = exists ? static_cast<int>(offsets[place.row + 1] - begin) : 0;
  std::uint32_t least = UINT32_MAX;
  std::uint32_t most = 0;
  const bool naming = has_room(differences);
  for (std::int64_t e = begin; e < begin + length; ++e) {
    const auto column = static_cast<std::uint32_t>(indices[e]);
    least = min(least, column);
    most = max(most, column);
    if (naming) insert_difference(differences, std::int64_t{indices[e]} - place.row);
  }
  const int width = warp_reduce(length, maximum{});
  const bool uniform = __all_sync(full_mask, !exists || length == width);
  least = warp_reduce(least, minimum{});
  most = warp_reduce(most, maximum{});
  if (exists) lengths[place.row] = static_cast<std::uint16_t>(length);
  if (place.lane != 0) return;
  const unsigned unit = width == 0 ? 1 : unit_for(most - least);
  described[place.slice] = {0,
                            0,
                            width == 0 ? 0 : least,
                            static_cast<std::uint16_t>(width),
                            static_cast<std::uint8_t>(unit),
                            static_cast<std::uint8_t>(uniform)};
  first_entry[place.slice] = begin;
  column_bytes[place.slice] = width * static_cast<std::int64_t>(unit);
}

// Stores unit_of(k) for each entry of a lane, and padding up to the slice's width.
template <class Unit, class UnitOf>
__device__ void store_lane(Unit* slice, int length, int width, int lane, UnitOf unit_of) {
  for (int k = 0; k < width; k += 4) {
    unit_quad<Unit> units{};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (k + j < length) units.v[j] = unit_of(k + j);
    }
    store_units(slice, k, lane, width, units);
  }
}

// The column stream, dictionary indices or offsets; completes the slices.
template <class I, class O>
__global__ void __launch_bounds__(compressed_threads)
    columns_kernel(const O* offsets, const I* indices, std::int64_t rows, std::int64_t slices,
                   const std::int64_t* starts, const std::int64_t* column_starts, const name_table* differences,
                   compressed_slice* described, std::uint8_t* columns) {
  const slice_place place(compressed_threads);
  if (place.slice >= slices) return;
  const compressed_slice slice = described[place.slice];
  const bool exists = place.row < rows;
  const std::int64_t begin = exists ? offsets[place.row] : 0;
  const int length = exists ? static_cast<int>(offsets[place.row + 1] - begin) : 0;
  const std::int64_t start = (differences != nullptr ? starts : column_starts)[place.slice];
  std::uint8_t* const to = columns + start * slice_rows;
  const I* const entries = indices + begin;
  const auto store = [&](auto unit) {
    using Unit = decltype(unit);
    store_lane(reinterpret_cast<Unit*>(to), length, slice.width, place.lane,
               [&](int k) { return static_cast<Unit>(static_cast<std::uint32_t>(entries[k]) - slice.base); });
  };
  if (differences != nullptr) {
    store_lane(to, length, slice.width, place.lane,
               [&](int k) { return name_of(differences, key_of(std::int64_t{entries[k]} - place.row)); });
  } else if (slice.unit == 1) {
    store(std::uint8_t{});
  } else if (slice.unit == 2) {
    store(std::uint16_t{});
  } else {
    store(std::uint32_t{});
  }
  if (place.lane == 0) {
    described[place.slice].start = static_cast<std::uint32_t>(starts[place.slice]);
    described[place.slice].column_start = static_cast<std::uint32_t>(start);
  }
}

// In place; the array has one element more than items. Returns their sum.
[[nodiscard]] std::int64_t scan_places(const context<device>& ctx, array<std::int64_t, device>& items) {
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(items).view(), items.view());
  return to_host(ctx, std::as_const(items).view().subspan(items.size() - 1, 1))[0];
}

[[nodiscard]] array<std::int64_t, device> zeros(const context<device>& ctx, std::int64_t size) {
  array<std::int64_t, device> all(ctx, size);
  fill_zero(ctx, all.view());
  return all;
}

// Whether the copy is small enough, before it is made.
template <class I, class O>
[[nodiscard]] std::string no_saving(const pattern_request& request, const csr_pattern_view<I, O, device>& matrix,
                                    const compressed_pattern& p, std::int64_t column_units) {
  if (request.demand == copy_demand::by_name) return {};
  const std::int64_t before = matrix.nnz() * (request.value_bytes + static_cast<std::int64_t>(sizeof(I))) +
                              matrix.offsets.size() * static_cast<std::int64_t>(sizeof(O));
  const int value_bytes = request.values_named ? 1 : request.value_bytes;
  return reason_against_compressing(
      {.rows = static_cast<std::int64_t>(matrix.rows),
       .csr_bytes = before,
       .compressed_bytes = p.bytes() + slice_rows * (column_units + p.groups * value_bytes)});
}

}  // namespace

template <class I, class O>
pattern_attempt compress_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& matrix,
                                 const pattern_request& request) {
  const device_guard guard(ctx);
  const std::int64_t rows = matrix.rows;
  const std::int64_t slices = div_up(rows, slice_rows);
  const launch_shape shape = a_warp_each(slices);

  array<pattern_totals, device> totals(ctx, 1);
  fill_zero(ctx, totals.view());
  auto starts = zeros(ctx, slices + 1);
  launch_kernel(ctx, shape, widths_kernel<O>, matrix.offsets.data(), rows, slices, starts.data(), totals.data());
  const pattern_totals found = to_host(ctx, std::as_const(totals).view())[0];
  auto refused =
      reason_against_compressing({rows, static_cast<std::int64_t>(matrix.cols), matrix.nnz(),
                                  static_cast<std::int64_t>(found.slots), static_cast<std::int64_t>(found.longest)},
                                 request.demand);
  if (!refused.empty()) return {{}, std::move(refused)};

  compressed_pattern p;
  p.rows = rows;
  p.nnz = matrix.nnz();
  p.slices = array<compressed_slice, device>(ctx, slices);
  p.first_entry = array<std::int64_t, device>(ctx, slices);
  p.lengths = array<std::uint16_t, device>(ctx, rows);
  auto column_starts = zeros(ctx, slices + 1);
  auto differences = make_names(ctx);
  launch_kernel(ctx, shape, describe_kernel<I, O>, matrix.offsets.data(), matrix.indices.data(), rows, slices,
                p.slices.data(), p.first_entry.data(), p.lengths.data(), column_starts.data(), differences.data());
  const int named = rank_names(ctx, differences);
  p.groups = scan_places(ctx, starts);
  std::int64_t column_units = scan_places(ctx, column_starts);
  if (named <= most_names && (request.values_named || column_units > p.groups)) {
    p.encoding = column_encoding::named;
    p.differences = std::move(differences);
    p.named = named;
    column_units = p.groups;
  }
  refused = no_saving(request, matrix, p, column_units);
  if (!refused.empty()) return {{}, std::move(refused)};
  if (column_units > UINT32_MAX) return {{}, "its columns need more than 128 GiB"};
  p.columns = array<std::uint8_t, device>(ctx, column_units * slice_rows);
  launch_kernel(ctx, shape, columns_kernel<I, O>, matrix.offsets.data(), matrix.indices.data(), rows, slices,
                starts.data(), column_starts.data(), p.differences.data(), p.slices.data(), p.columns.data());
  return {std::move(p), {}};
}

#define INSTANTIATE(I, O)                                                                                  \
  template pattern_attempt compress_pattern(const context<device>&, const csr_pattern_view<I, O, device>&, \
                                            const pattern_request&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
