// Writes GML and GraphML.
//
// Idea: a document is a sequence of elements of `key value` pairs; both formats differ in how an element begins and
// ends and in how values are written, not in the walk over nodes and edges. Text is checked to be UTF-8 without the
// characters that XML 1.0 excludes, in GML too, since networkx writes GML from the same strings. GML: Himsolt, 1997, as
// networkx restricts it: ASCII, integers of 32 bits (larger ones are text), reals with a decimal point.
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/text/line_writer.hpp"
#include "io/text/number.hpp"

#include <spargo/io/graph_document.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <utility>

namespace spargo {

namespace detail::document {

namespace {

constexpr std::size_t written_at = std::size_t{1} << 16;  // bytes gathered before they are written

// The next character of UTF-8, which is removed; none: not UTF-8, or excluded by XML 1.0.
std::optional<std::uint32_t> take_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (lead >= 0x80 && lead < 0xC2) return std::nullopt;
  if (size == 0 || text.size() < size) return std::nullopt;
  std::uint32_t c = size == 1 ? lead : lead & (0x7FU >> size);
  for (std::size_t k = 1; k < size; ++k) {
    const auto next = static_cast<unsigned char>(text[k]);
    if ((next & 0xC0U) != 0x80U) return std::nullopt;
    c = (c << 6U) | (next & 0x3FU);
  }
  text.remove_prefix(size);
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool control = c < 0x20 && c != '\t' && c != '\n' && c != '\r';
  if (control || c < least[size] || (c >= 0xD800 && c < 0xE000) || c == 0xFFFE || c == 0xFFFF || c > 0x10FFFF) {
    return std::nullopt;
  }
  return c;
}

// Appends the text with XML's entities; false: it cannot be written. `ascii`: other characters become &#NUMBER;.
bool append_escaped(std::string& to, std::string_view text, bool ascii) {
  while (!text.empty()) {
    const std::string_view before = text;
    const std::optional<std::uint32_t> c = take_character(text);
    if (!c.has_value()) return false;
    switch (*c) {
      case '&':
        to += "&amp;";
        break;
      case '<':
        to += "&lt;";
        break;
      case '>':
        to += "&gt;";
        break;
      case '"':
        to += "&quot;";
        break;
      default:
        if (*c < 0x20 || (ascii && *c >= 0x7F)) {
          to += fmt::format("&#{};", *c);  // format_to would compile all of fmt here
        } else {
          to += before.substr(0, before.size() - text.size());
        }
    }
  }
  return true;
}

std::string number_text(double value) {
  char text[24];
  return {text, put_number(text, value)};
}

// Vertices as text.
struct vertex_labels {
  const vertex_name_table& names;
  span<const std::int64_t, host> ids;

  [[nodiscard]] std::string of(std::int64_t vertex) const {
    if (!names.empty()) return std::string(names.name(vertex));
    return std::to_string(ids.empty() ? vertex : ids[vertex]);
  }
};

// Edges as they are written, without their types.
struct edge_source {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t)> ends;
  std::function<double(std::int64_t)> weight;  // none: no weights
};

class document_writer {
 public:
  document_writer(const std::string& path, const edge_source& edges, const vertex_labels& labels,
                  const document_options& options)
      : edges_(edges), labels_(labels), options_(options), gml_(options.format == document_format::gml), file_(path) {
    whole_ = edges_.weight != nullptr;
    for (std::int64_t e = 0; whole_ && e < edges_.edges; ++e) {
      const double w = edges_.weight(e);
      whole_ = w == std::trunc(w) && std::abs(w) <= 9007199254740992.0 && !(w == 0 && std::signbit(w));
    }
    reserved_ = gml_ ? std::vector<std::string>{"id", "label", "source", "target"} : std::vector<std::string>{};
    node_keys_ = keys_of(options.attributes.nodes, reserved_);
    if (edges_.weight) weight_key_ = key_name(options.attributes.weight_name, reserved_);
    edge_keys_ = keys_of(options.attributes.edges, reserved_);
  }

  void run() {
    gml_ ? begin_gml() : begin_graphml();
    const std::int64_t first = std::max<std::int64_t>(options_.first_vertex, 0);
    for (std::int64_t k = 0; k < edges_.vertices; ++k) put_node(k == 0 ? first : k <= first ? k - 1 : k);
    for (std::int64_t e = 0; e < edges_.edges; ++e) put_edge(e);
    text_ += gml_ ? "]\n" : "  </graph>\n</graphml>\n";
    file_.write(text_);
    file_.commit();
  }

 private:
  // A valid key name that is not in `taken`, to which it is added. GraphML allows any name.
  std::string key_name(std::string name, std::vector<std::string>& taken) const {
    if (gml_) {
      const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
      for (char& c : name) c = is_letter(c) || (c >= '0' && c <= '9') || c == '_' ? c : '_';
      if (name.empty() || !is_letter(name[0])) name.insert(0, "x");
    }
    const auto same = [](char a, char b) { return a == b || ((a | 0x20) == (b | 0x20) && (a | 0x20) >= 'a'); };
    const auto is_taken = [&](const std::string& wanted) {
      return std::any_of(taken.begin(), taken.end(), [&](const std::string& other) {
        return std::equal(other.begin(), other.end(), wanted.begin(), wanted.end(), same);
      });
    };
    std::string free = name;
    for (int k = 2; is_taken(free); ++k) free = fmt::format("{}_{}", name, k);
    return taken.emplace_back(std::move(free));
  }

  std::vector<std::string> keys_of(const std::vector<attribute_column>& columns, std::vector<std::string> taken) const {
    std::vector<std::string> keys;
    for (const attribute_column& column : columns) keys.push_back(key_name(column.name, taken));
    return keys;
  }

  // Whether an edge occurs twice, in either direction if undirected.
  [[nodiscard]] bool repeats() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    all.reserve(static_cast<std::size_t>(edges_.edges));
    for (std::int64_t e = 0; e < edges_.edges; ++e) {
      auto [u, v] = edges_.ends(e);
      if (options_.direction != edge_direction::directed && u > v) std::swap(u, v);
      all.emplace_back(u, v);
    }
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) != all.end();
  }

  void begin_gml() {
    text_ = "graph [\n";
    if (options_.direction == edge_direction::directed) text_ += "  directed 1\n";
    if (repeats()) text_ += "  multigraph 1\n";
  }

  void begin_graphml() {
    text_ =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"\n"
        "         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\n"
        "         xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns "
        "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n";
    if (edges_.weight) put_key("w", "edge", weight_key_, whole_ ? "long" : "double");
    put_keys("n", "node", options_.attributes.nodes, node_keys_);
    put_keys("e", "edge", options_.attributes.edges, edge_keys_);
    const bool directed = options_.direction == edge_direction::directed;
    text_ += fmt::format("  <graph edgedefault=\"{}\">\n", directed ? "directed" : "undirected");
  }

  void put_keys(const char* prefix, const char* of, const std::vector<attribute_column>& columns,
                const std::vector<std::string>& names) {
    constexpr std::array<const char*, 4> types{"boolean", "long", "double", "string"};
    for (std::size_t k = 0; k < columns.size(); ++k) {
      put_key(fmt::format("{}{}", prefix, k), of, names[k], types[static_cast<std::size_t>(columns[k].kind)]);
    }
  }
  void put_key(const std::string& id, const char* of, const std::string& name, const char* type) {
    text_ += fmt::format("  <key id=\"{}\" for=\"{}\" attr.name=\"", id, of);
    put_text(name, [&] { return fmt::format("the attribute {}", name); });
    text_ += fmt::format("\" attr.type=\"{}\"/>\n", type);
  }

  template <class Owner>
  void put_text(std::string_view text, const Owner& owner) {
    if (append_escaped(text_, text, gml_)) return;
    throw error(error_code::invalid_data,
                fmt::format("{}: text that is not UTF-8, or has a control character (expected text that XML can hold)",
                            owner()));
  }

  void put_node(std::int64_t v) {
    const std::string label = labels_.of(v);
    const auto owner = [&] { return "vertex " + std::to_string(v); };
    text_ += gml_ ? fmt::format("  node [\n    id {}\n    label \"", v) : std::string("    <node id=\"");
    put_text(label, owner);
    text_ += gml_ ? "\"\n" : "\"";
    const bool any = put_attributes("n", options_.attributes.nodes, node_keys_, v, gml_, owner);
    text_ += gml_ ? "  ]\n" : any ? "</node>\n" : "/>\n";
    write_if_long();
  }

  void put_edge(std::int64_t e) {
    const auto [u, v] = edges_.ends(e);
    const auto owner = [&, u = u, v = v] {
      return fmt::format("the edge from {} to {}", labels_.of(u), labels_.of(v));
    };
    if (gml_) {
      text_ += fmt::format("  edge [\n    source {}\n    target {}\n", u, v);
    } else {
      text_ += "    <edge source=\"";
      put_text(labels_.of(u), owner);
      text_ += "\" target=\"";
      put_text(labels_.of(v), owner);
      text_ += "\"";
    }
    bool is_open = gml_;  // whether the element's first tag has ended
    if (edges_.weight) {
      const double w = edges_.weight(e);
      if (gml_) {
        if (std::isnan(w)) {
          throw error(error_code::invalid_data, owner() + ": its weight is NaN (expected a number in GML)");
        }
        text_ += fmt::format("    {} {}\n", weight_key_,
                             whole_ && has_32_bits(number_of(w)) ? std::to_string(number_of(w)) : gml_real(w));
      } else {
        text_ += fmt::format("><data key=\"w\">{}</data>", whole_ ? std::to_string(number_of(w)) : xml_real(w));
        is_open = true;
      }
    }
    is_open = put_attributes("e", options_.attributes.edges, edge_keys_, e, is_open, owner);
    text_ += gml_ ? "  ]\n" : is_open ? "</edge>\n" : "/>\n";
    write_if_long();
  }

  // Returns whether the element's first tag has ended.
  template <class Owner>
  bool put_attributes(const char* prefix, const std::vector<attribute_column>& columns,
                      const std::vector<std::string>& keys, std::int64_t item, bool is_open, const Owner& owner) {
    const auto k = static_cast<std::size_t>(item);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const attribute_column& column = columns[c];
      if (!column.present[k]) continue;
      if (gml_) {
        text_ += fmt::format("    {} ", keys[c]);
        put_gml_value(column, column.values[k], owner);
        text_ += '\n';
        continue;
      }
      text_ += fmt::format("{}<data key=\"{}{}\">", is_open ? "" : ">", prefix, c);
      put_text(column.values[k], owner);
      text_ += "</data>";
      is_open = true;
    }
    return is_open;
  }

  template <class Owner>
  void put_gml_value(const attribute_column& column, const std::string& value, const Owner& owner) {
    std::int64_t whole = 0;
    double real = 0;
    if (column.kind == attribute_kind::boolean) {
      text_ += value == "true" ? "1" : "0";
    } else if (column.kind == attribute_kind::integer && parse_integer(value, whole) == number_status::ok &&
               has_32_bits(whole)) {
      text_ += std::to_string(whole);
    } else if (column.kind == attribute_kind::real && parse_real(value, real) == number_status::ok &&
               !std::isnan(real)) {
      text_ += gml_real(real);
    } else {
      text_ += '"';
      put_text(value, owner);
      text_ += '"';
    }
  }

  static std::int64_t number_of(double w) { return static_cast<std::int64_t>(w); }
  static std::string xml_real(double w) {  // as XML Schema spells them
    return std::isnan(w) ? "NaN" : std::isinf(w) ? w < 0 ? "-INF" : "INF" : number_text(w);
  }
  static bool has_32_bits(std::int64_t value) {
    return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
  }
  static std::string gml_real(double value) {
    if (std::isinf(value)) return value < 0 ? "-INF" : "+INF";
    std::string text = number_text(value);
    const std::size_t e = text.find('e');
    if (text.find('.') == std::string::npos) text.insert(std::min(e, text.size()), ".0");
    return text;
  }

  void write_if_long() {
    if (text_.size() < written_at) return;
    file_.write(text_);
    text_.clear();
  }

  const edge_source& edges_;
  const vertex_labels& labels_;
  const document_options& options_;
  bool gml_;
  bool whole_ = false;  // all weights are integers
  output_file file_;
  std::vector<std::string> reserved_;
  std::vector<std::string> node_keys_;
  std::vector<std::string> edge_keys_;
  std::string weight_key_;
  std::string text_;
};

void check_columns(const std::vector<attribute_column>& columns, std::int64_t count, const char* of) {
  for (const attribute_column& column : columns) {
    SPARGO_EXPECTS(std::ssize(column.values) == count && std::ssize(column.present) == count,
                   fmt::format("write_graph_document: attribute {} of {} {} (expected {})", column.name,
                               column.values.size(), of, count));
  }
}

}  // namespace

}  // namespace detail::document

template <entry_type V, index_type I>
void write_graph_document(const std::string& path, const coo_view<const V, I, host>& edges,
                          const vertex_name_table& names, span<const std::int64_t, host> ids,
                          const document_options& options) try {
  using namespace detail::document;
  SPARGO_EXPECTS(
      edges.rows == edges.cols && edges.col_indices.size() == edges.nnz() &&
          (names.empty() || names.size() == edges.rows) && (ids.empty() || ids.size() == edges.rows) &&
          options.first_vertex < edges.rows,
      fmt::format("write_graph_document: {} x {} with {} names, {} ids and first vertex {} (expected a square "
                  "matrix, and a name or id for each vertex or none)",
                  edges.rows, edges.cols, names.size(), ids.size(), options.first_vertex));
  check_columns(options.attributes.nodes, edges.rows, "vertices");
  check_columns(options.attributes.edges, edges.nnz(), "edges");
  for (std::int64_t k = 0; k < edges.nnz(); ++k) {
    for (const I v : {edges.row_indices[k], edges.col_indices[k]}) {
      if (v >= 0 && v < edges.rows) continue;
      throw error(error_code::invalid_data,
                  fmt::format("write_graph_document: vertex {} (expected 0 or more, less than {})", v, edges.rows));
    }
  }
  edge_source source{edges.rows, edges.nnz(), {}, {}};
  source.ends = [&](std::int64_t k) -> std::pair<std::int64_t, std::int64_t> {
    return {edges.row_indices[k], edges.col_indices[k]};
  };
  if constexpr (!is_pattern<V>) source.weight = [&](std::int64_t k) { return static_cast<double>(edges.values[k]); };
  const vertex_labels labels{names, ids};
  document_writer(path, source, labels, options).run();
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(path, "host memory ran out while the file was written");
}

#define INSTANTIATE(I)                                                                            \
  template void write_graph_document(const std::string&, const coo_view<const pattern, I, host>&, \
                                     const vertex_name_table&, span<const std::int64_t, host>,    \
                                     const document_options&);                                    \
  template void write_graph_document(const std::string&, const coo_view<const double, I, host>&,  \
                                     const vertex_name_table&, span<const std::int64_t, host>,    \
                                     const document_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
