// Numbers for people: 12,345,678; 1 edge; 1.23 ms; 45.6 MB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spargo::apps {

[[nodiscard]] std::string with_commas(std::int64_t value);
// "1 edge", "12,345 vertices". Without a plural: the singular with an s.
[[nodiscard]] std::string counted(std::int64_t count, std::string_view one, std::string_view many = {});
[[nodiscard]] std::string format_milliseconds(double value);
[[nodiscard]] std::string format_bytes(double bytes);

}  // namespace spargo::apps
