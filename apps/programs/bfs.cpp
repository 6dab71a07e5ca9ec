// `spargo bfs` as a program of its own.
#include "cli/cli.hpp"
#include "commands/list.hpp"

int main(int argc, char** argv) {
  using namespace spargo::apps;
  return guard_program("bfs",
                       [&] { return run_command(bfs_command, name_of_program(argc, argv, bfs_command), argc, argv); });
}
