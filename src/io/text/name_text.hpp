// A name in the form of edge lists, see `append_name`.
#pragma once

#include <algorithm>
#include <string_view>

namespace spargo::detail {

[[nodiscard]] inline bool needs_quotes(std::string_view name) noexcept {
  return name.empty() || name[0] == '#' || name[0] == '%' || name.find_first_of(" \t,;\"\r{") != std::string_view::npos;
}

// Returns the position after it; at most twice its length plus 2 bytes.
[[nodiscard]] inline char* put_name(char* to, std::string_view name) noexcept {
  if (!needs_quotes(name)) return std::copy(name.begin(), name.end(), to);
  *to++ = '"';
  for (const char c : name) {
    if (c == '"') *to++ = c;
    *to++ = c;
  }
  *to++ = '"';
  return to;
}

}  // namespace spargo::detail
