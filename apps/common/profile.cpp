#include "common/profile.hpp"

#include <spargo/formats/convert.hpp>

#include <functional>
#include <limits>

namespace spargo::apps {

namespace {

// Stored entries of SELL-C-sigma with the library's defaults: each slice as wide as its longest row.
std::int64_t sell_entries(std::vector<std::int64_t> lengths, std::int64_t height, std::int64_t window) {
  const auto size = static_cast<std::int64_t>(lengths.size());
  std::int64_t stored = 0;
  for (std::int64_t first = 0; first < size; first += window) {
    const std::int64_t last = std::min(size, first + window);
    std::sort(lengths.begin() + first, lengths.begin() + last, std::greater<>());
    for (std::int64_t slice = first; slice < last; slice += height) {
      stored += lengths[static_cast<std::size_t>(slice)] * height;
    }
  }
  return stored;
}

double ratio(double stored, std::int64_t nnz) { return nnz > 0 ? stored / static_cast<double>(nnz) : 1.0; }

}  // namespace

format_memory estimate_memory(const row_profile& rows, std::int64_t nnz, std::int64_t value_bytes,
                              std::int64_t index_bytes, std::int64_t offset_bytes) {
  const auto count = static_cast<std::int64_t>(rows.lengths.size());
  const sell_options defaults;
  const std::int64_t height = defaults.slice_height;
  const std::int64_t window = div_up<std::int64_t>(defaults.sorting_window, height) * height;
  const std::int64_t slices = div_up(count, height);
  const std::int64_t in_sell = sell_entries(rows.lengths, height, window);
  const std::int64_t entry = value_bytes + index_bytes;

  format_memory memory;
  memory.coo = nnz * (entry + index_bytes);
  memory.csr = nnz * entry + (count + 1) * offset_bytes;
  // In double first: rows * width of one dense row among billions does not fit 63 bits.
  const double in_ell = static_cast<double>(count) * static_cast<double>(rows.max);
  const double ell_bytes = in_ell * static_cast<double>(entry) + static_cast<double>(count * index_bytes);
  memory.ell = ell_bytes < 9e18 ? static_cast<std::int64_t>(ell_bytes) : std::numeric_limits<std::int64_t>::max();
  memory.sell = in_sell * entry + (slices + 1) * offset_bytes + 2 * slices * height * index_bytes;
  memory.ell_padding = ratio(in_ell, nnz);
  memory.sell_padding = ratio(static_cast<double>(in_sell), nnz);
  return memory;
}

}  // namespace spargo::apps
