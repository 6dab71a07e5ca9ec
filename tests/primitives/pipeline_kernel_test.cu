// The pipeline with user kernels: types of different sizes, ordering after the caller's stream, buffers still in use,
// ranges of more than 2^31 elements.
#include "support/device.hpp"

#include <spargo/primitives/pipeline.hpp>

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace spargo::test {
namespace {

constexpr int threads = 256;

unsigned blocks_of(std::int64_t size) {
  return static_cast<unsigned>(std::min<std::int64_t>(div_up(size, threads), 4096));
}

__global__ void widen_kernel(const std::int16_t* in, std::int64_t size, const double* factor, double* out) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * threads) {
    out[i] = *factor * in[i];
  }
}

__global__ void narrow_kernel(const double* in, std::int64_t size, std::int16_t* out) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * threads) {
    out[i] = static_cast<std::int16_t>(in[i]);
  }
}

__global__ void wait_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void set_kernel(double* to, double value) { *to = value; }

__global__ void invert_kernel(const unsigned char* in, std::int64_t size, unsigned char* out) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * threads) {
    out[i] = static_cast<unsigned char>(~in[i]);
  }
}

class PipelineKernel : public testing::Test {
 protected:
  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }
};

std::vector<std::int16_t> numbers(std::int64_t size) {
  std::vector<std::int16_t> v(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int16_t>(i * 40503U);
  return v;
}

// The factor is written late on the caller's stream; no chunk may be computed before.
TEST_F(PipelineKernel, ComesAfterTheStreamOfTheContext) {
  const context<device> ctx;
  array<double, device> factor(ctx, 1);
  const std::vector<std::int16_t> in = numbers(5000);
  pipeline_plan<std::int16_t, double, device> plan(ctx, {.chunk = 300, .streams = 4});
  for (const double value : {1.0, 2.0, -3.0}) {
    wait_kernel<<<1, 1, 0, ctx.stream()>>>(20'000'000);
    set_kernel<<<1, 1, 0, ctx.stream()>>>(factor.data(), value);
    std::vector<double> out(in.size(), 0.5);
    plan.run(
        in,
        [&](const context<device>& at, span<const std::int16_t, device> from, span<double, device> to) {
          widen_kernel<<<blocks_of(from.size()), threads, 0, at.stream()>>>(from.data(), from.size(), factor.data(),
                                                                            to.data());
        },
        span<double, host>(out));
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], value * in[i]) << i;
  }
}

// Slow functions: copies of later chunks must not touch buffers in use, nor may the host read results too early.
TEST_F(PipelineKernel, SlowFunctionsKeepTheirBuffers) {
  const context<device> ctx;
  const context<host> pinned({.resource = &pinned_host_resource()});
  const std::vector<std::int16_t> values = numbers(4099);
  for (int streams = 1; streams <= 8; ++streams) {
    pipeline_plan<double, std::int16_t, device> plan(ctx, {.chunk = 256, .streams = streams});
    for (const bool in_pinned_memory : {false, true}) {
      const context<host> where = in_pinned_memory ? pinned : context<host>();
      array<double, host> in(where, 4099);
      array<std::int16_t, host> out(where, 4099);
      std::copy(values.begin(), values.end(), in.begin());
      std::fill(out.begin(), out.end(), std::int16_t{-77});
      plan.run(
          std::as_const(in).view(),
          [](const context<device>& at, span<const double, device> from, span<std::int16_t, device> to) {
            wait_kernel<<<1, 1, 0, at.stream()>>>(200'000);
            narrow_kernel<<<blocks_of(from.size()), threads, 0, at.stream()>>>(from.data(), from.size(), to.data());
          },
          out.view());
      ASSERT_TRUE(std::equal(values.begin(), values.end(), out.begin())) << streams << " streams";
    }
  }
}

// The function turns a refused launch into an error, which run() rethrows; the plan stays usable.
TEST_F(PipelineKernel, RefusedLaunchesAreReported) {
  const context<device> ctx;
  const std::vector<std::int16_t> in = numbers(5000);
  std::vector<double> out(in.size());
  pipeline_plan<std::int16_t, double, device> plan(ctx, {.chunk = 300, .streams = 3});
  int call = 0;
  const auto narrow_blocks = [&](const context<device>& at, span<const std::int16_t, device>, span<double, device> to) {
    set_kernel<<<1, call++ == 7 ? 4096 : 1, 0, at.stream()>>>(to.data(), 1.0);
    if (cudaGetLastError() != cudaSuccess) throw error(error_code::device_failure, "refused");
  };
  EXPECT_THROW(plan.run(in, narrow_blocks, span<double, host>(out)), error);
  EXPECT_EQ(call, 8);
  plan.run(in, narrow_blocks, span<double, host>(out));
  for (std::size_t i = 0; i < out.size(); i += 300) EXPECT_EQ(out[i], 1.0) << i;
}

TEST_F(PipelineKernel, HugeRange) {
  const std::int64_t size = (std::int64_t{1} << 31) + 3;
  const std::int64_t free_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  if (free_bytes < 4 * size) GTEST_SKIP() << "not enough host memory";
  const context<device> ctx;
  const context<host> all;
  array<unsigned char, host> in(all, size);
  array<unsigned char, host> out(all, size);
  // The period is not divisible by a power of two, so that misplaced chunks show.
  constexpr std::int64_t period = 251 * 4093;
  for (std::int64_t i = 0; i < period; ++i) in[i] = static_cast<unsigned char>((i * i) >> 3);
  for (std::int64_t done = period; done < size;) {
    const std::int64_t more = std::min(done, size - done);
    detail::copy_host_to_host(all, in.data(), in.data() + done, static_cast<std::size_t>(more));
    done += more;
  }
  pipeline<unsigned char, unsigned char>(
      ctx, std::as_const(in).view(),
      [](const context<device>& at, span<const unsigned char, device> from, span<unsigned char, device> to) {
        invert_kernel<<<blocks_of(from.size()), threads, 0, at.stream()>>>(from.data(), from.size(), to.data());
      },
      out.view());
  std::atomic<std::int64_t> wrong = 0;
  std::vector<std::thread> checks;
  constexpr std::int64_t parts = 16;
  for (std::int64_t part = 0; part < parts; ++part) {
    checks.emplace_back([&, part] {
      std::int64_t count = 0;
      for (std::int64_t i = size * part / parts; i < size * (part + 1) / parts; ++i) {
        count += out[i] != static_cast<unsigned char>(~in[i]);
      }
      wrong += count;
    });
  }
  for (std::thread& check : checks) check.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace spargo::test
