// Whether a two-pass product, by column blocks and by bins of rows, is worth its copy.
#include "sparse/spmv/copies/binned/binned.hpp"

#include <fmt/format.h>

namespace spargo::detail::spmv {

namespace {

// ms on an H200, binned and the best of CSR, 4.2M rows of 16 uniform columns; all measurements: sparse_tuning.txt.
struct tuning {
  // Vectors up to this size fit an SM's L1; with 512 KiB in fp32: 0.344, 0.489.
  static constexpr std::int64_t cached_bytes = std::int64_t{1} << 18;
  // Wider values pay off only if x exceeds L2 (fp64, 8 MiB: 0.635, 0.532; 64 MiB: 1.569, 2.245), 16-byte values never.
  static constexpr std::int64_t narrow_value = 4;
  static constexpr std::int64_t widest_value = 8;
  // Below, launches and partly filled last waves of blocks cost more than the gathers.
  static constexpr std::int64_t least_nnz = std::int64_t{1} << 22;
  // Distinct sectors of x per 1000 entries: below, CSR's 8 bytes and its sectors cost less than 26 bytes per entry.
  static constexpr std::int64_t least_sectors = 800;
  // Least entries per cell: a sector of products.
  static constexpr std::int64_t least_cell = 8;
};

}  // namespace

std::string reason_against_binning(const binning_profile& p, copy_demand demand) {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  if (p.rows > most - 1 || p.cols > most - 1 || p.nnz > most - 1) {
    return fmt::format("{} x {} with {} entries: one number exceeds 32 bits", p.rows, p.cols, p.nnz);
  }
  if (demand == copy_demand::by_name) return {};
  if (p.cols * p.value_bytes <= tuning::cached_bytes) {
    return fmt::format("x of {} elements fits the cache", p.cols);
  }
  if (p.value_bytes > tuning::widest_value ||
      (p.value_bytes > tuning::narrow_value && p.cols * p.value_bytes <= p.l2_bytes)) {
    return fmt::format("writing and reading products of {} bytes costs more than gathering x of {} elements",
                       p.value_bytes, p.cols);
  }
  if (p.nnz < tuning::least_nnz) return fmt::format("{} entries are too few for two passes", p.nnz);
  if (p.sectors < tuning::least_sectors) {
    return fmt::format("1000 entries read only {} sectors of x", p.sectors);
  }
  if (p.nnz / p.blocks / p.bins < tuning::least_cell) {
    return fmt::format("{} blocks of columns and {} bins of rows leave cells of {:.1f} entries", p.blocks, p.bins,
                       static_cast<double>(p.nnz) / static_cast<double>(p.blocks) / static_cast<double>(p.bins));
  }
  if (p.is_uneven) return "some blocks of columns have many more entries than others";
  return {};
}

}  // namespace spargo::detail::spmv
