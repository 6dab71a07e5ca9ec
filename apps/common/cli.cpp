#include "common/cli.hpp"

#include "common/memory_limit.hpp"
#include "common/signals.hpp"
#include "common/source_line.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

namespace spargo::apps {

namespace {

struct limits {
  static constexpr std::int64_t max_threads = 1024;  // more is a slip of the finger, and OpenMP would abort on it
  static constexpr std::int64_t max_count = 1000000;
};

constexpr const char* exit_codes =
    "Exit codes: 0 success; 1 the run failed (file, memory, device); 2 the command line is wrong;\n"
    "            3 the result failed validation.";

// Anything still in the buffers, and whether it could be written: a full disk behind `>` is a failure.
bool flush_output(const std::string& name) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  if (errno != EPIPE) print_error(name, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

int code(exit_status status) { return static_cast<int>(status); }

exit_status run_guarded(const std::string& name, const std::function<exit_status()>& body) {
  try {
    return body();
  } catch (const usage_error& e) {
    print_error(name, e.what());
    return exit_status::wrong_usage;
  } catch (const std::bad_alloc&) {
    print_error(name, "out of memory");
  } catch (const error& e) {
    print_error(name, e.what());
    show_source_line(e.position());
  } catch (const std::exception& e) {
    print_error(name, e.what());
  } catch (...) {
    print_error(name, "an unknown error");
  }
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

std::string check_threads(const std::string& text) {
  std::int64_t n = 0;
  if (parse_integer(text, n) && n >= 1 && n <= limits::max_threads) return {};
  return fmt::format("{} is not a number of threads (expected 1 to {})", text, limits::max_threads);
}

std::string check_bytes(const std::string& text) {
  std::int64_t bytes = 0;
  if (parse_bytes(text, bytes)) return {};
  return fmt::format("{} is not an amount of memory (expected bytes, or a number with K, M, G or T; 1M at least)",
                     text);
}

CLI::Validator positive_count() {
  return {[](const std::string& text) -> std::string {
            std::int64_t n = 0;
            if (parse_integer(text, n) && n >= 1 && n <= limits::max_count) return {};
            return fmt::format("{} is not a count (expected 1 to {})", text, limits::max_count);
          },
          ""};
}

void add_common_flags(CLI::App& app, common_flags& flags, app_kind kind, const std::string& examples) {
  const std::string group = "Shared by all apps";
  app.add_option("--device", flags.device,
                 kind == app_kind::computes
                     ? "auto (the GPU if there is a usable one), cpu, cuda or cuda:N"
                     : "auto, cpu, cuda or cuda:N; the work of this app is the CPU's in any case")
      ->check(CLI::Validator(check_device, ""))
      ->type_name("DEVICE")
      ->capture_default_str()
      ->group(group);
  app.add_option("--threads", flags.threads, "CPU threads; default: as many as the process may run on")
      ->check(CLI::Validator(check_threads, ""))
      ->type_name("N")
      ->group(group);
  app.add_option_function<std::string>(
         "--max-memory",
         [](const std::string& text) {
           std::int64_t bytes = 0;
           if (parse_bytes(text, bytes)) host_memory().set_limit(bytes);
         },
         "host memory for matrices and graphs, such as 500M or 2G; default: nine tenths of the machine's")
      ->check(CLI::Validator(check_bytes, ""))
      ->type_name("BYTES")
      ->group(group);
  app.add_option("--json", flags.json,
                 "write the report as JSON; - is standard output, and then nothing else goes there")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--quiet", flags.quiet, "no report, warnings or progress; errors and --json stay")->group(group);
  app.set_version_flag("--version", app.get_name() + " (Spargo) " SPARGO_VERSION_STRING)->group(group);
  app.get_option("--help")->group(group);
  app.footer(examples + "\n" + exit_codes);
  app.get_formatter()->column_width(34);
}

void print_error(const std::string& app, const std::string& message) {
  std::string line = app + ": " + message;
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  line.push_back('\n');
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int run_app(CLI::App& app, int argc, char** argv, const std::function<exit_status()>& body) {
  const std::string name = app.get_name();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    const int shown = app.exit(e);
    return flush_output(name) ? shown : code(exit_status::failed);
  } catch (const CLI::ParseError& e) {
    print_error(name, fmt::format("{} (see {} --help)", e.what(), name));
    return code(exit_status::wrong_usage);
  } catch (const std::exception& e) {
    print_error(name, e.what());
    return code(exit_status::wrong_usage);
  }
  handle_signals(name);
  const exit_status status = run_guarded(name, body);
  if (!flush_output(name) && status == exit_status::success) return code(exit_status::failed);
  return code(status);
}

}  // namespace spargo::apps
