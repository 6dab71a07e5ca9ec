// The copy that binned products run from: its shape, its arrays, and how it is made.
#pragma once

#include "core/device/complex.cuh"
#include "sparse/spmv/copies/binned/binned.hpp"

#include <spargo/core/array.hpp>

#include <cstdint>

namespace spargo::detail::spmv {

// Entries lie by column block, then by bin, in any order within a cell: cell (block, bin) is the places starts[block *
// bins + bin] to the next start. A bin is a tile of the merge path: an equal share of rows + entries, in CSR's order.
template <class V>
struct binned_matrix {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t blocks = 0;  // of columns
  std::int64_t bins = 0;
  std::int64_t bin_items = 0;  // rows + entries of each bin but the last

  array<std::uint32_t, device> bin_rows;   // bins + 1: rows finished before the bin
  array<std::int64_t, device> carry_rows;  // the row that the bin's last entries belong to; -1: it ends there
  array<std::uint16_t, device> row_ends;   // where each row ends in its bin, in entries
  array<std::uint32_t, device> starts;     // blocks * bins + 1
  array<std::uint32_t, device> columns;    // that have entries, ascending; none: all columns count
  // By place, with zeros up to a multiple of four behind the last one.
  array<std::uint16_t, device> block_columns;  // the column in its block
  array<std::uint16_t, device> bin_places;     // the entry in its bin
  array<V, device> values;
};

struct binned_shape {
  std::int64_t block_columns;  // <= 2^16
  std::int64_t bin_items;      // < 2^16
};

// How many columns have entries, and the number of each among these.
struct used_columns {
  std::int64_t count = 0;
  array<std::uint32_t, device> words;  // one bit per column
  array<std::int64_t, device> bases;   // columns used before those of the word
};

// O(cols + nnz); synchronises the stream.
template <class I>
[[nodiscard]] used_columns count_used(const context<device>& ctx, const I* indices, std::int64_t nnz,
                                      std::int64_t cols);

// Of 1000: how many sectors of x a sample of 1000 consecutive entries touches. Synchronises the stream.
template <class I>
[[nodiscard]] std::int64_t sectors_per_1000(const context<device>& ctx, const I* indices, std::int64_t nnz,
                                            std::int64_t value_bytes);

// `used`: null where the columns are taken as they are. Asynchronous.
template <class V, class I, class O>
[[nodiscard]] binned_matrix<V> bin_entries(const context<device>& ctx, const csr_view<const V, I, O, device>& matrix,
                                           const used_columns* used, const binned_shape& shape);

// values[place] = values of the CSR matrix. Asynchronous.
template <class V>
void place_values(const context<device>& ctx, const V* values, binned_matrix<V>& matrix);

}  // namespace spargo::detail::spmv
