// Recognises METIS and DIMACS graphs, which have no magic number, from the head of the text and the file's name.
//
// DIMACS is recognised by its problem line. A file is METIS if its head follows METIS's rules and cannot be an edge
// list, whose lines have equally many columns; if named .graph or .metis, also if it could be either. If comments fill
// the head, the name decides (lines of c without a name: arcs).
#pragma once

#include <spargo/io/input.hpp>

#include <optional>

namespace spargo::detail {

enum class head_extent { part, whole };  // of the text

[[nodiscard]] std::optional<input_format> graph_text_format(std::string_view head, head_extent extent,
                                                            std::string_view name);

[[nodiscard]] bool is_named(std::string_view name,
                            std::initializer_list<std::string_view> endings);  // with or without .gz

}  // namespace spargo::detail
