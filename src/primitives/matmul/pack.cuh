// Operands in whole tiles, as the fast dense kernels need them.
//
// A matrix is used in place if it is 16-byte aligned, its rows are whole multiples of 16 bytes and its sizes multiples
// of the tile. Others, and a transposed B, are copied to zero-padded scratch.
#pragma once

#include "core/device/launch.cuh"
#include "primitives/matmul/backend.hpp"

namespace spargo::detail::matmul {

template <class V>
struct padded_job {
  std::int64_t m, n, k;  // multiples of the tile
  std::int64_t rows, cols;
  V alpha, beta;
  const V* a;
  const V* b;
  V* c;
  std::int64_t lda, ldb, ldc;
  std::int64_t k_share;  // k range per block (blockIdx.y): a multiple of the k step
  V* partials;           // a rows x cols matrix per k range if there are several; else null

  [[nodiscard]] __device__ std::int64_t k_begin() const { return std::int64_t{blockIdx.y} * k_share; }
  [[nodiscard]] __device__ std::int64_t k_end() const {
    const std::int64_t end = k_begin() + k_share;
    return end < k ? end : k;
  }
};

template <class V>
__device__ void store_element(const padded_job<V>& g, std::int64_t i, std::int64_t j, V sum) {
  if (g.partials != nullptr) {
    g.partials[(std::int64_t{blockIdx.y} * g.rows + i) * g.cols + j] = sum;
    return;
  }
  V* const to = g.c + i * g.ldc + j;
  *to = g.beta == V{0} ? g.alpha * sum : g.alpha * sum + g.beta * *to;
}

struct tile_position {
  std::int64_t row;
  std::int64_t col;
};

// Tiles in bands of eight tile rows, column by column: concurrent blocks share rows of A and columns of B in L2.
__device__ inline tile_position tile_of(unsigned id, std::int64_t m, std::int64_t n, int bm, int bn) {
  constexpr unsigned band = 8;
  const auto tiles_m = static_cast<unsigned>(m / bm);
  const auto tiles_n = static_cast<unsigned>(n / bn);
  const unsigned first = id / (band * tiles_n) * band;
  const unsigned height = tiles_m - first < band ? tiles_m - first : band;
  const unsigned within = id % (band * tiles_n);
  return {std::int64_t{first + within % height} * bm, std::int64_t{within / height} * bn};
}

inline constexpr int pack_tile = 32;
inline constexpr int pack_rows = 8;

// to (rows x cols, whole) = from (from_rows x from_cols) with zeros outside; Transpose: from is transposed.
template <transpose_kind Op, class V>
__global__ void __launch_bounds__(pack_tile* pack_rows)
    pack_kernel(const V* from, std::int64_t from_rows, std::int64_t from_cols, std::int64_t stride, V* to,
                std::int64_t rows, std::int64_t cols) {
  __shared__ V tile[pack_tile][pack_tile + 1];
  const int x = static_cast<int>(threadIdx.x);
  for (std::int64_t row0 = std::int64_t{blockIdx.y} * pack_tile; row0 < rows;
       row0 += std::int64_t{gridDim.y} * pack_tile) {
    const std::int64_t col0 = std::int64_t{blockIdx.x} * pack_tile;
    if constexpr (Op == transpose_kind::none) {
      for (int y = static_cast<int>(threadIdx.y); y < pack_tile; y += pack_rows) {
        const std::int64_t r = row0 + y;
        const std::int64_t c = col0 + x;
        if (r < rows && c < cols) to[r * cols + c] = r < from_rows && c < from_cols ? from[r * stride + c] : V{0};
      }
    } else {
      for (int y = static_cast<int>(threadIdx.y); y < pack_tile; y += pack_rows) {
        const std::int64_t r = row0 + x;  // column of `from`
        const std::int64_t c = col0 + y;
        tile[y][x] = r < from_rows && c < from_cols ? from[c * stride + r] : V{0};
      }
      __syncthreads();
      for (int y = static_cast<int>(threadIdx.y); y < pack_tile; y += pack_rows) {
        const std::int64_t r = row0 + y;
        const std::int64_t c = col0 + x;
        if (r < rows && c < cols) to[r * cols + c] = tile[x][y];
      }
      __syncthreads();
    }
  }
}

// C from the partial products of the k ranges, summed in order.
template <class V>
__global__ void __launch_bounds__(block_threads) sum_partials_kernel(padded_job<V> g, std::int64_t shares) {
  const std::int64_t size = g.rows * g.cols;
  for (std::int64_t e = global_thread(); e < size; e += grid_threads()) {
    V sum{0};
    for (std::int64_t s = 0; s < shares; ++s) sum += g.partials[s * size + e];
    V* const to = g.c + e / g.cols * g.ldc + e % g.cols;
    *to = g.beta == V{0} ? g.alpha * sum : g.alpha * sum + g.beta * *to;
  }
}

template <class V>
class padded_operands {
 public:
  // At most `shares` blocks split the k range of each tile of C.
  padded_operands(const context<device>& ctx, const dense_job<V>& job, int bm, int bn, int bk, std::int64_t shares = 1)
      : job_{.m = up(job.m, bm),
             .n = up(job.n, bn),
             .k = up(job.k, bk),
             .rows = job.m,
             .cols = job.n,
             .alpha = job.alpha,
             .beta = job.beta,
             .a = job.a,
             .b = job.b,
             .c = job.c,
             .lda = job.lda,
             .ldb = job.ldb,
             .ldc = job.ldc,
             .k_share = up(div_up(up(job.k, bk), shares), bk),
             .partials = nullptr} {
    shares_ = div_up(job_.k, job_.k_share);
    if (shares_ > 1) {
      partials_ = {ctx, shares_ * job.m * job.n};
      job_.partials = partials_.data();
    }
    if (job_.m != job.m || job_.k != job.k || !aligned(job.a, job.lda)) {
      a_ = {ctx, job_.m * job_.k};
      pack<transpose_kind::none>(ctx, job.a, job.m, job.k, job.lda, a_.data(), job_.m, job_.k);
      job_.a = a_.data();
      job_.lda = job_.k;
    }
    const bool transposed = job.op_b == transpose_kind::transpose;
    if (transposed || job_.n != job.n || job_.k != job.k || !aligned(job.b, job.ldb)) {
      b_ = {ctx, job_.k * job_.n};
      if (transposed) {
        pack<transpose_kind::transpose>(ctx, job.b, job.k, job.n, job.ldb, b_.data(), job_.k, job_.n);
      } else {
        pack<transpose_kind::none>(ctx, job.b, job.k, job.n, job.ldb, b_.data(), job_.k, job_.n);
      }
      job_.b = b_.data();
      job_.ldb = job_.n;
    }
  }

  [[nodiscard]] const padded_job<V>& job() const { return job_; }
  [[nodiscard]] dim3 grid(int bm, int bn) const {
    const std::int64_t count = (job_.m / bm) * (job_.n / bn);
    if (count > INT32_MAX) throw error(error_code::unsupported, "matmul: more tiles than a grid has blocks");
    return {static_cast<unsigned>(count), static_cast<unsigned>(shares_)};
  }
  // Call after the product's kernel.
  void finish(const context<device>& ctx) const {
    if (shares_ == 1) return;
    launch_kernel(ctx, grid_stride(ctx, job_.rows * job_.cols), sum_partials_kernel<V>, job_, shares_);
  }

 private:
  static std::int64_t up(std::int64_t size, int by) { return div_up(size, by) * by; }
  static bool aligned(const V* data, std::int64_t stride) {
    constexpr std::int64_t run = 16 / sizeof(V);
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride % run == 0;
  }
  template <transpose_kind Op>
  static void pack(const context<device>& ctx, const V* from, std::int64_t from_rows, std::int64_t from_cols,
                   std::int64_t stride, V* to, std::int64_t rows, std::int64_t cols) {
    launch_kernel(ctx, image_shape(rows, cols, pack_tile, pack_tile, dim3(pack_tile, pack_rows)), pack_kernel<Op, V>,
                  from, from_rows, from_cols, stride, to, rows, cols);
  }

  padded_job<V> job_;
  std::int64_t shares_ = 1;
  array<V, device> partials_;
  array<V, device> a_;  // freed in stream order after the kernel that reads them
  array<V, device> b_;
};

}  // namespace spargo::detail::matmul
