// Scales random or exhaustive tests: an eighth of the rounds under sanitizers, where each takes ten times as long.
#pragma once

#include <spargo/core/types.hpp>

#include <concepts>
#include <cstdint>

#ifndef SPARGO_TEST_ROUNDS_OVER
#define SPARGO_TEST_ROUNDS_OVER 1
#endif

namespace spargo::test {

constexpr std::uint64_t rounds_over = SPARGO_TEST_ROUNDS_OVER;
constexpr bool is_sanitized = rounds_over > 1;

constexpr std::uint64_t rounds(std::uint64_t all) { return all / rounds_over; }

// A tenth on a device, where making a plan for a small graph takes ten times as long as on the host.
template <class Space>
constexpr std::uint64_t rounds_on(std::uint64_t all) {
  return rounds(std::same_as<Space, device> ? all / 10 : all);
}

}  // namespace spargo::test
