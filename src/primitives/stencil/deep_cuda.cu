// Jacobi's iteration on the device, several sweeps per launch.
#include "core/instantiate.hpp"
#include "primitives/stencil/march_launch.cuh"

namespace spargo::detail::stencil {

template <class T>
int march_deep(const context<device>& ctx, const five_point_job<T>& job, std::int64_t wanted) {
  using enum march_residual;
  T* const untested = nullptr;
  constexpr int deepest = march_tuning::deepest<T>;
  if (wanted >= deepest) {
    march<laplace_cell, deepest, none>(ctx, job, untested);
    return deepest;
  }
  if (wanted >= 4) {
    march<laplace_cell, 4, none>(ctx, job, untested);
    return 4;
  }
  march<laplace_cell, 2, none>(ctx, job, untested);
  return 2;
}

#define INSTANTIATE(T) template int march_deep(const context<device>&, const five_point_job<T>&, std::int64_t);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::stencil
