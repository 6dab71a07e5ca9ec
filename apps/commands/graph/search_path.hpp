// --target of searches: the path to it along the tree of parents.
#pragma once

#include "cli/report.hpp"
#include "input/input.hpp"

#include <spargo/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace spargo::apps {

// The vertex that the file calls so; -1 for an empty text. Throws invalid_argument where it has none.
[[nodiscard]] std::int64_t find_target(const std::string& text, const vertex_names& names);

// From the source, which is its own parent, to the target; empty where that was not reached (its parent is -1). Throws
// invalid_data where parents lead round in a circle. O(length).
template <class Parents>
[[nodiscard]] std::vector<std::int64_t> trace_path(const Parents& parents, std::int64_t target) {
  std::vector<std::int64_t> path;
  if (parents[target] < 0) return path;
  for (std::int64_t v = target;; v = parents[v]) {
    if (static_cast<std::int64_t>(path.size()) == parents.size()) {
      throw error(error_code::invalid_data, "--target: the parents of the search form a cycle");
    }
    path.push_back(v);
    if (parents[v] == v) break;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// The keys "target" and "path" of a search (null where there is none), and for people the row "path".
void report_path(report& out, json& search, const vertex_names& names, std::int64_t target,
                 const std::vector<std::int64_t>& path);

}  // namespace spargo::apps
