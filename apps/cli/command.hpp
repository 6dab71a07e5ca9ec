// A command of `spargo`: its file is apps/commands/NAME.cpp, its row is in apps/commands/table.cpp.
#pragma once

#include "cli/exit_status.hpp"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace CLI {
class App;
}  // namespace CLI

namespace spargo::apps {

struct plan_scale;

// Once the command line is parsed: the command itself, and the estimate of `spargo plan` where it has one.
struct command_body {
  std::function<exit_status()> run;
  std::function<exit_status(const plan_scale&)> plan{};

  command_body() = default;
  template <std::invocable F>
  command_body(F does) : run(std::move(does)) {}  // NOLINT: most commands return what they do
  template <std::invocable F, class P>
  command_body(F does, P plans) : run(std::move(does)), plan(std::move(plans)) {}
};

struct command {
  const char* name;
  const char* summary;  // a line without a full stop
  // Declares the flags, which live as long as the body.
  command_body (*declare)(CLI::App& app);
  const char* helper = nullptr;  // the program that does it, beside this one or in libexec; null: the body does
  bool on_ranks = false;         // whether the body knows of several processes (placement/ranks.hpp)
};

// A command with its flags.
struct declared_command {
  std::shared_ptr<CLI::App> app;
  command_body body;
};

// `called`: how the user calls it, "spargo bfs" or "bfs": so begin its errors, its help and its examples.
[[nodiscard]] declared_command declare_command(const command& which, const std::string& called);

// Parses argv[1] and on, runs the command and returns the exit code. A helper replaces this process.
[[nodiscard]] int run_command(const command& which, const std::string& called, int argc, char** argv);

// What the user called a program that is this command alone: argv[0] without its folder.
[[nodiscard]] std::string name_of_program(int argc, char** argv, const command& which);

}  // namespace spargo::apps
