// What a command answers to a question about its flags, and to flags that it does not have.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace spargo::apps {

// --help: usage, arguments, the command's own flags and the most used of the shared ones, one example; `spargo help`
// has the rest. At most 80 columns.
[[nodiscard]] std::string short_help(const CLI::App& app, const std::string& command);

// What is wrong with a command line: unknown flags first, each with the flag that it resembles.
[[nodiscard]] std::string explain(const CLI::App& app, const CLI::ParseError& e);

}  // namespace spargo::apps
