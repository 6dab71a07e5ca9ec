// Without CUDA no device context exists, so none of this can be called.
#include "core/backend.hpp"

#include <spargo/core/stream_order.hpp>

namespace spargo {

struct stream_order::state {};

stream_order::stream_order(const context<device>&) { detail::no_device("stream_order"); }
void stream_order::after(stream_handle) {}
void stream_order::before(stream_handle) {}

}  // namespace spargo
