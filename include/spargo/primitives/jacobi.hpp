// Jacobi's iteration for the Laplace equation on a rectangle.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/primitives/convolve.hpp>  // image_view

#include <string_view>

namespace spargo {

// "device:" algorithms do not exist on the host (unsupported).
enum class jacobi_algorithm {
  automatic,         // temporal; naive on narrow arrays
  naive,             // one sweep per launch, one cell per thread
  tiled,             // one sweep per launch; device: tiles with their halo in shared memory; host: rows in vectors
  register_marched,  // device: one sweep per launch; a warp moves down its columns, the latest rows in registers
  temporal,          // several sweeps per launch, each some rows behind the previous one (a wavefront)
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<jacobi_algorithm> enum_rows() noexcept;

struct SPARGO_EXPORT jacobi_options {
  jacobi_algorithm algorithm = jacobi_algorithm::automatic;
  double tolerance = 1e-4;  // stop once the residual is below this; 0 or less: run max_iterations sweeps
  std::int64_t max_iterations = 10000;
  std::int64_t check_every = 100;  // sweeps per test of the residual
};

struct SPARGO_EXPORT jacobi_result {
  std::int64_t iterations = 0;  // sweeps run
  double residual = 0;          // max |new - old| over the cells of the last sweep; 0 without sweeps
  bool converged = false;       // residual < tolerance
};

// Sweeps u(i, j) <- ((left + right) + (up + down)) / 4 over all cells but the boundary, which is fixed (Dirichlet),
// reading the previous sweep's values. The residual max |new - old| is computed in every `check_every`-th sweep and in
// the last; iteration stops after a sweep with a residual below the tolerance. T: float, double; any shape and pitch.
//
// Errors (invalid_argument), before any work: pitch < cols, a span that is null or too short, check_every < 1,
// max_iterations < 0, a NaN tolerance; unsupported: an algorithm that this backend lacks.
//
// Cells and residual have the same bits for every algorithm, backend, launch and thread count. NaN and infinity spread
// by one cell per sweep; a NaN residual is never below the tolerance. On a device each test reads one value back: the
// stream is synchronised every `check_every` sweeps and at the end. Scratch: one rows x cols array from the pool. A
// sweep reads and writes each cell once; `temporal` does so once for several sweeps. Padding is not written.
template <detail::real T, class Space>
SPARGO_EXPORT jacobi_result jacobi(const context<Space>& ctx, image_view<T, Space> u,
                                   const jacobi_options& options = {});

}  // namespace spargo
