// Dense matrix product, C = alpha * A * op(B) + beta * C, row-major.
//
// A is m x k, op(B) is k x n, C is m x n; any sizes, 0 included, and any leading dimensions. beta = 0 does not read C;
// alpha = 0 or k = 0 reads neither A nor B. C overlaps neither A nor B.
//
// V: float, double. Deterministic; on a host for any number of threads. An element's error is at most about (k + 2) *
// eps / 2 * (|alpha| sum |a||b| + |beta c|). Asynchronous on a device. 2 m n k operations.
#pragma once

#include <spargo/core/dense.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/primitives/transpose_kind.hpp>

#include <string_view>

namespace spargo {

enum class matmul_algorithm {
  automatic,       // the fastest for the shape that does not round inputs
  naive,           // device: one thread per element, columns along x so that B and C coalesce
  tiled,           // device: square tiles of A and B in shared memory, stepping along k
  coarsened,       // device: tiled; each thread computes several columns from one tile of A
  split_k,         // device: register tiles; blocks split a tile's k range, partial products are summed in order
  register_tiled,  // device: two-dimensional blocks in registers, 16-byte copies, two stages of shared memory
  tensor_core,     // device, double: tensor cores in exact IEEE arithmetic (float: see matmul_tensor); Hopper
  blocked,         // host: panels packed for the caches, vectorised, threaded; the automatic choice
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<matmul_algorithm> enum_rows() noexcept;

struct SPARGO_EXPORT matmul_options {
  matmul_algorithm algorithm = matmul_algorithm::automatic;
  transpose_kind op_b = transpose_kind::none;  // transpose: B is given as n x k
};

// Throws invalid_argument for mismatched shapes, short or null data, and overlap; `unsupported` for an algorithm
// that this backend, build or device lacks. Scratch from the context's pool: `split_k` one C per part of
// k; `register_tiled` and `tensor_core` a padded copy of A and of B, unless it is not transposed, 16-byte aligned with
// rows of whole multiples of 16 bytes, and a whole number of tiles (128 x 16, 16 x 256).
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
