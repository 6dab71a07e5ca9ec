// Any input as a graph where it will be searched: for commands that have a GPU's algorithm.
//
// Idea: where a GPU is in use, the text of an edge list is parsed there and a generated graph is made there, other
// inputs are read by the host and copied as pairs; the graph is built from them on the device, and stays. What the
// device does not do, and what does not fit its memory, the host does, and the report says why. Under `auto` a GPU is
// opened only if the whole job should finish earlier with it: opening alone takes longer than small graphs do.
#pragma once

#include "input/memory_need.hpp"
#include "placement/graph_command.hpp"
#include "placement/placed_graph.hpp"

namespace spargo::apps {

// What a command asks, known before anything is read.
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
void add_placement_flags(CLI::App& app, graph_flags& flags);

struct placed_input {
  backend where;
  loaded_input from;
  any_placed_graph g;
};
// With progress on a terminal. The graph is the same wherever it was built, and so are errors.
[[nodiscard]] placed_input load_placed(const graph_flags& flags, const graph_work& work);

}  // namespace spargo::apps
