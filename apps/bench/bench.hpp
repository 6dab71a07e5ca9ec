// Shared by the files of the bench driver: settings, registration, timing, names of counters.
//
// Each *_bench.cpp registers itself (`const registration here{[] { ... }}`); a file whose library is missing is not
// compiled. A case is named GROUP/RUNG; the table compares a group's rungs with each other and with its peers.
#pragma once

#include "bench/outcome.hpp"

#include <spargo/core/context.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace spargo::bench {

struct settings {
  int threads = 0;       // of the host cases; 0: all
  bool host = true;      // run host cases
  bool device = false;   // run device cases
  std::string filter{};  // regular expression on the names of cases; empty: all
  std::string file{};    // a user's matrix or graph, for the cases that take one; empty: the built-in ones
};

// Set by the driver before registration.
inline settings& current_settings() {
  static settings value;
  return value;
}

// Whether a file is treated as a matrix where several kinds are accepted.
inline bool is_matrix_market_name(const std::string& file) {
  return file.substr(file.find_last_of('/') + 1).find(".mtx") != std::string::npos;
}

// Facts for readers of the JSON results, filled in where they become known (such as ceilings when measured).
inline std::map<std::string, std::string>& run_context() {
  static std::map<std::string, std::string> value;
  return value;
}

// Threads of the host cases of this run.
inline int host_threads() {
  static const int threads = context<host>({.threads = current_settings().threads}).threads();
  return threads;
}

// Called before the results are written, to add facts known only after the run.
inline std::vector<std::function<void()>>& closing_notes() {
  static std::vector<std::function<void()>> all;
  return all;
}

// Records a ceiling, in bytes per second unless its name says otherwise, and returns it.
inline double note_ceiling(const std::string& name, double rate) {
  run_context()["ceiling_" + name] = std::to_string(rate);
  return rate;
}

using register_function = void (*)();

inline std::vector<register_function>& registrations() {
  static std::vector<register_function> all;
  return all;
}

// A report printed instead of timing cases: `bench NAME` or `bench NAME/REGEX`; all need a device.
using report_function = void (*)(std::ostream& out, const std::string& filter);

inline std::map<std::string, report_function>& reports() {
  static std::map<std::string, report_function> all;
  return all;
}

struct registration {
  explicit registration(register_function add) { registrations().push_back(add); }
};

// Counters known to the table. Rates are per second in their unit, without SI scaling.
inline constexpr const char* gbytes_per_second = "GB/s";
inline constexpr const char* gflops = "GFLOP/s";
inline constexpr const char* fraction_of_copy = "of_copy";    // relative to a copy in this run
inline constexpr const char* fraction_of_read = "of_read";    // relative to a read-only kernel in this run
inline constexpr const char* fraction_of_triad = "of_triad";  // relative to a host triad in this run
inline constexpr const char* fraction_of_limit = "of_limit";  // relative to another limit, given in the case's comment
inline constexpr const char* mteps = "MTEPS";
inline constexpr const char* mteps_error = "MTEPS_error";  // standard error of the mean over searches
// For times of different work, in ms: searches from different sources.
inline constexpr const char* least_ms = "least_ms";
inline constexpr const char* first_quartile_ms = "first_quartile_ms";
inline constexpr const char* third_quartile_ms = "third_quartile_ms";
inline constexpr const char* greatest_ms = "greatest_ms";
inline constexpr const char* is_peer = "peer";                    // 1: another library's operation
inline constexpr const char* host_threads_used = "host_threads";  // of a host case

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Median seconds of `runs` calls after `warmups`, by the host clock.
template <class Run>
double median_seconds(Run&& run, int runs = 21, int warmups = 3) {
  for (int k = 0; k < warmups; ++k) run();
  std::vector<double> seconds;
  for (int k = 0; k < runs; ++k) {
    const auto start = std::chrono::steady_clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return median(seconds);
}

// device_seconds of device_timing.hpp, for files that are compiled without CUDA as well.
double stream_seconds(const context<device>& ctx, const std::function<void()>& run);

// A selected case. `measure` returns median seconds and sets counters, or throws; wrong_result for a wrong result.
struct bench_case {
  std::string name;
  bool peer = false;  // another library's operation
  std::function<double(benchmark::State&)> measure;
};

// In order of registration.
inline std::vector<bench_case>& wanted_cases() {
  static std::vector<bench_case> cases;
  return cases;
}

// Groups that have a case of the user's file, which has the file's name in its own.
inline std::set<std::string>& groups_with_a_file() {
  static std::set<std::string> all;
  return all;
}

// Whether a name matches the filter, and with a user's file is a case of it. Google Benchmark's own filter would see
// names with suffixes.
inline bool is_wanted(const std::string& name) {
  if (const std::string& file = current_settings().file; !file.empty()) {
    if (name.find(std::string("/").append(file, file.find_last_of('/') + 1).append("/")) == std::string::npos)
      return false;
    groups_with_a_file().insert(name.substr(0, name.find('/')));
  }
  static const std::regex wanted(current_settings().filter, std::regex::extended);
  return current_settings().filter.empty() || std::regex_search(name, wanted);
}

// All peers of each group, also unselected ones: a comparison names the best one and lists those not run.
inline std::map<std::string, std::vector<std::string>>& known_peers() {
  static std::map<std::string, std::vector<std::string>> all;
  return all;
}

inline std::string group_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}
inline std::string rung_of(const std::string& name) { return name.substr(name.rfind('/') + 1); }

// Default threads of a host case: those of the run, or one for a sequential rung.
inline void note_threads(const std::string& name, benchmark::State& state) {
  const std::string group = group_of(name);
  const bool on_host = group.ends_with("/cpu") || group.ends_with("/host") || rung_of(name).starts_with("host:");
  if (!on_host || state.counters.count(host_threads_used) != 0) return;
  state.counters[host_threads_used] = rung_of(name).starts_with("sequential") ? 1 : host_threads();
}

template <class Measure>
void add_case(const std::string& name, Measure measure) {
  if (is_wanted(name)) wanted_cases().push_back({name, false, measure});
}

// The same for another library's operation.
template <class Measure>
void add_peer(const std::string& name, Measure measure) {
  known_peers()[group_of(name)].push_back(rung_of(name));
  if (is_wanted(name)) wanted_cases().push_back({name, true, measure});
}

// The same for a host operation with `threads` threads.
template <class Measure>
void add_peer_of(int threads, const std::string& name, Measure measure) {
  add_peer(name, [measure, threads](benchmark::State& state) {
    state.counters[host_threads_used] = threads;
    return measure(state);
  });
}

// Registers a case with Google Benchmark, to run once: it measures itself.
inline void register_case(const bench_case& wanted) {
  benchmark::RegisterBenchmark(wanted.name.c_str(),
                               [wanted](benchmark::State& state) {
                                 if (wanted.peer) state.counters[is_peer] = 1;
                                 for (auto _ : state) {
                                   try {
                                     state.SetIterationTime(wanted.measure(state));
                                     note_threads(wanted.name, state);
                                   } catch (const std::exception& e) {
                                     const outcome how = outcome_of(e);
                                     worst_outcome() = std::max(worst_outcome(), how);
                                     state.SkipWithError((std::string(label_of(how)) + e.what()).c_str());
                                     return;
                                   }
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace spargo::bench
