// The vocabulary of every layer: memory spaces, index, offset and value types.
#pragma once

#include <spargo/core/config.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Memory spaces are part of a type, so that device data cannot reach a host function.
struct SPARGO_EXPORT host {};
struct SPARGO_EXPORT device {};

// Value type of a matrix with a sparsity pattern but no values; each entry stands for 1.
struct SPARGO_EXPORT pattern {
  friend constexpr bool operator==(pattern, pattern) = default;
};

template <class Space>
concept memory_space = std::same_as<Space, host> || std::same_as<Space, device>;

// Row and column indices (I), and positions in the entry arrays (O).
template <class T>
concept index_type = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

template <class T>
concept complex_type = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

template <class T>
concept real_type = std::same_as<T, float> || std::same_as<T, double>;

// Real or complex values.
template <class T>
concept value_type = real_type<T> || complex_type<T>;

// What a sparse format can hold: values, or none.
template <class T>
concept entry_type = value_type<T> || std::same_as<T, pattern>;

template <class T>
inline constexpr bool is_pattern = std::same_as<std::remove_const_t<T>, pattern>;

namespace detail {

template <class T, class... Types>
concept one_of = (std::same_as<T, Types> || ...);

// Naming a type that the library is not built for ends compilation with an explanation.
template <class I, class O>
[[nodiscard]] consteval bool built_for_indices() {
  static_assert(
      index_type<I> && index_type<O> && sizeof(I) <= sizeof(O),
      "spargo: indices and offsets are std::int32_t or std::int64_t, and offsets at least as wide as indices");
  return true;
}
template <class V>
[[nodiscard]] consteval bool built_for_entries() {
  static_assert(entry_type<std::remove_const_t<V>>,
                "spargo: entries are float, double, std::complex of these, or spargo::pattern");
  return true;
}
template <class T>
[[nodiscard]] consteval bool built_for_scalars() {
  static_assert(one_of<T, std::int32_t, std::int64_t, float, double>,
                "spargo: this operation is for std::int32_t, std::int64_t, float and double");
  return true;
}
template <class T>
[[nodiscard]] consteval bool built_for_reals() {
  static_assert(one_of<T, float, double>, "spargo: this operation is for float and double");
  return true;
}

// Constraint on an operation's template parameters, with the same explanation.
template <class T>
concept scalar = built_for_scalars<T>();
template <class T>
concept real = built_for_reals<T>();

}  // namespace detail

// Ceiling division of non-negative integers; never overflows.
template <std::integral T>
[[nodiscard]] SPARGO_HD constexpr T div_up(T value, std::type_identity_t<T> by) {
  return value / by + (value % by != 0 ? 1 : 0);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
