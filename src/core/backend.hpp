// Operations that have a host half and a device half, in a library that may have been built without CUDA: a program for
// both backends links all the same and is told at run time. There no device context can exist, so the branch
//   if constexpr (is_built<Space>) { the backend's work } else { no_device(operation); }
// keeps the missing half from being named.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/error.hpp>

#include <concepts>
#include <string>

namespace spargo::detail {

template <class Space>
inline constexpr bool is_built = std::same_as<Space, host> || config::has_cuda;

[[noreturn]] inline void no_device(const char* operation) {
  throw error(error_code::device_unavailable, std::string(operation) + ": this library was built without CUDA");
}

}  // namespace spargo::detail
