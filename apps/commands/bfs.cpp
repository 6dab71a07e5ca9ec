// bfs FILE: breadth-first search on a real graph, timed, and checked by Graph500's rules.
#include "commands/table.hpp"
#include "common/bfs_sources.hpp"
#include "common/cache.hpp"
#include "common/cli.hpp"
#include "common/device_choice.hpp"
#include "common/help.hpp"
#include "common/input.hpp"
#include "common/memory_limit.hpp"
#include "common/outputs.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/timing.hpp"

#include <spargo/graph/bfs.hpp>
#include <spargo/graph/bfs_validate.hpp>
#include <spargo/graph/graph.hpp>
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

// One source's search, its result on the host.
template <class I>
struct search {
  I source = 0;
  std::int64_t reached = 0;
  span<const std::int64_t, host> level_sizes;  // the plan's, until its next run
  array<std::int32_t, host> levels;
  array<I, host> parents;
  time_summary times;
  double mteps = 0;
  std::optional<std::string> fault;  // none: not checked; empty: right

  [[nodiscard]] bool wrong() const { return fault.has_value() && !fault->empty(); }
};

// Graph500's rule: the edges of the traversed component, each once. Here they are those with a reached end that are in
// the graph, that is without duplicates and self-loops (an undirected edge has two entries, both of reached rows).
template <index_type I, index_type O>
std::int64_t traversed_edges(const graph_view<I, O, host>& g, span<const std::int32_t, host> levels) {
  std::int64_t entries = 0;
  for (std::int64_t v = 0; v < levels.size(); ++v) {
    if (levels[v] >= 0) entries += g.out.offsets[v + 1] - g.out.offsets[v];
  }
  return g.direction == direction_kind::undirected ? entries / 2 : entries;
}

template <class T>
array<T, host> bring_home(const context<host>& ctx, span<const T, host> values) {
  return clone(ctx, values);
}
template <class T>
array<T, host> bring_home(const context<device>& ctx, span<const T, device> values) {
  return to_host(ctx, values);
}

template <index_type I, index_type O, class Space>
search<I> run_search(const context<Space>& ctx, bfs_plan<I, O, Space>& plan, I source, std::int64_t runs) {
  search<I> result;
  result.source = source;
  std::vector<double> samples;
  for (std::int64_t run = 0; run < runs; ++run) {
    ctx.synchronize();
    const stopwatch watch;
    plan.run(source);
    ctx.synchronize();
    samples.push_back(watch.milliseconds());
  }
  result.times = summarize(std::move(samples));
  result.reached = plan.reached();
  result.level_sizes = plan.level_sizes();
  result.levels = bring_home(ctx, plan.levels());
  result.parents = bring_home(ctx, plan.parents());
  return result;
}

struct settings {
  bfs_options options;
  bool validate = true;
  std::int64_t runs = 1;
};

struct plan_facts {
  bfs_algorithm algorithm = bfs_algorithm::automatic;
  std::string reason;
  double plan_ms = 0;
  std::int64_t workspace_bytes = 0;
};

// All searches of one graph on one backend. `sink(search)` sees each, finished and checked.
template <index_type I, index_type O, class Space, class Sink>
plan_facts search_all(const context<host>& cpu, const context<Space>& ctx, const graph_view<I, O, Space>& g,
                      const graph_view<I, O, host>& reference, const std::vector<std::int64_t>& sources,
                      const settings& how, Sink&& sink) {
  const busy searching("searching");
  const stopwatch planning;
  bfs_plan<I, O, Space> plan(ctx, g, how.options);
  ctx.synchronize();
  const plan_facts facts{plan.algorithm(), plan.reason(), planning.milliseconds(), plan.workspace_bytes()};
  plan.run(static_cast<I>(sources.front()));  // untimed: memory is touched for the first time
  for (const std::int64_t source : sources) {
    search<I> found = run_search(ctx, plan, static_cast<I>(source), how.runs);
    const auto edges = static_cast<double>(traversed_edges(reference, found.levels.view()));
    found.mteps = edges / (found.times.median * 1e-3) * 1e-6;
    if (how.validate) {
      found.fault = check_bfs<I, O>(cpu, reference, found.source, found.levels.view(), found.parents.view());
    }
    sink(found);
  }
  return facts;
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
template <class I>
void write_tree(const std::string& path, const search<I>& found, const vertex_names& names) {
  const busy writing("writing " + path);
  output_file file(path);
  std::string line;
  for (std::int64_t v = 0; v < found.levels.size(); ++v) {
    line.clear();
    const bool reached = found.levels[v] >= 0;
    fmt::format_to(std::back_inserter(line), "{} {} {}\n", names.id(v), found.levels[v],
                   reached ? names.id(found.parents[v]) : -1);
    file.write(line);
  }
  file.commit();
}

std::string describe_levels(span<const std::int64_t, host> sizes) {
  constexpr std::int64_t shown = 12;
  std::string text;
  for (std::int64_t d = 0; d < std::min(sizes.size(), shown); ++d) text += fmt::format(" {}", sizes[d]);
  return sizes.size() > shown ? text + " ..." : text;
}

template <class I>
void report_search(report& out, const search<I>& found, const vertex_names& names, bool in_full) {
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

template <index_type I, index_type O>
std::int64_t bytes_of(const csr_pattern_view<I, O, host>& part) {
  return part.offsets.size() * std::int64_t{sizeof(O)} + part.indices.size() * std::int64_t{sizeof(I)};
}

// What the GPU would have to hold and to do, before anything is copied to it.
template <index_type I, index_type O>
search_size size_of(const graph_view<I, O, host>& g, bfs_algorithm algorithm) {
  search_size size;
  size.vertices = g.vertices();
  size.entries = g.out.nnz();
  const std::int64_t back = g.direction == direction_kind::undirected ? 1 : 0;  // the edge that a search came by
  for (std::int64_t v = 0; v < size.vertices; ++v) {
    size.branching = std::max(size.branching, std::int64_t{g.out.offsets[v + 1]} - g.out.offsets[v] - back);
  }
  const bool apart = g.direction == direction_kind::directed && g.has_in_edges();
  size.graph_bytes = bytes_of(g.out) + (apart ? bytes_of(g.in) : 0);
  size.workspace_bytes = search_workspace_bytes(size.vertices, size.entries, sizeof(I));
  size.runs_on_cpu = algorithm != bfs_algorithm::global_queue && algorithm != bfs_algorithm::block_queue;
  size.runs_on_gpu = algorithm != bfs_algorithm::sequential;
  return size;
}

template <index_type I, index_type O>
exit_status traverse(const bfs_flags& flags, backend where, const input_description& input, const input_cache& cache,
                     const input_facts& facts, graph<I, O, host>& g, double load_ms, double build_ms) {
  const auto host_view = g.view();
  const std::vector<std::int64_t> sources = choose_sources({flags.source, flags.sources}, facts, [&](std::int64_t v) {
    return std::int64_t{host_view.out.offsets[v + 1]} - host_view.out.offsets[v];
  });
  const settings how{parse_options(flags), !flags.no_validate, flags.runs()};
  std::int64_t most_bytes = 0;
  if (!flags.max_device_memory.empty()) (void)parse_bytes(flags.max_device_memory, most_bytes);
  settle_backend(where, flags.common.device, size_of(host_view, how.options.algorithm), most_bytes);

  report out("bfs", flags.common);
  if (!facts.passed_over.empty()) out.warn(input.path + ": passed over: " + facts.passed_over);
  out.keys()["file"] = input.path;
  out.keys()["vertices"] = std::int64_t{g.vertices()};
  out.keys()["edges"] = g.edges();
  const bool directed = g.direction() == direction_kind::directed;
  out.keys()["directed"] = directed;
  report_backend(out, flags.common.device, where);
  out.keys()["algorithm"] = nullptr;
  out.keys()["load_ms"] = load_ms;
  out.keys()["build_ms"] = build_ms;
  out.keys()["runs"] = json::array();
  out.title(fmt::format("bfs {}", input.path));
  out.row("graph",
          fmt::format("{} vertices, {} {} edges ({}; {} listed)", with_commas(g.vertices()), with_commas(g.edges()),
                      directed ? "directed" : "undirected", input.format, with_commas(facts.stored)));
  out.row("device", fmt::format("{} ({}), {} threads", where.name, where.reason, where.cpu.threads()));
  out.row("before", fmt::format("load {}, build {}", format_milliseconds(load_ms), format_milliseconds(build_ms)));
  report_cache(out, cache);

  std::vector<double> rates;
  bool all_valid = true;
  std::string first_fault;
  const auto sink = [&](const search<I>& found) {
    rates.push_back(found.mteps);
    if (found.wrong() && all_valid)
      first_fault = fmt::format("source {}: {}", facts.names.id(found.source), *found.fault);
    all_valid = all_valid && !found.wrong();
    report_search(out, found, facts.names, sources.size() == 1);
    if (!flags.output.empty() && !found.wrong()) write_tree(flags.output, found, facts.names);
  };
  plan_facts plan;
  if (!where.gpu.has_value()) {
    plan = search_all<I, O, host>(where.cpu, where.cpu, host_view, host_view, sources, how, sink);
  } else if constexpr (config::has_cuda) {
    const stopwatch uploading;
    const graph<I, O, device> uploaded = to_device<I, O>(*where.gpu, host_view);
    where.gpu->synchronize();
    out.keys()["upload_ms"] = uploading.milliseconds();
    plan = search_all<I, O, device>(where.cpu, *where.gpu, uploaded.view(), host_view, sources, how, sink);
  }
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

template <index_type I>
exit_status build_and_traverse(const bfs_flags& flags, const backend& where, const input_description& input,
                               const input_cache& cache, const input_facts& facts, coo_matrix<pattern, I, host> entries,
                               double load_ms) {
  graph_options options;
  const bool directed = flags.directed || (!flags.undirected && input.directed);
  options.direction = directed ? direction_kind::directed : direction_kind::undirected;
  options.in_edges = directed && wants_in_edges(parse_options(flags));
  const std::int64_t most = directed ? entries.nnz() : 2 * entries.nnz();
  return with_offset<I>(most, [&]<class O>(type_tag<O>) {
    const stopwatch building;
    graph<I, O, host> g;
    {
      const busy at_work("building the graph");
      g = build_graph<O, I>(where.cpu, entries.view(), options);
      entries = {};  // the graph replaces it
    }
    return traverse<I, O>(flags, where, input, cache, facts, g, load_ms, building.milliseconds());
  });
}

exit_status run(const bfs_flags& flags) {
  (void)parse_options(flags);
  check_source_flags({flags.source, flags.sources});
  const backend where = choose_backend(flags.common.device, flags.common.threads);
  const stopwatch loading;
  const input_description input = describe_input(where.cpu, flags.file);
  if (input.rows != input.cols) {
    throw error(
        error_code::invalid_data, source_position{flags.file, 0, 0},
        fmt::format("the matrix is {} x {} (expected a square one, whose rows are vertices)", input.rows, input.cols));
  }
  std::optional<progress_bar> bar(std::in_place, "reading " + input.path, flags.common.quiet);
  const read_options options = bar->options();
  input_cache cache(flags.cache, input, value_kind::pattern);
  if (input.kind == input_kind::snapshot) {
    return with_stored_indices(input.mapped->header(), [&]<class I, class O>(type_tag<I>, type_tag<O>) {
      const csr_input<pattern, I, O> read = borrow_csr<pattern, I, O>(where.cpu, input);
      auto entries = to_coo(where.cpu, read.matrix);
      return build_and_traverse<I>(flags, where, input, cache, read.facts, std::move(entries), loading.milliseconds());
    });
  }
  if (cache.is_on()) {
    return with_cached_csr<pattern>(where.cpu, input, options, cache,
                                    [&]<class I, class O>(const csr_input<pattern, I, O>& read) {
                                      bar.reset();
                                      auto entries = to_coo(where.cpu, read.matrix);
                                      return build_and_traverse<I>(flags, where, input, cache, read.facts,
                                                                   std::move(entries), loading.milliseconds());
                                    });
  }
  return with_coo<pattern>(where.cpu, input, options, [&]<class I>(coo_input<pattern, I>& read) {
    bar.reset();
    if (flags.directed && read.triangle != symmetry_kind::general) {  // an undirected graph is the same from a triangle
      read.entries = expand_symmetry<pattern, I>(where.cpu, std::as_const(read.entries).view(), read.triangle);
    }
    return build_and_traverse<I>(flags, where, input, cache, read.facts, std::move(read.entries),
                                 loading.milliseconds());
  });
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
