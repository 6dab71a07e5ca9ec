// Charts as inline SVG for HTML pages: bars, points, a line, a density map. Every mark has a tooltip (<title>). Colours
// and fonts come from the page's style sheet (page.cpp), so that charts follow its light and dark themes. Texts are
// plain; the charts escape them. Empty data gives an empty string.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spargo::apps {

struct axis_labels {
  std::string x;
  std::string y;
};

// Vertical bars. Values are 0 or more; where the largest exceeds 100 times the smallest positive one, the scale is
// logarithmic.
[[nodiscard]] std::string bar_chart(const std::vector<std::pair<std::string, double>>& bars, const axis_labels& labels);

struct chart_point {
  double x = 0, y = 0;
};
enum class mark { dots, line };

// Points, connected or not. An axis is logarithmic where its values are positive and span a factor of over 100. Points
// that share a pixel with an earlier one are skipped, so that any number of points takes bounded space.
[[nodiscard]] std::string point_chart(const std::vector<chart_point>& points, const axis_labels& labels, mark how);

// Counts per cell, row-major from the top left, in five shades by their logarithm. `side`: rows and columns per cell.
struct density_cells {
  std::int64_t rows = 0, cols = 0, side = 1;  // of the matrix
  int cell_rows = 0, cell_cols = 0;
  std::vector<std::int64_t> counts;
};
[[nodiscard]] std::string density_chart(const density_cells& map);

// A horizontal bar of `share` of the room, 0 to 1, with a tooltip.
[[nodiscard]] std::string share_bar(double share, const std::string& tooltip);

}  // namespace spargo::apps
