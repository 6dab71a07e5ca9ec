// The ladder of the histogram on the device, beside CUB: bytes in 256 bins, int32 in 65,536, each uniform, skewed (a
// power law) and all equal.
#include "bench/device_timing.hpp"

#include <spargo/primitives/histogram.hpp>

#include <cub/device/device_histogram.cuh>

#include <memory>
#include <numeric>

namespace spargo::bench {

namespace {

enum class pattern { uniform, skewed, equal };

__device__ unsigned mix(unsigned long long x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return static_cast<unsigned>(x >> 32);
}

// Skewed: bin k in proportion to about 1 / (k + 1).
template <class Key>
__global__ void fill_kernel(Key* keys, std::int64_t size, int bins, pattern kind) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const float u = static_cast<float>(mix(static_cast<unsigned long long>(i) + 1) >> 8) * 0x1p-24F;
    float x = u * static_cast<float>(bins);
    if (kind == pattern::skewed) x = __powf(static_cast<float>(bins), u) - 1;
    if (kind == pattern::equal) x = static_cast<float>(bins) * 0.4F;
    const int bin = static_cast<int>(x);
    keys[i] = static_cast<Key>(bin < bins ? bin : bins - 1);
  }
}

template <class Key>
struct problem {
  std::int64_t size;
  int bins;
  pattern kind;
  array<Key, device> keys;
  array<std::int32_t, device> counts;

  problem(std::int64_t n, int b, pattern k)
      : size(n), bins(b), kind(k), keys(device_context(), n), counts(device_context(), b) {
    fill_kernel<<<2048, 256, 0, device_context().stream()>>>(keys.data(), n, b, k);
    expect(cudaGetLastError());
  }
  // One is kept.
  static problem& of(std::int64_t n, int b, pattern k) {
    static std::unique_ptr<problem> kept;
    if (!kept || kept->size != n || kept->bins != b || kept->kind != k) {
      kept.reset();
      kept = std::make_unique<problem>(n, b, k);
    }
    return *kept;
  }
};

template <class Key, class Run>
double measure(benchmark::State& state, const problem<Key>& p, Run&& run) {
  run();
  device_context().synchronize();
  const double once = device_seconds(device_context(), run, 1, 0);
  const double seconds = once > 0.05 ? once : device_seconds(device_context(), run);
  const auto counts = to_host(device_context(), p.counts.view());
  device_context().synchronize();
  if (std::accumulate(counts.data(), counts.data() + counts.size(), std::int64_t{0}) != p.size) {
    throw std::runtime_error("counts do not sum to the elements");
  }
  const double bytes = static_cast<double>(p.size) * sizeof(Key);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_read] = bytes / seconds / device_read_rate();
  return seconds;
}

template <class Key>
double measure_cub(benchmark::State& state, problem<Key>& p) {
  std::size_t bytes = 0;
  const auto stream = device_context().stream();
  const auto call = [&](void* storage) {
    return cub::DeviceHistogram::HistogramEven(storage, bytes, p.keys.data(), p.counts.data(), p.bins + 1, 0, p.bins,
                                               p.size, stream);
  };
  expect(call(nullptr));
  array<unsigned char, device> storage(device_context(), static_cast<std::int64_t>(bytes) + 1);
  state.counters[is_peer] = 1;
  return measure(state, p, [&] { expect(call(storage.data())); });
}

template <class Key>
void add_patterns(const std::string& name, std::int64_t size, int bins,
                  const std::vector<histogram_algorithm>& algorithms) {
  for (const auto& [kind, kind_name] : std::vector<std::pair<pattern, std::string>>{
           {pattern::uniform, "uniform"}, {pattern::skewed, "skewed"}, {pattern::equal, "equal"}}) {
    const std::string group = "histogram/" + name + "/" + kind_name + "/cuda/";
    for (const auto algorithm : algorithms) {
      add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
        auto& p = problem<Key>::of(size, bins, kind);
        return measure(state, p, [&] {
          histogram<Key, std::int32_t, device>(device_context(), std::as_const(p.keys).view(), p.counts.view(),
                                               {.algorithm = algorithm});
        });
      });
    }
    add_case(group + "cub",
             [=](benchmark::State& state) { return measure_cub(state, problem<Key>::of(size, bins, kind)); });
  }
}

void add_all() {
  if (!current_settings().device) return;
  using enum histogram_algorithm;
  add_patterns<std::uint8_t>("256/uint8/2^30", std::int64_t{1} << 30, 256,
                             {contiguous_partition, global_atomic, privatized, privatized_coarsened, lane_privatized,
                              packed, aggregated, automatic});
  add_patterns<std::int32_t>("65536/int32/2^28", std::int64_t{1} << 28, 65536,
                             {global_atomic, privatized, packed, multi_pass, aggregated, automatic});
  add_patterns<std::int32_t>("1000/int32/2^28", std::int64_t{1} << 28, 1000, {privatized_coarsened, automatic});
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
