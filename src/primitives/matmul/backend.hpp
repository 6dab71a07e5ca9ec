#pragma once

#include <spargo/primitives/matmul.hpp>

#include <cstdint>

namespace spargo::detail::matmul {

// A checked product. alpha = 0 is turned into k = 0.
template <class V>
struct dense_job {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  V alpha{};
  V beta{};
  const V* a = nullptr;
  const V* b = nullptr;  // k x n; transposed: n x k
  V* c = nullptr;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  transpose_kind op_b = transpose_kind::none;
};

template <class V>
void run_host(const context<host>& ctx, const dense_job<V>& job);
template <class V>
void run_device(const context<device>& ctx, const dense_job<V>& job, matmul_algorithm algorithm);

// Device algorithms; m, n, k > 0.
template <class V>
void run_register_tiled(const context<device>& ctx, const dense_job<V>& job);
template <class V>
void run_split_k(const context<device>& ctx, const dense_job<V>& job);
// Blocks that split a tile's k range if `tiles` tiles do not fill a device of `blocks` blocks per SM.
[[nodiscard]] std::int64_t shares_of_k(const context<device>& ctx, std::int64_t tiles, std::int64_t blocks,
                                       std::int64_t k);
void run_tensor_double(const context<device>& ctx, const dense_job<double>& job);
[[nodiscard]] bool has_tensor_double(const context<device>& ctx);

}  // namespace spargo::detail::matmul
