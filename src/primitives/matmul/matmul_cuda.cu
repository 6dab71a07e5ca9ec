// Dense product on the device: algorithms up to shared-memory tiles, and the choice among all.
//
// In all of them C is row-major m x n, blockIdx.x covers column tiles and blockIdx.y row tiles (past 65535 in strides),
// and loads outside a matrix give 0, so that edges add nothing. Only the last step uses alpha and beta.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "primitives/matmul/backend.hpp"

#include <string>

namespace spargo::detail::matmul {

namespace {

template <class V>
__device__ void store(const dense_job<V>& g, std::int64_t i, std::int64_t j, V sum) {
  V* const to = g.c + i * g.ldc + j;
  *to = g.beta == V{0} ? g.alpha * sum : g.alpha * sum + g.beta * *to;
}

// Element (p, j) of op(B).
template <bool TransB, class V>
__device__ V element_b(const dense_job<V>& g, std::int64_t p, std::int64_t j) {
  return TransB ? g.b[j * g.ldb + p] : g.b[p * g.ldb + j];
}

// --- naive ----------------------------------------------------------------------------------------------------------
template <bool TransB, class V>
__global__ void naive_kernel(dense_job<V> g) {
  const std::int64_t j = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (j >= g.n) return;
  for (std::int64_t i = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; i < g.m;
       i += std::int64_t{gridDim.y} * blockDim.y) {
    V sum{0};
    for (std::int64_t p = 0; p < g.k; ++p) sum += g.a[i * g.lda + p] * element_b<TransB>(g, p, j);
    store(g, i, j, sum);
  }
}

// --- tiled and coarsened --------------------------------------------------------------------------------------------
// Each phase loads a tile of A once and multiplies it by `Columns` tiles of B; a thread owns one row and `Columns`
// columns, a tile apart. Columns = 1 is the plain tiled product. Threads: tile x tile.
constexpr int tile = 32;

template <int Columns, bool TransB, class V>
__global__ void __launch_bounds__(tile* tile) tiled_kernel(dense_job<V> g) {
  // Padding: the transposed store's stride is no multiple of the number of banks.
  __shared__ V a_tile[tile][tile];
  __shared__ V b_tile[tile][tile + 1];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const std::int64_t row_tiles = (g.m + tile - 1) / tile;
  const std::int64_t first_column = std::int64_t{blockIdx.x} * tile * Columns;
  for (std::int64_t row_tile = blockIdx.y; row_tile < row_tiles; row_tile += gridDim.y) {
    const std::int64_t i = row_tile * tile + ty;
    V sum[Columns];
#pragma unroll
    for (int c = 0; c < Columns; ++c) sum[c] = V{0};
    for (std::int64_t phase = 0; phase < g.k; phase += tile) {
      a_tile[ty][tx] = i < g.m && phase + tx < g.k ? g.a[i * g.lda + phase + tx] : V{0};
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        const std::int64_t first = first_column + c * tile;
        if constexpr (TransB) {
          const bool inside = first + ty < g.n && phase + tx < g.k;
          b_tile[tx][ty] = inside ? g.b[(first + ty) * g.ldb + phase + tx] : V{0};
        } else {
          const bool inside = first + tx < g.n && phase + ty < g.k;
          b_tile[ty][tx] = inside ? g.b[(phase + ty) * g.ldb + first + tx] : V{0};
        }
        __syncthreads();  // both tiles have arrived
#pragma unroll 8
        for (int p = 0; p < tile; ++p) sum[c] += a_tile[ty][p] * b_tile[p][tx];
        __syncthreads();  // and have been used
      }
    }
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      const std::int64_t j = first_column + c * tile + tx;
      if (i >= g.m || j >= g.n) continue;
      store(g, i, j, sum[c]);
    }
  }
}

template <bool TransB, class V>
void launch_naive(const context<device>& ctx, const dense_job<V>& g) {
  launch_kernel(ctx, image_shape(g.m, g.n, 8, 32, dim3(32, 8)), naive_kernel<TransB, V>, g);
}

template <int Columns, bool TransB, class V>
void launch_tiled(const context<device>& ctx, const dense_job<V>& g) {
  launch_kernel(ctx, image_shape(g.m, g.n, tile, tile * Columns, dim3(tile, tile)), tiled_kernel<Columns, TransB, V>,
                g);
}

struct tuning {
  // split_k pays if the small register tiles (64 x 128) leave most SMs idle and k is long.
  static constexpr std::int64_t tile_rows = 64;
  static constexpr std::int64_t tile_cols = 128;
  static constexpr std::int64_t long_k = 1024;
};

template <class V>
matmul_algorithm choose(const context<device>& ctx, const dense_job<V>& g) {
  const std::int64_t tiles = div_up(g.m, tuning::tile_rows) * div_up(g.n, tuning::tile_cols);
  if (std::same_as<V, double> && has_tensor_double(ctx)) return matmul_algorithm::tensor_core;
  if (tiles < ctx.properties().multiprocessors && g.k >= tuning::long_k) return matmul_algorithm::split_k;
  return matmul_algorithm::register_tiled;
}

template <class V>
void run_tensor_core(const context<device>& ctx, const dense_job<V>& g) {
  if constexpr (std::same_as<V, double>) {
    if (!has_tensor_double(ctx)) {
      throw error(error_code::unsupported,
                  "matmul: tensor_core needs compute capability 9.0 and a library built for it, the device has " +
                      std::to_string(ctx.properties().compute_capability_major) + "." +
                      std::to_string(ctx.properties().compute_capability_minor));
    }
    run_tensor_double(ctx, g);
  }
}

template <bool TransB, class V>
void run(const context<device>& ctx, const dense_job<V>& g, matmul_algorithm algorithm) {
  switch (algorithm) {
    case matmul_algorithm::naive:
      return launch_naive<TransB>(ctx, g);
    case matmul_algorithm::tiled:
      return launch_tiled<1, TransB>(ctx, g);
    case matmul_algorithm::coarsened:
      return launch_tiled<4, TransB>(ctx, g);
    case matmul_algorithm::split_k:
      return run_split_k(ctx, g);
    case matmul_algorithm::tensor_core:
      return run_tensor_core(ctx, g);
    default:
      return run_register_tiled(ctx, g);
  }
}

}  // namespace

template <class V>
void run_device(const context<device>& ctx, const dense_job<V>& job, matmul_algorithm algorithm) {
  const device_guard guard(ctx);
  if (algorithm == matmul_algorithm::automatic) algorithm = choose(ctx, job);
  if (job.k == 0) algorithm = matmul_algorithm::naive;  // C = beta * C
  if (job.op_b == transpose_kind::transpose) {
    run<true>(ctx, job, algorithm);
  } else {
    run<false>(ctx, job, algorithm);
  }
}

#define INSTANTIATE(T) template void run_device(const context<device>&, const dense_job<T>&, matmul_algorithm);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::matmul
