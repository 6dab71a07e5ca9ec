// The algorithms of a primitive in one picture: one panel per group, one bar per rung; longer is faster.
//
// A bar's length is the inverse of the rung's time. If a case of the group is compared with a ceiling, the dashed line
// is the bar length at the ceiling; otherwise the scale ends at the fastest rung. Only measurements are drawn: a
// skipped case shows its reason instead of a bar.
#pragma once

#include "cli/picture.hpp"

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
  std::string failed{};  // reason if there is no time; otherwise empty
  double milliseconds = 0;
  double fraction = 0;    // of the ceiling; 0: none
  std::string ceiling{};  // copy, read, triad or limit
  bool peer = false;
  // 0: not known.
  double threads = 0;
  double gbytes_per_s = 0;
  double gflops = 0;
  double mteps = 0;
  double times_peer = 0;  // how many times as fast as the fastest peer of the group
};

namespace detail {

struct plot_style {
  static constexpr double width = 900;
  static constexpr double margin = 24;
  static constexpr double row = 24;
  static constexpr double bar = 16;
  static constexpr double names = 190;      // width of the rung names
  static constexpr double labels = 170;     // and of the figures after the bars
  static constexpr double panel_head = 46;  // a group's name and its ceiling
  static constexpr double panel_foot = 18;
  static constexpr double head = margin + 48;  // the picture's headings
  static constexpr apps::colour background{251, 252, 253};
  static constexpr apps::colour ink{29, 39, 51};
  static constexpr apps::colour quiet{102, 113, 125};
  static constexpr apps::colour axis{154, 164, 174};
  static constexpr apps::colour ceiling{179, 38, 30};
  static constexpr apps::colour own{37, 99, 168};
  static constexpr apps::colour automatic{18, 64, 111};
  static constexpr apps::colour other{217, 130, 43};
  static constexpr apps::colour other_name{166, 90, 16};
};

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

// The time at which a group's ceiling would be reached, and its name; 0: none.
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
  // Cases that move different amounts have different ceilings: no single line to draw.
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  if (most->first > 1.02 * least->first) return {};
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  const auto& middle = all[all.size() / 2];
  return {middle.first, middle.second};
}

// The figures after a bar: its time, and its fraction of the ceiling if there is one.
[[nodiscard]] inline std::string bar_label(double milliseconds, const group_ceiling& ceiling) {
  if (ceiling.milliseconds <= 0) return duration(milliseconds);
  const double share = ceiling.milliseconds / milliseconds;
  return fmt::format("{} \u00b7 {:.{}f} %", duration(milliseconds), share * 100, share < 0.0995 ? 1 : 0);
}

[[nodiscard]] inline double panel_height(const std::vector<measured_case>& cases) {
  return plot_style::panel_head + plot_style::row * static_cast<double>(cases.size()) + plot_style::panel_foot;
}

inline void draw_panel(apps::canvas& picture, const std::vector<measured_case>& cases, double top) {
  using style = plot_style;
  using apps::anchor;
  constexpr apps::text_style quiet{.ink = style::quiet, .size = 11};
  const double left = style::margin + style::names;
  const double room = style::width - style::margin - style::labels - left;
  const group_ceiling ceiling = ceiling_of(cases);
  double fastest = ceiling.milliseconds;
  for (const measured_case& c : cases) {
    if (is_drawn(c) && (fastest == 0 || c.milliseconds < fastest)) fastest = c.milliseconds;
  }
  constexpr apps::text_style heading{.ink = style::ink, .size = 14, .weight = apps::font_weight::bold};
  picture.text(style::margin, top + 18, picture.shorten(cases.front().group, style::width - 2 * style::margin, heading),
               heading);
  const double axis_top = top + style::panel_head - 6;
  const double bottom = top + panel_height(cases) - style::panel_foot - 4;
  if (ceiling.milliseconds > 0) {
    const double x = left + room * fastest / ceiling.milliseconds;
    picture.line(x, axis_top, x, bottom, 1.5, style::ceiling, 4);
    picture.text(x, axis_top - 5, fmt::format("100 % of {}: {}", ceiling.name, duration(ceiling.milliseconds)),
                 {.ink = style::quiet, .at = anchor::centre, .size = 11});
  }
  picture.fill(left - 1, axis_top, 1, bottom - axis_top, style::axis);
  double y = top + style::panel_head;
  for (const measured_case& c : cases) {
    const double base = y + style::bar - 4;
    const apps::text_style name{.ink = c.peer ? style::other_name : style::ink, .at = anchor::right, .size = 12};
    picture.text(left - 8, base, picture.shorten(c.rung, style::names - 8, name), name);
    if (is_drawn(c)) {
      const apps::colour own = c.rung == "automatic" ? style::automatic : style::own;
      picture.fill(left, y, room * fastest / c.milliseconds, style::bar, c.peer ? style::other : own);
      picture.text(left + room + 16, base, bar_label(c.milliseconds, ceiling), {.ink = style::ink, .size = 11.5});
    } else {
      const double to_the_edge = style::width - style::margin - left - 8;
      picture.text(left + 8, base, picture.shorten(c.failed.empty() ? "no time" : c.failed, to_the_edge, quiet), quiet);
    }
    y += style::row;
  }
}

// The distinct operations of the groups: the part before the first slash.
[[nodiscard]] inline std::string operations_of(const std::vector<std::vector<measured_case>>& groups) {
  std::vector<std::string> names;
  for (const auto& group : groups) {
    const std::string& name = group.front().group;
    names.push_back(name.substr(0, name.find('/')));
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1) names.pop_back();
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Title, subtitle, and legend of the colours.
inline void draw_headings(apps::canvas& picture, const std::vector<std::vector<measured_case>>& groups,
                          const std::string& where) {
  using style = plot_style;
  constexpr apps::text_style quiet{.ink = style::quiet, .size = 11};
  const double base = style::margin + 12;
  constexpr apps::text_style title{.ink = style::ink, .size = 18, .weight = apps::font_weight::bold};
  picture.text(style::margin, base, picture.shorten(operations_of(groups), style::width - 250, title), title);
  const std::string what = "median time, and share of the ceiling measured in the same run; longer is faster; " + where;
  picture.text(style::margin, base + 20, picture.shorten(what, style::width - 2 * style::margin, quiet), quiet);
  const auto key = [&](double x, const char* name, apps::colour c) {
    picture.fill(x, style::margin + 2, 12, 12, c);
    picture.text(x + 18, base, name, {.ink = style::ink, .size = 12});
  };
  const double left = style::width - style::margin - 150;
  key(left, "Spargo", style::own);
  const bool peers = std::any_of(groups.begin(), groups.end(), [](const auto& group) { return group.back().peer; });
  if (peers) key(left + 84, "peer", style::other);
}

}  // namespace detail

// The picture of all cases, with groups and rungs in order of appearance; `where`: the machine.
[[nodiscard]] inline apps::canvas plot_ladder(const std::vector<measured_case>& cases, const std::string& where) {
  using style = detail::plot_style;
  std::vector<std::vector<measured_case>> groups;
  for (const measured_case& c : cases) {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.front().group == c.group; });
    if (at == groups.end()) at = groups.insert(groups.end(), std::vector<measured_case>{});
    at->push_back(c);
  }
  double height = style::head + style::margin;
  for (std::vector<measured_case>& group : groups) {
    // Peers go below our rungs, each kind in its own order.
    std::stable_partition(group.begin(), group.end(), [](const measured_case& c) { return !c.peer; });
    height += detail::panel_height(group);
  }
  apps::canvas picture(style::width, height, style::background);
  detail::draw_headings(picture, groups, where);
  double y = style::head;
  for (const std::vector<measured_case>& group : groups) {
    detail::draw_panel(picture, group, y);
    y += detail::panel_height(group);
  }
  return picture;
}

}  // namespace spargo::bench
