// Building graphs on the device from 2^27 pairs in device memory, or in host memory with the upload; by the host clock.
#include "bench/device_timing.hpp"
#include "bench/graph_build_cases.hpp"

namespace spargo::bench {

namespace {

using device_pairs = coo_matrix<pattern, build_index, device>;
using device_graph = graph<build_index, build_index, device>;

device_graph build(const coo_pattern_view<build_index, device>& pairs) {
  return build_graph<build_index>(device_context(), pairs, {.direction = direction_kind::undirected});
}

double finish(benchmark::State& state, const build_problem& p, const device_graph& g, double seconds) {
  const auto home = to_host(device_context(), g.view());
  expect_built(p, home.view());
  report_build(state, p, seconds);
  return seconds;
}

double measure_resident(benchmark::State& state, const std::string& spec) {
  const build_problem& p = cached<build_problem>(spec);
  const device_pairs pairs = to_device(device_context(), p.pairs.view());
  device_graph g;
  const double seconds = median_seconds(
      [&] {
        g = {};
        g = build(pairs.view());
      },
      15, 3);
  return finish(state, p, g, seconds);
}

double measure_uploading(benchmark::State& state, const std::string& spec) {
  const build_problem& p = cached<build_problem>(spec);
  device_graph g;
  const double seconds = median_seconds(
      [&] {
        g = {};
        const device_pairs pairs = to_device(device_context(), p.pairs.view());
        g = build(pairs.view());
      },
      5, 1);
  return finish(state, p, g, seconds);
}

const registration here{[] {
  if (!current_settings().device) return;
  for (const auto& [name, spec] : {std::pair("rmat_23_16", "gen:rmat:scale=23,degree=16"),
                                   std::pair("uniform_8m_16", "gen:uniform:rows=8388608,degree=16")}) {
    const std::string group = "graph_build/" + std::string(name) + "/cuda/";
    add_case(group + "resident",
             [spec = std::string(spec)](benchmark::State& state) { return measure_resident(state, spec); });
    add_case(group + "with_upload",
             [spec = std::string(spec)](benchmark::State& state) { return measure_uploading(state, spec); });
  }
}};

}  // namespace

}  // namespace spargo::bench
