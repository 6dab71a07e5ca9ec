// A graph at given positions as a picture: edges blended, vertices sized by degree, colours with a legend.
#pragma once

#include "cli/picture.hpp"

#include <spargo/core/span.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace spargo::apps {

// Colours of vertices and what they mean.
struct vertex_colours {
  std::vector<colour> palette;
  std::vector<std::uint8_t> of_vertex;  // an index into the palette
  std::string meaning;                  // "community"
  // Rows of the legend, first to last: an index into the palette, and text. Empty: no legend.
  std::vector<std::pair<std::size_t, std::string>> legend;
};

// label_of[v]: the group of a vertex, named by one of its vertices; name(label) for the legend. The largest groups have
// colours of their own, all others are grey.
[[nodiscard]] vertex_colours colours_of_groups(const std::vector<std::int64_t>& label_of, std::string meaning,
                                               const std::vector<std::string>& names);
// Groups by size, the largest first, as many as have colours.
[[nodiscard]] std::vector<std::int64_t> largest_groups(const std::vector<std::int64_t>& label_of);
// A scale from pale to dark.
[[nodiscard]] vertex_colours colours_of_numbers(const std::vector<std::int64_t>& numbers, std::string meaning);

struct graph_picture {
  // Of more edges an even sample is drawn.
  static constexpr std::int64_t most_edges = 1'000'000;

  std::vector<double> positions;  // x and y of each vertex
  std::vector<std::pair<std::int64_t, std::int64_t>> edges;
  std::vector<std::int64_t> degrees;
  vertex_colours colours;
  std::string title;
  std::string subtitle;
};

// Positions for a picture: components that drifted apart are moved together, as they are, the largest first and the
// others in rows below it. component_of[v]: any number.
[[nodiscard]] std::vector<double> packed_positions(const span<const double, host>& positions,
                                                   const std::vector<std::int64_t>& component_of);

// The longer side has 1,280 pixels; a legend stands beside it. Up to 20,000 edges and vertices are shapes in SVG and
// PDF; more are an image, in which the density of edges is the strength of their colour.
[[nodiscard]] canvas draw_graph(const graph_picture& picture);

}  // namespace spargo::apps
