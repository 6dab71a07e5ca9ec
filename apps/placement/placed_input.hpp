// Any input as a graph on the backend that will search it, for commands with a GPU algorithm.
//
// Idea: a GPU in use parses edge lists, makes generated graphs, and builds the graph; other inputs are read by the host
// and copied as pairs. If the device does not support a step or lacks memory, the host does it, and the report gives
// the reason. Under `auto` a GPU is opened only if the whole job should finish earlier with it: opening alone takes
// longer than the work on small graphs.
#pragma once

#include "cli/flags.hpp"
#include "input/memory_need.hpp"
#include "placement/graph_command.hpp"
#include "placement/placed_graph.hpp"

namespace spargo::apps {

// Requirements of a command, known before anything is read.
struct graph_work {
  in_edges wanted = in_edges::omit;
  self_loops loops = self_loops::drop;
  bool runs_on_cpu = true;  // false: the algorithm asked for is the GPU's alone
  bool runs_on_gpu = true;  // false: on the CPU only
  double cpu_ns = 0;        // that an entry of the graph costs one thread in all runs
  result_bytes results;
  std::int64_t edge_bytes = 0;  // of the graph's weights, at least
};

// --parse.
void add_placement_flags(flag_set app, graph_flags& flags);

struct placed_input {
  backend where;
  loaded_input from;
  any_placed_graph g;
};
// With progress on a terminal. The graph and the errors do not depend on where it is built.
[[nodiscard]] placed_input load_placed(const graph_flags& flags, const graph_work& work);

}  // namespace spargo::apps
