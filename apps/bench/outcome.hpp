// The outcome of a driver's case, and the program's exit code.
#pragma once

#include <spargo/core/error.hpp>

#include <exception>
#include <stdexcept>
#include <string_view>

namespace spargo::bench {

// A timed result is wrong: `bench` then ends with 3.
class wrong_result : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Outcomes of a run's cases, worst last; the values are the program's exit codes.
enum class outcome { good = 0, failed = 1, wrong = 3 };

inline outcome& worst_outcome() {
  static outcome value = outcome::good;
  return value;
}

// The outcome for a case's exception. A case that the machine or the library does not support is skipped.
inline outcome outcome_of(const std::exception& e) {
  if (dynamic_cast<const wrong_result*>(&e) != nullptr) return outcome::wrong;
  const auto* known = dynamic_cast<const error*>(&e);
  const bool passed_over =
      known != nullptr && (known->code() == error_code::unsupported || known->code() == error_code::out_of_memory);
  return passed_over ? outcome::good : outcome::failed;
}

inline std::string_view label_of(outcome how) {
  return how == outcome::wrong ? "WRONG: " : how == outcome::failed ? "FAILED: " : "skipped: ";
}

}  // namespace spargo::bench
