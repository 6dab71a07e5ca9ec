// BFS on the device, by the host clock (launch and copy of level sizes included); `events_ms`: median of CUDA events.
#include "bench/bfs_cases.hpp"
#include "bench/device_timing.hpp"

namespace spargo::bench {

namespace {

// The time between two events on a stream.
class stream_clock {
 public:
  explicit stream_clock(const context<device>& ctx) : ctx_(ctx) {}

  template <class Run>
  void time(Run&& run) {
    expect(cudaEventRecord(start_, ctx_.stream()));
    run();
    expect(cudaEventRecord(stop_, ctx_.stream()));
    expect(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    expect(cudaEventElapsedTime(&milliseconds, start_, stop_));
    milliseconds_.push_back(static_cast<double>(milliseconds));
  }
  [[nodiscard]] double median_milliseconds() const { return median(milliseconds_); }

 private:
  const context<device>& ctx_;
  event start_;
  event stop_;
  std::vector<double> milliseconds_;
};

// Copies a result to host memory that is reused.
template <class T>
span<const T, host> fetch(const context<device>& ctx, span<const T, device> from, array<T, host>& to) {
  if (to.size() != from.size()) to = array<T, host>(context<host>(), from.size());
  copy<T>(ctx, from, to.view());
  ctx.synchronize();
  return std::as_const(to).view();
}

double measure_plan(benchmark::State& state, const bfs_spec& spec, bfs_algorithm algorithm, bfs_output output) {
  bfs_problem& p = bfs_problem::of(spec);
  const context<device>& ctx = device_context();
  bfs_plan<bfs_index, bfs_index, device> plan(ctx, p.device_graph->view(), {.algorithm = algorithm, .output = output});
  array<std::int32_t, host> levels;
  array<bfs_index, host> parents;
  const double seconds = measure_bfs(
      state, p, [&](bfs_index source) { plan.run(source); }, [&] { return fetch(ctx, plan.levels(), levels); },
      [&] { return fetch(ctx, plan.parents(), parents); });
  stream_clock clock(ctx);
  for (const bfs_index source : p.sources) clock.time([&] { plan.run(source); });
  state.counters["events_ms"] = clock.median_milliseconds();
  state.counters["workspace_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return seconds;
}

void add_device(const bfs_case& c) {
  if (!current_settings().device) return;
  for (const auto algorithm : {bfs_algorithm::global_queue, bfs_algorithm::block_queue, bfs_algorithm::load_balanced,
                               bfs_algorithm::direction_optimizing}) {
    if (!c.push_only_rungs && algorithm != bfs_algorithm::direction_optimizing) continue;
    for (const auto output : {bfs_output::levels, bfs_output::levels_and_parents}) {
      add_case("bfs/" + c.name + "/cuda/" + bfs_rung(algorithm, output),
               [=](benchmark::State& state) { return measure_plan(state, c.spec, algorithm, output); });
    }
  }
}

const bool on_device = (bfs_backends().push_back({add_device,
                                                  {"rmat_20_16", "rmat_22_16", "rmat_22_16_directed", "uniform_4m_16",
                                                   "grid_2048", "rmat_24_16", "rmat_25_16"}}),
                        true);

}  // namespace

}  // namespace spargo::bench
