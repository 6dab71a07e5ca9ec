// Krylov methods for A x = b: conjugate gradients, MINRES, BiCGSTAB and restarted GMRES, with preconditioners.
//
// A is a square CSR matrix or any operator that multiplies. The true residual |b - A x| / |b|, in the 2-norm, decides
// on convergence: once the method's own residual is small enough, the true one is computed, and the method restarts
// from it until it is small too or stagnates. b and matrices far from 1 are scaled by powers of 2, so that
// squares neither overflow nor underflow. Deterministic: sums have an order that depends on the size alone, so any
// number of threads gives the same bits, on a device of one kind every run. Sums of fp32 vectors are in fp64.
//
// On a device: every method and every preconditioner, all built there. The device decides on convergence; the host
// enqueues 4 to 64 iterations at a time and reads the state while the next ones run (products after the end are
// wasted), and gmres's once more at each restart. cg solves systems that fit the shared memory of a cluster (compute
// capability 9.0; some 30,000 rows of 5 entries in fp64), with jacobi or none, in one kernel, whose state the host
// reads every 256 iterations.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/core/estimate.hpp>
#include <spargo/core/plan_state.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/sparse/spmv.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class krylov_method {
  // cg for Hermitian matrices with a positive diagonal, minres for other Hermitian ones, else bicgstab.
  // If cg meets a direction of negative curvature, minres continues; if bicgstab breaks down, gmres does.
  // For an operator: gmres, on a device bicgstab.
  automatic,
  cg,        // Hermitian positive definite; Hestenes and Stiefel 1952. A product and 12 vectors of traffic an iteration
  minres,    // Hermitian; Paige and Saunders 1975
  bicgstab,  // any; van der Vorst 1992. Two products an iteration
  gmres,     // any; Saad and Schultz 1986. Memory and time grow up to the restart
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<krylov_method> enum_rows() noexcept;

// An approximation of A that is easy to solve with. BiCGSTAB and GMRES have it on the right, so that their residual is
// the true one.
enum class krylov_preconditioner {
  automatic,  // jacobi where the diagonal has inverses, else none
  none,
  jacobi,        // the diagonal (cg and minres: its absolute values)
  block_jacobi,  // diagonal blocks of krylov_options::block_size rows, inverted; n * block_size values
  // Incomplete factors without fill, applied by triangular solves (sparse/triangular_solve.hpp): LU of any matrix, and
  // Cholesky's of a Hermitian one. Twice the memory of a copy of A. On a device each application waits for a chain of
  // rows as long as the number of levels; with many levels, triangular_sweeps can be faster.
  ilu0,
  ic0,
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<krylov_preconditioner> enum_rows() noexcept;

// Why a run ended.
enum class krylov_outcome {
  converged,
  iteration_limit,
  stagnated,              // rounding errors prevent further progress
  not_positive_definite,  // cg: p'Ap <= 0
  breakdown,              // a division by zero in the method; the reason names it
  not_finite,             // a product was infinite or NaN
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<krylov_outcome> enum_rows() noexcept;

struct SPARGO_EXPORT krylov_options {
  krylov_method method = krylov_method::automatic;
  krylov_preconditioner preconditioner = krylov_preconditioner::automatic;
  double tolerance = 1e-8;             // of the 2-norm of b - A x, relative to that of b; 0 or more
  std::int64_t max_iterations = -1;    // products with A, two an iteration of bicgstab counting as one; -1: 10 n
  std::int64_t restart = 50;           // gmres: vectors kept; at least 1
  std::int64_t block_size = 8;         // of block_jacobi, rows; 1 to 256
  std::int64_t triangular_sweeps = 0;  // of ilu0 and ic0, in the place of each triangular solve, up to 1000; 0: solve
};

struct SPARGO_EXPORT krylov_result {
  bool converged = false;  // relative_residual <= tolerance
  krylov_outcome outcome = krylov_outcome::converged;
  std::string reason;             // one sentence
  krylov_method method{};         // that ended the run; never `automatic`
  std::int64_t iterations = 0;    // inner ones of gmres
  double relative_residual = 0;   // true: |b - A x| / |b| of the x returned
  std::vector<double> history{};  // [0] at the start, [k] after iteration k: the method's own residual, relative
};

// y = A x for n elements; must not keep the spans.
template <value_type V, class Space>
struct linear_operator {
  std::int64_t size = 0;
  std::function<void(span<const V, Space> x, span<V, Space> y)> run;

  linear_operator() = default;
  linear_operator(std::int64_t n, std::function<void(span<const V, Space>, span<V, Space>)> product)
      : size(n), run(std::move(product)) {}
  // Anything with run(x, y); borrowed.
  template <class A>
  requires requires(const A& a, span<const V, Space> x, span<V, Space> y) { a.run(x, y); }
  linear_operator(std::int64_t n, const A& a)
      : size(n), run([&a](span<const V, Space> x, span<V, Space> y) { a.run(x, y); }) {}
};

// Sizes of a system, for estimates.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const matrix_shape& shape, const krylov_options& options);

// Analyses A once (O(rows + nnz), incomplete factors more) and allocates vectors of n elements: 4, and 3 (cg), 7
// (minres), 6 (bicgstab) or restart + 2 (gmres). Then `run` allocates the history and O(restart^2) numbers, and vectors
// where `automatic` changes the method. The plan borrows the matrix's arrays: they must outlive it and not change. Not
// for concurrent use. On a device both synchronise the stream.
template <value_type V, class Space>
class SPARGO_EXPORT krylov_plan {
 public:
  // Throws invalid_argument for a matrix that is not square or options out of range, invalid_data for values that are
  // not finite and, naming the row, for a diagonal without inverses under jacobi, a diagonal that is not positive under
  // cg, and a preconditioner that does not exist: a singular block, a pivot of 0, or one that is not positive under ic0
  // or (all but none and jacobi) under cg and minres. Throws unsupported for what the space lacks.
  template <index_type I, index_type O>
  krylov_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
              const krylov_options& options = {});
  // For matrices that own their arrays (not temporary ones) or have mutable values.
  template <class Matrix>
  requires(detail::viewable<std::remove_cvref_t<Matrix>>&&
               std::convertible_to<Matrix, detail::view_type<std::remove_cvref_t<Matrix>>>)
      krylov_plan(const context<Space>& ctx, Matrix&& matrix, const krylov_options& options = {})
      : krylov_plan(ctx, detail::view_of(matrix), options) {}
  // An operator, without a preconditioner or with z = M^-1 r. For cg and minres M must be positive definite. On a
  // device both enqueue their work on the context's stream.
  krylov_plan(const context<Space>& ctx, linear_operator<V, Space> a, const krylov_options& options = {});
  krylov_plan(const context<Space>& ctx, linear_operator<V, Space> a, linear_operator<V, Space> inverse_of_m,
              const krylov_options& options = {});

  // x holds the initial guess, and then the best x found. Throws invalid_argument for wrong sizes or overlap,
  // invalid_data for elements of b or x that are not finite, or a solution beyond the range of V; x is unchanged then.
  krylov_result run(span<const V, Space> b, span<V, Space> x) const;

  [[nodiscard]] krylov_method method() const noexcept { return state_.algorithm(); }  // never `automatic`
  [[nodiscard]] const std::string& reason() const noexcept { return state_.reason(); }
  [[nodiscard]] krylov_preconditioner preconditioner() const noexcept;  // never `automatic`
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return state_.workspace_bytes(); }

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::plan_state<state, krylov_method> state_;
};

template <class Space, detail::viewable Matrix>
krylov_plan(const context<Space>&, const Matrix&, const krylov_options& = {})
    -> krylov_plan<detail::scalar_of<Matrix>, Space>;

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
