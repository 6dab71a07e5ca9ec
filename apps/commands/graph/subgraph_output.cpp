#include "commands/graph/subgraph_output.hpp"

#include <spargo/io/edge_list.hpp>

#include <fmt/format.h>

namespace spargo::apps {

void check_subgraph_flags(const table_flags& flags, const std::string& flag, const std::string& subgraph) {
  if (flags.is_sorted()) {
    throw usage_error(fmt::format("{}: its output is a list of edges (expected no --sort and no --top)", flag));
  }
  if (!flags.join.empty())
    throw usage_error(fmt::format("{}: its output is a list of edges (expected no --join)", flag));
  const table_format format = table_format_of(flags);
  if (flags.print != "report" && format != table_format::commas) {
    throw usage_error(fmt::format("--print {}: {} is an edge list (expected csv)", flags.print, subgraph));
  }
  if (!flags.output.empty() && format == table_format::objects) {
    throw usage_error(fmt::format("--output {}: {} is an edge list (expected no JSON)", flags.output, subgraph));
  }
}

template <class I>
void write_subgraph(report& out, const table_flags& flags, const vertex_names& names, const subgraph<I>& found) {
  const auto n = static_cast<I>(names.vertices);
  const coo_view<const pattern, I, host> edges{{n, n, found.sources, found.targets}, {}};
  const table_format format = table_format_of(flags);
  const auto style = format == table_format::commas ? edge_list_style::commas
                     : format == table_format::tabs ? edge_list_style::named_tabs
                                                    : edge_list_style::tabs;
  if (names.are_integers()) {
    write_edge_list<pattern, I>(flags.output, edges, names.all(), style);
  } else {
    write_edge_list<pattern, I>(flags.output, edges, names.table, style);
  }
  out.keys()["output"] = flags.output;
  out.row("written", flags.output);
}

template void write_subgraph(report&, const table_flags&, const vertex_names&, const subgraph<std::int32_t>&);
template void write_subgraph(report&, const table_flags&, const vertex_names&, const subgraph<std::int64_t>&);

}  // namespace spargo::apps
