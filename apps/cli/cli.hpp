// The common command line, and the driver that turns every failure into one line on stderr and an exit code.
#pragma once

#include "cli/exit_status.hpp"
#include "cli/flags.hpp"

#include <spargo/core/error.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

struct common_flags {
  std::string called;  // name of the command as invoked: "spargo bfs" or "bfs"
  std::string device = "auto";
  std::string devices;  // empty: not given
  int threads = 0;      // 0: as many as the process may use
  std::string columns;  // of an edge list (columns.hpp), for graph commands; empty: not given
  std::string ids = "auto";
  std::string json;    // empty: none; "-": standard output
  std::string report;  // HTML; empty: none
  bool quiet = false;
  bool force = false;         // an output may replace the input
  bool stdout_taken = false;  // an output goes there, so nothing else is printed (prepare_outputs)
};

// Whether a command computes, on --device, or only reads and writes, always on the CPU.
enum class app_kind { computes, reads };

// --device, --threads, --max-memory, --json, --report, --force, --quiet, --version, and help paragraphs after
// `closing`.
void add_common_flags(flag_set app, common_flags& flags, app_kind kind, const std::string& closing);

// Adds --devices, for commands that support ranks (ranks.hpp).
void add_devices_flag(flag_set app, common_flags& flags);

// For commands without the common flags: --help and --version, in the common format.
void add_help_and_version(flag_set app);

// For value_check: each returns an error message, or an empty string.
[[nodiscard]] std::string check_device(const std::string& text);
[[nodiscard]] std::string check_devices(const std::string& text);
[[nodiscard]] std::string check_threads(const std::string& text);
[[nodiscard]] std::string check_bytes(const std::string& text);
[[nodiscard]] value_check count_from(std::int64_t least);
[[nodiscard]] value_check positive_count();
[[nodiscard]] value_check seed_number();
[[nodiscard]] value_check non_negative_number();
// Parses "random[:SEED]" of --x and --source; false for other text, usage_error naming `flag` for a bad seed.
[[nodiscard]] bool parse_random(const std::string& flag, const std::string& text, std::uint64_t& seed);

// Parses a whole decimal int64; false otherwise.
[[nodiscard]] bool parse_integer(std::string_view text, std::int64_t& value);

// Parses the command line and runs the body. Never throws. `command`: one word; the app's name is what was typed.
[[nodiscard]] int run_app(CLI::App& app, const std::string& command, int argc, char** argv,
                          const std::function<exit_status()>& body);

// A whole program: f() returns its exit code. Exceptions, and exhausted memory anywhere, become one line on stderr.
void end_with_a_line_on_terminate(const char* called) noexcept;
int report_exception(const char* called) noexcept;  // for the exception being handled
template <class F>
[[nodiscard]] int guard_program(const char* called, F&& f) noexcept {
  end_with_a_line_on_terminate(called);
  try {
    return f();
  } catch (...) {
    return report_exception(called);
  }
}

// Writes to standard output. A failure is remembered and fails the command: "cannot write to standard output: REASON".
void write_output(std::string_view text);

// The library's message for `command`, without an equal operation's name. Valid as long as the error.
[[nodiscard]] std::string_view message_for(std::string_view command, const error& e) noexcept;

// One line on standard error: "CALLED: MESSAGE", with control characters replaced, without allocating. print_error: an
// error of all processes, printed by the first one; print_own_error: an error of this process only.
void print_error(std::string_view called, std::string_view message) noexcept;
void print_own_error(std::string_view called, std::string_view message) noexcept;

}  // namespace spargo::apps
