#include "commands/convert/conversion.hpp"

#include "cli/text.hpp"
#include "input/lightest.hpp"

#include <fmt/format.h>

namespace spargo::apps {

void warn_of_isolated(const conversion& c, std::int64_t isolated) {
  if (isolated > 0)
    c.warn(fmt::format("{} without edges: not in an edge list", counted(isolated, "vertex", "vertices")));
}

void warn_of_weights(const conversion& c) { c.warn("an .el file has no weights: they are omitted (.wel keeps them)"); }

void warn_of_direction(const conversion& c) {
  if (c.input.directed) return;
  c.warn(
      "an edge list does not say that it is undirected: both directions are listed (use --undirected in graph "
      "commands)");
}

void warn_of_ids(const conversion& c, const vertex_names& names) {
  if (!names.are_integers()) {
    return c.warn("names become row numbers from 1, in the order of their first lines, and are lost (.spg keeps them)");
  }
  for (std::int64_t v = 0; v < names.vertices; ++v) {
    if (names.id(v) == v + 1) continue;
    return c.warn("ids become row numbers from 1, in ascending order of id (.spg keeps the ids)");
  }
}

void warn_of_lightest(const conversion& c) {
  c.warn("edges listed more than once are written once, with the lightest of their weights: products sum them");
}

void warn_of_sums(const conversion& c) {
  if (!c.input.mapped.has_value() || !has_lightest(c.input.mapped->notes())) return;
  if (c.to.kind == target_kind::metis) return warn_of_lightest(c);
  c.warn("edges listed more than once are written once, with the sum of their weights: sssp takes the lightest");
}

void warn_of_first_vertex(const conversion& c, const input_facts& facts, std::int64_t first) {
  if (first < 0 || first == facts.first_vertex) return;
  c.warn(fmt::format("the first vertex is {}, where {} begins with {}: bfs starts there unless --source says otherwise",
                     facts.names.label(first), c.source(), facts.names.label(facts.first_vertex)));
}

}  // namespace spargo::apps
