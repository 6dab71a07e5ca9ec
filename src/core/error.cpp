#include <spargo/core/error.hpp>

#include <utility>

namespace spargo {

namespace {

std::string located(const source_position& at, const std::string& message) {
  std::string prefix = at.file;
  if (at.line > 0) {
    prefix += ":" + std::to_string(at.line);
    if (at.column > 0) prefix += ":" + std::to_string(at.column);
  }
  return prefix.empty() ? message : prefix + ": " + message;
}

}  // namespace

error::error(error_code code, const std::string& message) : std::runtime_error(message), code_(code) {}

error::error(error_code code, source_position position, const std::string& message)
    : std::runtime_error(located(position, message)), code_(code), position_(std::move(position)) {}

error::~error() = default;

namespace detail {
void throw_invalid_argument(const std::string& message) { throw error(error_code::invalid_argument, message); }
}  // namespace detail

}  // namespace spargo
