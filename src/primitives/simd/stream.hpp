// Non-temporal stores, which bypass the caches. An ordinary store reads the line that it writes first; a long result
// that nobody reads soon is written in two thirds of the traffic, or half, this way.
#pragma once

#include <cstddef>

namespace spargo::detail {

// Copies `bytes`, a multiple of 16, to `to`, which is 16-byte aligned.
void stream_bytes(void* to, const void* from, std::size_t bytes);

// Orders this thread's streamed stores before its next store.
void finish_streaming();

}  // namespace spargo::detail
