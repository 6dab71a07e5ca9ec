// Short help for a command, and explanations of command line errors.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace spargo::apps {

// --help: usage, arguments, own and most used common flags, one example (all: `spargo help`); at most 80 columns.
[[nodiscard]] std::string short_help(const CLI::App& app, const std::string& command);

// "--output takes a value, and --quiet follows"; empty if no flag is taken for a value.
[[nodiscard]] std::string flag_as_value(const CLI::App& app);

// Explains a command line error: unknown flags first, each with a similar known flag.
[[nodiscard]] std::string explain(const CLI::App& app, const CLI::ParseError& e);

}  // namespace spargo::apps
