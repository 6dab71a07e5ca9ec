// Orders a context's stream with one of another library (CuPy, PyTorch) by an event; the host does not wait.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/state_pointer.hpp>

namespace spargo {

// Keeps an event, so reuse the object where calls are frequent. One thread at a time; several objects may serve one
// context. Both calls may be captured into a CUDA graph and become its edges.
class SPARGO_EXPORT stream_order {
 public:
  explicit stream_order(const context<device>& ctx);

  // Work that the context enqueues after this call starts once everything now on `stream` has ended. `stream` belongs
  // to the context's device; null is CUDA's legacy default stream.
  void after(stream_handle stream);
  // Work enqueued on `stream` after this call starts once everything the context has enqueued has ended.
  void before(stream_handle stream);

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

}  // namespace spargo
