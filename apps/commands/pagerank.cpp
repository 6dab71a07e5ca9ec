// pagerank FILE: the ranks of a graph's vertices, timed, and checked by steps of other code.
#include "commands/table.hpp"
#include "common/choice.hpp"
#include "common/cli.hpp"
#include "common/device_choice.hpp"
#include "common/graph_input.hpp"
#include "common/help.hpp"
#include "common/outputs.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/timing.hpp"

#include <spargo/graph/pagerank.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

namespace spargo::apps {

namespace {

struct pagerank_flags {
  common_flags common;
  std::string file;
  bool undirected = false;
  bool directed = false;
  std::string algorithm = "auto";
  double damping = 0.85;
  double tolerance = 1e-6;
  std::int64_t max_iterations = 1000;
  std::int64_t iterations = 0;   // 0: to the tolerance
  std::string dangling;          // empty: by the personalization if there is one, else uniform
  std::vector<std::string> ids;  // of --personalize
  std::int64_t repeat = 3;
  std::string output;
  bool no_validate = false;
};

pagerank_options options_of(const pagerank_flags& flags) {
  pagerank_options options;
  if (flags.algorithm != "auto") options.algorithm = parse_pagerank_algorithm(flags.algorithm);
  options.damping = flags.damping;
  options.tolerance = flags.tolerance;
  options.max_iterations = flags.max_iterations;
  options.iterations = flags.iterations;
  if (flags.dangling == "uniform") options.dangling = pagerank_dangling::uniform;
  if (flags.dangling == "drop") options.dangling = pagerank_dangling::drop;
  return options;
}

std::vector<std::int64_t> parse_ids(const pagerank_flags& flags) {
  std::vector<std::int64_t> ids;
  for (const std::string& text : flags.ids) {
    std::int64_t id = 0;
    if (!parse_integer(text, id) || id < 0) {
      throw usage_error(fmt::format("--personalize: {} is not a vertex (expected ids from 0 to 2^63-1)", text));
    }
    ids.push_back(id);
  }
  return ids;
}

void check_flags(const pagerank_flags& flags) {
  if (!(flags.damping >= 0 && flags.damping < 1)) {
    throw usage_error(fmt::format("--damping: {} (expected at least 0 and below 1)", flags.damping));
  }
  if (!(flags.tolerance >= 0 && flags.tolerance <= 1)) {
    throw usage_error(fmt::format("--tolerance: {} (expected 0 to 1)", flags.tolerance));
  }
  if (flags.iterations > 0 && flags.algorithm == "gauss_seidel") {
    throw usage_error("--iterations: their number is defined for jacobi only (expected no --algorithm gauss_seidel)");
  }
  (void)parse_ids(flags);
}

// One at each vertex named, 0 elsewhere; empty where none is named.
std::vector<double> preferences(const pagerank_flags& flags, const vertex_names& names) {
  std::vector<double> values;
  for (const std::int64_t id : parse_ids(flags)) {
    const std::optional<std::int64_t> vertex = names.vertex(id);
    if (!vertex.has_value()) {
      throw error(error_code::invalid_argument, fmt::format("--personalize: {} is not a vertex of the graph", id));
    }
    values.resize(static_cast<std::size_t>(names.vertices));
    values[static_cast<std::size_t>(*vertex)] = 1;
  }
  return values;
}

// What was found, on the host.
struct ranking {
  std::vector<double> ranks;
  std::int64_t iterations = 0;
  double residual = 0;
  bool converged = false;
  pagerank_algorithm algorithm = pagerank_algorithm::automatic;
  std::string reason;
  std::int64_t workspace_bytes = 0;
  double plan_ms = 0;
  time_summary times;
  std::optional<std::string> fault;  // none: not checked; empty: right

  [[nodiscard]] bool wrong() const { return fault.has_value() && !fault->empty(); }
};

template <index_type I, index_type O, class Space>
ranking rank_all(const context<Space>& ctx, const graph_view<I, O, Space>& g, const pagerank_flags& flags,
                 span<const double, Space> personalization) {
  const busy at_work("ranking");
  ranking found;
  const stopwatch planning;
  pagerank_plan<double, I, O, Space> plan(ctx, g, options_of(flags));
  ctx.synchronize();
  found.plan_ms = planning.milliseconds();
  std::vector<double> samples;
  for (std::int64_t run = -1; run < flags.repeat; ++run) {  // the first one touches memory and is not timed
    ctx.synchronize();
    const stopwatch watch;
    plan.run(personalization);
    ctx.synchronize();
    if (run >= 0) samples.push_back(watch.milliseconds());
  }
  found.times = summarize(std::move(samples));
  found.ranks.resize(static_cast<std::size_t>(g.vertices()));
  copy(ctx, plan.ranks(), span<double, host>(found.ranks));
  ctx.synchronize();
  found.iterations = plan.iterations();
  found.residual = plan.residual();
  found.converged = plan.converged();
  found.algorithm = plan.algorithm();
  found.reason = plan.reason();
  found.workspace_bytes = plan.workspace_bytes();
  return found;
}

// One that ended early is as good as its last step says.
template <index_type I, index_type O>
void validate(const context<host>& cpu, const graph_view<I, O, host>& g, const pagerank_flags& flags,
              const std::vector<double>& personalization, ranking& found) {
  pagerank_options options = options_of(flags);
  options.tolerance = std::max(options.tolerance, found.residual);
  found.fault = check_pagerank<double>(cpu, g, found.ranks, options, personalization);
}

// The highest first, of equal ones the smaller id.
std::vector<std::int64_t> highest(const std::vector<double>& ranks, std::int64_t count) {
  std::vector<std::int64_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto last = order.begin() + std::min<std::int64_t>(count, static_cast<std::int64_t>(order.size()));
  std::partial_sort(order.begin(), last, order.end(), [&](std::int64_t a, std::int64_t b) {
    const double x = ranks[static_cast<std::size_t>(a)];
    const double y = ranks[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  });
  order.erase(last, order.end());
  return order;
}

// `id rank` a line, ids ascending.
void write_ranks(const std::string& path, const std::vector<double>& ranks, const vertex_names& names) {
  const busy writing("writing " + path);
  output_file file(path);
  std::string line;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    line.clear();
    fmt::format_to(std::back_inserter(line), "{} {}\n", names.id(static_cast<std::int64_t>(v)), ranks[v]);
    file.write(line);
  }
  file.commit();
}

void report_ranking(report& out, const ranking& found, const vertex_names& names) {
  auto& keys = out.keys();
  keys["algorithm"] = to_string(found.algorithm);
  keys["algorithm_reason"] = found.reason;
  keys["plan_ms"] = found.plan_ms;
  keys["workspace_bytes"] = found.workspace_bytes;
  keys["iterations"] = found.iterations;
  keys["residual"] = found.residual;
  keys["converged"] = found.converged;
  keys["time_ms"] = to_json(found.times);
  keys["valid"] = found.fault.has_value() ? json(found.fault->empty()) : json();
  keys["top"] = json::array();
  out.row("algorithm", fmt::format("{}: {}", to_string(found.algorithm), found.reason));
  out.row("iterations", fmt::format("{}, the last one changed the ranks by {:.3g}{}", found.iterations, found.residual,
                                    found.converged ? "" : ": NOT CONVERGED"));
  out.row("time", format_times(found.times));
  for (const std::int64_t v : highest(found.ranks, 10)) {
    const double rank = found.ranks[static_cast<std::size_t>(v)];
    keys["top"].push_back({names.id(v), rank});
    out.row(keys["top"].size() == 1 ? "highest" : "", fmt::format("{} {:.6g}", names.id(v), rank));
  }
  out.row("result", !found.fault.has_value() ? "not validated"
                    : found.wrong()          ? "WRONG: " + *found.fault
                                             : "valid: steps of other code agree");
}

template <index_type I, index_type O>
std::int64_t bytes_of(const csr_pattern_view<I, O, host>& part) {
  return part.offsets.size() * std::int64_t{sizeof(O)} + part.indices.size() * std::int64_t{sizeof(I)};
}

// What the GPU would have to hold and to do. All vertices are at work in every step.
template <index_type I, index_type O>
search_size size_of(const graph_view<I, O, host>& g, const pagerank_flags& flags) {
  search_size size;
  size.vertices = g.vertices();
  size.entries = size.branching = g.out.nnz();
  size.graph_bytes = bytes_of(g.out) + (g.direction == direction_kind::directed ? bytes_of(g.in) : 0);
  size.workspace_bytes = size.vertices * std::int64_t{6 * sizeof(double) + sizeof(I)};
  size.runs_on_gpu = flags.algorithm != "gauss_seidel";
  return size;
}

template <index_type I, index_type O>
ranking rank_on(const backend& where, const graph_view<I, O, host>& g, const pagerank_flags& flags,
                const std::vector<double>& personalization, report& out) {
  ranking found;
  on_backend(where, [&]<class Space>(const context<Space>& ctx) {
    if constexpr (std::same_as<Space, host>) {
      found = rank_all<I, O, host>(ctx, g, flags, personalization);
    } else {
      const stopwatch uploading;
      const graph<I, O, device> uploaded = to_device<I, O>(ctx, g);
      const auto there = to_device(ctx, personalization);
      out.keys()["upload_ms"] = uploading.milliseconds();
      found = rank_all<I, O, device>(ctx, uploaded.view(), flags, there.view());
    }
  });
  return found;
}

template <index_type I, index_type O>
exit_status answer(const pagerank_flags& flags, backend where, const input_description& input, const input_facts& facts,
                   const graph<I, O, host>& g, double load_ms, double build_ms, const stopwatch& since_start) {
  const std::vector<double> personalization = preferences(flags, facts.names);
  settle_backend(where, flags.common.device, size_of(g.view(), flags), 0);
  report out("pagerank", flags.common);
  if (!facts.passed_over.empty()) out.warn(input.path + ": passed over: " + facts.passed_over);
  const bool directed = g.direction() == direction_kind::directed;
  out.keys()["file"] = input.path;
  out.keys()["vertices"] = std::int64_t{g.vertices()};
  out.keys()["edges"] = g.edges();
  out.keys()["directed"] = directed;
  report_backend(out, flags.common.device, where);
  out.keys()["algorithm"] = nullptr;
  out.keys()["load_ms"] = load_ms;
  out.keys()["build_ms"] = build_ms;
  out.title(fmt::format("pagerank {}", input.path));
  out.row("graph",
          fmt::format("{} vertices, {} {} edges ({}; {} listed)", with_commas(g.vertices()), with_commas(g.edges()),
                      directed ? "directed" : "undirected", input.format, with_commas(facts.stored)));
  if (is_graph_text(input.kind) && facts.weighted) out.row("weights", "ignored");
  out.row("device", fmt::format("{} ({}), {} threads", where.name, where.reason, where.cpu.threads()));
  out.row("before", fmt::format("load {}, build {}", format_milliseconds(load_ms), format_milliseconds(build_ms)));

  ranking found = rank_on<I, O>(where, g.view(), flags, personalization, out);
  out.keys()["total_ms"] = since_start.milliseconds();
  if (!flags.no_validate) validate(where.cpu, g.view(), flags, personalization, found);
  report_ranking(out, found, facts.names);
  if (!flags.output.empty() && !found.wrong()) {
    write_ranks(flags.output, found.ranks, facts.names);
    out.row("written", flags.output);
  }
  out.print();
  if (found.wrong()) {
    print_error(flags.common.called, fmt::format("{}: the result failed validation: {}", input.path, *found.fault));
  }
  return status_of(flags.no_validate ? std::nullopt : std::optional<bool>(!found.wrong()));
}

exit_status run(const pagerank_flags& flags) {
  const backend where = choose_backend(flags.common.device, flags.common.threads);
  const stopwatch since_start;
  const input_description input = describe_input(where.cpu, flags.file);
  any_coo<pattern> read = [&] {
    progress_bar bar("reading " + input.path, flags.common.quiet);
    input_cache cache(cache_mode::off, input, value_kind::pattern);
    return read_graph_entries(where.cpu, input, bar.options(), cache);
  }();
  const double load_ms = since_start.milliseconds();
  const input_facts facts = std::visit([](auto& listed) { return std::move(listed.facts); }, read);

  const bool directed = flags.directed || (!flags.undirected && input.directed);
  const graph_options options{.direction = directed ? direction_kind::directed : direction_kind::undirected,
                              .in_edges = directed};
  const stopwatch building;
  const any_graph g = make_graph(where.cpu, std::move(read), options);
  const double build_ms = building.milliseconds();
  return std::visit(
      [&](const auto& held) { return answer(flags, where, input, facts, held, load_ms, build_ms, since_start); }, g);
}

void add_flags(CLI::App& app, pagerank_flags& flags) {
  app.add_option("FILE", flags.file,
                 "a graph: edge list, Matrix Market, METIS, DIMACS, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  app.add_option("--damping", flags.damping, "the share of the steps that follow edges, 0 or more and below 1")
      ->type_name("D")
      ->capture_default_str();
  app.add_option("--tolerance", flags.tolerance, "end with a step that changes the ranks by no more, in sum")
      ->type_name("X")
      ->capture_default_str();
  auto* most = app.add_option("--max-iterations", flags.max_iterations, "end after so many without having converged");
  most->check(positive_count())->type_name("N")->capture_default_str();
  app.add_option("--iterations", flags.iterations, "exactly so many, whatever the tolerance")
      ->check(positive_count())
      ->type_name("N")
      ->excludes(most);
  app.add_option("--dangling", flags.dangling,
                 "where the rank of vertices without out-edges goes: uniform (to all) or drop; default: uniform, with "
                 "--personalize to the vertices named there")
      ->check(one_of("a rule", {"uniform", "drop"}))
      ->type_name("NAME");
  app.add_option("--personalize", flags.ids, "start afresh at these vertices only, ids as the file writes them")
      ->delimiter(',')
      ->type_name("ID,...");
  auto* undirected = app.add_flag("--undirected", flags.undirected, "take every edge both ways");
  app.add_flag("--directed", flags.directed,
               "take edges as listed; default: undirected for symmetric matrices, else directed")
      ->excludes(undirected);
  app.add_option("--algorithm", flags.algorithm, "auto, jacobi or gauss_seidel (CPU)")
      ->check(one_of("an algorithm", {"auto", "jacobi", "gauss_seidel"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--repeat", flags.repeat, "timed runs")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--output", flags.output, "write `id rank` a line (.gz by name); - is standard output")
      ->type_name("FILE");
  app.add_flag("--no-validate", flags.no_validate, "do not check the ranks by steps of other code");
}

command_body declare(CLI::App& app) {
  app.description("PageRank of a graph: reads it, ranks its vertices on the CPU or the GPU, times and checks it.");
  const auto flags = std::make_shared<pagerank_flags>();
  add_flags(app, *flags);
  add_common_flags(app, flags->common, app_kind::computes,
                   help_examples(app, {"wiki-Vote.txt.gz", "links.el --personalize 17,23 --output ranks.txt",
                                       "gen:rmat:scale=20,degree=16 --undirected --iterations 20"}) +
                       help_on_graph_inputs);
  return [flags] {
    check_flags(*flags);
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
}

}  // namespace

const command pagerank_command{"pagerank", "ranks of a graph's vertices", declare};

}  // namespace spargo::apps
