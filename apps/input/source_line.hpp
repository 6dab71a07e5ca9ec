// The line of a file that an error is about, for people.
#pragma once

#include <spargo/core/error.hpp>

#include <string>

namespace spargo::apps {

// Two lines: that of the file, cut to what fits a terminal around the column, and a caret below the column. Empty where
// there is nothing to show: no line, no regular file, not there any more. Bytes that cannot be printed are shown as
// '.'.
[[nodiscard]] std::string source_line(const source_position& position);

// The same on standard error, if that is a terminal.
void show_source_line(const source_position& position);

}  // namespace spargo::apps
