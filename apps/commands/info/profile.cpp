#include "commands/info/profile.hpp"

#include "input/random.hpp"

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

row_profile profile_lengths(std::vector<std::int64_t> lengths) {
  row_profile profile;
  profile.lengths = std::move(lengths);
  if (profile.lengths.empty()) return profile;
  std::vector<std::int64_t> sorted = profile.lengths;
  std::sort(sorted.begin(), sorted.end());
  profile.min = sorted.front();
  profile.max = sorted.back();
  profile.median = sorted[sorted.size() / 2];
  profile.p99 = sorted[std::min(sorted.size() - 1, sorted.size() * 99 / 100)];
  profile.empty = std::count(sorted.begin(), sorted.end(), 0);
  profile.longest_row =
      std::find(profile.lengths.begin(), profile.lengths.end(), profile.max) - profile.lengths.begin();
  const auto count = static_cast<double>(sorted.size());
  profile.mean = static_cast<double>(std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0})) / count;
  double squares = 0;
  for (const std::int64_t length : sorted) {
    const double off = static_cast<double>(length) - profile.mean;
    squares += off * off;
  }
  profile.deviation = std::sqrt(squares / count);
  return profile;
}

std::vector<std::int64_t> draw_rows(const std::vector<std::int64_t>& lengths, std::int64_t wanted) {
  constexpr std::uint64_t seed = 1;
  std::vector<std::int64_t> rows;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    if (lengths[row] > 0) rows.push_back(static_cast<std::int64_t>(row));
  }
  // The first places of a Fisher-Yates shuffle.
  const std::size_t count = std::min(rows.size(), static_cast<std::size_t>(wanted));
  for (std::size_t i = 0; i < count; ++i) std::swap(rows[i], rows[i + random_bits(seed, i) % (rows.size() - i)]);
  rows.resize(count);
  return rows;
}

distance_profile summarise_distances(const std::vector<multi_bfs_counts>& counts, std::int64_t vertices,
                                     std::int64_t candidates) {
  distance_profile profile;
  profile.sources = std::ssize(counts);
  profile.every = profile.sources == candidates;
  std::vector<std::int32_t> eccentricities;
  double distances = 0, others = 0;
  profile.least_closeness = std::numeric_limits<double>::infinity();
  for (const multi_bfs_counts& c : counts) {
    eccentricities.push_back(c.eccentricity);
    const auto sum = static_cast<double>(c.distance_sum);
    const auto met = static_cast<double>(c.reached - 1);
    distances += sum;
    others += met;
    const double closeness = sum > 0 ? met / static_cast<double>(vertices - 1) * (met / sum) : 0;
    profile.least_closeness = std::min(profile.least_closeness, closeness);
    profile.most_closeness = std::max(profile.most_closeness, closeness);
    profile.mean_closeness += closeness / static_cast<double>(profile.sources);
  }
  std::sort(eccentricities.begin(), eccentricities.end());
  profile.least_eccentricity = eccentricities.front();
  profile.median_eccentricity = eccentricities[eccentricities.size() / 2];
  profile.most_eccentricity = eccentricities.back();
  profile.mean_distance = others > 0 ? distances / others : 0;
  profile.mean_reached = 1 + others / static_cast<double>(profile.sources);
  return profile;
}

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
