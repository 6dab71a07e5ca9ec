// The copy for blocked products: shape, arrays, construction.
#pragma once

#include "core/device/complex.cuh"
#include "sparse/spmv/copies/blocked/blocked.hpp"

#include <spargo/core/array.hpp>

#include <bit>
#include <cstdint>

namespace spargo::detail::spmv {

// Bits needed for numbers below `count`.
[[nodiscard]] inline int key_bits(std::int64_t count) {
  return count < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
}

// How the columns are cut into blocks.
struct blocked_shape {
  std::int64_t block_columns;  // columns per block, <= 2^16
  std::int64_t most_blocks;    // entries in columns beyond these blocks belong to no block
  // Least entries of a segment in a block that form a cell: R-MAT 22 takes 0.221 ms with 4, 0.226 with 3.
  std::uint32_t least_cell = 4;
  std::int64_t window = 0;  // segments of rows within which strips are sorted by size; 0: all
};

// The order of columns in the copy: their ranks.
struct column_order {
  array<std::uint32_t, device> columns;  // by rank; empty: columns are their own ranks
  array<std::uint32_t, device> ranks;    // of the entries' columns
  std::int64_t used = 0;                 // ranks with entries; all columns if these are their own ranks
  std::int64_t popular = 0;              // ranks of the first block if these are hot columns; else 0
  std::int64_t first_block = 0;          // the first block stored as cells
  std::int64_t blocks = 0;               // the last block plus one
};

// O(cols + nnz) and a sort of the columns; synchronises the stream.
template <class I>
[[nodiscard]] column_order order_columns(const context<device>& ctx, span<const I, device> indices, std::int64_t cols,
                                         const blocked_shape& shape);

// How columns in descending use divide: prefixes of the order.
struct column_totals {
  unsigned long long linked;           // columns with entries, or whose row has entries
  unsigned long long used;             // columns with entries
  unsigned long long dense;            // columns with enough entries for a block
  unsigned long long popular_entries;  // entries of the first block's columns
};

// A square matrix whose rows and columns are renumbered alike: by descending use of the columns; of unused ones, those
// with empty rows last.
struct square_order {
  array<std::uint32_t, device> order;  // by position
  column_totals totals;
};
// `transposed`: offsets of the matrix's columns. O(rows) and a sort; synchronises the stream.
template <class O>
[[nodiscard]] square_order order_square(const context<device>& ctx, span<const O, device> offsets,
                                        span<const O, device> transposed, std::int64_t nnz, const blocked_shape& shape);

struct renumbered_square {
  array<std::int64_t, device> offsets;
  column_order columns;  // ranks are positions
};
// Of a matrix with entries. O(rows + nnz); asynchronous.
template <class I, class O>
[[nodiscard]] renumbered_square renumber_square(const context<device>& ctx,
                                                const csr_pattern_view<I, O, device>& matrix, const square_order& order,
                                                const blocked_shape& shape);

// Rows cut into segments, and segments into strips: first a segment's other entries, then its cells by block.
struct row_cut {
  std::int64_t rows = 0;
  std::int64_t segments = 0;
  std::int64_t strips = 0;
  std::int64_t gathered = 0;                   // entries whose element of x is not in shared memory
  array<std::int64_t, device> row_segments;    // rows + 1: segments before the row
  array<std::uint32_t, device> starts;         // segments + 1: entries before the segment
  array<std::int64_t, device> segment_strips;  // segments + 1: strips before the segment
};

// O(rows + nnz); synchronises the stream.
template <class O>
[[nodiscard]] row_cut cut_rows(const context<device>& ctx, span<const O, device> offsets, const column_order& order,
                               const blocked_shape& shape);

// The pattern. A strip is a part of a cell, or of a row segment's other entries, that one lane sums. Strips are grouped
// (one group per column block, the last for other entries), sorted by descending size within a group, and cut into
// chunks of a warp's width; each group starts a new chunk. A chunk's entries are in slots: first quads (one per lane,
// side by side), then the last up to three entries one by one; shorter strips have empty slots.
struct blocked_pattern {
  std::int64_t rows = 0;
  std::int64_t groups = 0;
  std::int64_t chunks = 0;
  std::int64_t cell_chunks = 0;  // chunks of the column blocks, which come first
  std::int64_t slots = 0;
  std::int64_t cell_slots = 0;

  array<std::uint32_t, device> group_chunks;  // groups + 1: chunks before the group; group g is block g
  array<std::uint32_t, device> chunk_starts;  // chunks + 1: slots before the chunk, divided by the warp size
  array<std::uint16_t, device> strip_sizes;   // by place (chunk and lane)
  array<std::uint32_t, device> places;        // by strip
  array<std::uint32_t, device> row_strips;    // rows + 1: strips before the row
  array<std::uint32_t, device> sources;       // by slot: the entry

  // Rows with many strips, by descending count: hubs, then rows for a warp, then rows for a group of lanes.
  std::int64_t hub_rows = 0;
  std::int64_t warp_rows = 0;
  std::int64_t group_rows = 0;
  array<std::uint32_t, device> long_rows;
  array<std::uint32_t, device> hub_parts;  // hubs + 1: parts before the hub
  array<std::uint32_t, device> part_hubs;  // by part
};

// The slot of a strip's entry k in a chunk whose strips have up to `size` entries.
[[nodiscard]] __device__ inline std::int64_t slot_of(std::uint32_t chunk_start, std::uint32_t size, std::uint32_t lane,
                                                     std::uint32_t k) {
  const std::int64_t first = static_cast<std::int64_t>(chunk_start) * warp_size;
  if (k < (size & ~3U)) return first + (k & ~3U) * warp_size + 4 * lane + (k & 3U);
  return first + k * warp_size + lane;
}

// O(rows + nnz) and a sort of the strips; synchronises the stream.
[[nodiscard]] blocked_pattern arrange_entries(const context<device>& ctx, const column_order& order, const row_cut& cut,
                                              const blocked_shape& shape);

// shares[i] = first chunk of cells of thread block i: equal shares of entries and chunks. Asynchronous.
[[nodiscard]] array<std::uint32_t, device> share_chunks(const context<device>& ctx, const blocked_pattern& pattern,
                                                        std::int64_t blocks);

}  // namespace spargo::detail::spmv
