#include "commands/graph/vertex_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace spargo::apps {

void report_sizes(report& out, const std::vector<std::int64_t>& sizes) {
  constexpr std::size_t most = 20;
  constexpr std::size_t most_for_people = 6;
  json list = json::array();
  std::string text;
  auto at = sizes.begin();
  for (; at != sizes.end() && list.size() < most;) {
    const auto end = std::find_if(at, sizes.end(), [&](std::int64_t size) { return size != *at; });
    if (list.size() < most_for_people) {
      text += text.empty() ? fmt::format("{} of {}", with_commas(end - at), counted(*at, "vertex", "vertices"))
                           : fmt::format(", {} of {}", with_commas(end - at), with_commas(*at));
    }
    list.push_back({*at, static_cast<std::int64_t>(end - at)});
    at = end;
  }
  if (list.size() > most_for_people) text += ", ...";
  const std::int64_t largest = sizes.empty() ? 0 : sizes.front();
  out.keys()["largest"] = largest;
  out.keys()["sizes"] = std::move(list);
  out.row("largest", counted(largest, "vertex", "vertices"));
  if (!text.empty()) out.row("sizes", text);
}

}  // namespace spargo::apps
