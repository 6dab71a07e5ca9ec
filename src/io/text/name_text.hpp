// A name as edge lists hold it, see `append_name`.
#pragma once

#include <algorithm>
#include <string_view>

namespace spargo::detail {

[[nodiscard]] inline bool needs_quotes(std::string_view name) noexcept {
  return name.empty() || name[0] == '#' || name[0] == '%' || name.find_first_of(" \t,;\"\r{") != std::string_view::npos;
}

// Past it; up to twice its length and 2 bytes.
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
