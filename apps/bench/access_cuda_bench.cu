// Cost of access patterns: copies whose reads begin at an offset, or use a stride, one float per thread. GB/s counts
// useful bytes (one read and one write per element), "moved" the bytes of all touched 32-byte sectors per useful byte.
#include "bench/check_device.hpp"

namespace spargo::bench {

namespace {

constexpr int threads = 256;
constexpr std::int64_t offset_elements = std::int64_t{1} << 26;
constexpr std::int64_t strided_elements = std::int64_t{1} << 24;  // times 32 strides: the reads span 2 GiB
constexpr std::int64_t widest = 32;
constexpr std::int64_t sector = 32 / sizeof(float);  // unit of memory reads

// Reads in[offset + i * stride], i < size, and nothing else.
__global__ void __launch_bounds__(threads)
    access_kernel(const float* in, std::int64_t offset, std::int64_t stride, std::int64_t size, float* out) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < size) out[i] = in[offset + i * stride];
}

__global__ void __launch_bounds__(threads) fill_kernel(float* to, std::int64_t size) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < size) to[i] = static_cast<float>(i & 0xfffff);
}

unsigned blocks(std::int64_t size) { return static_cast<unsigned>(div_up(size, threads)); }

// Throws for the first wrong result.
void check(const array<float, device>& out, std::int64_t offset, std::int64_t stride) {
  expect_all_on_device("element", out,
                       [=](std::int64_t i) { return static_cast<float>((offset + i * stride) & 0xfffff); });
}

double measure(benchmark::State& state, std::int64_t size, std::int64_t offset, std::int64_t stride) {
  const auto& ctx = device_context();
  const std::int64_t span_read = offset + (size - 1) * stride + 1;
  array<float, device> in(ctx, span_read);
  array<float, device> out(ctx, size);
  fill_kernel<<<blocks(span_read), threads, 0, ctx.stream()>>>(in.data(), span_read);
  expect(cudaGetLastError());
  poison(ctx, out.view());
  const double seconds = device_seconds(
      ctx,
      [&] {
        access_kernel<<<blocks(size), threads, 0, ctx.stream()>>>(in.data(), offset, stride, size, out.data());
        expect(cudaGetLastError());
      },
      15);
  check(out, offset, stride);
  const double useful = 2.0 * sizeof(float) * static_cast<double>(size);
  const std::int64_t sectors =
      stride >= sector ? size : div_up(offset + (size - 1) * stride + 1, sector) - offset / sector;
  const double moved = sizeof(float) * static_cast<double>(sectors * sector + size);
  state.counters[gbytes_per_second] = useful / seconds * 1e-9;
  state.counters[fraction_of_copy] = useful / seconds / device_copy_rate();
  state.counters["moved"] = moved / useful;
  return seconds;
}

void add_all() {
  if (!current_settings().device) return;
  for (std::int64_t offset = 0; offset <= widest; ++offset) {
    add_case("access/offset/float/2^26/cuda/offset_" + std::to_string(offset),
             [=](benchmark::State& state) { return measure(state, offset_elements, offset, 1); });
  }
  for (std::int64_t stride = 1; stride <= widest; ++stride) {
    add_case("access/stride/float/2^24/cuda/stride_" + std::to_string(stride),
             [=](benchmark::State& state) { return measure(state, strided_elements, 0, stride); });
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
