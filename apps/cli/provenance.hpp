// Provenance of a result: program, machine, command line and time.
#pragma once

#include <string>
#include <string_view>

namespace spargo::apps {

// "spargo bfs (Spargo) 0.1.0", then a line with the libraries it was built with and without.
[[nodiscard]] std::string version_text(const std::string& called);

// The command line in shell syntax; empty until it is remembered.
void remember_command_line(const std::string& called, int argc, const char* const* argv);
[[nodiscard]] const std::string& command_line();

// The current time in ISO 8601: "2025-01-31T23:59:59Z".
[[nodiscard]] std::string utc_time();

// The processor's name if the system has one, otherwise "CPU".
[[nodiscard]] std::string processor_name();

// The last line of a page: "Spargo 0.1.0, TIME, PROCESSOR".
[[nodiscard]] std::string origin_text();

}  // namespace spargo::apps
