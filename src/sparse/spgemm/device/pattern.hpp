// The pattern of C on a device, and the rows of C by the kernels that add up their values. For values of any type.
#pragma once

#include <spargo/sparse/spgemm.hpp>

#include <array>

namespace spargo::detail::spgemm {

// Rows in bins by size; a kernel's tables fit all rows of its bin.
template <class I>
struct row_bins {
  static constexpr int most = 12;
  array<I, device> rows;                       // bin by bin
  std::array<std::int64_t, most + 1> first{};  // of a bin in `rows`

  [[nodiscard]] std::int64_t count(int bin) const { return first[bin + 1] - first[bin]; }
  [[nodiscard]] const I* rows_of(int bin) const { return rows.data() + first[bin]; }
};

template <class I, class O>
struct device_pattern {
  csr_matrix<pattern, I, O, device> result;  // the columns of merged and ranked rows are not written yet
  std::int64_t products = 0;
  bool b_ascends = true;                      // columns of B's rows are ascending and distinct
  bool has_long_rows = false;                 // rows of B that are used are long, and ascend
  row_bins<I> bins;                           // of the numeric phase
  array<std::int64_t, device> segments_upto;  // of the rows in numeric_bins::segments, running sums of their segments
  std::int64_t segments = 0;

  [[nodiscard]] std::int64_t bytes() const;
};

// Bins of the numeric phase. A row of C takes a hash table of 64 << bin places, three quarters of them used at most.
struct numeric_bins {
  static constexpr int hashed = 5;    // bins 0 to 4
  static constexpr int segments = 5;  // longer rows, in segments of this many entries
  static constexpr std::int64_t segment = 192;
  static constexpr int segment_table = 2;  // the bin whose tables segments use
  static constexpr int first_kept = 6;     // those of the symbolic phase that stay
  static constexpr int merged_few = 6;
  static constexpr int merged = 7;
  static constexpr int tiny = 8;
  static constexpr int ranked = 9;
};

template <index_type I, index_type O>
[[nodiscard]] device_pattern<I, O> find_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& a,
                                                const csr_pattern_view<I, O, device>& b,
                                                const csr_pattern_view<I, O, device>* mask,
                                                const spgemm_options& options, std::int64_t value_bytes);

}  // namespace spargo::detail::spgemm
