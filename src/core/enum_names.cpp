#include <spargo/core/enum_names.hpp>

#include "core/rethrow.hpp"

#include <spargo/core/error.hpp>

#include <array>
#include <string>

namespace spargo {

template <>
enum_table<error_code> enum_rows() noexcept {
  static constexpr std::array<enum_row<error_code>, 8> rows{{
      {error_code::invalid_argument, "invalid_argument"},
      {error_code::invalid_data, "invalid_data"},
      {error_code::parse, "parse"},
      {error_code::io, "io"},
      {error_code::unsupported, "unsupported"},
      {error_code::out_of_memory, "out_of_memory"},
      {error_code::device_unavailable, "device_unavailable"},
      {error_code::device_failure, "device_failure"},
  }};
  return rows;
}

namespace detail {

void refuse_name(std::string_view subject, std::string_view text, span<const std::string_view, host> names) try {
  std::string known;
  for (const std::string_view name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  throw_invalid_argument(std::string(subject) + " '" + std::string(text) + "' (expected one of " + known + ")");
} catch (...) {
  rethrow("names");
}

void refuse_number(std::string_view operation, std::string_view noun, long long number) try {
  throw_invalid_argument(std::string(operation) + ": no " + std::string(noun) + " has the number " +
                         std::to_string(number));
} catch (...) {
  rethrow("names");
}

}  // namespace detail

}  // namespace spargo
