#include "common/plots.hpp"

#include <fmt/format.h>

#include <cmath>

namespace spargo::apps {

namespace {

struct layout {
  static constexpr int left = 120, top = 76, right = 150, bottom = 76;  // room for labels and legend
  static constexpr int min_side = 60;                                   // of a very long matrix's short side
  static constexpr int tick = 7;
  static constexpr int degrees_width = 760, degrees_height = 520;
  static constexpr int legend_width = 18;
  static constexpr int small_text = 14, gap = 8;  // height of a line at scale 2, space around it
};

std::string commas(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

// What fits, its end replaced by dots.
std::string shorten(const std::string& words, int width, int scale) {
  if (canvas::text_width(words, scale) <= width) return words;
  std::string cut = words;
  while (!cut.empty() && canvas::text_width(cut + "...", scale) > width) cut.pop_back();
  return cut + "...";
}

void draw_headings(canvas& picture, const std::string& title, const std::string& subtitle) {
  constexpr int margin = 20;
  const int room = picture.width() - 2 * margin;
  const int scale = canvas::text_width(title, 3) <= room ? 3 : 2;
  picture.text(margin, 14, shorten(title, room, scale), palette::ink, scale);
  picture.text(margin, 46, shorten(subtitle, room, 2), palette::muted, 2);
}

void draw_legend(canvas& picture, int x, int top, int height, std::int64_t largest, const std::string& caption) {
  const double span = std::log(static_cast<double>(std::max<std::int64_t>(largest, 2)));
  for (int j = 0; j < height; ++j) {
    const double t = 1.0 - static_cast<double>(j) / std::max(height - 1, 1);
    picture.fill(x, top + j, layout::legend_width, 1, density_colour(largest > 1 ? t : 1.0));
  }
  picture.frame(x, top, layout::legend_width, height, palette::ink);
  const auto mark = [&](std::int64_t count) {
    const double t = largest > 1 ? std::log(static_cast<double>(count)) / span : 0.5;
    const int y = top + static_cast<int>(std::lround((1.0 - t) * (height - 1)));
    picture.fill(x + layout::legend_width + 1, y, layout::tick, 1, palette::ink);
    picture.text(x + layout::legend_width + layout::tick + 5, y - 6, commas(count), palette::ink);
    return y;
  };
  const int highest = mark(std::max<std::int64_t>(largest, 1));
  int lowest = largest > 1 ? mark(1) : top + height;
  for (std::int64_t power = 10; power < largest; power *= 10) {  // where there is room
    const int y =
        top + static_cast<int>(std::lround((1.0 - std::log(static_cast<double>(power)) / span) * (height - 1)));
    if (y - highest >= 18 && lowest - y >= 18) lowest = mark(power);
    if (power > largest / 10) break;  // the next may not fit the type
  }
  picture.text_upwards(x - 22, top + height / 2, shorten(caption, height + 60, 2), palette::muted);
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
    const std::int64_t rounded = step > 1 && first == 1 && at > 1 ? at - 1 : at;  // 1, 100, 200, ... not 101, 201
    if (ticks.empty() || rounded > ticks.back()) ticks.push_back(rounded);
    if (last - at < step) break;  // the next may not fit the type
  }
  return ticks;
}

density_map make_density_map(std::int64_t rows, std::int64_t cols, int cells) {
  const std::int64_t side = std::max<std::int64_t>(div_up(std::max(rows, cols), cells), 1);
  density_map map{rows, cols, side, static_cast<int>(div_up(rows, side)), static_cast<int>(div_up(cols, side)), {}};
  map.counts.resize(static_cast<std::size_t>(map.rows) * static_cast<std::size_t>(map.cols));
  return map;
}

canvas draw_spy(const density_map& map, const std::string& title, const std::string& subtitle) {
  constexpr int wanted_side = 810;
  const int longest = std::max({map.rows, map.cols, 1});
  const int zoom = std::max(1, wanted_side / longest);
  // A matrix of one row still shows as a strip: its short side is stretched.
  const int plot_width = std::max(map.cols * zoom, layout::min_side);
  const int plot_height = std::max(map.rows * zoom, layout::min_side);
  const int width = std::max(layout::left + plot_width + layout::right, 640);
  canvas picture(width, layout::top + plot_height + layout::bottom);
  draw_headings(picture, title, subtitle);

  std::int64_t largest = 0;
  for (const std::int64_t count : map.counts) largest = std::max(largest, count);
  const double span = std::log(static_cast<double>(std::max<std::int64_t>(largest, 2)));
  const int x0 = layout::left, y0 = layout::top;
  for (int y = 0; y < plot_height && map.rows > 0; ++y) {
    for (int x = 0; x < plot_width && map.cols > 0; ++x) {
      const auto row =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(map.rows) / static_cast<std::size_t>(plot_height);
      const auto col =
          static_cast<std::size_t>(x) * static_cast<std::size_t>(map.cols) / static_cast<std::size_t>(plot_width);
      const std::int64_t count = map.counts[row * static_cast<std::size_t>(map.cols) + col];
      if (count == 0) continue;
      picture.set(x0 + x, y0 + y, density_colour(largest > 1 ? std::log(static_cast<double>(count)) / span : 1.0));
    }
  }
  picture.frame(x0, y0, plot_width, plot_height, palette::ink);

  const auto place = [](std::int64_t index, std::int64_t size, int pixels) {  // the middle of row or column `index`
    return static_cast<int>((static_cast<double>(index) - 0.5) / static_cast<double>(std::max<std::int64_t>(size, 1)) *
                            pixels);
  };
  int free_from = -1000;
  const int label_width = canvas::text_width(commas(map.matrix_cols));
  for (const std::int64_t col : round_ticks(1, map.matrix_cols, std::clamp(plot_width / (label_width + 30), 1, 6))) {
    const int x = x0 + place(col, map.cols * map.side, plot_width);
    picture.fill(x, y0 + plot_height + 1, 1, layout::tick, palette::ink);
    const int half = canvas::text_width(commas(col)) / 2;
    if (x - half < free_from) continue;
    picture.text(x, y0 + plot_height + layout::tick + 6, commas(col), palette::ink, 2, anchor::centre);
    free_from = x + half + 12;
  }
  free_from = -1000;
  for (const std::int64_t row : round_ticks(1, map.matrix_rows, std::clamp(plot_height / 40, 1, 8))) {
    const int y = y0 + place(row, map.rows * map.side, plot_height);
    picture.fill(x0 - 1 - layout::tick, y, layout::tick, 1, palette::ink);
    if (y - 7 < free_from) continue;
    picture.text(x0 - layout::tick - 6, y - 6, commas(row), palette::ink, 2, anchor::right);
    free_from = y + 12;
  }
  picture.text(x0 + plot_width / 2, y0 + plot_height + 40, "column", palette::muted, 2, anchor::centre);
  picture.text_upwards(8, y0 + plot_height / 2, "row", palette::muted);
  const std::string caption = map.side == 1 ? std::string("entries") : fmt::format("entries in {0} x {0}", map.side);
  draw_legend(picture, x0 + plot_width + 56, y0, plot_height, largest, caption);
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

// A logarithmic axis over whole decades that hold 1..largest, at least one.
struct log_axis {
  int decades = 1;
  int pixels = 1;

  log_axis(std::int64_t largest, int length) : pixels(length) {
    for (std::int64_t top = 10; top < largest && decades < 18; top *= 10) ++decades;
  }
  [[nodiscard]] double place(double value) const { return std::log10(value) / decades * pixels; }
};

std::string power_label(int exponent) {
  std::int64_t value = 1;
  for (int i = 0; i < exponent; ++i) value *= 10;
  return exponent <= 5 ? commas(value) : fmt::format("1e{}", exponent);
}

struct plot_area {
  int x = 0, y = 0, width = 0, height = 0;
};

void draw_log_axes(canvas& picture, const plot_area& area, const log_axis& across, const log_axis& up) {
  for (int d = 0; d <= across.decades; ++d) {
    const double base = std::pow(10.0, d);
    for (int m = 1; m <= (d < across.decades ? 9 : 1); ++m) {
      const int x = area.x + static_cast<int>(std::lround(across.place(base * m)));
      if (m == 1) picture.fill(x, area.y, 1, area.height, palette::grid);
      picture.fill(x, area.y + area.height + 1, 1, m == 1 ? layout::tick : layout::tick / 2, palette::ink);
    }
    for (const int m : {2, 5}) {
      if (d == across.decades || across.decades > 2) break;
      picture.text(area.x + static_cast<int>(std::lround(across.place(base * m))),
                   area.y + area.height + layout::tick + 6, fmt::format("{:.0f}", base * m), palette::ink, 2,
                   anchor::centre);
    }
    picture.text(area.x + static_cast<int>(std::lround(across.place(base))), area.y + area.height + layout::tick + 6,
                 power_label(d), palette::ink, 2, anchor::centre);
  }
  for (int d = 0; d <= up.decades; ++d) {
    const double base = std::pow(10.0, d);
    for (int m = 1; m <= (d < up.decades ? 9 : 1); ++m) {
      const int y = area.y + area.height - static_cast<int>(std::lround(up.place(base * m)));
      if (m == 1) picture.fill(area.x, y, area.width, 1, palette::grid);
      const int length = m == 1 ? layout::tick : layout::tick / 2;
      picture.fill(area.x - 1 - length, y, length, 1, palette::ink);
    }
    picture.text(area.x - layout::tick - 6, area.y + area.height - static_cast<int>(std::lround(up.place(base))) - 6,
                 power_label(d), palette::ink, 2, anchor::right);
  }
}

// How many have at least this degree: the tail that scatter alone hides. A staircase, falling to the right.
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
  const plot_area area{layout::left, layout::top + 30, layout::degrees_width, layout::degrees_height};
  canvas picture(area.x + area.width + 60, area.y + area.height + layout::bottom);
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
    picture.disc(
        area.x + static_cast<int>(std::lround(across.place(static_cast<double>(distribution.degrees[i])))),
        area.y + area.height - static_cast<int>(std::lround(up.place(static_cast<double>(distribution.counts[i])))),
        3.2, dots);
  }
  const int key = area.y - 22;
  picture.disc(area.x + 6, key + 6, 3.6, dots);
  picture.text(area.x + 18, key, "this degree", palette::ink);
  const int second = area.x + 18 + canvas::text_width("this degree") + 36;
  picture.line(second, key + 6, second + 22, key + 6, 2.0, tail);
  picture.text(second + 30, key, "this degree or more", palette::ink);
  if (zero > 0) {
    picture.text(area.x + area.width - 12, area.y + 12, fmt::format("{} of degree 0 not shown", commas(zero)),
                 palette::muted, 2, anchor::right);
  }
  picture.text(area.x + area.width / 2, area.y + area.height + 40, "degree (log)", palette::muted, 2, anchor::centre);
  picture.text_upwards(8, area.y + area.height / 2, of_what + " (log)", palette::muted);
  return picture;
}

}  // namespace spargo::apps
