// Pairs of vertices that a file lists, as a flag names it.
#pragma once

#include "input/input.hpp"

#include <spargo/core/array.hpp>

#include <string>

namespace spargo::apps {

template <class I>
struct vertex_pairs {
  array<I, host> sources;
  array<I, host> targets;
};

// Reads an edge list of pairs, named as the graph names its vertices, in the file's order. Throws `error` for a vertex
// that the graph lacks; the message begins with the flag.
template <class I>
[[nodiscard]] vertex_pairs<I> read_vertex_pairs(const std::string& flag, const std::string& path,
                                                const vertex_names& names);

}  // namespace spargo::apps
