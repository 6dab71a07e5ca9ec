// Records an event on one stream; the other waits for it. A wait refers to the last record, so one event is enough.
#include "core/cuda.cuh"

#include <spargo/core/stream_order.hpp>

namespace spargo {

struct stream_order::state {
  context<device> ctx;
  cudaEvent_t event = nullptr;

  explicit state(const context<device>& c) : ctx(c) {
    const detail::device_guard guard(ctx);
    SPARGO_CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    const detail::device_guard guard(ctx.ordinal(), std::nothrow);
    cudaEventDestroy(event);
  }

  void wait(cudaStream_t first, cudaStream_t second) {
    if (first == second) return;
    const detail::device_guard guard(ctx);
    SPARGO_CUDA_TRY(cudaEventRecord(event, first));
    SPARGO_CUDA_TRY(cudaStreamWaitEvent(second, event, 0));
  }
};

stream_order::stream_order(const context<device>& ctx) : state_(detail::new_state<state>(ctx)) {}

void stream_order::after(stream_handle stream) { state_->wait(stream, state_->ctx.stream()); }
void stream_order::before(stream_handle stream) { state_->wait(state_->ctx.stream(), stream); }

}  // namespace spargo
