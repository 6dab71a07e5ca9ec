// RAII for events and streams.
#pragma once

#include "core/cuda.cuh"

#include <utility>

namespace spargo::detail::distributed {

// Event of a context's device. Waiting for an event that was never recorded returns at once.
class event {
 public:
  event() = default;
  explicit event(const context<device>& ctx) : ordinal_(ctx.ordinal()) {
    const device_guard guard(ordinal_);
    SPARGO_CUDA_TRY(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  event(event&& other) noexcept { swap(other); }
  event& operator=(event&& other) noexcept {
    event moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~event() {
    if (event_ == nullptr) return;
    const device_guard guard(ordinal_, std::nothrow);
    cudaEventDestroy(event_);
  }

  // Records after what is enqueued on `stream`, a stream of the event's device.
  void record(cudaStream_t stream) const { SPARGO_CUDA_TRY(cudaEventRecord(event_, stream)); }
  // Makes `stream`, of any device, wait.
  void hold(cudaStream_t stream) const { SPARGO_CUDA_TRY(cudaStreamWaitEvent(stream, event_, 0)); }
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

 private:
  void swap(event& other) noexcept {
    std::swap(ordinal_, other.ordinal_);
    std::swap(event_, other.event_);
  }
  int ordinal_ = 0;
  cudaEvent_t event_ = nullptr;
};

// A second stream of a context's device; its destructor waits. Its kernels have priority over a large grid that the
// context launched before: messages leave at once, and work on ghosts does not run after that grid.
class side_stream {
 public:
  explicit side_stream(const context<device>& ctx) : ordinal_(ctx.ordinal()) {
    const device_guard guard(ordinal_);
    int least = 0;
    int greatest = 0;
    SPARGO_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    SPARGO_CUDA_TRY(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  }
  side_stream(const side_stream&) = delete;
  side_stream& operator=(const side_stream&) = delete;
  ~side_stream() {
    const device_guard guard(ordinal_, std::nothrow);
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

 private:
  int ordinal_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace spargo::detail::distributed
