// Suggestion for a mistyped word.
#pragma once

#include <string_view>
#include <vector>

namespace spargo::apps {

// The candidate at most two edits away, and fewer edits than it has letters; empty if none. An edit inserts, deletes or
// replaces a letter, or swaps two neighbours (optimal string alignment, after Damerau).
[[nodiscard]] std::string_view nearest_word(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace spargo::apps
