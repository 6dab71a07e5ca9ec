#include "commands/layout/graph_picture.hpp"

#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace spargo::apps {

namespace {

constexpr double side = 1280;
constexpr double margin = 40;
constexpr double header = 84;
constexpr double legend_width = 320;
constexpr std::size_t most_shapes = 20'000;

// Distinct on white, also for most colour-blind people; the last is for all other groups.
constexpr colour group_palette[] = {{31, 119, 180}, {230, 120, 20}, {44, 150, 60},   {200, 40, 50},
                                    {130, 90, 180}, {140, 86, 75},  {215, 100, 175}, {90, 160, 200},
                                    {170, 165, 30}, {20, 150, 150}, {150, 155, 165}};
constexpr std::size_t most_groups = std::size(group_palette) - 1;

struct place {
  double x, y;
};

struct extent {
  double low[2] = {HUGE_VAL, HUGE_VAL};
  double high[2] = {-HUGE_VAL, -HUGE_VAL};

  void add(double x, double y) {
    low[0] = std::min(low[0], x);
    low[1] = std::min(low[1], y);
    high[0] = std::max(high[0], x);
    high[1] = std::max(high[1], y);
  }
  [[nodiscard]] double width() const { return high[0] - low[0]; }
  [[nodiscard]] double height() const { return high[1] - low[1]; }
};

// Positions in a rectangle below the header, whose longer side is `side`.
struct fitted {
  std::vector<place> places;
  int width, height;
};
fitted fit(const std::vector<double>& positions) {
  constexpr int whole = static_cast<int>(side);
  const std::size_t n = positions.size() / 2;
  std::vector<place> places(n);
  if (n == 0) return {places, whole, whole / 2};
  extent all;
  for (std::size_t v = 0; v < n; ++v) all.add(positions[2 * v], positions[2 * v + 1]);
  const double longest = std::max(all.width(), all.height());
  const double scale = longest > 0 ? (side - 2 * margin) / longest : 0;
  const auto pixels = [&](double length) {
    return std::clamp(static_cast<int>(scale * length + 2 * margin), whole / 2, whole);
  };
  const int width = pixels(all.width());
  const int height = pixels(all.height());
  for (std::size_t v = 0; v < n; ++v) {
    places[v] = {width / 2.0 + scale * (positions[2 * v] - all.low[0] - all.width() / 2),
                 header + height / 2.0 - scale * (positions[2 * v + 1] - all.low[1] - all.height() / 2)};
  }
  return {std::move(places), width, height};
}

// Area in proportion to the degree, within limits; smaller where there are more vertices or edges are short.
class radius_scale {
 public:
  radius_scale(const graph_picture& picture, const std::vector<place>& places) {
    const auto n = static_cast<double>(std::max<std::size_t>(places.size(), 1));
    const auto& degrees = picture.degrees;
    mean_ = std::max(static_cast<double>(std::accumulate(degrees.begin(), degrees.end(), std::int64_t{0})) / n, 1.0);
    typical_ = 0.16 * side / std::sqrt(n);
    if (!picture.edges.empty()) {
      std::vector<double> lengths;
      lengths.reserve(picture.edges.size());
      for (const auto& [u, v] : picture.edges) {
        const place a = places[static_cast<std::size_t>(u)];
        const place b = places[static_cast<std::size_t>(v)];
        lengths.push_back(std::hypot(a.x - b.x, a.y - b.y));
      }
      const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
      std::nth_element(lengths.begin(), middle, lengths.end());
      typical_ = std::min(typical_, 0.2 * *middle);
    }
    typical_ = std::clamp(typical_, 0.8, 9.0);
    if (n < 5'000) least_ = 1.5;  // seen where it is alone
  }
  [[nodiscard]] double operator()(std::int64_t degree) const {
    const double factor = std::sqrt((static_cast<double>(degree) + 0.5) / mean_);
    return std::max(least_, typical_ * std::clamp(factor, 0.6, typical_ > 3 ? 2.6 : 4.0));
  }

 private:
  double typical_, mean_, least_ = 0;
};

colour mixed(colour a, colour b, double t) {
  const auto part = [t](std::uint8_t x, std::uint8_t y) { return static_cast<std::uint8_t>(x + t * (y - x) + 0.5); };
  return {part(a.red, b.red), part(a.green, b.green), part(a.blue, b.blue)};
}

class painter {
 public:
  explicit painter(const graph_picture& picture)
      : picture_(picture),
        fitted_(fit(picture.positions)),
        places_(fitted_.places),
        radius_(picture, places_),
        on_(fitted_.width + (picture.colours.legend.empty() ? 0 : legend_width), fitted_.height + header) {}

  [[nodiscard]] canvas draw() && {
    if (picture_.edges.size() > most_shapes || places_.size() > most_shapes) {
      draw_image();
    } else {
      draw_shapes();
    }
    on_.text(margin, 40, on_.shorten(picture_.title, on_.width() - 2 * margin, big), big);
    on_.text(margin, 66, on_.shorten(picture_.subtitle, on_.width() - 2 * margin, small), small);
    draw_legend();
    return std::move(on_);
  }

 private:
  static constexpr text_style big{palette::ink, anchor::left, 24, font_weight::bold};
  static constexpr text_style small{palette::muted, anchor::left, 16};

  [[nodiscard]] colour colour_of(std::int64_t v) const {
    return picture_.colours.palette[picture_.colours.of_vertex[static_cast<std::size_t>(v)]];
  }
  [[nodiscard]] place at(std::int64_t v) const { return places_[static_cast<std::size_t>(v)]; }
  // Of both ends; grey between two colours.
  [[nodiscard]] colour edge_colour(std::int64_t u, std::int64_t v) const {
    const auto& of = picture_.colours.of_vertex;
    if (of[static_cast<std::size_t>(u)] == of[static_cast<std::size_t>(v)]) return colour_of(u);
    return mixed(mixed(colour_of(u), colour_of(v), 0.5), colour{140, 145, 155}, 0.6);
  }
  // Hubs last, so that they are seen.
  [[nodiscard]] std::vector<std::int64_t> by_degree() const {
    std::vector<std::int64_t> order(places_.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return degree(a) < degree(b); });
    return order;
  }
  [[nodiscard]] std::int64_t degree(std::int64_t v) const { return picture_.degrees[static_cast<std::size_t>(v)]; }

  void draw_shapes() {
    const auto edges = static_cast<double>(std::max<std::size_t>(picture_.edges.size(), 1));
    const double opacity = std::clamp(25 / std::sqrt(edges), 0.2, 0.6);
    const double thickness = std::clamp(45 / std::sqrt(edges), 0.8, 1.8);
    for (const auto& [u, v] : picture_.edges) {
      on_.faint_line(at(u).x, at(u).y, at(v).x, at(v).y, thickness, edge_colour(u, v), opacity);
    }
    for (const std::int64_t v : by_degree()) {
      const double r = radius_(degree(v));
      if (r > 2) on_.disc(at(v).x, at(v).y, r + std::min(1.2, 0.25 * r), palette::white);
      on_.disc(at(v).x, at(v).y, r, colour_of(v));
    }
  }

  // Sums of colours and of coverage for each pixel of the square.
  struct pixel {
    float red = 0, green = 0, blue = 0, cover = 0;

    void add(colour c, double weight) {
      const auto w = static_cast<float>(weight);
      red += w * static_cast<float>(c.red);
      green += w * static_cast<float>(c.green);
      blue += w * static_cast<float>(c.blue);
      cover += w;
    }
  };

  void draw_image() {
    std::vector<pixel> lines(static_cast<std::size_t>(fitted_.width) * static_cast<std::size_t>(fitted_.height));
    for (const auto& [u, v] : picture_.edges) add_line(lines, at(u), at(v), edge_colour(u, v));
    // The strength of colour by density: half of it at the mean density of pixels with edges, on a logarithmic scale.
    double sum = 0;
    double covered = 0;
    for (const pixel& p : lines) {
      if (p.cover < 0.02F) continue;
      sum += std::log1p(p.cover);
      covered += 1;
    }
    const double half = covered > 0 ? std::max(sum / covered, 0.05) : 1;
    std::vector<colour> image(lines.size());
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const pixel& p = lines[k];
      if (p.cover <= 0) {
        image[k] = palette::white;
        continue;
      }
      const auto part = [&](float x) { return static_cast<std::uint8_t>(x / p.cover + 0.5F); };
      const double strength = 1 - std::exp2(-0.8 * std::log1p(p.cover) / half);
      image[k] = mixed(palette::white, {part(p.red), part(p.green), part(p.blue)}, std::min(strength, 0.92));
    }
    for (const std::int64_t v : by_degree()) add_disc(image, at(v), radius_(degree(v)), colour_of(v));
    on_.cells(0, static_cast<int>(header), fitted_.width, fitted_.height, fitted_.width, image);
  }

  // A line one pixel wide: shares between the two nearest pixels of each column, or row if it is steep.
  void add_line(std::vector<pixel>& to, place a, place b, colour c) const {
    a.y -= header;
    b.y -= header;
    const bool steep = std::abs(b.y - a.y) > std::abs(b.x - a.x);
    if (steep) {
      std::swap(a.x, a.y);
      std::swap(b.x, b.y);
    }
    if (a.x > b.x) std::swap(a, b);
    const double slope = b.x > a.x ? (b.y - a.y) / (b.x - a.x) : 0;
    const auto first = static_cast<std::int64_t>(std::floor(a.x));
    const auto last = static_cast<std::int64_t>(std::floor(b.x));
    const auto add = [&](std::int64_t x, std::int64_t y, double share) {
      const std::int64_t column = steep ? y : x;
      const std::int64_t line = steep ? x : y;
      if (column < 0 || line < 0 || column >= fitted_.width || line >= fitted_.height || share <= 0) return;
      to[static_cast<std::size_t>(line * fitted_.width + column)].add(c, share);
    };
    for (std::int64_t x = first; x <= last; ++x) {
      const double cover = std::min(b.x, static_cast<double>(x + 1)) - std::max(a.x, static_cast<double>(x));
      const double y = a.y + slope * (static_cast<double>(x) + 0.5 - a.x) - 0.5;
      const auto row = static_cast<std::int64_t>(std::floor(y));
      const double share = y - static_cast<double>(row);
      add(x, row, cover * (1 - share));
      add(x, row + 1, cover * share);
    }
  }

  void add_disc(std::vector<colour>& to, place centre, double radius, colour c) const {
    centre.y -= header;
    const auto begin = [&](double middle) { return std::max<std::int64_t>(0, std::llround(middle - radius - 1)); };
    const auto end = [&](double middle, int most) {
      return std::min<std::int64_t>(most, std::llround(middle + radius + 2));
    };
    for (std::int64_t y = begin(centre.y); y < end(centre.y, fitted_.height); ++y) {
      for (std::int64_t x = begin(centre.x); x < end(centre.x, fitted_.width); ++x) {
        const double away =
            std::hypot(static_cast<double>(x) + 0.5 - centre.x, static_cast<double>(y) + 0.5 - centre.y);
        const double cover = std::clamp(radius + 0.5 - away, 0.0, 1.0);
        if (cover == 0) continue;
        colour& shown = to[static_cast<std::size_t>(y * fitted_.width + x)];
        shown = mixed(shown, c, 0.9 * cover);
      }
    }
  }

  void draw_legend() {
    const auto& colours = picture_.colours;
    if (colours.legend.empty()) return;
    const double x = fitted_.width;
    double y = header + margin;
    on_.text(x, y, colours.meaning, {palette::ink, anchor::left, 16, font_weight::bold});
    for (const auto& [index, text] : colours.legend) {
      y += 26;
      on_.disc(x + 8, y - 5, 7, colours.palette[index]);
      on_.text(x + 26, y, on_.shorten(text, legend_width - 40, small), small);
    }
  }

  const graph_picture& picture_;
  fitted fitted_;
  const std::vector<place>& places_;
  radius_scale radius_;
  canvas on_;
};

std::unordered_map<std::int64_t, std::int64_t> sizes_of(const std::vector<std::int64_t>& label_of) {
  std::unordered_map<std::int64_t, std::int64_t> sizes;
  for (const std::int64_t label : label_of) ++sizes[label];
  return sizes;
}

}  // namespace

std::vector<std::int64_t> largest_groups(const std::vector<std::int64_t>& label_of) {
  const auto sizes = sizes_of(label_of);
  std::vector<std::pair<std::int64_t, std::int64_t>> ordered;
  for (const auto& [label, size] : sizes) ordered.emplace_back(-size, label);
  const auto kept = static_cast<std::ptrdiff_t>(std::min(ordered.size(), most_groups));
  std::partial_sort(ordered.begin(), ordered.begin() + kept, ordered.end());
  std::vector<std::int64_t> labels;
  for (auto it = ordered.begin(); it != ordered.begin() + kept; ++it) labels.push_back(it->second);
  return labels;
}

vertex_colours colours_of_groups(const std::vector<std::int64_t>& label_of, std::string meaning,
                                 const std::vector<std::string>& names) {
  const auto sizes = sizes_of(label_of);
  const std::vector<std::int64_t> labels = largest_groups(label_of);
  vertex_colours colours{{std::begin(group_palette), std::end(group_palette)}, {}, std::move(meaning), {}};
  std::unordered_map<std::int64_t, std::uint8_t> index;
  std::int64_t others = static_cast<std::int64_t>(label_of.size());
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const std::int64_t size = sizes.at(labels[k]);
    if (size == 1 && k > 0) break;  // a colour for a single vertex tells nothing
    index.emplace(labels[k], static_cast<std::uint8_t>(k));
    colours.legend.emplace_back(k, fmt::format("{}, with {}", counted(size, "vertex", "vertices"), names[k]));
    others -= size;
  }
  if (others > 0) {
    const auto groups = static_cast<std::int64_t>(sizes.size() - index.size());
    colours.legend.emplace_back(most_groups, fmt::format("{} in {}", counted(others, "vertex", "vertices"),
                                                         counted(groups, "other", "others")));
  }
  colours.of_vertex.reserve(label_of.size());
  for (const std::int64_t label : label_of) {
    const auto found = index.find(label);
    colours.of_vertex.push_back(found == index.end() ? static_cast<std::uint8_t>(most_groups) : found->second);
  }
  return colours;
}

vertex_colours colours_of_numbers(const std::vector<std::int64_t>& numbers, std::string meaning) {
  constexpr int shades = 64;
  const std::int64_t most = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
  vertex_colours colours;
  colours.meaning = std::move(meaning);
  for (int k = 0; k < shades; ++k) colours.palette.push_back(density_colour(0.15 + 0.85 * k / (shades - 1)));
  const auto shade = [&](std::int64_t number) {
    return most > 0 ? static_cast<std::size_t>(
                          std::lround(static_cast<double>(number) / static_cast<double>(most) * (shades - 1)))
                    : 0;
  };
  for (const std::int64_t number : numbers) colours.of_vertex.push_back(static_cast<std::uint8_t>(shade(number)));
  std::int64_t last = -1;
  for (int k = 0; k <= 6; ++k) {
    const std::int64_t number = most - most * k / 6;
    if (number != last) colours.legend.emplace_back(shade(number), with_commas(number));
    last = number;
  }
  return colours;
}

std::vector<double> packed_positions(const span<const double, host>& positions,
                                     const std::vector<std::int64_t>& component_of) {
  struct component {
    extent around;
    double x = 0, y = 0;  // where its upper left corner goes
    std::int64_t vertices = 0, first = 0;
  };
  const auto n = static_cast<std::int64_t>(component_of.size());
  std::unordered_map<std::int64_t, std::size_t> index;
  std::vector<component> all;
  for (std::int64_t v = 0; v < n; ++v) {
    const auto [at, fresh] = index.emplace(component_of[static_cast<std::size_t>(v)], all.size());
    if (fresh) all.emplace_back().first = v;
    component& own = all[at->second];
    own.around.add(positions[2 * v], positions[2 * v + 1]);
    ++own.vertices;
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-all[a].vertices, all[a].first) < std::pair(-all[b].vertices, all[b].first);
  });
  std::vector<double> packed(positions.begin(), positions.end());
  if (all.size() < 2) return packed;
  const extent& largest = all[order[0]].around;
  const double side_of_largest = std::max(largest.width(), largest.height());
  double area = 0;
  double widest = 0;
  // About the distance of vertices in the largest component, but at least 1 percent of its size.
  const double spacing = 1 / std::sqrt(static_cast<double>(all[order[0]].vertices));
  const double gap = side_of_largest > 0 ? side_of_largest * std::max(0.01, spacing) : 1;
  for (const component& own : all) {
    area += (own.around.width() + gap) * (own.around.height() + gap);
    widest = std::max(widest, own.around.width());
  }
  // Rows as wide as the largest component, or as a square of all.
  const double width = std::max({widest, largest.width(), std::sqrt(area)}) + gap;
  double x = 0;
  double y = 0;
  double row = 0;
  for (const std::size_t k : order) {
    component& own = all[k];
    if (x > 0 && x + own.around.width() > width) {
      x = 0;
      y -= row;
      row = 0;
    }
    own.x = x;
    own.y = y;
    x += own.around.width() + gap;
    row = std::max(row, own.around.height() + gap);
  }
  for (std::int64_t v = 0; v < n; ++v) {
    const component& own = all[index.at(component_of[static_cast<std::size_t>(v)])];
    packed[static_cast<std::size_t>(2 * v)] += own.x - own.around.low[0];
    packed[static_cast<std::size_t>(2 * v + 1)] += own.y - own.around.high[1];
  }
  return packed;
}

canvas draw_graph(const graph_picture& picture) { return painter(picture).draw(); }

}  // namespace spargo::apps
