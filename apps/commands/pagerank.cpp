// pagerank FILE: PageRank of a graph's vertices.
#include "cli/enum_words.hpp"
#include "cli/shortest.hpp"
#include "commands/table.hpp"
#include "placement/centrality_input.hpp"

#include <spargo/graph/pagerank.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace spargo::apps {

namespace {

struct pagerank_flags : graph_flags {
  std::string algorithm = "auto";
  double damping = 0.85;
  double tolerance = 1e-6;
  std::int64_t max_iterations = 1000;
  std::int64_t iterations = 0;           // 0: to the tolerance
  std::string dangling;                  // empty: by the personalization if there is one, else uniform
  std::vector<std::string> personalize;  // lists of labels
  std::string weights;                   // empty: every edge counts the same
  std::string precision = "fp64";

  [[nodiscard]] bool over_weights() const { return !weights.empty(); }
  [[nodiscard]] bool in_fp32() const { return precision == "fp32"; }
  [[nodiscard]] std::int64_t rank_bytes() const { return in_fp32() ? 4 : 8; }
};

// Options of a plan whose ranks have this size.
struct sized_options : pagerank_options {
  std::int64_t rank_bytes = sizeof(double);
};
plan_estimate estimate(graph_shape shape, const sized_options& options) {
  shape.value_bytes = options.rank_bytes;
  return estimate(shape, static_cast<const pagerank_options&>(options));
}

pagerank_options options_of(const pagerank_flags& flags) {
  pagerank_options options;
  options.algorithm = parse_pagerank_algorithm(flags.algorithm);
  options.damping = flags.damping;
  options.tolerance = flags.tolerance;
  options.max_iterations = flags.max_iterations;
  options.iterations = flags.iterations;
  if (flags.dangling == "uniform") options.dangling = pagerank_dangling::uniform;
  if (flags.dangling == "drop") options.dangling = pagerank_dangling::drop;
  return options;
}

// One at each vertex named, 0 elsewhere; empty where none is named.
std::vector<double> preferences(const pagerank_flags& flags, const vertex_names& names) {
  std::vector<double> values;
  if (flags.personalize.empty()) return values;
  values.resize(static_cast<std::size_t>(names.vertices));
  for (const std::string& label : split_labels(flags.personalize)) {
    values[static_cast<std::size_t>(expect_vertex(names, "--personalize", label))] = 1;
  }
  return values;
}

// Plans of both precisions; the one asked for is made.
template <class Plan>
struct of_precision;
template <class I, class O, class Space>
struct of_precision<pagerank_plan<double, I, O, Space>> {
  using narrow = pagerank_plan<float, I, O, Space>;
  using either = either_plan<pagerank_plan<double, I, O, Space>, narrow>;
};

struct ranking : graph_algorithm {
  using flags_type = pagerank_flags;
  static constexpr const char* name = "pagerank";
  static constexpr const char* activity = "ranking";
  static constexpr std::string_view columns = "id,rank";

  template <class>
  struct result : checked, pagerank_result<double, host> {
    std::vector<double> personalization;
  };

  static graph_command_text text() {
    return {
        "PageRank of a graph: reads it, ranks its vertices on the CPU or the GPU, times and checks it. Self-loops "
        "count, as in networkx; \"edges\" does not count them.",
        {{.columns = columns, .order = "largest rank first", .report_list = "top"}},
        {"wiki-Vote.txt.gz", "links.el --personalize 17,23 --output ranks.txt",
         "coauthors.wel --weights file --json report.json",
         "gen:rmat:scale=20,degree=16 --undirected --precision fp32"}};
  }
  static void add_flags(flag_set app, pagerank_flags& flags) {
    app.add_option("--damping", flags.damping, "the share of the steps that follow edges, 0 or more and below 1")
        ->type_name("D")
        ->capture_default_str();
    app.add_option("--tolerance", flags.tolerance, "stop when one step changes the ranks by at most X in total")
        ->type_name("X")
        ->capture_default_str();
    const auto most = app.add_option("--max-iterations", flags.max_iterations, "maximum number of iterations");
    most->check(positive_count())->type_name("N")->capture_default_str();
    app.add_option("--iterations", flags.iterations, "run exactly N iterations, whatever the tolerance")
        ->check(positive_count())
        ->type_name("N")
        ->excludes(most);
    app.add_option(
           "--dangling", flags.dangling,
           "where the rank of vertices without out-edges goes: uniform (to all) or drop; default: uniform, with "
           "--personalize to the vertices named there")
        ->check(one_of("a rule", {"uniform", "drop"}))
        ->type_name("NAME");
    app.add_option("--personalize,--personalise", flags.personalize,
                   "restart at these vertices only; ids or names as the file writes them")
        ->type_name("ID,...");
    add_weights_flag(app, flags.weights,
                     "divide a vertex's rank in proportion to the weights of its edges: file, unit or random[:SEED] "
                     "(integers 1 to 255, the same both ways); default: equally");
    add_choice(app, "--precision", flags.precision,
               "of ranks and their sums: fp64, or fp32, which is faster and does not reach small tolerances",
               "a precision", {"fp32", "fp64"});
    add_algorithm_flag<pagerank_algorithm>(app, flags.algorithm);
  }
  static void check_flags(const pagerank_flags& flags) {
    (void)split_labels(flags.personalize);
    (void)parse_weights(flags.weights);
    if (!(flags.damping >= 0 && flags.damping < 1)) {
      throw usage_error(fmt::format("--damping: {} (expected at least 0 and below 1)", flags.damping));
    }
    if (!(flags.tolerance >= 0 && flags.tolerance <= 1)) {
      throw usage_error(fmt::format("--tolerance: {} (expected 0 to 1)", flags.tolerance));
    }
    if (flags.iterations > 0 && flags.algorithm == "gauss_seidel") {
      throw usage_error("--iterations: their number is defined for jacobi only (expected no --algorithm gauss_seidel)");
    }
  }
  static std::string algorithm(const pagerank_flags& flags) { return flags.algorithm; }

  static graph_work work(const pagerank_flags& flags) {
    const auto steps = static_cast<double>(flags.iterations > 0 ? flags.iterations : 10);
    return {.wanted = flags.over_weights() ? in_edges::omit : in_edges::build,
            .loops = self_loops::keep,
            .runs_on_gpu = flags.algorithm != "gauss_seidel",
            .cpu_ns = 4.5 * steps,  // R-MAT 22 with 16 threads: 76 ms, 8 iterations
            .results = {flags.rank_bytes(), 0},
            .edge_bytes = flags.over_weights() ? std::int64_t{sizeof(std::int32_t)} : std::int64_t{0}};
  }
  static sized_options options(const pagerank_flags& flags) { return {options_of(flags), flags.rank_bytes()}; }
  static bool reads_weights(const pagerank_flags& flags) { return flags.weights == "file"; }

  static centrality_input load(const pagerank_flags& flags, const graph_work& work) {
    return load_centrality(flags, work, flags.weights);
  }
  static void report_input(report& out, const centrality_input& read, const auto& /*g*/) {
    report_centrality_weights(out, read);
  }

  static void prepare(const pagerank_flags& flags, const input_facts& facts, const auto&, auto& found) {
    found.personalization = preferences(flags, facts.names);
  }
  static auto make_plan(const auto& ctx, const auto& g, const pagerank_flags& flags) {
    using chosen = of_precision<decltype(pagerank_plan(ctx, g, options_of(flags)))>;
    using plan = typename chosen::either;
    if (flags.in_fp32()) return plan(typename chosen::narrow(ctx, g, options_of(flags)));
    return plan(pagerank_plan(ctx, g, options_of(flags)));
  }
  template <class Space>
  static auto runner(const context<Space>& ctx, auto& plan, const auto& found) {
    const auto run = [&plan](span<const double, Space> wide, span<const float, Space> narrow) {
      if (auto* in_fp64 = std::get_if<0>(&plan)) {
        in_fp64->run(wide);
      } else {
        std::get<1>(plan).run(narrow);
      }
    };
    const span<const double, host> wide = found.personalization;
    const std::vector<float> narrow = narrowed(wide);  // 0 or 1 each
    return [run, wide = copy_from_host(ctx, wide), narrow = copy_from_host(ctx, span<const float, host>(narrow))] {
      run(wide.view(), narrow.view());
    };
  }
  static double printed_fp32(double rank) { return as_printed(static_cast<float>(rank)); }
  static std::vector<float> narrowed(span<const double, host> values) {
    std::vector<float> narrow(static_cast<std::size_t>(values.size()));
    std::transform(values.begin(), values.end(), narrow.begin(),
                   [](double value) { return static_cast<float>(value); });
    return narrow;
  }
  static void fetch(const auto& done, const pagerank_flags&, auto& found) {
    const auto from = [&](const auto& plan) {
      auto ranks = done.copy(plan.ranks());
      if constexpr (std::is_same_v<decltype(ranks), array<double, host>>) {
        found.ranks = std::move(ranks);
      } else {
        found.ranks = array<double, host>(done.cpu, ranks.size());
        std::copy(ranks.begin(), ranks.end(), found.ranks.begin());
      }
      found.iterations = plan.iterations();
      found.residual = plan.residual();
      found.converged = plan.converged();
    };
    if constexpr (requires { done.plan.ranks(); }) {  // of several processes
      from(done.plan);
    } else {
      done.plan.visit(from);
    }
  }
  // One that ended early is as good as its last step says.
  static std::string check(const context<host>& cpu, const auto& g, const pagerank_flags& flags, const auto& found) {
    pagerank_options options = options_of(flags);
    options.tolerance = std::max(options.tolerance, found.residual);
    const auto check_in = [&]<class V>(span<const V, host> ranks, span<const V, host> personalization) {
      if constexpr (requires { g.edges_only(); }) {
        return check_pagerank<V>(cpu, g.view(), ranks, options, personalization);
      } else {
        return check_pagerank<V>(cpu, g.out_view(), ranks, options, personalization);
      }
    };
    const span<const double, host> ranks = found.ranks.view(), personalization = found.personalization;
    if (!flags.in_fp32()) return check_in(ranks, personalization);
    const std::vector<float> narrow_ranks = narrowed(ranks), narrow_personalization = narrowed(personalization);
    return check_in(span<const float, host>(narrow_ranks), span<const float, host>(narrow_personalization));
  }
  static std::string how_checked(const pagerank_flags&, const auto&) { return "checked independently"; }

  static void report_result(report& out, const pagerank_flags& flags, const vertex_names& names, const auto& found) {
    auto& keys = out.keys();
    keys["precision"] = flags.precision;
    keys["iterations"] = found.iterations;
    keys["residual"] = found.residual;
    keys["converged"] = found.converged;
    double sum = 0;
    for (const double rank : found.ranks) sum += rank;
    keys["sum"] = sum;
    if (flags.in_fp32()) out.row("precision", "fp32");
    out.row("iterations", fmt::format("{}, the last one changed the ranks by {:.3g}{}", found.iterations,
                                      found.residual, found.converged ? "" : ": NOT CONVERGED"));
    if (!found.converged && flags.iterations == 0) warn_not_converged(out, found.iterations, found.residual);
    report_highest(out, names, found.ranks.view(), flags.listed());
    if (!flags.in_fp32()) return;
    for (json& entry : keys["top"]) entry[1] = printed_fp32(entry[1].template get<double>());
  }
  static void write(report& out, const pagerank_flags& flags, const vertex_names& names, const auto& found) {
    if (!flags.in_fp32()) return write_values(out, flags, names, columns, found.ranks.view());
    std::vector<double> printed(static_cast<std::size_t>(found.ranks.size()));
    std::transform(found.ranks.begin(), found.ranks.end(), printed.begin(), printed_fp32);
    write_values(out, flags, names, columns, span<const double, host>(printed));
  }

  static constexpr bool ranks = true;
  static constexpr const char* ranks_algorithm = "jacobi";
  static void check_ranks_flags(const pagerank_flags& flags) {
    if (!flags.personalize.empty()) throw usage_error("--personalize: not on several processes or GPUs");
    if (flags.over_weights()) throw usage_error("--weights: not on several processes or GPUs");
    if (flags.in_fp32()) throw usage_error("--precision fp32: not on several processes or GPUs");
    if (flags.algorithm == "gauss_seidel") {
      throw usage_error("--algorithm gauss_seidel: several processes or GPUs have jacobi only");
    }
  }
  // Rows, four numbers a vertex, and contributions of ghosts to send and to receive.
  static std::int64_t rank_bytes(const rank_share& own) { return own.rows * 44 + own.in_entries * 4 + own.ghosts * 36; }
  template <class Space, class I>
  static auto make_ranks_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I>& g,
                              const pagerank_flags& flags) {
    return distributed_pagerank_plan<I, Space>(comm, ctx, g, options_of(flags));
  }
  static std::string check_on_ranks(const communicator& comm, const context<host>& cpu, const auto& g,
                                    const pagerank_flags& flags, const auto& found) {
    return check_pagerank(comm, cpu, g, found, options_of(flags));
  }
  static std::string ranks_reason(const auto&) { return "all ranks of a step from those of the step before"; }
  static auto& values(auto& found) { return found.ranks; }
};

}  // namespace

extern const command pagerank_command = graph_command<ranking>("ranks of a graph's vertices");

}  // namespace spargo::apps
