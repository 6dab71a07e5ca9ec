// walks FILE: random walks on a graph.
#include "cli/enum_words.hpp"
#include "cli/printed_lines.hpp"
#include "commands/table.hpp"
#include "placement/graph_sources.hpp"
#include "placement/optional_weights.hpp"

#include <spargo/graph/walks.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace spargo::apps {

namespace {

struct walks_flags : graph_flags {
  std::string walkers = "all";
  std::string weights = "unit";
  std::int64_t length = 80;
  double p = 1;
  double q = 1;
  std::uint64_t seed = 1;

  [[nodiscard]] bool is_weighted() const { return weights != "unit"; }
  // 0: one from each vertex.
  [[nodiscard]] std::int64_t count() const {
    std::int64_t count = 0;
    if (walkers != "all") (void)parse_integer(walkers, count);
    return count;
  }
  [[nodiscard]] walks_options options() const {
    return {.walks = count(),
            .length = length,
            .p = p,
            .q = q,
            .seed = seed,
            .algorithm = is_weighted() ? walks_algorithm::prefix_sums : walks_algorithm::uniform};
  }
};

std::string check_walkers(const std::string& text) {
  std::int64_t count = 0;
  if (text == "all" || (parse_integer(text, count) && count >= 1)) return {};
  return fmt::format("{} is not a number of walkers (expected 1 or more, or all)", text);
}

struct uniform_walks : graph_algorithm {
  using flags_type = walks_flags;
  static constexpr const char* name = "walks";
  static constexpr const char* activity = "walking";
  static constexpr weight_signs signs = weight_signs::nonnegative_finite;

  template <class I>
  struct result : checked, walks_result<I, host> {
    std::optional<array<I, host>> starts;  // none: walk k starts at vertex k modulo their number

    [[nodiscard]] std::int64_t stride() const { return this->vertices.size() / this->walks; }
    [[nodiscard]] const I* walk(std::int64_t k) const { return this->vertices.data() + k * stride(); }
    // The vertices of a walk before its end.
    [[nodiscard]] std::int64_t size(std::int64_t k) const {
      const I* const first = walk(k);
      return std::find(first, first + stride(), I{-1}) - first;
    }
  };

  static graph_command_text text() {
    return {
        "Random walks on a graph: reads it, walks on the CPU or the GPU, times and checks the walks. The same seed "
        "gives the same walks on every device and for any number of threads. A walk ends early where no edge leads "
        "on. Self-loops count.",
        {.table = {.columns = {},
                   .order = {},
                   .notes = "write a walk a line: the ids of its vertices, with blanks between. FILE.csv has commas, "
                            "FILE.tsv tabs, FILE.json is an array of arrays (.gz after any); - is standard output",
                   .lines = "walk"}},
        {"friends.txt.gz --walkers 10000 --length 40 --output walks.txt", "letters.wel --weights file --p 0.5 --q 2",
         "gen:rmat:scale=20,degree=16 --undirected --json -"}};
  }
  static void add_flags(flag_set app, walks_flags& flags) {
    app.add_option(
           "--walkers", flags.walkers,
           "all: a walk from each vertex; N: from that many random vertices with out-edges, the same ones again "
           "if there are fewer")
        ->check({check_walkers})
        ->type_name("N|all")
        ->capture_default_str();
    app.add_option("--length", flags.length, "steps of a walk")
        ->check(positive_count())
        ->type_name("L")
        ->capture_default_str();
    app.add_option("--p", flags.p, "of node2vec: a step back to the vertex before counts 1/p")
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--q", flags.q, "of node2vec: a step to a vertex that is no neighbour of the one before counts 1/q")
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--seed", flags.seed, "of the random numbers")
        ->check(seed_number())
        ->type_name("N")
        ->capture_default_str();
    add_weights_flag(
        app, flags.weights,
        "edges are chosen in proportion to their weights: file, unit (all alike) or random[:SEED]; those of "
        "several edges between two vertices are added");
  }
  static void check_flags(const walks_flags& flags) {
    (void)parse_weights(flags.weights);
    const auto expect_factor = [](const char* flag, double x) {
      if (!(x > 0 && std::isfinite(x) && std::isfinite(1 / x))) {
        throw usage_error(fmt::format("{}: {} (expected a positive number)", flag, x));
      }
    };
    expect_factor("--p", flags.p);
    expect_factor("--q", flags.q);
  }
  static std::string algorithm(const walks_flags& flags) { return std::string(to_string(flags.options().algorithm)); }

  static graph_work work(const walks_flags& flags) {
    // From each vertex, of 8 entries: R-MAT 20, degree 16, one thread.
    const bool all = flags.count() == 0;
    constexpr double step_ns = 25.0 / 8;
    return {.loops = self_loops::keep, .cpu_ns = all ? step_ns * static_cast<double>(flags.length) : 1, .results = {}};
  }
  static walks_options options(const walks_flags& flags) { return flags.options(); }

  template <class I>
  static void prepare(const walks_flags& flags, const input_facts& facts, const auto& g, result<I>& found) {
    const std::int64_t wanted = flags.count();
    if (wanted == 0) return;
    const auto degree = out_degrees(g.edges_only());
    std::int64_t v = 0;
    while (v < std::int64_t{g.vertices()} && degree(v) == 0) ++v;
    if (v == std::int64_t{g.vertices()}) return;  // walkers stay where they are
    const auto chosen = choose_sources({fmt::format("random:{}", flags.seed), wanted, flags.file}, facts, degree);
    const context<host> cpu;
    found.starts.emplace(cpu, wanted);
    std::transform(chosen.begin(), chosen.end(), found.starts->begin(),
                   [](std::int64_t s) { return static_cast<I>(s); });
  }
  template <class Space, class View, class I>
  static auto make_plan(const context<Space>& ctx, const View& g, const walks_flags& flags, const result<I>& found) {
    if (!found.starts) return walks_plan(ctx, g, flags.options());
    return walks_plan(ctx, g, copy_from_host(ctx, found.starts->view()).view(), flags.options());
  }
  template <class Plan, class Space, class I>
  static void fetch(const finished<Plan, Space>& done, const walks_flags&, result<I>& found) {
    found.walks = done.plan.walks();
    if constexpr (std::same_as<Space, host>) {
      found.vertices = done.plan.take();
    } else {
      found.vertices = done.copy(done.plan.vertices());
    }
  }
  static std::string check(const context<host>& cpu, const auto& g, const walks_flags& flags, const auto& found) {
    return check_walks(cpu, g.view(), found.vertices, flags.options());
  }
  static std::string how_checked(const walks_flags&, const auto&) { return "every step looked up"; }

  static void report_result(report& out, const walks_flags& flags, const vertex_names&, const auto& found) {
    std::int64_t steps = 0;
    std::int64_t ended = 0;
    for (std::int64_t k = 0; k < found.walks; ++k) {
      const std::int64_t size = found.size(k);
      steps += size - 1;
      ended += size <= flags.length ? 1 : 0;
    }
    json& keys = out.keys();
    keys["walks"] = found.walks;
    keys["steps"] = steps;
    keys["ended"] = ended;
    keys["length"] = flags.length;
    keys["p"] = flags.p;
    keys["q"] = flags.q;
    keys["seed"] = flags.seed;
    out.row("walks", fmt::format("{}, {}", with_commas(found.walks), counted(steps, "step")));
    if (ended > 0) out.row("ended early", fmt::format("{}: no edge leads on", with_commas(ended)));
  }
  static void write(report& out, const walks_flags& flags, const vertex_names& names, const auto& found) {
    const table_format format = table_format_of(flags);
    if (format == table_format::aligned) return print_table(out, flags, names, found);
    const std::int64_t walks = printed_lines(flags, found.walks);
    const bool arrays = format == table_format::objects;
    const char separator = format == table_format::blanks ? ' ' : format == table_format::tabs ? '\t' : ',';
    {
      std::optional<busy> writing;  // not on a terminal that shows the lines
      if (!output_descriptor(flags.output).has_value()) writing.emplace("writing " + flags.output);
      output_file file(flags.output);
      std::string line;
      for (std::int64_t k = 0; k < walks; ++k) {
        line = !arrays ? "" : k == 0 ? "[\n[" : ",\n[";
        for (std::int64_t s = 0; s < found.size(k); ++s) {
          if (s > 0) line += separator;
          if (arrays) {
            line += json_text(to_json(names, found.walk(k)[s]));
          } else {
            names.append_label(found.walk(k)[s], line);
          }
        }
        file.write(line += arrays ? "]" : "\n");
      }
      if (arrays) file.write(found.walks == 0 ? "[]\n" : "\n]\n");
      file.commit();
    }
    out.keys()["output"] = flags.output;
    out.row("written", fmt::format("{} ({})", flags.output, counted(walks, "walk")));
  }
  static void print_table(report& out, const walks_flags& flags, const vertex_names& names, const auto& found) {
    print_lines(out, flags, "walk,vertices", found.walks, [&](std::int64_t k, table_writer& row) {
      std::string vertices;
      for (std::int64_t s = 0; s < found.size(k); ++s) {
        if (s > 0) vertices += ' ';
        names.append_label(found.walk(k)[s], vertices);
      }
      row.number(k + 1);
      row.text(vertices);
    });
  }
};

struct weighted_walks : with_weights<uniform_walks> {
  template <class W, index_type I, index_type O>
  static void report_input(report& out, const placed_weighted_input& read, const placed_weighted_graph<W, I, O>&) {
    report_weights<W>(out, read);
  }
};

}  // namespace

extern const command walks_command = optional_weights_command<uniform_walks, weighted_walks>("random walks on a graph");

}  // namespace spargo::apps
