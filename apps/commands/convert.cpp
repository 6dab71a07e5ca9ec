// convert IN OUT: among Matrix Market, edge lists, METIS, documents and snapshots, so that every command gives the same
// answer on OUT as on IN; where OUT cannot hold something, a warning or an error says so.
#include "cli/choice.hpp"
#include "cli/cli.hpp"
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "cli/report.hpp"
#include "cli/timing.hpp"
#include "commands/convert/conversion.hpp"
#include "commands/convert/target.hpp"
#include "commands/table.hpp"
#include "input/columns.hpp"
#include "input/graph_input.hpp"
#include "placement/device_choice.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

namespace spargo::apps {

namespace {

void report_size(report& out, const input_description& input, const written& result) {
  json& keys = out.keys();
  const json rows = result.rows < 0 ? json() : json(result.rows);
  keys["rows"] = rows;
  keys["cols"] = result.cols < 0 ? json() : json(result.cols);
  keys["entries"] = result.entries;
  const std::string rest = fmt::format("{}{}",
                                       result.values     ? ""
                                       : is_graph(input) ? ", no weights"
                                                         : ", no values",
                                       result.streamed ? "; too large for memory, rewritten line by line" : "");
  if (is_graph(input)) {
    keys["vertices"] = rows;
    keys["directed"] = input.directed;
    const std::string size = result.rows < 0 ? "vertices not counted" : counted(result.rows, "vertex", "vertices");
    const std::string edges = counted(result.entries, input.directed ? "directed edge" : "edge");
    const char* const twice = input.directed || result.triangle ? "" : ", both ways counted";
    return out.row("graph", fmt::format("{}, {}{}{}", size, edges, twice, rest));
  }
  const std::string size = result.rows < 0 ? std::string("vertices not counted")
                                           : fmt::format("{} x {}", with_commas(result.rows), with_commas(result.cols));
  out.row("matrix", fmt::format("{}, {}{}", size, counted(result.entries, "entry", "entries"), rest));
}

exit_status run(const convert_flags& flags) {
  const target to = choose_target(flags.to, flags.format);
  if (!flags.table.join.empty() && to.kind != target_kind::document) {
    throw usage_error(fmt::format("--join: {} has no attributes (expected OUT.gml or OUT.graphml)", to.format));
  }
  const stopwatch watch;
  const backend where = choose_cpu(flags.common.device, flags.common.threads);
  const context<host>& ctx = where.cpu;
  report out("convert", flags.common);
  report_backend(out, flags.common.device, where);
  input_description input = describe_input(ctx, flags.from, flags.common.columns, ids_of(flags.common));
  out.keys()["cache"] = to_string(cache_outcome::off);
  const conversion wanted{ctx, flags, to, out, input};
  const written result = flags.structure.any() ? convert_restructured(wanted) : convert(wanted);

  std::optional<std::int64_t> bytes;
  if (is_replaceable(flags.to)) bytes = static_cast<std::int64_t>(std::filesystem::file_size(flags.to));
  json& keys = out.keys();
  keys["file"] = flags.from;
  keys["from"] = input.format;
  keys["output"] = flags.to;
  keys["to"] = to.format;
  keys["values"] = result.values;
  keys["streamed"] = result.streamed;
  keys["bytes"] = bytes.has_value() ? json(*bytes) : json();
  keys["total_ms"] = watch.milliseconds();
  out.title(fmt::format("convert {}", flags.from));
  out.row("read", input.format);
  report_columns(out, input, input.directed);
  if (const std::string unused = unused_weights(input); !unused.empty()) out.warn(flags.from + ": " + unused);
  const std::string amount = bytes.has_value() ? ", " + format_bytes(static_cast<double>(*bytes)) : std::string();
  out.row("written", fmt::format("{} ({}{})", flags.to, to.format, amount));
  report_size(out, input, result);
  out.row("time", format_milliseconds(watch.milliseconds()));
  out.print();
  return exit_status::success;
}

void add_flags(flag_set app, convert_flags& flags) {
  app.add_option(
         "IN", flags.from,
         "Matrix Market, edge list, METIS, DIMACS, GML, GraphML, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  app.add_option("OUT", flags.to,
                 "by its name: .mtx, .spg, .el (no weights), .wel, .csv, .txt, .tsv, .edges, .snap, .graph, .metis, "
                 ".gml or .graphml; .gz "
                 "after any but .spg; -, with --to, is standard output")
      ->required();
  app.add_option("--to", flags.format,
                 "mtx, el, wel, csv, tsv, spg, metis, gml or graphml; default: by the name of OUT")
      ->check(one_of("a format", {"mtx", "el", "wel", "csv", "tsv", "spg", "metis", "gml", "graphml"}))
      ->type_name("FORMAT");
  add_columns_flag(app, flags.common);
  app.add_flag("--undirected", flags.undirected,
               "write every edge both ways, and that the graph is undirected: each edge once in .mtx (a symmetric "
               "triangle), both ways in .spg, METIS and edge lists (which cannot say it); edges between the same "
               "vertices become one with the lightest weight");
  add_structure_flags(app, flags.structure);
  add_join_flags(app, flags.table, "for OUT.gml and OUT.graphml");
  add_cache_flag(app, flags.cache);
}

command_body declare(flag_set app) {
  app.description(
      "Converts among Matrix Market, edge lists, METIS, GML, GraphML and the binary snapshot, so that every command "
      "gives the same answer on OUT as on IN; a warning names what OUT cannot hold. GML and GraphML keep attributes: "
      "those of a GML or GraphML file, other columns of a table, and those of --join. What does not fit into memory is "
      "rewritten line by line where that gives the same.");
  const auto flags = std::make_shared<convert_flags>();
  add_flags(app, *flags);
  add_common_flags(
      app, flags->common, app_kind::reads,
      help_examples(app, {"soc-Slashdot0902.txt.gz slashdot.spg", "matrix.mtx edges.wel.gz", "mesh.mtx mesh.graph",
                          "a.mtx b.mtx --rows 1:100 --transpose", "edges.csv graph.graphml --join people.csv --on name",
                          "gen:rmat:scale=18,degree=16 rmat18.spg"}) +
          help_on_graph_inputs);
  return [flags] {
    prepare_outputs(flags->common, {flags->from, flags->structure.permute, flags->table.join}, {{"OUT", flags->to}});
    read_joined_file(flags->table);
    if (is_range(flags->common.columns)) flags->structure.columns = std::exchange(flags->common.columns, "");
    return run(*flags);
  };
}

}  // namespace

extern const command convert_command{"convert",          "files from one format to another", declare, nullptr, false,
                                     command_kind::files};

}  // namespace spargo::apps
