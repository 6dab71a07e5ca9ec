// The host's inner loops over tiles, chosen once for the processor.
//
// A tile is the part of a matrix in up to 65536 rows and 65536 columns, numbered from the tile's corner in 16 bits. A
// segment is eight or more entries of one row, summed like a CSR row; the rest are single entries, each added to its
// row's sum.
#pragma once

#include <spargo/core/types.hpp>

#include <vector>

namespace spargo::detail::spmv {

inline constexpr std::int64_t tile_side = 65536;

struct tile_segment {
  std::uint32_t row;
  std::uint32_t length;
};

template <class V>
struct tile_job {
  const tile_segment* segments;  // their entries are consecutive
  std::int64_t segment_count;
  const std::uint16_t* segment_columns;
  const V* segment_values;
  const std::uint32_t* places;  // row * 65536 + column of each single entry
  const V* values;
  std::int64_t count;
  const V* x;  // x from the tile's first column on
  V* sums;     // sums from the tile's first row on
};

template <class V>
struct tile_loops {
  // Adds the tile's products to the sums: the segments in order, then the single entries in order.
  void (*add)(const tile_job<V>& job);
  const char* name;  // "AVX-512 gathers" or "portable"
};

// All that this processor supports, fastest last.
template <class V>
[[nodiscard]] std::vector<tile_loops<V>> usable_tile_loops();

}  // namespace spargo::detail::spmv
