// bfs FILE: breadth-first search on a real graph, timed, and checked by Graph500's rules.
#include "commands/table.hpp"
#include "common/bfs_search.hpp"
#include "common/bfs_sources.hpp"
#include "common/cli.hpp"
#include "common/device_choice.hpp"
#include "common/help.hpp"
#include "common/memory_limit.hpp"
#include "common/outputs.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"

#include <spargo/io/output.hpp>

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <optional>

namespace spargo::apps {

namespace {

struct bfs_flags {
  common_flags common;
  std::string file;
  std::string source;  // empty: first, or random with --sources
  std::int64_t sources = 0;
  bool undirected = false;
  bool directed = false;
  std::string direction = "auto";
  std::string algorithm = "auto";
  std::int64_t repeat = 0;  // 0: 3, or 1 with --sources
  std::string output;
  bool deterministic = false;
  bool no_validate = false;
  cache_mode cache = cache_mode::off;
  std::string max_device_memory;  // empty: all that is free

  [[nodiscard]] std::int64_t runs() const { return repeat > 0 ? repeat : sources > 1 ? 1 : 3; }
};

bfs_algorithm parse_algorithm(const std::string& name) {
  return name == "auto" ? bfs_algorithm::automatic : parse_bfs_algorithm(name);
}

bfs_options parse_options(const bfs_flags& flags) {
  static const std::map<std::string, bfs_direction> directions = {
      {"auto", bfs_direction::automatic}, {"push", bfs_direction::push}, {"pull", bfs_direction::pull}};
  bfs_options options;
  options.algorithm = parse_algorithm(flags.algorithm);
  options.direction = directions.at(flags.direction);
  options.parents = flags.deterministic ? bfs_parents::smallest : bfs_parents::any;
  return options;
}

// Whether a search with these options looks at in-edges at all.
bool wants_in_edges(const bfs_options& options) {
  const bool optimizing =
      options.algorithm == bfs_algorithm::automatic || options.algorithm == bfs_algorithm::direction_optimizing;
  return options.direction == bfs_direction::pull || (options.direction == bfs_direction::automatic && optimizing);
}

double harmonic_mean(const std::vector<double>& rates) {
  double inverse = 0;
  for (const double rate : rates) {
    if (rate <= 0) return 0;
    inverse += 1 / rate;
  }
  return rates.empty() ? 0 : static_cast<double>(rates.size()) / inverse;
}

// `id level parent` a line, ids ascending, -1 -1 for what was not reached.
void write_tree(const std::string& path, const search& found, const vertex_names& names) {
  const busy writing("writing " + path);
  output_file file(path);
  std::string line;
  const auto write_lines = [&](const auto& parents) {
    for (std::int64_t v = 0; v < found.levels.size(); ++v) {
      line.clear();
      const bool reached = found.levels[v] >= 0;
      fmt::format_to(std::back_inserter(line), "{} {} {}\n", names.id(v), found.levels[v],
                     reached ? names.id(parents[v]) : -1);
      file.write(line);
    }
  };
  std::visit(write_lines, found.parents);
  file.commit();
}

std::string describe_levels(span<const std::int64_t, host> sizes) {
  constexpr std::int64_t shown = 12;
  std::string text;
  for (std::int64_t d = 0; d < std::min(sizes.size(), shown); ++d) text += fmt::format(" {}", sizes[d]);
  return sizes.size() > shown ? text + " ..." : text;
}

void report_search(report& out, const search& found, const vertex_names& names, bool in_full) {
  const std::int64_t depth = found.level_sizes.size() - 1;
  const std::int64_t id = names.id(found.source);
  const json valid = found.fault.has_value() ? json(found.fault->empty()) : json();
  if (out.writes_json()) {
    out.keys()["runs"].push_back({{"source", id},
                                  {"reached", found.reached},
                                  {"depth", depth},
                                  {"levels", list_of(found.level_sizes)},
                                  {"time_ms", to_json(found.times)},
                                  {"mteps", found.mteps},
                                  {"valid", valid}});
  }
  const std::string verdict = !found.fault.has_value() ? "not validated"
                              : found.wrong()          ? "WRONG: " + *found.fault
                                                       : "valid by Graph500's five checks";
  if (in_full) {
    out.row("source", std::to_string(id));
    out.row("reached", fmt::format("{} vertices, depth {}", with_commas(found.reached), depth));
    out.row("levels", describe_levels(found.level_sizes).substr(1));
    out.row("time", format_times(found.times));
    out.row("speed", fmt::format("{:.4g} MTEPS", found.mteps));
    out.row("result", verdict);
  } else {
    out.row(fmt::format("source {}", id),
            fmt::format("reached {}, depth {}, {}, {:.4g} MTEPS, {}", with_commas(found.reached), depth,
                        format_milliseconds(found.times.median), found.mteps, verdict));
  }
}

void report_graph(report& out, const bfs_flags& flags, const backend& where, const input_description& input,
                  const input_facts& facts, const any_graph& g) {
  if (!facts.passed_over.empty()) out.warn(input.path + ": passed over: " + facts.passed_over);
  const std::int64_t vertices = std::visit([](const auto& held) { return std::int64_t{held.vertices()}; }, g);
  const std::int64_t edges = std::visit([](const auto& held) { return std::int64_t{held.edges()}; }, g);
  const bool directed = std::visit([](const auto& held) { return held.direction(); }, g) == direction_kind::directed;
  out.keys()["file"] = input.path;
  out.keys()["vertices"] = vertices;
  out.keys()["edges"] = edges;
  out.keys()["directed"] = directed;
  report_backend(out, flags.common.device, where);
  out.title(fmt::format("bfs {}", input.path));
  out.row("graph", fmt::format("{} vertices, {} {} edges ({}; {} listed)", with_commas(vertices), with_commas(edges),
                               directed ? "directed" : "undirected", input.format, with_commas(facts.stored)));
  out.row("device", fmt::format("{} ({}), {} threads", where.name, where.reason, where.cpu.threads()));
}

exit_status traverse(const bfs_flags& flags, backend where, const input_description& input, const input_cache& cache,
                     const input_facts& facts, const any_graph& g, double load_ms, double build_ms) {
  const std::vector<std::int64_t> sources =
      choose_sources({flags.source, flags.sources}, facts, [&](std::int64_t v) { return out_degree(g, v); });
  const search_settings how{parse_options(flags), !flags.no_validate, flags.runs()};
  std::int64_t most_bytes = 0;
  if (!flags.max_device_memory.empty()) (void)parse_bytes(flags.max_device_memory, most_bytes);
  settle_backend(where, flags.common.device, size_of(g, how.options.algorithm), most_bytes);

  report out("bfs", flags.common);
  report_graph(out, flags, where, input, facts, g);
  out.keys()["algorithm"] = nullptr;
  out.keys()["load_ms"] = load_ms;
  out.keys()["build_ms"] = build_ms;
  out.keys()["runs"] = json::array();
  out.row("before", fmt::format("load {}, build {}", format_milliseconds(load_ms), format_milliseconds(build_ms)));
  report_cache(out, cache);

  std::vector<double> rates;
  bool all_valid = true;
  std::string first_fault;
  const auto sink = [&](const search& found) {
    rates.push_back(found.mteps);
    if (found.wrong() && all_valid)
      first_fault = fmt::format("source {}: {}", facts.names.id(found.source), *found.fault);
    all_valid = all_valid && !found.wrong();
    report_search(out, found, facts.names, sources.size() == 1);
    if (!flags.output.empty() && !found.wrong()) write_tree(flags.output, found, facts.names);
  };
  const plan_facts plan = search_all(where, g, sources, how, sink);
  if (where.gpu.has_value()) out.keys()["upload_ms"] = plan.upload_ms;
  out.keys()["algorithm"] = to_string(plan.algorithm);
  out.keys()["algorithm_reason"] = plan.reason;
  out.keys()["plan_ms"] = plan.plan_ms;
  out.keys()["workspace_bytes"] = plan.workspace_bytes;
  out.keys()["mteps_harmonic_mean"] = harmonic_mean(rates);
  out.keys()["mteps_rule"] = "Graph500: edges of the traversed component, each once, over the median time";
  out.row("algorithm", fmt::format("{}: {}", to_string(plan.algorithm), plan.reason));
  if (sources.size() > 1) {
    out.row("speed", fmt::format("{:.4g} MTEPS, harmonic mean of {} sources", harmonic_mean(rates), sources.size()));
  }
  out.row("MTEPS", "million edges of the traversed component, each once, a second (Graph500's rule)");
  if (!flags.output.empty() && all_valid) out.row("written", flags.output);
  out.print();
  if (!all_valid)
    print_error(flags.common.called, fmt::format("{}: the result failed validation: {}", input.path, first_fault));
  return status_of(flags.no_validate ? std::nullopt : std::optional<bool>(all_valid));
}

exit_status run(const bfs_flags& flags) {
  (void)parse_options(flags);
  check_source_flags({flags.source, flags.sources});
  const backend where = choose_backend(flags.common.device, flags.common.threads);
  const stopwatch loading;
  const input_description input = describe_input(where.cpu, flags.file);
  input_cache cache(flags.cache, input, value_kind::pattern);
  any_coo<pattern> read = [&] {
    progress_bar bar("reading " + input.path, flags.common.quiet);
    return read_graph_entries(where.cpu, input, bar.options(), cache);
  }();
  const double load_ms = loading.milliseconds();
  const input_facts facts = std::visit([](auto& listed) { return std::move(listed.facts); }, read);

  graph_options options;
  const bool directed = flags.directed || (!flags.undirected && input.directed);
  options.direction = directed ? direction_kind::directed : direction_kind::undirected;
  options.in_edges = directed && wants_in_edges(parse_options(flags));
  const stopwatch building;
  const any_graph g = make_graph(where.cpu, std::move(read), options);
  return traverse(flags, where, input, cache, facts, g, load_ms, building.milliseconds());
}

void add_flags(CLI::App& app, bfs_flags& flags) {
  app.add_option("FILE", flags.file,
                 "a graph: edge list, Matrix Market, METIS, DIMACS, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  auto* source = app.add_option("--source", flags.source,
                                "an id as the file writes it; first (the first vertex named in the file, the default); "
                                "max-degree; random[:SEED] (one with out-edges)");
  source->check(suggests({"first", "max-degree", "random"}))->type_name("SOURCE");
  app.add_option(
         "--sources", flags.sources,
         "K random sources with out-edges, distinct while there are enough; seed them with --source random:SEED")
      ->check(positive_count())
      ->type_name("K");
  auto* undirected = app.add_flag("--undirected", flags.undirected, "take every edge both ways");
  app.add_flag("--directed", flags.directed,
               "take edges as listed; default: undirected for symmetric matrices, else directed")
      ->excludes(undirected);
  app.add_option("--direction", flags.direction, "auto, push or pull")
      ->check(one_of("a direction", {"auto", "push", "pull"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--algorithm", flags.algorithm,
                 "auto, sequential (CPU), global_queue (GPU), block_queue (GPU), load_balanced or direction_optimizing")
      ->check(one_of("an algorithm",
                     {"auto", "sequential", "global_queue", "block_queue", "load_balanced", "direction_optimizing"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--repeat", flags.repeat, "timed runs of each source; default: 3, with --sources 1")
      ->check(positive_count())
      ->type_name("N");
  app.add_option(
         "--output", flags.output,
         "write one line per vertex, `id level parent`, with -1 -1 where unreached (.gz by name); - is standard output")
      ->type_name("FILE");
  add_cache_flag(app, flags.cache);
  app.add_option("--max-device-memory", flags.max_device_memory,
                 "use at most this much of the GPU's memory, such as 500M or 8G; default: all that is free")
      ->check(check_bytes)
      ->type_name("SIZE");
  app.add_flag("--deterministic", flags.deterministic,
               "take the parent of smallest id, so that every run and device gives the same tree; costs another pass "
               "over the edges");
  app.add_flag("--no-validate", flags.no_validate, "do not check the result by Graph500's five rules");
}

exit_status run_checked(const bfs_flags& flags) {
  if (flags.sources > 1 && !flags.output.empty()) {
    throw usage_error("--output holds one search (expected no --sources above 1 with it)");
  }
  return run(flags);
}

command_body declare(CLI::App& app) {
  app.description(
      "Breadth-first search on a graph: reads it, traverses it on the CPU or the GPU, times and checks it.");
  const auto flags = std::make_shared<bfs_flags>();
  add_flags(app, *flags);
  add_common_flags(app, flags->common, app_kind::computes,
                   help_examples(app, {"soc-Slashdot0902.txt.gz --source max-degree",
                                       "roads.mtx --source 17 --output tree.txt --json report.json",
                                       "gen:rmat:scale=20,degree=16 --undirected --sources 64"}) +
                       "Vertices are called as the file writes them: the ids of an edge list, the row\n"
                       "numbers of a matrix from 1, the numbers of a generated graph from 0.\n\n" +
                       help_on_graph_inputs);
  return [flags] {
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run_checked(*flags);
  };
}

}  // namespace

const command bfs_command{"bfs", "breadth-first search of a graph", declare};

}  // namespace spargo::apps
