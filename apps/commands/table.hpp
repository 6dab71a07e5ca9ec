// All commands, in the order of `spargo --help`: what dispatch, help, completion and man pages iterate over.
#pragma once

#include "cli/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

extern const command bench_command;
extern const command betweenness_command;
extern const command bfs_command;
extern const command communities_command;
extern const command components_command;
extern const command convert_command;
extern const command cores_command;
extern const command help_command;
extern const command info_command;
extern const command pagerank_command;
extern const command plan_command;
extern const command spmv_command;
extern const command triangles_command;
extern const command sssp_command;

[[nodiscard]] const std::vector<const command*>& all_commands();

// Null: there is none of this name.
[[nodiscard]] const command* find_command(std::string_view name);

// "no command 'bsf' (did you mean bfs? see spargo --help)".
[[nodiscard]] std::string no_command(std::string_view name);

// "sssp does not run on several processes (bfs, components, pagerank and spmv do)".
[[nodiscard]] std::string no_ranks(const command& which);

}  // namespace spargo::apps
