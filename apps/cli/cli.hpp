// The command line that all commands share, and the frame around a command's run: it turns every way to fail into one
// line on standard error and an exit code.
#pragma once

#include "cli/exit_status.hpp"

#include <spargo/core/error.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

// CLI11 is parsed and compiled only in files that declare flags: each costs three seconds.
namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace spargo::apps {

struct common_flags {
  std::string called;  // the command, as the user calls it: "spargo bfs" or "bfs"
  std::string device = "auto";
  std::string devices;  // of commands that have --devices; empty: not given
  int threads = 0;      // 0: as many as the process may run on
  std::string columns;  // of an edge list (columns.hpp), of commands that read graphs; empty: not given
  std::string ids = "auto";
  std::string json;  // empty: none; "-": standard output
  bool quiet = false;
  bool force = false;         // an output may replace the input
  bool stdout_taken = false;  // by an output: nothing else is printed there (prepare_outputs)
};

// Whether a command computes, on --device, or only reads and writes, which the CPU does whatever --device says.
enum class app_kind { computes, reads };

// --device, --threads, --max-memory, --json, --force, --quiet, --version, and the closing paragraphs of --help, after
// `closing`: examples and the inputs taken (help.hpp).
void add_common_flags(CLI::App& app, common_flags& flags, app_kind kind, const std::string& closing);

// --devices, of commands whose bodies know of ranks (ranks.hpp).
void add_devices_flag(CLI::App& app, common_flags& flags);

// What a command without the shared flags has of them: --help and --version, in the shared format.
void add_help_and_version(CLI::App& app);

// Checks of a flag's value, for CLI::Option::check: each returns what is wrong, or nothing.
[[nodiscard]] std::string check_device(const std::string& text);
[[nodiscard]] std::string check_devices(const std::string& text);
[[nodiscard]] std::string check_threads(const std::string& text);
[[nodiscard]] std::string check_bytes(const std::string& text);
[[nodiscard]] CLI::Validator count_from(std::int64_t least);
[[nodiscard]] CLI::Validator positive_count();
// "random" and "random:SEED" as they stand in --x and --source; false when `text` is neither. A seed that is not a
// number is a usage_error naming `flag`.
[[nodiscard]] bool parse_random(const std::string& flag, const std::string& text, std::uint64_t& seed);

// A whole decimal number in int64; false otherwise.
[[nodiscard]] bool parse_integer(std::string_view text, std::int64_t& value);

// Parses the command line, runs the body and returns the exit code. Never throws. `command`: its name of one word; the
// app's name is what the user calls it.
[[nodiscard]] int run_app(CLI::App& app, const std::string& command, int argc, char** argv,
                          const std::function<exit_status()>& body);

// The whole of a program: f() is its exit code. An exception becomes a line on standard error, and so does memory that
// is exhausted where no exception may pass, as in a destructor.
void end_with_a_line_on_terminate(const char* called) noexcept;
int report_exception(const char* called) noexcept;  // the one being handled
template <class F>
[[nodiscard]] int guard_program(const char* called, F&& f) noexcept {
  end_with_a_line_on_terminate(called);
  try {
    return f();
  } catch (...) {
    return report_exception(called);
  }
}

// Text on standard output. A failure is remembered and is the command's: "cannot write to standard output: REASON".
void write_output(std::string_view text);

// The message of the library for its operation `command`, without the operation's name where that is the command's. It
// lives as long as the error.
[[nodiscard]] std::string_view message_for(std::string_view command, const error& e) noexcept;

// One line on standard error: "CALLED: MESSAGE", line breaks and control characters made harmless, without an
// allocation. Of several processes the first prints what all of them meet; each what it alone has met.
void print_error(std::string_view called, std::string_view message) noexcept;
void print_own_error(std::string_view called, std::string_view message) noexcept;

}  // namespace spargo::apps
