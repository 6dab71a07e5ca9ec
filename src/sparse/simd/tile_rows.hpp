// A tile, written once over the sum of a segment. Cost: an L2 load of x and one of a sum per entry, or per segment.
#pragma once

#include "sparse/arithmetic.hpp"
#include "sparse/simd/fetch.hpp"
#include "sparse/simd/tiles.hpp"

namespace spargo::detail::spmv {

// Prefetch distance of values, columns and places, in entries. Two threads of Zen 5, fp32, ms: uniform 1M x 20 10.5
// without, 7.7 with; R-MAT 20 symmetric 13.3 and 12.2.
inline constexpr std::int64_t tile_ahead = 512;

// Four sums hide the latency of additions.
template <class V>
struct plain_segment {
  static V sum(const V* values, const std::uint16_t* columns, std::int64_t count, const V* x) {
    V s0{};
    V s1{};
    V s2{};
    V s3{};
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
      s0 += multiply(values[k], x[columns[k]]);
      s1 += multiply(values[k + 1], x[columns[k + 1]]);
      s2 += multiply(values[k + 2], x[columns[k + 2]]);
      s3 += multiply(values[k + 3], x[columns[k + 3]]);
    }
    for (; k < count; ++k) s0 += multiply(values[k], x[columns[k]]);
    return (s0 + s1) + (s2 + s3);
  }
};

template <class Segment, class V>
[[gnu::always_inline]] inline void add_tile(const tile_job<V>& job) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(V));  // entries per cache line of values
  const std::uint16_t* columns = job.segment_columns;
  const V* values = job.segment_values;
  for (std::int64_t s = 0; s < job.segment_count; ++s) {
    const tile_segment segment = job.segments[s];
    for (std::int64_t k = 0; k < segment.length; k += line) {
      fetch(values + k, tile_ahead);
      fetch(columns + k, tile_ahead);
    }
    job.sums[segment.row] += Segment::sum(values, columns, segment.length, job.x);
    columns += segment.length;
    values += segment.length;
  }
  // Four products before the first sum is accessed, so that their loads wait for no store.
  std::int64_t k = 0;
  for (; k + 4 <= job.count; k += 4) {
    V product[4];
    fetch(job.values + k, tile_ahead);
    fetch(job.places + k, tile_ahead);
    for (int u = 0; u < 4; ++u) product[u] = multiply(job.values[k + u], job.x[job.places[k + u] & 0xffffU]);
    for (int u = 0; u < 4; ++u) job.sums[job.places[k + u] >> 16] += product[u];
  }
  for (; k < job.count; ++k) job.sums[job.places[k] >> 16] += multiply(job.values[k], job.x[job.places[k] & 0xffffU]);
}

}  // namespace spargo::detail::spmv
