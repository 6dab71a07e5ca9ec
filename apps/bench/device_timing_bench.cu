// The device's ceilings: a copy, and a read-only kernel.
#include "bench/device_timing.hpp"

namespace spargo::bench {

namespace {

constexpr int threads = 512;
constexpr int loads = 4;  // 16-byte loads in flight per thread

// One tile per block: every thread combines its reads and stores the result only for a value that cannot occur.
__global__ void __launch_bounds__(threads) read_kernel(const uint4* data, std::int64_t size, unsigned* sink) {
  const std::int64_t tile = std::int64_t{blockIdx.x} * threads * loads;
  uint4 item[loads];
#pragma unroll
  for (int j = 0; j < loads; ++j) {
    const std::int64_t i = tile + j * threads + threadIdx.x;
    item[j] = i < size ? __ldg(data + i) : uint4{};
  }
  unsigned sum = 0;
#pragma unroll
  for (int j = 0; j < loads; ++j) sum |= item[j].x | item[j].y | item[j].z | item[j].w;
  if (sum != 0) *sink = sum;
}

void read_zeros(const array<char, device>& from) {
  static array<unsigned, device> sink(device_context(), 1);
  const std::int64_t size = from.size() / 16;
  read_kernel<<<static_cast<unsigned>(div_up(size, threads * loads)), threads, 0, device_context().stream()>>>(
      reinterpret_cast<const uint4*>(from.data()), size, sink.data());
  expect(cudaGetLastError());
}

}  // namespace

// Reads instead of writing: write-back of the last 50 MB would fall into the timed work.
void flush_l2() {
  static const array<char, device> buffer = [] {
    array<char, device> zeros(device_context(), std::int64_t{256} << 20);
    fill_zero(device_context(), zeros.view());
    return zeros;
  }();
  read_zeros(buffer);
}

double stream_seconds(const context<device>& ctx, const std::function<void()>& run) { return device_seconds(ctx, run); }

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
    array<char, device> from(device_context(), std::int64_t{1} << 30);
    fill_zero(device_context(), from.view());
    return static_cast<double>(from.size()) / device_seconds(device_context(), [&] { read_zeros(from); });
  }();
  return rate;
}

}  // namespace spargo::bench
