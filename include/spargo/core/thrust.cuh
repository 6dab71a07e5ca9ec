// Thrust on a context's memory and stream, for code compiled by nvcc:
//
//   thrust::sort(thrust_policy(ctx), thrust_begin(keys), thrust_end(keys));   // keys: span<T, Space>
//
// On the device an algorithm runs on the context's stream, and its temporary storage comes from the context's resource,
// in stream order. It returns without waiting where it can (par_nosync): one that returns a value, such as
// thrust::reduce, waits for it. The context's device has to be current. On the host an algorithm runs sequentially, in
// the calling thread. Errors: Thrust throws thrust::system_error; want of memory is spargo::error (out_of_memory).
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/span.hpp>

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>

#include <cstddef>

namespace spargo {

// The context's memory as an allocator of bytes; holds on to the context.
class thrust_allocator {
 public:
  using value_type = char;

  explicit thrust_allocator(const context<device>& ctx) : ctx_(ctx) {}
  [[nodiscard]] char* allocate(std::ptrdiff_t bytes) {
    return static_cast<char*>(ctx_.allocate(static_cast<std::size_t>(bytes)));
  }
  void deallocate(char* pointer, std::size_t bytes) noexcept { ctx_.deallocate(pointer, bytes); }

 private:
  context<device> ctx_;
};

[[nodiscard]] inline auto thrust_policy(const context<device>& ctx) {
  return thrust::cuda::par_nosync(thrust_allocator(ctx)).on(ctx.stream());
}
[[nodiscard]] inline auto thrust_policy(const context<host>&) { return thrust::host; }

template <class T>
[[nodiscard]] thrust::device_ptr<T> thrust_begin(span<T, device> values) {
  return thrust::device_ptr<T>(values.data());
}
template <class T>
[[nodiscard]] thrust::device_ptr<T> thrust_end(span<T, device> values) {
  return thrust_begin(values) + values.size();
}
template <class T>
[[nodiscard]] T* thrust_begin(span<T, host> values) {
  return values.data();
}
template <class T>
[[nodiscard]] T* thrust_end(span<T, host> values) {
  return values.data() + values.size();
}

}  // namespace spargo
