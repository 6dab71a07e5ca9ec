// How much a graph as text holds, for estimates: its lines are counted, and their vertices by a sketch.
//
// Idea: HyperLogLog (Flajolet et al., 2007): each of 2^14 registers keeps the longest run of zeros among the hashes
// that fall to it; their harmonic mean gives the number of distinct ends within 1 percent (one standard deviation).
// Invariant: for texts of up to 64 MiB an upper bound, 5 percent above the sketch; the rest of a longer one counts like
// its beginning. Cost: one pass over those bytes by one thread, about a second at most.
#pragma once

#include "input/input.hpp"

#include <cstdint>

namespace spargo::apps {

struct text_extent {
  std::int64_t bytes = 0;       // uncompressed
  std::int64_t edges = 0;       // at most
  std::int64_t vertices = 0;    // at most
  std::int64_t name_bytes = 0;  // of the vertices' ids or names, at most
  bool compressed = false;
};

// Of an edge list or a document in a regular file.
[[nodiscard]] text_extent measure_text(const input_description& input);

// Whether a file begins as gzip.
[[nodiscard]] bool is_compressed(const std::string& path);

}  // namespace spargo::apps
