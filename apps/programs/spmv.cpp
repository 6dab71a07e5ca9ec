// `spargo spmv` as a program of its own.
#include "cli/cli.hpp"
#include "commands/list.hpp"

int main(int argc, char** argv) {
  using namespace spargo::apps;
  return guard_program(
      "spmv", [&] { return run_command(spmv_command, name_of_program(argc, argv, spmv_command), argc, argv); });
}
