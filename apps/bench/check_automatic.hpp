// Whether `automatic` is as fast as the rungs that it chooses from, according to the measurements.
//
// A group's `automatic` is compared with the group's other rungs of the library. Rungs with a prefix (csr:merge_path)
// belong to one format; an automatic with a prefix is compared with those of the same format. A product without a copy
// of the matrix is not compared with copying ones, which `automatic_copied` may choose.
#pragma once

#include "bench/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::bench {

struct slow_choice {
  std::string group;
  std::string rung;  // automatic, or csr:automatic
  double milliseconds = 0;
  std::string faster;  // fastest rung of the group that it could have chosen
  double faster_milliseconds = 0;

  [[nodiscard]] double percent() const { return 100 * (milliseconds / faster_milliseconds - 1); }
};

namespace detail {

inline std::string_view prefix_of(std::string_view rung) {
  const std::size_t colon = rung.find(':');
  return colon == std::string_view::npos ? std::string_view{} : rung.substr(0, colon + 1);
}

inline std::string_view without_prefix(std::string_view rung) { return rung.substr(prefix_of(rung).size()); }

inline bool is_automatic(std::string_view rung) { return without_prefix(rung).starts_with("automatic"); }

inline bool could_choose(std::string_view automatic, std::string_view rung) {
  if (is_automatic(rung) || prefix_of(rung) != prefix_of(automatic)) return false;
  if (without_prefix(automatic) != "automatic") return true;
  for (const std::string_view copy : {"compressed", "blocked", "binned"}) {
    if (without_prefix(rung) == copy) return false;
  }
  return true;
}

}  // namespace detail

// All measured automatic choices that are slower by more than `percent`, in the order of the cases.
[[nodiscard]] inline std::vector<slow_choice> slow_choices(const std::vector<measured_case>& cases, double percent) {
  std::map<std::string, std::vector<const measured_case*>> groups;
  for (const measured_case& c : cases) {
    if (c.failed.empty() && !c.peer) groups[c.group].push_back(&c);
  }
  std::vector<slow_choice> slow;
  for (const measured_case& c : cases) {
    if (!c.failed.empty() || c.peer || !detail::is_automatic(c.rung)) continue;
    const measured_case* fastest = nullptr;
    for (const measured_case* other : groups[c.group]) {
      if (!detail::could_choose(c.rung, other->rung)) continue;
      if (fastest == nullptr || other->milliseconds < fastest->milliseconds) fastest = other;
    }
    if (fastest == nullptr || c.milliseconds <= fastest->milliseconds * (1 + percent / 100)) continue;
    slow.push_back({c.group, c.rung, c.milliseconds, fastest->rung, fastest->milliseconds});
  }
  return slow;
}

// Number of cases that `slow_choices` examines: a check of none proves nothing.
[[nodiscard]] inline std::int64_t automatic_cases(const std::vector<measured_case>& cases) {
  return std::count_if(cases.begin(), cases.end(), [](const measured_case& c) {
    return c.failed.empty() && !c.peer && detail::is_automatic(c.rung);
  });
}

// One line each, slowest first; empty if none.
[[nodiscard]] inline std::string slow_choices_table(std::vector<slow_choice> slow) {
  std::stable_sort(slow.begin(), slow.end(),
                   [](const slow_choice& a, const slow_choice& b) { return a.percent() > b.percent(); });
  std::string text;
  for (const slow_choice& s : slow) {
    text += fmt::format("  {:<52} {:>11.4f} ms, {:<24} {:>11.4f} ms: {:.1f} percent slower\n", s.group + "/" + s.rung,
                        s.milliseconds, s.faster, s.faster_milliseconds, s.percent());
  }
  return text;
}

}  // namespace spargo::bench
