// The maximum over a forward window, along a line or in a volume.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/enum_names.hpp>

#include <string_view>

namespace spargo {

enum class sliding_max_algorithm {
  automatic,  // tiled for narrow windows, else van_herk
  naive,      // one output per thread, every element of its window read from memory
  tiled,      // w reads per output, from shared memory (host: in vectors); volumes: one axis at a time
  van_herk,   // runs of the line scanned from both ends; a window is the end of one run and the start of the next: work
              // independent of w (van Herk, Pattern Recognition Letters 13(7), 1992; Gil and Werman, IEEE PAMI 15(5),
              // 1993); volumes: one axis at a time
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<sliding_max_algorithm> enum_rows() noexcept;

struct SPARGO_EXPORT sliding_max_options {
  sliding_max_algorithm algorithm = sliding_max_algorithm::automatic;
};

// Extents of a volume or a window; element (p, r, c) of a volume is at (p * rows + r) * cols + c.
struct SPARGO_EXPORT volume_shape {
  std::int64_t planes = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

// A line: out[i] = max of in[i .. min(i + window, n) - 1]. A volume: out(p, r, c) = max of in(p', r', c') over p <= p'
// < min(p + window.planes, shape.planes), and so on: windows are truncated at the end, without padding. T: float,
// double; any data, any window from 1; an empty input is valid.
//
// Errors (invalid_argument), before any work: sizes that differ from each other or from the shape, a window below 1,
// null spans of non-zero size, output overlapping input.
//
// Exact: every algorithm gives the largest element, and NaN if the window contains one (payload unspecified; likewise
// the sign if the largest are 0 and -0). `naive` costs w reads per output (in a volume the product of the three
// extents), `tiled` their sum, `van_herk` a constant number. Asynchronous on a device; scratch from the context's pool:
// n / 128 elements for wide windows of a line, one array of the volume's size if the window is wider than 1 on two axes
// or more (not for `naive`).
template <detail::real T, class Space>
SPARGO_EXPORT void sliding_max(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
                               std::int64_t window, span<T, Space> out, const sliding_max_options& options = {});
template <detail::real T, class Space>
SPARGO_EXPORT void sliding_max(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in,
                               const volume_shape& shape, const volume_shape& window, span<T, Space> out,
                               const sliding_max_options& options = {});

// For arrays and containers.
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void sliding_max(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, std::int64_t window,
                 Out&& out, const sliding_max_options& options = {}) {
  sliding_max<T, Space>(ctx, in, window, out, options);
}
template <class Space, detail::output_storage<Space> Out, class T = detail::element_of<Out>>
void sliding_max(const context<Space>& ctx, std::type_identity_t<span<const T, Space>> in, const volume_shape& shape,
                 const volume_shape& window, Out&& out, const sliding_max_options& options = {}) {
  sliding_max<T, Space>(ctx, in, shape, window, out, options);
}

}  // namespace spargo
