// Shared by the host and the device search: checks of the graph, source and options, and the choice of an algorithm.
#pragma once

#include <spargo/graph/bfs.hpp>

#include <string>

namespace spargo::detail::bfs {

enum class backend_kind { host, device };

template <class Space>
inline constexpr backend_kind backend_of = std::same_as<Space, host> ? backend_kind::host : backend_kind::device;

struct graph_facts {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;  // as stored: an undirected edge counts twice
  bool can_pull = false;   // undirected, or with in-edges
};

// What a plan runs: an algorithm (never automatic) and its directions.
struct choice {
  bfs_algorithm algorithm = bfs_algorithm::sequential;
  bfs_direction direction = bfs_direction::push;  // automatic: chosen for each level; else forced
  std::string reason;
};

// Throws unsupported if the backend lacks the algorithm or an option, or if the algorithm or the graph does not support
// a forced pull; invalid_argument unless the target is a vertex or -1 and the depth limit at least -1.
[[nodiscard]] choice choose(backend_kind backend, const graph_facts& facts, const bfs_options& options);

// The edges that a pull follows: in-edges.
template <class I, class O, class Space>
[[nodiscard]] csr_pattern_view<I, O, Space> pull_edges(const graph_view<I, O, Space>& g) {
  return g.direction == direction_kind::undirected && !g.has_in_edges() ? g.out : g.in;
}

template <class I, class O, class Space>
[[nodiscard]] graph_facts facts_of(const graph_view<I, O, Space>& g) {
  return {g.vertices(), g.out.nnz(), g.direction == direction_kind::undirected || g.has_in_edges()};
}

// Limits that end a search early.
struct search_limits {
  std::int64_t target = -1;
  std::int64_t max_depth = -1;

  // Whether the finished level `depth` is the last one. found_target(v): whether vertex v was reached.
  template <class Found>
  [[nodiscard]] bool end_at(std::int64_t depth, Found&& found_target) const {
    return depth == max_depth || (target >= 0 && found_target(target));
  }
};

[[nodiscard]] constexpr bool wants_levels(bfs_output output) { return output != bfs_output::parents; }
[[nodiscard]] constexpr bool wants_parents(bfs_output output) { return output != bfs_output::levels; }

}  // namespace spargo::detail::bfs
