// info FILE: what a matrix or graph looks like, in figures and pictures.
#include "cli/cli.hpp"
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "cli/plots.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/vertex_table.hpp"
#include "commands/info/figures.hpp"
#include "commands/info/next.hpp"
#include "commands/info/profile.hpp"
#include "commands/info/values.hpp"
#include "commands/table.hpp"
#include "input/columns.hpp"
#include "input/graph_input.hpp"
#include "input/input_check.hpp"
#include "input/memory_limit.hpp"
#include "input/memory_need.hpp"
#include "input/read.hpp"
#include "placement/device_choice.hpp"

#include <spargo/io/output.hpp>
#include <spargo/sparse/spmv.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <filesystem>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace spargo::apps {

namespace {

struct info_flags : table_flags {
  common_flags common;
  std::string file;
  std::string spy;
  std::string degrees;
  bool check = false;
  bool transpose_checksum = false;
  cache_mode cache = cache_mode::off;
  std::int64_t distances = 0;  // sources to search from; 0: not asked for
  bool undirected = false;
  bool directed = false;

  // Whether the input is described as a graph, in words and keys.
  [[nodiscard]] bool takes_graph(const input_description& input) const {
    return undirected || directed || !output.empty() || is_graph(input);
  }
};

void report_shape(report& out, const input_description& input, const input_facts& facts, std::int64_t rows,
                  std::int64_t cols, std::int64_t nnz, std::int64_t duplicates, bool graph) {
  json& keys = out.keys();
  keys["file"] = input.path;
  keys["kind"] = input.format;
  keys["rows"] = rows;
  keys["cols"] = cols;
  keys["nnz"] = nnz;
  keys["stored"] = facts.stored;
  keys["duplicates"] = duplicates;
  keys["field"] = to_string(input.field);
  keys["symmetry"] = to_string(input.symmetry);
  keys["directed"] = input.directed;
  out.title(fmt::format("info {}", input.path));
  out.row("kind", graph ? input.format
                        : fmt::format("{}, {}, {}", input.format, to_string(input.field), to_string(input.symmetry)));
  const double density =
      rows > 0 && cols > 0 ? static_cast<double>(nnz) / static_cast<double>(rows) / static_cast<double>(cols) : 0;
  keys["density"] = density;
  if (!graph) {
    out.row("size", fmt::format("{} x {}, {} ({:.3g}% full; {} stored, {})", with_commas(rows), with_commas(cols),
                                counted(nnz, "entry", "entries"), 100 * density, with_commas(facts.stored),
                                counted(duplicates, "duplicate")));
  }
  if (lists_edges(input.kind) || !facts.names.are_integers()) report_ids(out, facts.names);
  if (facts.names.naming == vertex_naming::listed && !facts.names.ids.empty()) {
    keys["min_id"] = facts.names.ids.front();
    keys["max_id"] = facts.names.ids.back();
    out.row("ids", fmt::format("{} from {} to {}", counted(facts.names.vertices, "id"), facts.names.ids.front(),
                               facts.names.ids.back()));
  }
}

json to_json(const row_profile& profile) {
  return {{"min", profile.min}, {"median", profile.median}, {"mean", profile.mean},          {"p99", profile.p99},
          {"max", profile.max}, {"empty", profile.empty},   {"deviation", profile.deviation}};
}

std::string describe(const row_profile& profile) {
  return fmt::format("{} to {}: median {}, mean {:.4g}, 99% up to {}, deviation {:.3g}", with_commas(profile.min),
                     with_commas(profile.max), with_commas(profile.median), profile.mean, with_commas(profile.p99),
                     profile.deviation);
}

void report_rows(report& out, const row_profile& profile, bool graph) {
  json& keys = out.keys()["row_length"];
  keys = to_json(profile);
  keys["longest_row"] = profile.longest_row + 1;
  if (graph) return;
  out.row("row lengths", describe(profile));
  out.row("empty rows", with_commas(profile.empty));
}

// An undirected graph's, with each edge in both directions.
degree_profile both_directions(degree_profile degrees) {
  degrees.directed = true;
  degrees.edges *= 2;
  degrees.in = degrees.out;
  return degrees;
}

void report_degrees(report& out, const input_facts& facts, const degree_profile& degrees) {
  json& keys = out.keys();
  const auto vertices = std::ssize(degrees.out);
  keys["vertices"] = vertices;
  keys["edges"] = degrees.edges;
  keys["directed"] = degrees.directed;
  keys["self_loops"] = degrees.loops;
  keys["isolated"] = degrees.isolated;
  out.row("graph", fmt::format("{}, {} ({} listed), {} not counted", counted(vertices, "vertex", "vertices"),
                               counted(degrees.edges, degrees.directed ? "directed edge" : "undirected edge"),
                               with_commas(facts.stored), counted(degrees.loops, "self-loop")));
  const auto report_one = [&](const char* key, const char* label, const std::vector<std::int64_t>& of) {
    const row_profile profile = profile_lengths(of);
    keys[key] = to_json(profile);
    out.row(label, fmt::format("{}; without any: {}", describe(profile), with_commas(profile.empty)));
  };
  report_one(degrees.directed ? "out_degree" : "degree", degrees.directed ? "out-degree" : "degree", degrees.out);
  if (degrees.directed) report_one("in_degree", "in-degree", degrees.in);
  out.row("isolated", counted(degrees.isolated, "vertex", "vertices") + " without an edge");
}

void write_degrees(report& out, const info_flags& flags, const input_facts& facts, const degree_profile& degrees) {
  const auto total = [&](std::int64_t v) { return degrees.total(static_cast<std::size_t>(v)); };
  const auto higher = [&](std::int64_t a, std::int64_t b) { return total(a) > total(b); };
  vertex_names joined;
  if (flags.attributes != nullptr) {
    joined = facts.names;
    join_attributes(flags.attributes, joined);
    report_attributes(out, joined);
  }
  const vertex_names& names = flags.attributes != nullptr ? joined : facts.names;
  write_vertices(out, flags, names, degrees.directed ? "id,out_degree,in_degree" : "id,degree", higher,
                 [&](std::int64_t v, table_writer& row) {
                   row.number(degrees.out[static_cast<std::size_t>(v)]);
                   if (degrees.directed) row.number(degrees.in[static_cast<std::size_t>(v)]);
                 });
}

void report_distances(report& out, const distance_profile& found) {
  json keys{{"sources", found.sources}, {"exact", found.every}};
  if (found.sources > 0) {
    keys["eccentricity"] = {
        {"min", found.least_eccentricity}, {"median", found.median_eccentricity}, {"max", found.most_eccentricity}};
    keys["mean_distance"] = found.mean_distance;
    keys["mean_reached"] = found.mean_reached;
    keys["closeness"] = {{"min", found.least_closeness}, {"mean", found.mean_closeness}, {"max", found.most_closeness}};
  }
  out.keys()["distances"] = keys;
  if (found.sources == 0) return out.row("distances", "none (no vertex has an edge)");
  out.row("distances", fmt::format("mean {:.4g}, from {}{} that reach{} {:.6g} on average", found.mean_distance,
                                   counted(found.sources, "vertex", "vertices"), found.every ? "" : " drawn at random",
                                   found.sources == 1 ? "es" : "", found.mean_reached));
  out.row("eccentricity",
          fmt::format("{} to {}, median {} (the diameter is {}{})", with_commas(found.least_eccentricity),
                      with_commas(found.most_eccentricity), with_commas(found.median_eccentricity),
                      found.every ? "" : "at least ", with_commas(found.most_eccentricity)));
  out.row("closeness", fmt::format("{:.4g} to {:.4g}, mean {:.4g}", found.least_closeness, found.most_closeness,
                                   found.mean_closeness));
}

// Along both directions of the edges.
template <class I, class O>
distance_profile sample_undirected(const context<host>& ctx, const csr_pattern_view<I, O, host>& matrix,
                                   const std::vector<std::int64_t>& degrees, std::int64_t wanted) {
  const csr_view<const pattern, I, O, host> entries{matrix, {}};
  const any_graph g = make_graph(ctx, coo_input<pattern, I>{to_coo(ctx, entries), symmetry_kind::general, {}},
                                 {.direction = direction_kind::undirected});
  return std::visit(
      [&](const auto& built) {
        const auto both = built.view().out;
        return sample_distances(ctx, both, both, degrees, wanted);
      },
      g);
}

// Facts of a square matrix, or of a graph, whose degrees are returned.
template <class I, class O>
std::optional<degree_profile> report_square(report& out, const context<host>& ctx, const info_flags& flags,
                                            const input_description& input, const input_facts& facts,
                                            const csr_pattern_view<I, O, host>& matrix, const band_profile& band,
                                            const row_profile& rows) {
  json& keys = out.keys();
  if (matrix.rows != matrix.cols) {
    keys["structurally_symmetric"] = nullptr;
    keys["components"] = nullptr;
    keys["largest_component"] = nullptr;
    return std::nullopt;
  }
  const csr_view<const pattern, I, O, host> pattern_only{matrix, {}};
  const csr_matrix<pattern, I, O, host> mirrored = transpose(ctx, pattern_only);
  const bool symmetric =
      std::equal(matrix.offsets.begin(), matrix.offsets.end(), mirrored.offsets().begin(), mirrored.offsets().end()) &&
      std::equal(matrix.indices.begin(), matrix.indices.end(), mirrored.indices().begin(), mirrored.indices().end());
  const component_profile components = count_components(matrix);
  keys["structurally_symmetric"] = symmetric;
  keys["components"] = components.count;
  keys["largest_component"] = components.largest;
  const csr_pattern_view<I, O, host> in = symmetric ? matrix : std::as_const(mirrored).view();
  std::optional<degree_profile> degrees;
  const bool directed = flags.directed || (!flags.undirected && input.directed);
  const bool adds_reverses = flags.directed && mirrored_as(input, symmetry_kind::general) != symmetry_kind::general;
  if (flags.takes_graph(input)) {
    degrees = profile_degrees<I, O>(matrix, in, directed && !adds_reverses);
    if (adds_reverses) *degrees = both_directions(std::move(*degrees));
    report_degrees(out, facts, *degrees);
    if (directed) {
      out.row("reverse edges", symmetric || adds_reverses ? "every edge has one" : "not every edge has one");
    }
  } else {
    out.row("pattern", fmt::format("{}symmetric, {} on the diagonal", symmetric ? "" : "not ",
                                   counted(band.diagonal, "entry", "entries")));
  }
  out.row("components", fmt::format("{} (weak), the largest of {}", with_commas(components.count),
                                    counted(components.largest, "vertex", "vertices")));
  if (flags.distances == 0) return degrees;
  const bool both_ways = degrees.has_value() && (!directed || adds_reverses) && !symmetric;
  report_distances(out, both_ways ? sample_undirected<I, O>(ctx, matrix, degrees->out, flags.distances)
                                  : sample_distances<I, O>(ctx, matrix, in, rows.lengths, flags.distances));
  return degrees;
}

// The sum of (i + 1) (j + 2) t_ij over the transpose's entries, i and j from 0, and the same of magnitudes.
template <class V, class I, class O>
void report_transpose_checksum(report& out, const context<host>& ctx, const csr_view<const V, I, O, host>& matrix) {
  const csr_matrix<V, I, O, host> turned = transpose(ctx, matrix);
  std::complex<double> sum = 0;
  double scale = 0;
  for (std::int64_t i = 0; i < turned.rows(); ++i) {
    for (std::int64_t k = turned.offsets()[i]; k < turned.offsets()[i + 1]; ++k) {
      const double factor = (static_cast<double>(i) + 1) * (static_cast<double>(turned.indices()[k]) + 2);
      std::complex<double> value = 1;
      if constexpr (!is_pattern<V>) value = std::complex<double>(turned.values()[k]);
      sum += factor * value;
      scale += factor * std::abs(value);
    }
  }
  out.keys()["transpose_checksum"] = complex_type<V> ? json::array({sum.real(), sum.imag()}) : json(sum.real());
  out.keys()["transpose_checksum_scale"] = scale;
  out.row("transpose", fmt::format("checksum {:.17g}{}, of magnitudes {:.17g}", sum.real(),
                                   complex_type<V> ? fmt::format(" {:+.17g}i", sum.imag()) : std::string(), scale));
}

// A pattern's entries as ones: those listed more than once then count so often, as in products. None for other inputs.
std::optional<any_matrix> count_entries(const context<host>& ctx, const any_entries& listed) {
  return std::visit(
      [&]<class V, class I>(const coo_input<V, I>& read) -> std::optional<any_matrix> {
        if constexpr (!is_pattern<V>) return std::nullopt;
        const coo_view<const V, I, host> entries = read.entries.view();
        coo_matrix<double, I, host> ones(ctx, entries.rows, entries.cols, entries.nnz());
        std::copy(entries.row_indices.begin(), entries.row_indices.end(), ones.row_indices().begin());
        std::copy(entries.col_indices.begin(), entries.col_indices.end(), ones.col_indices().begin());
        std::fill(ones.values().begin(), ones.values().end(), 1.0);
        return to_canonical(ctx, coo_input<double, I>{std::move(ones), read.triangle, {}});
      },
      listed);
}

void report_memory(report& out, const format_memory& memory, bool graph) {
  out.keys()["memory"] = {{"csr", memory.csr}, {"coo", memory.coo}, {"ell", memory.ell}, {"sell", memory.sell}};
  out.keys()["padding"] = {{"ell", memory.ell_padding}, {"sell", memory.sell_padding}};
  const auto padded = [](std::int64_t bytes, double padding) {
    return fmt::format("{} ({:.2f} places per entry)", format_bytes(static_cast<double>(bytes)), padding);
  };
  out.row("as CSR", format_bytes(static_cast<double>(memory.csr)));
  if (graph) return;
  out.row("as COO", format_bytes(static_cast<double>(memory.coo)));
  out.row("as ELL", padded(memory.ell, memory.ell_padding));
  out.row("as SELL", padded(memory.sell, memory.sell_padding));
}

void save(const canvas& picture, const std::string& path) {
  output_file file(path);
  file.write(picture.file(picture_format_of(path).value()));
  file.commit();
}

template <class I, class O>
void draw(report& out, const info_flags& flags, const input_description& input,
          const csr_pattern_view<I, O, host>& matrix, const row_profile& rows,
          const std::optional<degree_profile>& degrees) {
  const bool generated = input.kind == input_kind::generator;
  const std::string name = generated ? input.path : std::filesystem::path(input.path).filename().string();
  if (!flags.spy.empty()) {
    const std::string subtitle = fmt::format("{} x {}, {}", with_commas(matrix.rows), with_commas(matrix.cols),
                                             counted(matrix.nnz(), "entry", "entries"));
    save(draw_spy(count_density(matrix), name, subtitle), flags.spy);
    out.keys()["spy"] = flags.spy;
    out.row("written", flags.spy + " (sparsity pattern)");
  }
  if (!flags.degrees.empty()) {
    std::vector<std::int64_t> lengths = rows.lengths;
    if (degrees.has_value()) {
      for (std::size_t v = 0; v < lengths.size(); ++v) lengths[v] = degrees->total(v);
    }
    const row_profile drawn = profile_lengths(std::move(lengths));
    const std::string subtitle =
        fmt::format("{}, {}, {} {} to {}, mean {:.3g}",
                    degrees ? counted(matrix.rows, "vertex", "vertices") : counted(matrix.rows, "row"),
                    degrees ? counted(degrees->edges, "edge") : counted(matrix.nnz(), "entry", "entries"),
                    degrees && degrees->directed ? "in- and out-degree together"
                    : degrees                    ? "degree"
                                                 : "row length",
                    with_commas(drawn.min), with_commas(drawn.max), drawn.mean);
    save(draw_degrees(count_degrees(drawn.lengths), name, subtitle, degrees ? "vertices" : "rows"), flags.degrees);
    out.keys()["degrees"] = flags.degrees;
    out.row("written", flags.degrees + " (degree distribution)");
  }
}

std::vector<oddity> check(const input_description& input, const any_entries& listed) {
  std::vector<oddity> found =
      std::visit([&]<class V, class I>(
                     const coo_input<V, I>& read) { return check_entries<V, I>(read.entries.view(), input.symmetry); },
                 listed);
  if (!input.can_be_read_again()) return found;
  if (input.kind == input_kind::matrix_market) find_lines(input.path, 1, "%", found);
  if (input.kind == input_kind::edge_list) find_lines(input.path, input.columns.lines(), "#%", found);
  return found;
}

void report_check(report& out, const std::vector<oddity>& found) {
  json keys;
  std::string label = "check";
  for (const oddity& each : found) {
    keys[each.key] = {{"count", each.count}, {"line", each.line > 0 ? json(each.line) : json()}};
    if (each.count == 0) continue;
    const std::string where = each.line > 0 ? fmt::format(", first on line {}", with_commas(each.line)) : std::string();
    out.row(std::exchange(label, ""), fmt::format("{}: {}{}", each.what, with_commas(each.count), where));
  }
  if (label == "check") out.row("check", "nothing odd");
  out.keys()["check"] = keys;
}

// `odd` is empty where nobody asked, and for a snapshot, which is canonical and has no lines.
template <class I, class O>
void inspect(report& out, const info_flags& flags, const backend& where, const input_description& input,
             const csr_pattern_view<I, O, host>& matrix, const value_summary& values,
             const std::optional<value_summary>& listed, const input_facts& facts, const std::vector<oddity>& odd) {
  const busy counting("counting");
  const context<host>& ctx = where.cpu;
  SPARGO_EXPECTS(flags.distances == 0 || matrix.rows == matrix.cols,
                 fmt::format("--distances: {} is {} x {} (expected as many rows as columns)", input.path, matrix.rows,
                             matrix.cols));
  const row_profile rows = profile_rows(matrix);
  const band_profile band = profile_band(matrix);
  report_backend(out, flags.common.device, where);
  json& keys = out.keys();
  const bool graph = flags.takes_graph(input);
  if (graph) expect_square(matrix.rows, matrix.cols, input.path);
  report_shape(out, input, facts, matrix.rows, matrix.cols, matrix.nnz(), facts.expanded - matrix.nnz(), graph);
  report_columns(out, input, input.directed);
  report_contents(out, input, facts);
  report_values(out, values, listed, unused_weights(input), graph);
  keys["rounded_integers"] = facts.rounded_integers;
  if (facts.rounded_integers > 0) {
    out.row("note", fmt::format("{} what float64 holds exactly, rounded to nearest",
                                counted(facts.rounded_integers, "integer exceeds", "integers exceed")));
  }
  report_rows(out, rows, graph);
  keys["bandwidth"] = {{"lower", band.lower}, {"upper", band.upper}};
  keys["diagonal"] = band.diagonal;
  if (!graph) {
    out.row("bandwidth",
            fmt::format("{} below the diagonal, {} above", with_commas(band.lower), with_commas(band.upper)));
  }
  const std::optional<degree_profile> degrees = report_square(out, ctx, flags, input, facts, matrix, band, rows);
  keys["index_bits"] = sizeof(I) * 8;
  keys["offset_bits"] = sizeof(O) * 8;
  report_memory(out, estimate_memory(rows, matrix.nnz(), values.bytes, sizeof(I), sizeof(O)), graph);
  const format_choice cpu = suggest_format<host>(ctx, matrix);
  const format_choice gpu = suggest_format<device>(ctx, matrix);
  keys["suggested_format"] = {{"cpu", to_string(cpu.format)}, {"gpu", to_string(gpu.format)}};
  if (!graph) {
    out.row("suggested", fmt::format("on a CPU {}: {}", to_string(cpu.format), cpu.reason));
    out.row("", fmt::format("on a GPU {}: {}", to_string(gpu.format), gpu.reason));
  }
  if (!odd.empty()) report_check(out, odd);
  if (flags.check && odd.empty()) out.row("check", "a snapshot is sorted and has no duplicates");
  draw(out, flags, input, matrix, rows, degrees);
  if (degrees.has_value()) {
    add_counts(out, degrees->directed ? "out_degree_counts" : "degree_counts", degrees->out);
    if (degrees->directed) add_counts(out, "in_degree_counts", degrees->in);
  } else {
    add_counts(out, "row_length_counts", rows.lengths);
  }
  add_spy(out, matrix);
  if (!flags.output.empty()) write_degrees(out, flags, facts, *degrees);
}

void expect_memory(const input_description& input) {
  const input_size size = least_size(input);
  const bool complex = input.field == matrix_market_field::complex;
  const std::int64_t value_bytes = input.field == matrix_market_field::pattern ? 0 : complex ? 16 : 8;
  expect_host_memory(input, size, least_matrix_bytes(input, size, value_bytes, 0));
}

// Flags with which other commands read the file in the same way.
std::string flags_to_repeat(const info_flags& flags) {
  std::string text;
  if (flags.undirected) text += " --undirected";
  if (flags.directed) text += " --directed";
  if (!flags.common.columns.empty()) text += " --columns " + shell_quoted(flags.common.columns);
  if (flags.common.ids != "auto") text += " --ids " + flags.common.ids;
  return text;
}

exit_status run(const info_flags& flags) {
  const backend where = choose_cpu(flags.common.device, flags.common.threads);
  const context<host>& ctx = where.cpu;
  input_description input = describe_input(ctx, flags.file, flags.common.columns, ids_of(flags.common));
  if (flags.cache == cache_mode::off) expect_memory(input);
  std::vector<oddity> odd;
  std::optional<value_summary> listed_values;
  std::optional<any_matrix> counted_pattern;
  const cached_matrix matrix = [&]() -> cached_matrix {
    std::optional<progress_bar> bar(std::in_place, "reading " + input.path, flags.common.quiet);
    if (flags.cache != cache_mode::off || input.kind == input_kind::snapshot) {
      return read_matrix(ctx, input, bar->options(), flags.cache);
    }
    any_entries listed = read_entries(ctx, input, bar->options());  // what is odd shows only before they are sorted
    bar.reset();
    const busy sorting("sorting");
    listed_values = summarize_entries(listed);
    if (flags.check) odd = check(input, listed);
    if (flags.transpose_checksum && !is_graph_text(input.kind)) counted_pattern = count_entries(ctx, listed);
    return {to_canonical(ctx, std::move(listed)), input_cache(cache_mode::off, input, value_kind::pattern)};
  }();
  report out("info", flags.common);
  std::visit(
      [&]<class V, class I, class O>(const csr_input<V, I, O>& read) {
        if (is_graph_text(input.kind) && is_pattern<V>) input.field = matrix_market_field::pattern;
        inspect<I, O>(out, flags, where, input, read.matrix, summarize_values<V>(read.matrix.values), listed_values,
                      read.facts, odd);
      },
      matrix.read);
  if (flags.transpose_checksum) {
    std::visit([&]<class V, class I, class O>(
                   const csr_input<V, I, O>& read) { report_transpose_checksum<V, I, O>(out, ctx, read.matrix); },
               counted_pattern.has_value() ? std::as_const(*counted_pattern) : matrix.read);
  }
  report_cache(out, matrix.cache);
  suggest_next(out, input, flags.takes_graph(input), flags_to_repeat(flags));
  out.print();
  return exit_status::success;
}

void add_flags(flag_set app, info_flags& flags) {
  app.add_option(
         "FILE", flags.file,
         "Matrix Market, edge list, METIS, DIMACS, GML, GraphML, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  app.add_option("--spy", flags.spy, "draw the sparsity pattern as a density picture: .png, .svg or .pdf")
      ->type_name("OUT");
  app.add_option("--degrees", flags.degrees,
                 "draw the distribution of degrees (a matrix: row lengths; a directed graph: in- and out-degree "
                 "together), in the same formats")
      ->type_name("OUT");
  const auto check = app.add_flag(
      "--check", flags.check,
      "look for what is odd: duplicates, zeros, infinities, entries in the wrong triangle or out of order, "
      "self-loops, isolated vertices; with the line where each occurs first");
  const auto transpose = app.add_flag(
      "--transpose-checksum", flags.transpose_checksum,
      "transpose a matrix and sum (i + 1) (j + 2) t_ij over its entries, i and j from 0; an entry of a pattern is 1 "
      "each time that it is listed");
  add_columns_flag(app, flags.common);
  add_cache_flag(app, flags.cache)
      ->excludes(check)
      ->excludes(transpose);  // a cache has neither oddities nor repeated entries
  app.add_option("--distances", flags.distances,
                 "search breadth-first from this many vertices, drawn at random: distances, eccentricities, closeness")
      ->type_name("SOURCES")
      ->check(positive_count());
  const auto undirected = app.add_flag("--undirected", flags.undirected, "describe a graph whose edges lead both ways");
  app.add_flag("--directed", flags.directed, "describe a directed graph")->excludes(undirected);
  add_table_flags(app, flags,
                  {.columns = "id,out_degree,in_degree",
                   .order = "largest degree first",
                   .notes = "of an undirected graph: id degree; self-loops do not count"});
}

command_body declare(flag_set app) {
  app.description("Describes a matrix or graph: size, row lengths, bandwidth, components, memory in each format.");
  const auto flags = std::make_shared<info_flags>();
  add_flags(app, *flags);
  add_common_flags(app, flags->common, app_kind::reads,
                   help_examples(app, {"matrix.mtx.gz", "soc-Slashdot0902.txt.gz --output degrees.csv --sort",
                                       "matrix.mtx --check", "gen:rmat:scale=16,degree=16 --distances 64",
                                       "gen:laplacian3d:n=30 --spy pattern.png --json -"}) +
                       help_on_graph_inputs);
  return [flags] {
    check_table_flags(*flags);
    prepare_outputs(flags->common, {flags->file, flags->join},
                    {{"--spy", flags->spy}, {"--degrees", flags->degrees}, {"--output", flags->output}});
    check_picture("--spy", flags->spy);
    check_picture("--degrees", flags->degrees);
    read_joined_file(*flags);
    return run(*flags);
  };
}

}  // namespace

extern const command info_command{
    "info", "what a matrix or graph looks like", declare, nullptr, false, command_kind::files};

}  // namespace spargo::apps
