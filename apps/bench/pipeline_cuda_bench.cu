// The pipeline over 1 GiB of floats in and 1 GiB out, with a kernel that takes a small part of the link's time. Times
// are by the host clock around the whole run. The limit is the time of a plain pinned copy in the slower direction,
// which remains if everything else overlaps with it.
#include "bench/check.hpp"
#include "bench/link_timing.hpp"

#include <spargo/primitives/pipeline.hpp>

namespace spargo::bench {

namespace {

constexpr std::int64_t size = std::int64_t{1} << 28;
constexpr int threads = 256;

__global__ void __launch_bounds__(threads) root_kernel(const float* in, std::int64_t count, float* out) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * threads) {
    out[i] = sqrtf(in[i]);
  }
}

void root(const context<device>& ctx, span<const float, device> in, span<float, device> out) {
  const unsigned blocks = static_cast<unsigned>(ctx.properties().multiprocessors) * 8;
  root_kernel<<<blocks, threads, 0, ctx.stream()>>>(in.data(), in.size(), out.data());
  expect(cudaGetLastError());
}

struct problem {
  array<float, host> in;
  array<float, host> out;

  explicit problem(const context<host>& where) : in(where, size), out(where, size) {
    for (std::int64_t i = 0; i < size; ++i) in[i] = static_cast<float>((i % 4093) * (i % 4093));
  }

  // Square roots of squares are exact.
  void check() const {
    expect_all("element", out.view(), [](std::int64_t i) { return static_cast<float>(i % 4093); });
  }
};

enum class memory { pinned, pageable };

problem& problem_in(memory where) {
  static memory held = memory::pinned;
  static std::unique_ptr<problem> kept;
  if (kept == nullptr || held != where) {
    kept.reset();
    kept = std::make_unique<problem>(where == memory::pinned ? pinned_context() : context<host>());
    held = where;
  }
  return *kept;
}

template <class Run>
double measure(benchmark::State& state, memory where, Run&& run) {
  problem& p = problem_in(where);
  poison(p.out.view());
  const double seconds = link_seconds([] {}, [&] { run(p); }, 7);
  p.check();
  const double bytes = sizeof(float) * static_cast<double>(size);
  const double limit = bytes / std::min(link_rate(direction::to_device), link_rate(direction::to_host));
  state.counters[gbytes_per_second] = 2 * bytes / seconds * 1e-9;
  state.counters[fraction_of_limit] = limit / seconds;
  return seconds;
}

// Without a pipeline: copy in, kernel, copy out.
double measure_whole(benchmark::State& state, memory where) {
  const auto& ctx = device_context();
  array<float, device> in(ctx, size);
  array<float, device> out(ctx, size);
  return measure(state, where, [&](problem& p) {
    copy<float>(ctx, std::as_const(p.in).view(), in.view());
    root(ctx, in.view(), out.view());
    copy<float>(ctx, std::as_const(out).view(), p.out.view());
  });
}

double measure_plan(benchmark::State& state, memory where, const pipeline_options& options) {
  pipeline_plan<float, float, device> plan(device_context(), options);
  return measure(state, where, [&](problem& p) { plan.run(std::as_const(p.in).view(), root, p.out.view()); });
}

void add_all() {
  if (!current_settings().device) return;
  for (const memory where : {memory::pinned, memory::pageable}) {
    const std::string group =
        std::string("pipeline/") + (where == memory::pinned ? "pinned" : "pageable") + "/float/2^28/cuda/";
    add_case(group + "whole", [=](benchmark::State& state) { return measure_whole(state, where); });
    for (const int streams : {1, 2, 3, 4, 8}) {
      add_case(group + "streams_" + std::to_string(streams),
               [=](benchmark::State& state) { return measure_plan(state, where, {.streams = streams}); });
    }
    add_case(group + "automatic", [=](benchmark::State& state) { return measure_plan(state, where, {}); });
    add_case(group + "one_call", [=](benchmark::State& state) {
      return measure(state, where, [](problem& p) {
        pipeline<float, float>(device_context(), std::as_const(p.in).view(), root, p.out.view());
      });
    });
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
