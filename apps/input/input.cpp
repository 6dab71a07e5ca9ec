#include "input/input.hpp"

#include "cli/cli.hpp"
#include "cli/progress.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/graph_document.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace spargo::apps {

namespace {

void describe_snapshot(const context<host>& ctx, input_description& input) {
  input.kind = input_kind::snapshot;
  input.format = "snapshot";
  const snapshot_header& header = input.mapped.emplace(ctx, *input.file).header();
  using kind = value_kind;
  input.field = header.values == kind::pattern ? matrix_market_field::pattern
                : header.values == kind::complex_fp32 || header.values == kind::complex_fp64
                    ? matrix_market_field::complex
                    : matrix_market_field::real;
  if (header.origin == value_origin::integers) input.field = matrix_market_field::integer;
  if (header.origin == value_origin::counts) input.field = matrix_market_field::pattern;
  input.single_precision = header.values == kind::fp32 || header.values == kind::complex_fp32;
  input.symmetry = header.symmetry;
  input.directed = header.directed;
  input.rows = header.rows;
  input.cols = header.cols;
  input.entries = header.nnz;
}

void describe_matrix_market(input_description& input) {
  input.kind = input_kind::matrix_market;
  const matrix_market_header header = read_matrix_market_header(*input.file);
  input.format = header.layout == matrix_market_layout::array ? "Matrix Market array" : "Matrix Market coordinate";
  input.field = header.field;
  input.symmetry = header.symmetry;
  input.directed = header.symmetry == symmetry_kind::general;
  input.rows = header.rows;
  input.cols = header.cols;
  input.entries = header.entries;
}

// Generated graphs have no values worth keeping; generated matrices do.
bool is_generated_graph(std::string_view spec) {
  constexpr std::string_view graphs[] = {"rmat", "grid2d", "grid3d", "path", "star", "complete"};
  spec.remove_prefix(std::min(spec.size(), std::string_view("gen:").size()));
  const std::string_view name = spec.substr(0, spec.find(':'));
  return std::find(std::begin(graphs), std::end(graphs), name) != std::end(graphs);
}

void describe_generated(input_description& input) {
  input.kind = input_kind::generator;
  input.format = "generated";
  if (is_generated_graph(input.path)) input.field = matrix_market_field::pattern;
  const generator_info info = describe_generator(input.path);
  input.directed = !info.symmetric;
  input.rows = info.rows;
  input.cols = info.cols;
  input.entries = info.entries;
}

void describe_graph(input_description& input, input_kind kind, const char* format) {
  input.kind = kind;
  input.format = format;
}

void describe_edge_list(input_description& input) {
  describe_graph(input, input_kind::edge_list, "edge list");
  input.columns = read_edge_list_header(*input.file, input.wanted_columns, input.wanted_ids);
  input.directed = input.columns.direction != edge_direction::undirected;
}

void describe_document(input_description& input, const char* format) {
  describe_graph(input, input_kind::document, format);
  input.directed = read_graph_document_direction(*input.file) != edge_direction::undirected;
}

void describe_file(const context<host>& ctx, input_description& input, input_format format) {
  switch (format) {
    case input_format::snapshot:
      return describe_snapshot(ctx, input);
    case input_format::matrix_market:
      return describe_matrix_market(input);
    case input_format::edge_list:
      return describe_edge_list(input);
    case input_format::gml:
      return describe_document(input, "GML");
    case input_format::graphml:
      return describe_document(input, "GraphML");
    case input_format::dimacs_arcs:
      return describe_graph(input, input_kind::dimacs, "DIMACS arcs");
    case input_format::dimacs_edges:
      describe_graph(input, input_kind::dimacs, "DIMACS edges");
      break;
    case input_format::metis:
      describe_graph(input, input_kind::metis, "METIS");
      break;
  }
  input.symmetry = symmetry_kind::symmetric;
  input.directed = false;
}

}  // namespace

input_description describe_input(const context<host>& ctx, const std::string& path, const std::string& columns,
                                 id_kind ids) {
  const busy opening("opening " + path);  // the first bytes of a pipe may take time
  input_description input;
  input.path = path;
  input.wanted_columns = columns;
  input.wanted_ids = ids;
  if (is_generator_spec(path)) {
    describe_generated(input);
  } else {
    describe_file(ctx, input, input.file.emplace(path).format());
  }
  if ((!columns.empty() || ids != id_kind::automatic) && input.kind != input_kind::edge_list) {
    throw error(error_code::invalid_argument, fmt::format("{}: {} is {}, and not an edge list",
                                                          columns.empty() ? "--ids" : "--columns", path, input.format));
  }
  return input;
}

symmetry_kind mirrored_as(const input_description& input, symmetry_kind symmetry) {
  const bool may_list_one =
      lists_edges(input.kind) || (input.kind == input_kind::snapshot && input.symmetry == symmetry_kind::general);
  return may_list_one && !input.directed ? symmetry_kind::symmetric : symmetry;
}

void expect_matrix(const input_description& input) {
  if (is_graph_text(input.kind)) {
    throw error(
        error_code::unsupported, source_position{input.path, 0, 0},
        fmt::format("not a Matrix Market file: {} (expected one that begins with %%MatrixMarket, a snapshot, or "
                    "gen:...; convert turns a graph into either)",
                    input.format));
  }
}

std::int64_t vertex_names::id(std::int64_t vertex) const {
  switch (naming) {
    case vertex_naming::listed:
      return ids[static_cast<std::size_t>(vertex)];
    case vertex_naming::rows_from_one:
      return vertex + 1;
    case vertex_naming::from_zero:
      break;
    case vertex_naming::names:
      throw error(error_code::unsupported, "vertices have names here (expected integer ids)");
  }
  return vertex;
}

std::optional<std::int64_t> vertex_names::vertex(std::int64_t wanted) const {
  if (naming == vertex_naming::listed) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), wanted);
    if (at == ids.end() || *at != wanted) return std::nullopt;
    return at - ids.begin();
  }
  const std::int64_t first = naming == vertex_naming::rows_from_one ? 1 : 0;
  if (wanted < first || wanted - first >= vertices) return std::nullopt;
  return wanted - first;
}

std::string vertex_names::label(std::int64_t vertex) const {
  return are_integers() ? std::to_string(id(vertex)) : std::string(table.name(vertex));
}

void vertex_names::append_label(std::int64_t vertex, std::string& line) const {
  if (are_integers()) {
    const fmt::format_int digits(id(vertex));
    line.append(digits.data(), digits.size());
  } else {
    append_name(line, table.name(vertex));
  }
}

std::optional<std::int64_t> vertex_names::find(std::string_view label) const {
  if (!are_integers()) {
    const std::optional<std::int64_t> vertex = table.find(label);
    if (vertex.has_value() || !label.starts_with('"')) return vertex;
    const std::vector<std::string> unquoted = split_labels({std::string(label)});
    return unquoted.size() == 1 ? table.find(unquoted[0]) : std::nullopt;
  }
  std::int64_t id = 0;
  if (!parse_integer(label, id)) return std::nullopt;
  return vertex(id);
}

std::int64_t expect_vertex(const vertex_names& names, const std::string& flag, const std::string& label,
                           const std::string& also) {
  if (const std::optional<std::int64_t> vertex = names.find(label)) return *vertex;
  std::string known = "it has none";
  if (names.vertices > 0) {
    known = fmt::format("expected one of the {} {} from {} to {}{}", names.vertices,
                        names.are_integers() ? "ids" : "names", names.label(0), names.label(names.vertices - 1), also);
  }
  throw error(error_code::invalid_argument,
              fmt::format("{} {}: the graph has no such vertex ({})", flag, label, known));
}

std::vector<std::string> split_labels(const std::vector<std::string>& lists) {
  std::vector<std::string> labels;
  for (const std::string& list : lists) {
    for (std::size_t at = 0; at <= list.size(); ++at) {
      std::string& label = labels.emplace_back();
      const bool quoted = at < list.size() && list[at] == '"';
      for (at += quoted ? 1 : 0; at < list.size() && (quoted || list[at] != ','); ++at) {
        if (quoted && list[at] == '"' && (++at == list.size() || list[at] != '"')) break;
        label += list[at];
      }
      if (at < list.size() && list[at] != ',') {
        throw usage_error(fmt::format("{}: {} follows the closing quote (expected a comma)", list, list[at]));
      }
    }
  }
  return labels;
}

std::vector<std::int64_t> vertex_names::all() const {
  if (naming == vertex_naming::listed) return ids;
  std::vector<std::int64_t> named(static_cast<std::size_t>(vertices));
  for (std::int64_t v = 0; v < vertices; ++v) named[static_cast<std::size_t>(v)] = id(v);
  return named;
}

}  // namespace spargo::apps
