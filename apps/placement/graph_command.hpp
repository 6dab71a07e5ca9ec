// Shared by all graph commands: flags, reading and building, the report of a graph, and the end of a run.
//
// A command declares its own flags between add_graph_file and add_graph_flags, loads (placed_input.hpp), settles the
// backend, computes on on_graph's view, and returns the result of `conclude`.
#pragma once

#include "cli/cli.hpp"
#include "cli/report.hpp"
#include "cli/timing.hpp"
#include "cli/vertex_table.hpp"
#include "input/cache.hpp"
#include "input/graph_input.hpp"
#include "placement/device_choice.hpp"

#include <spargo/core/threaded_copy.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spargo::apps {

struct graph_flags : table_flags {
  common_flags common;
  std::string file;
  bool undirected = false;
  bool directed = false;
  std::int64_t repeat = 3;
  bool no_validate = false;
  cache_mode cache = cache_mode::off;
  std::string max_device_memory;  // empty: all that is free
  std::string parse = "auto";     // --parse, of commands that have it
  stopwatch since_start;          // of the command: total_ms

  // --max-device-memory in bytes; 0: no limit.
  [[nodiscard]] std::int64_t device_bytes() const;
};

// The --help of flags whose meaning differs between commands.
struct graph_flag_texts {
  table_texts table;
  const char* no_validate = "skip the independent check";
  const char* repeat = "timed runs";
};

void add_graph_file(flag_set app, graph_flags& flags);
// --undirected, --directed, --columns, --ids, --repeat, --output, --sort, --top, --cache, --max-device-memory,
// --no-validate.
void add_graph_flags(flag_set app, graph_flags& flags, const graph_flag_texts& texts);
// The flags of all commands; the help ends with the examples and the inputs.
void add_graph_help(flag_set app, graph_flags& flags, const std::vector<std::string>& examples);

struct loaded_input {
  input_description input;
  input_cache cache;
  input_facts facts;
  double load_ms = 0;
  double build_ms = 0;
  bool ignores_weights = false;   // that the file has
  double open_ms = 0;             // the GPU
  bool built_on_device = false;   // the graph
  std::string reason_for_host{};  // the host has parsed it, or made its entries, beside a GPU; empty: it has not
};

// By a flag, otherwise by the input.
[[nodiscard]] bool is_directed(const graph_flags& flags, const input_description& input);

// Of a directed graph. For the CPU: if no GPU is used, whose algorithm reads out-edges.
enum class in_edges { omit, build, build_for_cpu };

// Whether the file has weights. A generated graph has none.
[[nodiscard]] bool has_weights(const input_description& input, const input_facts& facts);

struct graph_facts {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  bool directed = true;
  std::optional<std::int64_t> loops{};  // where they count
};
// Number of self-loops among `entries` stored edges; an undirected graph stores a loop once, other edges twice.
[[nodiscard]] inline std::int64_t count_loops(std::int64_t entries, std::int64_t edges, bool directed) {
  return entries - (directed ? edges : 2 * edges);
}

// Title, graph, backend, and the times before the work.
void report_graph(report& out, const std::string& command, const graph_flags& flags, const backend& where,
                  const loaded_input& from, const graph_facts& graph);

// The fault of a result; empty: it is right; none: not checked.
using verdict = std::optional<std::string>;
[[nodiscard]] inline bool is_wrong(const verdict& fault) { return fault.has_value() && !fault->empty(); }

// A result that may have been checked.
struct checked {
  verdict fault;
  double check_ms = 0;
};

// The verdict of check(), whose time is added to `ms`.
template <class Check>
[[nodiscard]] verdict timed_check(double& ms, Check&& check) {
  const stopwatch watch;
  verdict fault = check();
  ms += watch.milliseconds();
  return fault;
}

// The keys "valid" and "validate_ms", the rows "result" and "check"; `how`: the method of the check, which took `ms`.
void report_verdict(report& out, const verdict& fault, const std::string& how, double ms);
void report_check_time(report& out, const verdict& fault, double ms);

// Prints the report, then the error of a wrong result.
[[nodiscard]] exit_status conclude(const report& out, const graph_flags& flags, const verdict& fault);

// The vertices with the highest values, by value, then by vertex: a key, and aligned rows.
void report_highest(report& out, const vertex_names& names, span<const double, host> values, std::int64_t count,
                    const char* key = "top", const char* label = "highest");
// The key "histogram": [value, how many], ascending, of values from 0 on. Returns how many have the largest value.
template <class I>
std::int64_t report_histogram(report& out, span<const I, host> values) {
  std::vector<std::int64_t> counts;
  for (const I value : values) {
    if (static_cast<std::size_t>(value) >= counts.size()) counts.resize(static_cast<std::size_t>(value) + 1);
    ++counts[static_cast<std::size_t>(value)];
  }
  json& histogram = out.keys()["histogram"] = json::array();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) histogram.push_back({k, counts[k]});
  }
  return counts.empty() ? 0 : counts.back();
}

// Copies results to the host; with `cpu`, by its threads.
template <class T, class Space>
[[nodiscard]] array<T, host> copy_to_host(const context<Space>& ctx, span<const T, Space> values) {
  if constexpr (std::same_as<Space, host>) {
    return clone(ctx, values);
  } else {
    return to_host(ctx, values);
  }
}
template <class T, class Space>
[[nodiscard]] array<T, host> copy_to_host(const context<Space>& ctx, span<const T, Space> values,
                                          const context<host>& cpu) {
  if constexpr (std::same_as<Space, host>) {
    return clone(ctx, values);
  } else {
    return to_host_by_threads(ctx, values, cpu);
  }
}
// The arguments of a plan that the host made.
template <class T, class Space>
[[nodiscard]] array<T, Space> copy_from_host(const context<Space>& ctx, span<const T, host> values) {
  if constexpr (std::same_as<Space, host>) {
    return clone(ctx, values);
  } else {
    return to_device(ctx, values);
  }
}

// Calls `run` once untimed, because it touches memory for the first time, then --repeat times. If --repeat is 0 (no
// default): three times, or only the first if that takes over a second.
struct timed_runs {
  double total_ms = 0;  // from the command's start to the first result
  time_summary times;
};
template <class Space, class Run>
[[nodiscard]] timed_runs time_runs(const context<Space>& ctx, const graph_flags& flags, Run&& run) {
  constexpr double long_ms = 1000;
  timed_runs timed;
  const stopwatch first;
  run();
  ctx.synchronize();
  const double first_ms = first.milliseconds();
  timed.total_ms = flags.since_start.milliseconds();
  std::vector<double> samples;
  if (flags.repeat == 0 && first_ms > long_ms) samples.push_back(first_ms);
  const std::int64_t runs = flags.repeat > 0 ? flags.repeat : samples.empty() ? 3 : 0;
  for (std::int64_t k = 0; k < runs; ++k) {
    const stopwatch watch;
    run();
    ctx.synchronize();
    samples.push_back(watch.milliseconds());
  }
  timed.times = summarize(std::move(samples));
  return timed;
}

// Facts about a plan, and its runs.
struct plan_report {
  std::string algorithm;
  std::string reason;
  double upload_ms = 0;
  double plan_ms = 0;
  std::int64_t workspace_bytes = 0;
  timed_runs runs;
};
template <class Plan>
[[nodiscard]] plan_report describe_plan(const Plan& plan, double plan_ms, timed_runs runs) {
  return {std::string(to_string(plan.algorithm())), plan.reason(), 0, plan_ms, plan.workspace_bytes(), std::move(runs)};
}
void report_plan(report& out, const backend& where, const plan_report& plan);

}  // namespace spargo::apps
