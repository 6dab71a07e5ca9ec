// spargo COMMAND ...: one program for all commands.
#include "cli/cli.hpp"
#include "commands/list.hpp"
#include "commands/table.hpp"
#include "placement/ranks.hpp"

#include <string>
#include <string_view>

namespace {

using namespace spargo::apps;

bool is_question(std::string_view word) { return word == "--help" || word == "-h" || word == "--version"; }

int run(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "--help";
  if (first == "--help" || first == "-h") return run_command(help_command, "spargo", 1, argv);
  if (first.starts_with('-')) return run_command(help_command, "spargo", argc, argv);
  const command* const wanted = find_command(first);
  if (wanted == nullptr) {
    print_error("spargo", no_command(first));
    return static_cast<int>(exit_status::wrong_usage);
  }
  if (!wanted->on_ranks && wanted != &help_command && on_several_ranks() && !(argc == 3 && is_question(argv[2]))) {
    print_error("spargo", no_ranks(*wanted));
    return static_cast<int>(exit_status::wrong_usage);
  }
  return run_command(*wanted, "spargo " + first, argc - 1, argv + 1);
}

}  // namespace

int main(int argc, char** argv) {
  return guard_program("spargo", [&] { return run(argc, argv); });
}
