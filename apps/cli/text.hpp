// Numbers for people: 12,345,678; 1.23 ms; 45.6 MB.
#pragma once

#include <cstdint>
#include <string>

namespace spargo::apps {

[[nodiscard]] std::string with_commas(std::int64_t value);
[[nodiscard]] std::string format_milliseconds(double value);
[[nodiscard]] std::string format_bytes(double bytes);

}  // namespace spargo::apps
