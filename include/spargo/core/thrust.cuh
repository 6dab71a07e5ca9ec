// Thrust with a context's memory and stream, for code compiled by nvcc:
//
//   thrust::sort(thrust_policy(ctx), thrust_begin(keys), thrust_end(keys));   // keys: span<T, Space>
//
// On the device an algorithm runs on the context's stream, with temporary storage from the context's resource,
// stream-ordered. It returns without waiting where it can (par_nosync); one that returns a value, such as
// thrust::reduce, waits. The context's device must be current. On the host it runs sequentially in the calling thread.
// Errors: thrust::system_error from Thrust, spargo::error (out_of_memory) from allocation.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/span.hpp>

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>

#include <cstddef>

namespace spargo {

// The context's memory as an allocator of bytes; keeps the context alive.
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
