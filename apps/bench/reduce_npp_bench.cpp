// NPP's sum as a peer: 2^28 floats, as an image of 16,384 x 16,384.
#include "bench/check_device.hpp"
#include "bench/npp_context.hpp"
#include "bench/references.hpp"

namespace spargo::bench {

namespace {

constexpr int side = 1 << 14;

double measure_npp(benchmark::State& state) {
  const auto& ctx = device_context();
  const std::int64_t size = std::int64_t{side} * side;
  std::vector<float> values(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(i)] = whole_number<float>(i);
  const auto image = to_device(ctx, span<const float, host>(values));
  array<double, device> sum(ctx, 1);
  poison(ctx, sum.view());
  const NppStreamContext npp = npp_context();
  std::size_t bytes = 0;
  expect(nppiSumGetBufferHostSize_32f_C1R_Ctx({side, side}, &bytes, npp));
  array<Npp8u, device> buffer(ctx, static_cast<std::int64_t>(bytes) + 1);
  const double seconds = device_seconds(ctx, [&] {
    expect(nppiSum_32f_C1R_Ctx(image.data(), side * 4, {side, side}, buffer.data(), sum.data(), npp));
  });
  expect_all_on_device("the result", sum, [=](std::int64_t) { return static_cast<double>(whole_sum(size)); });
  state.counters[gbytes_per_second] = static_cast<double>(size) * 4 / seconds * 1e-9;
  state.counters[fraction_of_read] = static_cast<double>(size) * 4 / seconds / device_read_rate();
  return seconds;
}

void add_all() {
  if (current_settings().device) add_peer("reduce/sum/float/2^28/cuda/npp", &measure_npp);
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
