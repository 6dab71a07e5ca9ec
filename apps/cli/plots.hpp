// Pictures: a sparsity pattern as a density map, a degree distribution on log-log axes (`info`), and the residual of a
// solver by iteration (`solve`).
#pragma once

#include "cli/picture.hpp"

#include <spargo/formats/csr.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace spargo::apps {

// Entries per cell of a grid over a matrix; row-major from the top left.
struct density_map {
  std::int64_t matrix_rows = 0;
  std::int64_t matrix_cols = 0;
  std::int64_t side = 1;  // rows and columns of the matrix per cell
  int rows = 0;
  int cols = 0;
  std::vector<std::int64_t> counts;
};

// One cell per entry position if the longer side is at most `cells`; otherwise cells are equal squares of several rows
// and columns (unequal ones would cause moire), except at the right and bottom edges.
[[nodiscard]] density_map make_density_map(std::int64_t rows, std::int64_t cols, int cells = 800);

template <index_type I, index_type O>
[[nodiscard]] density_map count_density(const csr_pattern_view<I, O, host>& matrix, int cells = 800) {
  density_map map = make_density_map(matrix.rows, matrix.cols, cells);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t base = row / map.side * map.cols;
    for (O k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      ++map.counts[static_cast<std::size_t>(base + matrix.indices[k] / map.side)];
    }
  }
  return map;
}

[[nodiscard]] canvas draw_spy(const density_map& map, const std::string& title, const std::string& subtitle);

// counts[d]: number of vertices (rows) with degree d; degrees[k] ascending.
struct degree_counts {
  std::vector<std::int64_t> degrees;
  std::vector<std::int64_t> counts;
};

[[nodiscard]] degree_counts count_degrees(std::vector<std::int64_t> degree_of_each);

[[nodiscard]] canvas draw_degrees(const degree_counts& distribution, const std::string& title,
                                  const std::string& subtitle, const std::string& of_what);

// history[k]: the relative residual after iteration k, on a logarithmic axis; `wanted` is drawn as a line.
[[nodiscard]] canvas draw_convergence(const std::vector<double>& history, double wanted, const std::string& title,
                                      const std::string& subtitle);

// Round numbers (1, 2 or 5 times a power of ten) that split [first, last] into about `wanted` parts.
[[nodiscard]] std::vector<std::int64_t> round_ticks(std::int64_t first, std::int64_t last, int wanted);

}  // namespace spargo::apps
