// The pipeline on the host, a loop over chunks: its overhead compared with one call over everything.
#include "bench/bench.hpp"
#include "bench/check.hpp"

#include <spargo/primitives/pipeline.hpp>

namespace spargo::bench {

namespace {

constexpr std::int64_t size = std::int64_t{1} << 24;

void scale(const context<host>&, span<const float, host> in, span<float, host> out) {
  for (std::int64_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
}

double measure(benchmark::State& state, std::int64_t chunk) {
  const context<host> ctx({.threads = current_settings().threads});
  array<float, host> in(ctx, size);
  array<float, host> out(ctx, size);
  for (std::int64_t i = 0; i < size; ++i) in[i] = static_cast<float>(i);
  poison(out.view());
  const auto run = [&] {
    if (chunk == size) {
      scale(ctx, in.view(), out.view());
    } else {
      pipeline<float, float>(ctx, std::as_const(in).view(), scale, out.view(), {.chunk = chunk});
    }
  };
  const double seconds = median_seconds(run, 9, 2);
  state.counters[host_threads_used] = 1;
  expect_all("element", std::as_const(out).view(), [&](std::int64_t i) { return 2 * in[i]; });
  state.counters[gbytes_per_second] = 2.0 * sizeof(float) * static_cast<double>(size) / seconds * 1e-9;
  return seconds;
}

void add_all() {
  if (!current_settings().host) return;
  const std::string group = "pipeline/scale/float/2^24/host/";
  add_case(group + "whole", [](benchmark::State& state) { return measure(state, size); });
  for (const int log : {12, 16, 20}) {
    add_case(group + "chunk_2^" + std::to_string(log),
             [log](benchmark::State& state) { return measure(state, std::int64_t{1} << log); });
  }
  add_case(group + "automatic", [](benchmark::State& state) { return measure(state, 0); });
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
