#include "primitives/simd/stream.hpp"

#include <emmintrin.h>

namespace spargo::detail {

void stream_bytes(void* to, const void* from, std::size_t bytes) {
  auto* out = static_cast<__m128i*>(to);
  const auto* in = static_cast<const __m128i*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(__m128i); ++i) _mm_stream_si128(out + i, _mm_loadu_si128(in + i));
}

void finish_streaming() { _mm_sfence(); }

}  // namespace spargo::detail
