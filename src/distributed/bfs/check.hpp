// Rules and error sentences shared by the host and device checks.
#pragma once

#include <spargo/distributed/communicator.hpp>

#include <string>

namespace spargo::detail::distributed {

// The message of the lowest rank that has one.
[[nodiscard]] std::string first_of(const communicator& comm, std::string mine);

// Rules for a single vertex of n; -1: unreached, no parent.
[[nodiscard]] inline SPARGO_HD bool suits_vertex(std::int64_t v, std::int64_t n, std::int64_t source,
                                                 std::int64_t level, std::int64_t parent) {
  return level >= -1 && level < n && parent >= -1 && parent < n && (level < 0) == (parent < 0) &&
         (v == source) == (level == 0) && (v == source) == (parent == v);
}
// Rule for the levels at the ends of an edge; `both`: the edge leads both ways.
[[nodiscard]] inline SPARGO_HD bool suits_edge(bool both, std::int64_t from, std::int64_t to) {
  const bool skips = from >= 0 && (to < 0 || to > from + 1);
  const bool skips_back = both && to >= 0 && (from < 0 || from > to + 1);
  return !skips && !skips_back;
}

[[nodiscard]] std::string vertex_fault(std::int64_t v, std::int64_t n, std::int64_t source, std::int64_t level,
                                       std::int64_t parent);
[[nodiscard]] std::string edge_fault(std::int64_t u, std::int64_t from, std::int64_t v, std::int64_t to);
// For a vertex whose parent has this level; `has_edge`: the tree edge exists. Empty if right.
[[nodiscard]] std::string parent_fault(std::int64_t v, std::int64_t level, std::int64_t parent,
                                       std::int64_t parent_level, bool has_edge);

}  // namespace spargo::detail::distributed
