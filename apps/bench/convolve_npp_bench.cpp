// NPP's general filter as a peer. NPP flips the filter, so it gets the flipped one; it reads beyond the region, so the
// image has a margin of zeros, which equals our padding. Filters of 3 and 5 are omitted: their first output differs
// from ours with the filter flipped or not, for an unknown reason.
#include "bench/convolve_device.hpp"
#include "bench/npp_context.hpp"

namespace spargo::bench {

namespace {

double measure_npp(benchmark::State& state, std::int64_t side, std::int64_t width) {
  const auto& ctx = device_context();
  const convolve_case<float> c{side, side, width, random_filter<float>(width, width)};
  auto& data = cached<convolve_data<float>>(side * side);
  const NppStreamContext npp = npp_context();
  const std::vector<float> flipped(c.filter.rbegin(), c.filter.rend());
  const auto taps = to_device(ctx, span<const float, host>(flipped));

  const std::int64_t margin = 32;  // more than half of any filter; rows stay aligned
  const std::int64_t pitch = side + 2 * margin;
  array<float, device> padded(ctx, pitch * pitch);
  fill_zero(ctx, padded.view());
  float* const inside = padded.data() + margin * pitch + margin;
  expect(cudaMemcpy2DAsync(inside, static_cast<std::size_t>(pitch) * sizeof(float), data.in.data(),
                           static_cast<std::size_t>(side) * sizeof(float),
                           static_cast<std::size_t>(side) * sizeof(float), static_cast<std::size_t>(side),
                           cudaMemcpyDeviceToDevice, ctx.stream()));
  const int n = static_cast<int>(side);
  const int k = static_cast<int>(width);
  return measure_convolution(state, c, data, [&] {
    expect(nppiFilter_32f_C1R_Ctx(inside, static_cast<int>(pitch * 4), data.out.data(), n * 4, {n, n}, taps.data(),
                                  {k, k}, {k / 2, k / 2}, npp));
  });
}

void add_all() {
  if (!current_settings().device) return;
  for (const std::int64_t width : {7, 11, 15}) {
    add_peer(convolve_group("float", 8192, 8192, width, "") + "npp",
             [=](benchmark::State& state) { return measure_npp(state, 8192, width); });
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
