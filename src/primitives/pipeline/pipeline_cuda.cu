// The pipeline on a device: all copies in run on one stream, all copies out on another, and chunk k's function on
// stream k mod streams, joined by events. A device has one copy engine per direction, so both directions and the SMs
// run at the same time; with one stream per direction an engine does not switch channels between chunks.
//
// Invariant: a slot's buffers belong to one chunk at a time: its input is overwritten after `computed`, its output
// after `emptied`, and the host waits for the same events before it reuses a pinned staging buffer. Nothing is in
// flight when run() returns or throws, since the caller may then free its memory.
// Cost: with n bytes each way and c chunks about (1 + 1 / c) * n / link rate, if the function is faster than the link.
// Source: Harris, "How to Overlap Data Transfers in CUDA C/C++" (2012).
#include "core/cuda.cuh"
#include "primitives/pipeline/chunks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace spargo::detail::pipeline {

namespace {

class event {
 public:
  event() { SPARGO_CUDA_TRY(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  event(event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  event& operator=(event&&) = delete;
  ~event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }

  void record(const context<device>& ctx) const { SPARGO_CUDA_TRY(cudaEventRecord(event_, ctx.stream())); }
  void delay(const context<device>& ctx) const { SPARGO_CUDA_TRY(cudaStreamWaitEvent(ctx.stream(), event_, 0)); }
  void wait() const { SPARGO_CUDA_TRY(cudaEventSynchronize(event_)); }

 private:
  cudaEvent_t event_ = nullptr;
};

// A context with its own stream and its parent's memory resource.
context<device> on_own_stream(const context<device>& parent) {
  return context<device>(device_options{.ordinal = parent.ordinal(), .resource = &parent.resource()});
}

// A function's stream and the buffers of the chunk that it processes.
struct slot {
  context<device> ctx;
  array<std::byte, device> in;
  array<std::byte, device> out;
  array<std::byte, host> staged_in;
  array<std::byte, host> staged_out;
  event arrived;                // the input is on the device
  event computed;               // the input has been read, the output written
  event emptied;                // the output is on the host
  void* destination = nullptr;  // of the result in staged_out; null: none
  std::size_t bytes = 0;        // size of that result

  slot(const context<device>& parent, element_sizes sizes, std::int64_t chunk)
      : ctx(on_own_stream(parent)),
        in(ctx, static_cast<std::int64_t>(checked_bytes(chunk, sizes.in))),
        out(ctx, static_cast<std::int64_t>(checked_bytes(chunk, sizes.out))) {
    ctx.synchronize();  // other streams use the buffers too
  }

  // Copies the staged result to its destination.
  void deliver() {
    if (destination == nullptr) return;
    emptied.wait();
    stage(staged_out.data(), std::exchange(destination, nullptr), bytes);
  }
};

// Whether this host range is pinned at both ends, so that copies are asynchronous.
bool is_pinned(const void* data, std::size_t bytes) {
  for (const char* place : {static_cast<const char*>(data), static_cast<const char*>(data) + bytes - 1}) {
    cudaPointerAttributes attributes{};
    SPARGO_CUDA_TRY(cudaPointerGetAttributes(&attributes, place));
    SPARGO_EXPECTS(attributes.type != cudaMemoryTypeDevice, "pipeline: device memory where host memory is expected");
    if (attributes.type == cudaMemoryTypeUnregistered) return false;
  }
  return true;
}

class device_executor final : public executor<device> {
 public:
  device_executor(const context<device>& parent, element_sizes element, const chunk_options& options)
      : ctx_(parent),
        sizes_(element),
        requested_(options.requested),
        options_(options.chosen),
        slots_(make_slots()),
        copy_in_(options_.streams == 1 ? slots_.front().ctx : on_own_stream(ctx_)),
        copy_out_(options_.streams == 1 ? slots_.front().ctx : on_own_stream(ctx_)) {}

  void run(const pipeline_ranges& ranges, const chunk_function<device>& function) override {
    const device_guard guard(ctx_);
    try {
      run_chunks(ranges, function);
    } catch (...) {
      abandon();
      throw;
    }
  }

 private:
  [[nodiscard]] std::vector<slot> make_slots() const {
    std::vector<slot> made;
    made.reserve(static_cast<std::size_t>(options_.streams));
    for (int k = 0; k < options_.streams; ++k) made.emplace_back(ctx_, sizes_, options_.chunk);
    return made;
  }

  // Allocates pinned buffers in every slot, for directions whose host range is pageable.
  void prepare(array<std::byte, host> slot::*buffer, std::int64_t bytes) {
    const context<host> pinned({.resource = &pinned_host_resource()});
    for (slot& s : slots_) {
      if ((s.*buffer).size() < bytes) s.*buffer = array<std::byte, host>(pinned, bytes);
    }
  }

  struct chunk_range {
    const void* from;
    void* to;
    std::int64_t size;
  };

  // Enqueues copies and function of one chunk. Waiting for an event that was never recorded returns at once.
  void issue(slot& s, const chunk_range& range, const chunk_function<device>& function, bool stage_in,
             bool stage_out) const {
    const std::size_t in_bytes = static_cast<std::size_t>(range.size) * sizes_.in;
    const std::size_t out_bytes = static_cast<std::size_t>(range.size) * sizes_.out;
    s.deliver();
    if (stage_in) {
      s.arrived.wait();
      stage(range.from, s.staged_in.data(), in_bytes);
    }
    s.computed.delay(copy_in_);
    copy_to_device(copy_in_, stage_in ? s.staged_in.data() : range.from, s.in.data(), in_bytes);
    s.arrived.record(copy_in_);

    s.arrived.delay(s.ctx);
    s.emptied.delay(s.ctx);
    function(s.ctx, s.in.data(), s.out.data(), range.size);
    s.computed.record(s.ctx);

    s.computed.delay(copy_out_);
    copy_to_host(copy_out_, s.out.data(), stage_out ? s.staged_out.data() : range.to, out_bytes);
    s.emptied.record(copy_out_);
    if (stage_out) {
      s.destination = range.to;
      s.bytes = out_bytes;
    }
  }

  void run_chunks(const pipeline_ranges& ranges, const chunk_function<device>& function) {
    const std::int64_t size = ranges.in_size;
    const bool stage_in = !is_pinned(ranges.in, checked_bytes(size, sizes_.in));
    const bool stage_out = !is_pinned(ranges.out, checked_bytes(size, sizes_.out));
    const std::int64_t chunk = chunk_of_run(requested_, sizes_, size);
    const std::int64_t most = std::min(options_.chunk, size);
    if (stage_in) prepare(&slot::staged_in, most * static_cast<std::int64_t>(sizes_.in));
    if (stage_out) prepare(&slot::staged_out, most * static_cast<std::int64_t>(sizes_.out));

    const bool all_pinned = !stage_in && !stage_out;
    const std::size_t used =
        requested_.streams == 0 && all_pinned ? std::size_t{tuning::pinned_streams} : slots_.size();

    if (stage_in) ctx_.synchronize();  // the host is about to read what the stream may still write
    start_.record(ctx_);
    start_.delay(copy_in_);  // everything else waits for copy_in_
    std::size_t current = 0;
    for (std::int64_t first = 0; first < size; current = (current + 1) % used) {
      const std::int64_t count = std::min(chunk, size - first);
      issue(slots_[current],
            {static_cast<const char*>(ranges.in) + static_cast<std::size_t>(first) * sizes_.in,
             static_cast<char*>(ranges.out) + static_cast<std::size_t>(first) * sizes_.out, count},
            function, stage_in, stage_out);
      first += count;
    }
    for (std::size_t k = 0; k < used; ++k) slots_[(current + k) % used].deliver();
    copy_out_.synchronize();
    for (const slot& s : slots_) s.ctx.synchronize();
  }

  // After an error: waits for everything, ignores its errors, and drops the results.
  void abandon() noexcept {
    cudaStreamSynchronize(copy_in_.stream());
    cudaStreamSynchronize(copy_out_.stream());
    for (slot& s : slots_) {
      cudaStreamSynchronize(s.ctx.stream());
      s.destination = nullptr;
    }
  }

  context<device> ctx_;  // first: its resource must outlive the slots' memory
  element_sizes sizes_;
  pipeline_options requested_;
  pipeline_options options_;
  std::vector<slot> slots_;
  context<device> copy_in_;  // with one slot both are the slot's stream: no overlap
  context<device> copy_out_;
  event start_;
};

}  // namespace

std::unique_ptr<executor<device>> make_executor(const context<device>& ctx, element_sizes sizes,
                                                const chunk_options& options) {
  const device_guard guard(ctx);
  return std::make_unique<device_executor>(ctx, sizes, options);
}

}  // namespace spargo::detail::pipeline
