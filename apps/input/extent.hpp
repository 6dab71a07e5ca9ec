// A matrix that is next to nothing but its dimensions: refused before vectors of that length are made.
#pragma once

#include <cstdint>
#include <string>

namespace spargo::apps {

// Why a matrix is refused: its offsets and vectors take time and memory that its entries do not account for. A file of
// a hundred bytes may declare 2^62 rows. Empty: it is not.
[[nodiscard]] std::string reason_against_extent(std::int64_t rows, std::int64_t cols, std::int64_t entries);

// Throws `error` (out_of_memory) with that reason. O(1).
void expect_reasonable_extent(const std::string& path, std::int64_t rows, std::int64_t cols, std::int64_t entries);

}  // namespace spargo::apps
