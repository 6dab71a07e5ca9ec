// A command of `spargo`: its file is apps/commands/NAME.cpp (NAME with _ for -), which defines NAME_command.
#pragma once

#include "cli/exit_status.hpp"
#include "cli/flags.hpp"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace spargo::apps {

struct plan_scale;

// What runs after parsing: the command itself, and the estimate for `spargo plan` if there is one.
struct command_body {
  std::function<exit_status()> run;
  std::function<exit_status(const plan_scale&)> plan{};

  command_body() = default;
  template <std::invocable F>
  command_body(F does) : run(std::move(does)) {}  // most commands return only this
  template <std::invocable F, class P>
  command_body(F does, P plans) : run(std::move(does)), plan(std::move(plans)) {}
};

// In the order in which help lists them.
enum class command_kind { graphs, matrices, files, tools };

struct command {
  const char* name;
  const char* summary;  // one line without a full stop
  // Declares the flags; they live as long as the body.
  command_body (*declare)(flag_set app);
  const char* helper = nullptr;  // the program that implements it, beside this one or in libexec; null: the body
  bool on_ranks = false;         // the body supports several processes (placement/ranks.hpp)
  command_kind kind = command_kind::tools;
  bool undirected_only = false;  // every edge of the input joins its ends both ways

  [[nodiscard]] bool on_graphs() const { return kind == command_kind::graphs; }  // of placement/driver.hpp
};

// A command with its flags.
struct declared_command {
  std::shared_ptr<CLI::App> app;
  command_body body;
};

// `called`: "spargo bfs" or "bfs", as the user invoked it; begins errors, help and examples.
[[nodiscard]] declared_command declare_command(const command& which, const std::string& called);

// Parses argv[1] and later, runs the command and returns the exit code. A helper replaces this process.
[[nodiscard]] int run_command(const command& which, const std::string& called, int argc, char** argv);

// The invoked name of a single-command program: argv[0] without its folder.
[[nodiscard]] std::string name_of_program(int argc, char** argv, const command& which);

}  // namespace spargo::apps
