// Five-point stencils on the host: cell by cell, rows in vectors, several sweeps of Jacobi's iteration in one pass.
//
// The multi-sweep pass is a wavefront as on the device: sweep t runs t rows behind the first, and three rows lie
// between two sweeps, in cache. A thread processes a band of rows by blocks of columns; bands and blocks start `depth`
// cells early and compute those cells twice. Cost: an array is read and written once per `depth` sweeps. Invariant:
// ring(t) holds the latest three rows of sweep t, row q in slot q % 3. Same bits as single sweeps, since a cell is the
// same expression of the same values. Source: Wellein, Hager, Zeiser, Wittmann, Fehske, COMPSAC 2009.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/parts.hpp"
#include "primitives/simd/stencil.hpp"
#include "primitives/stencil/backend.hpp"

#include <algorithm>

namespace spargo::detail::stencil {

namespace {

struct tuning {
  static constexpr std::int64_t grain = 1 << 14;  // least cells per thread: about 5 us
  static constexpr int depth = 4;                 // sweeps per pass
  // Bytes of a block's rows: (depth - 1) * 3 of them and four rows of source and target fit L2.
  static constexpr std::int64_t block_bytes = 16384;
};

// f(first row, last row, part) for parts of the rows.
template <class T, class F>
void for_rows(const context<host>& ctx, const five_point_job<T>& job, F&& f) {
  const std::int64_t fewest = std::max<std::int64_t>(1, tuning::grain / job.cols);
  const parts shares = split(job.rows, ctx.threads(), fewest);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t p) { f(shares.first(p), shares.last(p), p); });
}

template <class T>
const T* in_row(const five_point_job<T>& job, std::int64_t row) {
  return job.in + row * job.in_pitch;
}
template <class T>
T* out_row(const five_point_job<T>& job, std::int64_t row) {
  return job.out + row * job.out_pitch;
}

template <class Cell, class T>
void sweep_naive(const context<host>& ctx, const five_point_job<T>& job) {
  for_rows(ctx, job, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t i = first; i < last; ++i) {
      for (std::int64_t j = 0; j < job.cols; ++j) {
        const T* at = in_row(job, i) + j;
        const bool is_rim = i == 0 || i == job.rows - 1 || j == 0 || j == job.cols - 1;
        out_row(job, i)[j] = is_rim ? at[0] : Cell::apply(at[0], at[-1], at[1], at[-job.in_pitch], at[job.in_pitch]);
      }
    }
  });
}

// Columns [first, last) of row `row`; the pointers are at column 0 of their rows.
template <class T>
void make_row(five_point_row<T> cells, const five_point_job<T>& job, std::int64_t row, std::int64_t first,
              std::int64_t last, const T* up, const T* mid, const T* down, T* out) {
  if (row == 0 || row == job.rows - 1) {
    std::copy(mid + first, mid + last, out + first);
    return;
  }
  if (first == 0) out[first++] = mid[0];
  if (last == job.cols && last > first) {
    --last;
    out[last] = mid[last];
  }
  if (first < last) cells(up + first, mid + first, down + first, out + first, last - first);
}

template <class Cell, class T>
void sweep_rows(const context<host>& ctx, const five_point_job<T>& job) {
  const five_point_row<T> cells = best_five_point_row<Cell, T>();
  for_rows(ctx, job, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t i = first; i < last; ++i) {
      const T* mid = in_row(job, i);
      make_row(cells, job, i, 0, job.cols, mid - job.in_pitch, mid, mid + job.in_pitch, out_row(job, i));
    }
  });
}

// One block of columns in one band of rows, several sweeps deep.
template <class T>
class wavefront {
 public:
  wavefront(const five_point_job<T>& job, int depth, std::int64_t first, std::int64_t last, T* rings,
            std::int64_t width)
      : job_(job), depth_(depth), first_(first), last_(last), rings_(rings), width_(width) {}

  // Columns [left, right), at most width - 2 depth of them.
  void run(std::int64_t left, std::int64_t right) {
    origin_ = std::max<std::int64_t>(0, left - depth_);
    for (std::int64_t r = first_ - depth_; r < last_ + depth_; ++r) {
      for (int t = 1; t <= depth_; ++t) {
        const std::int64_t row = r - t;
        const std::int64_t more = depth_ - t;  // cells around the block that later sweeps need
        if (row < std::max<std::int64_t>(0, first_ - more) || row >= std::min(job_.rows, last_ + more)) continue;
        make_row(cells_, job_, row, std::max<std::int64_t>(0, left - more), std::min(job_.cols, right + more),
                 source(t, row - 1), source(t, row), source(t, row + 1), target(t, row));
      }
    }
  }

 private:
  // Column 0 of a row that sweep t reads; not dereferenced if there is no such row.
  [[nodiscard]] const T* source(int t, std::int64_t row) const { return t == 1 ? in_row(job_, row) : ring(t - 1, row); }
  [[nodiscard]] T* target(int t, std::int64_t row) const { return t == depth_ ? out_row(job_, row) : ring(t, row); }
  [[nodiscard]] T* ring(int t, std::int64_t row) const {
    return rings_ + (3 * (t - 1) + (row + 3) % 3) * width_ - origin_;
  }

  const five_point_job<T>& job_;
  int depth_;
  std::int64_t first_;
  std::int64_t last_;
  T* rings_;
  std::int64_t width_;
  std::int64_t origin_ = 0;
  five_point_row<T> cells_ = best_five_point_row<laplace_cell, T>();
};

template <class T>
void sweep_deep(const context<host>& ctx, const five_point_job<T>& job, int depth) {
  constexpr std::int64_t block = tuning::block_bytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t width = std::min(job.cols, block + 2 * depth);
  const std::int64_t rings = std::int64_t{3} * (depth - 1) * width;
  array<T, host> scratch(ctx, rings * ctx.threads());
  for_rows(ctx, job, [&](std::int64_t first, std::int64_t last, std::int64_t share) {
    wavefront<T> band(job, depth, first, last, scratch.data() + share * rings, width);
    for (std::int64_t left = 0; left < job.cols; left += block) band.run(left, std::min(job.cols, left + block));
  });
}

// max |new - old| of a row, in lanes that a vector holds.
template <class T>
T change_of_row(const T* old, const T* made, std::int64_t cols) {
  constexpr std::int64_t lanes = 16;
  T largest[lanes] = {};
  std::int64_t j = 0;
  for (; j + lanes <= cols; j += lanes) {
    for (std::int64_t l = 0; l < lanes; ++l) largest[l] = larger_magnitude(largest[l], made[j + l] - old[j + l]);
  }
  for (std::int64_t l = 0; j + l < cols; ++l) largest[l] = larger_magnitude(largest[l], made[j + l] - old[j + l]);
  for (std::int64_t l = 1; l < lanes; ++l) largest[0] = larger_magnitude(largest[0], largest[l]);
  return largest[0];
}

}  // namespace

template <class T>
void five_point_average(const context<host>& ctx, const five_point_job<T>& job, stencil_algorithm algorithm) {
  if (algorithm == stencil_algorithm::naive) {
    sweep_naive<average_cell>(ctx, job);
  } else {
    sweep_rows<average_cell>(ctx, job);
  }
}

template <class T>
int jacobi_sweeps(const context<host>& ctx, const five_point_job<T>& job, std::int64_t wanted,
                  jacobi_algorithm algorithm) {
  if (algorithm == jacobi_algorithm::naive) {
    sweep_naive<laplace_cell>(ctx, job);
    return 1;
  }
  const int depth = algorithm == jacobi_algorithm::temporal && wanted > 1
                        ? static_cast<int>(std::min<std::int64_t>(tuning::depth, wanted))
                        : 1;
  if (depth > 1) {
    sweep_deep(ctx, job, depth);
  } else {
    sweep_rows<laplace_cell>(ctx, job);
  }
  return depth;
}

template <class T>
T jacobi_tested_sweep(const context<host>& ctx, const five_point_job<T>& job, span<T, host> residual,
                      jacobi_algorithm algorithm) {
  jacobi_sweeps(ctx, job, 1, algorithm);
  array<T, host> largest(ctx, ctx.threads());
  std::fill(largest.begin(), largest.end(), T{0});
  for_rows(ctx, job, [&](std::int64_t first, std::int64_t last, std::int64_t share) {
    T mine{0};
    for (std::int64_t i = first; i < last; ++i) {
      mine = larger_magnitude(mine, change_of_row(in_row(job, i), out_row(job, i), job.cols));
    }
    largest[share] = mine;
  });
  residual[0] = T{0};
  for (const T of_share : largest) residual[0] = larger_magnitude(residual[0], of_share);
  return residual[0];
}

template <class T>
void copy_cells(const context<host>& ctx, const five_point_job<T>& job) {
  for_rows(ctx, job, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (std::int64_t i = first; i < last; ++i) std::copy_n(in_row(job, i), job.cols, out_row(job, i));
  });
}

#define INSTANTIATE(T)                                                                                             \
  template void five_point_average(const context<host>&, const five_point_job<T>&, stencil_algorithm);             \
  template int jacobi_sweeps(const context<host>&, const five_point_job<T>&, std::int64_t, jacobi_algorithm);      \
  template T jacobi_tested_sweep(const context<host>&, const five_point_job<T>&, span<T, host>, jacobi_algorithm); \
  template void copy_cells(const context<host>&, const five_point_job<T>&);
SPARGO_FOR_EACH_REAL(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::stencil
