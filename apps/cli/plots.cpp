#include "cli/plots.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spargo::apps {

namespace {

struct layout {
  static constexpr int top = 76, bottom = 62;  // space for headings and labels
  static constexpr int caption = 34, gap = 6;  // space for upward text beside labels; between tick and label
  static constexpr int min_width = 640;        // space for the headings
  static constexpr int min_side = 60;          // short side of a very long matrix
  static constexpr int tick = 7;
  static constexpr int margin = 20, below = 46;  // of headings; from a picture to the base line of its caption
  static constexpr int half_letter = 5;          // base line of a label below the middle of its tick
  static constexpr int degrees_width = 760, degrees_height = 520;
  static constexpr int legend_width = 18;
};

constexpr text_style label{};
constexpr text_style centred{.at = anchor::centre};
constexpr text_style right_aligned{.at = anchor::right};
constexpr text_style caption{.ink = palette::muted};
constexpr text_style caption_below{.ink = palette::muted, .at = anchor::centre};
constexpr text_style caption_at_right{.ink = palette::muted, .at = anchor::right};

std::string commas(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

// Approximate width of the widest label of an axis up to `largest`, before a canvas exists to measure it.
int label_room(std::int64_t largest) { return static_cast<int>(commas(largest).size()) * 9; }

void draw_headings(canvas& picture, const std::string& title, const std::string& subtitle) {
  constexpr text_style large{.size = 20, .weight = font_weight::bold};
  constexpr text_style small{.ink = palette::muted, .size = 14};
  const double room = picture.width() - 2 * layout::margin;
  picture.text(layout::margin, 32, picture.shorten(title, room, large), large);
  picture.text(layout::margin, 56, picture.shorten(subtitle, room, small), small);
}

void draw_legend(canvas& picture, int x, int top, int height, std::int64_t largest, const std::string& of_what) {
  const double span = std::log(static_cast<double>(std::max<std::int64_t>(largest, 2)));
  std::vector<colour> shades;
  for (int j = 0; j < height; ++j) {
    shades.push_back(density_colour(largest > 1 ? 1.0 - static_cast<double>(j) / std::max(height - 1, 1) : 1.0));
  }
  picture.cells(x, top, layout::legend_width, height, 1, shades);
  picture.frame(x, top, layout::legend_width, height, palette::ink);
  const auto place = [&](std::int64_t count) {
    const double t = largest > 1 ? std::log(static_cast<double>(count)) / span : 0.5;
    return top + static_cast<int>(std::lround((1.0 - t) * (height - 1)));
  };
  const auto mark = [&](std::int64_t count) {
    const int y = place(count);
    picture.fill(x + layout::legend_width + 1, y, layout::tick, 1, palette::ink);
    picture.text(x + layout::legend_width + layout::tick + layout::gap, y + layout::half_letter, commas(count), label);
    return y;
  };
  const int highest = mark(std::max<std::int64_t>(largest, 1));
  int lowest = largest > 1 ? mark(1) : top + height;
  for (std::int64_t power = 10; power < largest; power *= 10) {  // as space permits
    if (place(power) - highest >= 18 && lowest - place(power) >= 18) lowest = mark(power);
    if (power > largest / 10) break;  // avoids overflow
  }
  if (picture.text_width(of_what, caption) <= height + 60) {
    picture.text_upwards(x - 12, top + height / 2.0, of_what, caption);
  } else {  // of a flat picture
    picture.text(picture.width() - layout::margin, top + height + layout::below, of_what, caption_at_right);
  }
}

}  // namespace

std::vector<std::int64_t> round_ticks(std::int64_t first, std::int64_t last, int wanted) {
  const std::int64_t range = std::max<std::int64_t>(last - first, 1);
  std::int64_t step = 1;
  for (std::int64_t power = 1; range / step > wanted && power <= range; power *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (range / step > wanted) step = factor * power;
    }
    if (power > range / 10) break;
  }
  std::vector<std::int64_t> ticks;
  for (std::int64_t at = first; at <= last; at += step) {
    const std::int64_t rounded =
        step > 1 && first == 1 && at > 1 ? at - 1 : at;  // 1, 100, 200, ... instead of 101, 201
    if (ticks.empty() || rounded > ticks.back()) ticks.push_back(rounded);
    if (last - at < step) break;  // avoids overflow
  }
  return ticks;
}

density_map make_density_map(std::int64_t rows, std::int64_t cols, int cells) {
  const std::int64_t side = std::max<std::int64_t>(div_up(std::max(rows, cols), cells), 1);
  density_map map{rows, cols, side, static_cast<int>(div_up(rows, side)), static_cast<int>(div_up(cols, side)), {}};
  map.counts.resize(static_cast<std::size_t>(map.rows) * static_cast<std::size_t>(map.cols));
  return map;
}

namespace {

// A cell's colour by the logarithm of its count; white for 0.
std::vector<colour> shades_of(const density_map& map, std::int64_t largest) {
  const double span = std::log(static_cast<double>(std::max<std::int64_t>(largest, 2)));
  std::vector<colour> shades;
  shades.reserve(map.counts.size());
  for (const std::int64_t count : map.counts) {
    const double t = largest > 1 ? std::log(static_cast<double>(std::max<std::int64_t>(count, 1))) / span : 1.0;
    shades.push_back(count == 0 ? palette::white : density_colour(t));
  }
  return shades;
}

struct plot_area {
  int x = 0, y = 0, width = 0, height = 0;
};

// Ticks at the middle of rows and columns; labels as space permits.
void draw_indices(canvas& picture, const plot_area& area, const density_map& map) {
  const auto place = [](std::int64_t index, std::int64_t size, int pixels) {
    return static_cast<int>((static_cast<double>(index) - 0.5) / static_cast<double>(std::max<std::int64_t>(size, 1)) *
                            pixels);
  };
  double free_from = -1000;
  const int wanted = area.width / (label_room(map.matrix_cols) + 30);
  for (const std::int64_t col : round_ticks(1, map.matrix_cols, std::clamp(wanted, 1, 6))) {
    const int x = area.x + place(col, map.cols * map.side, area.width);
    picture.fill(x, area.y + area.height + 1, 1, layout::tick, palette::ink);
    const double half = picture.text_width(commas(col)) / 2;
    if (x - half < free_from) continue;
    picture.text(x, area.y + area.height + layout::tick + 17, commas(col), centred);
    free_from = x + half + 12;
  }
  free_from = -1000;
  for (const std::int64_t row : round_ticks(1, map.matrix_rows, std::clamp(area.height / 40, 1, 8))) {
    const int y = area.y + place(row, map.rows * map.side, area.height);
    picture.fill(area.x - 1 - layout::tick, y, layout::tick, 1, palette::ink);
    if (y - 7 < free_from) continue;
    picture.text(area.x - layout::tick - layout::gap, y + layout::half_letter, commas(row), right_aligned);
    free_from = y + 12;
  }
  picture.text(area.x + area.width / 2.0, area.y + area.height + layout::below, "column", caption_below);
  picture.text_upwards(20, area.y + area.height / 2.0, "row", caption);
}

}  // namespace

canvas draw_spy(const density_map& map, const std::string& title, const std::string& subtitle) {
  constexpr int wanted_side = 810;
  const int longest = std::max({map.rows, map.cols, 1});
  const int zoom = std::max(1, wanted_side / longest);
  // The short side is stretched, so that a one-row matrix shows as a strip.
  const plot_area area{layout::caption + label_room(map.matrix_rows) + layout::tick + layout::gap, layout::top,
                       std::max(map.cols * zoom, layout::min_side), std::max(map.rows * zoom, layout::min_side)};
  const std::int64_t largest = map.counts.empty() ? 0 : *std::max_element(map.counts.begin(), map.counts.end());
  const int legend = area.x + area.width + layout::caption + 12;
  const int right = legend + layout::legend_width + layout::tick + layout::gap + label_room(largest) + layout::gap;
  canvas picture(std::max(right, layout::min_width), layout::top + area.height + layout::bottom);
  draw_headings(picture, title, subtitle);
  picture.cells(area.x, area.y, area.width, area.height, map.cols, shades_of(map, largest));
  picture.frame(area.x, area.y, area.width, area.height, palette::ink);
  draw_indices(picture, area, map);
  draw_legend(picture, legend, area.y, area.height, largest,
              map.side == 1 ? std::string("entries") : fmt::format("entries in {0} x {0}", commas(map.side)));
  return picture;
}

degree_counts count_degrees(std::vector<std::int64_t> degree_of_each) {
  std::sort(degree_of_each.begin(), degree_of_each.end());
  degree_counts result;
  for (const std::int64_t degree : degree_of_each) {
    if (result.degrees.empty() || result.degrees.back() != degree) {
      result.degrees.push_back(degree);
      result.counts.push_back(0);
    }
    ++result.counts.back();
  }
  return result;
}

namespace {

// A logarithmic axis of whole decades that cover 1..largest, at least one.
struct log_axis {
  int decades = 1;
  int pixels = 1;

  log_axis(std::int64_t largest, int length) : pixels(length) {
    for (std::int64_t top = 10; top < largest && decades < 18; top *= 10) ++decades;
  }
  [[nodiscard]] double place(double value) const { return std::log10(value) / decades * pixels; }
};

// Full numbers if the axis is short enough.
std::string power_label(int exponent, const log_axis& axis) {
  std::int64_t value = 1;
  for (int i = 0; i < exponent; ++i) value *= 10;
  return exponent <= (axis.decades > 9 ? 3 : 5) ? commas(value) : fmt::format("1e{}", exponent);
}

void draw_log_axes(canvas& picture, const plot_area& area, const log_axis& across, const log_axis& up) {
  const int below = area.y + area.height + layout::tick + 17;
  for (int d = 0; d <= across.decades; ++d) {
    const double base = std::pow(10.0, d);
    for (int m = 1; m <= (d < across.decades ? 9 : 1); ++m) {
      const int x = area.x + static_cast<int>(std::lround(across.place(base * m)));
      if (m == 1) picture.fill(x, area.y, 1, area.height, palette::grid);
      picture.fill(x, area.y + area.height + 1, 1, m == 1 ? layout::tick : layout::tick / 2, palette::ink);
      const bool between = (m == 2 || m == 5) && across.decades <= 2;
      if (between) picture.text(x, below, fmt::format("{:.0f}", base * m), centred);
      if (m == 1) picture.text(x, below, power_label(d, across), centred);
    }
  }
  for (int d = 0; d <= up.decades; ++d) {
    const double base = std::pow(10.0, d);
    for (int m = 1; m <= (d < up.decades ? 9 : 1); ++m) {
      const int y = area.y + area.height - static_cast<int>(std::lround(up.place(base * m)));
      if (m == 1) picture.fill(area.x, y, area.width, 1, palette::grid);
      const int length = m == 1 ? layout::tick : layout::tick / 2;
      picture.fill(area.x - 1 - length, y, length, 1, palette::ink);
      if (m > 1) continue;
      picture.text(area.x - layout::tick - layout::gap, y + layout::half_letter, power_label(d, up), right_aligned);
    }
  }
}

// Number of vertices with at least this degree: the tail hidden by the scatter plot. A falling staircase.
void draw_tail(canvas& picture, const plot_area& area, const log_axis& across, const log_axis& up,
               const degree_counts& distribution, colour c) {
  std::int64_t at_least = 0;
  for (std::size_t i = distribution.degrees.size(); i-- > 0;) {
    if (distribution.degrees[i] == 0) break;
    const double x = area.x + across.place(static_cast<double>(distribution.degrees[i]));
    const double below = area.y + area.height - up.place(static_cast<double>(std::max<std::int64_t>(at_least, 1)));
    at_least += distribution.counts[i];
    const double y = area.y + area.height - up.place(static_cast<double>(at_least));
    picture.line(x, below, x, y, 1.6, c);
    const std::int64_t previous = i > 0 ? std::max<std::int64_t>(distribution.degrees[i - 1], 1) : 1;
    picture.line(area.x + across.place(static_cast<double>(previous)), y, x, y, 1.6, c);
  }
}

}  // namespace

canvas draw_degrees(const degree_counts& distribution, const std::string& title, const std::string& subtitle,
                    const std::string& of_what) {
  constexpr colour dots{31, 96, 160};
  constexpr colour tail{214, 120, 38};
  constexpr int longest_label = 100'000;
  const plot_area area{layout::caption + label_room(longest_label) + layout::tick + layout::gap, layout::top + 30,
                       layout::degrees_width, layout::degrees_height};
  canvas picture(area.x + area.width + 40, area.y + area.height + layout::bottom);
  draw_headings(picture, title, subtitle);
  std::int64_t zero = 0, everything = 0, largest = 1;
  for (std::size_t i = 0; i < distribution.degrees.size(); ++i) {
    everything += distribution.counts[i];
    largest = std::max(largest, distribution.degrees[i]);
    if (distribution.degrees[i] == 0) zero = distribution.counts[i];
  }
  const log_axis across(largest, area.width);
  const log_axis up(everything, area.height);
  draw_log_axes(picture, area, across, up);
  picture.frame(area.x, area.y, area.width, area.height, palette::ink);
  draw_tail(picture, area, across, up, distribution, tail);
  for (std::size_t i = 0; i < distribution.degrees.size(); ++i) {
    if (distribution.degrees[i] == 0) continue;
    picture.disc(area.x + across.place(static_cast<double>(distribution.degrees[i])),
                 area.y + area.height - up.place(static_cast<double>(distribution.counts[i])), 3.2, dots);
  }
  const int key = area.y - 12;
  picture.disc(area.x + 6, key - 5, 3.6, dots);
  picture.text(area.x + 18, key, "this degree", label);
  const double second = area.x + 18 + picture.text_width("this degree") + 36;
  picture.line(second, key - 5, second + 22, key - 5, 2.0, tail);
  picture.text(second + 30, key, "this degree or more", label);
  if (zero > 0) {
    picture.text(area.x + area.width - 12, area.y + 22, fmt::format("{} of degree 0 not shown", commas(zero)),
                 {.ink = palette::muted, .at = anchor::right});
  }
  picture.text(area.x + area.width / 2.0, area.y + area.height + 46, "degree (log)", caption_below);
  picture.text_upwards(20, area.y + area.height / 2.0, of_what + " (log)", caption);
  return picture;
}

canvas draw_convergence(const std::vector<double>& history, double wanted, const std::string& title,
                        const std::string& subtitle) {
  constexpr colour curve{31, 96, 160};
  constexpr colour goal{214, 120, 38};
  // Whole decades that hold every positive value.
  double least = 1;
  double most = 1;
  for (const double value : history) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (wanted > 0) least = std::min(least, wanted);
  const int top = static_cast<int>(std::ceil(std::log10(most)));
  const int bottom = std::min(top - 1, static_cast<int>(std::floor(std::log10(least))));
  const auto last = std::max<std::int64_t>(static_cast<std::int64_t>(history.size()) - 1, 1);
  const plot_area area{layout::caption + label_room(100'000) + layout::tick + layout::gap, layout::top,
                       layout::degrees_width, layout::degrees_height};
  canvas picture(area.x + area.width + 40, area.y + area.height + layout::bottom);
  draw_headings(picture, title, subtitle);
  const auto across = [&](std::int64_t k) {
    return area.x + static_cast<double>(k) / static_cast<double>(last) * area.width;
  };
  const auto up = [&](double value) { return area.y + (top - std::log10(value)) / (top - bottom) * area.height; };
  for (const std::int64_t k : round_ticks(0, last, 8)) {
    const int x = static_cast<int>(across(k));
    picture.fill(x, area.y + area.height + 1, 1, layout::tick, palette::ink);
    picture.text(x, area.y + area.height + layout::tick + 17, commas(k), centred);
  }
  const int step = std::max(1, (top - bottom) / 10);
  for (int d = top; d >= bottom; d -= step) {
    const int y = static_cast<int>(up(std::pow(10.0, d)));
    picture.fill(area.x, y, area.width, 1, palette::grid);
    picture.fill(area.x - 1 - layout::tick, y, layout::tick, 1, palette::ink);
    picture.text(area.x - layout::tick - layout::gap, y + layout::half_letter, fmt::format("1e{}", d), right_aligned);
  }
  if (wanted > 0) picture.line(area.x, up(wanted), area.x + area.width, up(wanted), 1.4, goal, 6);
  for (std::size_t k = 1; k < history.size(); ++k) {
    if (!(history[k - 1] > 0 && history[k] > 0)) continue;
    const auto at = static_cast<std::int64_t>(k);
    picture.line(across(at - 1), up(history[k - 1]), across(at), up(history[k]), 1.8, curve);
  }
  picture.frame(area.x, area.y, area.width, area.height, palette::ink);
  picture.text(area.x + area.width / 2.0, area.y + area.height + 46, "iteration", caption_below);
  picture.text_upwards(20, area.y + area.height / 2.0, "residual, relative to |b| (log)", caption);
  return picture;
}

}  // namespace spargo::apps
