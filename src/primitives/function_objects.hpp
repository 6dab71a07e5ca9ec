// Operations of reductions and scans as function objects for host and device code: `identity` is the value of an empty
// range; in apply(a, b), a is the earlier operand.
#pragma once

#include <spargo/core/error.hpp>
#include <spargo/primitives/operation.hpp>

#include <concepts>
#include <limits>
#include <type_traits>

namespace spargo::detail {

template <class T>
struct sum_operation {
  static constexpr T identity = T{0};
  SPARGO_HD static T apply(T a, T b) {
    if constexpr (std::integral<T>) {
      using wide = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
    } else {
      return a + b;
    }
  }
};

template <class T>
struct product_operation {
  static constexpr T identity = T{1};
  SPARGO_HD static T apply(T a, T b) {
    if constexpr (std::integral<T>) {
      using wide = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
    } else {
      return a * b;
    }
  }
};

// NaN propagates: a is kept unless b is smaller, and b is taken if it is NaN.
template <class T>
struct min_operation {
  static constexpr T identity =
      std::floating_point<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  SPARGO_HD static T apply(T a, T b) {
    if constexpr (std::floating_point<T>) {
      if (b != b) return b;
    }
    return b < a ? b : a;
  }
};

template <class T>
struct max_operation {
  static constexpr T identity =
      std::floating_point<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  SPARGO_HD static T apply(T a, T b) {
    if constexpr (std::floating_point<T>) {
      if (b != b) return b;
    }
    return a < b ? b : a;
  }
};

template <std::integral T>
struct bit_and_operation {
  static constexpr T identity = static_cast<T>(-1);
  SPARGO_HD static T apply(T a, T b) { return a & b; }
};

template <std::integral T>
struct bit_or_operation {
  static constexpr T identity = T{0};
  SPARGO_HD static T apply(T a, T b) { return a | b; }
};

// f(function object) for the operation; `caller` names the public function in errors.
template <class T, class F>
decltype(auto) with_operation(const char* caller, operation op, F&& f) {
  switch (op) {
    case operation::sum:
      return f(sum_operation<T>{});
    case operation::product:
      return f(product_operation<T>{});
    case operation::min:
      return f(min_operation<T>{});
    case operation::max:
      return f(max_operation<T>{});
    case operation::bit_and:
      if constexpr (std::integral<T>) return f(bit_and_operation<T>{});
      break;
    case operation::bit_or:
      if constexpr (std::integral<T>) return f(bit_or_operation<T>{});
      break;
  }
  throw error(error_code::invalid_argument, std::string(caller) + ": operation " + std::string(to_string(op)) +
                                                " is not defined for floating-point values");
}

}  // namespace spargo::detail
