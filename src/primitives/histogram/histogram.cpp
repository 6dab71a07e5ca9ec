// Histograms: checks. Integer keys are counted as unsigned: one comparison then excludes every key that has no bin.
#include <spargo/primitives/histogram.hpp>

#include "core/checks.hpp"
#include "core/rethrow.hpp"
#include "primitives/histogram/algorithms.hpp"
#include "primitives/histogram/backend.hpp"
#include "primitives/histogram/bins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spargo {

namespace {

template <class T, class Count, class Space>
void expect_ranges(const char* caller, span<const T, Space> values, span<const Count, Space> counts,
                   histogram_algorithm algorithm) {
  detail::expect_runs_on<Space>(detail::histogram::algorithms, caller, algorithm);
  detail::expect_range(caller, "the input", values);
  detail::expect_range(caller, "counts", counts);
  detail::expect_apart(caller, "counts", detail::memory_of(counts), "the input", detail::memory_of(values));
}

// After the checks: zeroes the counts and counts into the first `used` bins, those that can occur.
template <class Bins, class Count, class Space>
void run(const char* caller, const context<Space>& ctx, span<const typename Bins::value, Space> values,
         const Bins& bins, span<Count, Space> counts, std::int64_t used, histogram_algorithm algorithm) {
  if (counts.empty()) return;
  fill_zero(ctx, counts);
  if (values.empty()) return;
  if constexpr (detail::is_built<Space>) {
    detail::histogram::run<Bins, Count>(ctx, values, bins, counts.subspan(0, used), algorithm);
  } else {
    detail::no_device(caller);
  }
}

// In double, so that float values and double values have the same edges.
template <std::floating_point T>
detail::histogram::even_bins<T> make_even_bins(T lower, T upper, std::int64_t bins) {
  const double scale = static_cast<double>(bins) / (static_cast<double>(upper) - static_cast<double>(lower));
  SPARGO_EXPECTS(bins >= 1, "histogram_even: no bins (expected at least one)");
  SPARGO_EXPECTS(std::isfinite(lower) && std::isfinite(upper) && lower < upper && std::isfinite(scale) && scale > 0,
                 fmt::format("histogram_even: {} bins over [{}, {}) (expected finite lower < upper, and a finite, "
                             "positive bins / (upper - lower))",
                             bins, lower, upper));
  return {lower, upper, scale, static_cast<std::uint64_t>(bins)};
}

}  // namespace

template <>
enum_table<histogram_algorithm> enum_rows() noexcept {
  return detail::histogram::algorithms;
}

template <detail::histogram_key Key, detail::histogram_count Count, class Space>
void histogram(const context<Space>& ctx, span<const Key, Space> keys, span<Count, Space> counts,
               const histogram_options& options) try {
  using unsigned_key = std::make_unsigned_t<Key>;
  expect_ranges("histogram", keys, span<const Count, Space>(counts), options.algorithm);
  const std::int64_t used =
      sizeof(Key) == 8 ? counts.size() : std::min(counts.size(), std::int64_t{std::numeric_limits<Key>::max()} + 1);
  const span<const unsigned_key, Space> unsigned_keys(reinterpret_cast<const unsigned_key*>(keys.data()), keys.size());
  run("histogram", ctx, unsigned_keys, detail::histogram::key_bins<unsigned_key>{}, counts, used, options.algorithm);
} catch (...) {
  detail::rethrow("histogram");
}

template <detail::real T, detail::histogram_count Count, class Space>
void histogram_even(const context<Space>& ctx, span<const T, Space> values, std::type_identity_t<T> lower,
                    std::type_identity_t<T> upper, span<Count, Space> counts, const histogram_options& options) try {
  expect_ranges("histogram_even", values, span<const Count, Space>(counts), options.algorithm);
  run("histogram_even", ctx, values, make_even_bins(lower, upper, counts.size()), counts, counts.size(),
      options.algorithm);
} catch (...) {
  detail::rethrow("histogram_even");
}

template <detail::real T, detail::histogram_count Count, class Space>
void histogram_edges(const context<Space>& ctx, span<const T, Space> values,
                     std::type_identity_t<span<const T, Space>> edges, span<Count, Space> counts,
                     const histogram_options& options) try {
  expect_ranges("histogram_edges", values, span<const Count, Space>(counts), options.algorithm);
  detail::expect_range("histogram_edges", "edges", edges);
  SPARGO_EXPECTS(counts.size() >= 1 && edges.size() == counts.size() + 1,
                 fmt::format("histogram_edges: {} edges for {} bins (expected bins + 1, at least 2)", edges.size(),
                             counts.size()));
  detail::expect_apart("histogram_edges", "counts", detail::memory_of(counts), "the edges", detail::memory_of(edges));
  if constexpr (std::same_as<Space, host>) {
    const auto descends = [](T a, T b) { return !(a <= b); };
    const auto* wrong = std::adjacent_find(edges.begin(), edges.end(), descends);
    SPARGO_EXPECTS(wrong == edges.end(),
                   fmt::format("histogram_edges: edge {} is {}, the next one {} (expected ascending edges)",
                               wrong - edges.begin(), wrong[0], wrong[1]));
  }
  const detail::histogram::edge_bins<T> bins{edges.data(), static_cast<std::uint64_t>(counts.size())};
  run("histogram_edges", ctx, values, bins, counts, counts.size(), options.algorithm);
} catch (...) {
  detail::rethrow("histogram_edges");
}

template <detail::histogram_letter Char, detail::histogram_count Count, class Space>
void letter_histogram(const context<Space>& ctx, span<const Char, Space> text, int group, span<Count, Space> counts,
                      const histogram_options& options) try {
  expect_ranges("letter_histogram", text, span<const Count, Space>(counts), options.algorithm);
  SPARGO_EXPECTS(group >= 1 && counts.size() == div_up(26, group),
                 fmt::format("letter_histogram: {} counts for groups of {} letters (expected a positive group, and one "
                             "count per group of the 26 letters)",
                             counts.size(), group));
  const span<const std::uint8_t, Space> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  run("letter_histogram", ctx, bytes, detail::histogram::letter_bins(group), counts, counts.size(), options.algorithm);
} catch (...) {
  detail::rethrow("letter_histogram");
}

#define INSTANTIATE_KEY(Key, Count, Space)                                                                      \
  template void histogram<Key, Count, Space>(const context<Space>&, span<const Key, Space>, span<Count, Space>, \
                                             const histogram_options&);
#define INSTANTIATE_VALUE(T, Count, Space)                                                                             \
  template void histogram_even<T, Count, Space>(const context<Space>&, span<const T, Space>, T, T, span<Count, Space>, \
                                                const histogram_options&);                                             \
  template void histogram_edges<T, Count, Space>(const context<Space>&, span<const T, Space>, span<const T, Space>,    \
                                                 span<Count, Space>, const histogram_options&);
#define INSTANTIATE_TEXT(Char, Count, Space)                                                              \
  template void letter_histogram<Char, Count, Space>(const context<Space>&, span<const Char, Space>, int, \
                                                     span<Count, Space>, const histogram_options&);
#define INSTANTIATE(Count, Space)              \
  INSTANTIATE_KEY(std::uint8_t, Count, Space)  \
  INSTANTIATE_KEY(std::int32_t, Count, Space)  \
  INSTANTIATE_KEY(std::uint32_t, Count, Space) \
  INSTANTIATE_KEY(std::int64_t, Count, Space)  \
  INSTANTIATE_VALUE(float, Count, Space)       \
  INSTANTIATE_VALUE(double, Count, Space)      \
  INSTANTIATE_TEXT(char, Count, Space)         \
  INSTANTIATE_TEXT(std::uint8_t, Count, Space)
INSTANTIATE(std::int32_t, host)
INSTANTIATE(std::int64_t, host)
INSTANTIATE(std::int32_t, device)
INSTANTIATE(std::int64_t, device)
#undef INSTANTIATE
#undef INSTANTIATE_TEXT
#undef INSTANTIATE_VALUE
#undef INSTANTIATE_KEY

}  // namespace spargo
