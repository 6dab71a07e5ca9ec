// Public operations throw spargo::error only. Their body is a function-try-block that ends in
//   } catch (...) {
//     detail::rethrow("bfs");
//   }
#pragma once

#include <spargo/core/error.hpp>

#include <string>
#include <string_view>

namespace spargo::detail {

// Call within a handler. std::bad_alloc and std::length_error (a size beyond any container) become out_of_memory with
// the operation's name; other exceptions pass unchanged.
[[noreturn]] void rethrow(const char* operation);

// For a file. If there is no memory for the message either, both throw an error made at program start.
[[noreturn]] void throw_out_of_memory(const std::string& file, std::string_view message);

}  // namespace spargo::detail
