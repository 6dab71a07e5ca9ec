// Whether a product in two passes, by column blocks and by bins of rows, is worth its copy.
#include "sparse/spmv/copies/binned/binned.hpp"

#include <fmt/format.h>

namespace spargo::detail::spmv {

namespace {

// Times are an H200's, in ms, beside the best of CSR as it stands; 4.2M rows of 16 entries all over the columns unless
// another matrix is named.
struct tuning {
  // Vectors up to this size lie in an SM's cache whole. Above, in fp32: 512 KiB 0.344, 0.489; 4 MiB 0.351,
  // 0.492; 16 MiB (rows by a power law) 0.379, 0.480; 32 MiB (8.4M rows) 0.797, 1.168.
  static constexpr std::int64_t cached_bytes = std::int64_t{1} << 18;
  // Values up to this size cost less to write and read once more than a sector of x from the L2 cache. Wider ones pay
  // only where x does not fit that: fp64, 512 KiB 0.601, 0.512; 8 MiB 0.635, 0.532; 32 MiB (power law) 0.712, 0.618;
  // but 64 MiB (8.4M rows) 1.569, 2.245. Values of 16 bytes come half a sector at a time.
  static constexpr std::int64_t narrow_value = 4;
  static constexpr std::int64_t widest_value = 8;
  // Below, launches and the partly filled last rounds of blocks count for more than the gathers.
  static constexpr std::int64_t least_nnz = std::int64_t{1} << 22;
  // Of 1000: rows whose columns lie together, or near those of their neighbours, share sectors of x. In fp32 an entry's
  // 16 bytes take as long as 26 of a copy at least (uniform, 8.4M rows: 0.767), and CSR reads 8 and 32 a sector: 33.6.
  static constexpr std::int64_t least_sectors = 800;
  // Entries: a sector of products.
  static constexpr std::int64_t least_cell = 8;
};

}  // namespace

std::string why_not_binned(const binning_profile& p, copy_demand demand) {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  if (p.rows > most - 1 || p.cols > most - 1 || p.nnz > most - 1) {
    return fmt::format("{} x {} with {} entries, of which one is beyond 32 bits", p.rows, p.cols, p.nnz);
  }
  if (demand == copy_demand::by_name) return {};
  if (p.cols * p.value_bytes <= tuning::cached_bytes) {
    return fmt::format("x of {} elements is in the cache as it is", p.cols);
  }
  if (p.value_bytes > tuning::widest_value ||
      (p.value_bytes > tuning::narrow_value && p.cols * p.value_bytes <= p.l2_bytes)) {
    return fmt::format("values of {} bytes cost more to write and read again than x of {} elements to gather",
                       p.value_bytes, p.cols);
  }
  if (p.nnz < tuning::least_nnz) return fmt::format("{} entries are too few for two passes", p.nnz);
  if (p.sectors < tuning::least_sectors) {
    return fmt::format("1000 entries touch only {} sectors of x", p.sectors);
  }
  if (p.nnz / p.blocks / p.bins < tuning::least_cell) {
    return fmt::format("{} blocks of columns and {} bins of rows leave cells of {:.1f} entries", p.blocks, p.bins,
                       static_cast<double>(p.nnz) / static_cast<double>(p.blocks) / static_cast<double>(p.bins));
  }
  return {};
}

}  // namespace spargo::detail::spmv
