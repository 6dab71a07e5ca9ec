#include "core/backend.hpp"
#include "core/rethrow.hpp"

#include <new>
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

// Thrown as a copy if no memory is left for a message; copies share its text.
const error last_resort(error_code::out_of_memory, "host memory ran out");

}  // namespace

error::error(error_code code, const std::string& message) : std::runtime_error(message), code_(code) {}

error::error(error_code code, source_position position, const std::string& message)
    : std::runtime_error(located(position, message)), code_(code), position_(std::move(position)) {}

error::~error() = default;

namespace detail {

void throw_invalid_argument(const std::string& message) { throw error(error_code::invalid_argument, message); }

void no_device(const char* operation) {
  throw error(error_code::device_unavailable, std::string(operation) + ": this library was built without CUDA");
}

void throw_out_of_memory(const std::string& file, std::string_view message) try {
  throw error(error_code::out_of_memory, {file}, std::string(message));
} catch (const std::bad_alloc&) {
  throw error(last_resort);
}

void rethrow(const char* operation) try {
  try {
    throw;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw error(error_code::out_of_memory, std::string(operation) + ": host memory ran out");
} catch (const std::bad_alloc&) {
  throw error(last_resort);
}

}  // namespace detail

}  // namespace spargo
