// Shows the line of a file that an error refers to.
#pragma once

#include <spargo/core/error.hpp>

#include <string>

namespace spargo::apps {

// Two lines: the file's line, cut around the column to fit a terminal, and a caret below the column. Empty if there is
// nothing to show: no line, not a regular file, or the file is gone. Unprintable bytes become '.'.
[[nodiscard]] std::string source_line(const source_position& position);

// Prints it on standard error if that is a terminal.
void show_source_line(const source_position& position);

}  // namespace spargo::apps
