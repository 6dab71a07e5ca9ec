// The driver of commands that search from sources: bfs and sssp. Each source is timed, checked and reported on its own.
//
// What a search provides beside driver.hpp's list:
//   result<Graph>                       derived from `found_search`; `parents` where --target or --output need them
//   make_plan(ctx, g, flags, target)
//   is_reached(result, v)
//   check(cpu, g, flags, target, result), check_path(g, result, target)
//   search_keys(names, result), describe_reached(result, in_full), report_rows, report_target
//   describe(out, plan, summary), report_end(out, where, summary, tally)
// On ranks: make_ranks_plan, ranks_reason(plan), fetch_own, gather, check_on_ranks, traversed_on_ranks.
#pragma once

#include "cli/flags.hpp"
#include "placement/driver.hpp"
#include "placement/graph_sources.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spargo::apps {

inline constexpr const char* mteps_rule = "Graph500: edges of the traversed component, each once, over the median time";

struct search_flags : graph_flags {
  search_flags() { repeat = 0; }  // 3, or 1 with --sources

  std::string source;  // empty: first, or random with --sources
  std::int64_t sources = 0;
  std::string target;  // empty: none

  [[nodiscard]] bool wants_tree() const { return !output.empty() || !target.empty(); }
  [[nodiscard]] std::int64_t runs() const { return repeat > 0 ? repeat : sources > 1 ? 1 : 3; }
};

// --source and --sources.
void add_source_flags(flag_set app, search_flags& flags);
void check_search_flags(const search_flags& flags);

// The vertex that the file calls so; -1 for an empty text. Throws invalid_argument where it has none.
[[nodiscard]] std::int64_t find_target(const std::string& text, const vertex_names& names);

// From the source, which is its own parent, to the target; empty where that was not reached (its parent is -1). Throws
// invalid_data where parents lead round in a circle. O(length).
template <class Parents>
[[nodiscard]] std::vector<std::int64_t> trace_path(const Parents& parents, std::int64_t target) {
  std::vector<std::int64_t> path;
  if (parents[target] < 0) return path;
  for (std::int64_t v = target;; v = parents[v]) {
    if (static_cast<std::int64_t>(path.size()) == parents.size()) {
      throw error(error_code::invalid_data, "--target: the parents of the search form a cycle");
    }
    path.push_back(v);
    if (parents[v] == v) break;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// The keys "target" and "path" of a search (null where there is none), and for people the row "path".
void report_path(report& out, json& search, const vertex_names& names, std::int64_t target,
                 const std::vector<std::int64_t>& path);

// One source's search.
struct found_search {
  std::int64_t source = 0;
  std::int64_t reached = 0;
  time_summary times;
  double mteps = 0;
  verdict fault;
  std::vector<std::int64_t> path{};  // to --target
};

// All searches of a run.
struct search_tally {
  std::vector<double> rates;        // MTEPS
  std::vector<double> samples;      // milliseconds
  std::vector<time_summary> times;  // of each search
  verdict fault;                    // the first
  double check_ms = 0;
};

struct search_algorithm : graph_algorithm {
  using flags_type = search_flags;
  static constexpr bool searches = true;
  static constexpr bool follows_paths = true;
  static constexpr bool times_each = false;  // rows of time and verdict for each search
  static std::string check_path(const auto& /*g*/, const auto& /*found*/, std::int64_t /*target*/) { return {}; }
  static void report_rows(report&, const auto& /*found*/) {}
  static void report_target(report&, json& /*run*/, const auto& /*found*/, const search_flags&, std::int64_t /*v*/) {}
  static void describe(report&, const auto& /*plan*/, plan_report&) {}
};

// What does not depend on the graph's types.
[[nodiscard]] std::string describe_verdict(const verdict& fault, const char* how_checked);
void note_search(search_tally& tally, const found_search& found, const vertex_names& names);

// Keys `time_ms` and `valid` of all searches: the median is that of the searches' medians.
void report_searches(report& out, const search_tally& tally);

// By Graph500's rule: the edges of the traversed component, each once, of the out-edges of reached vertices.
[[nodiscard]] inline double mteps_of(std::int64_t entries, direction_kind direction, double median_ms) {
  const std::int64_t edges = direction == direction_kind::undirected ? entries / 2 : entries;
  return static_cast<double>(edges) / (median_ms * 1e-3) * 1e-6;
}
template <class T, class Graph, class Found>
[[nodiscard]] std::int64_t traversed_entries(const Graph& g, const Found& found) {
  const auto degree = out_degrees(g.edges_only());
  std::int64_t entries = 0;
  for (std::int64_t v = 0; v < std::int64_t{g.vertices()}; ++v) entries += T::is_reached(found, v) ? degree(v) : 0;
  return entries;
}

template <class T, class Found>
void report_search(report& out, const typename T::flags_type& flags, const vertex_names& names, const Found& found,
                   std::int64_t target, bool in_full) {
  json run = {{"source", to_json(names, found.source)}, {"reached", found.reached}};
  if (out.writes_json()) run.update(T::search_keys(names, found));
  run["time_ms"] = to_json(found.times);
  run["mteps"] = found.mteps;
  run["valid"] = found.fault.has_value() ? json(found.fault->empty()) : json();
  const std::string reached = T::describe_reached(found, in_full);
  const std::string speed = fmt::format("{:.4g} MTEPS", found.mteps);
  const std::string result = T::times_each ? describe_verdict(found.fault, T::checked_by) : std::string();
  if (in_full) {
    out.row("source", names.label(found.source));
    out.row("reached", reached);
    T::report_rows(out, found);
    if (T::times_each) out.row("time", format_times(found.times));
    out.row("speed", speed);
    if (T::times_each) out.row("result", result);
  } else {
    out.row(fmt::format("source {}", names.label(found.source)),
            fmt::format("{}, {}, {}{}{}", reached, format_milliseconds(found.times.median), speed,
                        result.empty() ? "" : ", ", result));
  }
  if (target >= 0 && !is_wrong(found.fault)) {
    T::report_target(out, run, found, flags, target);
    report_path(out, run, names, target, found.path);
  }
  if (out.writes_json()) out.keys()["runs"].push_back(std::move(run));
  if (!flags.output.empty() && !is_wrong(found.fault)) T::write(out, flags, names, found);
}

// Times, copies and checks the search from found.source.
template <class T, class Done, class Graph, class Found>
void run_search(const Done& done, const typename T::flags_type& flags, const Graph& g, std::int64_t target,
                search_tally& tally, Found& found) {
  std::vector<double> samples;
  for (std::int64_t run = 0; run < flags.runs(); ++run) {
    done.ctx.synchronize();
    const stopwatch watch;
    done.plan.run(static_cast<typename Graph::index>(found.source));
    done.ctx.synchronize();
    samples.push_back(watch.milliseconds());
  }
  tally.samples.insert(tally.samples.end(), samples.begin(), samples.end());
  found.times = summarize(std::move(samples));
  T::fetch(done, flags, found);
  found.mteps = mteps_of(traversed_entries<T>(g, found), g.direction(), found.times.median);
  if (!flags.no_validate) {
    found.fault = timed_check(tally.check_ms, [&] { return T::check(done.cpu, g, flags, target, found); });
  }
  if (target < 0 || is_wrong(found.fault)) return;
  found.path = trace_path(found.parents, target);
  if (!flags.no_validate) found.fault = T::check_path(g, found, target);
}

template <class T, class Space, class View, class Graph>
plan_report search_all(const context<Space>& ctx, const View& view, const backend& where, const Graph& g,
                       const typename T::flags_type& flags, const vertex_names& names,
                       const std::vector<std::int64_t>& sources, std::int64_t target, report& out,
                       search_tally& tally) {
  const busy searching("searching");
  const stopwatch planning;
  auto plan = T::make_plan(ctx, view, flags, target);
  ctx.synchronize();
  const double plan_ms = planning.milliseconds();
  plan.run(static_cast<typename Graph::index>(sources.front()));  // untimed: memory is touched for the first time
  ctx.synchronize();
  timed_runs runs;
  runs.total_ms = flags.since_start.milliseconds();
  const finished<decltype(plan), Space> done{plan, ctx, where.cpu, runs};
  for (const std::int64_t source : sources) {
    typename T::template result<Graph> found;
    found.source = source;
    run_search<T>(done, flags, g, target, tally, found);
    note_search(tally, found, names);
    report_search<T>(out, flags, names, found, target, sources.size() == 1);
  }
  if (!T::times_each) runs.times = summarize(tally.samples);
  plan_report summary = describe_plan(plan, plan_ms, std::move(runs));
  T::describe(out, plan, summary);
  return summary;
}

template <class T, class Read, class Graph>
exit_status run_searches(const typename T::flags_type& flags, Read& read, const Graph& g) {
  backend& where = read.where;
  const loaded_input& from = read.from;
  const std::vector<std::int64_t> sources =
      choose_sources({flags.source, flags.sources, flags.file}, from.facts, out_degrees(g.edges_only()));
  const std::int64_t target = find_target(flags.target, from.facts.names);
  settle_graph<T>(where, flags, g);
  report out(T::name, flags.common);
  report_graph(out, T::name, flags, where, from, facts_of(g, self_loops::drop));
  T::report_input(out, read, g);
  out.keys()["runs"] = json::array();
  search_tally tally;
  if (!flags.no_validate) tally.fault = "";
  plan_report summary;
  const double upload_ms = on_graph(where, g, [&](const auto& ctx, const auto& view) {
    summary = search_all<T>(ctx, view, where, g, flags, from.facts.names, sources, target, out, tally);
  });
  summary.upload_ms = upload_ms;
  T::report_end(out, where, summary, tally);
  return conclude(out, flags, tally.fault);
}

// --- Several ranks --------------------------------------------------------------------------------------------------

// In place of a graph, for the types of a search's results.
template <index_type I>
struct rank_of_graph {
  using index = I;
};

// By rank 0, from the degrees of all ranks' vertices. The graph is the host's, or on GPUs.
template <class Space, index_type I, class Home>
[[nodiscard]] std::vector<std::int64_t> sources_on_ranks(const communicator& comm, const context<Space>& ctx,
                                                         const source_request& request, const input_facts& facts,
                                                         const distributed_graph<I, Home>& g) {
  array<std::int64_t, host> copied;
  span<const std::int64_t, host> offsets;
  together(comm, [&] {
    if constexpr (std::same_as<Home, host>) {
      offsets = g.out().offsets;
    } else if (request.needs_degrees()) {
      copied = to_host(ctx, g.out().offsets);
      offsets = std::as_const(copied).view();
    }
  });
  return choose_sources_on_ranks(comm, request, facts, g.parts().first(comm.rank()), offsets);
}

template <class T, index_type I, class Space, class Home>
exit_status run_searches_on_ranks(const communicator& comm, const backend& where, const context<Space>& ctx,
                                  const typename T::flags_type& flags, const loaded_input& from,
                                  const distributed_graph<I, Home>& g) {
  const vertex_names& names = from.facts.names;
  const std::vector<std::int64_t> sources =
      sources_on_ranks(comm, ctx, {flags.source, flags.sources, flags.file}, from.facts, g);
  std::int64_t target = -1;
  on_first(comm, [&] { target = find_target(flags.target, names); });
  if constexpr (std::same_as<Home, host>) {
    expect_room(comm, where, flags.device_bytes(), [&] { return T::rank_bytes(share_of(comm, g, ghost_count::omit)); });
  }
  const stopwatch planning;
  auto plan = T::make_ranks_plan(comm, ctx, g, flags);
  plan_report summary{T::ranks_algorithm, {}, 0, planning.milliseconds(), 0, {}};
  report out(T::name, flags.common);
  on_first(comm, [&] {
    report_graph(out, T::name, flags, where, from,
                 {g.vertices(), g.edges(), g.direction() == direction_kind::directed});
    out.keys()["runs"] = json::array();
  });
  search_tally tally;
  if (!flags.no_validate) tally.fault = "";
  std::optional<busy> searching;
  if (comm.rank() == 0) searching.emplace("searching");
  ranked_runs runs;
  for (const std::int64_t source : sources) {
    typename T::template result<rank_of_graph<I>> found;
    found.source = source;
    runs = time_on_ranks(comm, 1, flags.runs(), flags.since_start, [&] { plan.run(source); });
    if (tally.rates.empty()) summary.runs.total_ms = runs.timed.total_ms;
    found.times = runs.timed.times;
    together(comm, [&] { T::fetch_own(ctx, g, plan, flags, found); });
    found.mteps = mteps_of(T::traversed_on_ranks(comm, ctx, g, plan, found), g.direction(), found.times.median);
    if (!flags.no_validate) {
      found.fault =
          timed_check(tally.check_ms, [&] { return T::check_on_ranks(comm, where.cpu, ctx, g, plan, found); });
    }
    note_search(tally, found, names);
    if (flags.wants_tree()) T::gather(comm, where.cpu, found);
    on_first(comm, [&] {
      if (target >= 0 && !is_wrong(found.fault)) found.path = trace_path(found.parents, target);
      report_search<T>(out, flags, names, found, target, sources.size() == 1);
    });
  }
  on_first(comm, [&] {
    summary.reason = T::ranks_reason(plan);
    T::report_end(out, where, summary, tally);
    report_ranks(out, comm, where, plan.how(), runs);
    (void)conclude(out, flags, tally.fault);
  });
  return status_of_verdict(tally.fault);
}

template <class T>
exit_status search_on_ranks(const communicator& comm, const backend& where, const typename T::flags_type& flags) {
  const graph_work work = T::work(flags);
  if constexpr (config::has_cuda && T::made_on_gpus) {
    if (is_made_on_gpus(comm, where, flags)) {
      loaded_input from = describe_made(comm, where.cpu, flags.file, flags.cache);
      on_first(comm, [&] { join_attributes(flags.attributes, from.facts.names); });
      const bool directed = is_directed(flags, from.input);
      const stopwatch building;
      const distributed_graph<std::int32_t, device> g(
          comm, *where.gpu, flags.file,
          {.direction = directed ? direction_kind::directed : direction_kind::undirected,
           .in_edges = directed && work.wanted != in_edges::omit});
      from.build_ms = building.milliseconds();
      return run_searches_on_ranks<T>(comm, where, *where.gpu, flags, from, g);
    }
  }
  const ranked_graph_input read = load_on_ranks(comm, where, flags, work, T::undirected_on_ranks);
  exit_status status = exit_status::success;
  on_backend(where, [&](const auto& ctx) {
    status = std::visit([&](const auto& g) { return run_searches_on_ranks<T>(comm, where, ctx, flags, read.from, g); },
                        read.g);
  });
  return status;
}

}  // namespace spargo::apps
