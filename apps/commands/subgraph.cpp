// subgraph FILE: a part of a graph, with its ids and weights, as a file.
#include "cli/choice.hpp"
#include "cli/printed_lines.hpp"
#include "commands/convert/conversion.hpp"
#include "commands/subgraph/selection.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"
#include "placement/weighted_input.hpp"

#include <spargo/graph/structure.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace spargo::apps {

namespace {

struct subgraph_flags : graph_flags {
  std::vector<std::string> ids;  // a file, or none
  std::string ego;
  std::int64_t radius = -1;  // -1: not given
  std::string component;
  std::int64_t k = -1;
  std::string to;  // empty: by the name of `output`

  [[nodiscard]] vertex_selection selection() const {
    if (!ids.empty()) return vertex_selection::ids;
    if (!ego.empty()) return vertex_selection::ego;
    if (!component.empty()) return vertex_selection::component;
    return k >= 0 ? vertex_selection::k_core : vertex_selection::all;
  }
};

// For the estimate: the part of the plan, and its copy for the report and --output, with weights as double.
struct subgraph_options {
  vertex_selection selection = vertex_selection::all;
};
plan_estimate estimate(const graph_shape& shape, const subgraph_options& options) {
  const std::int64_t part = shape.rows_bytes() + shape.entries * shape.value_bytes + shape.vertices * shape.index_bytes;
  const std::int64_t copy = shape.entries * (shape.index_bytes + std::int64_t{sizeof(double)}) +
                            shape.vertices * (std::int64_t{sizeof(std::int64_t)} + shape.index_bytes);
  const bool searches = options.selection != vertex_selection::all && options.selection != vertex_selection::ids;
  return {
      .host_bytes = part + copy + (searches ? shape.vertices * 3 * shape.index_bytes + shape.missing_in_bytes() : 0),
      .host_seconds = 5e-9 * static_cast<double>(shape.entries + shape.vertices) / shape.threads};
}

// What the driver runs: selects the vertices and takes the edges between them.
template <class View>
class subgraph_plan {
 public:
  subgraph_plan(const context<host>& ctx, const View& g, vertex_selection selection)
      : ctx_(ctx), g_(g), selection_(selection) {}

  void run(const selected_by& by) {
    vertices_ = {};
    part_.reset();
    const auto& edges = edges_of(g_);
    vertices_ = select_vertices(ctx_, edges, by);
    part_ = induced_subgraph(ctx_, g_, vertices_.view());
  }

  [[nodiscard]] const auto& vertices() const { return vertices_; }
  [[nodiscard]] const auto& part() const { return *part_; }

  [[nodiscard]] vertex_selection algorithm() const { return selection_; }
  [[nodiscard]] std::string reason() const { return "as asked for"; }
  [[nodiscard]] std::int64_t workspace_bytes() const { return 0; }

 private:
  template <class W, class I, class O>
  static const graph_view<I, O, host>& edges_of(const weighted_graph_view<W, I, O, host>& g) {
    return g;
  }
  template <class W, class I, class O>
  static weighted_graph<W, I, O, host> part_of(const weighted_graph_view<W, I, O, host>&);
  template <class W, class I, class O>
  static array<I, host> vertices_of(const weighted_graph_view<W, I, O, host>&);

  const context<host>& ctx_;
  View g_;
  vertex_selection selection_;
  decltype(vertices_of(std::declval<const View&>())) vertices_;
  std::optional<decltype(part_of(std::declval<const View&>()))> part_;
};

// On a device, where this does not run.
struct no_subgraph_plan {
  void run(const selected_by&) {}
  [[nodiscard]] vertex_selection algorithm() const { return vertex_selection::all; }
  [[nodiscard]] std::string reason() const { return {}; }
  [[nodiscard]] std::int64_t workspace_bytes() const { return 0; }
};

struct subgraph_part : graph_algorithm {
  using flags_type = subgraph_flags;
  static constexpr const char* name = "subgraph";
  static constexpr const char* activity = "selecting";

  template <class I>
  struct result : checked {
    selected_by by;
    array<I, host> vertices;
    // The part in canonical form, an undirected edge both ways.
    array<std::int64_t, host> offsets;
    array<I, host> indices;
    array<double, host> weights;
    std::int64_t edges = 0;
    std::int64_t loops = 0;
    std::int64_t first_vertex = -1;  // of the input
    bool directed = true;
    bool integers = false;
    std::optional<context<host>> cpu;
  };

  static graph_command_text text() {
    return {
        "A part of a graph: reads it, selects vertices, and takes them with the edges between them, self-loops "
        "included. --output writes them with their ids and weights in any format that convert writes; of edges between "
        "the same vertices the lightest. Without a selection all vertices are taken.",
        {.table = {.columns = "",
                   .order = "",
                   .notes = "write the subgraph, in the format of FILE's name: .mtx, .spg, .el (no weights), .wel, "
                            ".csv, .txt, .tsv, .edges, .snap, .graph, .metis, .gml or .graphml (.gz after any but "
                            ".spg); -, with --to, is "
                            "standard output",
                   .lines = "edge (source target and, if FILE has weights, weight)"}},
        {"roads.gr --component largest --output main.spg", "friends.csv --ego alice --radius 2 --output near.csv",
         "web.mtx --k-core 5 --undirected --output core.mtx", "graph.el --ids wanted.txt --output part.el"}};
  }
  static void add_flags(flag_set app, subgraph_flags& flags) {
    app.add_option_function(
           "--ids",
           [&flags](const std::vector<std::string>& values) {
             for (const std::string& value : values) {
               const bool is_kind = value == "auto" || value == "integers" || value == "names";
               if (is_kind) flags.common.ids = value;
               if (!is_kind) flags.ids.push_back(value);
             }
           },
           "the vertices that FILE names, an id a line; auto, integers or names say what the graph's ids are, as in "
           "other commands")
        ->allow_extra_args(false)
        ->type_name("FILE");
    app.add_option("--ego", flags.ego, "the vertices within --radius edges of this one, along the edges")
        ->type_name("ID");
    app.add_option("--radius", flags.radius, "of --ego; default: 1")->check(count_from(0))->type_name("R");
    app.add_option("--component", flags.component,
                   "largest, or the component of this vertex; edges connect whatever their direction")
        ->type_name("ID");
    app.add_option("--k-core", flags.k, "the largest part in which every vertex has K neighbours or more")
        ->check(count_from(0))
        ->type_name("K");
    app.add_option("--to", flags.to, "the format of --output, whatever its name")
        ->check(one_of("a format", {"mtx", "el", "wel", "csv", "tsv", "spg", "metis"}))
        ->type_name("FORMAT");
  }
  static void check_flags(const subgraph_flags& flags) {
    const int given = (flags.ids.empty() ? 0 : 1) + (flags.ego.empty() ? 0 : 1) + (flags.component.empty() ? 0 : 1) +
                      (flags.k < 0 ? 0 : 1);
    if (flags.ids.size() > 1) throw usage_error("--ids: expected one file");
    if (given > 1) throw usage_error("expected one of --ids, --ego, --component and --k-core");
    if (flags.radius >= 0 && flags.ego.empty()) throw usage_error("--radius: expected --ego ID with it");
    const bool prints = prints_lines(flags);
    if (!flags.to.empty() && (flags.output.empty() || prints)) throw usage_error("--to: expected --output FILE");
    if (!flags.output.empty() && !prints) (void)choose_target(flags.output, flags.to);
  }
  static std::string algorithm(const subgraph_flags& flags) { return std::string(to_string(flags.selection())); }
  static bool reads_weights(const subgraph_flags&) { return true; }
  static std::vector<std::string> other_inputs(const subgraph_flags& flags) { return flags.ids; }

  static graph_work work(const subgraph_flags&) {
    // R-MAT 20, degree 16, all vertices: 160 ms by one thread.
    return {.loops = self_loops::keep,
            .runs_on_gpu = false,
            .cpu_ns = 5,
            .results = {0, 1},
            .edge_bytes = sizeof(std::int32_t)};
  }
  static subgraph_options options(const subgraph_flags& flags) { return {flags.selection()}; }

  static auto load(const subgraph_flags& flags, const graph_work& work) {
    weight_choice choice;
    choice.signs = weight_signs::any;
    return load_weighted(flags, work, choice);
  }
  template <class W, index_type I, index_type O>
  static void report_input(report& out, const placed_weighted_input& read, const placed_weighted_graph<W, I, O>&) {
    report_weights<W>(out, read);
  }

  template <class W, index_type I, index_type O>
  static void prepare(const subgraph_flags& flags, const input_facts& facts, const placed_weighted_graph<W, I, O>& g,
                      auto& found) {
    found.by.selection = flags.selection();
    if (!flags.ids.empty()) found.by.ids = read_vertex_ids(flags.ids.front(), facts.names);
    if (!flags.ego.empty()) found.by.vertex = expect_vertex(facts.names, "--ego", flags.ego);
    if (!flags.component.empty() && flags.component != "largest") {
      found.by.vertex = expect_vertex(facts.names, "--component", flags.component, ", or largest");
    }
    found.by.radius = flags.radius < 0 ? 1 : flags.radius;
    found.by.k = flags.k;
    found.first_vertex = facts.first_vertex;
    found.directed = g.direction() == direction_kind::directed;
    found.integers = std::is_integral_v<W>;
  }
  template <class Space, class View>
  static auto make_plan(const context<Space>& ctx, const View& g, const subgraph_flags& flags) {
    if constexpr (std::same_as<Space, host>) {
      return subgraph_plan<View>(ctx, g, flags.selection());
    } else {
      throw error(error_code::unsupported, "subgraph: it runs on the CPU only (expected --device cpu)");
      return no_subgraph_plan();
    }
  }
  static auto runner(const auto& /*ctx*/, auto& plan, const auto& found) {
    return [&plan, &by = found.by] { plan.run(by); };
  }
  template <class Done>
  static void fetch(const Done& done, const subgraph_flags&, auto& found) {
    if constexpr (requires { done.plan.part(); }) {
      found.cpu = done.cpu;
      found.vertices = clone(done.cpu, done.plan.vertices().view());
      const auto part = done.plan.part().view();
      found.offsets = {done.cpu, part.out.offsets.size()};
      std::copy(part.out.offsets.begin(), part.out.offsets.end(), found.offsets.begin());
      found.indices = clone(done.cpu, part.out.indices);
      found.weights = {done.cpu, part.out_weights.size()};
      std::copy(part.out_weights.begin(), part.out_weights.end(), found.weights.begin());
      found.edges = done.plan.part().edges();
      for (std::int64_t v = 0; v < part.out.rows; ++v) {
        const auto* const row = part.out.indices.data();
        found.loops += std::count(row + part.out.offsets[v], row + part.out.offsets[v + 1], v);
      }
      found.edges -= found.loops;
    }
  }

  // The subgraph has every edge between selected vertices once, with its weight, and no others.
  template <class W, index_type I, index_type O>
  static std::string check(const context<host>&, const placed_weighted_graph<W, I, O>& placed, const subgraph_flags&,
                           const auto& found) {
    const weighted_graph_view<W, I, O, host> g = placed.view();
    const graph_view<I, O, host>& edges = g;
    std::string fault = check_selection(edges, found.by, found.vertices.view());
    if (!fault.empty()) return fault;
    std::int64_t e = 0;  // of the part
    std::int64_t loops = 0;
    for (std::int64_t k = 0; k < found.vertices.size(); ++k) {
      if (found.offsets[k] != e)
        return fmt::format("the row of vertex {} of the subgraph begins at {} (expected {})", k, found.offsets[k], e);
      const I u = found.vertices[k];
      for (O old = g.out.offsets[u]; old < g.out.offsets[std::int64_t{u} + 1]; ++old) {
        const I* const end = found.vertices.end();
        const I* const at = std::lower_bound(found.vertices.begin(), end, g.out.indices[old]);
        if (at == end || *at != g.out.indices[old]) continue;
        if (e == found.indices.size() || found.indices[e] != at - found.vertices.begin() ||
            found.weights[e] != static_cast<double>(g.out_weights[old])) {
          return fmt::format("the edge from vertex {} to {} is not in the subgraph as it is in the graph", u, *at);
        }
        loops += u == *at ? 1 : 0;
        ++e;
      }
    }
    if (e != found.indices.size()) return "the subgraph has edges that the graph lacks";
    const std::int64_t counted = found.directed ? e - loops : (e - loops) / 2;
    return counted == found.edges ? "" : fmt::format("the subgraph has {} edges (expected {})", found.edges, counted);
  }
  static std::string how_checked(const subgraph_flags&, const auto&) { return "selected again, edge by edge"; }

  static void report_result(report& out, const subgraph_flags& flags, const vertex_names&, const auto& found) {
    json& keys = out.keys();
    keys["graph_vertices"] = keys["vertices"];
    keys["graph_edges"] = keys["edges"];
    keys["graph_self_loops"] = keys["self_loops"];
    keys["vertices"] = found.vertices.size();
    keys["edges"] = found.edges;
    keys["self_loops"] = found.loops;
    keys["selection"] = to_string(flags.selection());
    const std::string loops = found.loops > 0 ? fmt::format(", {}", counted(found.loops, "self-loop")) : "";
    out.row("subgraph", fmt::format("{}, {}{}", counted(found.vertices.size(), "vertex", "vertices"),
                                    counted(found.edges, found.directed ? "directed edge" : "edge"), loops));
  }

  // An undirected edge has one line; a vertex without edges has none, and a warning says so.
  template <class I>
  static void print_edges(report& out, const subgraph_flags& flags, const vertex_names& names, const result<I>& found,
                          bool weighted) {
    vertex_order sources;
    vertex_order places;  // in found.indices
    std::vector<bool> listed(static_cast<std::size_t>(found.vertices.size()));
    for (std::int64_t u = 0; u < found.vertices.size(); ++u) {
      for (std::int64_t k = found.offsets[u]; k < found.offsets[u + 1]; ++k) {
        const std::int64_t v = found.indices[k];
        listed[static_cast<std::size_t>(u)] = listed[static_cast<std::size_t>(v)] = true;
        if (!found.directed && v < u) continue;
        sources.push_back(u);
        places.push_back(k);
      }
    }
    const std::int64_t alone = std::count(listed.begin(), listed.end(), false);
    if (alone > 0) {
      out.warn(fmt::format("{}: {} no edges in the subgraph, and no line", flags.file,
                           counted(alone, "vertex has", "vertices have")));
    }
    print_lines(out, flags, weighted ? "source,target,weight" : "source,target", std::ssize(places),
                [&](std::int64_t e, table_writer& row) {
                  const std::int64_t k = places[static_cast<std::size_t>(e)];
                  row.label(names, found.vertices[sources[static_cast<std::size_t>(e)]]);
                  row.label(names, found.vertices[found.indices[k]]);
                  if (weighted) row.number(found.weights[k]);
                });
  }

  // As `convert` would write a file of this graph.
  template <class I>
  static void write(report& out, const subgraph_flags& flags, const vertex_names& names, const result<I>& found) {
    input_description input;
    input.path = flags.file;
    input.directed = found.directed;
    const bool weighted = out.keys().at("weights") == "file";
    if (prints_lines(flags)) return print_edges(out, flags, names, found, weighted);
    input.field = !weighted        ? matrix_market_field::pattern
                  : found.integers ? matrix_market_field::integer
                                   : matrix_market_field::real;
    input.symmetry = found.directed ? symmetry_kind::general : symmetry_kind::symmetric;
    convert_flags converting;
    converting.common = flags.common;
    converting.from = flags.file;
    converting.to = flags.output;
    const target to = choose_target(flags.output, flags.to);
    const conversion c{*found.cpu, converting, to, out, input};
    input_facts facts;
    facts.names = names_of_part(names, found.vertices);
    facts.first_vertex = first_vertex_of(found);
    const auto n = static_cast<I>(found.vertices.size());
    facts.stored = facts.expanded = found.indices.size();
    with_offset<I>(found.indices.size(), [&]<class O>(type_tag<O>) {
      array<O, host> offsets(*found.cpu, found.offsets.size());
      std::copy(found.offsets.begin(), found.offsets.end(), offsets.begin());
      const csr_pattern_view<I, O, host> rows{n, n, offsets.view(), found.indices.view()};
      if (weighted) {
        (void)write_canonical<double, I, O>(c, {rows, found.weights.view()}, facts);
      } else {
        (void)write_canonical<pattern, I, O>(c, {rows, {}}, facts);
      }
    });
    out.keys()["output"] = flags.output;
    out.keys()["to"] = to.format;
    out.row("written", fmt::format("{} ({})", flags.output, to.format));
  }

  // Rows of a matrix are renumbered; text formats keep the ids.
  template <class I>
  static vertex_names names_of_part(const vertex_names& names, const array<I, host>& vertices) {
    vertex_names part;
    part.vertices = vertices.size();
    if (!names.are_integers()) {
      std::vector<std::string_view> kept;
      for (const I v : vertices) kept.push_back(names.table.name(v));
      part.naming = vertex_naming::names;
      part.table = vertex_name_table(context<host>({.threads = 1}), kept);
      return part;
    }
    part.naming = vertex_naming::listed;
    for (const I v : vertices) part.ids.push_back(names.id(v));
    return part;
  }
  // The input's, where it is there and has edges; else the first one with edges.
  template <class I>
  static std::int64_t first_vertex_of(const result<I>& found) {
    const auto has_edges = [&](std::int64_t v) { return found.offsets[v] < found.offsets[v + 1]; };
    const I* const at = std::lower_bound(found.vertices.begin(), found.vertices.end(), found.first_vertex);
    const std::int64_t kept = at - found.vertices.begin();
    if (at != found.vertices.end() && *at == found.first_vertex && has_edges(kept)) return kept;
    std::int64_t v = 0;
    while (v < found.vertices.size() && !has_edges(v)) ++v;
    return v < found.vertices.size() ? v : -1;
  }
};

}  // namespace

extern const command subgraph_command = graph_command<subgraph_part>("a part of a graph, as a file");

}  // namespace spargo::apps
