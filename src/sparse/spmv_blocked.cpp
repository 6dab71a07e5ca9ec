// Whether a copy with columns ranked by use is worth making.
#include "sparse/spmv_blocked.hpp"

#include <fmt/format.h>

namespace spargo::detail {

namespace {

struct tuning {
  // Entries whose elements of x shared memory holds. R-MAT on an H200, ms beside merge_path's: 58 percent 0.345, 0.474
  // (scale 22, fp32); 46 percent 0.440, 0.548 (fp64); 43 percent 0.556, 0.700 (scale 24, fp32); 33 percent 0.766, 0.893
  // (fp64). At 2 percent, uniform columns, only the cost of ranking x is left. For values of 4 bytes `binned` takes
  // 0.409 at 58 percent, 0.518 at 43 percent, and at 39 (4.2M rows of 16 in 131072 columns) 0.344, where this takes
  // 0.403.
  static constexpr double least_popular_share = 0.25;
  static constexpr double least_share_of_narrow = 0.5;
  static constexpr std::int64_t narrow_value = 4;
  // Below, ranking x and filling shared memory with it take longer than the gathers from the second cache do. H200,
  // captured graph, microseconds, beside the best of CSR as it stands, fp32 and fp64: ego-Twitter, 2.7 million entries,
  // 20.2, 11.2 and 25.3, 13.7; R-MAT 18, 4.2 million, 29.3, 28.4 and 34.7, 35.0; 160 thousand rows of 39 in popular
  // columns, 6.3 million, 40.0, 32.8 and 50.3, 35.9; R-MAT 19, 8.4 million, 49.3, 57.7 and 58.9, 63.8.
  static constexpr std::int64_t least_nnz = std::int64_t{1} << 23;
  // Vectors up to this size lie in a multiprocessor's cache whole, whatever their order.
  static constexpr std::int64_t cached_bytes = std::int64_t{1} << 18;
};

}  // namespace

std::string why_not_blocked(const column_profile& c, copy_demand demand) {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  if (c.rows > most - 1 || c.cols > most - 1 || c.nnz > most - 1) {
    return fmt::format("{} x {} with {} entries, of which one is beyond 32 bits", c.rows, c.cols, c.nnz);
  }
  if (demand == copy_demand::by_name) return {};
  if (c.cols * c.value_bytes <= tuning::cached_bytes) {
    return fmt::format("x of {} elements is in the cache as it is", c.cols);
  }
  if (c.nnz < tuning::least_nnz) return fmt::format("{} entries are too few for a copy of x in every run", c.nnz);
  const double share = static_cast<double>(c.popular_entries) / static_cast<double>(c.nnz);
  if (share < (c.value_bytes > tuning::narrow_value ? tuning::least_popular_share : tuning::least_share_of_narrow)) {
    return fmt::format("the {} most used columns hold only {:.0f} percent of the entries", c.popular, 100 * share);
  }
  return {};
}

}  // namespace spargo::detail
