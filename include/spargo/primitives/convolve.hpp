// Convolution with a small filter in the sense of image processing: cross-correlation, the filter is not flipped.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/enum_names.hpp>

#include <string_view>

namespace spargo {

// rows x cols, element (i, j) at data[i * pitch + j], pitch >= cols.
template <class T, class Space>
struct SPARGO_EXPORT image_view {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t pitch = 0;
  span<T, Space> data;  // at least (rows - 1) * pitch + cols elements

  using const_view = image_view<const T, Space>;
  // A template, since nvcc warns of a conversion to the same type where T is already const.
  template <class U>
  requires(!std::is_const_v<T> && std::same_as<U, const T>) operator image_view<U, Space>() const {  // NOLINT
    return {rows, cols, pitch, data};
  }
};

// "device:" algorithms do not exist on the host (unsupported). K is the filter's width.
enum class convolve_algorithm {
  automatic,          // separable where possible and faster; naive for non-finite filters; else register_tiled
  naive,              // one output per thread, the filter in global memory, a boundary test per tap; any K
  constant_filter,    // device: the filter in constant memory as a kernel parameter; K <= 15
  tiled_halo_output,  // device: one block per output tile, its inputs and their halo in shared memory; K <= 15
  tiled_halo_input,   // device: one block per input tile with its halo; threads at the rim produce no output; K <= 15
  tiled_cached_halo,  // device: a block's own inputs in shared memory, the halo read through the caches; K <= 15
  register_tiled,     // several outputs per thread, inputs reused from registers; any K
  separable,          // images only: a rank-1 filter as a pass along rows and a pass down columns; device: K <= 15
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<convolve_algorithm> enum_rows() noexcept;

// Whether `automatic` may factor a rank-1 filter, which changes the rounding: see `convolve`.
enum class separable_filters { detected, never };

struct SPARGO_EXPORT convolve_options {
  convolve_algorithm algorithm = convolve_algorithm::automatic;
  separable_filters separable = separable_filters::detected;
};

// A line: out[i] = sum over t in [0, K) of filter[t] * in[i + t - K/2], K = filter.size(), odd.
// An image: out(i, j) = sum over s, t in [0, K) of filter[s * K + t] * in(i + s - K/2, j + t - K/2), K * K =
// filter.size(), K odd. Outputs have the size of the input; terms outside the input are omitted (zero padding).
//
// T: float, double. The filter is in host memory and may change once the call returns; an empty input is valid. Errors
// (invalid_argument), before any work: sizes that differ, K even, pitch < cols, null spans of non-zero size, output
// overlapping input, `separable` for a filter that is not; `unsupported`: an algorithm of the other backend, K above an
// algorithm's limit.
//
// Every output is a sum of at most N = K (a line) or K * K products, with error up to N * u / (1 - N * u) * sum |f||x|,
// u the unit roundoff. Device algorithms for K <= 15 other than `separable` add in the same order with fused
// multiply-adds and give the same bits. Every algorithm is deterministic for any launch and thread count. `separable`
// factors a filter f if |f(s, t) f(p, q) - f(s, q) f(p, t)| <= 4 u |f(s, t) f(p, q)| for all s, t, where (p, q) is its
// tap of largest magnitude: f is an outer product whose taps were rounded once. Its error is at most (2 K + 8) * u *
// sum |f||x| (for 2 K + 8 times u much less than 1 and no underflow), from K = 5 on no more than that of the plain sum.
//
// A NaN or infinite input spreads to the outputs whose window contains it, even where the tap is 0. Nothing outside the
// input is multiplied, so a NaN or infinite tap affects only outputs with an input under it; such a filter is not
// separable, and `naive` computes it whatever the options say.
//
// K operations per output on a line, K * K on an image, 2 K if separable. Asynchronous on a device. Scratch from the
// context's pool for filters not passed by value.
template <detail::real T, class Space>
SPARGO_EXPORT void convolve(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
                            std::type_identity_t<span<const T, host>> filter, span<T, Space> out,
                            const convolve_options& options = {});
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void convolve(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
              std::type_identity_t<span<const T, host>> filter, Out&& out, const convolve_options& options = {}) {
  convolve<T, Space>(ctx, in, filter, out, options);
}
template <detail::real T, class Space>
SPARGO_EXPORT void convolve(const context<Space>& ctx, std::type_identity_t<image_view<const T, Space>> in,
                            std::type_identity_t<span<const T, host>> filter, image_view<T, Space> out,
                            const convolve_options& options = {});

}  // namespace spargo
