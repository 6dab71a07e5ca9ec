// NPP's histogram of bytes as a peer: 2^30 of them, as an image of 32,768 x 32,768.
#include "bench/histogram_device.cuh"
#include "bench/npp_context.hpp"

namespace spargo::bench {

namespace {

constexpr int side = 1 << 15;

double measure_npp(benchmark::State& state, pattern kind) {
  auto& p = histogram_problem<std::uint8_t>::of(std::int64_t{side} * side, 256, kind);
  const NppStreamContext npp = npp_context();
  std::size_t bytes = 0;
  expect(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx({side, side}, p.bins + 1, &bytes, npp));
  array<Npp8u, device> buffer(device_context(), static_cast<std::int64_t>(bytes) + 1);
  return measure_histogram(state, p, [&] {
    expect(nppiHistogramEven_8u_C1R_Ctx(p.keys.data(), side, {side, side}, p.counts.data(), p.bins + 1, 0, p.bins,
                                        buffer.data(), npp));
  });
}

void add_all() {
  if (!current_settings().device) return;
  for (const auto& pattern_and_name : histogram_patterns()) {
    const pattern kind = pattern_and_name.first;
    add_peer("histogram/256/uint8/2^30/" + pattern_and_name.second + "/cuda/npp",
             [kind](benchmark::State& state) { return measure_npp(state, kind); });
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
