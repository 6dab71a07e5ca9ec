// A hash of a sparse pattern, by which a plan with a copy recognises the pattern.
//
// The sum of mix(place, value) over offsets and indices, modulo 2^64: addition commutes, so threads may add in any
// order. `mix` is the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <spargo/formats/csr.hpp>

#include <cstdint>

namespace spargo::detail {

[[nodiscard]] SPARGO_HD constexpr std::uint64_t mix_bits(std::uint64_t v) {
  v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ULL;
  v = (v ^ (v >> 27)) * 0x94d049bb133111ebULL;
  return v ^ (v >> 31);
}

// `array`: 0 for offsets, 1 for indices.
[[nodiscard]] SPARGO_HD constexpr std::uint64_t fingerprint_of(std::uint64_t array, std::uint64_t place,
                                                               std::uint64_t value) {
  return mix_bits(mix_bits(2 * place + array) + 0x9e3779b97f4a7c15ULL * (value + 1));
}

// Different patterns collide with probability 2^-64. O(rows + nnz). The device version synchronises the stream.
template <class I, class O>
[[nodiscard]] std::uint64_t pattern_fingerprint(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix);
template <class I, class O>
[[nodiscard]] std::uint64_t pattern_fingerprint(const context<device>& ctx,
                                                const csr_pattern_view<I, O, device>& matrix);

}  // namespace spargo::detail
