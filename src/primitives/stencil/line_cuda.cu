// Averages over windows of a line on the device: sums by sliding_fold.cuh, each divided once.
#include "core/instantiate.hpp"
#include "primitives/stencil/backend.hpp"
#include "primitives/stencil/sliding_fold.cuh"

namespace spargo::detail::stencil {

template <class T>
void window_average(const context<device>& ctx, const fold_job<T>& job, T divisor, stencil_algorithm algorithm) {
  const average_fold<T> fold{divisor};
  if (algorithm == stencil_algorithm::naive) {
    fold_naive(ctx, job, fold);
  } else if (algorithm == stencil_algorithm::tiled) {
    fold_tiled(ctx, job, fold);
  } else {
    fold_scanned(ctx, job, fold);
  }
}

#define INSTANTIATE(T) template void window_average(const context<device>&, const fold_job<T>&, T, stencil_algorithm);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::stencil
