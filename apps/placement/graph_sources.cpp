#include "placement/graph_sources.hpp"

#include "cli/cli.hpp"
#include "input/memory_limit.hpp"
#include "input/random.hpp"
#include "placement/ranks.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace spargo::apps {

namespace {

[[noreturn]] void no_vertex(const std::string& message) { throw error(error_code::invalid_argument, message); }

// Vertices with out-edges in a random order: the first `wanted` places of a Fisher-Yates shuffle.
std::vector<std::int64_t> draw(std::int64_t wanted, std::uint64_t seed, std::int64_t vertices,
                               const degree_function& out_degree) {
  std::vector<std::int64_t, counted_allocator<std::int64_t>> candidates;
  for (std::int64_t v = 0; v < vertices; ++v) {
    if (out_degree(v) > 0) candidates.push_back(v);
  }
  if (candidates.empty()) no_vertex("--source: no vertex has an edge to another one");
  const std::size_t available = candidates.size();
  std::vector<std::int64_t> drawn;
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i) {
    if (i < available) std::swap(candidates[i], candidates[i + random_bits(seed, i) % (available - i)]);
    drawn.push_back(candidates[i % available]);
  }
  return drawn;
}

std::int64_t max_degree_vertex(std::int64_t vertices, const degree_function& out_degree) {
  std::int64_t best = 0;
  for (std::int64_t v = 1; v < vertices; ++v) {
    if (out_degree(v) > out_degree(best)) best = v;
  }
  return best;
}

}  // namespace

void check_source_flags(const source_request& request) {
  std::uint64_t seed = 0;
  const std::string& text = request.source;
  const bool random = parse_random("--source", text, seed);
  if (request.sources > 0 && !text.empty() && !random) {
    throw usage_error(
        fmt::format("--sources draws at random: --source {} does not go with it (expected random:SEED)", text));
  }
}

std::vector<std::int64_t> choose_sources(const source_request& request, const input_facts& facts,
                                         const degree_function& out_degree) {
  const std::int64_t vertices = facts.names.vertices;
  if (vertices == 0) {
    throw error(error_code::invalid_argument, source_position{request.file, 0, 0},
                "the graph has no vertices to start from");
  }
  std::uint64_t seed = 1;
  const bool random = parse_random("--source", request.source, seed);
  if (request.sources > 0) return draw(request.sources, seed, vertices, out_degree);
  if (random) return draw(1, seed, vertices, out_degree);
  if (request.source.empty() || request.source == "first") return {std::max<std::int64_t>(facts.first_vertex, 0)};
  if (request.source == "max-degree") return {max_degree_vertex(vertices, out_degree)};
  return {expect_vertex(facts.names, "--source", request.source, ", first, max-degree or random[:SEED]")};
}

std::vector<std::int64_t> choose_sources_on_ranks(const communicator& comm, const source_request& request,
                                                  const input_facts& facts, std::int64_t first,
                                                  span<const std::int64_t, host> offsets) {
  struct hub {
    std::int64_t degree = -1;
    std::int64_t vertex = -1;
  } largest;
  std::vector<unsigned char> has_edges;  // of this rank's vertices
  together(comm, [&] {
    if (!request.needs_degrees()) return;
    const std::int64_t rows = offsets.size() - 1;
    if (request.is_random()) has_edges.resize(static_cast<std::size_t>(rows));
    for (std::int64_t v = 0; v < rows; ++v) {
      const std::int64_t degree = offsets[v + 1] - offsets[v];
      if (request.is_random()) has_edges[static_cast<std::size_t>(v)] = degree > 0 ? 1 : 0;
      if (degree > largest.degree) largest = {degree, first + v};
    }
  });
  for (const hub& each : comm.all_gather(largest)) largest = each.degree > largest.degree ? each : largest;
  const std::vector<unsigned char> all = comm.all_gather(span<const unsigned char, host>(has_edges));
  std::vector<std::int64_t> sources;
  on_first(comm, [&] {
    sources = choose_sources(request, facts, [&](std::int64_t v) -> std::int64_t {
      return request.is_random() ? all[static_cast<std::size_t>(v)] : v == largest.vertex ? 1 : 0;
    });
  });
  return comm.all_gather(span<const std::int64_t, host>(sources));
}

}  // namespace spargo::apps
