// Edge weights: summary of a reader's numbers, conversion to integers, random and unit weights. Deterministic for any
// number of threads and on both backends.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>

#include <cstdint>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo {

struct SPARGO_EXPORT weight_summary {
  bool negative_or_nan = false;  // some are
  bool whole = true;             // all are integers below 2^53, up to which doubles represent all integers
  double largest = 0;            // of the positive ones
};
// One pass over the weights; on a device it synchronizes.
template <class Space>
[[nodiscard]] SPARGO_EXPORT weight_summary summarize_weights(const context<Space>& ctx,
                                                             std::type_identity_t<span<const double, Space>> weights);

// Converts a reader's weights to integers. Throws invalid_data naming the first that is no integer or out of W's range.
// O(weights). W: std::int32_t, std::int64_t. On a device it synchronizes.
template <index_type W, class Space>
[[nodiscard]] SPARGO_EXPORT array<W, Space> integer_weights(const context<Space>& ctx,
                                                            std::type_identity_t<span<const double, Space>> weights);

// An integer from 1 to 255 for each pair of vertices, the same in both directions.
[[nodiscard]] SPARGO_HD inline std::int32_t random_weight(std::uint64_t seed, std::int64_t u, std::int64_t v);

// The same per edge of a graph, in order. O(edges); asynchronous on a device, with an index of scratch per edge.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT array<std::int32_t, Space> random_weights(const context<Space>& ctx,
                                                                      const csr_pattern_view<I, O, Space>& edges,
                                                                      std::uint64_t seed);
// 1 for each edge. Asynchronous on a device.
template <class Space>
[[nodiscard]] SPARGO_EXPORT array<std::int32_t, Space> unit_weights(const context<Space>& ctx, std::int64_t edges);

namespace detail {

// Splitmix64 (Steele, Lea, Flood, OOPSLA 2014), keyed by seed and position.
[[nodiscard]] SPARGO_HD constexpr std::uint64_t mixed_bits(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ULL + (position + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace detail

SPARGO_HD inline std::int32_t random_weight(std::uint64_t seed, std::int64_t u, std::int64_t v) {
  const auto low = static_cast<std::uint64_t>(u < v ? u : v);
  const auto high = static_cast<std::uint64_t>(u < v ? v : u);
  return 1 + static_cast<std::int32_t>(detail::mixed_bits(detail::mixed_bits(seed, low), high) % 255);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
