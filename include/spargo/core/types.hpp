// The vocabulary of every layer: memory spaces, index, offset and value types.
#pragma once

#include <spargo/core/config.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace spargo {

// Memory spaces. They are part of a type, so that device data cannot reach a host function.
struct SPARGO_EXPORT host {};
struct SPARGO_EXPORT device {};

// The value type of a matrix that has a sparsity pattern and no values; each entry stands for 1.
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

// Arithmetic entries.
template <class T>
concept value_type = real_type<T> || complex_type<T>;

// What a sparse format can hold: arithmetic entries, or none.
template <class T>
concept entry_type = value_type<T> || std::same_as<T, pattern>;

template <class T>
inline constexpr bool is_pattern = std::same_as<std::remove_const_t<T>, pattern>;

// Ceiling division of non-negative integers; never overflows.
template <std::integral T>
[[nodiscard]] SPARGO_HD constexpr T div_up(T value, std::type_identity_t<T> by) {
  return value / by + (value % by != 0 ? 1 : 0);
}

}  // namespace spargo
