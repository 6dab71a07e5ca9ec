#pragma once

#include "primitives/convolve/algorithms.hpp"

#include <vector>

namespace spargo::detail::convolve {

// Arguments of both backends: not empty, shapes and overlap checked. `filter` has K or K * K taps, K = `width`.
template <class T>
struct plain_filter {
  span<const T, host> taps;
  std::int64_t width = 0;
};

// A rank-1 filter: taps are down[s] * across[t] up to rounding, sum |across| <= 1.
template <class T>
struct separated_filter {
  std::vector<T> down;
  std::vector<T> across;
};

// `algorithm` is not automatic; `separable` has the overload below.
template <class T>
void run_line(const context<host>& ctx, span<const T, host> in, const plain_filter<T>& filter, span<T, host> out,
              convolve_algorithm algorithm);
template <class T>
void run_line(const context<device>& ctx, span<const T, device> in, const plain_filter<T>& filter, span<T, device> out,
              convolve_algorithm algorithm);

template <class T>
void run_image(const context<host>& ctx, const image_view<const T, host>& in, const plain_filter<T>& filter,
               const image_view<T, host>& out, convolve_algorithm algorithm);
template <class T>
void run_image(const context<device>& ctx, const image_view<const T, device>& in, const plain_filter<T>& filter,
               const image_view<T, device>& out, convolve_algorithm algorithm);

template <class T>
void run_image(const context<host>& ctx, const image_view<const T, host>& in, const separated_filter<T>& filter,
               const image_view<T, host>& out);
template <class T>
void run_image(const context<device>& ctx, const image_view<const T, device>& in, const separated_filter<T>& filter,
               const image_view<T, device>& out);

}  // namespace spargo::detail::convolve
