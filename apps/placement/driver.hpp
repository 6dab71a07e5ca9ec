// One driver for the commands on graphs: flags, loading, placement (CPU, a GPU, several ranks), plan, timing, check,
// report, output and `spargo plan`. A command says only what is its own.
//
// A new command is a class derived from `graph_algorithm` (the defaults below) or, where it starts from sources,
// `search_algorithm` (search_driver.hpp), and ends with
//   extern const command x_command = graph_command<x>("what it does");
// commands/triangles.cpp is a short example, commands/components.cpp one that also runs on ranks. It provides:
//   flags_type                      graph_flags, or a struct derived from it with the command's own flags
//   name, activity                  "components", and "finding components" for the progress line
//   text(), add_flags, check_flags  help, its own flags, and errors of usage before anything is read
//   work(flags)                     graph, in-edges, self-loops and cost, known before anything is read
//   options(flags)                  the plan's, of which the library knows an estimate
//   result<I>                       on the host: derived from `checked` and the library's result
//   make_plan(ctx, g, flags)        the library's plan; g is a graph_view of any space and types. Optional fourth
//                                   argument: the result, as `prepare` has left it
//   fetch(done, flags, result)      from `finished` to the result
//   check(cpu, g, flags, result)    empty if the result is right; g is the placed_graph
//   derive(cpu, g, flags, result)   optional, not timed: results computed from others and from g, such as a subgraph
//   report_result, write            rows and keys; --output
// Written once for all: add_algorithm_flag and add_choice (cli/enum_words.hpp), weights if they are asked for
// (optional_weights.hpp), add_weights_flag, report_weights (weighted_input.hpp), report_highest, report_histogram
// (graph_command.hpp), write_values, write_vertices, write_edges (cli/vertex_table.hpp), groups of vertices, edges of a
// subgraph, pairs of vertices from a file (commands/graph/), and a choice between two plans (either_plan.hpp).
// On several ranks (ranks = true) also: ranks_algorithm, check_ranks_flags, rank_bytes (of GPUs), make_ranks_plan,
// check_on_ranks, ranks_reason and `values`, the array that has a value for each vertex.
#pragma once

#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "placement/either_plan.hpp"
#include "placement/placed_input.hpp"
#include "placement/plan.hpp"
#include "placement/ranks.hpp"

#include <spargo/graph/estimate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spargo::apps {

// What --help says of a command.
struct graph_command_text {
  std::string about;
  graph_flag_texts flags;
  std::vector<std::string> examples;
};

// A plan that has run, and how to copy its results to the host.
template <class Plan, class Space>
struct finished {
  Plan& plan;
  const context<Space>& ctx;
  const context<host>& cpu;
  const timed_runs& runs;

  template <class T>
  [[nodiscard]] array<T, host> copy(span<const T, Space> values) const {
    return copy_to_host(ctx, values, cpu);
  }
};

// The defaults of a command.
struct graph_algorithm {
  using flags_type = graph_flags;
  using progress = busy;  // or counted_work, of an operation that says how much of it is done
  static constexpr bool searches = false;
  static constexpr bool follows_paths = false;  // vertex by vertex: slow on a GPU where the graph is one long path
  static constexpr bool ranks = false;
  static constexpr bool undirected_only = false;      // flags_type sets `undirected`
  static constexpr bool ranks_on_gpus = true;         // each rank may have a GPU
  static constexpr bool undirected_on_ranks = false;  // ranks take every edge both ways
  static constexpr bool made_on_gpus = false;         // ranks with a GPU each generate graphs there

  static void add_flags(flag_set, graph_flags&) {}
  static void check_flags(const graph_flags&) {}
  static void check_ranks_flags(const graph_flags&) {}
  static std::int64_t rank_bytes(const rank_share&) { return 0; }
  // --algorithm, for `spargo plan`.
  static std::string algorithm(const graph_flags&) { return "auto"; }
  static bool reads_weights(const graph_flags&) { return false; }
  // Files beside FILE that flags name; no output may replace them.
  static std::vector<std::string> other_inputs(const graph_flags&) { return {}; }
  // Files that are written beside --output.
  static std::vector<output_request> other_outputs(const graph_flags&) { return {}; }
  // Whether every rank has the results of all vertices in the end.
  static bool gathers_results(const graph_flags&) { return true; }
  static auto load(const graph_flags& flags, const graph_work& work) { return load_placed(flags, work); }
  // Of the input, before the plan: rows and keys, and what the flags name in it.
  static void report_input(report&, const auto& /*read*/, const auto& /*g*/) {}
  static void prepare(const graph_flags&, const input_facts&, const auto& /*g*/, auto& /*result*/) {}
  static void derive(const context<host>&, const auto& /*g*/, const graph_flags&, auto& /*result*/) {}
  // What is run and timed.
  static auto runner(const auto& /*ctx*/, auto& plan, const auto& /*result*/) {
    return [&plan] { plan.run(); };
  }
};

// What does not depend on the graph's types.
void declare_graph(flag_set app, graph_flags& flags, const graph_command_text& text, bool devices,
                   const std::function<void()>& add_own);
// `inputs`: those beside FILE; `outputs`: those beside --output.
void prepare_graph_outputs(graph_flags& flags, std::vector<std::string> inputs,
                           std::vector<output_request> outputs = {});

// What a GPU would have to hold and to do, from the graph's size.
template <class T>
[[nodiscard]] search_size estimate_search(search_size size, std::int64_t index_bytes,
                                          const typename T::flags_type& flags) {
  constexpr std::int64_t no_path = 2;
  const graph_work work = T::work(flags);
  graph_shape shape{size.vertices, size.entries, size.directed ? direction_kind::directed : direction_kind::undirected};
  shape.index_bytes = index_bytes;
  if (work.edge_bytes > 0) shape.value_bytes = std::max(work.edge_bytes, size.weight_bytes);
  shape.threads = size.threads;
  const plan_estimate needed = estimate(shape, T::options(flags));
  size.workspace_bytes = needed.device_bytes;
  size.host_workspace_bytes = needed.host_bytes;
  size.runs_on_cpu = work.runs_on_cpu;
  size.runs_on_gpu = work.runs_on_gpu;
  if (!T::follows_paths) size.branching = no_path;
  return size;
}

template <class T, class Graph>
void settle_graph(backend& where, const typename T::flags_type& flags, const Graph& g) {
  if (!where.gpu.has_value()) return;
  const std::string& device = flags.common.device;
  search_size size = estimate_search<T>(size_of_graph(g), sizeof(typename Graph::index), flags);
  if (T::follows_paths && device == "auto") size.branching = branching_of(g.edges_only());
  settle_backend(where, device, size, flags.device_bytes());
}

// --- One process ----------------------------------------------------------------------------------------------------

template <class T, class Space, class View, class Result>
[[nodiscard]] plan_report solve(const typename T::flags_type& flags, const context<host>& cpu,
                                const context<Space>& ctx, const View& g, Result& found) {
  const typename T::progress at_work(T::activity);
  const stopwatch planning;
  auto plan = [&] {
    if constexpr (requires { T::make_plan(ctx, g, flags, found); }) {
      return T::make_plan(ctx, g, flags, found);
    } else {
      return T::make_plan(ctx, g, flags);
    }
  }();
  ctx.synchronize();
  const double plan_ms = planning.milliseconds();
  plan_report summary = describe_plan(plan, plan_ms, time_runs(ctx, flags, T::runner(ctx, plan, found)));
  T::fetch(finished<decltype(plan), Space>{plan, ctx, cpu, summary.runs}, flags, found);
  return summary;
}

template <class T, class Result>
void report_solution(report& out, const typename T::flags_type& flags, const backend& where, const vertex_names& names,
                     const plan_report& summary, const Result& found) {
  report_plan(out, where, summary);
  T::report_result(out, flags, names, found);
  report_verdict(out, found.fault, T::how_checked(flags, found), found.check_ms);
}

template <class T, class Result>
exit_status conclude_solution(report& out, const typename T::flags_type& flags, const vertex_names& names,
                              const Result& found) {
  if (!flags.output.empty() && !is_wrong(found.fault)) T::write(out, flags, names, found);
  return conclude(out, flags, found.fault);
}

template <class T, class Read, class Graph>
exit_status run_on_graph(const typename T::flags_type& flags, Read& read, const Graph& g) {
  backend& where = read.where;
  const loaded_input& from = read.from;
  settle_graph<T>(where, flags, g);
  typename T::template result<typename Graph::index> found;
  T::prepare(flags, from.facts, g, found);
  report out(T::name, flags.common);
  report_graph(out, T::name, flags, where, from, facts_of(g, T::work(flags).loops));
  T::report_input(out, read, g);
  plan_report summary;
  const double upload_ms = on_graph(
      where, g, [&](const auto& ctx, const auto& view) { summary = solve<T>(flags, where.cpu, ctx, view, found); });
  summary.upload_ms = upload_ms;
  if (!flags.no_validate) {
    const typename T::progress validating("validating");
    found.fault = timed_check(found.check_ms, [&] { return T::check(where.cpu, g, flags, found); });
  }
  {
    const busy summing("summing up");
    if (!is_wrong(found.fault)) T::derive(where.cpu, g, flags, found);
    report_solution<T>(out, flags, where, from.facts.names, summary, found);
  }
  return conclude_solution<T>(out, flags, from.facts.names, found);
}

// --- Several ranks --------------------------------------------------------------------------------------------------

template <class T, class Space, index_type I, class Result>
ranked_runs solve_on_ranks(const communicator& comm, const backend& where, const context<Space>& ctx,
                           const typename T::flags_type& flags, const distributed_graph<I>& g, plan_report& summary,
                           std::string& links, Result& found) {
  expect_room(comm, where, flags.device_bytes(), [&] { return T::rank_bytes(share_of(comm, g)); });
  std::optional<busy> at_work;
  if (comm.rank() == 0) at_work.emplace(T::activity);
  const stopwatch planning;
  auto plan = T::make_ranks_plan(comm, ctx, g, flags);
  summary.plan_ms = planning.milliseconds();
  links = plan.how();
  ranked_runs runs = time_on_ranks(comm, 1, flags.repeat, flags.since_start, [&] {
    plan.run();
    ctx.synchronize();
  });
  summary.runs = runs.timed;
  together(comm, [&] { T::fetch(finished<decltype(plan), Space>{plan, ctx, where.cpu, runs.timed}, flags, found); });
  summary.algorithm = T::ranks_algorithm;
  summary.reason = T::ranks_reason(found);
  return runs;
}

template <class T, index_type I>
exit_status run_on_ranked_graph(const communicator& comm, const backend& where, const typename T::flags_type& flags,
                                const loaded_input& from, const graph_facts& facts, const distributed_graph<I>& g) {
  typename T::template result<I> found;
  plan_report summary;
  std::string links;
  ranked_runs runs;
  const auto solve = [&](const auto& ctx) {
    runs = solve_on_ranks<T>(comm, where, ctx, flags, g, summary, links, found);
  };
  if constexpr (T::ranks_on_gpus) {
    on_backend(where, solve);
  } else {
    solve(where.cpu);
  }
  if (!flags.no_validate) {
    std::optional<busy> validating;
    if (comm.rank() == 0) validating.emplace("validating");
    found.fault = timed_check(found.check_ms, [&] { return T::check_on_ranks(comm, where.cpu, g, flags, found); });
  }
  auto& values = T::values(found);
  values = clone(where.cpu, gather_values(comm, where.cpu, std::as_const(values).view()));
  report out(T::name, flags.common);
  on_first(comm, [&] {
    report_graph(out, T::name, flags, where, from, facts);
    report_solution<T>(out, flags, where, from.facts.names, summary, found);
    report_ranks(out, comm, where, links, runs);
    (void)conclude_solution<T>(out, flags, from.facts.names, found);
  });
  return status_of_verdict(found.fault);
}

// The graph of the ranks, and what the report says of it.
struct ranked_graph_input {
  loaded_input from;
  graph_facts facts;
  any_ranked_graph g;
};
[[nodiscard]] ranked_graph_input load_on_ranks(const communicator& comm, const backend& where, const graph_flags& flags,
                                               const graph_work& work, bool undirected);

template <class T>
exit_status run_on_ranks(const communicator& comm, const backend& where, const typename T::flags_type& flags) {
  const ranked_graph_input read = load_on_ranks(comm, where, flags, T::work(flags), T::undirected_on_ranks);
  return std::visit([&](const auto& g) { return run_on_ranked_graph<T>(comm, where, flags, read.from, read.facts, g); },
                    read.g);
}

// What `spargo plan` asks a command.
struct graph_plan {
  std::string command;
  std::string algorithm;  // --algorithm, or the only one
  graph_work work;
  std::string algorithm_reason = "as asked for";
  bool reads_weights = false;  // where there are some
  // Of a search on a GPU, from the graph's size and the bytes of an index.
  std::function<search_size(const search_size& graph, std::int64_t index_bytes)> complete{};
  std::function<std::int64_t(const rank_share& own)> rank_bytes{};  // of a rank's GPU
  bool undirected_on_ranks = false;                                 // ranks take edges both ways
  bool gathers_results = true;                                      // every rank has those of all vertices in the end
  bool made_on_gpus = false;                                        // ranks with a GPU each make generated graphs there
};

exit_status plan_graph(const graph_flags& flags, const plan_scale& scale, const graph_plan& plan);

// --- The command ----------------------------------------------------------------------------------------------------

template <class T>
void check_ranks(const typename T::flags_type& flags) {
  if (!T::ranks_on_gpus && are_on_gpus(flags.common)) {
    throw usage_error(fmt::format("--device {}: several processes run {} on CPUs (expected auto or cpu)",
                                  flags.common.device, T::name));
  }
  T::check_ranks_flags(flags);
}

template <class T>
exit_status run_graph_command(typename T::flags_type& flags) {
  T::check_flags(flags);
  if constexpr (T::ranks) {
    if (is_shared_out(flags.common)) {
      check_ranks<T>(flags);
      return run_graph_ranks(flags, [&](const communicator& comm, const backend& where) {
        if constexpr (T::searches) {
          return search_on_ranks<T>(comm, where, flags);
        } else {
          return run_on_ranks<T>(comm, where, flags);
        }
      });
    }
  }
  prepare_graph_outputs(flags, T::other_inputs(flags), T::other_outputs(flags));
  auto read = T::load(flags, T::work(flags));
  return std::visit(
      [&](const auto& g) {
        if constexpr (T::searches) {
          return run_searches<T>(flags, read, g);
        } else {
          return run_on_graph<T>(flags, read, g);
        }
      },
      read.g);
}

// The name of an operation's algorithm if it has only one besides `automatic`, else empty.
template <class Options>
[[nodiscard]] std::string only_algorithm(const Options& options) {
  if constexpr (requires { options.algorithm; }) {
    const auto rows = enum_rows<std::remove_cvref_t<decltype(options.algorithm)>>();
    if (rows.size() == 2) return std::string(rows[1].name);
  }
  return {};
}

template <class T>
exit_status plan_graph_command(const typename T::flags_type& flags, const plan_scale& scale) {
  T::check_flags(flags);
  graph_plan plan{T::name, T::algorithm(flags), T::work(flags)};
  if (const std::string only = only_algorithm(T::options(flags)); plan.algorithm == "auto" && !only.empty()) {
    plan.algorithm = only;
    plan.algorithm_reason = "there is no other";
  }
  plan.reads_weights = T::reads_weights(flags);
  plan.complete = [&](const search_size& size, std::int64_t index) { return estimate_search<T>(size, index, flags); };
  plan.undirected_on_ranks = T::undirected_on_ranks;
  plan.gathers_results = T::gathers_results(flags);
  plan.made_on_gpus = T::made_on_gpus;
  if constexpr (T::ranks) {
    if (scale.ranks > 0) {
      check_ranks<T>(flags);
      plan.algorithm = T::ranks_algorithm;
      plan.work.runs_on_gpu = plan.work.runs_on_gpu && T::ranks_on_gpus;
    }
    plan.rank_bytes = T::rank_bytes;
  }
  return plan_graph(flags, scale, plan);
}

template <class T>
command_body declare_graph_command(flag_set app) {
  const auto flags = std::make_shared<typename T::flags_type>();
  declare_graph(app, *flags, T::text(), T::ranks && T::ranks_on_gpus, [&] { T::add_flags(app, *flags); });
  return {[flags] { return run_graph_command<T>(*flags); },
          [flags](const plan_scale& scale) { return plan_graph_command<T>(*flags, scale); }};
}

// The row of apps/commands/table.cpp.
template <class T>
[[nodiscard]] constexpr command graph_command(const char* summary) {
  return {T::name, summary, declare_graph_command<T>, nullptr, T::ranks, command_kind::graphs, T::undirected_only};
}

}  // namespace spargo::apps
