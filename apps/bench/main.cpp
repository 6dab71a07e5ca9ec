// The benchmark driver, run by `spargo bench [FILTER]`: runs the cases whose names match, then prints a table.
#include "bench/cached.hpp"
#include "bench/check_automatic.hpp"
#include "bench/flags.hpp"
#include "bench/interrupt.hpp"
#include "bench/page.hpp"
#include "bench/plot.hpp"
#include "bench/print.hpp"
#include "bench/table.hpp"
#include "cli/exit_status.hpp"
#include "cli/provenance.hpp"
#include "cli/text.hpp"
#include "cli/usage.hpp"

#include <spargo/core/config.hpp>
#include <spargo/core/context.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <utility>

namespace {

using spargo::output_file;
using spargo::bench::bench_flags;
using spargo::bench::called;

int fail(int code, const std::string& message) {
  std::string line = called + (": " + message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "%s\n", line.c_str());
  return code;
}

// Describes a fault of the filter; empty: valid.
std::string check_filter(const std::string& filter) {
  try {
    const std::regex compiled(filter, std::regex::extended);
    return {};
  } catch (const std::regex_error& e) {
    return "FILTER '" + filter + "' is no regular expression: " + e.what();
  }
}

// Google Benchmark accepts settings only as a command line.
void initialize(const bench_flags& c) {
  static std::string program = called;  // Google Benchmark keeps a pointer for the results
  std::vector<std::string> words{"--benchmark_filter=all"};
  if (c.repetitions > 1) words.push_back("--benchmark_repetitions=" + std::to_string(c.repetitions));
  std::vector<char*> arguments{program.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
}

std::string threads_of_run() {
  const auto& settings = spargo::bench::current_settings();
  if (!settings.host) return "none";
  return settings.threads == 0 ? "all processors" : spargo::apps::counted(settings.threads, "thread", "threads");
}

std::string gpu_of_run(const spargo::device_status& status) {
  if (spargo::bench::current_settings().device || !status.usable()) return status.reason;
  return "not used (" + status.reason + ")";
}

std::string place_of_run(const spargo::device_status& status) {
  const auto& settings = spargo::bench::current_settings();
  if (!settings.device) return threads_of_run();
  return settings.host ? status.reason + " and " + threads_of_run() : status.reason;
}

void write(output_file& file, const std::string& text) {
  file.write(text);
  file.commit();
}

// Keeps only the cases that --check-automatic compares: no peers, and only groups with an automatic.
void keep_choices(std::vector<spargo::bench::bench_case>& cases) {
  std::set<std::string> groups;
  for (const auto& c : cases) {
    if (spargo::bench::detail::is_automatic(spargo::bench::rung_of(c.name)))
      groups.insert(spargo::bench::group_of(c.name));
  }
  std::erase_if(cases, [&](const auto& c) { return c.peer || groups.count(spargo::bench::group_of(c.name)) == 0; });
}

// Prints the result of --check-automatic; true if all is well.
bool check_choices(std::ostream& out, const std::vector<spargo::bench::measured_case>& cases, double percent) {
  const auto slow = spargo::bench::slow_choices(cases, percent);
  out << fmt::format("\n{} cases of automatic, {} slower than a rung of its own by more than {:g} percent\n{}",
                     spargo::bench::automatic_cases(cases), slow.size(), percent,
                     spargo::bench::slow_choices_table(slow))
      << std::flush;
  return slow.empty();
}

// Results for --json and --print: written once, by the run or by an interrupt.
struct results {
  std::mutex mutex;
  bool open = true;
  output_file* json = nullptr;
  std::string print;
  const spargo::bench::table_reporter* table = nullptr;
};

void save_interrupted(results& so_far, int signal) {
  const std::lock_guard lock(so_far.mutex);
  if (!so_far.open) return;
  so_far.open = false;
  try {
    if (so_far.json != nullptr) write(*so_far.json, so_far.table->json({{"interrupted_by", ::strsignal(signal)}}));
    if (so_far.print != "report") spargo::bench::print_cases(so_far.table->cases(), so_far.print);
  } catch (const std::exception& e) {
    (void)fail(1, e.what());
  }
}

int run(const bench_flags& c, const spargo::device_status& status) {
  // Opened before measuring, so that an unwritable name fails at once.
  std::unique_ptr<output_file> json;
  std::unique_ptr<output_file> plot;
  if (!c.json.empty()) json = std::make_unique<output_file>(c.json);
  if (!c.plot.empty()) plot = std::make_unique<output_file>(c.plot);
  std::unique_ptr<output_file> page;
  if (!c.report.empty()) page = std::make_unique<output_file>(c.report);

  auto& context = spargo::bench::run_context();
  context["command_line"] = spargo::apps::command_line();
  context["cpu"] = spargo::apps::processor_name();
  context["spargo_version"] = SPARGO_VERSION_STRING;
  context["host_threads"] = std::to_string(spargo::context<spargo::host>({.threads = c.threads}).threads());

  spargo::bench::table_reporter table;
  bool is_taken = c.print != "report";
  for (const std::string& path : {c.json, c.plot, c.report}) is_taken |= spargo::output_descriptor(path) == 1;
  std::ostream& out = is_taken ? std::cerr : std::cout;
  table.SetOutputStream(&out);
  const auto so_far = std::make_shared<results>();
  so_far->json = json.get();
  so_far->print = c.print;
  so_far->table = &table;
  spargo::bench::on_interrupt([so_far](int signal) { save_interrupted(*so_far, signal); });
  benchmark::RunSpecifiedBenchmarks(&table);
  if (json) {
    for (const auto& note : spargo::bench::closing_notes()) note();
  }
  {
    const std::lock_guard lock(so_far->mutex);
    so_far->open = false;
    if (json) write(*json, table.json(spargo::bench::run_context()));
    if (c.print != "report") spargo::bench::print_cases(table.cases(), c.print);
  }
  if (plot) {
    const auto picture = spargo::bench::plot_ladder(table.cases(), place_of_run(status));
    write(*plot, picture.file(spargo::apps::picture_format_of(c.plot).value()));
  }
  const bool choices_are_good = c.check_automatic < 0 || check_choices(out, table.cases(), c.check_automatic);
  if (page) write(*page, spargo::bench::page_of(table.cases(), threads_of_run(), gpu_of_run(status), choices_are_good));
  const auto how = spargo::bench::worst_outcome();
  if (how == spargo::bench::outcome::good) {
    return choices_are_good ? 0 : fail(1, "automatic is slower than a rung of its own (see above)");
  }
  return fail(static_cast<int>(how), how == spargo::bench::outcome::wrong ? "a result is wrong (see WRONG above)"
                                                                          : "a case failed (see FAILED above)");
}

int print_report(const std::string& name, const std::string& filter, const spargo::device_status& status) {
  if (!status.usable()) return fail(1, name + ": " + status.reason);
  const auto report = spargo::bench::reports().find(name);
  if (report == spargo::bench::reports().end()) return fail(1, name + ": this program was built without CUDA");
  report->second(std::cout, filter);
  return 0;
}

// Rejects an invalid file before measuring, with its reader's error. Edge lists have no header to check.
void check_file(const bench_flags& c) {
  if (c.file.empty()) return;
  if (spargo::is_generator_spec(c.file)) {
    (void)spargo::describe_generator(c.file);
  } else if (c.filter.find("spmv") != std::string::npos || spargo::bench::is_matrix_market_name(c.file)) {
    (void)spargo::read_matrix_market_header(c.file);
  } else if (!std::filesystem::is_regular_file(c.file)) {
    throw spargo::error(spargo::error_code::io, {.file = c.file}, "cannot be read (expected an edge list)");
  }
}

// Rejects --print where the lines of cases have no place.
void check_print(const bench_flags& c) {
  if (c.print == "report") return;
  if (c.list) throw spargo::apps::usage_error("--print and --list exclude each other");
  for (const auto& [flag, path] : {std::pair("--json", c.json), {"--plot", c.plot}, {"--report", c.report}}) {
    if (spargo::output_descriptor(path) == 1) {
      throw spargo::apps::usage_error(fmt::format("--print and {} {} are the same output", flag, path));
    }
  }
}

int run_command(int argc, char** argv) {
  CLI::App app("", called);
  bench_flags c;
  spargo::bench::add_flags(app, c);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return e.get_exit_code() == 0 ? app.exit(e) : fail(2, spargo::apps::explain(app, e) + " (see --help)");
  }
  if (app.count("--check-automatic") == 0) c.check_automatic = -1;  // CLI11 sets it to 0
  if (c.filter.empty() && app.count("FILTER") != 0) return fail(2, "FILTER is empty (leave it out to run every case)");
  if (const std::string wrong = check_filter(c.filter); !wrong.empty()) return fail(2, wrong);
  check_file(c);
  spargo::apps::remember_command_line(called, argc, argv);
  check_print(c);
  spargo::apps::check_picture("--plot", c.plot);
  const spargo::device_status status = spargo::query_devices();
  if (c.device == "cuda" && !status.usable() && !c.list) return fail(1, "--device cuda: " + status.reason);
  spargo::bench::current_settings() = {.threads = c.threads,
                                       .host = c.device != "cuda",
                                       .device = c.device != "cpu" && (status.usable() || c.list),
                                       .filter = c.filter,
                                       .file = c.file};
  for (const auto add : spargo::bench::registrations()) add();
  const std::string report = c.filter.substr(0, c.filter.find('/'));
  if (!c.list && (report == "occupancy" || spargo::bench::reports().count(report) != 0)) {
    if (c.print != "report") return fail(2, "--print has no lines of " + report + " (expected cases)");
    return print_report(report, c.filter.substr(std::min(c.filter.size(), report.size() + 1)), status);
  }
  std::vector<spargo::bench::bench_case>& cases = spargo::bench::wanted_cases();
  if (cases.empty() && !c.file.empty()) {
    return fail(2, fmt::format("no case of '{}' takes a FILE (expected one of {})", c.filter,
                               fmt::join(spargo::bench::groups_with_a_file(), ", ")));
  }
  if (cases.empty()) return fail(2, "no case matches '" + c.filter + "' (see --list)");
  if (c.check_automatic >= 0) keep_choices(cases);
  if (cases.empty()) return fail(2, "no case of '" + c.filter + "' has an automatic (see --list)");

  if (c.list) {
    for (const auto& wanted : cases) std::printf("%s\n", wanted.name.c_str());
    return 0;
  }
  for (const auto& wanted : cases) spargo::bench::register_case(wanted);
  initialize(c);
  const int code = run(c, status);
  if (spargo::bench::drop_cached()) spargo::bench::drop_cached()();  // before the contexts it allocates from
  return code;
}

// Whether all of standard output was taken: a full disk takes none of it.
bool output_is_written() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush(); }

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run_command(argc, argv);
    if (code != 0 || output_is_written()) return code;
    return fail(1, "cannot write to standard output");
  } catch (const spargo::apps::usage_error& e) {
    return fail(2, e.what());
  } catch (const std::exception& e) {
    return fail(1, e.what());
  }
}
