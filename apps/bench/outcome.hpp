// How a case of the driver came out, and with it the program's exit code.
#pragma once

#include <spargo/core/error.hpp>

#include <exception>
#include <stdexcept>
#include <string_view>

namespace spargo::bench {

// A timed result that is not what it should be: `bench` then ends with 3.
class wrong_result : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How the cases of a run came out, worst last; the values are the program's exit codes.
enum class outcome { good = 0, failed = 1, wrong = 3 };

inline outcome& worst_outcome() {
  static outcome value = outcome::good;
  return value;
}

// What a case's exception means. What this machine or the library does not offer is passed over and harms nobody.
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
