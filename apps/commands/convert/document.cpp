// Writing GML and GraphML: vertices by their names, edges as they are listed, with attributes.
//
// A document says whether it is directed, so an undirected graph has each edge once: a symmetric matrix its triangle, a
// list of edges its lines.
#include "cli/progress.hpp"
#include "commands/convert/conversion.hpp"
#include "commands/convert/mirrored.hpp"
#include "input/attribute_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace spargo::apps {

namespace {

// Gives columns of one name different ones, and warns.
void separate_names(const conversion& c, std::vector<attribute_column>& columns) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::string wanted = columns[k].name;
    const auto is_taken = [&] {
      return std::any_of(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(k),
                         [&](const attribute_column& other) { return other.name == columns[k].name; });
    };
    for (int n = 2; is_taken(); ++n) columns[k].name = fmt::format("{}_{}", wanted, n);
    if (columns[k].name != wanted)
      c.warn(fmt::format("a second attribute {} is written as {}", wanted, columns[k].name));
  }
}

void warn_of_keys(const conversion& c, const std::vector<attribute_column>& columns) {
  if (c.to.document != document_format::gml) return;
  constexpr std::array<std::string_view, 4> reserved{"id", "label", "source", "target"};
  for (const attribute_column& column : columns) {
    const std::string& name = column.name;
    std::string small = name;
    std::transform(small.begin(), small.end(), small.begin(), [](unsigned char b) { return std::tolower(b); });
    const bool plain =
        !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
        std::all_of(name.begin(), name.end(), [](unsigned char b) { return std::isalnum(b) != 0 || b == '_'; });
    if (plain && std::find(reserved.begin(), reserved.end(), small) == reserved.end()) continue;
    c.warn(
        fmt::format("the attribute '{}' gets another name: GML's have letters, digits and _ alone, and are not id, "
                    "label, source or target",
                    name));
  }
}

}  // namespace

template <entry_type V, index_type I>
written write_document(const conversion& c, const coo_view<const V, I, host>& entries, symmetry_kind triangle,
                       const input_facts& facts, graph_attributes attributes) {
  if constexpr (!is_pattern<V> && !std::same_as<V, double>) {
    c.refuse(fmt::format("complex values are no weights (expected real values or none for {})", c.to.format));
  } else {
    if (entries.rows != entries.cols) {
      c.refuse(fmt::format("a {} x {} matrix is no graph (expected a square one for {})", entries.rows, entries.cols,
                           c.to.format));
    }
    if (triangle != symmetry_kind::general && triangle != symmetry_kind::symmetric) {  // it differs by direction
      const coo_matrix<V, I, host> all = with_mirrored<V, I>(c.ctx, entries, triangle);
      return write_document<V, I>(c, all.view(), symmetry_kind::general, facts);
    }
    const bool listed = lists_edges(c.input.kind) && !c.input.directed;
    const bool undirected = triangle == symmetry_kind::symmetric || listed;
    vertex_names names = facts.names;
    join_attributes(c.flags.table.attributes, names);
    report_attributes(c.out, names);
    if (names.attributes != nullptr) {
      std::vector<attribute_column> joined = columns_by_vertex(*names.attributes);
      std::move(joined.begin(), joined.end(), std::back_inserter(attributes.nodes));
    }
    for (auto* columns : {&attributes.nodes, &attributes.edges}) {
      separate_names(c, *columns);
      warn_of_keys(c, *columns);
    }
    document_options options{c.to.document, undirected ? edge_direction::undirected : edge_direction::directed,
                             facts.first_vertex, std::move(attributes)};
    const bool by_name = !names.are_integers();
    const std::vector<std::int64_t> ids = by_name ? std::vector<std::int64_t>{} : names.all();
    write_graph_document<V, I>(c.flags.to, entries, by_name ? names.table : vertex_name_table{}, ids, options);
    c.out.keys()["attributes"] = {{"vertices", options.attributes.nodes.size()},
                                  {"edges", options.attributes.edges.size()}};
    if (!options.attributes.nodes.empty() || !options.attributes.edges.empty()) {
      c.out.row("attributes", fmt::format("{} of vertices, {} of edges", options.attributes.nodes.size(),
                                          options.attributes.edges.size()));
    }
    return {entries.rows, entries.cols, entries.nnz(), !is_pattern<V>, false, undirected};
  }
}

#define INSTANTIATE(V)                                                                                            \
  template written write_document(const conversion&, const coo_view<const V, std::int32_t, host>&, symmetry_kind, \
                                  const input_facts&, graph_attributes);                                          \
  template written write_document(const conversion&, const coo_view<const V, std::int64_t, host>&, symmetry_kind, \
                                  const input_facts&, graph_attributes);
INSTANTIATE(pattern)
INSTANTIATE(double)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

written convert_document(const conversion& c) {
  progress_bar bar("reading " + c.input.path, c.flags.common.quiet);
  attributed_edge_list<std::int64_t> read = read_attributed_document<std::int64_t>(c.ctx, *c.input.file, bar.options());
  c.input.directed = read.list.header.direction != edge_direction::undirected;
  input_facts facts;
  facts.first_vertex = read.list.first_vertex;
  facts.names = names_of(read.list);
  warn_of_rounding(c.out, c.source(), read.list.rounded_integers);
  if (read.attributes.omitted > 0) {
    c.warn(fmt::format("{} omitted: further values of an attribute that has one",
                       counted(read.attributes.omitted, "value")));
  }
  const coo_view<const double, std::int64_t, host> entries = std::as_const(read.list.edges).view();
  const busy writing("writing " + c.flags.to);
  if (read.list.weighted) {
    return write_document<double, std::int64_t>(c, entries, symmetry_kind::general, facts, std::move(read.attributes));
  }
  return write_document<pattern, std::int64_t>(c, {{entries}, {}}, symmetry_kind::general, facts,
                                               std::move(read.attributes));
}

std::vector<attribute_column> read_edge_columns(const conversion& c, std::int64_t edges) {
  const edge_list_header& header = c.input.columns;
  const std::vector<int> used{header.source, header.target, header.weight, header.type};
  std::vector<attribute_column> kept;
  if (c.input.kind != input_kind::edge_list || header.names.empty()) return kept;
  const auto is_used = [&](std::size_t k) {
    return std::find(used.begin(), used.end(), static_cast<int>(k)) != used.end();
  };
  bool any = false;
  for (std::size_t k = 0; k < header.names.size(); ++k) any = any || !is_used(k);
  if (!any) return kept;
  const auto give_up = [&](const std::string& why) {
    c.warn("other columns of the edge list are not kept: " + why);
    return std::vector<attribute_column>{};
  };
  if (!c.input.can_be_read_again()) return give_up("the input cannot be read twice");
  if (header.row_names || header.separator == ' ') return give_up("the header line does not name every field");
  try {
    attribute_table table = read_attribute_rows(c.input.path);
    if (std::ssize(table.lines) != edges || table.columns.size() != header.names.size()) {
      return give_up("its lines are not one edge each");
    }
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      if (!is_used(k)) kept.push_back(std::move(table.columns[k]));
    }
  } catch (const error& e) {
    if (e.code() != error_code::parse) throw;
    return give_up(e.what());
  }
  return kept;
}

}  // namespace spargo::apps
