// For operations with a host and a device half. A library built without CUDA has no device half, yet a program for both
// links and gets an error at run time. No device context can exist there, so the branch
//   if constexpr (is_built<Space>) { the backend's work } else { no_device(operation); }
// avoids naming the missing half.
#pragma once

#include <spargo/core/context.hpp>

#include <concepts>

namespace spargo::detail {

template <class Space>
inline constexpr bool is_built = std::same_as<Space, host> || config::has_cuda;

[[noreturn]] void no_device(const char* operation);

}  // namespace spargo::detail
