// Convolution with a small filter, as the field calls it: cross-correlation, the filter is not flipped.
#pragma once

#include <spargo/core/array.hpp>

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
  // A template, or nvcc warns of a conversion to itself where T is const already.
  template <class U>
  requires(!std::is_const_v<T> && std::same_as<U, const T>) operator image_view<U, Space>() const {  // NOLINT
    return {rows, cols, pitch, data};
  }
};

// Where it says device, there is none for the host: invalid_argument. K is the filter's width.
enum class convolve_algorithm {
  automatic,        // separable where the filter is and it pays; naive for filters that are not finite; register_tiled
  naive,            // one output per thread, the filter in global memory, a boundary test per tap; any K
  constant_filter,  // device: the filter in constant memory, as a kernel parameter; K <= 15
  tiled_halo_output,  // device: one block per output tile, its inputs and their halo in shared memory; K <= 15
  tiled_halo_input,   // device: one block per input tile with its halo, fewer outputs than threads; K <= 15
  tiled_cached_halo,  // device: a block's own inputs in shared memory, the halo through the caches; K <= 15
  register_tiled,     // several outputs per thread, inputs reused from registers; any K
  separable,          // images only: a filter of rank 1 as a pass along rows and a pass down columns; device: K <= 15
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(convolve_algorithm algorithm) noexcept;

// Whether `automatic` may take a filter of rank 1 apart, which changes the rounding: see `convolve`.
enum class separable_filters { detected, never };

struct SPARGO_EXPORT convolve_options {
  convolve_algorithm algorithm = convolve_algorithm::automatic;
  separable_filters separable = separable_filters::detected;
};

// A line: out[i] = sum over t in [0, K) of filter[t] * in[i + t - K/2], K = filter.size(), odd.
// An image: out(i, j) = sum over s, t in [0, K) of filter[s * K + t] * in(i + s - K/2, j + t - K/2), K * K =
// filter.size(), K odd. Outputs have the size of the input; terms outside of it are left out (zero padding).
//
// T: float, double. The filter lies on the host and may change once the call returns. Errors (invalid_argument), all
// before any work: sizes that differ, K even, pitch < cols, null spans of non-zero size, an output that overlaps the
// input, an algorithm of the other backend, `separable` for a filter that is not, K above an algorithm's limit
// (unsupported). An empty input is no error.
//
// Every output is a sum of up to N = K (a line) or K * K products: off by at most N * u / (1 - N * u) * sum |f||x|,
// u the unit roundoff. The device's algorithms for K <= 15, save `separable`, add in the same order with fused
// multiply-adds and give the same bits; each result is the same for every run, launch and thread count.
// `separable` takes a filter f apart where |f(s, t) f(p, q) - f(s, q) f(p, t)| <= 4 u |f(s, t) f(p, q)| for all s, t,
// (p, q) being its tap of largest magnitude, that is where f is an outer product whose taps were rounded once. It is
// off by at most (2 K + 8) * u * sum |f||x| (2 K + 8 times u small against 1; nothing underflows): from K = 5 on no
// more than the plain sum. `automatic` does so unless told otherwise.
//
// A NaN or infinite input spreads to the outputs whose window it lies in, also where the tap is 0. Nothing is
// multiplied outside of the input, so that a NaN or infinite tap spreads no further than the inputs it meets; such a
// filter is computed by `naive` whatever was asked for, and is not separable.
//
// K operations per output on a line and K * K on an image, 2 K separable. Asynchronous on a device; scratch (the
// filter) from the context's pool where the filter is not passed by value.
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
