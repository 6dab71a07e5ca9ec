// The device's ceilings: a copy, and a kernel that reads and keeps nothing.
#include "bench/device_timing.hpp"

namespace spargo::bench {

namespace {

constexpr int threads = 512;
constexpr int loads = 8;  // 16 bytes each, in flight a thread

// Every thread adds what it read and stores the sum if it is a value that the data cannot give.
__global__ void __launch_bounds__(threads) read_kernel(const uint4* data, std::int64_t size, unsigned* sink) {
  const std::int64_t stride = std::int64_t{gridDim.x} * threads * loads;
  unsigned sum = 0;
  for (std::int64_t tile = std::int64_t{blockIdx.x} * threads * loads; tile < size; tile += stride) {
    uint4 item[loads];
#pragma unroll
    for (int j = 0; j < loads; ++j) {
      const std::int64_t i = tile + j * threads + threadIdx.x;
      item[j] = i < size ? __ldcs(data + i) : uint4{};
    }
#pragma unroll
    for (int j = 0; j < loads; ++j) sum |= item[j].x | item[j].y | item[j].z | item[j].w;
  }
  if (sum != 0) *sink = sum;
}

}  // namespace

void flush_l2() {
  constexpr std::int64_t bytes = std::int64_t{256} << 20;
  static array<char, device> flush(device_context(), bytes);
  expect(cudaMemsetAsync(flush.data(), 1, static_cast<std::size_t>(bytes), device_context().stream()));
}

double device_copy_rate() {
  static const double rate = [] {
    const auto& ctx = device_context();
    const std::int64_t bytes = std::int64_t{1} << 30;
    array<char, device> from(ctx, bytes);
    array<char, device> to(ctx, bytes);
    fill_zero(ctx, from.view());
    const double seconds = device_seconds(ctx, [&] { copy<char>(ctx, std::as_const(from).view(), to.view()); });
    return 2.0 * static_cast<double>(bytes) / seconds;
  }();
  return rate;
}

double device_read_rate() {
  static const double rate = [] {
    const auto& ctx = device_context();
    const std::int64_t bytes = std::int64_t{1} << 31;
    array<char, device> from(ctx, bytes);
    array<unsigned, device> sink(ctx, 1);
    fill_zero(ctx, from.view());
    const auto* data = reinterpret_cast<const uint4*>(std::as_const(from).data());
    const unsigned blocks = static_cast<unsigned>(ctx.properties().multiprocessors) * 4;
    const double seconds = device_seconds(ctx, [&] {
      read_kernel<<<blocks, threads, 0, ctx.stream()>>>(data, bytes / 16, sink.data());
      expect(cudaGetLastError());
    });
    return static_cast<double>(bytes) / seconds;
  }();
  return rate;
}

}  // namespace spargo::bench
