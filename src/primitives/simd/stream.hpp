// Non-temporal stores, which bypass the caches. An ordinary store first reads its line; streaming a long result that is
// not read soon saves a third to half of the traffic.
#pragma once

#include <cstddef>

namespace spargo::detail {

// Copies `bytes`, a multiple of 16; `to` is 16-byte aligned.
void stream_bytes(void* to, const void* from, std::size_t bytes);

// Orders this thread's streamed stores before its next store.
void finish_streaming();

}  // namespace spargo::detail
