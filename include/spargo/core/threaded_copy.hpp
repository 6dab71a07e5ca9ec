// Large copies between a device and pageable host memory.
//
// The driver copies pageable memory with one thread, which also first touches the pages of a new array. H200, 256 MiB:
// 29 ms to the device, 15 ms to the host, 51 ms for the first touch; the link needs 5 ms. Here several host threads do
// both, through page-locked memory.
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

// As to_host and to_device, by the threads of `by`, whose resource allocates the host array. Stream-ordered; both
// synchronise the stream. Small arrays are copied the usual way.
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
