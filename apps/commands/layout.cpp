// layout FILE: positions of a graph's vertices in the plane, and a picture of it.
#include "cli/enum_words.hpp"
#include "cli/picture.hpp"
#include "commands/layout/graph_picture.hpp"
#include "commands/table.hpp"
#include "placement/optional_weights.hpp"

#include <spargo/graph/communities.hpp>
#include <spargo/graph/components.hpp>
#include <spargo/graph/cores.hpp>
#include <spargo/graph/layout.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <functional>

namespace spargo::apps {

namespace {

struct layout_flags : graph_flags {
  std::int64_t iterations = layout_options().iterations;
  std::string start = "multilevel";
  std::string weights = "unit";
  double gravity = layout_options().gravity;
  double scaling = layout_options().scaling_ratio;
  bool strong_gravity = false;
  bool linlog = false;
  bool dissuade_hubs = false;
  std::uint64_t seed = 1;
  std::string image;
  std::string color_by = "communities";

  layout_flags() { repeat = 1; }
  [[nodiscard]] bool is_weighted() const { return weights != "unit"; }
  [[nodiscard]] layout_options options() const {
    return {.iterations = iterations,
            .start = parse_layout_start(start),
            .scaling_ratio = scaling,
            .gravity = gravity,
            .attraction = linlog ? layout_attraction::logarithmic : layout_attraction::linear,
            .gravity_kind = strong_gravity ? layout_gravity::strong : layout_gravity::constant,
            .dissuades_hubs = dissuade_hubs,
            .seed = seed};
  }
};

template <class I>
std::vector<std::int64_t> widened(const array<I, host>& values) {
  return {values.begin(), values.end()};
}

// Communities, components or core numbers, for colours.
template <class I, class O>
vertex_colours colours_of(const graph_view<I, O, host>& g, const std::string& by, const vertex_names& names) {
  const context<host> cpu;
  if (by == "core") return colours_of_numbers(widened(cores(cpu, g).cores), "core number");
  if (by == "none")
    return {{{31, 119, 180}}, std::vector<std::uint8_t>(static_cast<std::size_t>(g.vertices())), "", {}};
  const bool components_wanted = by == "components";
  const std::vector<std::int64_t> labels =
      components_wanted ? widened(components(cpu, g).labels)
                        : widened(communities(cpu, g, {.method = communities_method::leiden}).labels);
  std::vector<std::string> shown;
  for (const std::int64_t label : largest_groups(labels)) shown.push_back(names.label(label));
  return colours_of_groups(labels, components_wanted ? "component" : "community", shown);
}

template <class I, class O>
graph_picture picture_of(const graph_view<I, O, host>& g, const span<const double, host>& positions,
                         const layout_flags& flags, const vertex_names& names) {
  graph_picture picture;
  picture.positions = packed_positions(positions, widened(components(context<host>(), g).labels));
  const bool directed = g.direction == direction_kind::directed;
  picture.degrees.assign(static_cast<std::size_t>(g.vertices()), 0);
  std::int64_t edges = 0;
  const auto for_each_edge = [&](const auto& body) {
    for (std::int64_t u = 0; u < g.vertices(); ++u) {
      for (O e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
        if (const std::int64_t v = g.out.indices[e]; u < v || (directed && u != v)) body(u, v);
      }
    }
  };
  for_each_edge([&](std::int64_t u, std::int64_t v) {
    ++edges;
    ++picture.degrees[static_cast<std::size_t>(u)];
    ++picture.degrees[static_cast<std::size_t>(v)];
  });
  const std::int64_t drawn = std::min(edges, graph_picture::most_edges);
  std::int64_t seen = 0;
  picture.edges.reserve(static_cast<std::size_t>(drawn));
  for_each_edge([&](std::int64_t u, std::int64_t v) {
    // Every edge, or evenly some of them.
    const auto before = static_cast<double>(seen) * static_cast<double>(drawn) / static_cast<double>(edges);
    ++seen;
    const auto after = static_cast<double>(seen) * static_cast<double>(drawn) / static_cast<double>(edges);
    if (edges == drawn || std::floor(after) > std::floor(before)) picture.edges.emplace_back(u, v);
  });
  picture.colours = colours_of(g, flags.color_by, names);
  const bool is_file = !flags.file.starts_with("gen:");
  picture.title = is_file ? std::filesystem::path(flags.file).filename().string() : flags.file;
  picture.subtitle =
      fmt::format("{}, {}{}{}", counted(g.vertices(), "vertex", "vertices"), counted(edges, "edge"),
                  drawn < edges ? fmt::format(" ({} of them drawn)", with_commas(drawn)) : std::string(),
                  flags.color_by == "none" ? "" : ", size by degree, coloured by " + picture.colours.meaning);
  return picture;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U; };
    const unsigned word = byte(k) << 16 | byte(k + 1) << 8 | byte(k + 2);
    for (unsigned d = 0; d < 4; ++d) text += k + d > bytes.size() ? '=' : digits[word >> (18 - 6 * d) & 63];
  }
  return text;
}

struct graph_layout : graph_algorithm {
  using flags_type = layout_flags;
  static constexpr const char* name = "layout";
  static constexpr const char* activity = "laying out";
  static constexpr weight_signs signs = weight_signs::nonnegative_finite;
  static constexpr std::string_view columns = "id,x,y";

  template <class I>
  struct result : checked, layout_result<host> {
    std::int64_t levels = 0;
    double stress = 0;
    std::function<canvas(const vertex_names&)> draw;
  };

  static graph_command_text text() {
    return {
        "Positions of a graph's vertices in the plane, by ForceAtlas2: all vertices repel each other, edges pull "
        "their ends together. Reads the graph, lays it out on the CPU or the GPU, checks the forces, and draws "
        "it. Edges of a directed graph pull both ends.",
        {.table = {.columns = columns, .order = "rightmost first"}},
        {"friends.txt.gz --undirected --image friends.png", "roads.mtx --image roads.pdf --color-by components",
         "gen:grid2d:n=300 --image grid.svg --color-by core"}};
  }
  static void add_flags(flag_set app, layout_flags& flags) {
    app.add_option("--iterations", flags.iterations, "steps; contracted graphs of the start take up to 100 each")
        ->check(count_from(0))
        ->type_name("N")
        ->capture_default_str();
    add_choice(app, "--start", flags.start,
               "multilevel (layouts of contracted graphs first: unfolds meshes and roads) or random", "a start",
               words_of<layout_start>());
    app.add_option("--seed", flags.seed, "of the random positions")
        ->check(seed_number())
        ->type_name("N")
        ->capture_default_str();
    app.add_option(
           "--image", flags.image,
           "draw the graph, with its components moved together: .png, .svg or .pdf; up to 1,000,000 edges, an even "
           "part of more")
        ->type_name("FILE");
    add_choice(app, "--color-by", flags.color_by, "colours of the picture, and of --report", "a colouring",
               {"communities", "components", "core", "none"});
    add_weights_flag(app, flags.weights,
                     "strength of the edges: file, unit (every edge counts 1) or random[:SEED]; those of several edges "
                     "between two vertices are added");
    app.add_option("--scaling", flags.scaling, "strength of the repulsion; more makes the layout sparser")
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--gravity", flags.gravity, "pull towards the middle, which keeps parts together")
        ->type_name("X")
        ->capture_default_str();
    app.add_flag("--strong-gravity", flags.strong_gravity, "gravity grows with the distance");
    app.add_flag("--linlog", flags.linlog, "edges pull by the logarithm of their length: denser clusters");
    app.add_flag("--dissuade-hubs", flags.dissuade_hubs, "hubs are pulled less, and move outwards");
  }
  static void check_flags(const layout_flags& flags) {
    (void)parse_weights(flags.weights);
    if (!(flags.scaling > 0 && std::isfinite(flags.scaling))) {
      throw usage_error(fmt::format("--scaling: {} (expected above 0)", flags.scaling));
    }
    if (!(flags.gravity >= 0 && std::isfinite(flags.gravity))) {
      throw usage_error(fmt::format("--gravity: {} (expected 0 or more)", flags.gravity));
    }
    check_picture("--image", flags.image);
  }
  static std::vector<output_request> other_outputs(const layout_flags& flags) { return {{"--image", flags.image}}; }

  static graph_work work(const layout_flags& flags) {
    // Karate to R-MAT 16: 60 ns per entry and step by one thread.
    return {.wanted = in_edges::build,
            .cpu_ns = 60.0 * static_cast<double>(flags.iterations + 100),
            .results = {4 * std::int64_t{sizeof(double)}, 0}};
  }
  static layout_options options(const layout_flags& flags) { return flags.options(); }

  template <class I, class O>
  static graph_view<I, O, host> pattern_of(const graph_view<I, O, host>& g) {
    return g;
  }
  static auto make_plan(const auto& ctx, const auto& g, const layout_flags& flags) {
    return layout_plan(ctx, g, flags.options());
  }
  static void fetch(const auto& done, const layout_flags&, auto& found) {
    found.positions = done.copy(done.plan.positions());
    found.forces = done.copy(done.plan.forces());
    found.levels = done.plan.levels();
  }
  static std::string check(const context<host>& cpu, const auto& g, const layout_flags& flags, const auto& found) {
    return check_layout(cpu, g.view(), found, flags.options());
  }
  static void derive(const context<host>& cpu, const auto& g, const layout_flags& flags, auto& found) {
    found.stress = layout_stress(cpu, pattern_of(g.edges_only().view()), found.positions.view());
    found.draw = [&g, &flags, positions = std::as_const(found.positions).view()](const vertex_names& names) {
      return draw_graph(picture_of(pattern_of(g.edges_only().view()), positions, flags, names));
    };
  }
  static std::string how_checked(const layout_flags&, const auto&) {
    return "forces summed over all pairs, of a sample where there are many";
  }

  static void report_result(report& out, const layout_flags& flags, const vertex_names& names, const auto& found) {
    json& keys = out.keys();
    keys["iterations"] = flags.iterations;
    keys["start"] = flags.start;
    keys["seed"] = flags.seed;
    keys["levels"] = found.levels;
    keys["stress"] = found.stress;
    out.row("steps", with_commas(flags.iterations));
    out.row("levels", with_commas(found.levels));
    out.row("stress", fmt::format("{:.4f} (0: distances as in the graph, 1: one place)", found.stress));
    const bool on_page = out.writes_page() && can_draw();
    if ((flags.image.empty() && !on_page) || is_wrong(found.fault)) return;
    const canvas drawn = found.draw(names);
    if (on_page) out.figures()["picture"] = "data:image/png;base64," + base64(drawn.file(picture_format::png));
    if (flags.image.empty()) return;
    output_file file(flags.image);
    file.write(drawn.file(picture_format_of(flags.image).value()));
    file.commit();
    keys["image"] = flags.image;
    out.row("written", flags.image + " (a picture)");
  }
  static void write(report& out, const layout_flags& flags, const vertex_names& names, const auto& found) {
    const auto& positions = found.positions;
    const auto right = [&](std::int64_t a, std::int64_t b) { return positions[2 * a] > positions[2 * b]; };
    write_vertices(out, flags, names, columns, right, [&](std::int64_t v, table_writer& row) {
      row.number(positions[2 * v]);
      row.number(positions[2 * v + 1]);
    });
  }
};

}  // namespace

extern const command layout_command =
    optional_weights_command<graph_layout>("positions of a graph's vertices, and a picture of it");

}  // namespace spargo::apps
