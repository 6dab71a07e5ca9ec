// Rows and columns in messages: "row 2 (from 0)", or "row 3" while a `rows_from_one` lives.
#pragma once

#include <cstdint>
#include <string_view>

namespace spargo::detail {

// The row or column as messages count it.
[[nodiscard]] std::int64_t shown_row(std::int64_t row) noexcept;
// " (from 0)", or nothing.
[[nodiscard]] std::string_view counted_from() noexcept;

}  // namespace spargo::detail
