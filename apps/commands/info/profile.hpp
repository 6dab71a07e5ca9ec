// What `info` finds out about a matrix or graph: one pass over canonical CSR, plain and sequential.
#pragma once

#include <spargo/formats/csr.hpp>
#include <spargo/graph/multi_bfs.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace spargo::apps {

struct row_profile {
  std::int64_t min = 0, max = 0, median = 0, p99 = 0, empty = 0;
  std::int64_t longest_row = -1;  // from 0; the first of that length
  double mean = 0, deviation = 0;
  std::vector<std::int64_t> lengths;
};

// Also of degrees.
[[nodiscard]] row_profile profile_lengths(std::vector<std::int64_t> lengths);

template <index_type I, index_type O>
[[nodiscard]] row_profile profile_rows(const csr_pattern_view<I, O, host>& matrix) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(matrix.rows));
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    lengths[row] = std::int64_t{matrix.offsets[at + 1]} - matrix.offsets[at];
  }
  return profile_lengths(std::move(lengths));
}

// The degrees of a graph whose entries (row, column) are its edges. Self-loops do not count.
struct degree_profile {
  bool directed = true;
  std::int64_t edges = 0;  // distinct; of an undirected graph each pair once
  std::int64_t loops = 0;
  std::int64_t isolated = 0;          // vertices without an edge
  std::vector<std::int64_t> out, in;  // by vertex; of an undirected graph the degrees, and none

  // Of both directions together.
  [[nodiscard]] std::int64_t total(std::size_t v) const { return out[v] + (directed ? in[v] : 0); }
};

// `mirrored` is the transposed pattern. O(vertices + edges).
template <index_type I, index_type O>
[[nodiscard]] degree_profile profile_degrees(const csr_pattern_view<I, O, host>& matrix,
                                             const csr_pattern_view<I, O, host>& mirrored, bool directed) {
  degree_profile profile;
  profile.directed = directed;
  const auto row_of = [](const csr_pattern_view<I, O, host>& rows, std::int64_t v) {
    return std::span<const I>(rows.indices.data() + rows.offsets[v], rows.indices.data() + rows.offsets[v + 1]);
  };
  for (std::int64_t v = 0; v < std::int64_t{matrix.rows}; ++v) {
    const auto out = row_of(matrix, v), in = row_of(mirrored, v);
    const std::int64_t loop = std::binary_search(out.begin(), out.end(), static_cast<I>(v)) ? 1 : 0;
    std::int64_t common = 0;  // neighbours both ways, the vertex itself included
    for (auto a = out.begin(), b = in.begin(); !directed && a != out.end() && b != in.end();) {
      common += *a == *b ? 1 : 0;
      const bool next_a = *a <= *b, next_b = *b <= *a;
      a += next_a ? 1 : 0;
      b += next_b ? 1 : 0;
    }
    profile.loops += loop;
    profile.out.push_back(std::ssize(out) - loop + (directed ? 0 : std::ssize(in) - common));
    if (directed) profile.in.push_back(std::ssize(in) - loop);
    profile.edges += profile.out.back();
    profile.isolated += profile.total(static_cast<std::size_t>(v)) == 0 ? 1 : 0;
  }
  if (!directed) profile.edges /= 2;
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
