// Names of enumerators: one table for each enumeration, in the library, for commands, Python and messages alike.
#pragma once

#include <spargo/core/span.hpp>
#include <spargo/core/types.hpp>

#include <array>
#include <string_view>
#include <type_traits>

#include <spargo/core/macros_push.hpp>

namespace spargo {

template <class E>
struct enum_row {
  E value;
  std::string_view name;
  bool on_host = true;  // of algorithms: the backends that have it
  bool on_device = true;
  std::string_view alias = {};  // another spelling that is understood

  // The shorter spelling, for command lines: "auto" for "automatic".
  [[nodiscard]] constexpr std::string_view word() const noexcept {
    if (name == "automatic") return "auto";
    return !alias.empty() && alias.size() < name.size() ? alias : name;
  }
  [[nodiscard]] constexpr bool is_called(std::string_view text) const noexcept {
    return text == name || text == word() || (!alias.empty() && text == alias);
  }
};

template <class E>
using enum_table = span<const enum_row<E>, host>;

// All enumerators of E in the order of their declaration. The header that declares an enumeration with names declares
// this function for it; others have none.
template <class E>
[[nodiscard]] enum_table<E> enum_rows() noexcept = delete;

template <class E>
concept named_enum = std::is_enum_v<E> && requires {
  enum_rows<E>();
};

// "unknown" for a number that is no enumerator.
template <named_enum E>
[[nodiscard]] std::string_view to_string(E value) noexcept {
  for (const enum_row<E>& row : enum_rows<E>()) {
    if (row.value == value) return row.name;
  }
  return "unknown";
}

namespace detail {

// Throws invalid_argument: "bfs: unknown algorithm 'x' (expected one of automatic, sequential)".
[[noreturn]] SPARGO_EXPORT void refuse_name(std::string_view subject, std::string_view text,
                                            span<const std::string_view, host> names);
// Throws invalid_argument: "bfs: no algorithm has the number 77".
[[noreturn]] SPARGO_EXPORT void refuse_number(std::string_view operation, std::string_view noun, long long number);

}  // namespace detail

// The enumerator with this name or alias. Throws invalid_argument with the names that there are; `subject` begins its
// sentence: "bfs: unknown algorithm".
template <named_enum E>
[[nodiscard]] E parse_enum(std::string_view subject, std::string_view text) {
  std::array<std::string_view, 32> names{};
  std::int64_t count = 0;
  for (const enum_row<E>& row : enum_rows<E>()) {
    if (row.is_called(text)) return row.value;
    names[static_cast<std::size_t>(count++)] = row.name;
  }
  detail::refuse_name(subject, text, {names.data(), count});
}

namespace detail {

// Throws invalid_argument for a number that is no enumerator.
template <named_enum E>
void expect_named(std::string_view operation, std::string_view noun, E value) {
  for (const enum_row<E>& row : enum_rows<E>()) {
    if (row.value == value) return;
  }
  refuse_number(operation, noun, static_cast<long long>(value));
}

}  // namespace detail

enum class error_code;
template <>
[[nodiscard]] SPARGO_EXPORT enum_table<error_code> enum_rows() noexcept;

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
