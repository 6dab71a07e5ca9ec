// Convolution on the host: threads take tiles of outputs, computed by the register tiles of simd/convolve_rows.hpp.
//
// A line is an image of one row. A separable filter processes a tile in two passes over scratch that stays in cache:
// along the input rows, then down the columns. The order of an output's sum does not depend on tiles or threads.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "primitives/convolve/backend.hpp"
#include "primitives/simd/convolve.hpp"

#include <algorithm>

namespace spargo::detail::convolve {

namespace {

struct tuning {
  static constexpr std::int64_t tile_rows = 16;  // times 1024 floats: 64 KiB of output, inputs stay in cache
  static constexpr std::int64_t tile_cols = 1024;
  static constexpr std::int64_t line_tile = 8192;     // outputs of a line
  static constexpr std::int64_t separable_rows = 64;  // each tile filters K - 1 further rows
  static constexpr std::int64_t grain = 1 << 16;      // least multiply-adds per thread: about 10 us
};

struct tile {
  std::int64_t row, row_end, col, col_end;
};

// f(tile) for tiles that cover rows x cols, spread evenly over the threads; `work` in multiply-adds per output.
template <class F>
void for_tiles(const context<host>& ctx, std::int64_t rows, std::int64_t cols, std::int64_t tall, std::int64_t wide,
               std::int64_t work, F&& f) {
  const std::int64_t down = div_up(rows, tall);
  const std::int64_t across = div_up(cols, wide);
  const std::int64_t fewest = std::max<std::int64_t>(1, tuning::grain / std::max<std::int64_t>(1, tall * wide * work));
  const parts shares = split(down * across, ctx.threads(), fewest);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) {
      const std::int64_t row = k / across * tall;
      const std::int64_t col = k % across * wide;
      f(p, tile{row, std::min(rows, row + tall), col, std::min(cols, col + wide)});
    }
  });
}

template <class T>
void register_tiled(const context<host>& ctx, const tile_job<T>& job, T* out, std::int64_t out_pitch, std::int64_t tall,
                    std::int64_t wide) {
  const tile_function<T> run = best_tile_function<T>();
  for_tiles(ctx, job.rows, job.cols, tall, wide, job.down * job.across, [&](std::int64_t, const tile& t) {
    run(job, t.row, t.row_end, t.col, t.col_end, out + t.row * out_pitch + t.col, out_pitch);
  });
}

// Each output with a boundary test per tap.
template <class T>
void naive(const context<host>& ctx, const tile_job<T>& job, T* out, std::int64_t out_pitch) {
  for_tiles(ctx, job.rows, job.cols, 1, tuning::line_tile, job.down * job.across, [&](std::int64_t, const tile& at) {
    for (std::int64_t j = at.col; j < at.col_end; ++j) {
      T sum{0};
      for (std::int64_t s = 0; s < job.down; ++s) {
        for (std::int64_t t = 0; t < job.across; ++t) {
          const std::int64_t row = at.row + s - job.down / 2;
          const std::int64_t col = j + t - job.across / 2;
          if (row < 0 || row >= job.rows || col < 0 || col >= job.cols) continue;
          sum += job.in[row * job.pitch + col] * job.filter[s * job.across + t];
        }
      }
      out[at.row * out_pitch + j] = sum;
    }
  });
}

}  // namespace

template <class T>
void run_line(const context<host>& ctx, span<const T, host> in, const plain_filter<T>& filter, span<T, host> out,
              convolve_algorithm algorithm) {
  const tile_job<T> job{in.data(), in.size(), 1, in.size(), filter.taps.data(), 1, filter.width};
  if (algorithm == convolve_algorithm::naive) return naive(ctx, job, out.data(), out.size());
  register_tiled(ctx, job, out.data(), out.size(), 1, tuning::line_tile);
}

template <class T>
void run_image(const context<host>& ctx, const image_view<const T, host>& in, const plain_filter<T>& filter,
               const image_view<T, host>& out, convolve_algorithm algorithm) {
  const tile_job<T> job{in.data.data(), in.pitch, in.rows, in.cols, filter.taps.data(), filter.width, filter.width};
  if (algorithm == convolve_algorithm::naive) return naive(ctx, job, out.data.data(), out.pitch);
  register_tiled(ctx, job, out.data.data(), out.pitch, tuning::tile_rows, tuning::tile_cols);
}

template <class T>
void run_image(const context<host>& ctx, const image_view<const T, host>& in, const separated_filter<T>& filter,
               const image_view<T, host>& out) {
  const auto width = static_cast<std::int64_t>(filter.down.size());
  const std::int64_t half = width / 2;
  const std::int64_t wide = std::min(tuning::tile_cols, in.cols);
  const std::int64_t staged_rows = std::min(tuning::separable_rows + width - 1, in.rows);
  array<T, host> scratch(ctx, wide * staged_rows * ctx.threads());
  const tile_function<T> run = best_tile_function<T>();
  const tile_job<T> along{in.data.data(), in.pitch, in.rows, in.cols, filter.across.data(), 1, width};
  for_tiles(ctx, in.rows, in.cols, tuning::separable_rows, wide, 2 * width, [&](std::int64_t share, const tile& t) {
    T* staged = scratch.data() + share * wide * staged_rows;
    const std::int64_t first = std::max(std::int64_t{0}, t.row - half);
    const std::int64_t last = std::min(in.rows, t.row_end + half);
    run(along, first, last, t.col, t.col_end, staged, wide);
    const tile_job<T> down{staged, wide, last - first, t.col_end - t.col, filter.down.data(), width, 1};
    run(down, t.row - first, t.row_end - first, 0, t.col_end - t.col, out.data.data() + t.row * out.pitch + t.col,
        out.pitch);
  });
}

#define INSTANTIATE(T)                                                                                        \
  template void run_line(const context<host>&, span<const T, host>, const plain_filter<T>&, span<T, host>,    \
                         convolve_algorithm);                                                                 \
  template void run_image(const context<host>&, const image_view<const T, host>&, const plain_filter<T>&,     \
                          const image_view<T, host>&, convolve_algorithm);                                    \
  template void run_image(const context<host>&, const image_view<const T, host>&, const separated_filter<T>&, \
                          const image_view<T, host>&);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::convolve
