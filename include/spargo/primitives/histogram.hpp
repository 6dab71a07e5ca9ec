// Counting: of small integers, of values between even or given edges, and of letters.
//
// What all four share. `counts` is overwritten; counts are exact, the same for every algorithm, thread count and launch
// shape, and must fit Count (int32 or int64). Elements that belong to no bin are ignored. Any number of elements, any
// number of bins. Asynchronous on a device; scratch on the host only (at most 32 tables per thread). n element reads, n
// increments in the nearest memory that holds the counters. `counts` may not overlap what is read; that, a null range
// with a size and wrong bins are invalid_argument errors, before any work.
#pragma once

#include <spargo/core/array.hpp>

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

// How to count. The rungs of the ladder each add one idea; all count exactly.
enum class histogram_algorithm {
  automatic,             // by element type, elements and bins
  contiguous_partition,  // device: one contiguous range per thread: loads do not coalesce (to show what that costs)
  global_atomic,         // one atomic increment per element on the counts themselves, loads in order; also on the host
  privatized,  // one table per block in shared memory, one element per thread; on the host one table per thread
  privatized_coarsened,  // device: as many blocks as are resident, one table each, 16-byte loads
  lane_privatized,       // device: a table for each lane of a warp, in the lane's own bank: no conflicts, for few bins
  aggregated,            // device: lanes of a warp that hold the same bin count once: few atomics on skewed data
  multi_pass,            // device: 16-bit counters with exact carries, a window of the bins per block: for many bins
  interleaved,           // host: several tables per thread, so that equal neighbours do not wait for each other
};

// "privatized_coarsened"
[[nodiscard]] SPARGO_EXPORT std::string_view to_string(histogram_algorithm algorithm) noexcept;

struct SPARGO_EXPORT histogram_options {
  // One of the other backend is an invalid_argument error. A table that does not hold all the bins (shared memory:
  // about 58,000 counters on Hopper) holds the first ones, and the rest are counted as global_atomic does; `multi_pass`
  // (116,000 counters per window on Hopper) and `aggregated` take any number.
  histogram_algorithm algorithm = histogram_algorithm::automatic;
};

// counts[k] = how often k occurs in `keys`, for k in [0, counts.size()). Key: uint8, int32, uint32, int64.
template <detail::histogram_key Key, detail::histogram_count Count, class Space>
SPARGO_EXPORT void histogram(const context<Space>& ctx, span<const Key, Space> keys, span<Count, Space> counts,
                             const histogram_options& options = {});

// counts.size() bins of equal width over [lower, upper): v is in bin min(trunc((v - lower) * s), bins - 1) where s =
// bins / (upper - lower), all in double, the same on every backend. NaN is in no bin. lower < upper and s must be
// finite, with at least one bin. T: float, double.
template <detail::real T, detail::histogram_count Count, class Space>
SPARGO_EXPORT void histogram_even(const context<Space>& ctx, span<const T, Space> values, std::type_identity_t<T> lower,
                                  std::type_identity_t<T> upper, span<Count, Space> counts,
                                  const histogram_options& options = {});

// Bin k is [edges[k], edges[k + 1]), the last one too: a value equal to the last edge is in no bin, nor is NaN. `edges`
// has one more element than `counts` (at least one bin), ascends (equal edges: an empty bin) and has no NaN; the host
// checks that, on a device the counts are unspecified otherwise. log2(bins) comparisons per value. T: float, double.
template <detail::real T, detail::histogram_count Count, class Space>
SPARGO_EXPORT void histogram_edges(const context<Space>& ctx, span<const T, Space> values,
                                   std::type_identity_t<span<const T, Space>> edges, span<Count, Space> counts,
                                   const histogram_options& options = {});

// Letters `a` to `z` in groups of `group` (>= 1) in order: counts[(letter - 'a') / group], counts.size() = ceil(26 /
// group). Everything else is ignored, upper case too. Char: char, uint8.
template <detail::histogram_letter Char, detail::histogram_count Count, class Space>
SPARGO_EXPORT void letter_histogram(const context<Space>& ctx, span<const Char, Space> text, int group,
                                    span<Count, Space> counts, const histogram_options& options = {});

// The same of arrays, containers and spans, into any of these.
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
