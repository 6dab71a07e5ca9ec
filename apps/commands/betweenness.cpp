// betweenness FILE: how many shortest paths lead through each vertex, timed, and checked by other code.
#include "cli/choice.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "commands/table.hpp"
#include "placement/graph_plan.hpp"
#include "placement/graph_sources.hpp"
#include "placement/placed_input.hpp"

#include <spargo/graph/betweenness.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace spargo::apps {

namespace {

struct check_tuning {
  // That an entry or vertex costs the check for each source: one thread, R-MAT 16 on a busy machine, 3 to 17 elsewhere.
  static constexpr double entry_ns = 9;
  static constexpr double long_ms = 2000;
  static constexpr std::int64_t least_sources = 64;
};

constexpr std::string_view columns = "id,value";

struct betweenness_flags : graph_flags {
  betweenness_flags() { repeat = 0; }  // 3, or the first run alone where it is long

  std::string sources = "all";
  std::vector<std::string> source_list;  // lists of labels
  std::int64_t seed = 1;
  std::string normalization = "none";
  bool endpoints = false;
  std::string algorithm = "auto";
  std::string check_sources = "auto";

  // 0: all.
  [[nodiscard]] std::int64_t sources_wanted() const {
    std::int64_t count = 0;
    if (sources != "all") (void)parse_integer(sources, count);
    return count;
  }
};

betweenness_options options_of(const betweenness_flags& flags) {
  static const std::map<std::string, betweenness_normalization> normalizations = {
      {"none", betweenness_normalization::none},
      {"pairs", betweenness_normalization::pairs},
      {"max", betweenness_normalization::by_maximum}};
  betweenness_options options;
  options.normalization = normalizations.at(flags.normalization);
  if (flags.endpoints) options.endpoints = betweenness_endpoints::included;
  if (flags.algorithm != "auto") options.algorithm = parse_betweenness_algorithm(flags.algorithm);
  return options;
}

void check_flags(const betweenness_flags& flags) {
  std::int64_t count = 0;
  if (flags.sources != "all" && (!parse_integer(flags.sources, count) || count < 1)) {
    throw usage_error(fmt::format("--sources: {} (expected a number from 1, or all)", flags.sources));
  }
  const bool named = flags.check_sources == "auto" || flags.check_sources == "all";
  if (!named && (!parse_integer(flags.check_sources, count) || count < 1)) {
    throw usage_error(fmt::format("--check-sources: {} (expected a number from 1, all or auto)", flags.check_sources));
  }
  (void)split_labels(flags.source_list);
}

// Of the flags; none: all vertices.
template <index_type I, index_type O>
std::vector<I> sources_of(const betweenness_flags& flags, const input_facts& facts, const placed_graph<I, O>& g) {
  std::vector<I> sources;
  for (const std::string& label : split_labels(flags.source_list)) {
    sources.push_back(static_cast<I>(expect_vertex(facts.names, "--source-list", label)));
  }
  const std::int64_t wanted = flags.sources_wanted();
  if (!sources.empty() || wanted == 0) return sources;
  const span<const O, host> offsets = g.offsets();
  const auto degree = [&](std::int64_t v) { return std::int64_t{offsets[v + 1]} - offsets[v]; };
  for (const std::int64_t v : choose_sources({fmt::format("random:{}", flags.seed), wanted}, facts, degree)) {
    sources.push_back(static_cast<I>(v));
  }
  return sources;
}

template <index_type I>
betweenness_sources<I> sources_to_run(const std::vector<I>& listed) {
  if (listed.empty()) return {};
  return listed;
}

// What was found, on the host.
struct centrality {
  array<double, host> values;
  std::int64_t sources = 0;
  plan_report plan;
  std::int64_t checked = 0;           // sources: all, or a sample
  array<double, host> sample_values;  // from those of a sample alone
  verdict fault;
  double check_ms = 0;
};

// How many sources the check takes: as many as it can in 2 s and twice the time of the values.
std::int64_t sources_to_check(const context<host>& cpu, std::int64_t sources, std::int64_t size, double run_ms) {
  const double source_ms = check_tuning::entry_ns * 1e-6 * static_cast<double>(size) / cpu.threads();
  const double most_ms = std::max(check_tuning::long_ms, 2 * run_ms);
  if (static_cast<double>(sources) * source_ms <= most_ms) return sources;
  return std::min(sources, std::max(check_tuning::least_sources, static_cast<std::int64_t>(most_ms / source_ms)));
}

// `count` of the sources, evenly spaced.
template <index_type I>
std::vector<I> sample_of(const std::vector<I>& sources, std::int64_t all, std::int64_t count) {
  std::vector<I> sample;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = k * (all / count) + k * (all % count) / count;
    sample.push_back(sources.empty() ? static_cast<I>(at) : sources[static_cast<std::size_t>(at)]);
  }
  return sample;
}

// As time_runs; but where nothing is said of repetitions, a first run of over a second is the only one.
template <class Space, class Run>
timed_runs time_as_asked(const context<Space>& ctx, graph_flags flags, Run&& run) {
  constexpr double long_ms = 1000;
  if (flags.repeat > 0) return time_runs(ctx, flags, run);
  const stopwatch watch;
  run();
  const double first_ms = watch.milliseconds();
  const double total_ms = flags.since_start.milliseconds();
  if (first_ms > long_ms) return {total_ms, summarize({first_ms})};
  flags.repeat = 3;
  timed_runs timed = time_runs(ctx, flags, run);
  timed.total_ms = total_ms;
  return timed;
}

// What the GPU would have to hold and to do, by the header of betweenness.
search_size complete(search_size size, std::int64_t index_bytes, const betweenness_flags& flags) {
  const std::int64_t bytes_per_vertex =
      4 * (std::int64_t{2 * sizeof(double) + 2 * sizeof(std::int32_t)} + index_bytes) + 24;
  size.workspace_bytes = size.vertices * bytes_per_vertex + size.entries / 4 + (std::int64_t{1} << 20);
  size.runs_on_gpu = flags.algorithm != "by_source";
  return size;
}

template <index_type I, index_type O, class Space>
centrality find_centrality(const context<host>& cpu, const context<Space>& ctx, const graph_view<I, O, Space>& g,
                           const betweenness_flags& flags, const std::vector<I>& sources) {
  const counted_work at_work("counting shortest paths");
  const stopwatch planning;
  betweenness_plan<I, O, Space> plan(ctx, g, options_of(flags));
  ctx.synchronize();
  const double plan_ms = planning.milliseconds();
  centrality found;
  found.plan = describe_plan(plan, plan_ms, time_as_asked(ctx, flags, [&] { plan.run(sources_to_run(sources)); }));
  found.values = bring_home(ctx, plan.values(), cpu);
  found.sources = sources.empty() ? std::int64_t{g.vertices()} : static_cast<std::int64_t>(sources.size());
  found.checked = found.sources;
  if (flags.no_validate) return found;
  if (flags.check_sources == "auto") {
    const std::int64_t size = std::int64_t{g.out.nnz()} + g.vertices();
    found.checked = sources_to_check(cpu, found.sources, size, found.plan.runs.times.median);
  } else if (flags.check_sources != "all") {
    std::int64_t wanted = 0;
    (void)parse_integer(flags.check_sources, wanted);
    found.checked = std::min(found.sources, wanted);
  }
  if (found.checked < found.sources) {
    plan.run(sample_of(sources, found.sources, found.checked));
    found.sample_values = bring_home(ctx, plan.values(), cpu);
  }
  return found;
}

// All values again; or those of a sample, and the sum of all.
template <index_type I, index_type O>
std::string check(const context<host>& cpu, const graph_view<I, O, host>& g, const betweenness_flags& flags,
                  const std::vector<I>& sources, const centrality& found) {
  const betweenness_options options = options_of(flags);
  if (found.checked == found.sources) {
    return check_betweenness<I, O>(cpu, g, found.values, sources_to_run(sources), options);
  }
  const std::string fault =
      check_betweenness<I, O>(cpu, g, found.sample_values, sample_of(sources, found.sources, found.checked), options);
  if (!fault.empty() || options.normalization == betweenness_normalization::by_maximum) return fault;
  return check_betweenness_sum<I, O>(cpu, g, found.values, sources_to_run(sources), options);
}

std::string how_checked(const betweenness_flags& flags, const centrality& found) {
  if (found.checked == found.sources) return "checked independently by Brandes' algorithm";
  return fmt::format("checked independently by Brandes' algorithm from {} of {} sources{}", with_commas(found.checked),
                     with_commas(found.sources),
                     flags.normalization == "max" ? "" : ", and the sum of all values with the distances");
}

void report_centrality(report& out, const backend& where, const betweenness_flags& flags, const centrality& found,
                       const vertex_names& names) {
  auto& keys = out.keys();
  report_plan(out, where, found.plan);
  double sum = 0;
  double squares = 0;
  for (const double value : found.values) {
    sum += value;
    squares += value * value;
  }
  keys["sources"] = found.sources;
  keys["normalization"] = flags.normalization;
  keys["endpoints"] = flags.endpoints;
  keys["sum"] = sum;
  keys["sum_sq"] = squares;
  keys["top"] = json::array();
  out.row("sources", found.sources == names.vertices ? fmt::format("all {}", with_commas(found.sources))
                                                     : with_commas(found.sources));
  for (const std::int64_t v : highest(found.values.view(), flags.listed())) {
    keys["top"].push_back({to_json(names, v), found.values[v]});
    out.row(keys["top"].size() == 1 ? "highest" : "", fmt::format("{} {:.6g}", names.label(v), found.values[v]));
  }
  if (found.fault.has_value()) keys["checked_sources"] = found.checked;
  report_verdict(out, found.fault, how_checked(flags, found), found.check_ms);
}

template <index_type I, index_type O>
exit_status answer(const betweenness_flags& flags, backend where, const loaded_input& from,
                   const placed_graph<I, O>& g) {
  if (where.gpu.has_value()) {
    search_size size = complete(size_of_graph(g), sizeof(I), flags);
    if (flags.common.device == "auto") size.branching = branching_of(g);
    settle_backend(where, flags.common.device, size, flags.device_bytes());
  }
  const std::vector<I> sources = sources_of(flags, from.facts, g);
  report out("betweenness", flags.common);
  report_graph(out, "betweenness", flags, where, from, facts_of(g));
  centrality found;
  const double upload_ms = on_graph(where, g, [&]<class Space>(const context<Space>& ctx, const auto& view) {
    found = find_centrality<I, O, Space>(where.cpu, ctx, view, flags, sources);
  });
  found.plan.upload_ms = upload_ms;
  if (!flags.no_validate) {
    const counted_work validating("validating");
    found.fault =
        timed_check(found.check_ms, [&] { return check<I, O>(where.cpu, g.out_view(), flags, sources, found); });
  }
  report_centrality(out, where, flags, found, from.facts.names);
  if (!flags.output.empty() && !is_wrong(found.fault)) {
    const auto higher = [&](std::int64_t a, std::int64_t b) { return found.values[a] > found.values[b]; };
    write_vertices(out, flags, from.facts.names, columns, higher,
                   [&](std::int64_t v, table_writer& row) { row.number(found.values[v]); });
  }
  return conclude(out, flags, found.fault);
}

graph_work work_of(const betweenness_flags& flags) {
  constexpr std::int64_t guessed = 1000;  // all vertices, before their number is known
  const std::int64_t wanted = flags.sources_wanted();
  const auto listed = std::ssize(split_labels(flags.source_list));
  graph_work work;
  work.wanted = in_edges::build;
  work.runs_on_gpu = flags.algorithm != "by_source";
  // R-MAT 22, 4 sources: 74 ms by 16 threads.
  work.cpu_ns = 9.0 * static_cast<double>(listed > 0 ? listed : wanted > 0 ? wanted : guessed);
  work.results = {sizeof(double), 0};
  return work;
}

exit_status run(const betweenness_flags& flags) {
  const placed_input read = load_placed(flags, work_of(flags));
  return std::visit([&](const auto& held) { return answer(flags, read.where, read.from, held); }, read.g);
}

void add_flags(CLI::App& app, betweenness_flags& flags) {
  add_graph_file(app, flags);
  auto* sources = app.add_option("--sources", flags.sources,
                                 "all vertices, or K random ones with out-edges, distinct while there are enough");
  sources->check(suggests({"all"}))->type_name("K|all")->capture_default_str();
  app.add_option("--seed", flags.seed, "of the random sources")
      ->check(count_from(0))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--source-list", flags.source_list, "these sources, called as the file does")
      ->type_name("ID,...")
      ->excludes(sources);
  app.add_option(
         "--normalization", flags.normalization,
         "none (sums over the sources; with all vertices of an undirected graph each pair of ends counts once), "
         "pairs (over the number of pairs that could count) or max (over the largest value)")
      ->check(one_of("a normalization", {"none", "pairs", "max"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--endpoints", flags.endpoints, "count paths for their first and last vertices, too");
  app.add_option("--algorithm", flags.algorithm, "auto, by_level or by_source (CPU only)")
      ->check(one_of("an algorithm", {"auto", "by_level", "by_source"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--check-sources", flags.check_sources,
                 "check the values from K of the sources, and the sum of all; auto: all sources, unless that takes "
                 "over 2 s and twice the time of the values")
      ->check(suggests({"auto", "all"}))
      ->type_name("K|all|auto")
      ->capture_default_str();
  add_placement_flags(app, flags);
  add_graph_flags(app, flags,
                  {{.columns = columns, .order = "largest value first", .report_list = "top"},
                   "skip the independent check, which takes longer than the values",
                   "timed runs; default: 3, or the first alone where it takes over a second"});
}

command_body declare(CLI::App& app) {
  app.description(
      "Betweenness centrality of a graph: how many of the shortest paths lead through each vertex. Reads the graph, "
      "finds the values on the CPU or a GPU, times and checks them.");
  const auto flags = std::make_shared<betweenness_flags>();
  add_flags(app, *flags);
  add_graph_help(app, *flags,
                 {"dolphins.mtx --normalization pairs", "roads.mtx --sources 64 --output values.txt",
                  "gen:rmat:scale=20,degree=16 --undirected --sources 4"});
  const auto does = [flags] {
    check_flags(*flags);
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) {
            check_flags(*flags);
            graph_plan plan{"betweenness", flags->algorithm, work_of(*flags)};
            plan.complete = [flags](const search_size& g, std::int64_t index) { return complete(g, index, *flags); };
            return plan_graph(*flags, scale, plan);
          }};
}

}  // namespace

const command betweenness_command{"betweenness", "shortest paths through a graph's vertices", declare};

}  // namespace spargo::apps
