// Loops over the entries of a CSR matrix and their rows, the same work for every lane whatever the lengths of the rows:
// a warp takes tiles of 512 neighbouring entries, searches for the rows of the first and the last, and its lanes search
// between them.
#pragma once

#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "sparse/algebra/backend.hpp"

#include <spargo/primitives/scan.hpp>

namespace spargo::detail::algebra {

inline constexpr std::int64_t tile_words = 16;
inline constexpr std::int64_t tile_entries = tile_words * warp_size;

[[nodiscard]] inline launch_shape warp_per_tile(const context<device>& ctx, std::int64_t nnz) {
  return grid_stride(ctx, div_up(nnz, tile_entries) * warp_size);
}

// f(entry, row), by warps for 32 neighbouring entries from a multiple of 32 on; every lane of a warp calls it equally
// often (entry = nnz: none). A single row needs no offsets.
template <class O, class F>
__device__ __forceinline__ void for_each_entry_of_warps(const O* offsets, std::int64_t rows, std::int64_t nnz, F f) {
  const auto row_of = [&](std::int64_t entry, std::int64_t first, std::int64_t last) {
    return first_where(first, last,
                       [&](std::int64_t row) { return static_cast<std::int64_t>(offsets[row + 1]) > entry; });
  };
  const int lane = lane_id();
  for (std::int64_t tile = global_thread() / warp_size; tile * tile_entries < nnz; tile += grid_threads() / warp_size) {
    const std::int64_t first = tile * tile_entries;
    const std::int64_t last = first + tile_entries < nnz ? first + tile_entries : nnz;
    std::int64_t row = row_of(lane == 0 ? first : last - 1, 0, rows - 1);
    const std::int64_t last_row = shuffle(row, 1);
    std::int64_t first_row = shuffle(row, 0);
    for (std::int64_t base = first; base < last; base += warp_size) {
      const std::int64_t entry = base + lane;
      if (entry < last) row = row_of(entry, first_row, last_row);
      f(entry < last ? entry : nnz, row);
      first_row = shuffle(row, warp_size - 1);
    }
  }
}

template <class O, class F>
__global__ void __launch_bounds__(block_threads)
    for_each_entry_kernel(const O* offsets, std::int64_t rows, std::int64_t nnz, F f) {
  for_each_entry_of_warps(offsets, rows, nnz, [&](std::int64_t entry, std::int64_t row) {
    if (entry < nnz) f(entry, row);
  });
}

// f(entry, row) for every entry; asynchronous. `f` is a __device__ lambda.
template <class O, class F>
void for_each_entry(const launch_site& at, span<const O, device> offsets, std::int64_t nnz, F f) {
  if (nnz == 0) return;
  const device_guard guard(at.ctx);
  launch_kernel(at, warp_per_tile(at.ctx, nnz), for_each_entry_kernel<O, F>, offsets.data(), offsets.size() - 1, nnz,
                f);
}

// to[k] = from[source]
__device__ __forceinline__ void move_value(const value_moves& moves, std::int64_t k, std::int64_t source) {
  const auto move = [&]<class Word>(Word) {
    static_cast<Word*>(moves.to)[k] = static_cast<const Word*>(moves.from)[source];
  };
  if (moves.bytes == 8) return move(uint2{});
  if (moves.bytes == 4) return move(0U);
  if (moves.bytes == 16) return move(uint4{});
}

template <class O>
struct device_offsets {
  array<O, device> offsets;
  std::int64_t nnz;
};

template <class O, class Length>
__global__ void __launch_bounds__(block_threads)
    lengths_kernel(std::int64_t rows, Length length, O* lengths, count64* total) {
  count64 mine = 0;
  for (std::int64_t r = global_thread(); r < rows; r += grid_threads()) {
    const O own = static_cast<O>(length(r));
    lengths[r] = own;
    mine += static_cast<count64>(own);
  }
  mine = warp_sum(mine);
  if (lane_id() == 0 && mine != 0) atomicAdd(total, mine);
}

// Offsets from length(row), of an integer that O holds. Synchronises.
template <class O, class Length>
[[nodiscard]] device_offsets<O> offsets_of(const context<device>& ctx, const char* operation, std::int64_t rows,
                                           Length length) {
  const device_guard guard(ctx);
  array<O, device> offsets(ctx, rows + 1);
  array<count64, device> total(ctx, 1);
  fill_bytes(ctx, offsets.data(), 0, sizeof(O));
  fill_zero(ctx, total);
  launch_kernel(ctx, grid_stride(ctx, rows), lengths_kernel<O, Length>, rows, length, offsets.data() + 1, total.data());
  const auto nnz = static_cast<std::int64_t>(to_host(ctx, std::as_const(total).view())[0]);
  expect_entries_fit(operation, nnz, sizeof(O));
  inclusive_scan<O, device>(ctx, std::as_const(offsets).view(), offsets.view());
  return {std::move(offsets), nnz};
}

}  // namespace spargo::detail::algebra
