// The structure operations of `convert`: parts, permutations, transposes, symmetric sums of a matrix.
#pragma once

#include "cli/flags.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace spargo::apps {

struct conversion;
struct written;

// Applied in this order. Rows and columns count from 1; ranges include their ends.
struct structure_flags {
  std::string rows;     // A:B, A: or :B; empty: all
  std::string columns;  // the same
  std::string permute;  // a file: line k holds the row and column that become row and column k
  std::optional<double> drop_below{};
  bool transpose = false;
  bool symmetrize = false;

  [[nodiscard]] bool any() const {
    return !rows.empty() || !columns.empty() || !permute.empty() || drop_below.has_value() || transpose || symmetrize;
  }
};

void add_structure_flags(flag_set app, structure_flags& flags);

// Whether --columns is a range of a matrix, not the columns of an edge list.
[[nodiscard]] bool is_range(const std::string& text);

// Parses "A:B", from 1, into [first, last) from 0; without A from the first, without B to the last. Throws usage_error
// naming the flag for other text, `error` (invalid_argument) for a range outside 1 to `size`.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> parse_range(const std::string& flag, const std::string& text,
                                                                std::int64_t size);

// Reads c.input, applies what c.flags ask for and writes the result. Throws `error` (unsupported) for a graph as text.
[[nodiscard]] written convert_restructured(const conversion& c);

}  // namespace spargo::apps
