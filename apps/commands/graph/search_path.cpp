#include "commands/graph/search_path.hpp"

#include <fmt/format.h>

#include <utility>

namespace spargo::apps {

std::int64_t find_target(const std::string& text, const vertex_names& names) {
  return text.empty() ? -1 : expect_vertex(names, "--target", text);
}

void report_path(report& out, json& search, const vertex_names& names, std::int64_t target,
                 const std::vector<std::int64_t>& path) {
  constexpr std::size_t shown = 12;
  search["target"] = to_json(names, target);
  search["path"] = nullptr;
  if (path.empty()) return out.row("path", fmt::format("none: {} is not reached", names.label(target)));
  json labels = json::array();
  std::string text;
  for (const std::int64_t v : path) {
    labels.push_back(to_json(names, v));
    if (labels.size() <= shown || labels.size() == path.size()) {
      text += fmt::format("{}{}", text.empty() ? "" : " ", names.label(v));
    }
    if (labels.size() == shown && path.size() > shown + 1) text += " ...";
  }
  out.row("path", fmt::format("{} ({} edges)", text, with_commas(std::ssize(path) - 1)));
  search["path"] = std::move(labels);
}

}  // namespace spargo::apps
