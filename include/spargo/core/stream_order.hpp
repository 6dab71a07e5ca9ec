// The order between a context's stream and another library's, such as CuPy's or PyTorch's: by an event, so that the
// host waits for nothing.
#pragma once

#include <spargo/core/context.hpp>

#include <memory>

namespace spargo {

// Keeps an event: make one where it is used often. For one thread at a time; several may serve one context. Both calls
// may be captured in a graph, and then are edges of it.
class SPARGO_EXPORT stream_order {
 public:
  explicit stream_order(const context<device>& ctx);
  stream_order(stream_order&&) noexcept;
  stream_order& operator=(stream_order&&) noexcept;
  ~stream_order();

  // What the context enqueues from here on begins after all that is on `stream` now has ended. A stream of the
  // context's device; null is the legacy default stream, as CUDA has it.
  void after(stream_handle stream);
  // What is enqueued on `stream` from here on begins after all that the context has enqueued has ended.
  void before(stream_handle stream);

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

}  // namespace spargo
