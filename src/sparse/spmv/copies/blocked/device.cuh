// The copy that blocked products run from: its shape, its arrays, and how it is made.
#pragma once

#include "core/device/complex.cuh"
#include "sparse/spmv/copies/blocked/blocked.hpp"

#include <spargo/core/array.hpp>

#include <bit>
#include <cstdint>

namespace spargo::detail::spmv {

// Marks slots that hold no entry.
inline constexpr std::uint32_t no_entry = 0xffffffffU;

// Bits that numbers below `count` take.
[[nodiscard]] inline int key_bits(std::int64_t count) {
  return count < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
}

// How the columns are cut into blocks.
struct blocked_shape {
  std::int64_t block_columns;  // <= 2^16: of a column block
  std::int64_t most_blocks;    // of columns: the entries beyond belong to no block
  // Entries of a segment in a block that make a cell: with 4 a product of R-MAT 22 takes 0.221 ms, with 3 0.226.
  std::uint32_t least_cell = 4;
  std::int64_t window = 0;  // segments of rows within which strips are sorted by size; 0: all
};

// The columns in the order that the copy has them in: their ranks.
struct column_order {
  array<std::uint32_t, device> columns;  // by rank; none: a column is its rank
  array<std::uint32_t, device> ranks;    // of the entries' columns
  std::int64_t used = 0;                 // ranks that have entries; all columns where these are their own ranks
  std::int64_t popular = 0;              // ranks of the first block where it is the popular columns; else 0
  std::int64_t first_block = 0;          // the first one whose cells are stored apart
  std::int64_t blocks = 0;               // the last one, plus one
};

// O(cols + nnz) and a sort of the columns; synchronises the stream.
template <class I>
[[nodiscard]] column_order order_columns(const context<device>& ctx, span<const I, device> indices, std::int64_t cols,
                                         const blocked_shape& shape);

// Rows in segments, these in strips: a segment's other entries first, then its cells by block.
struct row_cut {
  std::int64_t rows = 0;
  std::int64_t segments = 0;
  std::int64_t strips = 0;
  std::int64_t gathered = 0;                   // entries whose element of x no shared memory holds
  array<std::int64_t, device> row_segments;    // rows + 1: segments before the row
  array<std::uint32_t, device> starts;         // segments + 1: entries before the segment
  array<std::int64_t, device> segment_strips;  // segments + 1: strips before the segment
};

// O(rows + nnz); synchronises the stream.
template <class O>
[[nodiscard]] row_cut cut_rows(const context<device>& ctx, span<const O, device> offsets, const column_order& order,
                               const blocked_shape& shape);

// The pattern. A strip is a part of a cell or of a row segment's other entries, which one lane sums. Strips lie by
// group (one a column block, and last the other entries'), in a group by falling size, in chunks of a warp's width; a
// group begins with a chunk of its own. A chunk's entries lie in slots: quad after quad of its strips' entries, a quad
// of each lane side by side, and then the up to three last ones one by one; lanes with fewer entries than the first one
// have slots without entries.
struct blocked_pattern {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;
  std::int64_t used = 0;
  std::int64_t popular = 0;
  std::int64_t groups = 0;
  std::int64_t chunks = 0;
  std::int64_t cell_chunks = 0;  // of the column blocks: the first ones
  std::int64_t slots = 0;
  std::int64_t cell_slots = 0;

  array<std::uint32_t, device> columns;       // as in column_order
  array<std::uint32_t, device> group_chunks;  // groups + 1: chunks before the group; group g is block g
  array<std::uint32_t, device> chunk_starts;  // chunks + 1: slots before the chunk over the warp's width
  array<std::uint16_t, device> strip_sizes;   // by place, that is chunk and lane
  array<std::uint32_t, device> places;        // by strip
  array<std::uint32_t, device> row_strips;    // rows + 1: strips before the row
  array<std::uint32_t, device> sources;       // by slot: the entry
  array<std::uint16_t, device> cell_columns;  // by slot of a column block: the rank in it
  array<std::uint32_t, device> other_ranks;   // by slot after these

  // Rows of many strips, by falling number of these: hubs, then those for a warp, then those for a group of lanes.
  std::int64_t hub_rows = 0;
  std::int64_t warp_rows = 0;
  std::int64_t group_rows = 0;
  array<std::uint32_t, device> long_rows;
  array<std::uint32_t, device> hub_parts;  // hubs + 1: parts before the hub
  array<std::uint32_t, device> part_hubs;  // by part
};

// The slot of a strip's entry k, in a chunk of strips of up to `size` entries.
[[nodiscard]] __device__ inline std::int64_t slot_of(std::uint32_t chunk_start, std::uint32_t size, std::uint32_t lane,
                                                     std::uint32_t k) {
  const std::int64_t first = static_cast<std::int64_t>(chunk_start) * warp_size;
  if (k < (size & ~3U)) return first + (k & ~3U) * warp_size + 4 * lane + (k & 3U);
  return first + k * warp_size + lane;
}

// Up to how many strips of a row one thread, a group of lanes and a warp add; a hub has more, in parts of so many.
struct strip_limits {
  std::uint32_t thread;
  std::uint32_t group;
  std::uint32_t warp;
  std::uint32_t part;
};

// O(rows + nnz) and a sort of the strips; synchronises the stream.
[[nodiscard]] blocked_pattern arrange_entries(const context<device>& ctx, column_order order, const row_cut& cut,
                                              const blocked_shape& shape, const strip_limits& limits);

// shares[i] = the first chunk of cells of thread block i: equal shares of the entries and chunks. Asynchronous.
[[nodiscard]] array<std::uint32_t, device> share_chunks(const context<device>& ctx, const blocked_pattern& pattern,
                                                        std::int64_t blocks);

}  // namespace spargo::detail::spmv
