// Histograms on the device beside CUB: bytes in 256 bins, int32 in 65,536; uniform, power law, and all equal.
#include "bench/histogram_device.cuh"

#include "primitives/histogram/algorithms.hpp"

#include <spargo/primitives/histogram.hpp>

#include <cub/device/device_histogram.cuh>

namespace spargo::bench {

namespace {

template <class Key>
double measure_cub(benchmark::State& state, histogram_problem<Key>& p) {
  std::size_t bytes = 0;
  const auto stream = device_context().stream();
  const auto call = [&](void* storage) {
    return cub::DeviceHistogram::HistogramEven(storage, bytes, p.keys.data(), p.counts.data(), p.bins + 1, 0, p.bins,
                                               p.size, stream);
  };
  expect(call(nullptr));
  array<unsigned char, device> storage(device_context(), static_cast<std::int64_t>(bytes) + 1);
  return measure_histogram(state, p, [&] { expect(call(storage.data())); });
}

template <class Key>
void add_patterns(const std::string& name, std::int64_t size, int bins) {
  for (const auto& [kind, kind_name] : histogram_patterns()) {
    const std::string group = "histogram/" + name + "/" + kind_name + "/cuda/";
    for (const auto algorithm : detail::algorithms_on<device>(detail::histogram::algorithms)) {
      add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
        auto& p = histogram_problem<Key>::of(size, bins, kind);
        return measure_histogram(state, p, [&] {
          histogram<Key, std::int32_t, device>(device_context(), std::as_const(p.keys).view(), p.counts.view(),
                                               {.algorithm = algorithm});
        });
      });
    }
    add_peer(group + "cub",
             [=](benchmark::State& state) { return measure_cub(state, histogram_problem<Key>::of(size, bins, kind)); });
  }
}

void add_all() {
  if (!current_settings().device) return;
  add_patterns<std::uint8_t>("256/uint8/2^30", std::int64_t{1} << 30, 256);
  add_patterns<std::int32_t>("65536/int32/2^28", std::int64_t{1} << 28, 65536);
  add_patterns<std::int32_t>("1000/int32/2^28", std::int64_t{1} << 28, 1000);
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
