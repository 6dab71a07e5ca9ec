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
};

template <class V>
struct built_preconditioner {
  linear_operator<V, host> inverse;  // r and z may be the same; allocates nothing
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

// L + U - I, or L alone, on the matrix's pattern, which must be canonical; in place. The first throws for a zero pivot,
// and for one that is not positive if M must be definite; the second for one that is not positive.
template <class V, class I, class O>
void factor_ilu0(const context<host>& ctx, csr_matrix<V, I, O, host>& matrix, bool needs_definite);
template <class V, class I, class O>
void factor_ic0(const context<host>& ctx, csr_matrix<V, I, O, host>& lower);

// Upper bound of the bytes that it keeps and of those that building it needs.
[[nodiscard]] std::int64_t preconditioner_bytes(const matrix_shape& shape, const krylov_options& options);

}  // namespace spargo::detail::krylov
