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
    const bool square = count("rows") == count("cols");
    const bool same =
        square && ((input.symmetry == symmetry_kind::symmetric && input.field != matrix_market_field::complex) ||
                   input.symmetry == symmetry_kind::hermitian);
    const bool finite = count("not_finite") == 0 && input.field != matrix_market_field::pattern;
    // What has a diagonal and as many entries as a system that an iteration solves.
    if (square && finite && count("diagonal") == count("rows"))
      commands.push_back(fmt::format("spargo solve {}", file));
    if (same && finite) commands.push_back(fmt::format("spargo eigs {}", file));
    if (square) commands.push_back(fmt::format("spargo reorder {}", file));
    if (finite) commands.push_back(fmt::format("spargo multiply {}", file));
    commands.push_back(fmt::format("spargo info {} --report info.html", file));
    if (square) commands.push_back(fmt::format("spargo pagerank {} --top 10", file));
  }
  for (const std::string& each : commands) out.row(&each == commands.data() ? "next" : "", each);
}

}  // namespace spargo::apps
