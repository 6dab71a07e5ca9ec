#include "cli/cli.hpp"

#include "cli/choice.hpp"
#include "cli/help.hpp"
#include "cli/progress.hpp"
#include "cli/provenance.hpp"
#include "cli/signals.hpp"
#include "cli/usage.hpp"
#include "input/memory_limit.hpp"
#include "input/source_line.hpp"
#include "placement/ranks.hpp"

#include <spargo/core/context.hpp>
#include <spargo/core/error.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <system_error>
#include <tuple>

namespace spargo::apps {

namespace {

struct limits {
  static constexpr std::int64_t max_threads = spargo::context<spargo::host>::most_threads;
  static constexpr std::int64_t max_count = 1000000;
  static constexpr std::int64_t max_devices = 64;
  static constexpr std::size_t line_bytes = 4096;  // PIPE_BUF: lines of several processes do not interleave
};

int output_error = 0;  // errno of the first failed write to standard output

// Flushes the buffers; false if that fails, for example on a full disk.
bool flush_output(const std::string& name) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  if (output_error != 0) errno = output_error;
  if (errno != EPIPE) print_error(name, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

// CLI11 reads such numbers as octal.
bool begins_with_zero(std::string_view text) { return text.size() > 1 && text[0] == '0'; }

int code(exit_status status) { return static_cast<int>(status); }

// Shows the line of an error, for people; skipped if memory is exhausted.
void try_to_show(const source_position& position) noexcept {
  try {
    show_source_line(position);
  } catch (...) {
  }
}

// The library's message, with the reader's options as flags: columns=1,2 is --columns 1,2 here.
std::string message_with_flags(const std::string& command, const error& e) {
  std::string text(message_for(command, e));
  const std::size_t hint = e.position().file.empty() ? std::string::npos : text.rfind("(expected ");
  if (hint == std::string::npos) return text;
  for (const std::string_view option : {"columns=", "ids="}) {
    for (std::size_t at = text.find(option, hint); at != std::string::npos; at = text.find(option, at)) {
      text[at + option.size() - 1] = ' ';
      text.insert(at, "--");
    }
  }
  return text;
}

exit_status run_guarded(const std::string& name, const std::string& command,
                        const std::function<exit_status()>& body) noexcept {
  try {
    return body();
  } catch (const usage_error& e) {
    print_error(name, e.what());
    return exit_status::wrong_usage;
  } catch (const agreed_error& e) {
    print_error(name, message_with_flags(command, e));
    if (is_first_rank()) try_to_show(e.position());
    return exit_status::failed;
  } catch (const std::bad_alloc&) {
    print_own_error(name, "out of memory");
  } catch (const error& e) {
    print_own_error(name, message_with_flags(command, e));
    try_to_show(e.position());
  } catch (const std::exception& e) {
    print_own_error(name, e.what());
  } catch (...) {
    print_own_error(name, "an unknown error");
  }
  abort_ranks(exit_status::failed);  // peers of this rank
  return exit_status::failed;
}

}  // namespace

bool parse_integer(std::string_view text, std::int64_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  return !text.empty() && failure == std::errc{} && stop == end;
}

bool parse_random(const std::string& flag, const std::string& text, std::uint64_t& seed) {
  constexpr std::string_view word = "random";
  if (text == word) {
    seed = 1;
    return true;
  }
  if (!text.starts_with("random:")) return false;
  const char* first = text.data() + word.size() + 1;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(first, end, seed);
  if (first == end || failure != std::errc{} || stop != end) {
    throw usage_error(fmt::format("{} {}: the seed is not a number from 0 to 2^64-1", flag, text));
  }
  return true;
}

std::string check_device(const std::string& text) {
  if (text == "auto" || text == "cpu" || text == "cuda") return {};
  std::int64_t ordinal = -1;
  if (text.starts_with("cuda:") && parse_integer(std::string_view(text).substr(5), ordinal) && ordinal >= 0 &&
      ordinal <= std::numeric_limits<int>::max()) {
    return {};
  }
  return fmt::format("{} is not a device (expected auto, cpu, cuda or cuda:N)", text);
}

std::string check_devices(const std::string& text) {
  const bool lists = text.find(',') != std::string::npos;
  std::size_t numbers = 0;
  for (std::size_t at = 0; at <= text.size(); ++numbers) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int64_t n = -1;
    if (!parse_integer(std::string_view(text).substr(at, end - at), n) || n < (lists ? 0 : 1) ||
        n > (lists ? std::numeric_limits<int>::max() : limits::max_devices)) {
      return fmt::format("{} is not a list of devices (expected a count, 1 to {}, or device numbers as in 0,1)", text,
                         limits::max_devices);
    }
    at = end + 1;
  }
  return numbers <= limits::max_devices ? std::string() : fmt::format("{}: more than {}", text, limits::max_devices);
}

std::string check_threads(const std::string& text) {
  std::int64_t n = 0;
  if (!begins_with_zero(text) && parse_integer(text, n) && n >= 1 && n <= limits::max_threads) return {};
  return fmt::format("{} is not a number of threads (expected 1 to {})", text, limits::max_threads);
}

std::string check_bytes(const std::string& text) {
  std::int64_t bytes = 0;
  if (parse_bytes(text, bytes)) return {};
  return fmt::format(
      "{} is not an amount of memory (expected bytes, or a number with K, M, G or T as in 2G, 2GB or 2GiB; 1M at "
      "least)",
      text);
}

value_check count_from(std::int64_t least) {
  return {[least](const std::string& text) -> std::string {
    std::int64_t n = 0;
    if (!begins_with_zero(text) && parse_integer(text, n) && n >= least && n <= limits::max_count) return {};
    return fmt::format("{} is not a count (expected {} to {})", text, least, limits::max_count);
  }};
}

value_check positive_count() { return count_from(1); }

value_check seed_number() {
  return {[](const std::string& text) -> std::string {
    std::uint64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, n);
    if (!text.empty() && failure == std::errc{} && stop == end && !begins_with_zero(text)) return {};
    return fmt::format("{} is not a seed (expected 0 to 2^64-1)", text);
  }};
}

value_check non_negative_number() {
  return {[](const std::string& text) { return CLI::NonNegativeNumber(text); }};
}

void add_common_flags(flag_set app, common_flags& flags, app_kind kind, const std::string& closing) {
  const std::string group = help_style::shared_group;
  flags.called = app.get_name();
  app.add_option("--device", flags.device,
                 kind == app_kind::computes ? "auto (the GPU if there is a usable one), cpu, cuda or cuda:N"
                                            : "auto, cpu, cuda or cuda:N; this command always runs on the CPU")
      ->check({check_device, {"auto", "cpu", "cuda"}})
      ->type_name("DEVICE")
      ->capture_default_str()
      ->group(group);
  app.add_option("--threads", flags.threads, "CPU threads; default: as many as the process may run on")
      ->check({check_threads})
      ->type_name("N")
      ->group(group);
  app.add_option_function(
         "--max-memory",
         [](const std::string& text) {
           std::int64_t bytes = 0;
           if (parse_bytes(text, bytes)) host_memory().set_limit(bytes);
         },
         "limit of host memory for matrices and graphs, such as 500M, 2G or 2GiB; default: nine tenths of the "
         "machine's memory, or of what the container has left, and at most what is available")
      ->check({check_bytes})
      ->type_name("BYTES")
      ->group(group);
  app.add_option("--json", flags.json,
                 "write the report as JSON; - is standard output, where nothing else is printed then")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--report", flags.report,
                 "write the report with charts as HTML, in one file; without a network; - is standard output")
      ->type_name("OUT.html")
      ->group(group);
  app.add_flag("--force", flags.force, "let an output replace the input, which is refused otherwise")->group(group);
  app.add_flag_callback(
         "--quiet",
         [&flags] {
           flags.quiet = true;
           silence_progress();
         },
         "no report, warnings or progress; errors and --json stay")
      ->group(group);
  add_help_and_version(app);
  app.footer(closing + "\n" + help_on_generators + "\n" + help_on_exit_codes);
}

void add_devices_flag(flag_set app, common_flags& flags) {
  app.add_option(
         "--devices", flags.devices,
         "distribute the work over several GPUs of this host: their number, or a list as in 0,1; several processes "
         "use them round-robin")
      ->check({check_devices})
      ->type_name("K|N,...")
      ->group(help_style::shared_group);
}

void add_help_and_version(flag_set app) {
  const std::string group = help_style::shared_group;
  CLI::App& parser = app;
  parser
      .set_version_flag(
          "--version", [app] { return version_text(app.get_name()); },
          "this program's version, and the libraries that it is built with")
      ->group(group);
  parser.get_option("--help")->description("the main flags and an example")->group(group);
  use_help_format(app);
}

void write_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && output_error == 0) output_error = errno;
}

std::string_view message_for(std::string_view command, const error& e) noexcept {
  const std::string_view text = e.what();
  // A message about a file begins with the file's name, which may be the command's by chance.
  const bool named =
      e.position().file.empty() && text.starts_with(command) && text.substr(command.size()).starts_with(": ");
  return named ? text.substr(command.size() + 2) : text;
}

void print_error(std::string_view called, std::string_view message) noexcept {
  if (is_first_rank()) print_own_error(called, message);
}

void print_own_error(std::string_view called, std::string_view message) noexcept {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  while (!message.empty() && is_blank(message.back())) message.remove_suffix(1);
  std::fflush(stdout);
  try {
    wipe_progress();
  } catch (...) {  // the progress line remains
  }
  std::array<char, limits::line_bytes> line;  // written in one call unless longer
  std::size_t size = 0;
  const auto flush = [&] {
    std::ignore = std::fwrite(line.data(), 1, size, stderr);
    size = 0;
  };
  const auto append = [&](char c) {
    if (size == line.size()) flush();
    line[size++] = c;
  };
  for (const std::string_view part : {called, std::string_view(": "), message}) {
    for (const char c : part) append(is_blank(c) ? ' ' : c);
  }
  append('\n');
  flush();
}

namespace {

std::array<char, 64> called_at_terminate{};
std::terminate_handler terminate_before = nullptr;

// Memory is exhausted where nothing may be thrown; anything else is a bug.
[[noreturn]] void end_at_terminate() noexcept {
  bool exhausted = false;
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    exhausted = true;
  } catch (const error& e) {
    exhausted = e.code() == error_code::out_of_memory;
  } catch (...) {
  }
  if (!exhausted) {
    if (terminate_before != nullptr) terminate_before();
    std::abort();
  }
  wipe_progress_at_end();
  remove_unfinished_files();
  print_own_error(called_at_terminate.data(), "out of memory");
  abort_ranks(exit_status::failed);
  std::_Exit(code(exit_status::failed));
}

}  // namespace

namespace {

// Before CLI11's own static objects, which allocate.
[[gnu::constructor(101)]] void before_main() { end_with_a_line_on_terminate(::program_invocation_short_name); }

}  // namespace

void end_with_a_line_on_terminate(const char* called) noexcept {
  std::strncpy(called_at_terminate.data(), called, called_at_terminate.size() - 1);
  if (std::get_terminate() != end_at_terminate) terminate_before = std::set_terminate(end_at_terminate);
}

int report_exception(const char* called) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    print_own_error(called, "out of memory");
  } catch (const std::exception& e) {
    print_own_error(called, e.what());
  } catch (...) {
    print_own_error(called, "an unknown error");
  }
  abort_ranks(exit_status::failed);  // peers of this rank
  return code(exit_status::failed);
}

int run_app(CLI::App& app, const std::string& command, int argc, char** argv,
            const std::function<exit_status()>& body) {
  const std::string name = app.get_name();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (is_first_rank()) {
      const std::string text = short_help(app, command);
      write_output(text);
    }
    return flush_output(name) ? code(exit_status::success) : code(exit_status::failed);
  } catch (const CLI::Success& e) {  // --version
    errno = 0;
    const int shown = is_first_rank() ? app.exit(e) : e.get_exit_code();
    if (!std::cout && output_error == 0) output_error = errno;
    return flush_output(name) ? shown : code(exit_status::failed);
  } catch (const CLI::ParseError& e) {
    print_error(name, fmt::format("{} (see {} --help)", explain(app, e), name));
    return code(exit_status::wrong_usage);
  } catch (const std::bad_alloc&) {
    print_error(name, "out of memory");
    return code(exit_status::failed);
  } catch (const std::exception& e) {
    print_error(name, e.what());
    return code(exit_status::wrong_usage);
  }
  if (const std::string swallowed = flag_as_value(app); !swallowed.empty()) {
    print_error(name, fmt::format("{} (see {} --help)", swallowed, name));
    return code(exit_status::wrong_usage);
  }
  remember_command_line(name, argc, argv);
  handle_signals(name);
  const exit_status status = run_guarded(name, command, body);
  end_ranks();
  if (!flush_output(name) && status == exit_status::success) return code(exit_status::failed);
  return code(status);
}

}  // namespace spargo::apps
