// An owning, contiguous array in one memory space, and copies between spaces.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/span.hpp>
#include <spargo/core/view_of.hpp>

#include <optional>
#include <utility>

namespace spargo {

namespace detail {

// The memory behind an array of any element type, compiled once in the library.
template <class Space>
class SPARGO_EXPORT array_memory {
 public:
  array_memory() = default;
  array_memory(const context<Space>& ctx, std::int64_t size, std::size_t element_bytes);
  array_memory(array_memory&& other) noexcept;
  array_memory& operator=(array_memory&& other) noexcept;
  ~array_memory();

  void swap(array_memory& other) noexcept;
  void truncate(std::int64_t size);

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }

 private:
  std::optional<context<Space>> ctx_;  // none if nothing was allocated
  void* data_ = nullptr;
  std::int64_t size_ = 0;  // in elements
  std::size_t bytes_ = 0;  // bytes allocated
};
extern template class array_memory<host>;
extern template class array_memory<device>;

}  // namespace detail

// Move-only and uninitialised. A device array is allocated and freed in stream order and keeps its context's stream
// alive; use it on another stream only after an event or a synchronisation. Throws out_of_memory, naming the bytes.
template <class T, class Space>
class array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using space = Space;

  array() = default;

  array(const context<Space>& ctx, std::int64_t size) : memory_(ctx, size, sizeof(T)) {}

  void swap(array& other) noexcept { memory_.swap(other.memory_); }

  [[nodiscard]] T* data() noexcept { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(memory_.data()); }
  [[nodiscard]] std::int64_t size() const noexcept { return memory_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  // Keeps the first `size` elements; the memory is freed with the array.
  void truncate(std::int64_t size) { memory_.truncate(size); }

  [[nodiscard]] span<T, Space> view() noexcept { return {data(), size()}; }
  [[nodiscard]] span<const T, Space> view() const noexcept { return {data(), size()}; }
  operator span<T, Space>() noexcept { return view(); }              // NOLINT
  operator span<const T, Space>() const noexcept { return view(); }  // NOLINT

  T& operator[](std::int64_t i) requires std::same_as<Space, host> {
    assert(i >= 0 && i < size());
    return data()[i];
  }
  const T& operator[](std::int64_t i) const requires std::same_as<Space, host> {
    assert(i >= 0 && i < size());
    return data()[i];
  }
  [[nodiscard]] T* begin() noexcept requires std::same_as<Space, host> { return data(); }
  [[nodiscard]] T* end() noexcept requires std::same_as<Space, host> { return data() + size(); }
  [[nodiscard]] const T* begin() const noexcept requires std::same_as<Space, host> { return data(); }
  [[nodiscard]] const T* end() const noexcept requires std::same_as<Space, host> { return data() + size(); }

 private:
  detail::array_memory<Space> memory_;
};

namespace detail {
inline void expect_same_size(std::int64_t from, std::int64_t to) {
  SPARGO_EXPECTS(from == to, "copy: " + std::to_string(from) + " elements into a range of " + std::to_string(to));
}
}  // namespace detail

// Copies between ranges of equal size. Host to host is complete on return. The others are asynchronous on the device
// context's stream: synchronise before the host reads the target or changes the source.
template <class T>
void copy(const context<host>& ctx, span<const T, host> from, span<T, host> to) {
  detail::expect_same_size(from.size(), to.size());
  detail::copy_host_to_host(ctx, from.data(), to.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
}
template <class T>
void copy(const context<device>& ctx, span<const T, host> from, span<T, device> to) {
  detail::expect_same_size(from.size(), to.size());
  detail::copy_to_device(ctx, from.data(), to.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
}
template <class T>
void copy(const context<device>& ctx, span<const T, device> from, span<T, host> to) {
  detail::expect_same_size(from.size(), to.size());
  detail::copy_to_host(ctx, from.data(), to.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
}
template <class T>
void copy(const context<device>& ctx, span<const T, device> from, span<T, device> to) {
  detail::expect_same_size(from.size(), to.size());
  detail::copy_on_device(ctx, from.data(), to.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
}

// Copies between contiguous ranges: arrays, containers, spans.
template <class Space, class From, class To>
void copy(const context<Space>& ctx, const From& from, To&& to) {
  copy<detail::element_of<To>>(ctx, from, to);
}

// A new array with the same elements. Device versions synchronise the stream before they return.
template <class T>
[[nodiscard]] array<std::remove_const_t<T>, host> clone(const context<host>& ctx, span<T, host> from) {
  array<std::remove_const_t<T>, host> to(ctx, from.size());
  copy<std::remove_const_t<T>>(ctx, from, to.view());
  return to;
}
template <class T>
[[nodiscard]] array<std::remove_const_t<T>, device> clone(const context<device>& ctx, span<T, device> from) {
  array<std::remove_const_t<T>, device> to(ctx, from.size());
  copy<std::remove_const_t<T>>(ctx, from, to.view());
  ctx.synchronize();
  return to;
}
template <class T>
[[nodiscard]] array<std::remove_const_t<T>, device> to_device(const context<device>& ctx, span<T, host> from) {
  array<std::remove_const_t<T>, device> to(ctx, from.size());
  copy<std::remove_const_t<T>>(ctx, from, to.view());
  ctx.synchronize();
  return to;
}
template <class T>
[[nodiscard]] array<std::remove_const_t<T>, host> to_host(const context<device>& ctx, span<T, device> from,
                                                          const context<host>& where = {}) {
  array<std::remove_const_t<T>, host> to(where, from.size());
  copy<std::remove_const_t<T>>(ctx, from, to.view());
  ctx.synchronize();
  return to;
}

// Also for containers, and for matrices and graphs whose views have a `clone`.
template <class Space, detail::viewable From>
[[nodiscard]] auto clone(const context<Space>& ctx, const From& from) {
  return clone(ctx, detail::view_of(from));
}
template <detail::viewable From>
[[nodiscard]] auto to_device(const context<device>& ctx, const From& from) {
  return to_device(ctx, detail::view_of(from));
}
template <detail::viewable From>
[[nodiscard]] auto to_host(const context<device>& ctx, const From& from) {
  return to_host(ctx, detail::view_of(from));
}

// Sets every byte to zero; asynchronous on a device.
template <class T, class Space>
void fill_zero(const context<Space>& ctx, span<T, Space> to) {
  detail::fill_bytes(ctx, to.data(), 0, static_cast<std::size_t>(to.size()) * sizeof(T));
}
template <class Space, detail::output_storage<Space> To>
void fill_zero(const context<Space>& ctx, To&& to) {
  fill_zero<detail::element_of<To>, Space>(ctx, to);
}

}  // namespace spargo
