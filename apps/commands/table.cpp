#include "commands/table.hpp"

#include "cli/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

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

std::string no_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const command* each : all_commands()) names.emplace_back(each->name);
  const std::string_view nearest = nearest_word(name, names);
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
