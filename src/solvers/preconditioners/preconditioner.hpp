// Preconditioners of a CSR matrix that are more than its diagonal: built once, then z = M^-1 r.
#pragma once

#include <spargo/solvers/krylov.hpp>

#include <cstdint>
#include <string>

namespace spargo::detail::krylov {

inline constexpr std::int64_t most_block_size = 256;

struct preconditioner_request {
  krylov_preconditioner kind = krylov_preconditioner::ilu0;
  std::int64_t block_size = 0;
  int exponent = 0;             // M is that of the matrix times 2^-exponent
  bool needs_definite = false;  // M must be Hermitian positive definite, as cg and minres expect
  std::string asymmetry{};      // of a matrix that is not Hermitian: where
  std::int64_t sweeps = 0;      // in the place of triangular solves; 0: exact
};

template <class V, class Space = host>
struct built_preconditioner {
  linear_operator<V, Space> inverse;  // allocates nothing; on the host r and z may be the same
  std::int64_t bytes = 0;
};

// Throws invalid_data where the matrix has none, naming the row.
template <class V, class I, class O>
[[nodiscard]] built_preconditioner<V> build_preconditioner(const context<host>& ctx,
                                                           const csr_view<const V, I, O, host>& matrix,
                                                           const preconditioner_request& wanted);

template <class V, class I, class O>
[[nodiscard]] built_preconditioner<V> block_jacobi(const context<host>& ctx,
                                                   const csr_view<const V, I, O, host>& matrix,
                                                   const preconditioner_request& wanted);

// On a device z = M^-1 r does nothing where *active is 0. Building it synchronises the stream.
template <class V, class I, class O>
[[nodiscard]] built_preconditioner<V, device> build_preconditioner(const context<device>& ctx,
                                                                   const csr_view<const V, I, O, device>& matrix,
                                                                   const preconditioner_request& wanted,
                                                                   const int* active);
template <class V, class I, class O>
[[nodiscard]] built_preconditioner<V, device> block_jacobi(const context<device>& ctx,
                                                           const csr_view<const V, I, O, device>& matrix,
                                                           const preconditioner_request& wanted, const int* active);

// Throws invalid_data for the block of rows [first, last), which has no inverse.
[[noreturn]] void refuse_block(std::int64_t first, std::int64_t last, bool needs_definite);

// Throw invalid_data: ic0 of a matrix that is not Hermitian; a pivot of ilu0, that is 0, not finite or, for a method
// that needs M definite, not positive; one of ic0.
[[noreturn]] void refuse_asymmetry(const std::string& where);
template <class V>
[[noreturn]] void refuse_pivot(V pivot, std::int64_t row, bool is_definite_needed);
[[noreturn]] void refuse_cholesky_pivot(double pivot, std::int64_t row);

// L + U - I, or L alone, on the matrix's pattern, which must be canonical; in place. The first throws for a zero pivot,
// and for one that is not positive if M must be definite; the second for one that is not positive.
template <class V, class I, class O>
void factor_ilu0(const context<host>& ctx, csr_matrix<V, I, O, host>& matrix, bool needs_definite);
template <class V, class I, class O>
void factor_ic0(const context<host>& ctx, csr_matrix<V, I, O, host>& lower);

// Upper bound of the bytes that it keeps and of those that building it needs.
[[nodiscard]] std::int64_t preconditioner_bytes(const matrix_shape& shape, const krylov_options& options);
[[nodiscard]] std::int64_t device_preconditioner_bytes(const matrix_shape& shape, const krylov_options& options);

// Scratch of block_jacobi on a device for blocks that exceed its shared memory.
inline constexpr std::int64_t inversion_scratch_bytes = std::int64_t{64} << 20;

}  // namespace spargo::detail::krylov
