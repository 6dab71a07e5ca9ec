// The copy for binned products: shape, arrays, construction.
#pragma once

#include "core/device/complex.cuh"
#include "sparse/spmv/copies/binned/binned.hpp"

#include <spargo/core/array.hpp>

#include <cstdint>

namespace spargo::detail::spmv {

// Entries are grouped by column block, then by bin, in any order within a cell; cell (block, bin) starts at place
// starts[block * bins + bin]. A bin is a tile of the merge path: an equal share of rows + entries, in CSR's order.
template <class V>
struct binned_matrix {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t blocks = 0;  // column blocks
  std::int64_t bins = 0;
  std::int64_t bin_items = 0;  // rows + entries of each bin but the last

  array<std::uint32_t, device> bin_rows;   // bins + 1: rows finished before the bin
  array<std::int64_t, device> carry_rows;  // the row that continues in the next bin; -1: none
  array<std::uint16_t, device> row_ends;   // end of each row within its bin, in entries
  array<std::uint32_t, device> starts;     // blocks * bins + 1
  array<std::uint32_t, device> columns;    // columns that have entries, ascending; empty: all columns
  // By place, padded with zeros to a multiple of four.
  array<std::uint16_t, device> block_columns;  // column within its block
  array<std::uint16_t, device> bin_places;     // entry within its bin
  array<V, device> values;
};

struct binned_shape {
  std::int64_t block_columns;  // <= 2^16
  std::int64_t bin_items;      // < 2^16
};

// How many columns have entries, and the numbering of these.
struct used_columns {
  std::int64_t count = 0;
  array<std::uint32_t, device> words;  // one bit per column
  array<std::int64_t, device> bases;   // used columns before each word
};

// O(cols + nnz); synchronises the stream.
template <class I>
[[nodiscard]] used_columns count_used(const context<device>& ctx, const I* indices, std::int64_t nnz,
                                      std::int64_t cols);

// Sectors of x that 1000 consecutive entries read, from a sample. Synchronises the stream.
template <class I>
[[nodiscard]] std::int64_t sectors_per_1000(const context<device>& ctx, const I* indices, std::int64_t nnz,
                                            std::int64_t value_bytes);

// `used`: null if columns are not renumbered. Asynchronous.
template <class V, class I, class O>
[[nodiscard]] binned_matrix<V> bin_entries(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                           const used_columns* used, const binned_shape& shape);

// Copies the CSR matrix's values to their places. Asynchronous.
template <class V>
void place_values(const context<device>& ctx, const V* values, binned_matrix<V>& matrix);

}  // namespace spargo::detail::spmv
