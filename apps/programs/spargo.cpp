// spargo COMMAND ...: one program for all commands.
#include "commands/table.hpp"
#include "common/cli.hpp"

#include <string>

int main(int argc, char** argv) {
  using namespace spargo::apps;
  const std::string first = argc > 1 ? argv[1] : "--help";
  if (first == "--help" || first == "-h") return run_command(help_command, "spargo", 1, argv);
  if (first.starts_with('-')) return run_command(help_command, "spargo", argc, argv);
  const command* const wanted = find_command(first);
  if (wanted == nullptr) {
    print_error("spargo", no_command(first));
    return static_cast<int>(exit_status::wrong_usage);
  }
  return run_command(*wanted, "spargo " + first, argc - 1, argv + 1);
}
