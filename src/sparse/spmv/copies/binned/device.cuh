// The copy for binned products: shape, arrays, construction.
#pragma once

#include "core/device/complex.cuh"
#include "sparse/spmv/copies/binned/binned.hpp"

#include <spargo/core/array.hpp>

#include <cstdint>
#include <string>

namespace spargo::detail::spmv {

inline constexpr std::int64_t bin_group = 4;  // cells are padded to a multiple of this many entries
inline constexpr std::int64_t bin_unit = 8;   // a row's places are padded to a multiple of this many: 16 bytes

// Cell (block, bin): its start in memory and in the bin's stage, in groups.
struct bin_cell {
  std::uint32_t memory;
  std::uint32_t stage;
};

// Where the part of the entries begins that a thread block of the first pass multiplies.
struct write_start {
  std::uint32_t block;  // of columns
  std::uint32_t group;
};

// How a matrix is cut: columns into blocks whose part of x fits shared memory, rows into bins whose entries do.
struct bin_shape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t value_bytes = 0;
  std::int64_t width = 0;  // columns per block
  std::int64_t blocks = 0;
  std::int64_t bin_rows = 0;  // at most
  std::int64_t bins = 0;
  std::int64_t capacity = 0;       // entries per bin, with padding
  std::int64_t bin_units = 0;      // maximum over bins
  std::int64_t units = 0;          // total
  std::int64_t groups = 0;         // total
  std::int64_t longest = 0;        // maximum entries of a row
  std::int64_t largest_block = 0;  // maximum groups of a block

  // Shared memory of the second pass.
  [[nodiscard]] std::int64_t stage_bytes() const { return capacity * value_bytes + 16 + bin_units * bin_unit * 2; }
  // Whether a thread block takes much longer for its block of columns than others do.
  [[nodiscard]] bool is_uneven() const {
    constexpr double most = 1.3;  // ratio of the largest block's entries to the mean
    return static_cast<double>(largest_block * blocks) > most * static_cast<double>(groups);
  }
};

// Bins of equally many rows need not be looked up; those of any number of rows hold rows of very different lengths.
enum class bin_rows_rule { equal, any };

// The counted but not yet filled copy.
struct bin_cut {
  bin_shape shape;
  std::string refused;                  // why the matrix cannot be cut; empty: it is
  array<std::uint32_t, device> firsts;  // bins + 1: first row
  array<std::uint32_t, device> units;   // rows + 1: units before the row
  array<std::int64_t, device> starts;   // of the cells, by block, then by bin, plus the end; in groups
  array<write_start, device> writes;    // by thread block, plus the end
};

// The blocks of columns and the capacity of a bin; the rest is 0.
[[nodiscard]] bin_shape shape_bins(const device_properties& device, std::int64_t rows, std::int64_t columns,
                                   std::int64_t value_bytes);

// For a matrix with at least one entry; offsets may have more than shape.rows + 1 elements. Synchronizes the stream.
// O(rows + nnz + blocks * bins).
template <class I, class O>
[[nodiscard]] bin_cut cut_bins(const context<device>& ctx, span<const O, device> offsets, span<const I, device> indices,
                               const bin_shape& shape, bin_rows_rule rule);

// The pattern. Entries are grouped by column block, then by bin, in any order within a cell.
struct binned_pattern {
  bin_shape shape;
  array<std::uint32_t, device> firsts;         // bins + 1: first row
  array<bin_cell, device> cells;               // [bin][blocks + 1]
  array<std::uint32_t, device> block_starts;   // blocks + 1, in groups
  array<write_start, device> writes;           // by thread block of the first pass, plus the end
  array<std::uint16_t, device> block_columns;  // by position in memory: column within its block
  array<std::uint32_t, device> units;          // rows + 1: units before the row
  array<std::uint16_t, device> places;         // by unit: positions of the row's entries in the bin
  array<std::uint32_t, device> sources;        // by position in memory: the entry; empty for a product without values
};

enum class entry_sources { kept, dropped };

// Asynchronous.
template <class I, class O>
[[nodiscard]] binned_pattern fill_bins(const context<device>& ctx, bin_cut cut, span<const O, device> offsets,
                                       span<const I, device> indices, entry_sources sources);

// Sectors of x that 1000 consecutive entries read, from a sample. Synchronises the stream.
template <class I>
[[nodiscard]] std::int64_t sectors_per_1000(const context<device>& ctx, const I* indices, std::int64_t nnz,
                                            std::int64_t value_bytes);

}  // namespace spargo::detail::spmv
