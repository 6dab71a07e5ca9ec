#include "core/parallel.hpp"

#include <immintrin.h>

namespace spargo::detail {

void pause_thread() noexcept { _mm_pause(); }

}  // namespace spargo::detail
