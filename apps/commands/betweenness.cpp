// betweenness FILE: how many shortest paths lead through each vertex.
#include "cli/enum_words.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"
#include "placement/graph_sources.hpp"

#include <spargo/graph/betweenness.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace spargo::apps {

namespace {

struct check_tuning {
  // That an entry or vertex costs the check for each source: one thread, R-MAT 16 on a busy machine, 3 to 17 elsewhere.
  static constexpr double entry_ns = 9;
  static constexpr double long_ms = 2000;
  static constexpr std::int64_t least_sources = 64;
};

struct betweenness_flags : graph_flags {
  betweenness_flags() { repeat = 0; }  // 3, or the first run alone where it is long

  std::string sources = "all";
  std::vector<std::string> source_list;  // lists of labels
  std::uint64_t seed = 1;
  std::string normalization = "none";
  bool endpoints = false;
  std::string algorithm = "auto";
  std::string check_sources = "auto";

  // 0: all.
  [[nodiscard]] std::int64_t sources_wanted() const {
    std::int64_t count = 0;
    if (sources != "all") (void)parse_integer(sources, count);
    return count;
  }
};

betweenness_options options_of(const betweenness_flags& flags) {
  betweenness_options options;
  options.normalization =
      parse_enum<betweenness_normalization>("--normalization: unknown normalization", flags.normalization);
  if (flags.endpoints) options.endpoints = betweenness_endpoints::included;
  options.algorithm = parse_betweenness_algorithm(flags.algorithm);
  return options;
}

// Of the flags; none: all vertices.
template <index_type I, index_type O>
std::vector<I> sources_of(const betweenness_flags& flags, const input_facts& facts, const placed_graph<I, O>& g) {
  std::vector<I> sources;
  for (const std::string& label : split_labels(flags.source_list)) {
    sources.push_back(static_cast<I>(expect_vertex(facts.names, "--source-list", label)));
  }
  const std::int64_t wanted = flags.sources_wanted();
  if (!sources.empty() || wanted == 0) return sources;
  for (const std::int64_t v :
       choose_sources({fmt::format("random:{}", flags.seed), wanted, flags.file}, facts, out_degrees(g))) {
    sources.push_back(static_cast<I>(v));
  }
  return sources;
}

template <index_type I>
betweenness_sources<I> sources_to_run(const std::vector<I>& listed) {
  if (listed.empty()) return {};
  return listed;
}

// --check-sources; auto: as many as the check can do in 2 s and twice the time of the values. `size`: of the graph.
std::int64_t sources_to_check(const betweenness_flags& flags, std::int64_t sources, double size, int threads,
                              double run_ms) {
  if (flags.check_sources == "all") return sources;
  std::int64_t wanted = 0;
  if (parse_integer(flags.check_sources, wanted)) return std::min(sources, wanted);
  const double source_ms = check_tuning::entry_ns * 1e-6 * size / threads;
  const double most_ms = std::max(check_tuning::long_ms, 2 * run_ms);
  if (static_cast<double>(sources) * source_ms <= most_ms) return sources;
  return std::min(sources, std::max(check_tuning::least_sources, static_cast<std::int64_t>(most_ms / source_ms)));
}

// `count` of the sources, evenly spaced.
template <index_type I>
std::vector<I> sample_of(const std::vector<I>& sources, std::int64_t all, std::int64_t count) {
  std::vector<I> sample;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = k * (all / count) + k * (all % count) / count;
    sample.push_back(sources.empty() ? static_cast<I>(at) : sources[static_cast<std::size_t>(at)]);
  }
  return sample;
}

struct centrality : graph_algorithm {
  using flags_type = betweenness_flags;
  using progress = counted_work;
  static constexpr const char* name = "betweenness";
  static constexpr const char* activity = "counting shortest paths";
  static constexpr std::string_view columns = "id,value";

  template <class I>
  struct result : checked, betweenness_result<host> {
    std::vector<I> listed;  // sources; none: all vertices
    std::int64_t sources = 0;
    double size = 0;                    // vertices and entries of the graph
    std::int64_t checked_sources = 0;   // all, or a sample
    array<double, host> sample_values;  // from those of a sample alone
  };

  static graph_command_text text() {
    return {
        "Betweenness centrality of a graph: how many of the shortest paths lead through each vertex. Reads the "
        "graph, finds the values on the CPU or a GPU, times and checks them.",
        {{.columns = columns, .order = "largest value first", .report_list = "top"},
         "skip the independent check, which takes longer than the values",
         "timed runs; default: 3, or the first alone where it takes over a second"},
        {"dolphins.mtx --normalization pairs", "roads.mtx --sources 64 --output values.txt",
         "gen:rmat:scale=20,degree=16 --undirected --sources 4"}};
  }
  static void add_flags(flag_set app, betweenness_flags& flags) {
    const auto sources = app.add_option(
        "--sources", flags.sources, "all vertices, or K random ones with out-edges, distinct while there are enough");
    sources->check(suggests({"all"}))->type_name("K|all")->capture_default_str();
    app.add_option("--seed", flags.seed, "of the random sources")
        ->check(seed_number())
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--source-list", flags.source_list, "these sources; ids or names as the file writes them")
        ->type_name("ID,...")
        ->excludes(sources);
    add_choice(app, "--normalization", flags.normalization,
               "none (sums over the sources; with all vertices of an undirected graph each pair of ends counts once), "
               "pairs (over the number of pairs that could count) or max (over the largest value)",
               "a normalization", words_of<betweenness_normalization>());
    app.add_flag("--endpoints", flags.endpoints, "count paths for their first and last vertices, too");
    add_algorithm_flag<betweenness_algorithm>(app, flags.algorithm);
    app.add_option("--check-sources", flags.check_sources,
                   "check the values from K of the sources, and the sum of all; auto: all sources, unless that takes "
                   "over 2 s and twice the time of the values")
        ->check(suggests({"auto", "all"}))
        ->type_name("K|all|auto")
        ->capture_default_str();
  }
  static void check_flags(const betweenness_flags& flags) {
    std::int64_t count = 0;
    if (flags.sources != "all" && (!parse_integer(flags.sources, count) || count < 1)) {
      throw usage_error(fmt::format("--sources: {} (expected a number from 1, or all)", flags.sources));
    }
    const bool named = flags.check_sources == "auto" || flags.check_sources == "all";
    if (!named && (!parse_integer(flags.check_sources, count) || count < 1)) {
      throw usage_error(
          fmt::format("--check-sources: {} (expected a number from 1, all or auto)", flags.check_sources));
    }
    (void)split_labels(flags.source_list);
  }
  static std::string algorithm(const betweenness_flags& flags) { return flags.algorithm; }

  static graph_work work(const betweenness_flags& flags) {
    constexpr std::int64_t guessed = 1000;  // all vertices, before their number is known
    const std::int64_t wanted = flags.sources_wanted();
    const auto listed = std::ssize(split_labels(flags.source_list));
    const std::int64_t sources = listed > 0 ? listed : wanted > 0 ? wanted : guessed;
    return {.wanted = in_edges::build,
            .runs_on_gpu = flags.algorithm != "by_source",
            .cpu_ns = 9.0 * static_cast<double>(sources),  // R-MAT 22, 4 sources: 74 ms by 16 threads
            .results = {sizeof(double), 0}};
  }
  static constexpr bool follows_paths = true;
  static betweenness_options options(const betweenness_flags& flags) { return options_of(flags); }

  static void prepare(const betweenness_flags& flags, const input_facts& facts, const auto& g, auto& found) {
    found.listed = sources_of(flags, facts, g);
    found.sources = found.listed.empty() ? std::int64_t{g.vertices()} : std::ssize(found.listed);
    found.checked_sources = found.sources;
    found.size = static_cast<double>(g.entries() + g.vertices());
  }
  static auto make_plan(const auto& ctx, const auto& g, const betweenness_flags& flags) {
    return betweenness_plan(ctx, g, options_of(flags));
  }
  static auto runner(const auto&, auto& plan, const auto& found) {
    return [&] { plan.run(sources_to_run(found.listed)); };
  }
  static void fetch(const auto& done, const betweenness_flags& flags, auto& found) {
    found.values = done.copy(done.plan.values());
    if (flags.no_validate) return;
    found.checked_sources =
        sources_to_check(flags, found.sources, found.size, done.cpu.threads(), done.runs.times.median);
    if (found.checked_sources == found.sources) return;
    done.plan.run(sample_of(found.listed, found.sources, found.checked_sources));
    found.sample_values = done.copy(done.plan.values());
  }
  // All values again; or those of a sample, and the sum of all.
  static std::string check(const context<host>& cpu, const auto& g, const betweenness_flags& flags, const auto& found) {
    const betweenness_options options = options_of(flags);
    const auto sources = sources_to_run(found.listed);
    if (found.checked_sources == found.sources) {
      return check_betweenness(cpu, g.out_view(), found.values, sources, options);
    }
    const std::string fault = check_betweenness(cpu, g.out_view(), found.sample_values,
                                                sample_of(found.listed, found.sources, found.checked_sources), options);
    if (!fault.empty() || options.normalization == betweenness_normalization::by_maximum) return fault;
    return check_betweenness_sum(cpu, g.out_view(), found.values, sources, options);
  }
  static std::string how_checked(const betweenness_flags& flags, const auto& found) {
    if (found.checked_sources == found.sources) return "checked independently by Brandes' algorithm";
    return fmt::format("checked independently by Brandes' algorithm from {} of {}{}",
                       with_commas(found.checked_sources), counted(found.sources, "source"),
                       flags.normalization == "max" ? "" : ", and the sum of all values with the distances");
  }

  static void report_result(report& out, const betweenness_flags& flags, const vertex_names& names, const auto& found) {
    double sum = 0;
    double squares = 0;
    for (const double value : found.values) {
      sum += value;
      squares += value * value;
    }
    auto& keys = out.keys();
    keys["sources"] = found.sources;
    keys["normalization"] = flags.normalization;
    keys["endpoints"] = flags.endpoints;
    keys["sum"] = sum;
    keys["sum_sq"] = squares;
    const std::string sources = with_commas(found.sources);
    out.row("sources", found.sources == names.vertices ? "all " + sources : sources);
    report_highest(out, names, found.values.view(), flags.listed());
    if (found.fault.has_value()) keys["checked_sources"] = found.checked_sources;
  }
  static void write(report& out, const betweenness_flags& flags, const vertex_names& names, const auto& found) {
    write_values(out, flags, names, columns, found.values.view());
  }
};

}  // namespace

extern const command betweenness_command = graph_command<centrality>("shortest paths through a graph's vertices");

}  // namespace spargo::apps
