// What `info` finds out about a matrix or graph: one pass over canonical CSR, plain and sequential.
#pragma once

#include <spargo/formats/csr.hpp>
#include <spargo/graph/multi_bfs.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace spargo::apps {

struct row_profile {
  std::int64_t min = 0, max = 0, median = 0, p99 = 0, empty = 0;
  std::int64_t longest_row = -1;  // from 0; the first of that length
  double mean = 0, deviation = 0;
  std::vector<std::int64_t> lengths;
};

template <index_type I, index_type O>
[[nodiscard]] row_profile profile_rows(const csr_pattern_view<I, O, host>& matrix) {
  row_profile profile;
  const std::int64_t rows = matrix.rows;
  profile.lengths.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = std::int64_t{matrix.offsets[row + 1]} - matrix.offsets[row];
    profile.lengths.push_back(length);
    if (length > profile.max || profile.longest_row < 0) profile.longest_row = row;
    profile.max = std::max(profile.max, length);
    if (length == 0) ++profile.empty;
  }
  if (rows == 0) return profile;
  std::vector<std::int64_t> sorted = profile.lengths;
  std::sort(sorted.begin(), sorted.end());
  profile.min = sorted.front();
  profile.median = sorted[sorted.size() / 2];
  profile.p99 = sorted[std::min(sorted.size() - 1, sorted.size() * 99 / 100)];
  profile.mean = static_cast<double>(matrix.nnz()) / static_cast<double>(rows);
  double squares = 0;
  for (const std::int64_t length : sorted) {
    const double off = static_cast<double>(length) - profile.mean;
    squares += off * off;
  }
  profile.deviation = std::sqrt(squares / static_cast<double>(rows));
  return profile;
}

// How far entries lie from the diagonal.
struct band_profile {
  std::int64_t lower = 0, upper = 0;  // the largest i - j and j - i
  std::int64_t diagonal = 0;          // entries on it
};

template <index_type I, index_type O>
[[nodiscard]] band_profile profile_band(const csr_pattern_view<I, O, host>& matrix) {
  band_profile band;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (O k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const std::int64_t col = matrix.indices[k];
      band.lower = std::max(band.lower, row - col);
      band.upper = std::max(band.upper, col - row);
      if (row == col) ++band.diagonal;
    }
  }
  return band;
}

struct component_profile {
  std::int64_t count = 0;
  std::int64_t largest = 0;  // vertices
};

// Weak components of a square pattern: union-find with path halving, roots the smallest index (Tarjan, van Leeuwen,
// JACM 31(2), 1984).
template <index_type I, index_type O>
[[nodiscard]] component_profile count_components(const csr_pattern_view<I, O, host>& matrix) {
  const auto n = static_cast<std::size_t>(matrix.rows);
  std::vector<I> parent(n);
  std::iota(parent.begin(), parent.end(), I{0});
  const auto root = [&](I v) {
    while (parent[static_cast<std::size_t>(v)] != v) {
      I& up = parent[static_cast<std::size_t>(v)];
      up = parent[static_cast<std::size_t>(up)];
      v = up;
    }
    return v;
  };
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (O k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const I a = root(static_cast<I>(row)), b = root(matrix.indices[k]);
      if (a != b) parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  }
  std::vector<std::int64_t> sizes(n);
  for (std::size_t v = 0; v < n; ++v) ++sizes[static_cast<std::size_t>(root(static_cast<I>(v)))];
  component_profile profile;
  for (const std::int64_t size : sizes) {
    if (size > 0) ++profile.count;
    profile.largest = std::max(profile.largest, size);
  }
  return profile;
}

// Distances from some vertices: an estimate of what all would say, unless `every`.
struct distance_profile {
  std::int64_t sources = 0;
  bool every = false;  // each vertex with an edge was a source: nothing is estimated
  // Their eccentricities: within its component, no vertex is nearer to all others than the least, and the largest is a
  // lower bound of the diameter.
  std::int32_t least_eccentricity = 0, median_eccentricity = 0, most_eccentricity = 0;
  double mean_distance = 0;  // from a source to the others that it reaches
  double mean_reached = 0;   // vertices, the source included
  // ((r - 1) / (n - 1)) * ((r - 1) / sum of distances) for r vertices reached of n: Wasserman, Faust, Social Network
  // Analysis, 1994.
  double least_closeness = 0, mean_closeness = 0, most_closeness = 0;
};

// Up to `wanted` different rows that have entries, drawn with a fixed seed; empty when there are none.
[[nodiscard]] std::vector<std::int64_t> draw_rows(const std::vector<std::int64_t>& lengths, std::int64_t wanted);

// `counts` of at least one source; `candidates`: vertices that could have been one.
[[nodiscard]] distance_profile summarise_distances(const std::vector<multi_bfs_counts>& counts, std::int64_t vertices,
                                                   std::int64_t candidates);

// Along the entries of a square pattern, row to column, from up to `wanted` vertices that have some. `mirrored` is the
// transposed pattern. O(entries) work and 24 to 96 bytes per vertex for each 64 to 256 sources, more on long graphs.
template <index_type I, index_type O>
[[nodiscard]] distance_profile sample_distances(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix,
                                                const csr_pattern_view<I, O, host>& mirrored,
                                                const std::vector<std::int64_t>& lengths, std::int64_t wanted) {
  const std::vector<std::int64_t> rows = draw_rows(lengths, wanted);
  if (rows.empty()) return {};
  const std::vector<I> sources(rows.begin(), rows.end());
  const graph_view<I, O, host> graph{matrix, mirrored, direction_kind::directed};
  multi_bfs_plan<I, O, host> plan(ctx, graph, static_cast<std::int64_t>(sources.size()),
                                  {.output = multi_bfs_output::counts});
  plan.run(sources);
  const auto candidates = lengths.size() - static_cast<std::size_t>(std::count(lengths.begin(), lengths.end(), 0));
  return summarise_distances(plan.counts(), matrix.rows, static_cast<std::int64_t>(candidates));
}

// Memory of each format for these row lengths, in bytes; what conversion would refuse for its padding is marked.
struct format_memory {
  std::int64_t coo = 0, csr = 0, ell = 0, sell = 0;
  double ell_padding = 1, sell_padding = 1;  // stored entries, padding included, per entry
};

[[nodiscard]] format_memory estimate_memory(const row_profile& rows, std::int64_t nnz, std::int64_t value_bytes,
                                            std::int64_t index_bytes, std::int64_t offset_bytes);

}  // namespace spargo::apps
