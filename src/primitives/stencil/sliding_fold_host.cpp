// Folds over sliding windows on the host: averages and maxima along lines, maxima across the axes of a volume.
//
// `naive` folds each window; `tiled` folds the windows of a block of outputs together, one element of each at a time,
// in vectors; the third takes a constant number of operations per output (van Herk 1992; Gil and Werman 1993): for a
// run of w outputs, the run is scanned from its end and the elements after it from their start; a window is the fold of
// one value of each. Across an axis, rows of neighbouring lines take the place of elements.
//
// Invariant: blocks and runs are laid out from the start of a line, so outputs do not depend on the number of threads.
// One thread processes a run, so windows wider than a thread's share leave threads idle.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "primitives/stencil/backend.hpp"
#include "primitives/stencil/sliding_max_backend.hpp"

#include <algorithm>

namespace spargo::detail::stencil {

namespace {

struct tuning {
  static constexpr std::int64_t block = 1024;     // outputs folded together: 4 or 8 KiB, in L1
  static constexpr std::int64_t grain = 1 << 14;  // least elements per thread
};

// f(line, first, last) for outputs [first, last) of each line; threads share the blocks of `block` outputs.
template <class T, class F>
void for_blocks(const context<host>& ctx, const fold_job<T>& job, std::int64_t block, F&& f) {
  const std::int64_t blocks = div_up(job.size, block);
  const std::int64_t fewest = std::max<std::int64_t>(1, tuning::grain / std::min(block, job.size));
  const parts shares = split(job.lines * blocks, ctx.threads(), fewest);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    for (std::int64_t b = shares.first(p); b < shares.last(p); ++b) {
      const std::int64_t first = b % blocks * block;
      f(b / blocks, first, std::min(job.size, first + block));
    }
  });
}

template <class T, class Fold>
void fold_naive(const context<host>& ctx, const fold_job<T>& job, Fold fold) {
  for_blocks(ctx, job, tuning::block, [&](std::int64_t l, std::int64_t first, std::int64_t last) {
    const T* line = job.in + l * job.size;
    for (std::int64_t i = first; i < last; ++i) {
      T all = Fold::identity;
      const std::int64_t end = std::min(job.size, i + job.shift + job.window);
      for (std::int64_t j = std::max<std::int64_t>(0, i + job.shift); j < end; ++j) all = Fold::apply(all, line[j]);
      job.out[l * job.size + i] = fold.finish(all);
    }
  });
}

template <class T, class Fold>
void fold_tiled(const context<host>& ctx, const fold_job<T>& job, Fold fold) {
  for_blocks(ctx, job, tuning::block, [&](std::int64_t l, std::int64_t first, std::int64_t last) {
    const T* line = job.in + l * job.size;
    T all[tuning::block];
    std::fill_n(all, last - first, Fold::identity);
    for (std::int64_t t = 0; t < job.window; ++t) {
      const std::int64_t offset = job.shift + t;  // between output and element
      const std::int64_t from = std::max(first, -offset);
      const std::int64_t to = std::min(last, job.size - offset);
      for (std::int64_t i = from; i < to; ++i) all[i - first] = Fold::apply(all[i - first], line[i + offset]);
    }
    for (std::int64_t i = first; i < last; ++i) job.out[l * job.size + i] = fold.finish(all[i - first]);
  });
}

// Outputs [first, last), at most `window` of them.
template <class T, class Fold>
void fold_run(const fold_job<T>& job, const T* line, T* out, std::int64_t first, std::int64_t last, Fold fold) {
  const auto at = [&](std::int64_t p) { return p >= 0 && p < job.size ? line[p] : Fold::identity; };
  T all = Fold::identity;
  std::int64_t p = std::min(job.size, first + job.shift + job.window) - 1;
  for (; p >= last + job.shift; --p) all = Fold::apply(at(p), all);
  for (std::int64_t i = last - 1; i >= first; --i) {
    if (p >= i + job.shift) all = Fold::apply(at(i + job.shift), all);
    out[i] = all;
  }
  all = Fold::identity;
  out[first] = fold.finish(out[first]);
  for (std::int64_t i = first + 1; i < last; ++i) {
    all = Fold::apply(all, at(i + job.shift + job.window - 1));
    out[i] = fold.finish(Fold::apply(out[i], all));
  }
}

template <class T, class Fold>
void fold_scanned(const context<host>& ctx, const fold_job<T>& job, Fold fold) {
  for_blocks(ctx, job, job.window, [&](std::int64_t l, std::int64_t first, std::int64_t last) {
    fold_run(job, job.in + l * job.size, job.out + l * job.size, first, last, fold);
  });
}

// f(first element, width, unit) for blocks of neighbouring lines of an axis, each in `units` parts along the axis.
template <class T, class F>
void for_axis(const context<host>& ctx, const axis_job<T>& job, std::int64_t units, F&& f) {
  const std::int64_t across = div_up(job.stride, tuning::block);
  const std::int64_t total = job.outer * across * units;
  const std::int64_t elements = job.outer * job.size * job.stride;
  const std::int64_t fewest = std::max<std::int64_t>(1, tuning::grain / std::max<std::int64_t>(1, elements / total));
  const parts shares = split(total, ctx.threads(), fewest);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) {
    for (std::int64_t b = shares.first(p); b < shares.last(p); ++b) {
      const std::int64_t left = b / units % across * tuning::block;
      const std::int64_t line = b / units / across * job.size * job.stride + left;
      f(line, std::min(tuning::block, job.stride - left), b % units);
    }
  });
}

template <class T>
void max_into(T* all, const T* other, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) all[i] = max_fold<T>::apply(all[i], other[i]);
}

template <class T>
void axis_tiled(const context<host>& ctx, const axis_job<T>& job) {
  for_axis(ctx, job, job.size, [&](std::int64_t line, std::int64_t width, std::int64_t k) {
    const T* from = job.in + line + k * job.stride;
    T* to = job.out + line + k * job.stride;
    std::copy_n(from, width, to);
    const std::int64_t count = std::min(job.window, job.size - k);
    for (std::int64_t t = 1; t < count; ++t) max_into(to, from + t * job.stride, width);
  });
}

template <class T>
void axis_van_herk(const context<host>& ctx, const axis_job<T>& job) {
  for_axis(ctx, job, div_up(job.size, job.window), [&](std::int64_t line, std::int64_t width, std::int64_t run) {
    const T* in = job.in + line;
    T* out = job.out + line;
    const std::int64_t first = run * job.window;
    const std::int64_t next = std::min(job.size, first + job.window);
    std::copy_n(in + (next - 1) * job.stride, width, out + (next - 1) * job.stride);
    for (std::int64_t k = next - 2; k >= first; --k) {
      T* to = out + k * job.stride;
      std::copy_n(in + k * job.stride, width, to);
      max_into(to, to + job.stride, width);
    }
    T all[tuning::block];
    std::fill_n(all, width, max_fold<T>::identity);
    for (std::int64_t k = first + 1; k < next; ++k) {
      const std::int64_t newest = k + job.window - 1;
      if (newest < job.size) max_into(all, in + newest * job.stride, width);
      max_into(out + k * job.stride, all, width);
    }
  });
}

}  // namespace

template <class T>
void window_average(const context<host>& ctx, const fold_job<T>& job, T divisor, stencil_algorithm algorithm) {
  const average_fold<T> fold{divisor};
  if (algorithm == stencil_algorithm::naive) {
    fold_naive(ctx, job, fold);
  } else if (algorithm == stencil_algorithm::tiled) {
    fold_tiled(ctx, job, fold);
  } else {
    fold_scanned(ctx, job, fold);
  }
}

template <class T>
void sliding_max_lines(const context<host>& ctx, const fold_job<T>& job, sliding_max_algorithm algorithm) {
  if (algorithm == sliding_max_algorithm::naive) {
    fold_naive(ctx, job, max_fold<T>{});
  } else if (algorithm == sliding_max_algorithm::tiled) {
    fold_tiled(ctx, job, max_fold<T>{});
  } else {
    fold_scanned(ctx, job, max_fold<T>{});
  }
}

template <class T>
void sliding_max_axis(const context<host>& ctx, const axis_job<T>& job, sliding_max_algorithm algorithm) {
  if (algorithm == sliding_max_algorithm::tiled) {
    axis_tiled(ctx, job);
  } else {
    axis_van_herk(ctx, job);
  }
}

template <class T>
void sliding_max_naive(const context<host>& ctx, const T* in, T* out, const volume_shape& shape,
                       const volume_shape& window) {
  const fold_job<T> rows{in, out, shape.planes * shape.rows, shape.cols, 0, window.cols};
  for_blocks(ctx, rows, tuning::block, [&](std::int64_t line, std::int64_t first, std::int64_t last) {
    const std::int64_t planes = std::min(window.planes, shape.planes - line / shape.rows);
    const std::int64_t down = std::min(window.rows, shape.rows - line % shape.rows);
    for (std::int64_t c = first; c < last; ++c) {
      const std::int64_t along = std::min(window.cols, shape.cols - c);
      T largest = max_fold<T>::identity;
      for (std::int64_t dp = 0; dp < planes; ++dp) {
        for (std::int64_t dr = 0; dr < down; ++dr) {
          const T* from = in + (line + dp * shape.rows + dr) * shape.cols + c;
          for (std::int64_t dc = 0; dc < along; ++dc) largest = max_fold<T>::apply(largest, from[dc]);
        }
      }
      out[line * shape.cols + c] = largest;
    }
  });
}

#define INSTANTIATE(T)                                                                              \
  template void window_average(const context<host>&, const fold_job<T>&, T, stencil_algorithm);     \
  template void sliding_max_lines(const context<host>&, const fold_job<T>&, sliding_max_algorithm); \
  template void sliding_max_axis(const context<host>&, const axis_job<T>&, sliding_max_algorithm);  \
  template void sliding_max_naive(const context<host>&, const T*, T*, const volume_shape&, const volume_shape&);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::stencil
