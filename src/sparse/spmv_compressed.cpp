// When a matrix is not worth compressing, in words.
#include "sparse/spmv_compressed.hpp"

#include <fmt/format.h>

namespace spargo::detail {

namespace {

struct tuning {
  // Slots an entry. A lane without an entry waits for its neighbours, and its slot is read with theirs: at 1.25, 6
  // bytes an entry (32-bit values, 16-bit columns) are 7.5, hardly less than CSR's 8.
  static constexpr double most_padding = 1.25;
  // Slots that nobody misses when the algorithm is asked for by name.
  static constexpr std::int64_t free_slots = 1 << 20;
  // Of CSR's bytes. At 32-bit columns nothing is saved but the row offsets, and the copy costs memory.
  static constexpr double largest_share = 0.9;
  // A lane takes a row alone, so it takes this many to fill the device (132 multiprocessors of 2048 threads); below,
  // several lanes a row are sooner done. In a graph on an H200, microseconds, compressed and row_blocks: 27-point 24^3
  // 5.3 and 2.8 (fp64 5.6, 2.7), 5-point 100 x 100 2.1 and 1.5 (row_per_thread).
  static constexpr std::int64_t enough_rows = 132 * 2048;
};

constexpr std::int64_t most_columns = std::int64_t{1} << 32;  // offsets are 32 bits at most
constexpr std::int64_t longest_row = UINT16_MAX;

}  // namespace

std::string why_not_compressed(const slice_statistics& s, copy_demand demand) {
  if (s.cols > most_columns) return fmt::format("{} columns, at most {} can be compressed", s.cols, most_columns);
  if (s.longest_row > longest_row) {
    return fmt::format("a row of {} entries, at most {} can be compressed", s.longest_row, longest_row);
  }
  const bool by_name = demand == copy_demand::by_name;
  const auto slots = static_cast<double>(s.slots - (by_name ? tuning::free_slots : 0));
  if (slots > tuning::most_padding * static_cast<double>(s.nnz)) {
    return fmt::format("slices of 32 rows would hold {:.2f} slots an entry, at most {} pay",
                       static_cast<double>(s.slots) / static_cast<double>(s.nnz), tuning::most_padding);
  }
  if (!by_name && s.rows < tuning::enough_rows) {
    return fmt::format("{} rows are too few to fill the device with a lane each", s.rows);
  }
  return {};
}

std::string why_not_compressed(std::int64_t csr_bytes, std::int64_t compressed_bytes) {
  const double share = static_cast<double>(compressed_bytes) / static_cast<double>(csr_bytes);
  if (share <= tuning::largest_share) return {};
  return fmt::format("compressed it takes {:.2f} of CSR's bytes, at most {} pay", share, tuning::largest_share);
}

std::string in_words(const compressed_storage& how) {
  if (how.pairs > 0) return fmt::format("a byte an entry: {} pairs of (column - row) and value", how.pairs);
  const std::string values =
      how.values > 0 ? fmt::format("values a byte each: {} distinct", how.values) : std::string("values as they are");
  if (how.differences > 0)
    return fmt::format("columns a byte each: {} distances from the row; {}", how.differences, values);
  return fmt::format("columns as offsets of {:.2f} bytes on average; {}", how.column_bytes, values);
}

}  // namespace spargo::detail
