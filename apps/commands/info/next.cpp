#include "commands/info/next.hpp"

#include "cli/text.hpp"

#include <fmt/format.h>

#include <vector>

namespace spargo::apps {

void suggest_next(report& out, const input_description& input, bool graph, const std::string& flags) {
  if (input.kind != input_kind::generator && !input.can_be_read_again()) return;
  const json& keys = out.keys();
  const auto count = [&](const char* key) {
    return keys.contains(key) && keys[key].is_number() ? keys[key].get<double>() : 0;
  };
  const std::string file = shell_quoted(input.path);
  std::vector<std::string> commands;
  if (graph && count("edges") > 0) {
    commands.push_back(fmt::format("spargo pagerank {}{} --top 10", file, flags));
    commands.push_back(
        fmt::format("spargo {} {}{}", count("components") > 1 ? "components" : "communities", file, flags));
    commands.push_back(fmt::format("spargo bfs {}{} --source max-degree --report bfs.html", file, flags));
  } else if (!graph && count("nnz") > 0) {
    commands.push_back(fmt::format("spargo spmv {} --format all", file));
    commands.push_back(fmt::format("spargo info {} --report info.html", file));
    if (count("rows") == count("cols")) commands.push_back(fmt::format("spargo pagerank {} --top 10", file));
  }
  for (const std::string& each : commands) out.row(&each == commands.data() ? "next" : "", each);
}

}  // namespace spargo::apps
