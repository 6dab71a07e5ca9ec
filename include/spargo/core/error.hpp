// One exception type for the whole library.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace spargo {

enum class error_code {
  invalid_argument,    // the caller broke a stated requirement
  invalid_data,        // a matrix, graph or result breaks an invariant of its type
  parse,               // the text of a file is wrong
  io,                  // the operating system refused, or a stream is truncated or corrupt
  unsupported,         // right, but more than this function takes (padding limit, index width)
  out_of_memory,       // host or device allocation failed; the message names the bytes asked for
  device_unavailable,  // no usable GPU, or a library built without CUDA
  device_failure,      // a CUDA call failed
};

// Where in a file something is wrong. Lines and columns count from 1; 0 means "the file as a whole".
struct SPARGO_EXPORT source_position {
  std::string file;
  std::int64_t line = 0;
  std::int64_t column = 0;
};

// `what()` is one line: the operation, what is wrong, and what was expected. With a position it
// begins with `FILE:LINE:COLUMN: ` (`FILE: ` where the line is 0).
class SPARGO_EXPORT error : public std::runtime_error {
 public:
  error(error_code code, const std::string& message);
  error(error_code code, source_position position, const std::string& message);
  ~error() override;

  [[nodiscard]] error_code code() const noexcept { return code_; }
  [[nodiscard]] const source_position& position() const noexcept { return position_; }

 private:
  error_code code_;
  source_position position_;
};

namespace detail {
[[noreturn]] SPARGO_EXPORT void throw_invalid_argument(const std::string& message);
}  // namespace detail

}  // namespace spargo

// Checks a requirement on the caller. The message expression is evaluated only on failure; it begins
// with the operation's name: `SPARGO_EXPECTS(n >= 0, fmt::format("scan: negative size {}", n))`.
#define SPARGO_EXPECTS(condition, message)                               \
  do {                                                                   \
    if (!(condition)) ::spargo::detail::throw_invalid_argument(message); \
  } while (false)
