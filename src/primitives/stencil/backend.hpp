// Stencils: what the checks, the host half and the device half share. A cell is evaluated by one expression in every
// rung of both backends, and none of them has a product to fuse into a sum: the same bits everywhere.
#pragma once

#include "primitives/stencil/sliding_fold.hpp"

#include <spargo/primitives/jacobi.hpp>
#include <spargo/primitives/stencil.hpp>

namespace spargo::detail::stencil {

// Arrays of fewer columns leave most of a warp's strip empty: `automatic` takes one thread per cell there.
inline constexpr std::int64_t narrowest_march = 32;

// One sweep of a five-point stencil; the rim is copied.
template <class T>
struct five_point_job {
  const T* in;
  std::int64_t in_pitch;
  T* out;
  std::int64_t out_pitch;
  std::int64_t rows;
  std::int64_t cols;
};

struct average_cell {
  template <class T>
  SPARGO_HD static T apply(T centre, T left, T right, T up, T down) {
    return (((left + right) + (up + down)) + centre) * static_cast<T>(0.2);
  }
};

struct laplace_cell {
  template <class T>
  SPARGO_HD static T apply(T, T left, T right, T up, T down) {
    return ((left + right) + (up + down)) * static_cast<T>(0.25);
  }
};

// The larger of `largest`, which is not negative, and |change|; NaN, once met, stays.
template <class T>
SPARGO_HD T larger_magnitude(T largest, T change) {
  const T magnitude = change < T{0} ? -change : change;
  const bool is_nan = magnitude != magnitude;
  const bool is_larger = magnitude > largest;
  return is_nan | is_larger ? magnitude : largest;
}

// Checked arguments, nothing empty, no `automatic`.
template <class T>
void window_average(const context<host>& ctx, const fold_job<T>& job, T divisor, stencil_algorithm algorithm);
template <class T>
void window_average(const context<device>& ctx, const fold_job<T>& job, T divisor, stencil_algorithm algorithm);

template <class T>
void five_point_average(const context<host>& ctx, const five_point_job<T>& job, stencil_algorithm algorithm);
template <class T>
void five_point_average(const context<device>& ctx, const five_point_job<T>& job, stencil_algorithm algorithm);

// Makes up to `wanted` sweeps of Jacobi's iteration from job.in to job.out in one pass over memory, and returns how
// many it made, at least 1.
template <class T>
int jacobi_sweeps(const context<host>& ctx, const five_point_job<T>& job, std::int64_t wanted,
                  jacobi_algorithm algorithm);
template <class T>
int jacobi_sweeps(const context<device>& ctx, const five_point_job<T>& job, std::int64_t wanted,
                  jacobi_algorithm algorithm);

// One sweep, and the largest |new - old| of it, by way of residual[0]; synchronises a device.
template <class T>
T jacobi_tested_sweep(const context<host>& ctx, const five_point_job<T>& job, span<T, host> residual,
                      jacobi_algorithm algorithm);
template <class T>
T jacobi_tested_sweep(const context<device>& ctx, const five_point_job<T>& job, span<T, device> residual,
                      jacobi_algorithm algorithm);

// job.in to job.out, cells only.
template <class T>
void copy_cells(const context<host>& ctx, const five_point_job<T>& job);
template <class T>
void copy_cells(const context<device>& ctx, const five_point_job<T>& job);

}  // namespace spargo::detail::stencil
