#include "placement/graph_command.hpp"

#include "cli/help.hpp"
#include "input/attribute_table.hpp"
#include "input/columns.hpp"
#include "input/memory_limit.hpp"

#include <fmt/format.h>

namespace spargo::apps {

std::int64_t graph_flags::device_bytes() const {
  std::int64_t bytes = 0;
  if (!max_device_memory.empty()) (void)parse_bytes(max_device_memory, bytes);
  return bytes;
}

void add_graph_file(flag_set app, graph_flags& flags) {
  app.add_option("FILE", flags.file,
                 "a graph: edge list, Matrix Market, METIS, DIMACS, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
}

void add_graph_flags(flag_set app, graph_flags& flags, const graph_flag_texts& texts) {
  const std::size_t own = app.options().size();
  const auto undirected = app.add_flag("--undirected", flags.undirected, "take every edge both ways");
  app.add_flag("--directed", flags.directed,
               flags.undirected ? "refused: the command takes every edge both ways"
                                : "take edges from source to target, those of an undirected graph both ways; default: "
                                  "undirected for symmetric matrices and files that say so, else directed")
      ->excludes(undirected);
  add_columns_flag(app, flags.common);
  const auto repeat = app.add_option("--repeat", flags.repeat, texts.repeat)->check(positive_count())->type_name("N");
  if (flags.repeat > 0) repeat->capture_default_str();
  add_table_flags(app, flags, texts.table);
  add_cache_flag(app, flags.cache);
  app.add_option("--max-device-memory", flags.max_device_memory,
                 "use at most this much of the GPU's memory, such as 500M or 8G; default: all that is free")
      ->check({check_bytes})
      ->type_name("SIZE");
  app.add_flag("--no-validate", flags.no_validate, texts.no_validate);
  const std::vector<declared_flag> all = app.options();
  for (std::size_t k = own; k < all.size(); ++k) all[k]->group(help_style::graph_group);
}

void add_graph_help(flag_set app, graph_flags& flags, const std::vector<std::string>& examples) {
  add_common_flags(app, flags.common, app_kind::computes,
                   help_examples(app, examples) +
                       "Vertices keep the names of the file: the ids or names of an edge list,\n"
                       "the row numbers of a matrix from 1, the numbers of a generated graph from 0.\n\n" +
                       help_on_graph_inputs);
}

bool is_directed(const graph_flags& flags, const input_description& input) {
  return flags.directed || (!flags.undirected && input.directed);
}

bool has_weights(const input_description& input, const input_facts& facts) {
  return is_graph_text(input.kind) ? facts.weighted : input.field != matrix_market_field::pattern;
}

namespace {

const char* place_of(bool on_device) { return on_device ? "gpu" : "cpu"; }

// "load 20 ms, build 8 ms", with the device if a GPU was involved.
std::string times_before(const loaded_input& from) {
  std::string text =
      fmt::format("load {}, build {}", format_milliseconds(from.load_ms), format_milliseconds(from.build_ms));
  const bool parsed = from.facts.parsed_on_device;
  if (parsed && from.built_on_device) text += ", both on the GPU";
  if (!parsed && from.built_on_device) text += " on the GPU";
  if (!from.reason_for_host.empty()) text += fmt::format(" ({})", from.reason_for_host);
  return text;
}

}  // namespace

void report_graph(report& out, const std::string& command, const graph_flags& flags, const backend& where,
                  const loaded_input& from, const graph_facts& graph) {
  report_contents(out, from.input, from.facts);
  json& keys = out.keys();
  keys["file"] = from.input.path;
  keys["vertices"] = graph.vertices;
  keys["edges"] = graph.edges;
  keys["directed"] = graph.directed;
  report_backend(out, flags.common.device, where);
  keys["algorithm"] = nullptr;
  if (where.gpu.has_value()) keys["open_ms"] = from.open_ms;
  keys["load_ms"] = from.load_ms;
  keys["build_ms"] = from.build_ms;
  keys["parsed_on"] = place_of(from.facts.parsed_on_device);
  keys["built_on"] = place_of(from.built_on_device);
  if (!from.reason_for_host.empty()) keys["parsed_on_reason"] = from.reason_for_host;
  out.title(fmt::format("{} {}", command, from.input.path));
  out.row("graph", fmt::format("{}, {} ({}; {} listed)", counted(graph.vertices, "vertex", "vertices"),
                               counted(graph.edges, graph.directed ? "directed edge" : "undirected edge"),
                               from.input.format, with_commas(from.facts.stored)));
  if (graph.loops.has_value()) keys["self_loops"] = *graph.loops;
  if (graph.loops.value_or(0) > 0) {
    out.row("self-loops", fmt::format("{}: they count, and are not among the edges", with_commas(*graph.loops)));
  }
  report_columns(out, from.input, graph.directed);
  report_ids(out, from.facts.names);
  report_attributes(out, from.facts.names);
  if (!from.ignores_weights && from.facts.rounded_integers > 0) {
    keys["rounded_integers"] = from.facts.rounded_integers;
    out.warn(fmt::format("{}: {} beyond what float64 holds exactly, rounded to nearest", from.input.path,
                         counted(from.facts.rounded_integers, "weight is an integer", "weights are integers")));
  }
  if (from.ignores_weights) out.row("weights", "ignored");
  out.row("device", describe(where));
  out.row("before", times_before(from));
  report_cache(out, from.cache);
}

void report_plan(report& out, const backend& where, const plan_report& plan) {
  json& keys = out.keys();
  if (where.gpu.has_value()) keys["upload_ms"] = plan.upload_ms;
  keys["algorithm"] = plan.algorithm;
  keys["algorithm_reason"] = plan.reason;
  keys["plan_ms"] = plan.plan_ms;
  keys["total_ms"] = plan.runs.total_ms;
  keys["workspace_bytes"] = plan.workspace_bytes;
  out.row("algorithm", fmt::format("{}: {}", plan.algorithm, plan.reason));
  if (plan.runs.times.runs == 0) return;  // each search has its own
  keys["time_ms"] = to_json(plan.runs.times);
  out.row("time", format_times(plan.runs.times));
}

void report_verdict(report& out, const verdict& fault, const std::string& how, double ms) {
  out.keys()["valid"] = fault.has_value() ? json(fault->empty()) : json();
  out.row("result", !fault.has_value() ? "not validated" : is_wrong(fault) ? "WRONG: " + *fault : "valid: " + how);
  report_check_time(out, fault, ms);
}

void report_check_time(report& out, const verdict& fault, double ms) {
  out.keys()["validate_ms"] = fault.has_value() ? json(ms) : json();
  if (fault.has_value()) out.row("check", format_milliseconds(ms));
}

exit_status conclude(const report& out, const graph_flags& flags, const verdict& fault) {
  out.print();
  if (is_wrong(fault)) {
    print_error(flags.common.called, fmt::format("{}: the result failed validation: {}", flags.file, *fault));
  }
  return status_of(fault.has_value() ? std::optional<bool>(!is_wrong(fault)) : std::nullopt);
}

namespace {

// As "  age=34, town=Bonn", and as an object.
void list_attributes(const vertex_attributes& attributes, std::int64_t vertex, std::string& text, json& entry) {
  json object = json::object();
  const char* before = "  ";
  for (const attribute_column& column : attributes.table->columns) {
    const std::string* const value = attributes.find(vertex, column);
    const bool number = column.kind != attribute_kind::text && value != nullptr &&
                        (column.kind == attribute_kind::boolean || kind_of_text(*value) != attribute_kind::text);
    object[column.name] = value == nullptr ? json() : number ? parse_json(*value) : json(*value);
    if (value == nullptr) continue;
    text += fmt::format("{}{}={}", before, on_one_line(column.name), on_one_line(*value));
    before = ", ";
  }
  entry.push_back(std::move(object));
}

}  // namespace

void report_highest(report& out, const vertex_names& names, span<const double, host> values, std::int64_t count,
                    const char* key, const char* label) {
  json& top = out.keys()[key] = json::array();
  const auto higher = [&](std::int64_t a, std::int64_t b) { return values[a] > values[b]; };
  const vertex_order order = first_vertices(values.size(), count, higher);
  std::size_t width = 0;
  for (const std::int64_t v : order) width = std::max(width, characters_of(names.label(v)));
  for (const std::int64_t v : order) {
    std::string name = names.label(v);
    const std::string blanks(width - characters_of(name), ' ');
    name = names.are_integers() ? blanks + name : name + blanks;
    std::string text = fmt::format("{}  {:.6g}", name, values[v]);
    json entry = {to_json(names, v), values[v]};
    if (names.attributes != nullptr) list_attributes(*names.attributes, v, text, entry);
    out.row(top.empty() ? label : "", text);
    top.push_back(std::move(entry));
  }
}

}  // namespace spargo::apps
