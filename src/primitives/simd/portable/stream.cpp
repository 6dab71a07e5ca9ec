#include "primitives/simd/stream.hpp"

#include <cstring>

namespace spargo::detail {

void stream_bytes(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

void finish_streaming() {}

}  // namespace spargo::detail
