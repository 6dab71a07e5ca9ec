// components FILE: weak or strong components of a real graph, timed, and checked by code that shares nothing with them.
#include "commands/table.hpp"
#include "common/cli.hpp"
#include "common/device_choice.hpp"
#include "common/graph_input.hpp"
#include "common/help.hpp"
#include "common/outputs.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/timing.hpp"

#include <spargo/graph/components.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace spargo::apps {

namespace {

struct components_flags {
  common_flags common;
  std::string file;
  bool strong = false;
  bool undirected = false;
  bool directed = false;
  std::int64_t repeat = 3;
  std::string output;
  bool no_validate = false;
  stopwatch since_start;

  [[nodiscard]] components_options options() const {
    return {.connection = strong ? components_connection::strong : components_connection::weak};
  }
};

// What a run of one backend tells, its labels on the host.
template <class I>
struct found_components {
  array<I, host> labels;
  std::int64_t count = 0;
  time_summary times;
  double total_ms = 0;  // from the command's start to the first labels
  double plan_ms = 0;
  components_algorithm algorithm = components_algorithm::automatic;
  std::string reason;
};

template <class I>
array<I, host> labels_at_home(const context<host>& ctx, span<const I, host> labels) {
  return clone(ctx, labels);
}
template <class I>
array<I, host> labels_at_home(const context<device>& ctx, span<const I, device> labels) {
  return to_host(ctx, labels);
}

template <index_type I, index_type O, class Space>
found_components<I> find_components(const components_flags& flags, const context<Space>& ctx,
                                    const graph_view<I, O, Space>& g) {
  const busy finding("finding components");
  const stopwatch planning;
  components_plan<I, O, Space> plan(ctx, g, flags.options());
  ctx.synchronize();
  found_components<I> found;
  found.plan_ms = planning.milliseconds();
  plan.run();  // untimed: memory is touched for the first time
  found.count = plan.count();
  found.total_ms = flags.since_start.milliseconds();
  std::vector<double> samples;
  for (std::int64_t run = 0; run < flags.repeat; ++run) {
    const stopwatch watch;
    plan.run();
    ctx.synchronize();
    samples.push_back(watch.milliseconds());
  }
  found.times = summarize(std::move(samples));
  found.labels = labels_at_home<I>(ctx, plan.labels());
  found.algorithm = plan.algorithm();
  found.reason = plan.reason();
  return found;
}

// `id label` a line, ids ascending; a label is the smallest id of its component.
template <class I>
void write_labels(const std::string& path, span<const I, host> labels, const vertex_names& names) {
  const busy writing("writing " + path);
  output_file file(path);
  std::string line;
  for (std::int64_t v = 0; v < labels.size(); ++v) {
    line.clear();
    fmt::format_to(std::back_inserter(line), "{} {}\n", names.id(v), names.id(labels[v]));
    file.write(line);
  }
  file.commit();
}

// [[size, how many], ...] of up to 20 different sizes, largest first; `sizes` descend.
json histogram_of(const std::vector<std::int64_t>& sizes) {
  constexpr std::size_t most = 20;
  json list = json::array();
  for (auto at = sizes.begin(); at != sizes.end() && list.size() < most;) {
    const auto end = std::find_if(at, sizes.end(), [&](std::int64_t size) { return size != *at; });
    list.push_back({*at, static_cast<std::int64_t>(end - at)});
    at = end;
  }
  return list;
}

template <index_type I, index_type O>
search_size size_of(const graph_view<I, O, host>& g, bool strong) {
  search_size size;
  size.vertices = g.vertices();
  size.entries = g.out.nnz();
  size.branching = 2;  // no component is followed vertex by vertex
  size.graph_bytes = g.out.offsets.size() * std::int64_t{sizeof(O)} + size.entries * std::int64_t{sizeof(I)};
  size.workspace_bytes = size.vertices * std::int64_t{sizeof(I)} + size.entries / 128 + (std::int64_t{1} << 20);
  size.runs_on_gpu = !strong || g.direction == direction_kind::undirected;
  return size;
}

struct loaded_input {
  const input_description& input;
  const input_facts& facts;
  double load_ms = 0;
  double build_ms = 0;
};

template <index_type I, index_type O>
void report_graph(report& out, const components_flags& flags, const backend& where, const loaded_input& from,
                  const graph<I, O, host>& g) {
  if (!from.facts.passed_over.empty()) out.warn(from.input.path + ": passed over: " + from.facts.passed_over);
  const bool directed = g.direction() == direction_kind::directed;
  json& keys = out.keys();
  keys["file"] = from.input.path;
  keys["vertices"] = std::int64_t{g.vertices()};
  keys["edges"] = g.edges();
  keys["directed"] = directed;
  keys["connection"] = flags.strong ? "strong" : "weak";
  report_backend(out, flags.common.device, where);
  out.title(fmt::format("components {}", from.input.path));
  out.row("graph",
          fmt::format("{} vertices, {} {} edges ({}; {} listed)", with_commas(g.vertices()), with_commas(g.edges()),
                      directed ? "directed" : "undirected", from.input.format, with_commas(from.facts.stored)));
  out.row("device", fmt::format("{} ({}), {} threads", where.name, where.reason, where.cpu.threads()));
  out.row("before",
          fmt::format("load {}, build {}", format_milliseconds(from.load_ms), format_milliseconds(from.build_ms)));
}

template <class I>
void report_components(report& out, const components_flags& flags, const loaded_input& from,
                       const found_components<I>& found, const std::optional<std::string>& fault) {
  json& keys = out.keys();
  keys["algorithm"] = to_string(found.algorithm);
  keys["algorithm_reason"] = found.reason;
  keys["load_ms"] = from.load_ms;
  keys["build_ms"] = from.build_ms;
  keys["plan_ms"] = found.plan_ms;
  keys["total_ms"] = found.total_ms;
  keys["time_ms"] = to_json(found.times);
  keys["components"] = found.count;
  const bool wrong = fault.has_value() && !fault->empty();
  const std::vector<std::int64_t> sizes = wrong ? std::vector<std::int64_t>() : component_sizes<I>(found.labels.view());
  const std::int64_t largest = sizes.empty() ? 0 : sizes.front();
  keys["largest"] = largest;
  keys["sizes"] = histogram_of(sizes);
  keys["valid"] = fault.has_value() ? json(fault->empty()) : json();
  out.row("algorithm", fmt::format("{}: {}", to_string(found.algorithm), found.reason));
  out.row("components", fmt::format("{} {}", with_commas(found.count), flags.strong ? "strong" : "weak"));
  out.row("largest", fmt::format("{} vertices", with_commas(largest)));
  out.row("time", format_times(found.times));
  out.row("result", !fault.has_value() ? "not validated" : wrong ? "WRONG: " + *fault : "valid: checked edge by edge");
}

template <index_type I, index_type O>
exit_status analyse(const components_flags& flags, backend where, const loaded_input& from,
                    const graph<I, O, host>& g) {
  settle_backend(where, flags.common.device, size_of(g.view(), flags.strong), 0);
  report out("components", flags.common);
  report_graph(out, flags, where, from, g);
  found_components<I> found;
  on_backend(where, [&]<class Space>(const context<Space>& ctx) {
    if constexpr (std::same_as<Space, host>) {
      found = find_components<I, O, host>(flags, ctx, g.view());
    } else {
      const stopwatch uploading;
      const graph<I, O, device> uploaded = to_device<I, O>(ctx, g.view());
      out.keys()["upload_ms"] = uploading.milliseconds();
      found = find_components<I, O, device>(flags, ctx, uploaded.view());
    }
  });
  std::optional<std::string> fault;
  if (!flags.no_validate) {
    const busy validating("validating");
    fault = check_components<I, O>(where.cpu, g.view(), found.labels.view(), flags.options());
  }
  const bool right = !fault.has_value() || fault->empty();
  report_components(out, flags, from, found, fault);
  if (!flags.output.empty() && right) {
    write_labels<I>(flags.output, found.labels.view(), from.facts.names);
    out.row("written", flags.output);
  }
  out.print();
  if (!right) {
    print_error(flags.common.called, fmt::format("{}: the result failed validation: {}", from.input.path, *fault));
  }
  return status_of(flags.no_validate ? std::nullopt : std::optional<bool>(right));
}

exit_status run(const components_flags& flags) {
  const backend where = choose_backend(flags.common.device, flags.common.threads);
  const stopwatch loading;
  const input_description input = describe_input(where.cpu, flags.file);
  any_coo<pattern> read = [&] {
    progress_bar bar("reading " + input.path, flags.common.quiet);
    input_cache cache(cache_mode::off, input, value_kind::pattern);
    return read_graph_entries(where.cpu, input, bar.options(), cache);
  }();
  const double load_ms = loading.milliseconds();
  const input_facts facts = std::visit([](auto& listed) { return std::move(listed.facts); }, read);

  const bool directed = flags.directed || (!flags.undirected && input.directed);
  const graph_options options{.direction = directed ? direction_kind::directed : direction_kind::undirected,
                              .in_edges = directed && flags.strong};
  const stopwatch building;
  const any_graph g = make_graph(where.cpu, std::move(read), options);
  const loaded_input from{input, facts, load_ms, building.milliseconds()};
  return std::visit([&](const auto& held) { return analyse(flags, where, from, held); }, g);
}

command_body declare(CLI::App& app) {
  app.description(
      "Connected components of a graph: reads it, finds them on the CPU or the GPU, times and checks them.");
  const auto flags = std::make_shared<components_flags>();
  app.add_option("FILE", flags->file,
                 "a graph: edge list, Matrix Market, METIS, DIMACS, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  app.add_flag("--strong", flags->strong,
               "components whose vertices reach each other along the edges' direction; default: weak, direction does "
               "not count");
  auto* undirected = app.add_flag("--undirected", flags->undirected, "take every edge both ways");
  app.add_flag("--directed", flags->directed,
               "take edges as listed; default: undirected for symmetric matrices, else directed")
      ->excludes(undirected);
  app.add_option("--repeat", flags->repeat, "timed runs")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--output", flags->output,
                 "write `id label` a line, a label being the component's smallest id (.gz by name); - is standard "
                 "output")
      ->type_name("FILE");
  app.add_flag("--no-validate", flags->no_validate, "do not check the result edge by edge");
  add_common_flags(app, flags->common, app_kind::computes,
                   help_examples(app, {"roads.mtx --output labels.txt", "wiki-Vote.txt.gz --strong --json report.json",
                                       "gen:rmat:scale=20,degree=16 --undirected --device cpu"}) +
                       "Vertices are called as the file writes them: the ids of an edge list, the row\n"
                       "numbers of a matrix from 1, the numbers of a generated graph from 0.\n\n" +
                       help_on_graph_inputs);
  return [flags] {
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
}

}  // namespace

const command components_command{"components", "connected components of a graph, weak or strong", declare};

}  // namespace spargo::apps
