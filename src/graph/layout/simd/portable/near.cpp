// The loop for any processor.
#include "graph/layout/simd/near_loop.hpp"

namespace spargo::detail::layout {

namespace {

void portable(const leaf& target, const leaf* leaves, const std::int32_t* sources, std::int64_t count, float* fx,
              float* fy) {
  sum_near_forces<4>(target, leaves, sources, count, fx, fy);
}

}  // namespace

near_function near_forces() noexcept { return portable; }

}  // namespace spargo::detail::layout
