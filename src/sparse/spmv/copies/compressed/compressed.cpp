#include "sparse/spmv/copies/compressed/compressed.hpp"

#include <fmt/format.h>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Slots per entry. A lane without an entry waits for its neighbours, and its slot is read with theirs: at 1.25, 6
  // bytes per entry (32-bit values, 16-bit columns) become 7.5, hardly less than CSR's 8.
  static constexpr double most_padding = 1.25;
  // Padding up to this many slots is accepted if the algorithm is requested by name.
  static constexpr std::int64_t free_slots = 1 << 20;
  // Share of CSR's bytes. With 32-bit columns only row offsets are saved, and the copy costs memory.
  static constexpr double largest_share = 0.9;
  // Share of CSR's bytes if the device is not filled or CSR fits L2: only a dictionary-encoded copy achieves this.
  static constexpr double largest_small_share = 0.5;
  // One lane processes a row, so this many rows fill the device (132 SMs of 2048 threads), and from this many on lanes
  // are as fast as several lanes per row. L2 holds a CSR matrix of up to this many bytes among other data, and up to
  // this many bytes dependent loads dominate. H200, fp32, microseconds, compressed and CSR: 27-point 40^3 (13 MB) 6.2,
  // 4.4; 50^3 (26 MB) 6.1, 6.9. More measurements: apps/bench/results/sparse_tuning.txt.
  static constexpr std::int64_t enough_rows = 132 * 2048;
  static constexpr std::int64_t least_rows = 100'000;
  static constexpr std::int64_t cached_bytes = 48'000'000;
  static constexpr std::int64_t least_bytes = 24'000'000;
};

constexpr std::int64_t most_columns = std::int64_t{1} << 32;  // offsets have at most 32 bits
constexpr std::int64_t longest_row = UINT16_MAX;

}  // namespace

std::string reason_against_compressing(const slice_statistics& s, copy_demand demand) {
  if (s.cols > most_columns) return fmt::format("{} columns (at most {} can be compressed)", s.cols, most_columns);
  if (s.longest_row > longest_row) {
    return fmt::format("a row of {} entries (at most {} can be compressed)", s.longest_row, longest_row);
  }
  const bool by_name = demand == copy_demand::by_name;
  const auto slots = static_cast<double>(s.slots - (by_name ? tuning::free_slots : 0));
  if (slots > tuning::most_padding * static_cast<double>(s.nnz)) {
    return fmt::format("slices of 32 rows would have {:.2f} slots per entry (at most {} pay off)",
                       static_cast<double>(s.slots) / static_cast<double>(s.nnz), tuning::most_padding);
  }
  if (!by_name && s.rows < tuning::least_rows) {
    return fmt::format("{} rows, one lane each, are too few to fill the device", s.rows);
  }
  return {};
}

std::string reason_against_compressing(const compressed_size& s) {
  if (s.csr_bytes < tuning::least_bytes) {
    return fmt::format("{:.1f} MB of CSR fit the cache", static_cast<double>(s.csr_bytes) * 1e-6);
  }
  const bool small = s.rows < tuning::enough_rows || s.csr_bytes < tuning::cached_bytes;
  const double largest = small ? tuning::largest_small_share : tuning::largest_share;
  const double share = static_cast<double>(s.compressed_bytes) / static_cast<double>(s.csr_bytes);
  if (share <= largest) return {};
  return fmt::format("compressed, it takes {:.2f} of CSR's bytes (at most {} pays off{})", share, largest,
                     small ? " for a matrix this small" : "");
}

std::string description_of(const compressed_storage& how) {
  if (how.pairs > 0) return fmt::format("one byte per entry: {} pairs of (column - row) and value", how.pairs);
  const std::string values = how.values > 0 ? fmt::format("values of one byte each: {} distinct", how.values)
                                            : std::string("values unchanged");
  if (how.differences > 0)
    return fmt::format("columns of one byte each: {} distances from the row; {}", how.differences, values);
  return fmt::format("columns as offsets of {:.2f} bytes on average; {}", how.column_bytes, values);
}

}  // namespace spargo::detail::spmv
