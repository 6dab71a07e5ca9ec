#include "placement/driver.hpp"

#include "cli/outputs.hpp"

namespace spargo::apps {

void declare_graph(flag_set app, graph_flags& flags, const graph_command_text& text, bool devices,
                   const std::function<void()>& add_own) {
  app.description(text.about);
  add_graph_file(app, flags);
  add_own();
  add_placement_flags(app, flags);
  if (devices) add_devices_flag(app, flags.common);
  add_graph_flags(app, flags, text.flags);
  add_graph_help(app, flags, text.examples);
}

void prepare_graph_outputs(graph_flags& flags, std::vector<std::string> inputs, std::vector<output_request> outputs) {
  check_table_flags(flags);
  inputs.insert(inputs.end(), {flags.file, flags.join});
  outputs.insert(outputs.begin(), {"--output", flags.output});
  prepare_outputs(flags.common, inputs, std::move(outputs));
  read_joined_file(flags);
}

ranked_graph_input load_on_ranks(const communicator& comm, const backend& where, const graph_flags& flags,
                                 const graph_work& work, bool undirected) {
  ranked_input<pattern> read = read_on_ranks<pattern>(comm, where.cpu, flags.file, flags.common, flags.cache);
  graph_facts facts{read.share.rows(), 0, is_directed(flags, read.from.input)};
  const auto edges_in = [](const any_ranked_graph& held) {
    return std::visit([](const auto& g) { return g.edges(); }, held);
  };
  const bool both_ways = facts.directed && undirected;
  if (both_ways) facts.edges = edges_in(build_on_ranks(comm, where.cpu, read, {}));
  const bool directed = facts.directed && !undirected;
  any_ranked_graph g = build_on_ranks(comm, where.cpu, read,
                                      {.direction = directed ? direction_kind::directed : direction_kind::undirected,
                                       .in_edges = directed && work.wanted != in_edges::omit,
                                       .loops = work.loops});
  if (!both_ways) facts.edges = edges_in(g);
  if (work.loops == self_loops::keep) {
    const std::int64_t own = std::visit([](const auto& held) { return std::int64_t{held.out().nnz()}; }, g);
    facts.loops = count_loops(comm.all_reduce(own, reduction::sum), facts.edges, facts.directed);
  }
  on_first(comm, [&] { join_attributes(flags.attributes, read.from.facts.names); });
  return {std::move(read.from), facts, std::move(g)};
}

}  // namespace spargo::apps
