#include "commands/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spargo::apps {

namespace {

// Edits from one word to the other: letters put in, left out, replaced, or swapped with the next (optimal string
// alignment, after Damerau).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

const std::vector<const command*>& all_commands() {
  static const std::vector<const command*> all = {&bfs_command,       &components_command,  &communities_command,
                                                  &pagerank_command,  &betweenness_command, &sssp_command,
                                                  &triangles_command, &spmv_command,        &info_command,
                                                  &convert_command,   &bench_command,       &help_command};
  return all;
}

const command* find_command(std::string_view name) {
  const auto& all = all_commands();
  const auto found = std::find_if(all.begin(), all.end(), [&](const command* c) { return c->name == name; });
  return found == all.end() ? nullptr : *found;
}

std::string no_command(std::string_view name) {
  constexpr std::size_t longest = 32;  // of what could be a mistyped command
  std::string_view nearest;
  std::size_t distance = 3;  // two edits at most, and fewer than letters
  for (const command* c : all_commands()) {
    const std::size_t edits = name.size() > longest ? distance : edit_distance(name, c->name);
    if (edits >= distance || edits >= std::string_view(c->name).size()) continue;
    nearest = c->name;
    distance = edits;
  }
  const std::string guess = nearest.empty() ? std::string() : fmt::format("did you mean {}? ", nearest);
  return fmt::format("no command '{}' ({}see spargo --help)", name, guess);
}

}  // namespace spargo::apps
