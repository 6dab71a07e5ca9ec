// What leaves a public operation is spargo::error: its body is a function-try-block that ends in
//   } catch (...) {
//     detail::rethrow("bfs");
//   }
#pragma once

#include <spargo/core/error.hpp>

#include <string>
#include <string_view>

namespace spargo::detail {

// Within a handler. std::bad_alloc and std::length_error (a size that no container takes) become out_of_memory with
// the operation's name; whatever else it is goes on as it is.
[[noreturn]] void rethrow(const char* operation);

// About a file. Where there is no memory for the message either, both throw one that was made when the program began.
[[noreturn]] void throw_out_of_memory(const std::string& file, std::string_view message);

}  // namespace spargo::detail
