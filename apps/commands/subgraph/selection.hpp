// The vertices that `subgraph` keeps: by ids, near a vertex, of a component, or of a K-core.
#pragma once

#include "input/input.hpp"

#include <spargo/graph/graph.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

enum class vertex_selection { all, ids, ego, component, k_core };

// As reports and plans name it.
[[nodiscard]] std::string_view to_string(vertex_selection selection) noexcept;

// A selection whose ids are vertices of the graph.
struct selected_by {
  vertex_selection selection = vertex_selection::all;
  std::vector<std::int64_t> ids;  // ascending, each once
  std::int64_t vertex = -1;       // of ego and component; -1: the largest component
  std::int64_t radius = 0;
  std::int64_t k = 0;
};

// The vertices named by a file, ascending: one id a line, plain or gzip; empty lines and those that begin with # or %
// are skipped, an id may come more than once. A name may begin with # or %: one of the graph's is that vertex, and
// among names a word of this form is refused as an unknown one. Throws `error` with file, line and column for an id
// that the graph lacks.
[[nodiscard]] std::vector<std::int64_t> read_vertex_ids(const std::string& path, const vertex_names& names);
// The same in the order of the file, with repetitions; the error says that an id is no `what`.
[[nodiscard]] std::vector<std::int64_t> read_listed_ids(const std::string& path, const vertex_names& names,
                                                        std::string_view what);

// Ascending. Core numbers need in-edges, which are made if they are missing.
template <class I, class O>
[[nodiscard]] array<I, host> select_vertices(const context<host>& ctx, const graph_view<I, O, host>& g,
                                             const selected_by& by);

// Empty if these are the vertices, else one sentence. Sequential, independent of select_vertices.
template <class I, class O>
[[nodiscard]] std::string check_selection(const graph_view<I, O, host>& g, const selected_by& by,
                                          span<const I, host> vertices);

}  // namespace spargo::apps
