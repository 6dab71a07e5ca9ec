// The compact table that closes a run: every case with its rates and its speed relative to the group's best peer.
#pragma once

#include "bench/bench.hpp"
#include "bench/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

namespace spargo::bench {

// Why a case was skipped; empty when it ran. Google Benchmark renamed the members in 1.8.
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
  table_reporter() : ConsoleReporter(OO_Tabular) {}

  // One line a case as it is measured: a long run shows that it lives.
  void ReportRuns(const std::vector<Run>& runs) override {
    all_.push_back(runs);
    for (const Run& run : runs) {
      if (!is_shown(run)) continue;
      row r;
      const std::string name = run.run_name.function_name;
      const std::size_t slash = name.rfind('/');
      r.group = slash == std::string::npos ? "" : name.substr(0, slash);
      r.rung = slash == std::string::npos ? name : name.substr(slash + 1);
      r.failed = failure_of(run);
      r.milliseconds = run.GetAdjustedRealTime();
      for (const auto& [counter, value] : run.counters) r.counters[counter] = value.value;
      GetOutputStream() << (r.failed.empty() ? fmt::format("{}  {:.4f} ms\n", name, r.milliseconds)
                                             : fmt::format("{}  {}\n", name, r.failed))
                        << std::flush;
      rows_.push_back(std::move(r));
    }
  }

  void Finalize() override {
    std::map<std::string, double> best_peer;
    for (const row& r : rows_) {
      if (!r.failed.empty() || r.get(is_peer) == 0) continue;
      const auto [at, fresh] = best_peer.try_emplace(r.group, r.milliseconds);
      if (!fresh) at->second = std::min(at->second, r.milliseconds);
    }
    // A group's cases may come from several files: those of peers.
    std::map<std::string, std::size_t> place;
    for (const row& r : rows_) place.try_emplace(r.group, place.size());
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&](const row& a, const row& b) { return place.at(a.group) < place.at(b.group); });
    std::ostream& out = GetOutputStream();
    out << fmt::format("\n{:<30} {:>11} {:>9} {:>9} {:>9} {:>12} {:>12}\n", "", "median ms", "GB/s", "GFLOP/s", "MTEPS",
                       "of ceiling", "x best peer");
    std::string group;
    for (const row& r : rows_) {
      if (r.group != group) out << r.group << "\n";
      group = r.group;
      if (!r.failed.empty()) {
        out << fmt::format("  {:<28} {}\n", r.rung, r.failed);
        continue;
      }
      const auto peer = best_peer.find(r.group);
      out << fmt::format("  {:<28} {:>11.4f} {:>9} {:>9} {:>9} {:>12} {:>12}\n",
                         r.rung + (r.get(is_peer) != 0 ? " *" : ""), r.milliseconds, cell(r.get(gbytes_per_second), 1),
                         cell(r.get(gflops), 0), cell(r.get(mteps), 0), ceiling(r),
                         peer == best_peer.end() ? "" : fmt::format("{:.2f}", peer->second / r.milliseconds));
      if (r.get(greatest_ms) > 0) {
        out << fmt::format("    {:.4f} least, {:.4f} {:.4f} quartiles, {:.4f} ms greatest; MTEPS +- {:.0f}\n",
                           r.get(least_ms), r.get(first_quartile_ms), r.get(third_quartile_ms), r.get(greatest_ms),
                           r.get(mteps_error));
      }
    }
    out << "* peer; x best peer: how many times as fast as the fastest peer of the group\n" << std::flush;
  }

  // The cases so far, as the picture takes them.
  [[nodiscard]] std::vector<measured_case> cases() const {
    std::vector<measured_case> all;
    for (const row& r : rows_) {
      const char* fraction = fraction_of(r);
      all.push_back({.group = r.group,
                     .rung = r.rung,
                     .failed = r.failed,
                     .milliseconds = r.milliseconds,
                     .fraction = fraction == nullptr ? 0 : r.get(fraction),
                     .ceiling = fraction == nullptr ? "" : fraction + 3,
                     .peer = r.get(is_peer) != 0});
    }
    return all;
  }

  // Every run, with the context as it is known by now: ceilings are measured on the way.
  [[nodiscard]] std::string json() const {
    std::ostringstream text;
    benchmark::JSONReporter reporter;
    reporter.SetOutputStream(&text);
    reporter.SetErrorStream(&text);
    for (const auto& [key, value] : run_context()) benchmark::AddCustomContext(key, value);
    reporter.ReportContext(Context());
    for (const std::vector<Run>& runs : all_) reporter.ReportRuns(runs);
    reporter.Finalize();
    return text.str();
  }

 private:
  // Of repetitions, the median of them; a failure has none.
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

  // The name of the counter that says against which ceiling a case was held; null: against none.
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
  std::vector<std::vector<Run>> all_;
};

}  // namespace spargo::bench
