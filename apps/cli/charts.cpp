#include "cli/charts.hpp"

#include "cli/page.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace spargo::apps {

namespace {

struct layout {
  static constexpr double width = 460, height = 250;
  static constexpr double left = 70, right = 14, top = 12, bottom = 46;
  static constexpr double letter = 9;  // width of one in labels
  static constexpr double log_span = 100;
};

// "1,234", "0.0123"; exact for counts.
std::string exact(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return with_commas(static_cast<std::int64_t>(value));
  return fmt::format("{:.6g}", value);
}

// For ticks: "250", "20k", "3M", "1e-06".
std::string brief(double value) {
  constexpr const char* units[] = {"k", "M", "G", "T", "P", "E"};
  if (std::abs(value) < 1e4) return fmt::format("{:.4g}", value);
  std::size_t unit = 0;
  for (value /= 1000; std::abs(value) >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return fmt::format("{:.4g}{}", value, units[unit]);
}

// From values to pixels.
struct axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  double from = 0, to = 1;  // pixels of low and high
  bool whole = false;       // no ticks between integers

  [[nodiscard]] double place(double value) const {
    const double t =
        logarithmic ? std::log(std::max(value, low) / low) / std::log(high / low) : (value - low) / (high - low);
    return from + std::clamp(t, 0.0, 1.0) * (to - from);
  }

  [[nodiscard]] std::vector<double> ticks() const {
    constexpr int wanted = 5;
    std::vector<double> at;
    if (logarithmic) {
      const double decades = std::log10(high / low);
      const double step = std::pow(10, std::max(1.0, std::ceil(decades / (wanted + 1))));
      for (double tick = std::pow(10, std::ceil(std::log10(low) - 1e-9)); tick <= high * 1.0001; tick *= step) {
        at.push_back(tick);
      }
      return at;
    }
    const double rough = (high - low) / wanted;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {2.0, 5.0, 10.0}) {
      if (step < rough * 0.999) step = power * factor;
    }
    if (whole) step = std::max(step, 1.0);
    for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k)
      at.push_back(k * step + 0.0);  // no -0
    return at;
  }
};

// Over all values; `zero`: a linear axis begins there.
axis axis_over(const std::vector<double>& values, double from, double to, bool zero) {
  double least = *std::min_element(values.begin(), values.end());
  double most = *std::max_element(values.begin(), values.end());
  double least_positive = most;
  for (const double v : values) {
    if (v > 0) least_positive = std::min(least_positive, v);
  }
  axis a{least, most, least_positive > 0 && (zero || least > 0) && most > layout::log_span * least_positive, from, to};
  if (a.logarithmic) {
    // The smallest value keeps some length of its bar.
    a.low = std::pow(10, std::floor(std::log10(least_positive) + 1e-9));
    if (zero && least_positive < 1.5 * a.low) a.low /= 2;
    return a;
  }
  a.whole = std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
  if (zero) a.low = std::min(least, 0.0);
  if (a.high <= a.low) a.high = a.low + 1;
  return a;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor, html_escaped(text));
}

std::string opening(const axis_labels& labels) {
  return fmt::format("<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\">", layout::width, layout::height,
                     html_escaped(labels.y + " by " + labels.x));
}

// The frame's lines, the vertical scale, and what the axes are.
std::string draw_axes(const axis& up, const axis_labels& labels) {
  constexpr double right = layout::width - layout::right, base = layout::height - layout::bottom;
  std::string svg;
  for (const double tick : up.ticks()) {
    const double y = up.place(tick);
    svg += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", layout::left, y, right);
    svg += text_at(layout::left - 6, y + 4, "end", brief(tick));
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{} {}H{}\"/>", layout::left, base, right);
  svg += text_at((layout::left + right) / 2, layout::height - 6, "middle", labels.x);
  const double middle = (layout::top + base) / 2;
  svg += fmt::format("<text x=\"12\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 12 {0})\">{1}</text>",
                     middle, html_escaped(labels.y));
  return svg;
}

axis upward(const std::vector<double>& values, bool zero) {
  return axis_over(values, layout::height - layout::bottom, layout::top, zero);
}

}  // namespace

std::string bar_chart(const std::vector<std::pair<std::string, double>>& bars, const axis_labels& labels) {
  if (bars.empty()) return {};
  std::vector<double> values;
  std::size_t widest = 1;
  for (const auto& [name, value] : bars) {
    values.push_back(value);
    widest = std::max(widest, name.size());
  }
  const axis up = upward(values, true);
  constexpr double room = layout::width - layout::left - layout::right, base = layout::height - layout::bottom;
  const double pitch = room / static_cast<double>(bars.size());
  const double width = std::min(std::max(pitch * 0.8, 1.0), 64.0);
  const auto every = static_cast<std::size_t>(
      std::ceil((static_cast<double>(std::min<std::size_t>(widest, 12)) + 1) * layout::letter / pitch));
  std::string svg = opening(labels) + draw_axes(up, labels);
  for (std::size_t k = 0; k < bars.size(); ++k) {
    const auto& [name, value] = bars[k];
    const double middle = layout::left + (static_cast<double>(k) + 0.5) * pitch;
    const double top = value > 0 ? up.place(value) : base;
    svg += fmt::format("<g><rect class=\"hit\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>",
                       middle - pitch / 2, layout::top, pitch, base - layout::top);
    svg += fmt::format("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                       middle - width / 2, top, width, base - top);
    svg += fmt::format("<title>{} {}: {} {}</title></g>", html_escaped(labels.x), html_escaped(name), exact(value),
                       html_escaped(labels.y));
    if (k % std::max<std::size_t>(every, 1) == 0) svg += text_at(middle, base + 16, "middle", shortened_to(name, 12));
  }
  return svg + "</svg>";
}

std::string point_chart(const std::vector<chart_point>& points, const axis_labels& labels, mark how) {
  std::vector<double> xs, ys;
  for (const chart_point& p : points) {
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
    xs.push_back(p.x);
    ys.push_back(p.y);
  }
  if (xs.empty()) return {};
  const axis across = axis_over(xs, layout::left + 6, layout::width - layout::right - 6, false);
  const axis up = upward(ys, false);
  constexpr double base = layout::height - layout::bottom;
  std::string svg = opening(labels) + draw_axes(up, labels);
  for (const double tick : across.ticks()) {
    svg += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/>", across.place(tick), layout::top, base);
    svg += text_at(across.place(tick), base + 16, "middle", brief(tick));
  }
  std::set<std::pair<int, int>> taken;
  std::string path, dots;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const double x = across.place(xs[k]), y = up.place(ys[k]);
    if (!taken.emplace(static_cast<int>(x), static_cast<int>(y)).second) continue;
    if (how == mark::line) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x, y);
    dots += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{} {}: {} {}</title></circle>",
                        how == mark::line ? "hit" : "dot", x, y, html_escaped(labels.x), exact(xs[k]), exact(ys[k]),
                        html_escaped(labels.y));
  }
  if (!path.empty()) svg += "<path class=\"line\" d=\"" + path + "\"/>";
  return svg + dots + "</svg>";
}

std::string density_chart(const density_cells& map) {
  if (map.counts.empty()) return {};
  constexpr double longest = 384, shortest = 24;
  constexpr int shades = 5;
  const double cell = longest / std::max(map.cell_rows, map.cell_cols);
  const double width = std::max(cell * map.cell_cols, shortest), height = std::max(cell * map.cell_rows, shortest);
  const double span = std::log(static_cast<double>(*std::max_element(map.counts.begin(), map.counts.end())) + 1);
  std::string svg = fmt::format(
      "<svg class=\"spy\" viewBox=\"-1 -1 {:.1f} {:.1f}\" style=\"max-width:{:.0f}px\" role=\"img\" "
      "aria-label=\"entries of the matrix\"><rect class=\"frame\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
      width + 2, height + 2, width + 2, width, height);
  const double wide = width / map.cell_cols, high = height / map.cell_rows;
  const auto range = [&](int k, std::int64_t size) {
    const std::int64_t first = k * map.side + 1, last = std::min((k + 1) * map.side, size);
    return first == last ? with_commas(first) : with_commas(first) + " to " + with_commas(last);
  };
  for (int r = 0; r < map.cell_rows; ++r) {
    for (int c = 0; c < map.cell_cols; ++c) {
      const std::int64_t count = map.counts[static_cast<std::size_t>(r) * static_cast<std::size_t>(map.cell_cols) +
                                            static_cast<std::size_t>(c)];
      if (count == 0) continue;
      const double share = std::log(static_cast<double>(count) + 1) / span;
      svg += fmt::format("<path class=\"d{}\" d=\"M{:.1f} {:.1f}h{:.2f}v{:.2f}h-{:.2f}z\"><title>row {}, column {}: {}",
                         std::clamp(static_cast<int>(std::ceil(share * shades)), 1, shades), c * wide, r * high, wide,
                         high, wide, range(r, map.rows), range(c, map.cols), counted(count, "entry", "entries"));
      svg += "</title></path>";
    }
  }
  return svg + "</svg>";
}

std::string share_bar(double share, const std::string& tooltip) {
  return fmt::format(
      "<svg class=\"share\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}\"><rect "
      "class=\"bar\" width=\"{1:.2f}\" height=\"10\"><title>{0}</title></rect></svg>",
      html_escaped(tooltip), 100 * std::clamp(share, 0.0, 1.0));
}

}  // namespace spargo::apps
