// When products in several passes over ranges of columns pay off.
//
// If columns are scattered and x is larger than what L2 keeps, most gathers go to memory. A pass processes the entries
// in a range of columns whose part of x stays in L2, and does not read the values of others. Cost: each pass reads all
// indices, and most values too if columns in a row do not ascend; y is read and written again. No scratch beyond
// merge_path's, no copy, any order of columns.
#include "sparse/spmv/csr/column_passes.hpp"

#include <algorithm>
#include <cmath>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Share of L2 available for x beside the entries that stream through it; a pass's part of x is no larger. Uniform
  // 8.4M x 16, fp64, x of 64 MB: one pass 2.09 ms, two 1.499, three 1.536 (more in sparse_tuning.txt).
  static constexpr double kept = 0.6;
  // Least entries per row and per column: with fewer, other reads and writes of the passes dominate.
  static constexpr std::int64_t row_entries = 8;
  static constexpr std::int64_t column_entries = 4;
};

double kept_bytes(const gathered_vector& x) { return tuning::kept * static_cast<double>(x.cache_bytes); }

}  // namespace

bool is_kept(std::int64_t nnz, const gathered_vector& x) {
  return static_cast<double>(x.bytes()) <= kept_bytes(x) && nnz / tuning::column_entries >= x.size;
}

int column_passes(const gathered_vector& x) {
  const double parts = std::ceil(static_cast<double>(x.bytes()) / std::max(1.0, kept_bytes(x)));
  return static_cast<int>(std::clamp(parts, 2.0, 64.0));
}

// Not for irregular rows: if few columns hold most entries, L2 keeps these even of a far larger x (R-MAT 24, degree 4,
// fp64, x of 128 MB: one pass 0.83 ms, two 0.93 or more).
bool passes_pay(const row_profile& profile, const gathered_vector& x) {
  return !profile.is_local() && static_cast<double>(x.bytes()) > kept_bytes(x) &&
         profile.nnz / tuning::row_entries >= profile.rows && profile.nnz / tuning::column_entries >= x.size;
}

}  // namespace spargo::detail::spmv
