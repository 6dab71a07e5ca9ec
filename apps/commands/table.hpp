// All commands: what dispatch, help, completion, man pages and tests iterate over. Every other x.cpp in this folder
// defines x_command; CMake writes their list, which table.cpp alone includes.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

// In the order of `spargo --help`: by kind, then by name.
[[nodiscard]] const std::vector<const command*>& all_commands();

// Null: there is none of this name.
[[nodiscard]] const command* find_command(std::string_view name);

// "no command 'bsf' (did you mean bfs? see spargo --help)". Knows other names of what commands do, as "dijkstra".
// `others`: further words that would do.
[[nodiscard]] std::string no_command(std::string_view name, std::vector<std::string_view> others = {});

// "sssp does not run on several processes (bfs, components, pagerank and spmv do)".
[[nodiscard]] std::string no_ranks(const command& which);

}  // namespace spargo::apps
