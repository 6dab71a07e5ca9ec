#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "sparse/row_profile.hpp"

#include <algorithm>

namespace spargo::detail {

template <class I, class O>
row_profile profile_rows(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix) {
  const std::int64_t rows = matrix.rows;
  const std::int64_t limit = long_row_limit(rows, matrix.nnz());
  struct sums {
    std::int64_t longest = 0;
    std::int64_t empty = 0;
    std::int64_t long_entries = 0;
  };
  const sums all = parallel_reduce(
      ctx.threads(), rows, grain::elements, sums{},
      [&](std::int64_t first, std::int64_t last) {
        sums own;
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t length = matrix.offsets[row + 1] - matrix.offsets[row];
          own.longest = std::max(own.longest, length);
          own.empty += length == 0 ? 1 : 0;
          own.long_entries += length > limit ? length : 0;
        }
        return own;
      },
      [](const sums& a, const sums& b) {
        return sums{std::max(a.longest, b.longest), a.empty + b.empty, a.long_entries + b.long_entries};
      });
  return {rows, matrix.nnz(), all.longest, all.empty, all.long_entries};
}

#define INSTANTIATE(I, O) template row_profile profile_rows(const context<host>&, const csr_pattern_view<I, O, host>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail
