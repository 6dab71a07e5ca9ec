// Checks of results: outputs are poisoned before the clock starts; afterwards every element is compared with an
// independent value. The bound is rounding: eps times the sum of magnitudes times the number of terms; never flat.
#pragma once

#include "bench/outcome.hpp"

#include <spargo/core/span.hpp>
#include <spargo/core/types.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace spargo::bench {

// Sets all bits: NaN or -1. Stale output must not pass as a result.
template <class T>
void poison(span<T, host> out) {
  if (!out.empty()) std::memset(static_cast<void*>(out.data()), 0xff, static_cast<std::size_t>(out.size()) * sizeof(T));
}

// A whole number from -8 to 8 for each i: sums of 2^30 are exact in float; a skipped block shows (over 99 percent).
template <class T>
SPARGO_HD T whole_number(std::int64_t i, std::uint64_t key = 0) {
  std::uint64_t x = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15U + key;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return static_cast<T>(static_cast<int>((x >> 40) % 17) - 8);
}

// An expected value and its error bound.
struct bounded {
  double value = 0;
  double bound = 0;
};

// For a sum of `terms` terms in type T with total `magnitude`: rounding of any order, and the reference's own.
template <class T>
double rounding_bound(double terms, double magnitude) {
  return 2 * (terms + 2) * static_cast<double>(std::numeric_limits<T>::epsilon()) * magnitude;
}

// Without fmt, whose format strings nvcc does not accept.
[[noreturn]] inline void fail_at(std::string_view what, std::int64_t at, double got, double right, double bound) {
  char text[160];
  std::snprintf(text, sizeof(text), " %lld is %.9g, expected %.9g (within %.3g)", static_cast<long long>(at), got,
                right, bound);
  throw wrong_result(std::string(what) + text);
}

template <class T>
void expect_close(std::string_view what, std::int64_t at, T got, const bounded& right) {
  if (std::abs(static_cast<double>(got) - right.value) <= right.bound) return;  // false for NaN
  fail_at(what, at, static_cast<double>(got), right.value, right.bound);
}

template <class T>
void expect_equal(std::string_view what, std::int64_t at, T got, T right) {
  if (got != right) fail_at(what, at, static_cast<double>(got), static_cast<double>(right), 0);
}

// right(i): the bounded or exact value of element i, called in ascending order.
template <class T, class Right>
void expect_all(std::string_view what, span<const T, host> got, Right&& right) {
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if constexpr (std::is_same_v<std::invoke_result_t<Right, std::int64_t>, bounded>) {
      expect_close(what, i, got[i], right(i));
    } else {
      expect_equal<T>(what, i, got[i], right(i));
    }
  }
}

}  // namespace spargo::bench
