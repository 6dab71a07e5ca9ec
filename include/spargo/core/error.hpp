#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace spargo {

enum class error_code {
  invalid_argument,    // the caller broke a stated requirement
  invalid_data,        // a matrix, graph or result breaks an invariant of its type
  parse,               // malformed text in a file
  io,                  // the operating system reported an error, or a stream is truncated or corrupt
  unsupported,         // valid, but beyond this function's limits (padding, index width)
  out_of_memory,       // host or device allocation failed; the message gives the bytes requested
  device_unavailable,  // no usable GPU, or a library built without CUDA
  device_failure,      // a CUDA call failed
};

// Position of an error in a file. Lines and columns count from 1; 0 means the file as a whole.
struct SPARGO_EXPORT source_position {
  std::string file;
  std::int64_t line = 0;
  std::int64_t column = 0;
};

// `what()` is one line: operation, fault, what was expected. With a position: `FILE:LINE:COLUMN: ` first, or `FILE: `.
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

// Checks a requirement on the caller. The message is evaluated only on failure and begins with the operation's name:
// `SPARGO_EXPECTS(n >= 0, fmt::format("scan: negative size {}", n))`.
#define SPARGO_EXPECTS(condition, message)                               \
  do {                                                                   \
    if (!(condition)) ::spargo::detail::throw_invalid_argument(message); \
  } while (false)
