// The driver of everything that is timed: bench [FILTER] runs the cases whose names match, a table last.
#include "bench/table.hpp"

#include <spargo/core/config.hpp>
#include <spargo/core/context.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

// Google Benchmark takes its settings from a command line only.
void initialize(const std::string& filter, const std::string& json) {
  std::vector<std::string> words{"bench"};
  if (!filter.empty()) words.push_back("--benchmark_filter=" + filter);
  if (!json.empty()) {
    words.push_back("--benchmark_out=" + json);
    words.push_back("--benchmark_out_format=json");
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Times Spargo's operations beside their peers.", "bench"};
  app.set_version_flag("--version", std::string("bench ") + SPARGO_VERSION_STRING);
  std::string filter;
  std::string json;
  std::string where = "auto";
  bool list = false;
  int threads = 0;
  app.add_option("FILTER", filter, "Regular expression on the names of cases; default: all");
  app.add_flag("--list", list, "List the cases and stop");
  app.add_option("--json", json, "Also write the results to FILE")->type_name("FILE");
  app.add_option("--device", where, "Cases to run: auto (both, where there is a GPU), cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--threads", threads, "Threads of the host cases; 0: all")->check(CLI::NonNegativeNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }

  const spargo::device_status status = spargo::query_devices();
  if (where == "cuda" && !status.usable() && !list) {
    std::fprintf(stderr, "bench: --device cuda: %s\n", status.reason.c_str());
    return 1;
  }
  spargo::bench::current_settings() = {
      .threads = threads, .host = where != "cuda", .device = where != "cpu" && (status.usable() || list)};
  for (const auto add : spargo::bench::registrations()) add();

  initialize(filter.empty() ? "all" : filter, list ? "" : json);
  if (list) {
    benchmark::ConsoleReporter names;
    std::string spec = "--benchmark_list_tests";
    std::string program = "bench";
    std::vector<char*> arguments{program.data(), spec.data()};
    int count = 2;
    benchmark::Initialize(&count, arguments.data());
    benchmark::RunSpecifiedBenchmarks(&names);
    return 0;
  }
  spargo::bench::table_reporter table;
  if (benchmark::RunSpecifiedBenchmarks(&table) == 0) {
    std::fprintf(stderr, "bench: no case matches '%s' (see --list)\n", filter.c_str());
    return 2;
  }
  return 0;
}
