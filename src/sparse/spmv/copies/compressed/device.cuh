// A compressed copy of a CSR matrix: slices of 32 rows, one row per lane of a warp, stored column by column.
//
// Each entry has a column and a value, both stored losslessly in the fewest bytes:
//   columns  an unsigned offset from the slice's first column in 1, 2 or 4 bytes, chosen per slice; or, if the whole
//            matrix has at most 256 distinct (column - row), a one-byte index into a dictionary;
//   values   unchanged; or, if the whole matrix has at most 256 distinct ones, a one-byte index into a dictionary;
//   pairs    if both are encoded and at most 256 combinations occur: one byte for both.
// A row's entries keep their order and number (padding is never multiplied) and are summed one by one with fused
// multiply-adds, so a product has the bits of row_per_thread.
//
// A stream is an array of units of 1, 2, 4 or more bytes. A slice of width w (its longest row) takes 32 w units of each
// stream: first whole quads (entries 4q .. 4q+3 of lane l side by side, 4 (32 q + l) units into the slice), so that a
// lane reads four units at once; then entry by entry. Values without a dictionary are always stored entry by entry.
//
// Source: SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske, Bishop, SIAM J. Sci. Comput. 36, 2014) with C = 32, unsorted;
// index compression after Willcock and Lumsdaine (ICS 2006), value indexing after Kourtis, Goumas, Koziris (CF 2008).
#pragma once

#include "core/cuda.cuh"
#include "core/device/complex.cuh"
#include "sparse/spmv/copies/compressed/compressed.hpp"
#include "sparse/spmv/copies/compressed/names.cuh"

#include <cstdint>

namespace spargo::detail::spmv {

inline constexpr int slice_rows = warp_size;
// Threads per block. H200, banded 8.4M x 15, ms, 64, 128, 256, 512: fp32 .211, .211, .216, .222; fp64 .313, .313, .318,
// .327.
inline constexpr int compressed_threads = 128;
// With pairs blocks read a dictionary: 5-point 4096^2 fp32, ms, 256 .151, 128 .157; 27-point 160^3 .111, .121.
inline constexpr int paired_threads = 256;
inline constexpr int longest_compressed_row = UINT16_MAX;  // limit of the type of lengths and widths

// One slice, read by a warp in one load.
struct alignas(16) compressed_slice {
  std::uint32_t start;         // start in streams of one unit per entry and of values, in units of 32
  std::uint32_t column_start;  // start of its columns, in units of 32 bytes
  std::uint32_t base;          // column offsets are relative to this
  std::uint16_t width;
  std::uint8_t unit;     // bytes per column offset
  std::uint8_t uniform;  // 1: every row has `width` entries, so lengths need not be read
};

// The position of entry k of a lane within a slice's units.
__host__ __device__ inline std::int64_t unit_place(int k, int lane, int width) {
  const int whole = width & ~3;
  return k < whole ? std::int64_t{slice_rows} * (k & ~3) + 4 * lane + (k & 3) : std::int64_t{slice_rows} * k + lane;
}

// The position of entry k of a lane within a slice's values.
__host__ __device__ inline std::int64_t value_place(int k, int lane) { return std::int64_t{slice_rows} * k + lane; }

// A thread's slice and row: one warp per slice, one lane per row, which may not exist in the last slice.
struct slice_place {
  std::int64_t slice;
  std::int64_t row;
  int lane;

  // `threads` per block must be a constant: with blockDim.x the banded matrix in fp32 takes 0.235 instead of 0.206 ms.
  __device__ explicit slice_place(int threads)
      : slice((static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x) / warp_size),
        row(slice * slice_rows + static_cast<int>(threadIdx.x) % warp_size),
        lane(static_cast<int>(threadIdx.x) % warp_size) {}
};

template <class Unit>
struct alignas(4 * sizeof(Unit)) unit_quad {
  Unit v[4];
};

// Stores up to four units of a lane, starting at entry k, a multiple of four.
template <class Unit>
__device__ void store_units(Unit* slice, int k, int lane, int width, const unit_quad<Unit>& units) {
  Unit* const to = slice + unit_place(k, lane, width);
  if (k + 4 <= width) {
    *reinterpret_cast<unit_quad<Unit>*>(to) = units;
    return;
  }
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    if (k + j < width) slice[unit_place(k + j, lane, width)] = units.v[j];
  }
}

enum class column_encoding { offsets, named };

// The pattern of a compressed matrix, on the device.
struct compressed_pattern {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t groups = 0;  // sum of the slices' widths: a stream has 32 units for each
  column_encoding encoding = column_encoding::offsets;
  array<compressed_slice, device> slices;
  array<std::int64_t, device> first_entry;  // per slice, in the CSR matrix
  array<std::uint16_t, device> lengths;     // per row
  array<std::uint8_t, device> columns;      // the column stream
  array<name_table, device> differences;    // dictionary of column - row, if used
  int named = 0;                            // dictionary size

  [[nodiscard]] std::int64_t bytes() const {
    return slices.size() * static_cast<std::int64_t>(sizeof(compressed_slice)) + 8 * first_entry.size() +
           2 * lengths.size() + columns.size() + differences.size() * static_cast<std::int64_t>(sizeof(name_table));
  }
};

// A dictionary entry of a pair. Word is as wide as a value.
template <class Word>
struct alignas(sizeof(Word) <= 4 ? 8 : 16) named_pair {
  Word value;
  std::int32_t difference;
};

enum class value_encoding {
  plain,   // one value per slot
  named,   // a stream of dictionary indices
  paired,  // one stream of indices of (column - row, value); no column stream
};

// Words that fit a dictionary key.
template <class Word>
inline constexpr bool can_be_named = sizeof(Word) <= sizeof(unsigned long long);

// The values. Word: an unsigned integer, or a pair of them, as wide as a value.
template <class Word>
struct compressed_values {
  value_encoding encoding = value_encoding::plain;
  array<Word, device> plain;
  array<std::uint8_t, device> names;
  array<name_table, device> table;        // if named: the values' bits
  array<named_pair<Word>, device> pairs;  // if paired
  int named = 0;                          // number of values or pairs

  [[nodiscard]] std::int64_t bytes() const {
    return (plain.size() * static_cast<std::int64_t>(sizeof(Word))) + names.size() +
           table.size() * static_cast<std::int64_t>(sizeof(name_table)) +
           pairs.size() * static_cast<std::int64_t>(sizeof(named_pair<Word>));
  }
};

}  // namespace spargo::detail::spmv
