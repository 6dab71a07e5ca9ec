// The searches of `spargo bfs` on the backend, each timed and checked. The graph's types are known here alone; what
// comes back is plain facts.
#pragma once

#include "placement/graph_command.hpp"
#include "placement/placed_graph.hpp"

#include <spargo/graph/bfs.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spargo::apps {

[[nodiscard]] std::int64_t out_degree(const any_placed_graph& g, std::int64_t vertex);

// What the GPU has to hold and to do, before anything is copied to it. `device`: as the flag says; its branching is
// looked for where `auto` may ask for it.
[[nodiscard]] search_size size_of(const any_placed_graph& g, bfs_algorithm algorithm, const std::string& device);

// The same from a graph's size, without its branching.
[[nodiscard]] search_size complete(search_size size, std::int64_t index_bytes, bfs_algorithm algorithm);

// One source's search, its result on the host; the spans are valid until the next.
struct search {
  std::int64_t source = 0;
  std::int64_t reached = 0;
  span<const std::int64_t, host> level_sizes;
  span<const std::int32_t, host> levels;
  std::variant<span<const std::int32_t, host>, span<const std::int64_t, host>> parents;
  time_summary times;
  double mteps = 0;
  verdict fault;
};

struct search_settings {
  bfs_options options;
  bool validate = true;
  std::int64_t runs = 1;
};

struct plan_facts {
  bfs_algorithm algorithm = bfs_algorithm::automatic;
  std::string reason;
  double upload_ms = 0, plan_ms = 0;
  double total_ms = 0;  // to the first result
  std::int64_t workspace_bytes = 0;
  double check_ms = 0;  // of all searches
};

// All searches of one graph. `sink` sees each, finished and checked.
[[nodiscard]] plan_facts search_all(const backend& where, const any_placed_graph& g,
                                    const std::vector<std::int64_t>& sources, const search_settings& how,
                                    const stopwatch& since_start, const std::function<void(const search&)>& sink);

}  // namespace spargo::apps
