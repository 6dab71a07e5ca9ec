// How an app ends: the one place where outcomes become exit codes.
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

// Something wrong with the command line that only shows after it was parsed.
class usage_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Of a result that was checked and is right, was checked and is wrong, or was not checked.
[[nodiscard]] constexpr exit_status status_of(std::optional<bool> valid) {
  return valid.value_or(true) ? exit_status::success : exit_status::invalid_result;
}

}  // namespace spargo::apps
