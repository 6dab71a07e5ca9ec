// Operations that have a host half and a device half, in a library that may have been built without CUDA: a program for
// both backends links all the same and is told at run time. There no device context can exist, so the branch
//   if constexpr (is_built<Space>) { the backend's work } else { no_device(operation); }
// keeps the missing half from being named.
#pragma once

#include <spargo/core/context.hpp>

#include <concepts>

namespace spargo::detail {

template <class Space>
inline constexpr bool is_built = std::same_as<Space, host> || config::has_cuda;

// Throws device_unavailable.
[[noreturn]] void no_device(const char* operation);

}  // namespace spargo::detail
