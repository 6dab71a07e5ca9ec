// Single-sweep stencils: the average over a window of a line, and over five points of an image.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/primitives/convolve.hpp>  // image_view

#include <string_view>

namespace spargo {

// "device:" algorithms do not exist on the host (unsupported).
enum class stencil_algorithm {
  automatic,  // device: register_marched; host: tiled, register_marched for wide windows of a line
  naive,      // one output per thread, each input read from memory
  tiled,      // device: a block's inputs and their halo in shared memory; host: rows in vectors, in blocks of rows
  register_marched,  // images (device only): a warp moves down its columns, the latest rows in registers. Lines: runs
                     // summed from both ends in registers; a window is the end of one run and the start of the next:
                     // work independent of the radius (van Herk, Pattern Recognition Letters 13(7), 1992; Gil and
                     // Werman, IEEE PAMI 15(5), 1993)
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<stencil_algorithm> enum_rows() noexcept;

struct SPARGO_EXPORT stencil_options {
  stencil_algorithm algorithm = stencil_algorithm::automatic;
};

// out[i] = (sum of in[j] over |j - i| <= radius, 0 <= j < n) / (2 radius + 1): zero outside the line. T: float, double.
//
// Errors (invalid_argument), before any work: sizes that differ, a negative radius, null spans of non-zero size, output
// overlapping input; unsupported: an algorithm that this backend lacks. An empty line is valid.
//
// The sum of N = min(2 radius + 1, n) terms and its division have an error of at most (N + 1) u / (1 - (N + 1) u) * sum
// |x|, u the unit roundoff; a NaN or infinity affects only outputs whose window contains it. Each algorithm gives the
// same bits for every run, thread count and launch; algorithms differ by rounding. `naive` and `tiled` take 2 radius +
// 1 reads per output, `register_marched` a constant number. Asynchronous on a device; scratch for wide windows (n / 128
// elements) from the context's pool.
template <detail::real T, class Space>
SPARGO_EXPORT void window_average(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
                                  std::int64_t radius, span<T, Space> out, const stencil_options& options = {});
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void window_average(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, std::int64_t radius,
                    Out&& out, const stencil_options& options = {}) {
  window_average<T, Space>(ctx, in, radius, out, options);
}

// out(i, j) = ((left + right) + (up + down) + in(i, j)) * 0.2 inside, out(i, j) = in(i, j) on the rim (first and last
// row and column). T: float, double; any shape, any pitch >= cols; output padding is not written.
//
// Errors (invalid_argument), before any work: shapes that differ, pitch < cols, spans that are null or too short,
// output overlapping input; unsupported: an algorithm that this backend lacks. An empty image is valid.
//
// Error at most 6 u / (1 - 6 u) * (mean of the five magnitudes), u the unit roundoff; NaN and infinity affect outputs
// that read them. Every algorithm on both backends gives the same bits. Each element is read and written once.
// Asynchronous on a device; no scratch.
template <detail::real T, class Space>
SPARGO_EXPORT void five_point_average(const context<Space>& ctx, std::type_identity_t<image_view<const T, Space>> in,
                                      image_view<T, Space> out, const stencil_options& options = {});

}  // namespace spargo
