// The host's side of iterations on a device: chunks, graphs, looks.
#include "solvers/krylov/passes.cuh"

#include <spargo/core/interruption.hpp>

#include <cmath>

namespace spargo::detail::krylov {

namespace {

__global__ void start_kernel(run_state from, run_state* state) { *state = from; }

// Iterations until the residual is small enough if it goes on to fall as it has since `start`; infinite: not known.
[[nodiscard]] double remaining(const run_state& seen, double start, std::int64_t from) {
  const double rate = std::log(seen.residual / start) / static_cast<double>(seen.done - from);
  return rate < 0 ? std::log(seen.wanted / seen.residual) / rate : HUGE_VAL;
}

}  // namespace

device_workspace::device_workspace(const context<device>& ctx, std::int64_t most_blocks)
    : ctx_(ctx), most_blocks_(most_blocks), sums_(ctx, most_blocks * device_tuning::most_sums), state_(ctx, 1) {}

// The destructor frees what the body has made if it throws.
device_workspace::device_workspace(const context<device>& ctx)
    : device_workspace(ctx, std::int64_t{device_tuning::blocks_per_sm} * ctx.properties().multiprocessors) {
  const device_guard guard(ctx_);
  fill_zero(ctx_, state_.view());
  SPARGO_CUDA_TRY(cudaMallocHost(&seen_, 2 * sizeof(device_state)));
  for (cudaEvent_t& event : copied_) {
    SPARGO_CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
  }
}

device_workspace::~device_workspace() {
  const device_guard guard(ctx_.ordinal(), std::nothrow);
  cudaStreamSynchronize(ctx_.stream());  // chunks may still run, and write to the page-locked memory
  for (const cudaGraphExec_t graph : graphs_) {
    if (graph != nullptr) cudaGraphExecDestroy(graph);
  }
  for (const cudaEvent_t event : copied_) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  if (seen_ != nullptr) cudaFreeHost(seen_);
}

void device_workspace::send(int slot) {
  SPARGO_CUDA_TRY(cudaMemcpyAsync(seen_ + slot, state(), sizeof(device_state), cudaMemcpyDeviceToHost, ctx_.stream()));
  SPARGO_CUDA_TRY(cudaEventRecord(copied_[static_cast<std::size_t>(slot)], ctx_.stream()));
}

const device_state& device_workspace::wait(int slot) {
  SPARGO_CUDA_TRY(cudaEventSynchronize(copied_[static_cast<std::size_t>(slot)]));
  return seen_[slot];
}

const device_state& device_workspace::read() {
  send(0);
  return wait(0);
}

void device_workspace::start(double residual, double wanted, std::int64_t done, std::int64_t most) {
  run_state from{};
  from.residual = residual;
  from.wanted = wanted;
  from.done = done;
  from.most = most;
  from.active = 1;
  launch_kernel(ctx_, {1, 1}, start_kernel, from, &state()->run);
}

void device_workspace::launch_graph(krylov_method method, function_ref<void()> step) {
  cudaGraphExec_t& ready = graphs_[static_cast<std::size_t>(method)];
  if (ready == nullptr) {
    cudaGraph_t graph = nullptr;
    SPARGO_CUDA_TRY(cudaStreamBeginCapture(ctx_.stream(), cudaStreamCaptureModeThreadLocal));
    try {
      for (int k = 0; k < device_tuning::graph_steps; ++k) step();
    } catch (...) {
      cudaStreamEndCapture(ctx_.stream(), &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    SPARGO_CUDA_TRY(cudaStreamEndCapture(ctx_.stream(), &graph));
    const cudaError_t status = cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    SPARGO_CUDA_TRY(status);
  }
  SPARGO_CUDA_TRY(cudaGraphLaunch(ready, ctx_.stream()));
}

void device_workspace::follow(progress run, function_ref<void(int)> enqueue, const chunk_limits& limits) {
  const std::int64_t from = run.done;
  const double start = run.residual;
  std::int64_t enqueued = from;  // iterations, the earlier ones included
  std::int64_t chunk = limits.first;
  enqueue(static_cast<int>(chunk));
  send(0);
  enqueued += chunk;
  for (int slot = 0;; slot = 1 - slot) {
    const bool more = enqueued < run.most;
    if (more) {
      enqueue(static_cast<int>(chunk));
      send(1 - slot);
      enqueued += chunk;
    }
    const device_state& seen = wait(slot);
    for (std::int64_t k = run.done; k < seen.run.done; ++k) {
      run.history.push_back(seen.history[k % device_tuning::ring] / run.scale);
    }
    run.done = seen.run.done;
    run.residual = seen.run.residual;
    last_ = seen.run;
    if (seen.run.stop != halt::none || !more) return;
    interruption::look();
    // Over ranks no logarithm decides: its last bit may differ between hosts, which must enqueue the same exchanges.
    const double needed = ranks_ != nullptr ? HUGE_VAL : remaining(seen.run, start, from);
    const double left =
        std::min(needed - static_cast<double>(enqueued - run.done), static_cast<double>(run.most - enqueued));
    const auto most = static_cast<double>(std::min<std::int64_t>(2 * chunk, limits.most));
    chunk = static_cast<std::int64_t>(std::max(std::min(left, most), 1.0));
    chunk = div_up(chunk, std::int64_t{limits.least}) * limits.least;
  }
}

}  // namespace spargo::detail::krylov
