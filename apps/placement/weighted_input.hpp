// Any input as a graph with weights.
#pragma once

#include "cli/report.hpp"
#include "placement/placed_input.hpp"

#include <spargo/graph/weighted_graph.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace spargo::apps {

// --weights: file, unit or random[:SEED]; automatic: from the file, unit if it has none.
enum class weight_source { automatic, file, unit, random };
enum class weight_signs { nonnegative, nonnegative_finite, any };
struct weight_choice {
  weight_source source = weight_source::automatic;
  std::uint64_t seed = 1;
  weight_signs signs = weight_signs::nonnegative;         // of the weights that are taken
  duplicate_weights duplicates = duplicate_weights::min;  // of several edges between the same vertices: min, max or sum
};

// Throws usage_error for invalid text.
[[nodiscard]] weight_choice parse_weights(const std::string& text);

// Adds --weights; its default is the value that it has, if any.
inline constexpr const char* weights_help =
    "file; unit (every edge counts 1); random[:SEED] (integers 1 to 255, the same both ways); default: the file's "
    "where it has some, else unit";
void add_weights_flag(flag_set app, std::string& weights, const char* help = weights_help);

struct placed_weighted_input {
  backend where;
  loaded_input from;
  any_placed_weighted_graph g;
  std::string weights;  // "file", "unit" or "random:SEED"
  weight_source wanted = weight_source::automatic;
};

// Like load_placed, with progress on a terminal; without in-edges. Throws invalid_data for a weight that is not taken,
// with its line if the input is a file, for complex weights, and for `file` if the input has none.
[[nodiscard]] placed_weighted_input load_weighted(const graph_flags& flags, const graph_work& work,
                                                  const weight_choice& choice);

// Where the weights come from, as row and keys; `type` as "int32" or "fp64".
void report_weights(report& out, const placed_weighted_input& read, const std::string& type);
template <class W>
void report_weights(report& out, const placed_weighted_input& read) {
  report_weights(out, read, (std::is_integral_v<W> ? "int" : "fp") + std::to_string(8 * sizeof(W)));
}

}  // namespace spargo::apps
