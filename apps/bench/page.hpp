// --report: all cases as a page of HTML, a ranking per group; longer bars are faster.
#pragma once

#include "bench/plot.hpp"
#include "cli/page.hpp"

#include <spargo/core/config.hpp>

#include <map>
#include <string>
#include <vector>

namespace spargo::bench {

[[nodiscard]] inline std::string text_of_case(const measured_case& c) {
  if (!detail::is_drawn(c)) return c.failed.empty() ? "no time" : c.failed;
  const std::string share = c.fraction > 0 ? fmt::format(", {:.0f}% of {}", 100 * c.fraction, c.ceiling) : "";
  return detail::duration(c.milliseconds) + share;
}

// Groups in order of appearance.
[[nodiscard]] inline std::string page_of(const std::vector<measured_case>& cases, const std::string& command,
                                         const std::string& where) {
  apps::page page;
  page.title = called;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<apps::ranked>> rows;
  for (const measured_case& c : cases) {
    std::vector<apps::ranked>& of_group = rows[c.group];
    if (of_group.empty()) groups.push_back(c.group);
    const double speed = detail::is_drawn(c) ? 1 / c.milliseconds : 0;
    of_group.push_back({c.rung + (c.peer ? " (peer)" : ""), text_of_case(c), speed});
  }
  for (const std::string& group : groups) {
    page.figures.push_back(apps::ranking_of(group, "algorithm", "median time", rows[group]));
  }
  page.headline = {{"cases", std::to_string(cases.size())}, {"groups", std::to_string(groups.size())}};
  page.facts = {{"machine", where}, {"bars", "speed beside the fastest of the group: the longer, the faster"}};
  page.command = command;
  page.origin = "Spargo " SPARGO_VERSION_STRING;
  return html_of(page);
}

}  // namespace spargo::bench
