// Dense product on the host: blocks of B and A are packed for the caches and multiplied by a register-tiled kernel.
//
// For each k step and column block, all threads pack op(B) into panels that the inner kernel reads in order (a panel
// stays in L1, the block in the outer caches). Then each takes row blocks of A, packs one (for L2) and multiplies it by
// the whole block of B. One thread computes each element of C, summing in order of k: the same bits for any number of
// threads. Scratch: one block of B, and one of A per thread. Scheme: Goto and van de Geijn, ACM TOMS 34(3), 2008.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "primitives/matmul/backend.hpp"
#include "primitives/simd/matmul.hpp"

#include <algorithm>

namespace spargo::detail::matmul {

namespace {

struct tuning {
  static constexpr std::int64_t depth = 256;           // k step: the kernel's panels of A and B fit L1
  static constexpr std::int64_t row_panels = 16;       // row block: with 12 rows 192 x 256 floats, 192 KiB of L2
  static constexpr std::int64_t cols = 3072;           // column block
  static constexpr std::int64_t sequential = 1 << 20;  // multiply-adds up to which one thread is used: 10 us
};

template <class V>
struct blocks {
  micro_kernel<V> kernel = best_kernel<V>();
  std::int64_t rows = kernel.rows * tuning::row_panels;
  std::int64_t cols = tuning::cols / kernel.cols * kernel.cols;
};

// Packs rows [row, row + rows) and columns [k0, k0 + depth) of A into panels of `height` rows; rows past m are 0.
template <class V>
void pack_a(const dense_job<V>& g, std::int64_t row, std::int64_t rows, std::int64_t k0, std::int64_t depth,
            std::int64_t height, V* to) {
  for (std::int64_t first = 0; first < rows; first += height, to += height * depth) {
    for (std::int64_t i = 0; i < height; ++i) {
      const std::int64_t r = row + first + i;
      if (first + i >= rows || r >= g.m) {
        for (std::int64_t p = 0; p < depth; ++p) to[p * height + i] = V{0};
        continue;
      }
      const V* const from = g.a + r * g.lda + k0;
      for (std::int64_t p = 0; p < depth; ++p) to[p * height + i] = from[p];
    }
  }
}

// Packs one panel of op(B): rows [k0, k0 + depth), `width` columns from `col` on; columns past n are 0.
template <class V>
void pack_b_panel(const dense_job<V>& g, std::int64_t k0, std::int64_t depth, std::int64_t col, std::int64_t width,
                  V* to) {
  const std::int64_t inside = std::min(width, g.n - col);
  if (g.op_b == transpose_kind::none) {
    for (std::int64_t p = 0; p < depth; ++p) {
      const V* const from = g.b + (k0 + p) * g.ldb + col;
      std::copy(from, from + inside, to + p * width);
      std::fill(to + p * width + inside, to + (p + 1) * width, V{0});
    }
    return;
  }
  for (std::int64_t j = 0; j < width; ++j) {
    if (j >= inside) {
      for (std::int64_t p = 0; p < depth; ++p) to[p * width + j] = V{0};
      continue;
    }
    const V* const from = g.b + (col + j) * g.ldb + k0;
    for (std::int64_t p = 0; p < depth; ++p) to[p * width + j] = from[p];
  }
}

// C = alpha * sum + C, with beta * C on the first k step.
template <class V>
void update(const dense_job<V>& g, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols,
            std::int64_t width, const V* sum, V beta) {
  for (std::int64_t i = 0; i < rows; ++i) {
    V* const c = g.c + (row + i) * g.ldc + col;
    const V* const s = sum + i * width;
    if (beta == V{0}) {
      for (std::int64_t j = 0; j < cols; ++j) c[j] = g.alpha * s[j];
    } else if (beta == V{1}) {
      for (std::int64_t j = 0; j < cols; ++j) c[j] += g.alpha * s[j];
    } else {
      for (std::int64_t j = 0; j < cols; ++j) c[j] = g.alpha * s[j] + beta * c[j];
    }
  }
}

template <class V>
void scale(const context<host>& ctx, const dense_job<V>& g) {
  parallel_for(ctx.threads(), g.m, div_up(grain::elements, std::max<std::int64_t>(g.n, 1)), [&](std::int64_t i) {
    V* const c = g.c + i * g.ldc;
    for (std::int64_t j = 0; j < g.n; ++j) c[j] = g.beta == V{0} ? V{0} : g.beta * c[j];
  });
}

template <class V>
void multiply_block(const dense_job<V>& g, const blocks<V>& size, std::int64_t row, std::int64_t col, std::int64_t cols,
                    std::int64_t depth, const V* a, const V* b, V beta) {
  alignas(64) V sum[16 * 64];
  const std::int64_t height = size.kernel.rows;
  const std::int64_t width = size.kernel.cols;
  const std::int64_t rows = std::min(size.rows, g.m - row);
  for (std::int64_t j = 0; j < cols; j += width) {
    for (std::int64_t i = 0; i < rows; i += height) {
      size.kernel.run(depth, a + i * depth, b + j * depth, sum);
      update(g, row + i, std::min(height, rows - i), col + j, std::min(width, g.n - col - j), width, sum, beta);
    }
  }
}

template <class V>
void multiply(const context<host>& ctx, const dense_job<V>& g) {
  const blocks<V> size;
  const std::int64_t row_blocks = div_up(g.m, size.rows);
  const auto threads = static_cast<int>(std::min<std::int64_t>(ctx.threads(), std::max<std::int64_t>(row_blocks, 1)));
  const std::int64_t depth_most = std::min(tuning::depth, g.k);
  const std::int64_t cols_most = std::min(size.cols, div_up(g.n, size.kernel.cols) * size.kernel.cols);
  array<V, host> packed_b(ctx, depth_most * cols_most);
  array<V, host> packed_a(ctx, threads * size.rows * depth_most);
  V* const b = packed_b.data();
  for (std::int64_t col = 0; col < g.n; col += size.cols) {
    const std::int64_t cols = std::min(size.cols, g.n - col);
    for (std::int64_t k0 = 0; k0 < g.k; k0 += tuning::depth) {
      const std::int64_t depth = std::min(tuning::depth, g.k - k0);
      const std::int64_t width = size.kernel.cols;
      parallel_for(threads, div_up(cols, width), div_up(grain::elements, width * depth), [&](std::int64_t panel) {
        pack_b_panel(g, k0, depth, col + panel * width, width, b + panel * width * depth);
      });
      const std::int64_t work = size.rows * cols * depth;
      const int useful = work * row_blocks < tuning::sequential ? 1 : threads;
      on_threads(useful, row_blocks, [&](part_taker& mine) {
        V* const a = packed_a.data() + mine.slot() * size.rows * depth_most;
        for (std::int64_t block; mine.take(block);) {
          const std::int64_t row = block * size.rows;
          pack_a(g, row, std::min(size.rows, g.m - row), k0, depth, size.kernel.rows, a);
          multiply_block(g, size, row, col, cols, depth, a, b, k0 == 0 ? g.beta : V{1});
        }
      });
    }
  }
}

}  // namespace

template <class V>
void run_host(const context<host>& ctx, const dense_job<V>& job) {
  if (job.k == 0) {
    scale(ctx, job);
    return;
  }
  multiply(ctx, job);  // two cores with AVX-512, 2048 cubed, float: 369 GFLOP/s; OpenBLAS 0.3.21 240
}

#define INSTANTIATE(T) template void run_host(const context<host>&, const dense_job<T>&);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::matmul
