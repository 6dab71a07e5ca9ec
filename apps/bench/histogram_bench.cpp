// Histograms on the host, relative to a triad in the same run.
#include "bench/check.hpp"
#include "bench/host_timing.hpp"

#include "primitives/histogram/algorithms.hpp"

#include <spargo/primitives/histogram.hpp>

#include <memory>

namespace spargo::bench {

namespace {

template <class Key>
double measure(benchmark::State& state, std::int64_t size, std::int64_t bins, histogram_algorithm algorithm) {
  const context<host> ctx({.threads = current_settings().threads});
  static std::unique_ptr<huge_page_array<Key>> keys;
  static std::int64_t kept = 0;
  if (kept != size) {
    keys = std::make_unique<huge_page_array<Key>>(size);
    kept = size;
#pragma omp parallel for num_threads(host_threads()) schedule(static)
    for (std::int64_t i = 0; i < size; ++i) {
      (*keys)[i] = static_cast<Key>((static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U >> 40) %
                                    static_cast<std::uint64_t>(bins));
    }
  }
  array<std::int64_t, host> counts(ctx, bins);
  poison(counts.view());
  const auto view = std::as_const(*keys).view();
  const double seconds = median_seconds(
      [&] { histogram<Key, std::int64_t, host>(ctx, view, counts.view(), {.algorithm = algorithm}); }, 9, 1);
  std::vector<std::int64_t> expected(static_cast<std::size_t>(bins), 0);
  for (std::int64_t i = 0; i < size; ++i) ++expected[static_cast<std::size_t>(view[i])];
  expect_all("bin", std::as_const(counts).view(),
             [&](std::int64_t bin) { return expected[static_cast<std::size_t>(bin)]; });
  const double bytes = static_cast<double>(size) * sizeof(Key);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_triad] = bytes / seconds / host_triad_rate(host_threads());
  return seconds;
}

void add_all() {
  if (!current_settings().host) return;
  for (const auto algorithm : detail::algorithms_on<host>(detail::histogram::algorithms)) {
    if (algorithm == histogram_algorithm::global_atomic) continue;  // seconds per call
    add_case("histogram/256/uint8/2^28/cpu/" + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      return measure<std::uint8_t>(state, std::int64_t{1} << 28, 256, algorithm);
    });
    add_case("histogram/256/int32/2^27/cpu/" + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      return measure<std::int32_t>(state, std::int64_t{1} << 27, 256, algorithm);
    });
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
