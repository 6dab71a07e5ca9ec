// The compact table at the end of a run: every case with its rates, its threads if on the host, and its speed relative
// to the group's best peer, which is named, as are peers that were not run.
#pragma once

#include "bench/bench.hpp"
#include "bench/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <ostream>
#include <sstream>

namespace spargo::bench {

// Why a case was skipped; empty if it ran. Google Benchmark renamed the members in 1.8.
template <class Run>
std::string failure_of(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred ? run.error_message : "";
  } else {
    return run.skipped != decltype(run.skipped){} ? run.skip_message : "";
  }
}

class table_reporter final : public benchmark::ConsoleReporter {
 public:
  table_reporter() : ConsoleReporter(OO_Tabular), context_(run_context()) {}

  // Prints the relevant facts about the machine. How Google Benchmark was built does not matter: none of it is timed.
  bool ReportContext(const Context& context) override {
    std::string load;
    for (const double each : context.cpu_info.load_avg) load += fmt::format(" {:.2f}", each);
    GetOutputStream() << fmt::format("{} CPUs at {:.0f} MHz, load average{}\n", context.cpu_info.num_cpus,
                                     context.cpu_info.cycles_per_second * 1e-6, load.empty() ? " unknown" : load)
                      << std::flush;
    return true;
  }

  // One line per measured case, as a sign of progress.
  void ReportRuns(const std::vector<Run>& runs) override {
    {
      const std::lock_guard lock(mutex_);
      all_.push_back(runs);
      context_ = run_context();
    }
    for (const Run& run : runs) {
      if (!is_shown(run)) continue;
      row r;
      const std::string name = run.run_name.function_name;
      r.group = group_of(name);
      r.rung = rung_of(name);
      r.failed = failure_of(run);
      r.milliseconds = run.GetAdjustedRealTime();
      for (const auto& [counter, value] : run.counters) r.counters[counter] = value.value;
      const std::string line = r.failed.empty() ? fmt::format("{}  {:.4f} ms\n", name, r.milliseconds)
                                                : fmt::format("{}  {}\n", name, r.failed);
      {
        const std::lock_guard lock(mutex_);
        rows_.push_back(std::move(r));
      }
      GetOutputStream() << line << std::flush;
    }
  }

  void Finalize() override {
    const std::map<std::string, row> best_peer = best_peers();
    // The cases of a group may come from several files: those of peers.
    std::map<std::string, std::size_t> place;
    for (const row& r : rows_) place.try_emplace(r.group, place.size());
    {
      const std::lock_guard lock(mutex_);
      std::stable_sort(rows_.begin(), rows_.end(),
                       [&](const row& a, const row& b) { return place.at(a.group) < place.at(b.group); });
    }
    std::ostream& out = GetOutputStream();
    out << fmt::format("\n{:<30} {:>11} {:>8} {:>9} {:>9} {:>9} {:>12} {:>12}\n", "", "median ms", "threads", "GB/s",
                       "GFLOP/s", "MTEPS", "of ceiling", "x best peer");
    std::string group;
    for (const row& r : rows_) {
      const auto peer = best_peer.find(r.group);
      if (r.group != group)
        out << r.group << describe_peers(r.group, peer == best_peer.end() ? nullptr : &peer->second);
      group = r.group;
      if (!r.failed.empty()) {
        out << fmt::format("  {:<28} {}\n", r.rung, r.failed);
        continue;
      }
      out << fmt::format(
          "  {:<28} {:>11.4f} {:>8} {:>9} {:>9} {:>9} {:>12} {:>12}\n", r.rung + (r.get(is_peer) != 0 ? " *" : ""),
          r.milliseconds, cell(r.get(host_threads_used), 0), cell(r.get(gbytes_per_second), 1), cell(r.get(gflops), 0),
          cell(r.get(mteps), 0), ceiling(r),
          peer == best_peer.end() ? "" : fmt::format("{:.2f}", peer->second.milliseconds / r.milliseconds));
      if (r.get(greatest_ms) > 0) {
        out << fmt::format("    {:.4f} least, {:.4f} {:.4f} quartiles, {:.4f} ms greatest; MTEPS +- {:.0f}\n",
                           r.get(least_ms), r.get(first_quartile_ms), r.get(third_quartile_ms), r.get(greatest_ms),
                           r.get(mteps_error));
      }
    }
    out << "* peer; x best peer: how many times as fast as the fastest peer of the group\n" << std::flush;
  }

  // The cases so far, for the picture, the page and --print.
  [[nodiscard]] std::vector<measured_case> cases() const {
    const std::lock_guard lock(mutex_);
    const std::map<std::string, row> best_peer = best_peers();
    std::vector<measured_case> all;
    for (const row& r : rows_) {
      const auto peer = best_peer.find(r.group);
      const bool compared = r.failed.empty() && peer != best_peer.end();
      const char* fraction = fraction_of(r);
      all.push_back({.group = r.group,
                     .rung = r.rung,
                     .failed = r.failed,
                     .milliseconds = r.milliseconds,
                     .fraction = fraction == nullptr ? 0 : r.get(fraction),
                     .ceiling = fraction == nullptr ? "" : fraction + 3,
                     .peer = r.get(is_peer) != 0,
                     .threads = r.get(host_threads_used),
                     .gbytes_per_s = r.get(gbytes_per_second),
                     .gflops = r.get(gflops),
                     .mteps = r.get(mteps),
                     .times_peer = compared ? peer->second.milliseconds / r.milliseconds : 0});
    }
    return all;
  }

  // All runs with the latest context (ceilings are measured on the way). Any thread, once. `more`: of the context.
  [[nodiscard]] std::string json(const std::map<std::string, std::string>& more = {}) const {
    const std::lock_guard lock(mutex_);
    std::ostringstream text;
    benchmark::JSONReporter reporter;
    reporter.SetOutputStream(&text);
    reporter.SetErrorStream(&text);
    std::map<std::string, std::string> context = more;
    context.insert(context_.begin(), context_.end());
    for (const auto& [key, value] : context) benchmark::AddCustomContext(key, value);
    reporter.ReportContext(Context());
    for (std::vector<Run> runs : all_) {
      for (Run& run : runs) clean_name(run);
      reporter.ReportRuns(runs);
    }
    reporter.Finalize();
    return without_build_type(text.str());
  }

 private:
  // A case's name as listed, without the suffixes that are the same for all.
  static void clean_name(Run& run) {
    run.run_name.iterations.clear();
    run.run_name.repetitions.clear();
    run.run_name.time_type.clear();
  }

  // Removes the line about Google Benchmark's build, which readers would take for Spargo's.
  static std::string without_build_type(std::string text) {
    const std::size_t at = text.find("\"library_build_type\"");
    if (at == std::string::npos) return text;
    const std::size_t first = text.rfind('\n', at);
    const std::size_t last = text.find('\n', at);
    const bool closes = text[last - 1] != ',';  // last entry of the context: the comma before it is removed too
    text.erase(first, last - first);
    if (closes && text[first - 1] == ',') text.erase(first - 1, 1);
    return text;
  }
  // With repetitions, only their median; a failure has none.
  static bool is_shown(const Run& run) {
    if (run.run_type == Run::RT_Aggregate) return run.aggregate_name == "median";
    return run.repetitions <= 1 || (!failure_of(run).empty() && run.repetition_index == 0);
  }

  struct row {
    std::string group;
    std::string rung;
    std::string failed;
    double milliseconds = 0;
    std::map<std::string, double> counters;

    [[nodiscard]] double get(const char* counter) const {
      const auto at = counters.find(counter);
      return at == counters.end() ? 0 : at->second;
    }
  };

  // Of each group that has one with a time.
  [[nodiscard]] std::map<std::string, row> best_peers() const {
    std::map<std::string, row> best;
    for (const row& r : rows_) {
      if (!r.failed.empty() || r.get(is_peer) == 0) continue;
      const auto [at, fresh] = best.try_emplace(r.group, r);
      if (!fresh && r.milliseconds < at->second.milliseconds) at->second = r;
    }
    return best;
  }

  // ": best peer boost+parents, 1 thread; not run: npp", or empty if the group has no peers.
  [[nodiscard]] std::string describe_peers(const std::string& group, const row* best) const {
    std::string text;
    if (best != nullptr) {
      text = ": best peer " + best->rung;
      const auto threads = static_cast<int>(best->get(host_threads_used));
      if (threads > 0) text += fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s");
    }
    std::string missing;
    const auto known = known_peers().find(group);
    for (const std::string& name : known == known_peers().end() ? std::vector<std::string>{} : known->second) {
      const bool ran = std::any_of(rows_.begin(), rows_.end(), [&](const row& r) {
        return r.group == group && r.rung == name && r.failed.empty();
      });
      if (!ran) missing += (missing.empty() ? "" : ", ") + name;
    }
    if (!missing.empty()) text += (best == nullptr ? ": peers not run: " : "; not run: ") + missing;
    return text + "\n";
  }

  // The counter that names the ceiling of a case; null: none.
  static const char* fraction_of(const row& r) {
    for (const char* fraction : {fraction_of_copy, fraction_of_read, fraction_of_triad, fraction_of_limit}) {
      if (r.get(fraction) != 0) return fraction;
    }
    return nullptr;
  }

  static std::string ceiling(const row& r) {
    const char* fraction = fraction_of(r);
    return fraction == nullptr ? "" : fmt::format("{:.3f} {}", r.get(fraction), fraction + 3);
  }

  static std::string cell(double value, int digits) { return value == 0 ? "" : fmt::format("{:.{}f}", value, digits); }

  std::vector<row> rows_;
  mutable std::mutex mutex_;  // guards what json() and cases() read
  std::vector<std::vector<Run>> all_;
  std::map<std::string, std::string> context_;
};

}  // namespace spargo::bench
