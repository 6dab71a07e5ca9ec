// The plan of a command on a graph: what the command knows of itself, put together with the input's size.
#pragma once

#include "placement/placed_input.hpp"
#include "placement/plan.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace spargo::apps {

struct graph_plan {
  std::string command;
  std::string algorithm;  // --algorithm
  graph_work work;
  bool reads_weights = false;  // where there are some
  // Of a search on a GPU, from the graph's size and the bytes of an index.
  std::function<search_size(const search_size& graph, std::int64_t index_bytes)> complete{};
  std::function<std::int64_t(const rank_share& own)> rank_bytes{};  // of a rank's GPU
  bool undirected_on_ranks = false;                                 // ranks take edges both ways
  bool gathers_results = true;                                      // every rank has those of all vertices in the end
  bool made_on_gpus = false;                                        // ranks with a GPU each make generated graphs there
};

exit_status plan_graph(const graph_flags& flags, const plan_scale& scale, const graph_plan& plan);

}  // namespace spargo::apps
