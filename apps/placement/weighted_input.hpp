// Any input as a graph with nonnegative weights.
#pragma once

#include "placement/placed_input.hpp"

#include <cstdint>
#include <string>

namespace spargo::apps {

// --weights: file, unit or random[:SEED]; automatic: from the file, unit if it has none.
enum class weight_source { automatic, file, unit, random };
struct weight_choice {
  weight_source source = weight_source::automatic;
  std::uint64_t seed = 1;
};

// Throws usage_error for invalid text.
[[nodiscard]] weight_choice parse_weights(const std::string& text);

struct placed_weighted_input {
  backend where;
  loaded_input from;
  any_placed_weighted_graph g;
  std::string weights;  // "file", "unit" or "random:SEED"
  weight_source wanted = weight_source::automatic;
};

// Like load_placed, with progress on a terminal; without in-edges. `duplicates`: the weight of parallel edges; only the
// lightest is cached. Self-loops as in `work`. Throws invalid_data for a negative or NaN weight, with its line if the
// input is a file, for complex weights, and for `file` if the input has none.
[[nodiscard]] placed_weighted_input load_weighted(const graph_flags& flags, const graph_work& work,
                                                  const weight_choice& choice,
                                                  duplicate_weights duplicates = duplicate_weights::min);

}  // namespace spargo::apps
