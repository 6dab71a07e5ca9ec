// Format recognition by a file's first bytes.
#pragma once

#include <spargo/io/input.hpp>

namespace spargo::detail {

inline constexpr std::string_view snapshot_magic = "SPARGO\r\n";  // detects transfers that change line ends

inline constexpr std::int64_t head_bytes = std::int64_t{64} << 10;  // bytes of a text that are examined

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[nodiscard]] inline bool has_byte_order_mark(std::string_view head) { return head.starts_with(byte_order_mark); }

// Throws `error`: unsupported for unsupported compressions and UTF-16, parse for a first line that ends in a carriage
// return alone.
void refuse_foreign_bytes(std::string_view head, const std::string& name);

// Also throws unsupported for other formats of graphs and matrices.
void refuse_foreign_text(std::string_view head, const std::string& name);

inline constexpr std::string_view return_alone =
    "a line ends in a carriage return alone (expected a line feed: tr '\\r' '\\n' < FILE)";

}  // namespace spargo::detail
