// bfs FILE: breadth-first search of a graph.
#include "cli/enum_words.hpp"
#include "commands/table.hpp"
#include "placement/search_driver.hpp"

#include <spargo/graph/bfs_validate.hpp>

#include <fmt/format.h>

namespace spargo::apps {

namespace {

struct bfs_flags : search_flags {
  std::string direction = "auto";
  std::string algorithm = "auto";
  bool deterministic = false;
  std::int64_t max_depth = -1;  // none

  [[nodiscard]] bfs_options options() const {
    bfs_options options;
    options.algorithm = parse_bfs_algorithm(algorithm);
    options.direction = parse_enum<bfs_direction>("--direction: unknown direction", direction);
    options.max_depth = max_depth;
    options.parents = deterministic ? bfs_parents::smallest : bfs_parents::any;
    return options;
  }
};

// Whether a search with these options looks at in-edges at all.
bool wants_in_edges(const bfs_options& options) {
  const bool optimizing =
      options.algorithm == bfs_algorithm::automatic || options.algorithm == bfs_algorithm::direction_optimizing;
  return options.direction == bfs_direction::pull || (options.direction == bfs_direction::automatic && optimizing);
}

bool runs_on_cpu(const bfs_options& options) {
  return options.algorithm != bfs_algorithm::global_queue && options.algorithm != bfs_algorithm::block_queue;
}
bool runs_on_gpu(const bfs_options& options) { return options.algorithm != bfs_algorithm::sequential; }

double harmonic_mean(const std::vector<double>& rates) {
  double inverse = 0;
  for (const double rate : rates) {
    if (rate <= 0) return 0;
    inverse += 1 / rate;
  }
  return rates.empty() ? 0 : static_cast<double>(rates.size()) / inverse;
}

struct bfs_search : search_algorithm {
  using flags_type = bfs_flags;
  static constexpr const char* name = "bfs";
  static constexpr bool times_each = true;
  static constexpr const char* checked_by = "valid by Graph500's five checks";
  static constexpr std::string_view columns = "id,level,parent";

  template <class Graph>
  struct result : found_search {
    std::vector<std::int64_t> level_sizes;
    array<std::int32_t, host> levels;
    array<typename Graph::index, host> parents;

    [[nodiscard]] std::int64_t depth() const { return std::ssize(level_sizes) - 1; }
  };

  static graph_command_text text() {
    return {
        "Breadth-first search on a graph: reads it, traverses it on the CPU or the GPU, times and checks it.",
        {{.columns = columns, .order = "lowest level first", .notes = "-1 and -1 (JSON: null) where unreached"},
         "do not check the result by Graph500's five rules",
         "timed runs of each source; default: 3, with --sources 1"},
        {"soc-Slashdot0902.txt.gz --source max-degree", "roads.mtx --source 17 --output tree.txt --json report.json",
         "gen:rmat:scale=20,degree=16 --undirected --sources 64"}};
  }
  static void add_flags(flag_set app, bfs_flags& flags) {
    add_source_flags(app, flags);
    add_choice(app, "--direction", flags.direction, describe_words<bfs_direction>(), "a direction",
               words_of<bfs_direction>());
    add_algorithm_flag<bfs_algorithm>(app, flags.algorithm);
    app.add_option("--target", flags.target, "report a path with the fewest edges to this vertex")->type_name("ID");
    app.add_option("--max-depth", flags.max_depth,
                   "stop after this level: vertices more than D edges from the source stay unreached")
        ->check(count_from(0))
        ->type_name("D");
    app.add_flag("--deterministic", flags.deterministic,
                 "take the parent of smallest id, so that every run and device gives the same tree; costs another pass "
                 "over the edges");
  }
  static void check_flags(const bfs_flags& flags) { check_search_flags(flags); }
  static std::string algorithm(const bfs_flags& flags) { return flags.algorithm; }

  static graph_work work(const bfs_flags& flags) {
    const bfs_options options = flags.options();
    const auto searches = static_cast<double>(std::max<std::int64_t>(flags.sources, 1));
    return {.wanted = wants_in_edges(options) ? in_edges::build : in_edges::omit,
            .runs_on_cpu = runs_on_cpu(options),
            .runs_on_gpu = runs_on_gpu(options),
            .cpu_ns = 2.1 * searches,  // R-MAT 22: 4.4 ms
            .results = {sizeof(std::int32_t), 1}};
  }
  static bfs_options options(const bfs_flags& flags) { return flags.options(); }

  static auto make_plan(const auto& ctx, const auto& g, const bfs_flags& flags, std::int64_t /*target*/) {
    return bfs_plan(ctx, g, flags.options());
  }
  static void fetch(const auto& done, const bfs_flags&, auto& found) {
    note_sizes(done.plan, found);
    found.levels = done.copy(done.plan.levels());
    found.parents = done.copy(done.plan.parents());
  }
  static void note_sizes(const auto& plan, auto& found) {
    found.reached = plan.reached();
    const auto sizes = plan.level_sizes();
    found.level_sizes.assign(sizes.begin(), sizes.end());
  }
  static bool is_reached(const auto& found, std::int64_t v) { return found.levels[v] >= 0; }
  static std::string check(const context<host>& cpu, const auto& g, const bfs_flags& flags, std::int64_t /*target*/,
                           const auto& found) {
    return check_bfs(cpu, g.out_view(), found.source, found.levels.view(), found.parents.view(), flags.max_depth);
  }

  static json search_keys(const vertex_names&, const auto& found) {
    return {{"depth", found.depth()}, {"levels", list_of(found.level_sizes)}};
  }
  static std::string describe_reached(const auto& found, bool in_full) {
    return in_full ? fmt::format("{}, depth {}", counted(found.reached, "vertex", "vertices"), found.depth())
                   : fmt::format("reached {}, depth {}", with_commas(found.reached), found.depth());
  }
  static void report_rows(report& out, const auto& found) {
    constexpr std::size_t shown = 12;
    const std::size_t count = std::min(found.level_sizes.size(), shown);
    const auto first = found.level_sizes.begin();
    out.row("levels", fmt::format("{}{}", fmt::join(first, first + static_cast<std::ptrdiff_t>(count), " "),
                                  found.level_sizes.size() > shown ? " ..." : ""));
  }
  // Unreached vertices, whose level is -1, come last when sorted.
  static void write(report& out, const bfs_flags& flags, const vertex_names& names, const auto& found) {
    const auto& levels = found.levels;
    const auto nearer = [&](std::int64_t a, std::int64_t b) {
      return static_cast<std::uint32_t>(levels[a]) < static_cast<std::uint32_t>(levels[b]);
    };
    write_vertices(out, flags, names, columns, nearer, [&](std::int64_t v, table_writer& row) {
      if (levels[v] < 0) {
        row.none("-1");
        row.none("-1");
      } else {
        row.number(levels[v]);
        row.label(names, found.parents[v]);
      }
    });
  }
  static void report_end(report& out, const backend& where, const plan_report& summary, const search_tally& tally) {
    report_plan(out, where, summary);
    report_searches(out, tally);
    out.keys()["mteps_harmonic_mean"] = harmonic_mean(tally.rates);
    out.keys()["mteps_rule"] = mteps_rule;
    if (tally.rates.size() > 1) {
      out.row("speed",
              fmt::format("{:.4g} MTEPS, harmonic mean of {} sources", harmonic_mean(tally.rates), tally.rates.size()));
    }
    out.row("MTEPS", "million edges of the traversed component, each once, per second (Graph500's rule)");
    report_check_time(out, tally.fault, tally.check_ms);
  }

  static constexpr bool ranks = true;
  static constexpr bool made_on_gpus = true;
  static constexpr const char* ranks_algorithm = "direction_optimizing";
  static bool gathers_results(const bfs_flags& flags) { return !flags.output.empty(); }
  static void check_ranks_flags(const bfs_flags& flags) {
    const bfs_algorithm algorithm = flags.options().algorithm;
    if (algorithm != bfs_algorithm::automatic && algorithm != bfs_algorithm::direction_optimizing) {
      throw usage_error(fmt::format("--algorithm {}: several {} have direction_optimizing only", flags.algorithm,
                                    are_on_gpus(flags.common) ? "GPUs" : "processes"));
    }
    if (flags.max_depth >= 0) throw usage_error("--max-depth: not on several processes or GPUs");
    if (flags.deterministic && are_on_gpus(flags.common)) throw usage_error("--deterministic: not on several GPUs");
  }
  // Rows, levels, parents and queues of a rank's vertices; remote queues, or a list of all vertices, and bitmaps.
  static std::int64_t rank_bytes(const rank_share& own) {
    const auto rows_of = [&](std::int64_t entries) { return (own.rows + 1) * 8 + entries * own.index_bytes; };
    std::int64_t bytes = rows_of(own.out_entries) + own.rows * (5 + 3 * own.index_bytes);
    if (own.directed) bytes += rows_of(own.in_entries);
    const std::int64_t remote = std::max(own.vertices, own.rows * (own.ranks - 1));
    return bytes + (own.ranks > 1 ? own.vertices + remote * 2 * own.index_bytes : 0);
  }
  template <class Space, class I, class Home>
  static auto make_ranks_plan(const communicator& comm, const context<Space>& ctx, const distributed_graph<I, Home>& g,
                              const bfs_flags& flags) {
    const bfs_options options = flags.options();
    return distributed_bfs_plan<I, Space>(comm, ctx, g, {options.direction, options.parents});
  }
  static std::string ranks_reason(const auto& plan) {
    const std::int64_t narrow = plan.narrow_levels();
    return fmt::format("pushed to the vertices' owners, or pulled over a bitmap, {}; pulled in {} of the last search{}",
                       plan.steps(), counted(plan.pulled_levels(), "level"),
                       narrow == 0 ? "" : fmt::format(", {} small ones by one GPU alone", narrow));
  }
  // A graph on GPUs is checked there; its tree is copied for --output and --target only.
  template <class Space, class I, class Home>
  static void fetch_own(const context<Space>& ctx, const distributed_graph<I, Home>&, const auto& plan,
                        const bfs_flags& flags, auto& found) {
    note_sizes(plan, found);
    if (std::same_as<Home, device> && !flags.wants_tree()) return;
    found.levels = copy_to_host(ctx, plan.levels());
    if (flags.wants_tree() || !flags.no_validate) found.parents = copy_to_host(ctx, plan.parents());
  }
  template <class Space, class I, class Home>
  static std::int64_t traversed_on_ranks(const communicator& comm, const context<Space>& ctx,
                                         const distributed_graph<I, Home>& g, const auto& plan, const auto& found) {
    if constexpr (std::same_as<Home, device>) {
      return count_traversed(comm, ctx, g, plan.levels());
    } else {
      std::int64_t entries = 0;
      const span<const std::int64_t, host> offsets = g.out().offsets;
      for (std::int64_t v = 0; v < g.out().rows; ++v) {
        entries += is_reached(found, v) ? offsets[v + 1] - offsets[v] : 0;
      }
      return comm.all_reduce(entries, reduction::sum);
    }
  }
  template <class Space, class I, class Home>
  static std::string check_on_ranks(const communicator& comm, const context<host>& cpu, const context<Space>& ctx,
                                    const distributed_graph<I, Home>& g, const auto& plan, const auto& found) {
    if constexpr (std::same_as<Home, device>) {
      return check_bfs(comm, ctx, g, found.source, plan.levels(), plan.parents());
    } else {
      return check_bfs(comm, cpu, g, found.source, found.levels.view(), found.parents.view());
    }
  }
  static void gather(const communicator& comm, const context<host>& cpu, auto& found) {
    found.levels = clone(cpu, gather_values(comm, cpu, std::as_const(found.levels).view()));
    found.parents = clone(cpu, gather_values(comm, cpu, std::as_const(found.parents).view()));
  }
};

}  // namespace

extern const command bfs_command = graph_command<bfs_search>("breadth-first search of a graph");

}  // namespace spargo::apps
