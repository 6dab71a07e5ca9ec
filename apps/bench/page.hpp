// --report: all cases as a page of HTML, a ranking per group; longer bars are faster.
#pragma once

#include "bench/flags.hpp"
#include "bench/outcome.hpp"
#include "bench/plot.hpp"
#include "cli/page.hpp"
#include "cli/provenance.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace spargo::bench {

[[nodiscard]] inline std::string text_of_case(const measured_case& c) {
  if (!detail::is_drawn(c)) return c.failed.empty() ? "no time" : c.failed;
  const std::string share = c.fraction > 0 ? fmt::format(", {:.0f}% of {}", 100 * c.fraction, c.ceiling) : "";
  return detail::duration(c.milliseconds) + share;
}

// Whether the run was good: `worst_outcome` of it, and of --check-automatic. Nothing was checked where nothing ran.
inline void judge(apps::page& page, const std::vector<measured_case>& cases, bool choices_are_good) {
  const auto without = [&](outcome how) {
    return std::count_if(cases.begin(), cases.end(),
                         [&](const measured_case& c) { return c.failed.starts_with(label_of(how)); });
  };
  const auto skipped = without(outcome::good);
  const auto measured =
      std::count_if(cases.begin(), cases.end(), [](const measured_case& c) { return c.failed.empty(); });
  page.valid = apps::page_verdict::wrong;
  if (worst_outcome() == outcome::wrong) {
    page.verdict = "WRONG: " + apps::counted(without(outcome::wrong), "result");
  } else if (worst_outcome() == outcome::failed) {
    page.verdict = "FAILED: " + apps::counted(without(outcome::failed), "case");
  } else if (!choices_are_good) {
    page.verdict = "automatic is slower than a rung of its own";
  } else if (measured == 0) {
    page.valid = apps::page_verdict::none;
    page.verdict = "nothing was measured";
  } else {
    page.valid = apps::page_verdict::good;
    page.verdict = "valid: no result was wrong";
  }
  if (skipped > 0 && measured > 0) page.verdict += fmt::format(" ({} skipped)", apps::counted(skipped, "case"));
}

// Groups in order of appearance. `threads`, `gpu`: of the run, for people.
[[nodiscard]] inline std::string page_of(const std::vector<measured_case>& cases, const std::string& threads,
                                         const std::string& gpu, bool choices_are_good) {
  apps::page page;
  page.title = called;
  judge(page, cases, choices_are_good);
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
  page.facts = {{"processor", apps::processor_name()},
                {"threads", threads},
                {"GPU", gpu},
                {"bars", "speed beside the fastest of the group: the longer, the faster"}};
  page.command = apps::command_line();
  page.origin = apps::origin_text();
  return html_of(page);
}

}  // namespace spargo::bench
