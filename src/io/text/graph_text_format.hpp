// Whether a text without a magic number is a METIS or DIMACS graph, from its head and its name.
//
// DIMACS says so itself, by its problem line. METIS has no mark: a file is one if its head obeys METIS's rules and
// could be no edge list, whose lines have equally many columns; by the name .graph or .metis also if it could be
// either. Where comments fill the head, the name decides (c
// without one: arcs).
#pragma once

#include <spargo/io/input.hpp>

#include <optional>

namespace spargo::detail {

enum class head_extent { part, whole };  // of the text

[[nodiscard]] std::optional<input_format> graph_text_format(std::string_view head, head_extent extent,
                                                            std::string_view name);

[[nodiscard]] bool is_named(std::string_view name, std::initializer_list<std::string_view> endings);  // .gz or not

}  // namespace spargo::detail
