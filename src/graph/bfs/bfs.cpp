// Names, checks and the choice of algorithm: all of a search that does not touch the graph's contents.
#include "graph/bfs/common.hpp"

#include "core/rethrow.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <array>

namespace spargo {

namespace {

struct tuning {
  // Below this many vertices plus edges a host search ends before a second thread has woken up (about 10 us).
  static constexpr std::int64_t sequential_below = 4096;
};

struct named_algorithm {
  bfs_algorithm algorithm;
  std::string_view name;
  bool on_host;
  bool on_device;
};

constexpr std::array<named_algorithm, 6> algorithms{{
    {bfs_algorithm::automatic, "automatic", true, true},
    {bfs_algorithm::sequential, "sequential", true, false},
    {bfs_algorithm::global_queue, "global_queue", false, true},
    {bfs_algorithm::block_queue, "block_queue", false, true},
    {bfs_algorithm::load_balanced, "load_balanced", true, true},
    {bfs_algorithm::direction_optimizing, "direction_optimizing", true, true},
}};

const named_algorithm& entry_of(bfs_algorithm algorithm) {
  for (const named_algorithm& a : algorithms) {
    if (a.algorithm == algorithm) return a;
  }
  detail::throw_invalid_argument(fmt::format("bfs: no algorithm has the number {}", static_cast<int>(algorithm)));
}

void check_backend(detail::bfs_backend backend, bfs_algorithm algorithm) {
  const named_algorithm& entry = entry_of(algorithm);
  const bool here = backend == detail::bfs_backend::host ? entry.on_host : entry.on_device;
  if (here) return;
  throw error(error_code::unsupported, fmt::format("bfs: algorithm {} runs on the {} only", entry.name,
                                                   backend == detail::bfs_backend::host ? "device" : "host"));
}

void check_pull(const detail::bfs_facts& facts, bfs_algorithm algorithm) {
  if (algorithm != bfs_algorithm::automatic && algorithm != bfs_algorithm::direction_optimizing) {
    throw error(
        error_code::unsupported,
        fmt::format("bfs: algorithm {} only pushes (direction pull needs direction_optimizing)", to_string(algorithm)));
  }
  if (!facts.can_pull) {
    throw error(error_code::unsupported,
                "bfs: direction pull on a directed graph without in-edges (add_in_edges builds them)");
  }
}

void check_limits(const detail::bfs_facts& facts, const bfs_options& options) {
  SPARGO_EXPECTS(options.target >= -1 && options.target < facts.vertices,
                 fmt::format("bfs: target {} is not a vertex (expected 0 to {}, or -1 for none)", options.target,
                             facts.vertices - 1));
  SPARGO_EXPECTS(options.max_depth >= -1,
                 fmt::format("bfs: depth limit {} (expected at least 0, or -1 for none)", options.max_depth));
}

detail::bfs_choice choose_automatically(detail::bfs_backend backend, const detail::bfs_facts& facts,
                                        bfs_direction direction) {
  const bool on_host = backend == detail::bfs_backend::host;
  if (direction == bfs_direction::pull) {
    return {bfs_algorithm::direction_optimizing, direction, "pull was asked for, and no other algorithm pulls"};
  }
  if (on_host && facts.vertices + facts.edges < tuning::sequential_below) {
    return {bfs_algorithm::sequential, bfs_direction::push, "the graph is too small to share among threads"};
  }
  if (direction == bfs_direction::automatic && facts.can_pull) {
    return {bfs_algorithm::direction_optimizing, direction, "in-edges are there, so large frontiers can be pulled"};
  }
  const std::string why = direction == bfs_direction::push ? "push was asked for" : "without in-edges it can only push";
  return {bfs_algorithm::load_balanced, bfs_direction::push, why};
}

}  // namespace

std::string_view to_string(bfs_algorithm algorithm) { return entry_of(algorithm).name; }

bfs_algorithm parse_bfs_algorithm(std::string_view name) try {
  std::string known;
  for (const named_algorithm& a : algorithms) {
    if (a.name == name) return a.algorithm;
    known += (known.empty() ? "" : ", ") + std::string(a.name);
  }
  detail::throw_invalid_argument(fmt::format("bfs: unknown algorithm '{}' (expected one of {})", name, known));
} catch (...) {
  detail::rethrow("bfs");
}

namespace detail {

bfs_choice choose_bfs(bfs_backend backend, const bfs_facts& facts, const bfs_options& options) {
  check_backend(backend, options.algorithm);
  check_limits(facts, options);
  if (options.direction == bfs_direction::pull) check_pull(facts, options.algorithm);
  switch (options.algorithm) {
    case bfs_algorithm::automatic:
      return choose_automatically(backend, facts, options.direction);
    case bfs_algorithm::direction_optimizing:
      if (options.direction == bfs_direction::automatic && !facts.can_pull) {
        return {options.algorithm, bfs_direction::push, "asked for; without in-edges it only pushes"};
      }
      return {options.algorithm, options.direction, "asked for"};
    default:
      return {options.algorithm, bfs_direction::push, "asked for"};
  }
}

void check_bfs_source(std::int64_t source, std::int64_t vertices) {
  SPARGO_EXPECTS(source >= 0 && source < vertices,
                 vertices == 0
                     ? fmt::format("bfs: source {} in a graph without vertices", source)
                     : fmt::format("bfs: source {} is not a vertex (expected 0 to {})", source, vertices - 1));
}

void check_bfs_shapes(const bfs_shape& out, const bfs_shape& in) {
  const auto check = [](const bfs_shape& s, const char* name) {
    SPARGO_EXPECTS(s.rows >= 0 && s.rows == s.cols,
                   fmt::format("bfs: {}-edges are {} x {} (expected a square)", name, s.rows, s.cols));
    SPARGO_EXPECTS(s.offsets == s.rows + 1 || (s.rows == 0 && s.offsets == 0),
                   fmt::format("bfs: {} offsets of {}-edges for {} vertices (expected one more than vertices)",
                               s.offsets, name, s.rows));
  };
  check(out, "out");
  if (!in.present) return;
  check(in, "in");
  SPARGO_EXPECTS(in.rows == out.rows && in.entries == out.entries,
                 fmt::format("bfs: {} in-edges of {} vertices beside {} out-edges of {}", in.entries, in.rows,
                             out.entries, out.rows));
}

}  // namespace detail

}  // namespace spargo
