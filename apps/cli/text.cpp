#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spargo::apps {

std::string with_commas(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", with_commas(count), one) : fmt::format("{} {}", with_commas(count), many);
}

std::string format_milliseconds(double value) {
  if (value >= 1e3) return fmt::format("{:.3g} s", value * 1e-3);
  if (value >= 1.0) return fmt::format("{:.4g} ms", value);
  return fmt::format("{:.4g} us", value * 1e3);
}

std::string format_bytes(double bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

namespace {

// Length of the UTF-8 character at the beginning of the text; 0 if it is invalid (Unicode, table 3-7).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const auto within = [&](std::size_t k, unsigned least, unsigned most) { return byte(k) >= least && byte(k) <= most; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (within(0, 0xc2, 0xdf)) return within(1, 0x80, 0xbf) ? 2 : 0;
  const bool tail = within(2, 0x80, 0xbf);
  if (within(0, 0xe0, 0xef)) {
    return tail && within(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) ? 3 : 0;
  }
  if (!within(0, 0xf0, 0xf4) || !tail || !within(3, 0x80, 0xbf)) return 0;
  return within(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) ? 4 : 0;
}

bool begins_with_escape(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  return text.size() >= 4 && text.starts_with("\\x") && digits.find(text[2]) != std::string_view::npos &&
         digits.find(text[3]) != std::string_view::npos;
}

}  // namespace

std::string printable_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = begins_with_escape(text) ? 0 : character_bytes(text);
    if (bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

std::string on_one_line(std::string_view text) {
  std::string shown = printable_utf8(text);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return shown;
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened_to(std::string_view text, std::size_t characters) {
  if (characters_of(text) <= characters) return std::string(text);
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (begins_character(text[end]) && ++seen == characters) break;
  }
  return std::string(text.substr(0, end)) + "\u2026";
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,.:/@%^";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace spargo::apps
