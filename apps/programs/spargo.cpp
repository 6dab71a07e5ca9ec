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
  const command& help_command = *find_command("help");
  if (argc < 2) {
    char brief[] = "--brief";
    char* words[] = {argv[0], brief, nullptr};
    return run_command(help_command, "spargo", 2, words);
  }
  const std::string first = argv[1];
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
