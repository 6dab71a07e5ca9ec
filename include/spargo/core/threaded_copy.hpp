// Large copies between a device and ordinary memory of the host.
//
// The driver copies what is not page-locked by one thread, and a new array's pages are first touched by that thread as
// well: H200, 256 MiB, 29 ms there, 15 home and 51 for the touch, where the link takes 5. Here several threads of the
// host do both, by way of page-locked memory.
#pragma once

#include <spargo/core/array.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

namespace detail {
SPARGO_EXPORT void copy_to_host_by_threads(const context<device>& ctx, const context<host>& threads, const void* from,
                                           void* to, std::size_t bytes);
SPARGO_EXPORT void copy_to_device_by_threads(const context<device>& ctx, const context<host>& threads, const void* from,
                                             void* to, std::size_t bytes);
}  // namespace detail

// As to_host and to_device, by the threads of `by`, whose memory takes what comes home. In the order of the stream;
// both synchronise it. Small arrays take the usual way.
template <class T>
[[nodiscard]] array<std::remove_const_t<T>, host> to_host_by_threads(const context<device>& ctx, span<T, device> from,
                                                                     const context<host>& by) {
  array<std::remove_const_t<T>, host> to(by, from.size());
  detail::copy_to_host_by_threads(ctx, by, from.data(), to.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
  return to;
}
template <class T>
[[nodiscard]] array<std::remove_const_t<T>, device> to_device_by_threads(const context<device>& ctx, span<T, host> from,
                                                                         const context<host>& by) {
  array<std::remove_const_t<T>, device> to(ctx, from.size());
  detail::copy_to_device_by_threads(ctx, by, from.data(), to.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
  return to;
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
