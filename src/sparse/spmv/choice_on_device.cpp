// Chooses the fastest kernel for a CSR matrix in place, from row lengths, from how near the columns of neighbouring
// rows are, and from whether the matrix fits the L2 cache.
#include "sparse/spmv/choice_on_device.hpp"

#include <fmt/format.h>

namespace spargo::detail::spmv {

namespace {

// All on an H200.
struct tuning {
  // With a tenth of the entries in long rows, a static assignment already leaves threads idle.
  static constexpr double irregular_share = 0.1;
  // Up to this length one thread per row is best, as its reads share cache lines with its neighbours': 5-point 4096 x
  // 4096, fp32, 0.209 ms, row_blocks 0.240, merge_path 0.265; not for rows of 15 (0.303, row_blocks 0.258).
  static constexpr std::int64_t thread_row = 8;
  // Rows of more entries than two warps fill a warp each; shorter ones share staged blocks.
  static constexpr double widest_staged_mean = 64.0;
  // In a staged block a row gets as many lanes as the mean row needs. reorientation_1 (677 rows of 11 entries, one of
  // 632), fp32: row_blocks 23.2 us, merge_path 6.8.
  static constexpr double longest_staged = 32.0;
  // Matrices of fewer entries stay in L2, and the number of dependent loads dominates: ego-Twitter (2.7 million) 10.6
  // us by row_per_warp, 12.3 by merge_path; this and the following: sparse_tuning.txt.
  static constexpr std::int64_t cached_entries = std::int64_t{3} << 20;
  // The same for similar rows with columns near those of the next row; the second number is for 8-byte values.
  // row_per_warp, row_blocks, us: 27-point 50^3 (3.2 million) 6.9, 7.4; 64^3 (6.9 million) 20.4, 18.3.
  static constexpr std::int64_t cached_local_entries = std::int64_t{1} << 22;
  static constexpr std::int64_t cached_local_wide = std::int64_t{1} << 24;
  static constexpr std::int64_t wide_value = 8;
  // The same for scattered columns; row_per_warp and merge_path: rows of 16, 6.4 million entries 49.0, 49.8.
  static constexpr std::int64_t cached_scattered_entries = std::int64_t{7} << 20;
};

}  // namespace

choice choose_csr_on_device(const row_profile& p, const gathered_vector& x) {
  const bool irregular = static_cast<double>(p.long_entries) > tuning::irregular_share * static_cast<double>(p.nnz) ||
                         p.longest > 64 * long_row_limit(p.rows, p.nnz);
  const std::int64_t local =
      x.value_bytes >= tuning::wide_value ? tuning::cached_local_wide : tuning::cached_local_entries;
  const std::int64_t cached = irregular      ? tuning::cached_entries
                              : p.is_local() ? local
                                             : tuning::cached_scattered_entries;
  if (p.longest > tuning::thread_row && p.nnz < cached) {
    return {spmv_algorithm::row_per_warp,
            fmt::format("few entries: groups of threads for rows of {:.1f} on average, blocks for the longest ({})",
                        p.mean(), p.longest)};
  }
  if (irregular) {
    return {spmv_algorithm::merge_path, fmt::format("irregular rows: mean {:.1f} entries, longest {}, {} empty",
                                                    p.mean(), p.longest, p.empty_rows)};
  }
  if (p.longest <= tuning::thread_row) {
    return {spmv_algorithm::row_per_thread, fmt::format("no row has more than {} entries", p.longest)};
  }
  if (p.mean() > tuning::widest_staged_mean) {
    return {spmv_algorithm::row_per_warp, fmt::format("regular long rows: mean {:.1f} entries", p.mean())};
  }
  // Uniform columns, 8.4M x 16, ms: merge_path 1.10 in fp32, 2.09 in fp64, column_passes 1.126 and 1.50;
  // row_blocks 1.39 and 2.36 or more. 27-point 160^3: row_blocks 0.231 and 0.336, merge_path 0.316 and 0.384.
  const auto shape = fmt::format("rows of {:.1f} entries, longest {}, ", p.mean(), p.longest);
  if (p.is_local() && static_cast<double>(p.longest) <= tuning::longest_staged * p.mean()) {
    return {spmv_algorithm::row_blocks, shape + "with columns near those of the next row"};
  }
  if (passes_pay(p, x)) {
    return {spmv_algorithm::column_passes,
            fmt::format("{}with scattered columns: x of {} MB exceeds L2: {} column blocks", shape,
                        x.bytes() / 1'000'000, column_passes(x))};
  }
  return {spmv_algorithm::merge_path,
          shape + (p.is_local() ? "one of which would outlast the other blocks" : "with scattered columns")};
}

}  // namespace spargo::detail::spmv
