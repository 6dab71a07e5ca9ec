// Shared by the checks and both backends of stencils. Every algorithm on both backends evaluates a cell by one
// expression, in which no product can be fused into a sum: the same bits everywhere.
#pragma once

#include "primitives/stencil/sliding_fold.hpp"

#include <spargo/primitives/jacobi.hpp>
#include <spargo/primitives/stencil.hpp>

namespace spargo::detail::stencil {

// Narrower arrays leave most of a warp's strip empty: `automatic` then uses one thread per cell.
inline constexpr std::int64_t narrowest_march = 32;

// One sweep of a five-point stencil; boundary cells are copied.
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

// max(largest, |change|) for largest >= 0; NaN propagates.
template <class T>
SPARGO_HD T larger_magnitude(T largest, T change) {
  const T magnitude = change < T{0} ? -change : change;
  const bool is_nan = magnitude != magnitude;
  const bool is_larger = magnitude > largest;
  return is_nan | is_larger ? magnitude : largest;
}

// Arguments are checked and not empty; no `automatic`.
template <class T>
void window_average(const context<host>& ctx, const fold_job<T>& job, T divisor, stencil_algorithm algorithm);
template <class T>
void window_average(const context<device>& ctx, const fold_job<T>& job, T divisor, stencil_algorithm algorithm);

template <class T>
void five_point_average(const context<host>& ctx, const five_point_job<T>& job, stencil_algorithm algorithm);
template <class T>
void five_point_average(const context<device>& ctx, const five_point_job<T>& job, stencil_algorithm algorithm);

// Up to `wanted` sweeps of Jacobi's iteration in one pass over memory; returns their number, at least 1.
template <class T>
int jacobi_sweeps(const context<host>& ctx, const five_point_job<T>& job, std::int64_t wanted,
                  jacobi_algorithm algorithm);
template <class T>
int jacobi_sweeps(const context<device>& ctx, const five_point_job<T>& job, std::int64_t wanted,
                  jacobi_algorithm algorithm);

// One sweep; returns its largest |new - old|, computed in residual[0]. Synchronises a device.
template <class T>
T jacobi_tested_sweep(const context<host>& ctx, const five_point_job<T>& job, span<T, host> residual,
                      jacobi_algorithm algorithm);
template <class T>
T jacobi_tested_sweep(const context<device>& ctx, const five_point_job<T>& job, span<T, device> residual,
                      jacobi_algorithm algorithm);

// Copies the cells from job.in to job.out, without padding.
template <class T>
void copy_cells(const context<host>& ctx, const five_point_job<T>& job);
template <class T>
void copy_cells(const context<device>& ctx, const five_point_job<T>& job);

}  // namespace spargo::detail::stencil
