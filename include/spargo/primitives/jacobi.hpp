// Jacobi's iteration for the Laplace equation on a rectangle.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/primitives/convolve.hpp>  // image_view

#include <string_view>

namespace spargo {

// Where it says device, there is none for the host: invalid_argument.
enum class jacobi_algorithm {
  automatic,         // temporal; naive on arrays too narrow for it
  naive,             // one sweep per launch, one cell per thread
  tiled,             // one sweep per launch; device: tiles with their halo in shared memory; host: rows in vectors
  register_marched,  // device: one sweep per launch, a warp walks down its columns with the latest rows in registers
  temporal,          // several sweeps per launch, each some rows behind the one before (a wavefront)
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(jacobi_algorithm algorithm) noexcept;

struct SPARGO_EXPORT jacobi_options {
  jacobi_algorithm algorithm = jacobi_algorithm::automatic;
  double tolerance = 1e-4;  // stop where the residual is below; 0 or less: run max_iterations sweeps
  std::int64_t max_iterations = 10000;
  std::int64_t check_every = 100;  // sweeps between two tests of the residual
};

struct SPARGO_EXPORT jacobi_result {
  std::int64_t iterations = 0;  // sweeps made
  double residual = 0;          // max |new - old| over the cells of the last sweep; 0 where there was none
  bool converged = false;       // residual < tolerance
};

// Sweeps u(i, j) <- ((left + right) + (up + down)) / 4 over all cells but the rim, which keeps its values (Dirichlet),
// reading the values of the sweep before. The residual max |new - old| is taken in every `check_every`-th sweep and in
// the last; the iteration stops after a sweep whose residual is below the tolerance. T: float, double; any shape and
// pitch; padding is not written.
//
// Errors (invalid_argument), before any work: pitch < cols, a span that is null or too short, check_every < 1,
// max_iterations < 0, a tolerance that is NaN, an algorithm that this context does not have.
//
// The cells and the residual have the same bits for every algorithm, backend, launch and thread count. NaN and
// infinity spread by one cell per sweep; a residual that is NaN is never below the tolerance. On a device it reads one
// value back a test: it synchronises the stream once every `check_every` sweeps and at the end. Scratch: one array of
// rows x cols from the context's pool. A sweep reads and writes each cell once; `temporal` does so once for several.
template <detail::real T, class Space>
SPARGO_EXPORT jacobi_result jacobi(const context<Space>& ctx, image_view<T, Space> u,
                                   const jacobi_options& options = {});

}  // namespace spargo
