// The driver of everything that is timed: bench [FILTER] runs the cases whose names match, a table last.
#include "bench/check_automatic.hpp"
#include "bench/interrupt.hpp"
#include "common/exit_status.hpp"
#include "common/help.hpp"

#include "bench/plot.hpp"
#include "bench/table.hpp"

#include <spargo/core/config.hpp>
#include <spargo/core/context.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/output.hpp>

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

namespace {

using spargo::output_file;

struct command {
  std::string filter;
  std::string file;
  std::string json;
  std::string plot;
  std::string device = "auto";
  bool list = false;
  int threads = 0;
  int repetitions = 1;
  double check_automatic = -1;  // percent; negative: not asked for
};

constexpr const char* closing =
    "A case is named GROUP/RUNG, as in reduce/sum/float/2^28/cuda/single_pass.\n"
    "Device cases are timed by CUDA events with a cold L2 cache, host cases by the\n"
    "clock; each reports the median of its own runs, and with --repetitions the\n"
    "median of those. Outputs are poisoned before and compared in full after.\n"
    "`bench occupancy` (or occupancy/REGEX) prints the registers, memory and\n"
    "resident blocks of the library's kernels instead.\n\n"
    "Examples:\n"
    "  bench --list\n"
    "  bench 'transfer|pipeline' --json link.json\n"
    "  bench '^reduce/sum/float' --repetitions 5 --plot reduce.svg\n"
    "  bench spmv matrix.mtx\n"
    "  bench ^bfs edges.txt --device cpu\n\n"
    "Inputs: Matrix Market (.gz too), for bfs also an edge list, or one of the\n"
    "generators.\n\n";

constexpr const char* exit_codes =
    "Exit codes: 0 success; 1 the run, a case or --check-automatic failed;\n"
    "            2 the command line is wrong; 3 a result is wrong. Cases that this\n"
    "            machine or the library does not offer are skipped";

int fail(int code, const std::string& message) {
  std::string line = "bench: " + message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "%s\n", line.c_str());
  return code;
}

void add_options(CLI::App& app, command& c) {
  app.set_version_flag("--version", std::string("bench ") + SPARGO_VERSION_STRING, "this program's version");
  app.add_option("FILTER", c.filter, "regular expression on the names of cases; default: all");
  app.add_option(
      "FILE", c.file,
      "with a filter for `spmv` or `bfs`: a Matrix Market file, gen:NAME:key=value,... or (bfs) an edge list, "
      "timed instead of the built-in ones");
  app.add_flag("--list", c.list, "list the cases and stop");
  app.add_option(
         "--json", c.json,
         "also write the results to FILE, with the machine, the command and the ceilings; what was measured before an "
         "interrupt is kept. - is standard output, and the table then goes to standard error")
      ->type_name("FILE");
  app.add_option("--plot", c.plot, "also draw the results to FILE (.png, .svg or .pdf): a panel a group, a bar a rung")
      ->type_name("FILE");
  app.add_option("--repetitions", c.repetitions, "measure every case N times and show the median")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  app.add_flag("--check-automatic{5}", c.check_automatic,
               "fail where `automatic` is slower than a rung of its own by more than 5 percent, or as many as "
               "--check-automatic=PERCENT says; runs only groups that have an `automatic`, and no peers")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--device", c.device, "cases to run: auto (both, where there is a GPU), cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}).description(""))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--threads", c.threads, "threads of the host cases; 0: all")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20).description(""));
  app.footer(closing + std::string(spargo::apps::help_on_generators) + "\n" + exit_codes);
  app.get_option("--help")->description("this text");
  spargo::apps::use_help_format(app);
}

// What is wrong with the filter; empty: nothing.
std::string check_filter(const std::string& filter) {
  try {
    const std::regex compiled(filter, std::regex::extended);
    return {};
  } catch (const std::regex_error& e) {
    return "FILTER '" + filter + "' is no regular expression: " + e.what();
  }
}

// Google Benchmark takes its settings from a command line only.
void initialize(const command& c) {
  static std::string program = "bench";  // kept by Google Benchmark for the results
  std::vector<std::string> words{"--benchmark_filter=all"};
  if (c.repetitions > 1) words.push_back("--benchmark_repetitions=" + std::to_string(c.repetitions));
  std::vector<char*> arguments{program.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
}

// The command as a shell would take it.
std::string command_line(int argc, char** argv) {
  std::string line = "bench";
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const bool plain = !word.empty() && word.find_first_of(" |&;<>()$`\\\"'*?[]#~=%^{}!") == std::string::npos;
    line += plain ? " " + word : " '" + word + "'";
  }
  return line;
}

std::string place_of_run(const spargo::device_status& status) {
  const auto& settings = spargo::bench::current_settings();
  const std::string threads = settings.threads == 0 ? "all processors" : std::to_string(settings.threads) + " threads";
  if (!settings.device) return threads;
  return settings.host ? status.reason + " and " + threads : status.reason;
}

void write(output_file& file, const std::string& text) {
  file.write(text);
  file.commit();
}

// Leaves the cases that --check-automatic compares: no peers, and no group without an automatic.
void keep_choices(std::vector<spargo::bench::bench_case>& cases) {
  std::set<std::string> groups;
  for (const auto& c : cases) {
    if (spargo::bench::detail::is_automatic(spargo::bench::rung_of(c.name)))
      groups.insert(spargo::bench::group_of(c.name));
  }
  std::erase_if(cases, [&](const auto& c) { return c.peer || groups.count(spargo::bench::group_of(c.name)) == 0; });
}

// Prints what --check-automatic found; whether it is in order.
bool check_choices(const std::vector<spargo::bench::measured_case>& cases, double percent) {
  const auto slow = spargo::bench::slow_choices(cases, percent);
  std::printf("\n%lld cases of automatic, %zu slower than a rung of its own by more than %g percent\n%s",
              static_cast<long long>(spargo::bench::automatic_cases(cases)), slow.size(), percent,
              spargo::bench::slow_choices_table(slow).c_str());
  return slow.empty();
}

// The results on their way to --json: written once, by the run or by an interrupt.
struct results {
  std::mutex mutex;
  bool open = true;
  output_file* json = nullptr;
  const spargo::bench::table_reporter* table = nullptr;
};

void save_interrupted(results& so_far, int signal) {
  const std::lock_guard lock(so_far.mutex);
  if (!so_far.open || so_far.json == nullptr) return;
  so_far.open = false;
  try {
    write(*so_far.json, so_far.table->json({{"interrupted_by", ::strsignal(signal)}}));
  } catch (const std::exception& e) {
    (void)fail(1, e.what());
  }
}

int run(const command& c, const std::string& words, const spargo::device_status& status) {
  // Before anything is measured: a name that cannot be written costs no time.
  std::unique_ptr<output_file> json;
  std::unique_ptr<output_file> plot;
  if (!c.json.empty()) json = std::make_unique<output_file>(c.json);
  if (!c.plot.empty()) plot = std::make_unique<output_file>(c.plot);

  auto& context = spargo::bench::run_context();
  context["command_line"] = words;
  context["spargo_version"] = SPARGO_VERSION_STRING;
  context["host_threads"] = std::to_string(spargo::context<spargo::host>({.threads = c.threads}).threads());

  spargo::bench::table_reporter table;
  if (spargo::output_descriptor(c.json) == 1 || spargo::output_descriptor(c.plot) == 1) {
    table.SetOutputStream(&std::cerr);
  }
  const auto so_far = std::make_shared<results>();
  so_far->json = json.get();
  so_far->table = &table;
  spargo::bench::on_interrupt([so_far](int signal) { save_interrupted(*so_far, signal); });
  benchmark::RunSpecifiedBenchmarks(&table);
  if (json) {
    for (const auto& note : spargo::bench::closing_notes()) note();
    const std::lock_guard lock(so_far->mutex);
    so_far->open = false;
    write(*json, table.json(spargo::bench::run_context()));
  }
  if (plot) {
    const auto picture = spargo::bench::plot_ladder(table.cases(), place_of_run(status));
    write(*plot, picture.file(spargo::apps::picture_format_of(c.plot).value()));
  }
  const bool choices_are_good = c.check_automatic < 0 || check_choices(table.cases(), c.check_automatic);
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

// A file that is none costs no time: throws what its reader would. Edge lists have no head to look at.
void check_file(const command& c) {
  if (c.file.empty()) return;
  if (spargo::is_generator_spec(c.file)) {
    (void)spargo::describe_generator(c.file);
  } else if (c.filter.find("spmv") != std::string::npos || spargo::bench::is_matrix_market_name(c.file)) {
    (void)spargo::read_matrix_market_header(c.file);
  } else if (!std::filesystem::is_regular_file(c.file)) {
    throw spargo::error(spargo::error_code::io, {.file = c.file}, "cannot be read (expected an edge list)");
  }
}

int run_command(int argc, char** argv) {
  CLI::App app{"Times Spargo's operations beside their peers.", "bench"};
  command c;
  add_options(app, c);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return e.get_exit_code() == 0 ? app.exit(e) : fail(2, std::string(e.what()) + " (see --help)");
  }
  if (app.count("--check-automatic") == 0) c.check_automatic = -1;  // CLI11 makes it 0
  if (c.filter.empty() && app.count("FILTER") != 0) return fail(2, "FILTER is empty (leave it out to run every case)");
  if (const std::string wrong = check_filter(c.filter); !wrong.empty()) return fail(2, wrong);
  if (!c.file.empty() && c.filter.find("spmv") == std::string::npos && c.filter.find("bfs") == std::string::npos) {
    return fail(2, "a FILE goes with a filter for spmv or bfs, not '" + c.filter + "'");
  }
  check_file(c);
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
    return print_report(report, c.filter.substr(std::min(c.filter.size(), report.size() + 1)), status);
  }
  std::vector<spargo::bench::bench_case>& cases = spargo::bench::wanted_cases();
  if (cases.empty()) return fail(2, "no case matches '" + c.filter + "' (see --list)");
  if (c.check_automatic >= 0) keep_choices(cases);
  if (cases.empty()) return fail(2, "no case of '" + c.filter + "' has an automatic (see --list)");

  if (c.list) {
    for (const auto& wanted : cases) std::printf("%s\n", wanted.name.c_str());
    return 0;
  }
  for (const auto& wanted : cases) spargo::bench::register_case(wanted);
  initialize(c);
  return run(c, command_line(argc, argv), status);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const spargo::apps::usage_error& e) {
    return fail(2, e.what());
  } catch (const std::exception& e) {
    return fail(1, e.what());
  }
}
