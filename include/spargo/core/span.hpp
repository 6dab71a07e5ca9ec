// A borrowed, contiguous range whose memory space is part of its type.
#pragma once

#include <spargo/core/types.hpp>

#include <cassert>
#include <vector>

namespace spargo {

// Two words, trivially copyable, passed by value, usable inside kernels. Sizes are 64-bit.
// Indexing is unchecked outside debug builds. Dereference a device span in device code only.
template <class T, class Space>
class SPARGO_EXPORT span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using space = Space;

  constexpr span() = default;
  SPARGO_HD constexpr span(T* data, std::int64_t size) : data_(data), size_(size) {}

  // span<T> to span<const T>.
  template <class U>
  requires(!std::same_as<U, T> && std::same_as<const U, T>) SPARGO_HD
      constexpr span(span<U, Space> other)  // NOLINT: an implicit conversion on purpose
      : data_(other.data()), size_(other.size()) {}

  // Borrow a vector (host only).
  constexpr span(std::vector<value_type>& v)  // NOLINT
      requires std::same_as<Space, host> : data_(v.data()),
                                           size_(static_cast<std::int64_t>(v.size())) {}
  constexpr span(const std::vector<value_type>& v)  // NOLINT
      requires(std::same_as<Space, host>&& std::is_const_v<T>)
      : data_(v.data()), size_(static_cast<std::int64_t>(v.size())) {}

  [[nodiscard]] SPARGO_HD constexpr T* data() const { return data_; }
  [[nodiscard]] SPARGO_HD constexpr std::int64_t size() const { return size_; }
  [[nodiscard]] SPARGO_HD constexpr bool empty() const { return size_ == 0; }

  SPARGO_HD constexpr T& operator[](std::int64_t i) const {
    assert(i >= 0 && i < size_);
    return data_[i];
  }

  [[nodiscard]] SPARGO_HD constexpr span subspan(std::int64_t first, std::int64_t count) const {
    assert(first >= 0 && count >= 0 && first + count <= size_);
    return {data_ + first, count};
  }

  [[nodiscard]] constexpr T* begin() const requires std::same_as<Space, host> { return data_; }
  [[nodiscard]] constexpr T* end() const requires std::same_as<Space, host> { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace spargo
