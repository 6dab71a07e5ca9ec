// Keys for device histograms, the check of counts, and reporting of times.
#pragma once

#include "bench/check_device.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spargo::bench {

enum class pattern { uniform, skewed, equal };

__device__ inline unsigned mix_bits(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return static_cast<unsigned>(x >> 32);
}

// Skewed: bin k with probability about proportional to 1 / (k + 1).
template <class Key>
__global__ void fill_kernel(Key* keys, std::int64_t size, int bins, pattern kind) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const float u = static_cast<float>(mix_bits(static_cast<unsigned long long>(i) + 1) >> 8) * 0x1p-24F;
    float x = u * static_cast<float>(bins);
    if (kind == pattern::skewed) x = __powf(static_cast<float>(bins), u) - 1;
    if (kind == pattern::equal) x = static_cast<float>(bins) * 0.4F;
    const int bin = static_cast<int>(x);
    keys[i] = static_cast<Key>(bin < bins ? bin : bins - 1);
  }
}

template <class Key>
struct histogram_problem {
  std::int64_t size;
  int bins;
  pattern kind;
  array<Key, device> keys;
  array<std::int32_t, device> counts;
  std::vector<std::int32_t> expected;

  histogram_problem(std::int64_t n, int b, pattern k)
      : size(n), bins(b), kind(k), keys(device_context(), n), counts(device_context(), b) {
    fill_kernel<<<2048, 256, 0, device_context().stream()>>>(keys.data(), n, b, k);
    expect(cudaGetLastError());
    const auto there = to_host(device_context(), std::as_const(keys).view());
    device_context().synchronize();
    expected.assign(static_cast<std::size_t>(b), 0);
    for (std::int64_t i = 0; i < n; ++i) ++expected[static_cast<std::size_t>(there[i])];
  }

  void forget() { poison(device_context(), counts.view()); }

  // Throws if a bin differs from a plain loop's count.
  void validate() const {
    expect_all_on_device("bin", counts, [&](std::int64_t bin) { return expected[static_cast<std::size_t>(bin)]; });
  }

  // Caches the last problem.
  static histogram_problem& of(std::int64_t n, int b, pattern k) {
    static std::unique_ptr<histogram_problem> kept;
    if (!kept || kept->size != n || kept->bins != b || kept->kind != k) {
      kept.reset();
      kept = std::make_unique<histogram_problem>(n, b, k);
    }
    return *kept;
  }
};

template <class Key, class Run>
double measure_histogram(benchmark::State& state, histogram_problem<Key>& p, Run&& run) {
  p.forget();
  run();
  device_context().synchronize();
  const double once = device_seconds(device_context(), run, 1, 0);
  const double seconds = once > 0.05 ? once : device_seconds(device_context(), run);
  p.validate();
  const double bytes = static_cast<double>(p.size) * sizeof(Key);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_read] = bytes / seconds / device_read_rate();
  return seconds;
}

inline const std::vector<std::pair<pattern, std::string>>& histogram_patterns() {
  static const std::vector<std::pair<pattern, std::string>> all{
      {pattern::uniform, "uniform"}, {pattern::skewed, "skewed"}, {pattern::equal, "equal"}};
  return all;
}

}  // namespace spargo::bench
