// Exit codes of the apps, defined only here.
#pragma once

#include <optional>
#include <stdexcept>

namespace spargo::apps {

enum class exit_status {
  success = 0,
  failed = 1,          // file, memory, device
  wrong_usage = 2,     // the command line
  invalid_result = 3,  // the result was computed and is wrong
};

// A fault of the command line that is found after parsing.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The status of a result: valid, invalid, or unchecked.
[[nodiscard]] constexpr exit_status status_of(std::optional<bool> valid) {
  return valid.value_or(true) ? exit_status::success : exit_status::invalid_result;
}

}  // namespace spargo::apps
