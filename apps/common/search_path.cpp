#include "common/search_path.hpp"

#include <fmt/format.h>

#include <optional>

namespace spargo::apps {

void check_target(const std::string& text) {
  std::int64_t id = 0;
  if (text.empty() || (parse_integer(text, id) && id >= 0)) return;
  throw usage_error(fmt::format("--target: {} is not a vertex (expected an id from 0 to 2^63-1)", text));
}

std::int64_t find_target(const std::string& text, const vertex_names& names) {
  if (text.empty()) return -1;
  std::int64_t id = 0;
  (void)parse_integer(text, id);
  const std::optional<std::int64_t> vertex = names.vertex(id);
  if (!vertex.has_value()) {
    throw error(error_code::invalid_argument, fmt::format("--target {}: the file has no such vertex", id));
  }
  return *vertex;
}

void report_path(report& out, json& search, const vertex_names& names, std::int64_t target,
                 const std::vector<std::int64_t>& path) {
  constexpr std::size_t shown = 12;
  search["target"] = names.id(target);
  search["path"] = nullptr;
  if (path.empty()) return out.row("path", fmt::format("none: {} is not reached", names.id(target)));
  std::vector<std::int64_t> ids;
  std::string text;
  for (const std::int64_t v : path) {
    ids.push_back(names.id(v));
    if (ids.size() <= shown || ids.size() == path.size())
      text += fmt::format("{}{}", text.empty() ? "" : " ", ids.back());
    if (ids.size() == shown && path.size() > shown + 1) text += " ...";
  }
  out.row("path", fmt::format("{} ({} edges)", text, with_commas(std::ssize(path) - 1)));
  search["path"] = list_of(ids);
}

}  // namespace spargo::apps
