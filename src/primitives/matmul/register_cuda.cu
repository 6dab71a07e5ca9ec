// Dense product on the device by register tiles.
//
// A block computes BM x BN of C, each warp a rectangle of it, each thread TM x TN elements as 16-byte runs, so that a
// warp's shared loads touch few words of A and consecutive words of B. While one k step is computed from one stage of
// shared memory, the next is copied into the other: B by asynchronous 16-byte copies, A through registers, because it
// is stored transposed (k slow, so that a thread's rows are consecutive words). The registers are stored half a step
// later, so one barrier per step suffices. Invariant: operands have whole tiles and 16-byte rows; others are first
// copied with zero padding, at (m k + k n) / (m n k) of the product's cost. Cost per k step: (TM + TN) / 4 shared loads
// for TM * TN multiply-adds. Scheme: Volkov and Demmel, SC 2008; CUTLASS's notes on efficient GEMM.
#include "core/cuda.cuh"
#include "core/device/async_copy.cuh"
#include "core/instantiate.hpp"
#include "primitives/matmul/pack.cuh"

namespace spargo::detail::matmul {

namespace {

// BM x BN x BK: the block's tile and k step. LM x LN: a warp's lanes. Blocks: resident per SM.
template <class V, int BM_, int BN_, int BK_, int TM_, int TN_, int LM_, int LN_, int Blocks_>
struct tile_shape {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_, LM = LM_, LN = LN_, blocks = Blocks_;
  static constexpr int run = 16 / static_cast<int>(sizeof(V));
  static constexpr int warps_m = BM / (LM * TM);
  static constexpr int warps_n = BN / (LN * TN);
  static constexpr int threads = warps_m * warps_n * warp_size;
  static constexpr int stage = BK * (BM + BN);
  static constexpr int shared_bytes = 2 * stage * static_cast<int>(sizeof(V));
  static_assert(LM * LN == warp_size && BM * BK / run % threads == 0 && BN * BK / run % threads == 0);
};

// H200, 4096 and 8192 cubed: 47.2 and 47.8 TFLOP/s (cuBLAS 50.0 and 50.8); 256 x 128 43, 128 x 128 45.
using large_float = tile_shape<float, 128, 256, 16, 16, 8, 4, 8, 1>;
// 44.4 and 45.8: slower per tile, but tiles are a quarter as large, so that fewer SMs idle at the end.
using small_float = tile_shape<float, 64, 128, 8, 8, 8, 4, 8, 4>;
using small_double = tile_shape<double, 64, 64, 8, 8, 4, 4, 8, 4>;

template <class V>
struct alignas(16) word_of {
  V item[16 / sizeof(V)];
};

template <class V>
__device__ word_of<V> load_word(const V* p) {
  return *reinterpret_cast<const word_of<V>*>(p);
}

// A k step of A between its load and its transposed store.
template <class S, class V>
struct staged_a {
  static constexpr int words = S::BM * S::BK / S::run / S::threads;
  word_of<V> word[words];

  // `from` is the thread's element of the step: row threadIdx.x % BM.
  __device__ void load(const V* from) {
    static_assert(S::threads % S::BM == 0);
#pragma unroll
    for (int i = 0; i < words; ++i) word[i] = load_word(from + i * (S::threads / S::BM * S::run));
  }
  __device__ void store(V* to) const {
#pragma unroll
    for (int i = 0; i < words; ++i) {
      const int q = static_cast<int>(threadIdx.x) + i * S::threads;
      V* const at = to + q / S::BM * S::run * S::BM + q % S::BM;
#pragma unroll
      for (int j = 0; j < S::run; ++j) at[j * S::BM] = word[i].item[j];
    }
  }
};

// A k step of B; `to` and `from` are the thread's elements: row threadIdx.x / (BN / run).
template <class S, class V>
__device__ void copy_b(V* to, const V* from, std::int64_t ldb) {
  constexpr int rows = S::threads / (S::BN / S::run);
  static_assert(S::threads % (S::BN / S::run) == 0);
#pragma unroll
  for (int i = 0; i < S::BK / rows; ++i) copy_line_async(to + i * rows * S::BN, from + i * rows * ldb);
}

template <class S, class V>
struct fragments {
  V a[S::TM];
  V b[S::TN];

  __device__ void load(const V* stage, int k, int row, int col) {
    const V* const from_a = stage + k * S::BM + row;
    const V* const from_b = stage + S::BK * S::BM + k * S::BN + col;
#pragma unroll
    for (int i = 0; i < S::TM / S::run; ++i) {
      const word_of<V> w = load_word(from_a + i * S::LM * S::run);
#pragma unroll
      for (int j = 0; j < S::run; ++j) a[i * S::run + j] = w.item[j];
    }
#pragma unroll
    for (int i = 0; i < S::TN / S::run; ++i) {
      const word_of<V> w = load_word(from_b + i * S::LN * S::run);
#pragma unroll
      for (int j = 0; j < S::run; ++j) b[i * S::run + j] = w.item[j];
    }
  }
};

template <class S, class V>
__global__ void __launch_bounds__(S::threads, S::blocks) register_tiled_kernel(padded_job<V> g) {
  extern __shared__ __align__(16) unsigned char raw[];
  V* const shared = reinterpret_cast<V*>(raw);
  const tile_position at = tile_of(blockIdx.x, g.m, g.n, S::BM, S::BN);
  const int thread = static_cast<int>(threadIdx.x);
  constexpr int row_words = S::BN / S::run;
  const V* from_a = g.a + (at.row + thread % S::BM) * g.lda + g.k_begin() + thread / S::BM * S::run;
  const V* from_b = g.b + (g.k_begin() + thread / row_words) * g.ldb + at.col + thread % row_words * S::run;
  const std::int64_t step_b = S::BK * g.ldb;
  V* const to_b = shared + S::BK * S::BM + thread / row_words * S::BN + thread % row_words * S::run;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int row = warp % S::warps_m * (S::LM * S::TM) + lane % S::LM * S::run;
  const int col = warp / S::warps_m * (S::LN * S::TN) + lane / S::LM * S::run;

  V sum[S::TM][S::TN];
#pragma unroll
  for (int i = 0; i < S::TM; ++i) {
#pragma unroll
    for (int j = 0; j < S::TN; ++j) sum[i][j] = V{0};
  }

  staged_a<S, V> next_a;
  next_a.load(from_a);
  copy_b<S>(to_b, from_b, g.ldb);
  next_a.store(shared);
  wait_for_copies();
  __syncthreads();
  fragments<S, V> fragment[2];
  fragment[0].load(shared, 0, row, col);
  int stage = 0;
  for (auto steps = static_cast<int>((g.k_end() - g.k_begin()) / S::BK); steps > 0; --steps, stage ^= 1) {
    const V* const now = shared + stage * S::stage;
    V* const other = shared + (stage ^ 1) * S::stage;
    const bool more = steps > 1;
    if (more) {
      from_a += S::BK;
      from_b += step_b;
      next_a.load(from_a);
      copy_b<S>(to_b + (stage ^ 1) * S::stage, from_b, g.ldb);
    }
#pragma unroll
    for (int k = 0; k < S::BK; ++k) {
      if (k == S::BK / 2 && more) next_a.store(other);
      if (k + 1 < S::BK) {
        fragment[(k + 1) & 1].load(now, k + 1, row, col);
      } else if (more) {
        wait_for_copies();
        __syncthreads();  // the other stage is complete, and this one has been read
        fragment[(k + 1) & 1].load(other, 0, row, col);
      }
#pragma unroll
      for (int i = 0; i < S::TM; ++i) {
#pragma unroll
        for (int jj = 0; jj < S::TN; ++jj) {
          const int j = (i & 1) != 0 ? S::TN - 1 - jj : jj;  // consecutive products share an operand
          sum[i][j] += fragment[k & 1].a[i] * fragment[k & 1].b[j];
        }
      }
    }
  }

#pragma unroll
  for (int i = 0; i < S::TM; ++i) {
    const std::int64_t r = at.row + row + i / S::run * S::LM * S::run + i % S::run;
    if (r >= g.rows) continue;
#pragma unroll
    for (int j = 0; j < S::TN; ++j) {
      const std::int64_t q = at.col + col + j / S::run * S::LN * S::run + j % S::run;
      if (q < g.cols) store_element(g, r, q, sum[i][j]);
    }
  }
}

template <class S, class V>
void launch(const context<device>& ctx, const dense_job<V>& job, std::int64_t shares = 1) {
  const padded_operands<V> operands(ctx, job, S::BM, S::BN, S::BK, shares);
  const auto kernel = register_tiled_kernel<S, V>;
  SPARGO_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::shared_bytes));
  launch_kernel(ctx, {operands.grid(S::BM, S::BN), S::threads, S::shared_bytes}, kernel, operands.job());
  operands.finish(ctx);
}

// Estimated time in relative units: waves of resident blocks times the work per wave, divided by the tile's rate.
template <class S, class V>
double estimate(const context<device>& ctx, const dense_job<V>& job, double rate) {
  const std::int64_t slots = std::int64_t{ctx.properties().multiprocessors} * S::blocks;
  const std::int64_t tiles = div_up(job.m, S::BM) * div_up(job.n, S::BN);
  return static_cast<double>(div_up(tiles, slots)) * S::BM * S::BN * S::blocks / rate;
}

}  // namespace

template <class V>
void run_register_tiled(const context<device>& ctx, const dense_job<V>& job) {
  if constexpr (std::same_as<V, float>) {
    if (estimate<large_float>(ctx, job, 47.5) <= estimate<small_float>(ctx, job, 45.0)) {
      launch<large_float>(ctx, job);
    } else {
      launch<small_float>(ctx, job);
    }
  } else {
    launch<small_double>(ctx, job);
  }
}

// As many k ranges as fill the device, each at least eight k steps of 32.
std::int64_t shares_of_k(const context<device>& ctx, std::int64_t tiles, std::int64_t blocks, std::int64_t k) {
  const std::int64_t slots = std::int64_t{ctx.properties().multiprocessors} * blocks;
  return std::clamp<std::int64_t>(std::min(slots / std::max<std::int64_t>(tiles, 1), k / 256), 1, 1024);
}

template <class V>
void run_split_k(const context<device>& ctx, const dense_job<V>& job) {
  using S = std::conditional_t<std::same_as<V, float>, small_float, small_double>;
  const std::int64_t tiles = div_up(job.m, S::BM) * div_up(job.n, S::BN);
  launch<S>(ctx, job, shares_of_k(ctx, tiles, S::blocks, job.k));
}

#define INSTANTIATE(T)                                                    \
  template void run_split_k(const context<device>&, const dense_job<T>&); \
  template void run_register_tiled(const context<device>&, const dense_job<T>&);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::matmul
