// Histograms of small integers, of values between even or given edges, and of letters.
//
// Common to all four: `counts` is overwritten. Counts are exact, the same for every algorithm, thread count and launch,
// and must fit Count (int32 or int64). Elements that belong to no bin are ignored. Any number of elements and bins.
// Asynchronous on a device; scratch on the host only (at most 32 tables per thread). Cost: n reads, n increments in the
// nearest memory that holds the counters. Errors (invalid_argument), before any work: `counts` overlaps the input, null
// ranges of non-zero size, invalid bins.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/enum_names.hpp>

#include <string_view>

namespace spargo {

namespace detail {

template <class Key>
[[nodiscard]] consteval bool built_for_keys() {
  static_assert(one_of<Key, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t>,
                "spargo: histogram is for keys of std::uint8_t, std::int32_t, std::uint32_t and std::int64_t");
  return true;
}
template <class Count>
[[nodiscard]] consteval bool built_for_counts() {
  static_assert(one_of<Count, std::int32_t, std::int64_t>, "spargo: histograms count in std::int32_t and std::int64_t");
  return true;
}
template <class Char>
[[nodiscard]] consteval bool built_for_letters() {
  static_assert(one_of<Char, char, std::uint8_t>, "spargo: letter_histogram is for text of char and std::uint8_t");
  return true;
}
template <class Key>
concept histogram_key = built_for_keys<Key>();
template <class Count>
concept histogram_count = built_for_counts<Count>();
template <class Char>
concept histogram_letter = built_for_letters<Char>();

}  // namespace detail

// Each algorithm adds one idea to the one before; all count exactly.
enum class histogram_algorithm {
  automatic,             // chosen by element type, number of elements and bins
  contiguous_partition,  // device: one contiguous range per thread, so loads do not coalesce (shows what that costs)
  global_atomic,         // one atomic increment per element on the counts, coalesced loads; also on the host
  privatized,  // device: one table per block in shared memory, one element per thread; host: one table per thread
  privatized_coarsened,  // device: one table per resident block, 16-byte loads
  lane_privatized,       // device: one table per lane, in the lane's own bank: no conflicts, for few bins
  aggregated,            // device: lanes of a warp with equal bins are counted by one atomic: for skewed data
  multi_pass,            // device: 16-bit counters with exact carries, a window of bins per block: for many bins
  interleaved,           // host: several tables per thread, so that equal neighbours do not stall each other
};

// "privatized_coarsened"
template <>
[[nodiscard]] SPARGO_EXPORT enum_table<histogram_algorithm> enum_rows() noexcept;

struct SPARGO_EXPORT histogram_options {
  // An algorithm of the other backend is an unsupported error. If a table cannot hold all bins (shared memory:
  // about 58,000 counters on Hopper) it holds the first ones, and the rest are counted as by global_atomic.
  // `multi_pass` (116,000 counters per window on Hopper) and `aggregated` take any number.
  histogram_algorithm algorithm = histogram_algorithm::automatic;
};

// counts[k] = number of k in `keys`, for k in [0, counts.size()). Key: uint8, int32, uint32, int64.
template <detail::histogram_key Key, detail::histogram_count Count, class Space>
SPARGO_EXPORT void histogram(const context<Space>& ctx, span<const Key, Space> keys, span<Count, Space> counts,
                             const histogram_options& options = {});

// counts.size() bins of equal width over [lower, upper): v is in bin min(trunc((v - lower) * s), bins - 1) where s =
// bins / (upper - lower), in double and equal on every backend. NaN is in no bin. Requires lower < upper, finite s and
// at least one bin. T: float, double.
template <detail::real T, detail::histogram_count Count, class Space>
SPARGO_EXPORT void histogram_even(const context<Space>& ctx, span<const T, Space> values, std::type_identity_t<T> lower,
                                  std::type_identity_t<T> upper, span<Count, Space> counts,
                                  const histogram_options& options = {});

// Bin k is [edges[k], edges[k + 1]), the last one too: a value equal to the last edge is in no bin, nor is NaN. `edges`
// has one more element than `counts` (at least one bin), ascends (equal edges: an empty bin) and has no NaN; the host
// checks this, on a device counts are otherwise unspecified. log2(bins) comparisons per value. T: float, double.
template <detail::real T, detail::histogram_count Count, class Space>
SPARGO_EXPORT void histogram_edges(const context<Space>& ctx, span<const T, Space> values,
                                   std::type_identity_t<span<const T, Space>> edges, span<Count, Space> counts,
                                   const histogram_options& options = {});

// Letters `a` to `z` in consecutive groups of `group` >= 1: counts[(letter - 'a') / group], counts.size() = ceil(26 /
// group). Other characters, including upper case, are ignored. Char: char, uint8.
template <detail::histogram_letter Char, detail::histogram_count Count, class Space>
SPARGO_EXPORT void letter_histogram(const context<Space>& ctx, span<const Char, Space> text, int group,
                                    span<Count, Space> counts, const histogram_options& options = {});

// For arrays, containers and spans.
template <class Space, detail::input_range<Space> Keys, detail::output_range<Space> Counts>
void histogram(const context<Space>& ctx, const Keys& keys, Counts&& counts, const histogram_options& options = {}) {
  histogram<detail::element_of<Keys>, detail::element_of<Counts>, Space>(ctx, keys, counts, options);
}
template <class Space, detail::input_range<Space> Values, detail::output_range<Space> Counts>
void histogram_even(const context<Space>& ctx, const Values& values, detail::element_of<Values> lower,
                    detail::element_of<Values> upper, Counts&& counts, const histogram_options& options = {}) {
  histogram_even<detail::element_of<Values>, detail::element_of<Counts>, Space>(ctx, values, lower, upper, counts,
                                                                                options);
}
template <class Space, detail::input_range<Space> Values, detail::input_range<Space> Edges,
          detail::output_range<Space> Counts>
void histogram_edges(const context<Space>& ctx, const Values& values, const Edges& edges, Counts&& counts,
                     const histogram_options& options = {}) {
  histogram_edges<detail::element_of<Values>, detail::element_of<Counts>, Space>(ctx, values, edges, counts, options);
}
template <class Space, detail::input_range<Space> Text, detail::output_range<Space> Counts>
void letter_histogram(const context<Space>& ctx, const Text& text, int group, Counts&& counts,
                      const histogram_options& options = {}) {
  letter_histogram<detail::element_of<Text>, detail::element_of<Counts>, Space>(ctx, text, group, counts, options);
}

}  // namespace spargo
