#include "commands/table.hpp"

#include "cli/nearest.hpp"
#include "cli/text.hpp"
#include "commands/list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace spargo::apps {

const std::vector<const command*>& all_commands() {
  static const std::vector<const command*> all = [] {
    std::vector<const command*> sorted(std::begin(command_list), std::end(command_list));
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->kind < b->kind; });
    return sorted;
  }();
  return all;
}

const command* find_command(std::string_view name) {
  const auto& all = all_commands();
  const auto found = std::find_if(all.begin(), all.end(), [&](const command* c) { return c->name == name; });
  return found == all.end() ? nullptr : *found;
}

namespace {

// Names by which the field, or another program, calls what a command does.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"cc", "components"},
    {"cg", "solve"},
    {"clustering", "triangles"},
    {"connected-components", "components"},
    {"dijkstra", "sssp"},
    {"diameter", "closeness --diameter"},
    {"degree", "info"},
    {"draw", "layout --image"},
    {"ego", "subgraph --ego"},
    {"harmonic", "closeness --harmonic"},
    {"jaccard", "similarity"},
    {"k-core", "cores"},
    {"k-truss", "trusses"},
    {"kcore", "cores"},
    {"ktruss", "trusses"},
    {"label-propagation", "communities --method cdlp"},
    {"leiden", "communities"},
    {"louvain", "communities --method louvain"},
    {"mst", "forest"},
    {"mxv", "spmv"},
    {"plot", "layout --image"},
    {"rcm", "reorder"},
    {"scc", "components --strong"},
    {"shortest-path", "sssp"},
    {"shortest-paths", "sssp"},
    {"spanning-tree", "forest"},
    {"stats", "info"},
    {"tc", "triangles"},
    {"version", "--version"},
    {"wcc", "components"},
};

}  // namespace

std::string no_command(std::string_view name, std::vector<std::string_view> others) {
  std::error_code none;
  if (std::filesystem::is_regular_file(name, none)) {
    return fmt::format("no command before {} (expected one, as in spargo info {})", name, shell_quoted(name));
  }
  std::vector<std::string_view> names = std::move(others);
  for (const command* each : all_commands()) names.emplace_back(each->name);
  std::string_view nearest = nearest_word(name, names);
  const auto same = std::find_if(std::begin(other_names), std::end(other_names),
                                 [&](const auto& other) { return other.first == name; });
  if (same != std::end(other_names)) nearest = same->second;
  const std::string guess = nearest.empty() ? std::string() : fmt::format("did you mean {}? ", nearest);
  return fmt::format("no command '{}' ({}see spargo --help)", name, guess);
}

std::string no_ranks(const command& which) {
  std::vector<std::string_view> names;
  for (const command* each : all_commands()) {
    if (each->on_ranks) names.emplace_back(each->name);
  }
  return fmt::format("{} does not run on several processes ({} and {} do)", which.name,
                     fmt::join(names.begin(), std::prev(names.end()), ", "), names.back());
}

}  // namespace spargo::apps
