// The ladder of a primitive as one picture: a panel a group, a bar a rung, longer is faster.
//
// A bar's length is the inverse of the rung's time. Where a case of the group is held against a ceiling, the ceiling's
// own time follows from it and its bar's length is the dashed line; else the scale ends at the fastest rung. Only what
// was measured is drawn: a case that was skipped says why in place of its bar.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::bench {

// One measured case, as the table shows it.
struct measured_case {
  std::string group{};
  std::string rung{};
  std::string failed{};  // why it has no time; empty when it has
  double milliseconds = 0;
  double fraction = 0;    // of the ceiling; 0: held against none
  std::string ceiling{};  // its name: copy, read, triad, limit
  bool peer = false;
};

namespace detail {

struct plot_style {
  static constexpr double width = 900;
  static constexpr double margin = 24;
  static constexpr double row = 24;
  static constexpr double bar = 16;
  static constexpr double names = 190;      // room for the names of rungs
  static constexpr double labels = 170;     // and for the figures behind the bars
  static constexpr double panel_head = 46;  // a group's name and the ceiling's
  static constexpr double panel_foot = 18;
  static constexpr const char* own = "#2563a8";
  static constexpr const char* automatic = "#12406f";
  static constexpr const char* other = "#d9822b";
};

[[nodiscard]] inline std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

// As much as fits into `room` at about `advance` a letter.
[[nodiscard]] inline std::string shorten(const std::string& text, double room, double advance = 7) {
  const auto most = static_cast<std::size_t>(std::max(4.0, room / advance));
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

// Three significant digits, trailing zeros kept.
[[nodiscard]] inline std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : (value < 99.95 ? 1 : 0));
}

[[nodiscard]] inline std::string duration(double milliseconds) {
  if (milliseconds < 1) return three_digits(milliseconds * 1e3) + " \u00b5s";
  return milliseconds < 1000 ? three_digits(milliseconds) + " ms" : three_digits(milliseconds * 1e-3) + " s";
}

[[nodiscard]] inline bool is_drawn(const measured_case& c) {
  return c.failed.empty() && std::isfinite(c.milliseconds) && c.milliseconds > 0;
}

// The time at which a group's ceiling would be met, and its name; 0: there is none.
struct group_ceiling {
  double milliseconds = 0;
  std::string name;
};
[[nodiscard]] inline group_ceiling ceiling_of(const std::vector<measured_case>& cases) {
  std::vector<std::pair<double, std::string>> all;
  for (const measured_case& c : cases) {
    if (is_drawn(c) && c.fraction > 0 && std::isfinite(c.fraction))
      all.emplace_back(c.milliseconds * c.fraction, c.ceiling);
  }
  if (all.empty()) return {};
  // Cases that move other amounts have other ceilings: then there is no one line to draw.
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  if (most->first > 1.02 * least->first) return {};
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  const auto& middle = all[all.size() / 2];
  return {middle.first, middle.second};
}

inline void text(std::string& svg, double x, double y, std::string_view attributes, std::string_view content) {
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, attributes.empty() ? "" : " ", attributes,
                     escape_xml(content));
}

// One group at (0, top); returns its height.
[[nodiscard]] inline double draw_panel(std::string& svg, const std::vector<measured_case>& cases, double top) {
  using style = plot_style;
  const double left = style::margin + style::names;
  const double room = style::width - style::margin - style::labels - left;
  const group_ceiling ceiling = ceiling_of(cases);
  double fastest = ceiling.milliseconds;
  for (const measured_case& c : cases) {
    if (is_drawn(c) && (fastest == 0 || c.milliseconds < fastest)) fastest = c.milliseconds;
  }
  const double height = style::panel_head + style::row * static_cast<double>(cases.size()) + style::panel_foot;
  text(svg, style::margin, top + 18, "class=\"group\"", cases.front().group);

  const double bottom = top + height - style::panel_foot - 4;
  if (ceiling.milliseconds > 0) {
    const double x = left + room * fastest / ceiling.milliseconds;
    svg += fmt::format("<line class=\"ceiling\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", x,
                       top + style::panel_head - 6, bottom);
    text(svg, x, top + style::panel_head - 11, "class=\"quiet\" text-anchor=\"middle\"",
         fmt::format("100 % of {}: {}", ceiling.name, duration(ceiling.milliseconds)));
  }
  svg += fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n", left,
                     top + style::panel_head - 6, bottom);

  double y = top + style::panel_head;
  for (const measured_case& c : cases) {
    const double base = y + style::bar - 4;
    text(svg, left - 8, base, c.peer ? "class=\"peer\" text-anchor=\"end\"" : "text-anchor=\"end\"",
         shorten(c.rung, style::names - 8));
    if (!is_drawn(c)) {
      text(svg, left + 8, base, "class=\"quiet\"", shorten(c.failed.empty() ? "no time" : c.failed, 560, 6.5));
      y += style::row;
      continue;
    }
    const double length = room * fastest / c.milliseconds;
    const char* colour = c.peer ? style::other : (c.rung == "automatic" ? style::automatic : style::own);
    svg += fmt::format(
        "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.3f}\" height=\"{:.0f}\" fill=\"{}\" "
        "data-rung=\"{}\" data-ms=\"{:.9g}\"/>\n",
        left, y, length, style::bar, colour, escape_xml(c.rung), c.milliseconds);
    const double share = ceiling.milliseconds > 0 ? ceiling.milliseconds / c.milliseconds : 0;
    const std::string label = duration(c.milliseconds) +
                              (share > 0 ? fmt::format(" \u00b7 {:.{}f} %", share * 100, share < 0.0995 ? 1 : 0) : "");
    text(svg, left + room + 16, base, "class=\"figure\"", label);
    y += style::row;
  }
  return height;
}

}  // namespace detail

// The picture of all cases, groups and rungs in the order they come in; `where` says what machine it is of.
[[nodiscard]] inline std::string plot_ladder(const std::vector<measured_case>& cases, const std::string& where) {
  using style = detail::plot_style;
  std::vector<std::vector<measured_case>> groups;
  for (const measured_case& c : cases) {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.front().group == c.group; });
    if (at == groups.end()) at = groups.insert(groups.end(), std::vector<measured_case>{});
    at->push_back(c);
  }
  std::string panels;
  double y = style::margin + 48;
  bool peers = false;
  for (std::vector<measured_case>& group : groups) {
    // Peers below the ladder, each kind in its own order.
    std::stable_partition(group.begin(), group.end(), [](const measured_case& c) { return !c.peer; });
    peers = peers || group.back().peer;
    y += detail::draw_panel(panels, group, y);
  }
  const double height = y + style::margin;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#1d2733\">\n"
      "<style>.title{{font-size:18px;font-weight:bold}} .group{{font-size:14px;font-weight:bold}} "
      ".quiet{{fill:#66717d;font-size:11px}} .peer{{fill:#a65a10}} "
      ".figure{{font-size:11.5px}} "
      ".ceiling{{stroke:#b3261e;stroke-width:1.5;stroke-dasharray:5 3}} "
      ".axis{{stroke:#9aa4ae;stroke-width:1}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fbfcfd\"/>\n",
      style::width, height);
  const std::string first = groups.empty() ? "" : groups.front().front().group;
  const std::string title = first.substr(0, first.find('/'));
  detail::text(svg, style::margin, style::margin + 12, "class=\"title\"", title);
  detail::text(svg, style::margin, style::margin + 32, "class=\"quiet\"",
               "median time, and share of the ceiling measured in the same run; longer is faster; " + where);
  const double legend = style::width - style::margin - 150;
  svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", legend,
                     style::margin + 2, style::own);
  detail::text(svg, legend + 18, style::margin + 12, "", "Spargo");
  if (peers) {
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", legend + 84,
                       style::margin + 2, style::other);
    detail::text(svg, legend + 102, style::margin + 12, "", "peer");
  }
  return svg + panels + "</svg>\n";
}

}  // namespace spargo::bench
