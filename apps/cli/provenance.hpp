// Where a result comes from: program, machine, command line and time.
#pragma once

#include <string>

namespace spargo::apps {

// "spargo bfs (Spargo) 0.1.0", then a line that names the libraries it is built with, and without.
[[nodiscard]] std::string version_text(const std::string& called);

// The command line as a shell takes it; empty before it is remembered.
void remember_command_line(const std::string& called, int argc, const char* const* argv);
[[nodiscard]] const std::string& command_line();

// Now, by ISO 8601: "2025-01-31T23:59:59Z".
[[nodiscard]] std::string utc_time();

// The processor's name where the system has one, else "CPU".
[[nodiscard]] std::string processor_name();

}  // namespace spargo::apps
