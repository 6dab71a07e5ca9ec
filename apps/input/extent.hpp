// Rejects matrices with huge dimensions but few entries, before vectors of that length are allocated.
#pragma once

#include <cstdint>
#include <string>

namespace spargo::apps {

// Why a matrix is rejected: vectors out of proportion to its entries (100 bytes may declare 2^62 rows); else empty.
[[nodiscard]] std::string reason_against_extent(std::int64_t rows, std::int64_t cols, std::int64_t entries);

// Throws `error` (out_of_memory) with that reason. O(1).
void expect_reasonable_extent(const std::string& path, std::int64_t rows, std::int64_t cols, std::int64_t entries);

}  // namespace spargo::apps
