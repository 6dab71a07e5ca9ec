// Checks of arguments that the stencils share; `operation` begins the message.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/primitives/convolve.hpp>  // image_view

#include <array>
#include <functional>

namespace spargo::detail {

// Arrays of fewer columns leave most of a warp's strip empty: `automatic` takes one thread per cell there.
inline constexpr std::int64_t narrowest_march = 32;

inline void expect_enumerator(const char* operation, std::size_t index, std::size_t count) {
  SPARGO_EXPECTS(index < count, std::string(operation) + ": no algorithm has number " + std::to_string(index));
}

template <class T, class Space>
void expect_span(const char* operation, span<T, Space> values) {
  SPARGO_EXPECTS(values.size() >= 0 && (values.size() == 0 || values.data() != nullptr),
                 std::string(operation) + ": a null or negative span");
}

// Elements from the first to the last of an image.
template <class T, class Space>
std::int64_t extent(const image_view<T, Space>& image) {
  return image.rows == 0 || image.cols == 0 ? 0 : (image.rows - 1) * image.pitch + image.cols;
}

template <class T, class Space>
void expect_image(const char* operation, const image_view<T, Space>& image) {
  expect_span(operation, image.data);
  SPARGO_EXPECTS(image.rows >= 0 && image.cols >= 0 && image.pitch >= image.cols,
                 std::string(operation) + ": an array of " + std::to_string(image.rows) + " rows, " +
                     std::to_string(image.cols) + " columns and pitch " + std::to_string(image.pitch));
  SPARGO_EXPECTS(image.pitch == 0 || image.rows <= INT64_MAX / image.pitch,
                 std::string(operation) + ": an array of more than 2^63 elements");
  SPARGO_EXPECTS(image.data.size() >= extent(image), std::string(operation) + ": the array needs " +
                                                         std::to_string(extent(image)) + " elements and has " +
                                                         std::to_string(image.data.size()));
}

template <class T>
bool apart(const T* a, std::int64_t a_size, const T* b, std::int64_t b_size) {
  const std::less_equal<const T*> below;
  return a_size == 0 || b_size == 0 || below(a + a_size, b) || below(b + b_size, a);
}

// Arrays whose memory ranges meet may still be side by side in rows of one pitch.
template <class T, class Space>
bool apart(const image_view<const T, Space>& a, const image_view<T, Space>& b) {
  if (apart<T>(a.data.data(), extent(a), b.data.data(), extent(b))) return true;
  if (a.pitch != b.pitch) return false;
  const std::int64_t distance = b.data.data() - a.data.data();
  const std::int64_t column = (distance % a.pitch + a.pitch) % a.pitch;
  return column >= a.cols && column + b.cols <= a.pitch;
}

}  // namespace spargo::detail
