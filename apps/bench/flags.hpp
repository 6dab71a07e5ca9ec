// The flags of `spargo bench`, separate so that `spargo` knows them without linking what the driver needs.
#pragma once

#include "cli/choice.hpp"
#include "cli/help.hpp"

#include <spargo/core/config.hpp>

#include <CLI/CLI.hpp>

#include <string>

namespace spargo::bench {

inline constexpr const char* called = "spargo bench";

struct bench_flags {
  std::string filter;
  std::string file;
  std::string json;
  std::string print = "report";
  std::string plot;
  std::string report;
  std::string device = "auto";
  bool list = false;
  int threads = 0;
  int repetitions = 1;
  double check_automatic = -1;  // percent; negative: not requested
};

inline constexpr const char* closing =
    "A case is named GROUP/RUNG, as in reduce/sum/float/2^28/cuda/single_pass.\n"
    "Device cases are timed by CUDA events with a cold L2 cache, host cases by the\n"
    "clock; each reports the median of its own runs, and with --repetitions the\n"
    "median of those. Outputs are poisoned before and compared in full after.\n"
    "`spargo bench occupancy` (or occupancy/REGEX) prints the registers, memory and\n"
    "resident blocks of the library's kernels instead. `spargo bench ranks` times\n"
    "distributed operations (two ranks on one GPU if there is only one).\n\n";

inline constexpr const char* inputs =
    "Inputs: Matrix Market (.gz too), for graphs also an edge list, or one of the\n"
    "generators.\n\n";

inline constexpr const char* exit_codes =
    "Exit codes: 0 success; 1 the run, a case or --check-automatic failed;\n"
    "            2 the command line is wrong; 3 a result is wrong. Cases that this\n"
    "            machine or the library does not offer are skipped";

inline void add_flags(CLI::App& app, bench_flags& c) {
  app.description("Times Spargo's operations beside their peers.");
  app.add_option("FILTER", c.filter, "regular expression on the names of cases; default: all");
  app.add_option("FILE", c.file,
                 "with a filter for `spmv` or a graph algorithm such as `bfs`: a Matrix Market file, "
                 "gen:NAME:key=value,... or, of a graph, an edge list, timed instead of the built-in ones");
  app.add_flag("--list", c.list, "list the cases and stop");
  app.add_option(
         "--print", c.print,
         "print a line per case, not the report: as table, csv or json; columns of a table are aligned, and its "
         "numbers rounded. The report then goes to standard error")
      ->check(apps::one_of("a form", {"report", "table", "csv", "json"}))
      ->type_name("FORM");
  app.add_option(
         "--json", c.json,
         "also write the results to FILE, with the machine, the command and the ceilings; what was measured before an "
         "interrupt is kept. - is standard output, and the table then goes to standard error")
      ->type_name("FILE");
  app.add_option("--plot", c.plot,
                 "also draw the results to FILE (.png, .svg or .pdf): one panel per group, one bar per rung")
      ->type_name("FILE");
  app.add_option("--report", c.report, "also write a page of HTML with all cases: one file, without a network")
      ->type_name("OUT.html");
  app.add_option("--repetitions", c.repetitions, "measure every case N times and show the median")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  app.add_flag("--check-automatic{5}", c.check_automatic,
               "fail if `automatic` is slower than another rung of its group by more than 5 percent, or PERCENT with "
               "--check-automatic=PERCENT; runs only groups that have an `automatic`, and no peers")
      ->check(CLI::Range(0.0, 1e9).description(""));
  app.add_option("--device", c.device, "cases to run: auto (both, where there is a GPU), cpu or cuda")
      ->check(apps::one_of("a device", {"auto", "cpu", "cuda"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--threads", c.threads, "threads of the host cases; 0: all")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 20).description(""));
  app.footer(closing +
             apps::help_examples(app, {"--list", "'transfer|pipeline' --json link.json",
                                       "'^reduce/sum/float' --repetitions 5 --plot reduce.svg", "spmv matrix.mtx",
                                       "^bfs edges.txt --device cpu"}) +
             inputs + apps::help_on_generators + "\n" + exit_codes);
  app.set_version_flag("--version", std::string(called) + " (Spargo) " SPARGO_VERSION_STRING, "this program's version")
      ->group(apps::help_style::shared_group);
  app.get_option("--help")->description("this text")->group(apps::help_style::shared_group);
  apps::use_help_format(app);
}

}  // namespace spargo::bench
