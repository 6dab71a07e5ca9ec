// Dense product of doubles on Hopper's tensor cores: mma.m16n8k8 in IEEE double precision.
//
// A block of four warps computes 64 x 64 of C, a warp 32 x 32; four stages of shared memory, each a k step of 16, are
// filled by asynchronous copies three steps ahead. Stage rows are 4 doubles longer than a power of two, so that the
// eight rows and four columns that a warp reads for a fragment are in different banks. H200, 4096 cubed: 52.9 TFLOP/s;
// 32 x 64 and 64 x 32 per warp 44, three stages 51. Fragment layouts: PTX ISA, "Matrix fragments for mma.m16n8k8"
// (.f64).
#include "core/device/async_copy.cuh"
#include "primitives/matmul/pack.cuh"

namespace spargo::detail::matmul {

namespace {

struct shape {
  static constexpr int BM = 64, BN = 64, BK = 16, WM = 32, WN = 32, stages = 4, blocks = 2;
  static constexpr int warps_m = BM / WM;
  static constexpr int threads = warps_m * (BN / WN) * warp_size;
  static constexpr int lda = BK + 4;
  static constexpr int ldb = BN + 4;
  static constexpr int stage = BM * lda + BK * ldb;
  static constexpr int shared_bytes = stages * stage * static_cast<int>(sizeof(double));
};

// Starts the copy of the k step at k0, if any, and closes a group in either case.
__device__ inline void copy_step(double* stage, const double* a, const double* b, const padded_job<double>& g,
                                 std::int64_t k0) {
  if (k0 < g.k_end()) {
#pragma unroll
    for (int i = 0; i < shape::BM * shape::BK / 2 / shape::threads; ++i) {
      const int q = static_cast<int>(threadIdx.x) + i * shape::threads;
      const int r = q / (shape::BK / 2);
      const int c = q % (shape::BK / 2) * 2;
      copy_line_async(stage + r * shape::lda + c, a + r * g.lda + k0 + c);
    }
#pragma unroll
    for (int i = 0; i < shape::BN * shape::BK / 2 / shape::threads; ++i) {
      const int q = static_cast<int>(threadIdx.x) + i * shape::threads;
      const int r = q / (shape::BN / 2);
      const int c = q % (shape::BN / 2) * 2;
      copy_line_async(stage + shape::BM * shape::lda + r * shape::ldb + c, b + (k0 + r) * g.ldb + c);
    }
  }
  commit_copies();
}

__device__ inline void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

__device__ inline void use_step(const double* stage, int row, int col,
                                double (&sum)[shape::WM / 16][shape::WN / 8][4]) {
  const int group = static_cast<int>(threadIdx.x) % warp_size / 4;
  const int in_group = static_cast<int>(threadIdx.x) % 4;
  const double* const from_a = stage + (row + group) * shape::lda + in_group;
  const double* const from_b = stage + shape::BM * shape::lda + in_group * shape::ldb + col + group;
#pragma unroll
  for (int k = 0; k < shape::BK; k += 8) {
    double a[shape::WM / 16][4];
    double b[shape::WN / 8][2];
#pragma unroll
    for (int i = 0; i < shape::WM / 16; ++i) {
      const double* const p = from_a + i * 16 * shape::lda + k;
      a[i][0] = p[0];
      a[i][1] = p[8 * shape::lda];
      a[i][2] = p[4];
      a[i][3] = p[8 * shape::lda + 4];
    }
#pragma unroll
    for (int j = 0; j < shape::WN / 8; ++j) {
      const double* const p = from_b + k * shape::ldb + j * 8;
      b[j][0] = p[0];
      b[j][1] = p[4 * shape::ldb];
    }
#pragma unroll
    for (int i = 0; i < shape::WM / 16; ++i) {
#pragma unroll
      for (int j = 0; j < shape::WN / 8; ++j) multiply_add(sum[i][j], a[i], b[j]);
    }
  }
}

__global__ void __launch_bounds__(shape::threads, shape::blocks) tensor_double_kernel(padded_job<double> g) {
  extern __shared__ __align__(16) double stages[];
  const tile_position at = tile_of(blockIdx.x, g.m, g.n, shape::BM, shape::BN);
  const double* const a = g.a + at.row * g.lda;
  const double* const b = g.b + at.col;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int row = warp % shape::warps_m * shape::WM;
  const int col = warp / shape::warps_m * shape::WN;
  double sum[shape::WM / 16][shape::WN / 8][4] = {};

#pragma unroll
  for (int s = 0; s < shape::stages - 1; ++s)
    copy_step(stages + s * shape::stage, a, b, g, g.k_begin() + s * shape::BK);
  int now = 0;
  const std::int64_t k_end = g.k_end();
  for (std::int64_t k0 = g.k_begin(); k0 < k_end; k0 += shape::BK) {
    wait_for_groups<shape::stages - 2>();
    __syncthreads();  // this step has arrived for all threads, and the stage filled next has been read
    const int ahead = (now + shape::stages - 1) % shape::stages;
    copy_step(stages + ahead * shape::stage, a, b, g, k0 + (shape::stages - 1) * shape::BK);
    use_step(stages + now * shape::stage, row, col, sum);
    now = (now + 1) % shape::stages;
  }

  const std::int64_t r0 = at.row + row + static_cast<int>(threadIdx.x) % warp_size / 4;
  const std::int64_t c0 = at.col + col + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
  for (int i = 0; i < shape::WM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < shape::WN / 8; ++j) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const std::int64_t r = r0 + i * 16 + q / 2 * 8;
        const std::int64_t c = c0 + j * 8 + q % 2;
        if (r < g.rows && c < g.cols) store_element(g, r, c, sum[i][j][q]);
      }
    }
  }
}

}  // namespace

bool has_tensor_double(const context<device>& ctx) {
  return ctx.properties().compute_capability_major == 9 && ctx.properties().compute_capability_minor == 0;
}

void run_tensor_double(const context<device>& ctx, const dense_job<double>& job) {
  const std::int64_t tiles = div_up(job.m, shape::BM) * div_up(job.n, shape::BN);
  const padded_operands<double> operands(ctx, job, shape::BM, shape::BN, shape::BK,
                                         shares_of_k(ctx, tiles, shape::blocks, job.k));
  SPARGO_CUDA_TRY(
      cudaFuncSetAttribute(tensor_double_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape::shared_bytes));
  launch_kernel(ctx, {operands.grid(shape::BM, shape::BN), shape::threads, shape::shared_bytes}, tensor_double_kernel,
                operands.job());
  operands.finish(ctx);
}

}  // namespace spargo::detail::matmul
