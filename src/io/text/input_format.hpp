// What a file's first bytes say of it.
#pragma once

#include <spargo/io/input.hpp>

namespace spargo::detail {

inline constexpr std::string_view snapshot_magic = "SPARGO\r\n";  // a transfer that changes line ends shows

inline constexpr std::int64_t head_bytes = std::int64_t{64} << 10;  // of a text, that are looked at

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[nodiscard]] inline bool has_byte_order_mark(std::string_view head) { return head.starts_with(byte_order_mark); }

// Throws `error` (unsupported) for compressions that are not read and for UTF-16.
void refuse_foreign_bytes(std::string_view head, const std::string& name);

}  // namespace spargo::detail
