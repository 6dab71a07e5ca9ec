// Numbers for people: 12,345,678; 1 edge; 1.23 ms; 45.6 MB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spargo::apps {

[[nodiscard]] std::string with_commas(std::int64_t value);
// "1 edge", "12,345 vertices". Without a plural: the singular with an s.
[[nodiscard]] std::string counted(std::int64_t count, std::string_view one, std::string_view many = {});
[[nodiscard]] std::string format_milliseconds(double value);
[[nodiscard]] std::string format_bytes(double bytes);

// Bytes that are not UTF-8 become \xNN, and the backslash of a literal \xNN becomes \x5c, so that different texts stay
// different.
[[nodiscard]] std::string printable_utf8(std::string_view text);

// The same with a blank for each control character.
[[nodiscard]] std::string on_one_line(std::string_view text);

// Whether a byte of UTF-8 begins a character; and the number of characters.
[[nodiscard]] constexpr bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }
[[nodiscard]] std::size_t characters_of(std::string_view text);

// The first `characters` characters of UTF-8, with an ellipsis for what is cut.
[[nodiscard]] std::string shortened_to(std::string_view text, std::size_t characters);

// Unchanged if a shell gives it no special meaning, otherwise in single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace spargo::apps
