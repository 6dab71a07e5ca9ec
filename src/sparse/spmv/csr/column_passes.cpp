// When products in passes over ranges of columns pay.
//
// Idea: where columns are scattered and x is larger than what the L2 cache keeps, most gathers go on to memory. A
// pass takes the entries of a range of columns whose part of x stays in the cache, and leaves the others' values
// unread. Cost: the indices once more a pass, and where columns of a row do not ascend most values, too; y is read and
// written again. No scratch beyond merge_path's, no copy, any order of columns.
#include "sparse/spmv/csr/column_passes.hpp"

#include <algorithm>
#include <cmath>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Of the L2 cache, what it keeps of x beside the entries that stream through it; a pass's part of x is no larger.
  // Uniform 8.4M x 16, fp64, x of 64 MB: one pass 2.09 ms, two 1.499, three 1.536 (more in sparse_tuning.txt).
  static constexpr double kept = 0.6;
  // Entries per row and per column, at least: below, what passes read and write besides entries counts.
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

// Not for irregular rows: where few columns hold most entries, the cache keeps those of a far larger x (R-MAT 24,
// degree 4, fp64, x of 128 MB: one pass 0.83 ms, two 0.93 or more).
bool passes_pay(const row_profile& profile, const gathered_vector& x) {
  return !profile.is_local() && static_cast<double>(x.bytes()) > kept_bytes(x) &&
         profile.nnz / tuning::row_entries >= profile.rows && profile.nnz / tuning::column_entries >= x.size;
}

}  // namespace spargo::detail::spmv
