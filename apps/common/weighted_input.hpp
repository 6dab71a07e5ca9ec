// Any input as a graph with weights of 0 or more, for searches of paths.
#pragma once

#include "common/graph_command.hpp"

#include <spargo/graph/weighted_graph.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace spargo::apps {

// Whole weights that doubles hold exactly are integers, of 32 bits where these suffice; others are doubles.
template <class W>
using any_offsets = std::variant<weighted_graph<W, std::int32_t, std::int32_t, host>,
                                 weighted_graph<W, std::int32_t, std::int64_t, host>,
                                 weighted_graph<W, std::int64_t, std::int64_t, host>>;
using any_weighted_graph =
    typename joined<any_offsets<std::int32_t>, any_offsets<std::int64_t>, any_offsets<double>>::type;

// --weights: file, unit or random[:SEED]; automatic: the file's, unit where it has none.
enum class weight_source { automatic, file, unit, random };
struct weight_choice {
  weight_source source = weight_source::automatic;
  std::uint64_t seed = 1;
};

// Throws usage_error for another text.
[[nodiscard]] weight_choice parse_weights(const std::string& text);

struct loaded_weighted_graph {
  loaded_input from;
  any_weighted_graph g;
  std::string weights;  // what they are: "file", "unit", "random:SEED"
};

// Reads and builds on the CPU, with progress on a terminal. Of several edges between the same vertices the lightest
// counts. Throws invalid_data for a weight that is negative or NaN, with its line where the input is a file, for
// complex ones, and for `file` where the input has none.
[[nodiscard]] loaded_weighted_graph load_weighted_graph(const context<host>& cpu, const graph_flags& flags,
                                                        const weight_choice& choice);

// An integer from 1 to 255 for each pair of vertices, the same in both directions.
[[nodiscard]] std::int32_t random_weight(std::uint64_t seed, std::int64_t u, std::int64_t v);

}  // namespace spargo::apps
