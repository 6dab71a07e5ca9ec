// Graphs from GML and GraphML documents.
//
// Idea: the parsers pass ids as text. At the end all of them, nodes first, are numbered together by the table of
// names that edge lists use: a node whose number is not its position occurs twice, and an edge's end whose number is
// not a node's is unknown. Cost: expected O(characters).
#include "io/document/document.hpp"

#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/edge_list/columns.hpp"
#include "io/opened_input.hpp"
#include "io/text/input_format.hpp"
#include "io/text/vertex_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <numeric>

namespace spargo {

namespace detail::document {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

// The integer that a name spells; -1: none, or not in its usual form, so that it could not be written back.
std::int64_t integer_of(std::string_view name) {
  std::int64_t value = 0;
  const bool plain = !name.empty() && (name[0] != '0' || name.size() == 1) && name[0] != '+' && name[0] != '-';
  return plain && parse_integer(name, value) == number_status::ok ? value : -1;
}

// The names as integers; empty if one is not an integer.
std::vector<std::int64_t> integers_of(const vertex_name_table& names) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(names.size()));
  for (std::size_t v = 0; v < all.size(); ++v) {
    all[v] = integer_of(names.name(static_cast<std::int64_t>(v)));
    if (all[v] < 0) return {};
  }
  return all;
}

}  // namespace

byte_source::byte_source(const input_file& file, extent wanted, const read_options& options)
    : name_(file.name()), options_(options) {
  if (wanted == extent::head) {
    head_ = file.head();
    return;
  }
  stream_ = file.opened().take_stream();
  total_ = file.opened().file->is_regular ? file.opened().file->size : 0;
  buffer_.resize(buffer_bytes);
}

std::string_view byte_source::next() {
  if (stream_ == nullptr) return std::exchange(head_, {});
  const std::int64_t got = stream_->read(buffer_.data(), std::ssize(buffer_));
  if (got == 0 && !stream_->failure().empty()) throw error(error_code::io, {name_}, stream_->failure());
  if (options_.progress) options_.progress({stream_->consumed(), total_});
  std::string_view bytes(buffer_.data(), static_cast<std::size_t>(got));
  if (!std::exchange(begun_, true) && bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
  return bytes;
}

void byte_source::fail(place at, const std::string& message, error_code code) const {
  throw error(code, {name_, at.line, at.column}, message);
}

void graph_collector::strings::append_views(std::vector<std::string_view>& views) const {
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    views.push_back(std::string_view(characters).substr(begin, end - begin));
    begin = end;
  }
}

void graph_collector::add_node(std::string_view id, place at) {
  nodes_.add(id);
  node_places_.push_back(at);
}

void graph_collector::set_label(std::string_view label) { labels_.add(label); }

void graph_collector::add_edge(std::string_view source, std::string_view target, place at) {
  ends_.add(source);
  ends_.add(target);
  edge_places_.push_back(at);
}

bool graph_collector::has_weight(int rank) const {
  return weights_[static_cast<std::size_t>(rank)].last == std::ssize(edge_places_);
}

void graph_collector::set_weight(int rank, std::string_view token, place at) {
  double value = 0;
  const number_status status = parse_real(token, value);
  if (status == number_status::malformed) {
    source_.fail(at, fmt::format("{} is not a weight (expected a real number)", quoted(token)));
  }
  if (status == number_status::out_of_range) {
    source_.fail(at, fmt::format("{} is beyond the range of float64", quoted(token)));
  }
  if (may_be_rounded(value) && is_rounded(token, value)) ++rounded_;
  weight_values& kept = weights_[static_cast<std::size_t>(rank)];
  const std::int64_t edge = std::ssize(edge_places_);
  if (kept.last == edge) source_.fail(at, "a second weight of one edge (expected one)");
  if (kept.last + 1 != edge && kept.missing < 0) kept.missing = kept.last + 1;
  kept.last = edge;
  kept.values.push_back(value);
}

graph_collector::numbering graph_collector::number_nodes() const {
  std::vector<std::string_view> names;
  names.reserve(nodes_.ends.size() + ends_.ends.size());
  nodes_.append_views(names);
  ends_.append_views(names);
  numbering found;
  found.numbers.resize(names.size());
  vertex_name_table all = number_names(ctx_, names, found.numbers);
  const std::int64_t count = std::ssize(node_places_);
  for (std::int64_t v = 0; v < count; ++v) {
    const auto k = static_cast<std::size_t>(v);
    if (found.numbers[k] != v) {
      source_.fail(node_places_[k], fmt::format("node {} occurs twice (expected different ids)", quoted(names[k])));
    }
  }
  for (std::size_t k = node_places_.size(); k < names.size(); ++k) {
    if (found.numbers[k] < count) continue;
    source_.fail(edge_places_[(k - node_places_.size()) / 2],
                 fmt::format("the edge's end {} is no node (expected a node's id)", quoted(names[k])));
  }
  found.nodes = std::move(all);  // all of them are nodes
  return found;
}

// The labels, if every node has one and all differ.
vertex_name_table graph_collector::choose_names(const vertex_name_table& by_id) {
  if (labels_.ends.empty() || std::ssize(labels_.ends) != by_id.size()) return by_id;
  std::vector<std::string_view> labels;
  labels_.append_views(labels);
  std::vector<std::int64_t> numbers(labels.size());
  vertex_name_table named = number_names(ctx_, labels, numbers);
  labels_are_names_ = named.size() == by_id.size();
  return labels_are_names_ ? named : by_id;
}

attribute_kind joined_kind(attribute_kind a, attribute_kind b) {
  const auto is_number = [](attribute_kind k) { return k == attribute_kind::integer || k == attribute_kind::real; };
  if (a == b) return a;
  return is_number(a) && is_number(b) ? attribute_kind::real : attribute_kind::text;
}

void graph_collector::set_attribute(owner of, const std::string& name, attribute_kind kind, std::string_view value) {
  if (!keeps_attributes_) return;
  columns& kept = of == owner::node ? node_columns_ : edge_columns_;
  const auto item = of == owner::node ? node_places_.size() - 1 : edge_places_.size();
  const auto [at, is_new] = kept.by_name.try_emplace(name, kept.all.size());
  if (is_new) kept.all.push_back({name, kind, {}, {}});
  attribute_column& column = kept.all[at->second];
  if (column.values.size() > item) {  // the node or edge has a value
    ++omitted_;
    return;
  }
  column.kind = joined_kind(column.kind, kind);
  column.values.resize(item);
  column.present.resize(item);
  column.values.emplace_back(value);
  column.present.push_back(true);
}

graph_attributes graph_collector::finish_attributes() {
  graph_attributes found;
  found.omitted = omitted_;
  for (attribute_column& column : node_columns_.all) {
    if (labels_are_names_ && column.name == "label") continue;
    attribute_column& by_vertex = found.nodes.emplace_back(std::move(column));
    std::vector<std::string> values(vertices_.size());
    std::vector<bool> present(vertices_.size());
    for (std::size_t node = 0; node < by_vertex.values.size(); ++node) {
      const auto v = static_cast<std::size_t>(vertices_[node]);
      values[v] = std::move(by_vertex.values[node]);
      present[v] = by_vertex.present[node];
    }
    by_vertex.values = std::move(values);
    by_vertex.present = std::move(present);
  }
  for (attribute_column& column : edge_columns_.all) {
    if (weight_rank_ >= 0 && edge_text::weight_rank(column.name) == weight_rank_) {
      found.weight_name = column.name;
      continue;
    }
    column.values.resize(edge_places_.size());
    column.present.resize(edge_places_.size());
    found.edges.push_back(std::move(column));
  }
  return found;
}

graph_collector::weight_values* graph_collector::complete_weights() {
  const auto used = std::find_if(weights_.begin(), weights_.end(), [](const weight_values& w) { return w.last >= 0; });
  if (used == weights_.end()) return nullptr;
  const std::int64_t edges = std::ssize(edge_places_);
  const std::int64_t missing = used->missing >= 0 ? used->missing : used->last + 1;
  if (missing < edges) {
    source_.fail(edge_places_[static_cast<std::size_t>(missing)],
                 "an edge without a weight, where others have one (expected one of each edge, or of none: networkx "
                 "takes 1 for it)");
  }
  weight_rank_ = static_cast<int>(used - weights_.begin());
  return &*used;
}

template <index_type I>
edge_list<I> graph_collector::finish() {
  edge_list<I> list;
  const numbering found = number_nodes();
  const std::int64_t count = std::ssize(node_places_);
  expect_vertices<I>(source_.name(), count);
  list.names = choose_names(found.nodes);
  std::vector<std::int64_t> vertices(static_cast<std::size_t>(count));
  std::iota(vertices.begin(), vertices.end(), std::int64_t{0});
  const std::vector<std::int64_t> integers = integers_of(list.names);
  list.header.ids = integers.empty() && count > 0 ? id_kind::names : id_kind::integers;
  if (list.header.ids == id_kind::integers) {
    std::vector<std::int64_t> order = vertices;
    const auto id = [&](std::int64_t v) { return integers[static_cast<std::size_t>(v)]; };
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return id(a) < id(b); });
    for (std::int64_t k = 0; k < count; ++k) {
      vertices[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = k;
      list.ids.push_back(id(order[static_cast<std::size_t>(k)]));
    }
    list.names = {};
  }
  list.header.direction = direction;
  list.first_vertex = count > 0 ? vertices[0] : -1;
  if (keeps_attributes_) vertices_ = vertices;
  const std::int64_t edges = std::ssize(edge_places_);
  array<I, host> rows(ctx_, edges);
  array<I, host> cols(ctx_, edges);
  const auto vertex = [&](std::int64_t k) {
    return static_cast<I>(vertices[static_cast<std::size_t>(found.numbers[static_cast<std::size_t>(count + k)])]);
  };
  for (std::int64_t k = 0; k < edges; ++k) {
    rows[k] = vertex(2 * k);
    cols[k] = vertex(2 * k + 1);
  }
  weight_values* const weights = complete_weights();
  list.weighted = weights != nullptr;
  list.rounded_integers = weights != nullptr ? rounded_ : 0;
  array<double, host> values(ctx_, edges);
  for (std::int64_t k = 0; k < edges; ++k) {
    values[k] = weights == nullptr ? 1.0 : weights->values[static_cast<std::size_t>(k)];
  }
  const auto size = static_cast<I>(count);
  list.edges = {size, size, std::move(rows), std::move(cols), std::move(values)};
  return list;
}

namespace {

void parse(const input_file& file, byte_source& source, extent wanted, graph_collector& graph) {
  file.format() == input_format::graphml ? parse_graphml(source, wanted, graph) : parse_gml(source, wanted, graph);
}

}  // namespace

}  // namespace detail::document

edge_direction read_graph_document_direction(const input_file& file) try {
  using namespace detail::document;
  const context<host> ctx({.threads = 1});
  byte_source source(file, extent::head);
  graph_collector graph(ctx, source);
  try {
    parse(file, source, extent::head, graph);
  } catch (const error& e) {  // the first bytes may end anywhere
    if (e.code() != error_code::parse || std::ssize(file.head()) < detail::head_bytes) throw;
  }
  const bool gml = file.format() == input_format::gml;
  return graph.direction == edge_direction::not_said && gml ? edge_direction::undirected : graph.direction;
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(file.name(), "host memory ran out while the file was read");
}

template <index_type I>
edge_list<I> read_graph_document(const context<host>& ctx, const input_file& file, const read_options& options) try {
  using namespace detail::document;
  byte_source source(file, extent::whole, options);
  graph_collector graph(ctx, source);
  parse(file, source, extent::whole, graph);
  return graph.finish<I>();
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(file.name(), "host memory ran out while the file was read");
}

template <index_type I>
attributed_edge_list<I> read_attributed_document(const context<host>& ctx, const input_file& file,
                                                 const read_options& options) try {
  using namespace detail::document;
  byte_source source(file, extent::whole, options);
  graph_collector graph(ctx, source);
  graph.keep_attributes();
  parse(file, source, extent::whole, graph);
  edge_list<I> list = graph.finish<I>();
  return {std::move(list), graph.finish_attributes()};
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(file.name(), "host memory ran out while the file was read");
}

#define INSTANTIATE(I)                                                                                        \
  template edge_list<I> read_graph_document<I>(const context<host>&, const input_file&, const read_options&); \
  template attributed_edge_list<I> read_attributed_document<I>(const context<host>&, const input_file&,       \
                                                               const read_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
