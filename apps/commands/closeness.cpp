// closeness FILE: closeness, harmonic centrality and eccentricities of all vertices; diameter and radius.
#include "cli/choice.hpp"
#include "commands/table.hpp"
#include "placement/driver.hpp"
#include "placement/graph_sources.hpp"

#include <spargo/graph/closeness.hpp>
#include <spargo/graph/eccentricity.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <variant>

namespace spargo::apps {

namespace {

struct check_tuning {
  static constexpr double entry_ns = 9;  // one search of the check, per vertex or entry, by one thread
  static constexpr double long_ms = 1000;
  static constexpr std::int64_t least = 16;
  static constexpr std::int64_t most = 4096;
};

struct closeness_flags : graph_flags {
  closeness_flags() { repeat = 0; }  // 3, or the first run alone where it is long

  std::string sources;  // empty: all, as far as that is affordable for eccentricities
  std::uint64_t seed = 1;
  bool harmonic = false;
  bool eccentricity = false;
  bool diameter = false;

  [[nodiscard]] bool asks_distances() const { return eccentricity || diameter; }
  // 0: all.
  [[nodiscard]] std::int64_t sources_wanted() const {
    std::int64_t count = 0;
    if (sources != "all") (void)parse_integer(sources, count);
    return count;
  }
};

// Of eccentricities by default: 65,536 searches take seconds where all their vertices fit, and hours elsewhere.
constexpr std::int64_t most_expected = std::int64_t{1} << 16;

closeness_options closeness_of(const closeness_flags& flags) {
  return {.measure = flags.harmonic ? closeness_measure::harmonic : closeness_measure::closeness};
}
eccentricity_options eccentricity_of(const closeness_flags& flags) {
  return {.output = flags.eccentricity ? eccentricity_output::all : eccentricity_output::extremes,
          .max_searches = flags.sources_wanted() == 0 ? -1 : flags.sources_wanted(),
          .max_expected_searches = flags.sources.empty() ? most_expected : -1};
}

struct closeness_centralities : graph_algorithm {
  using flags_type = closeness_flags;
  using progress = counted_work;
  static constexpr const char* name = "closeness";
  static constexpr const char* activity = "searching from all vertices";
  static constexpr std::string_view columns = "id,value";
  static constexpr std::string_view bound_columns = "id,lower,upper";
  static constexpr bool follows_paths = true;

  template <class I>
  struct result : checked, closeness_result<host>, eccentricity_result<host> {
    std::vector<I> sources;     // none: all vertices
    std::int64_t searches = 0;  // of the check
    double size = 0;            // vertices and entries of the graph
  };

  static graph_command_text text() {
    return {
        "Closeness of a graph's vertices: how near the others are. Reads the graph, searches it from all vertices or a "
        "sample on the CPU or a GPU, times and checks the values. In a directed graph distances are those to a vertex, "
        "and eccentricities those from it.",
        {.table = {.columns = columns, .order = "largest value first", .report_list = "top"},
         .repeat = "timed runs; default: 3, or the first alone where it takes over a second"},
        {"dolphins.mtx", "roads.mtx --diameter", "friends.mtx --harmonic --sources 1000 --output values.csv"}};
  }
  static void add_flags(flag_set app, closeness_flags& flags) {
    app.add_option("--sources", flags.sources,
                   "search from all vertices (default), or estimate from K random ones with out-edges; with "
                   "--eccentricity or --diameter: report bounds after K searches; default: where over 65,536 more are "
                   "expected; all: never")
        ->check(suggests({"all"}))
        ->type_name("K|all");
    app.add_option("--seed", flags.seed, "of the random sources")
        ->check(seed_number())
        ->type_name("N")
        ->capture_default_str();
    const auto harmonic =
        app.add_flag("--harmonic", flags.harmonic, "harmonic centrality: the sum of inverse distances");
    app.add_flag("--eccentricity", flags.eccentricity,
                 "the largest distance from each vertex of the largest (strong) component; --output then takes bounds, "
                 "which are equal if exact")
        ->excludes(harmonic);
    app.add_flag("--diameter", flags.diameter, "only diameter and radius of the largest (strong) component")
        ->excludes(harmonic);
  }
  static void check_flags(const closeness_flags& flags) {
    std::int64_t count = 0;
    if (!flags.sources.empty() && flags.sources != "all" && (!parse_integer(flags.sources, count) || count < 1)) {
      throw usage_error(fmt::format("--sources: {} (expected a number from 1, or all)", flags.sources));
    }
  }

  static graph_work work(const closeness_flags& flags) {
    constexpr std::int64_t guessed = 1000;  // all vertices, before their number is known
    const std::int64_t wanted = flags.sources_wanted() > 0 ? flags.sources_wanted() : guessed;
    return {.wanted = in_edges::build,
            .cpu_ns = flags.asks_distances() ? 8 : 0.3 * static_cast<double>(wanted),
            .results = {sizeof(double), 0}};
  }
  static std::variant<closeness_options, eccentricity_options> options(const closeness_flags& flags) {
    if (flags.asks_distances()) return eccentricity_of(flags);
    return closeness_of(flags);
  }

  static void prepare(const closeness_flags& flags, const input_facts& facts, const auto& g, auto& found) {
    found.size = static_cast<double>(g.entries() + g.vertices());
    const std::int64_t wanted = flags.sources_wanted();
    if (wanted == 0 || wanted >= g.vertices() || flags.asks_distances()) return;
    using I = typename std::remove_cvref_t<decltype(found.sources)>::value_type;
    for (const std::int64_t v :
         choose_sources({fmt::format("random:{}", flags.seed), wanted, flags.file}, facts, out_degrees(g))) {
      found.sources.push_back(static_cast<I>(v));
    }
    std::sort(found.sources.begin(), found.sources.end());
    found.sources.erase(std::unique(found.sources.begin(), found.sources.end()), found.sources.end());
  }
  template <class I, class O, class Space>
  static auto make_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const closeness_flags& flags) {
    using plan = either_plan<closeness_plan<I, O, Space>, eccentricity_plan<I, O, Space>>;
    if (flags.asks_distances()) return plan(eccentricity_plan<I, O, Space>(ctx, g, eccentricity_of(flags)));
    return plan(closeness_plan<I, O, Space>(ctx, g, closeness_of(flags)));
  }
  template <class I>
  static closeness_sources<I> sources_of(const std::vector<I>& sources) {
    if (sources.empty()) return {};
    return sources;
  }
  static auto runner(const auto&, auto& plan, const auto& found) {
    return [&] {
      if (auto* centrality = std::get_if<0>(&plan)) {
        centrality->run(sources_of(found.sources));
      } else {
        std::get<1>(plan).run();
      }
    };
  }
  static void fetch(const auto& done, const closeness_flags& flags, auto& found) {
    if (flags.asks_distances()) {
      const auto& distances = std::get<1>(done.plan);
      found.lower = done.copy(distances.lower());
      found.upper = done.copy(distances.upper());
      found.summary = distances.summary();
    } else {
      found.values = done.copy(std::get<0>(done.plan).values());
    }
    const double search_ms = check_tuning::entry_ns * 1e-6 * std::max(found.size, 1.0) / done.cpu.threads();
    const double most_ms = std::max(check_tuning::long_ms, 2 * done.runs.times.median);
    const double affordable = std::min(most_ms / search_ms, static_cast<double>(check_tuning::most));
    found.searches = std::max(check_tuning::least, static_cast<std::int64_t>(affordable));
  }
  static std::string check(const context<host>& cpu, const auto& g, const closeness_flags& flags, const auto& found) {
    if (flags.asks_distances()) {
      return check_eccentricities(cpu, g.out_view(), found.lower, found.upper, found.summary, found.searches);
    }
    return check_closeness(cpu, g.out_view(), found.values, found.searches, sources_of(found.sources),
                           closeness_of(flags));
  }
  static std::string how_checked(const closeness_flags& flags, const auto& found) {
    const std::int64_t vertices = flags.asks_distances() ? found.lower.size() : found.values.size();
    return fmt::format("checked independently by searches from {}",
                       counted(std::min(vertices, found.searches), "vertex", "vertices"));
  }

  static void report_result(report& out, const closeness_flags& flags, const vertex_names& names, const auto& found) {
    if (flags.asks_distances()) {
      report_distances(out, flags, names, found);
      return;
    }
    auto& keys = out.keys();
    const std::int64_t sources = found.sources.empty() ? names.vertices : std::ssize(found.sources);
    keys["measure"] = flags.harmonic ? "harmonic" : "closeness";
    keys["sources"] = sources;
    keys["sum"] = std::accumulate(found.values.begin(), found.values.end(), 0.0);
    const double error = found.sources.empty() ? 0 : closeness_error(sources, names.vertices);
    keys["error"] = error;
    out.row("sources", found.sources.empty() ? "all " + with_commas(sources) : with_commas(sources));
    if (error > 0) {
      out.row("error", fmt::format("mean {}: at most {:.3g}{} for all vertices, with 95% probability",
                                   flags.harmonic ? "inverse distances" : "distances", error,
                                   flags.harmonic ? "" : " of the largest distance"));
    }
    report_highest(out, names, found.values.view(), flags.listed());
  }

  static json bounds_key(const eccentricity_bounds& bounds) {
    if (bounds.are_exact()) return bounds.lower;
    return {bounds.lower, bounds.upper};
  }
  static std::string bounds_text(const eccentricity_bounds& bounds) {
    if (bounds.are_exact()) return with_commas(bounds.lower);
    return fmt::format("{} to {}", with_commas(bounds.lower), with_commas(bounds.upper));
  }
  static void report_distances(report& out, const closeness_flags& flags, const vertex_names& names,
                               const auto& found) {
    auto& keys = out.keys();
    const eccentricity_summary& summary = found.summary;
    keys["component_vertices"] = summary.vertices;
    keys["diameter"] = bounds_key(summary.diameter);
    keys["radius"] = bounds_key(summary.radius);
    keys["exact"] = summary.exact;
    keys["searches"] = summary.searches;
    out.row("component", fmt::format("{} of {}, the largest", counted(summary.vertices, "vertex", "vertices"),
                                     with_commas(names.vertices)));
    out.row("diameter", bounds_text(summary.diameter));
    out.row("radius", bounds_text(summary.radius));
    out.row("searches", with_commas(summary.searches));
    if (!flags.eccentricity) return;
    std::vector<double> values(found.lower.begin(), found.lower.end());
    double sum = 0;
    for (const double ecc : values) sum += std::max(ecc, 0.0);
    keys["sum"] = sum;
    report_highest(out, names, span<const double, host>(values), flags.listed());
  }

  static void write(report& out, const closeness_flags& flags, const vertex_names& names, const auto& found) {
    if (!flags.asks_distances()) {
      write_values(out, flags, names, columns, found.values.view());
      return;
    }
    const auto higher = [&](std::int64_t a, std::int64_t b) { return found.lower[a] > found.lower[b]; };
    write_vertices(out, flags, names, bound_columns, higher, [&](std::int64_t v, table_writer& row) {
      row.number(found.lower[v]);
      row.number(found.upper[v]);
    });
  }
};

}  // namespace

extern const command closeness_command =
    graph_command<closeness_centralities>("how near a graph's vertices are to others");

}  // namespace spargo::apps
