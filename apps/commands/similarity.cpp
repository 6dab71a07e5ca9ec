// similarity FILE: similarity of the vertices of a graph by their neighbours.
#include "cli/choice.hpp"
#include "cli/enum_words.hpp"
#include "cli/vertex_table.hpp"
#include "commands/graph/vertex_pairs.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"

#include <spargo/graph/similarity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace spargo::apps {

namespace {

struct similarity_flags : graph_flags {
  std::string measure = "jaccard";
  std::string pairs = "edges";

  [[nodiscard]] similarity_options options() const {
    return {.measure = parse_similarity_measure(measure), .top = top};
  }
  [[nodiscard]] bool gives_pairs() const { return pairs != "edges"; }
  [[nodiscard]] similarity_pairs kind() const {
    if (top > 0) return similarity_pairs::top;
    return gives_pairs() ? similarity_pairs::given : similarity_pairs::edges;
  }
};

struct similarity : graph_algorithm {
  using flags_type = similarity_flags;
  static constexpr const char* name = "similarity";
  static constexpr const char* activity = "comparing neighbours";
  static constexpr std::string_view columns = "source,target,value";

  template <class I>
  struct result : checked, vertex_pairs<I> {  // before the run, those of the file
    array<double, host> values;
    mutable std::int64_t compared = 0;
  };

  static graph_command_text text() {
    return {
        "Similarity of vertices by their neighbours: of the ends of every edge, of the pairs of a file, or the most "
        "similar vertices of each one. Reads the graph, computes the values on the CPU or the GPU, times and checks "
        "them. In a directed graph out-neighbours are compared. Self-loops do not count.",
        {.table = {.columns = columns,
                   .order = "largest value first",
                   .lines = "pair",
                   .top = "for each vertex the K most similar ones among all that have a common neighbour with it, "
                          "instead of the ends of every edge"}},
        {"friends.el --output jaccard.csv --sort", "friends.el --measure adamic-adar --pairs candidates.el",
         "gen:rmat:scale=16,degree=16 --undirected --top 10 --json -"}};
  }
  static void add_flags(flag_set app, similarity_flags& flags) {
    app.add_option("--measure", flags.measure,
                   "jaccard, overlap, sorensen, cosine, adamic-adar, resource-allocation or common-neighbors")
        ->check(one_of("a measure", words_of<similarity_measure>()))
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--pairs", flags.pairs, "edges, or a file with a pair of vertices a line, as an edge list")
        ->check(suggests({"edges"}))
        ->type_name("FILE|edges")
        ->capture_default_str();
  }
  static void check_flags(const similarity_flags& flags) {
    if (flags.top > 0 && flags.gives_pairs()) {
      throw usage_error("--top and --pairs: the most similar vertices are found among all (expected one of them)");
    }
  }

  static graph_work work(const similarity_flags& flags) {
    // One thread: R-MAT 20, degree 16, and the top 10 of R-MAT 16.
    const bool top = flags.top > 0;
    return {.wanted = top ? in_edges::build : in_edges::omit,
            .runs_on_gpu = flags.top <= 1024,  // the device's limit
            .cpu_ns = top ? 1500.0 : 100.0,
            .results = {0, top ? 4 * flags.top : 0},
            .edge_bytes = 0};
  }
  static similarity_options options(const similarity_flags& flags) { return flags.options(); }
  static std::vector<std::string> other_inputs(const similarity_flags& flags) {
    if (!flags.gives_pairs()) return {};
    return {flags.pairs};
  }

  template <class I>
  static void prepare(const similarity_flags& flags, const input_facts& facts, const auto&, result<I>& found) {
    vertex_pairs<I>& pairs = found;
    if (flags.gives_pairs()) pairs = read_vertex_pairs<I>("--pairs", flags.pairs, facts.names);
  }
  template <class Space, index_type I, index_type O>
  static auto make_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const similarity_flags& flags,
                        const result<I>& found) {
    using plan = similarity_plan<I, O, Space>;
    if (!flags.gives_pairs()) return plan(ctx, g, flags.options());
    const auto placed = [&](const auto& values) { return copy_from_host(ctx, values.view()); };
    return plan(ctx, g, placed(found.sources).view(), placed(found.targets).view(), flags.options());
  }
  static void fetch(const auto& done, const similarity_flags&, auto& found) {
    found.sources = done.copy(done.plan.sources());
    found.targets = done.copy(done.plan.targets());
    found.values = done.copy(done.plan.values());
  }
  static std::string check(const context<host>& cpu, const auto& g, const similarity_flags& flags, const auto& found) {
    const auto verdict =
        check_similarity(cpu, g.view(), {found.sources, found.targets, found.values}, flags.kind(), flags.options());
    found.compared = verdict.checked;
    return verdict.fault;
  }
  static std::string how_checked(const similarity_flags& flags, const auto& found) {
    if (flags.top > 0) return fmt::format("{} found again", counted(found.compared, "list"));
    return fmt::format("{} computed again", counted(found.compared, "value"));
  }

  // The first five by (u, v): those of the first vertices.
  static json first_values(const vertex_names& names, const auto& found) {
    constexpr std::int64_t wanted = 5;
    std::int64_t last = std::min(wanted, found.values.size());
    while (last < found.values.size() && found.sources[last] == found.sources[last - 1]) ++last;
    std::vector<std::int64_t> order(static_cast<std::size_t>(last));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return std::pair(found.sources[a], found.targets[a]) < std::pair(found.sources[b], found.targets[b]);
    });
    json first = json::array();
    for (const std::int64_t k : order) {
      if (std::ssize(first) == wanted) break;
      first.push_back({to_json(names, found.sources[k]), to_json(names, found.targets[k]), found.values[k]});
    }
    return first;
  }
  static void report_result(report& out, const similarity_flags& flags, const vertex_names& names, const auto& found) {
    json& keys = out.keys();
    const double sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
    keys["measure"] = flags.measure;
    keys["pairs"] = found.values.size();
    keys["sum"] = sum;
    keys["first"] = first_values(names, found);
    out.row("similarity", fmt::format("{} of {}", flags.measure, counted(found.values.size(), "pair")));
    out.row("sum", fmt::format("{:.6g}", sum));
    for (const json& one : keys["first"]) {
      out.row(&one == &keys["first"].front() ? "first" : "",
              fmt::format("{} {} {:.6g}", json_text(one[0]), json_text(one[1]), one[2].template get<double>()));
    }
  }
  static void write(report& out, const similarity_flags& flags, const vertex_names& names, const auto& found) {
    table_flags all_lines = flags;
    all_lines.top = 0;  // which limits pairs per vertex
    write_edge_values(out, all_lines, names, columns, found.sources, found.targets, found.values);
  }
};

}  // namespace

extern const command similarity_command = graph_command<similarity>("similarity of vertices by their neighbours");

}  // namespace spargo::apps
