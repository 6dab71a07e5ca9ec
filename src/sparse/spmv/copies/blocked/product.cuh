// First pass of a blocked product: the sum of each strip. The second pass (add.cuh) adds each row's strips and hands
// the sum to an epilogue: alpha and beta of SpMV, a step of PageRank.
//
// The value policy is a class: weighted_strips multiplies the elements of x by the matrix's values, pattern_strips adds
// them. Both share the pattern (device.cuh) and the second pass; their loads differ, since a pattern is 2 bytes per
// entry of a cell where values make it 6 or 10 (decisions.md).
#pragma once

#include "core/bytes_of.hpp"
#include "sparse/spmv/copies/blocked/add.cuh"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <utility>

namespace spargo::detail::spmv {

// Kept by both policies: the arranged strips and their sums.
template <class V>
struct strip_buffers {
  strip_buffers(const context<device>& on, blocked_pattern from)
      : ctx(on),
        pattern(std::move(from)),
        blocks(std::min<std::int64_t>(on.properties().multiprocessors, pattern.chunks)),
        shares(share_chunks(on, pattern, blocks)),
        sums(on, pattern.chunks * warp_size),
        part_sums(on, pattern.part_hubs.size()),
        arrived(on, pattern.hub_rows) {
    fill_zero(on, arrived.view());
  }

  // The argument of the second pass.
  [[nodiscard]] strip_arguments<device_value_t<V>> strips() const {
    return {.rows = pattern.rows,
            .row_strips = pattern.row_strips.data(),
            .places = pattern.places.data(),
            .sums = device_cast(sums.data()),
            .long_rows = pattern.long_rows.data(),
            .hub_rows = pattern.hub_rows,
            .warp_rows = pattern.warp_rows,
            .group_rows = pattern.group_rows,
            .parts = pattern.part_hubs.size(),
            .hub_parts = pattern.hub_parts.data(),
            .part_hubs = pattern.part_hubs.data(),
            .part_sums = device_cast(part_sums.data()),
            .arrived = arrived.data()};
  }
  [[nodiscard]] std::int64_t bytes() const {
    return bytes_of(pattern.group_chunks, pattern.chunk_starts, pattern.strip_sizes, pattern.places, pattern.row_strips,
                    pattern.sources, pattern.long_rows, pattern.hub_parts, pattern.part_hubs, shares, sums, part_sums,
                    arrived);
  }

  context<device> ctx;
  blocked_pattern pattern;
  std::int64_t blocks;                      // of the first pass
  array<std::uint32_t, device> shares;      // blocks + 1: first chunk of cells of each thread block
  mutable array<V, device> sums;            // by chunk and lane, written by each product
  mutable array<V, device> part_sums;       // of hubs
  mutable array<unsigned, device> arrived;  // by hub
};

// Shared memory for a column block's part of x, one thread block per SM: R-MAT 22 fp32 0.221, with 216 KiB 0.265, since
// L1 then lacks space for loads in flight.
inline constexpr std::int64_t part_bytes = std::int64_t{192} * 1024;
template <class D>
inline constexpr std::int64_t part_columns = part_bytes / static_cast<std::int64_t>(sizeof(D));

// Strips of a matrix with values.
template <class V>
class weighted_strips {
 public:
  using D = device_value_t<V>;

  // `order` is the one that the pattern was arranged with, `values` are those of the matrix. Synchronizes the stream.
  weighted_strips(const context<device>& ctx, blocked_pattern pattern, column_order order, const V* values);

  // Sums all strips; x by rank. Asynchronous, as is `update`.
  void sum(const D* x) const;
  void update(const V* values);
  [[nodiscard]] strip_arguments<D> strips() const { return buffers_.strips(); }
  [[nodiscard]] std::int64_t bytes() const { return buffers_.bytes() + bytes_of(values_, cell_columns_, other_ranks_); }

 private:
  strip_buffers<V> buffers_;
  std::int64_t used_;
  std::int64_t popular_;
  array<std::uint16_t, device> cell_columns_;  // by slot of a column block: rank within the block
  array<std::uint32_t, device> other_ranks_;   // by slot after these
  array<V, device> values_;                    // by slot
};

// Strips of a pattern, whose values are all 1. V is float or double.
template <class V>
class pattern_strips {
 public:
  // `block`: elements of x per column block, from block_columns(). Synchronizes the stream.
  pattern_strips(const context<device>& ctx, blocked_pattern pattern, const column_order& order, std::int64_t block);

  // Sums all strips unless *done != 0, a number in device memory; x by rank, aligned to 16 bytes and readable as far.
  // Before the next call the caller sets *tickets() to 0 in device memory. Asynchronous.
  void sum(const V* x, const int* done) const;
  [[nodiscard]] unsigned* tickets() const { return tickets_.data(); }
  [[nodiscard]] strip_arguments<V> strips() const { return buffers_.strips(); }
  [[nodiscard]] std::int64_t bytes() const { return buffers_.bytes() + bytes_of(quads_, cells_, others_, tickets_); }

  [[nodiscard]] static std::int64_t block_columns(const device_properties& device);

 private:
  strip_buffers<V> buffers_;
  std::int64_t used_;
  std::int64_t block_;
  array<std::uint32_t, device> quads_;
  array<std::uint16_t, device> cells_;   // ranks within blocks
  array<std::uint32_t, device> others_;  // ranks
  mutable array<unsigned, device> tickets_;
};

}  // namespace spargo::detail::spmv
