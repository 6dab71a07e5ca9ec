#include "commands/subgraph/selection.hpp"

#include "input/memory_limit.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/graph/cores.hpp>
#include <spargo/graph/structure.hpp>
#include <spargo/io/input.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace spargo::apps {

std::string_view to_string(vertex_selection selection) noexcept {
  switch (selection) {
    case vertex_selection::all:
      return "all";
    case vertex_selection::ids:
      return "ids";
    case vertex_selection::ego:
      return "ego";
    case vertex_selection::component:
      return "component";
    case vertex_selection::k_core:
      return "k_core";
  }
  return "";
}

// --- Ids from a file
// --------------------------------------------------------------------------------------------------

namespace {

// Of a line that is no id. A word with # in front may be a name that the graph lacks.
bool is_comment(std::string_view text, const vertex_names& names) {
  if (text.front() != '#' && text.front() != '%') return false;
  return names.are_integers() || text.size() == 1 || text.find_first_of(" \t#%", 1) != std::string_view::npos;
}

}  // namespace

std::vector<std::int64_t> read_listed_ids(const std::string& path, const vertex_names& names, std::string_view what) {
  constexpr std::string_view blanks = " \t";
  input_lines lines{input_file(path)};
  std::vector<std::int64_t> found;
  std::string line;
  while (lines.next(line)) {
    std::string_view text = line;
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) continue;
    const auto column = static_cast<std::int64_t>(first) + 1;
    text = text.substr(first, text.find_last_not_of(blanks) - first + 1);
    const std::optional<std::int64_t> vertex = names.find(text);
    if (!vertex.has_value()) {
      if (is_comment(text, names)) continue;
      constexpr std::size_t shown = 60;
      const std::string_view cut = text.size() > shown ? "..." : "";
      throw error(error_code::invalid_data, lines.at(column),
                  fmt::format("{}{} is no {} (expected {} a line)", text.substr(0, shown), cut, what,
                              names.are_integers() ? "one of its ids" : "one of its names"));
    }
    found.push_back(*vertex);
  }
  return found;
}

std::vector<std::int64_t> read_vertex_ids(const std::string& path, const vertex_names& names) {
  std::vector<std::int64_t> found = read_listed_ids(path, names, "vertex of the graph");
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// --- Selection
// --------------------------------------------------------------------------------------------------------

template <class I, class O>
array<I, host> select_vertices(const context<host>& ctx, const graph_view<I, O, host>& g, const selected_by& by) {
  switch (by.selection) {
    case vertex_selection::ids: {
      array<I, host> vertices(ctx, static_cast<std::int64_t>(by.ids.size()));
      std::transform(by.ids.begin(), by.ids.end(), vertices.begin(), [](std::int64_t v) { return static_cast<I>(v); });
      return vertices;
    }
    case vertex_selection::ego:
      return k_hop_neighborhood(ctx, g, static_cast<I>(by.vertex), by.radius);
    case vertex_selection::component:
      return by.vertex < 0 ? largest_component(ctx, g) : component_of(ctx, g, static_cast<I>(by.vertex));
    default:
      break;
  }
  array<I, host> vertices(ctx, g.vertices());
  std::iota(vertices.begin(), vertices.end(), I{0});
  if (by.selection == vertex_selection::all) return vertices;
  const auto found = cores(ctx, g);
  I* const end =
      std::remove_if(vertices.begin(), vertices.end(), [&](I v) { return std::int64_t{found.cores[v]} < by.k; });
  vertices.truncate(end - vertices.begin());
  return vertices;
}

// --- Check
// ------------------------------------------------------------------------------------------------------------

namespace {

using counts = std::vector<std::int64_t, counted_allocator<std::int64_t>>;

std::size_t index(std::int64_t v) { return static_cast<std::size_t>(v); }

// [vertex] hops from the source up to `radius`; -1: farther. A queue.
template <class I, class O>
counts hops_from(const graph_view<I, O, host>& g, std::int64_t source, std::int64_t radius) {
  counts hops(index(g.vertices()), -1);
  counts queue{source};
  hops[index(source)] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::int64_t u = queue[next];
    if (hops[index(u)] == radius) break;
    for (O e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      const std::int64_t v = g.out.indices[e];
      if (hops[index(v)] >= 0) continue;
      hops[index(v)] = hops[index(u)] + 1;
      queue.push_back(v);
    }
  }
  return hops;
}

// [vertex] a vertex of its component, the same for all of them: a forest of sets with path halving.
template <class I, class O>
counts roots_of(const graph_view<I, O, host>& g) {
  counts above(index(g.vertices()));
  std::iota(above.begin(), above.end(), std::int64_t{0});
  const auto root = [&](std::int64_t v) {
    while (above[index(v)] != v) v = above[index(v)] = above[index(above[index(v)])];
    return v;
  };
  for (std::int64_t u = 0; u < g.vertices(); ++u) {
    for (O e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) above[index(root(u))] = root(g.out.indices[e]);
  }
  for (std::int64_t v = 0; v < g.vertices(); ++v) above[index(v)] = root(v);
  return above;
}

// Whether a vertex is in the K-core, by deleting vertices of fewer than K edges one by one.
template <class I, class O>
std::vector<bool> peel(const graph_view<I, O, host>& g, std::int64_t k) {
  const std::int64_t n = g.vertices();
  const bool directed = g.direction == direction_kind::directed;
  counts first(index(n) + 1, 0);  // in-edges of a directed graph, by target
  counts sources;
  if (directed) {
    for (const I v : g.out.indices) ++first[index(v) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    sources.resize(g.out.indices.size());
    counts next(first.begin(), first.end() - 1);
    for (std::int64_t u = 0; u < n; ++u) {
      for (O e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) sources[index(next[index(g.out.indices[e])]++)] = u;
    }
  }
  const auto for_each_neighbour = [&](std::int64_t v, const auto& f) {
    for (O e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e) {
      if (g.out.indices[e] != v) f(std::int64_t{g.out.indices[e]});
    }
    for (std::int64_t e = directed ? first[index(v)] : 0; directed && e < first[index(v) + 1]; ++e) {
      if (sources[index(e)] != v) f(sources[index(e)]);
    }
  };
  counts degrees(index(n), 0);
  counts waiting;
  std::vector<bool> kept(index(n), true);
  for (std::int64_t v = 0; v < n; ++v) {
    for_each_neighbour(v, [&](std::int64_t) { ++degrees[index(v)]; });
    if (degrees[index(v)] >= k) continue;
    kept[index(v)] = false;
    waiting.push_back(v);
  }
  while (!waiting.empty()) {
    const std::int64_t v = waiting.back();
    waiting.pop_back();
    for_each_neighbour(v, [&](std::int64_t u) {
      if (--degrees[index(u)] >= k || !kept[index(u)]) return;
      kept[index(u)] = false;
      waiting.push_back(u);
    });
  }
  return kept;
}

// [vertex] whether it is to be chosen.
template <class I, class O>
std::vector<bool> expected_selection(const graph_view<I, O, host>& g, const selected_by& by) {
  const auto n = index(g.vertices());
  std::vector<bool> chosen(n, by.selection == vertex_selection::all);
  if (by.selection == vertex_selection::k_core) return peel(g, by.k);
  if (by.selection == vertex_selection::ids) {
    for (const std::int64_t v : by.ids) chosen[index(v)] = true;
  } else if (by.selection == vertex_selection::ego) {
    const counts hops = hops_from(g, by.vertex, by.radius);
    for (std::size_t v = 0; v < n; ++v) chosen[v] = hops[v] >= 0;
  } else if (by.selection == vertex_selection::component && n > 0) {
    const counts roots = roots_of(g);
    std::size_t of = index(std::max<std::int64_t>(by.vertex, 0));
    if (by.vertex < 0) {
      counts sizes(n, 0);
      for (const std::int64_t root : roots) ++sizes[index(root)];
      for (std::size_t v = 1; v < n; ++v) of = sizes[index(roots[v])] > sizes[index(roots[of])] ? v : of;
    }
    for (std::size_t v = 0; v < n; ++v) chosen[v] = roots[v] == roots[of];
  }
  return chosen;
}

}  // namespace

template <class I, class O>
std::string check_selection(const graph_view<I, O, host>& g, const selected_by& by, span<const I, host> vertices) {
  const std::vector<bool> expected = expected_selection(g, by);
  std::int64_t next = 0;
  for (std::int64_t v = 0; v < g.vertices(); ++v) {
    const bool chosen = next < vertices.size() && vertices[next] == v;
    next += chosen ? 1 : 0;
    if (chosen == expected[index(v)]) continue;
    return fmt::format("vertex {} is {} (expected {})", v, chosen ? "selected" : "not selected",
                       chosen ? "not selected" : "selected");
  }
  return next == vertices.size() ? "" : "the selected vertices do not ascend";
}

#define INSTANTIATE(I, O)                                                                                           \
  template array<I, host> select_vertices(const context<host>&, const graph_view<I, O, host>&, const selected_by&); \
  template std::string check_selection(const graph_view<I, O, host>&, const selected_by&, span<const I, host>);
INSTANTIATE(std::int32_t, std::int32_t)
INSTANTIATE(std::int32_t, std::int64_t)
INSTANTIATE(std::int64_t, std::int64_t)
#undef INSTANTIATE

}  // namespace spargo::apps
