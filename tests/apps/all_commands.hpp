// Names of the commands for tests, from the table of dispatch and help.
#pragma once

#include "commands/table.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace spargo::test {

template <class Takes>
[[nodiscard]] std::vector<std::string> commands_where(const Takes& takes) {
  std::vector<std::string> names;
  for (const apps::command* each : apps::all_commands()) {
    if (takes(*each)) names.emplace_back(each->name);
  }
  return names;
}

// In names of tests, which have no hyphens; of no command "spargo".
[[nodiscard]] inline std::string test_name(std::string command) {
  std::replace(command.begin(), command.end(), '-', '_');
  return command.empty() ? "spargo" : command;
}

[[nodiscard]] inline std::vector<std::string> all_commands() {
  return commands_where([](const apps::command&) { return true; });
}
[[nodiscard]] inline std::vector<std::string> graph_commands() {
  return commands_where([](const apps::command& each) { return each.on_graphs(); });
}
[[nodiscard]] inline bool takes_directed(const std::string& command) {
  return !apps::find_command(command)->undirected_only;
}
// The commands that compute, check their results, and have a plan.
[[nodiscard]] inline std::vector<std::string> computing_commands() {
  return commands_where([](const apps::command& each) { return each.kind <= apps::command_kind::matrices; });
}

}  // namespace spargo::test
