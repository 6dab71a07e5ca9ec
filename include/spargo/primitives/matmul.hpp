// Dense matrix product, C = alpha * A * op(B) + beta * C, row-major.
//
// A is m x k, op(B) is k x n, C is m x n; any sizes, 0 included, and any leading dimensions. beta = 0 does not read C,
// which may hold anything; alpha = 0 or k = 0 reads neither A nor B. C overlaps neither A nor B.
//
// V: float, double. Every algorithm gives the same bits in every run; on a host also for any number of threads. An
// element is wrong by at most about (k + 2) * eps / 2 * (|alpha| sum |a||b| + |beta c|). Device products are
// asynchronous on the context's stream. 2 m n k operations.
#pragma once

#include <spargo/core/dense.hpp>
#include <spargo/primitives/transpose_kind.hpp>

#include <string_view>

namespace spargo {

enum class matmul_algorithm {
  automatic,  // the fastest for the shape that rounds no input
  naive,      // device: one thread per element, columns along x so that B and C coalesce
  tiled,      // device: square tiles of A and B in shared memory, phases along k
  coarsened,  // device: tiled, and each thread computes several columns from one tile of A
  split_k,    // device: register tiles; blocks share the k range of a tile, their partial products are summed in order
  register_tiled,  // device: two-dimensional blocks in registers, 16-byte copies, two stages of shared memory
  tensor_core,     // device, double: tensor cores, exact IEEE arithmetic for it (float: see matmul_tensor); Hopper
  blocked,         // host: panels packed for the caches, vectorised, threaded; the automatic choice
};

[[nodiscard]] SPARGO_EXPORT std::string_view to_string(matmul_algorithm algorithm) noexcept;

struct SPARGO_EXPORT matmul_options {
  matmul_algorithm algorithm = matmul_algorithm::automatic;
  transpose_kind op_b = transpose_kind::none;  // transpose: B is given as n x k
};

// Throws invalid_argument for shapes that do not match, short or null data, overlap, and an algorithm of the other
// backend; `unsupported` for one that this library or device lacks. Scratch, from the context's pool: `split_k` one C
// per share of k; `register_tiled` and `tensor_core` a padded copy of A, and of B, unless it begins at and has rows of
// whole multiples of 16 bytes and of the tiles (128 x 16, 16 x 256), and B is not transposed.
template <real_type V, class Space>
SPARGO_EXPORT void matmul(const context<Space>& ctx, std::type_identity_t<V> alpha,
                          const std::type_identity_t<dense_view<const V, Space>>& a,
                          const std::type_identity_t<dense_view<const V, Space>>& b, std::type_identity_t<V> beta,
                          const dense_view<V, Space>& c, const matmul_options& options = {});
template <real_type V, class Space>
void matmul(const context<Space>& ctx, std::type_identity_t<V> alpha,
            const std::type_identity_t<dense_view<const V, Space>>& a,
            const std::type_identity_t<dense_view<const V, Space>>& b, std::type_identity_t<V> beta,
            dense_matrix<V, Space>& c, const matmul_options& options = {}) {
  matmul<V, Space>(ctx, alpha, a, b, beta, c.view(), options);
}

}  // namespace spargo
