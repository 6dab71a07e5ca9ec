// --report: a command's report as an HTML page, made from its rows and JSON keys. Nothing here knows a command: what a
// key holds decides how it is drawn. Counts by size, level or degree become bars or points, lists of vertices rankings,
// lists of objects tables, long lists of numbers lines.
#pragma once

#include "cli/page.hpp"
#include "cli/report.hpp"

#include <string>
#include <utility>
#include <vector>

namespace spargo::apps {

struct page_content {
  std::string title;
  const std::vector<std::pair<std::string, std::string>>& rows;  // those of the report for people
  const std::vector<std::string>& warnings;
  const json& keys;
  const json& figures;  // as keys, drawn only
};

[[nodiscard]] page page_of(const page_content& content);

}  // namespace spargo::apps
