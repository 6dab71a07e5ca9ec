#include "cli/command.hpp"

#include "cli/cli.hpp"
#include "cli/paths.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace spargo::apps {

namespace {

// Replaces this process by `helper` with the same arguments, as git does; returns only on failure.
int execute_helper(const command& which, const std::string& called, int argc, char** argv) {
  std::error_code failure;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", failure).parent_path();
  std::vector<char*> arguments(argv, argv + argc);
  arguments.push_back(nullptr);
  int reason = ENOENT;
  for (const std::filesystem::path& folder : {here, here / helpers_from_programs}) {
    const std::string program = (folder / which.helper).string();
    if (::access(program.c_str(), F_OK) != 0) continue;
    ::execv(program.c_str(), arguments.data());
    reason = errno;
    print_error(called, fmt::format("{}: cannot run: {}", program, std::strerror(reason)));
    return static_cast<int>(exit_status::failed);
  }
  std::string option = which.name;
  for (char& c : option) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  print_error(called, fmt::format("not built (expected `cmake -B build -DSPARGO_{}=ON && cmake --build build --target "
                                  "spargo_{}` in Spargo's source folder)",
                                  option, which.name));
  return static_cast<int>(exit_status::failed);
}

}  // namespace

declared_command declare_command(const command& which, const std::string& called) {
  declared_command declared;
  declared.app = std::make_shared<CLI::App>("", called);
  declared.body = which.declare(*declared.app);
  if (which.on_ranks) {
    const bool on_gpus = flag_set(*declared.app).has("--devices");
    declared.app->footer(
        "Started by mpirun or srun, the processes share the work on their CPUs, and\nthe first one prints" +
        std::string(on_gpus ? "; with --devices, GPUs of this host share it.\n\n" : ".\n\n") +
        declared.app->get_footer());
  }
  return declared;
}

int run_command(const command& which, const std::string& called, int argc, char** argv) {
  return guard_program(called.c_str(), [&] {
    if (which.helper != nullptr) return execute_helper(which, called, argc, argv);
    const declared_command declared = declare_command(which, called);
    return run_app(*declared.app, which.name, argc, argv, declared.body.run);
  });
}

std::string name_of_program(int argc, char** argv, const command& which) {
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : std::string();
  return name.empty() ? which.name : name;
}

}  // namespace spargo::apps
