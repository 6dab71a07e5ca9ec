// How much of a random or exhaustive test is tried: an eighth under sanitizers, where each takes ten times as long.
#pragma once

#include <cstdint>

#ifndef SPARGO_TEST_ROUNDS_OVER
#define SPARGO_TEST_ROUNDS_OVER 1
#endif

namespace spargo::test {

constexpr std::uint64_t rounds_over = SPARGO_TEST_ROUNDS_OVER;
constexpr bool is_sanitized = rounds_over > 1;

constexpr std::uint64_t rounds(std::uint64_t all) { return all / rounds_over; }

}  // namespace spargo::test
