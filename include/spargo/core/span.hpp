// A borrowed, contiguous range whose memory space is part of its type.
#pragma once

#include <spargo/core/types.hpp>

#include <cassert>
#include <iterator>
#include <vector>

namespace spargo {

namespace detail {

template <class T>
using pointer_to_array = T (*)[];
template <class Pointer, class T>
concept pointer_to =
    std::convertible_to<pointer_to_array<std::remove_pointer_t<Pointer>>, pointer_to_array<T>>;  // adds const at most
template <class Range, class T>
concept has_data_and_size = requires(Range& range) {
  { std::data(range) } -> pointer_to<T>;
  { std::size(range) } -> std::convertible_to<std::size_t>;
};
template <class Range>
concept has_space = requires {
  typename Range::space;
};

// A foreign container or view from which span<T, host> can be made; from a temporary only if T is const.
template <class Range, class T>
concept host_range = std::is_class_v<std::remove_cvref_t<Range>> && !has_space<std::remove_cvref_t<Range>> &&
                     (std::is_lvalue_reference_v<Range> || std::is_const_v<T>)&&has_data_and_size<Range, T>;

}  // namespace detail

// Two words, trivially copyable, passed by value, usable in kernels. Sizes are 64-bit. Indexing is unchecked in release
// builds. Dereference a device span in device code only.
template <class T, class Space>
class SPARGO_EXPORT span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using space = Space;
  using const_view = span<const T, Space>;

  constexpr span() = default;
  SPARGO_HD constexpr span(T* data, std::int64_t size) : data_(data), size_(size) {}

  // span<T> to span<const T>.
  template <class U>
  requires(!std::same_as<U, T> && std::same_as<const U, T>) SPARGO_HD
      constexpr span(span<U, Space> other)  // NOLINT: an implicit conversion on purpose
      : data_(other.data()), size_(other.size()) {}

  // From contiguous host ranges: std::vector, std::array, std::string, std::span.
  template <class Range>
  requires(std::same_as<Space, host>&& detail::host_range<Range, T>) constexpr span(Range&& range)  // NOLINT
      : data_(std::data(range)), size_(static_cast<std::int64_t>(std::size(range))) {}

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
