// GML: nested lists `key value`, where a value is a number, a string in double quotes, or a list `[ ... ]`.
//
// One pass over the bytes; other lists are skipped without recursion. Source: Himsolt, "GML: A
// portable Graph File Format" (1997). Strings have no escapes but XML's character entities.
#include "io/document/document.hpp"
#include "io/edge_list/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace spargo::detail::document {

namespace {

constexpr int at_end = -1;
constexpr int most_named_lists = 8;  // of an attribute's path

void append_utf8(std::string& text, std::uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr std::array<std::uint32_t, 4> marks{0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(marks[static_cast<std::size_t>(more)] | (c >> (6 * more)));
  for (int k = more - 1; k >= 0; --k) text += static_cast<char>(0x80 | ((c >> (6 * k)) & 0x3F));
}

// Replaces &amp; and XML's other entities, and &#NUMBER;; keeps anything else that begins with &.
std::string without_entities(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> named{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string plain;
  while (!text.empty()) {
    const auto known =
        std::find_if(named.begin(), named.end(), [&](const auto& each) { return text.starts_with(each.first); });
    const std::size_t end = text.starts_with("&#") ? text.find(';') : std::string_view::npos;
    std::uint32_t code = 0;
    for (std::size_t k = 2; end != std::string_view::npos && k < end && code <= 0x10FFFF; ++k) {
      code = is_digit(text[k]) ? 10 * code + static_cast<std::uint32_t>(text[k] - '0') : 0x110000;
    }
    if (known != named.end()) {
      plain += known->second;
      text.remove_prefix(known->first.size());
    } else if (end != std::string_view::npos && code > 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF)) {
      append_utf8(plain, code);
      text.remove_prefix(end + 1);
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

class gml_parser {
 public:
  gml_parser(byte_source& source, extent wanted, graph_collector& graph)
      : source_(source), wanted_(wanted), graph_(graph) {}

  void run() {
    bool found = false;
    while (!done_ && next_key()) {
      if (key_ != "graph") {
        skip_value();
        continue;
      }
      if (found) source_.fail(key_at_, "a second graph (expected one)", error_code::unsupported);
      found = true;
      open_list();
      read_graph();
    }
    if (!found && !done_) source_.fail(here_, "the file ends before its graph (expected graph [ ... ])");
  }

 private:
  // --- Characters

  [[nodiscard]] int peek() {
    if (rest_.empty()) rest_ = source_.next();
    return rest_.empty() ? at_end : static_cast<unsigned char>(rest_.front());
  }
  void pass() {
    const bool line_ends = rest_.front() == '\n';
    rest_.remove_prefix(1);
    here_.column = line_ends ? 1 : here_.column + 1;
    here_.line += line_ends ? 1 : 0;
  }
  static bool is_space(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  int skip_space() {
    int c = peek();
    while (is_space(c) || c == '#') {
      if (c == '#') {
        while (c != at_end && c != '\n') c = (pass(), peek());
      } else {
        c = (pass(), peek());
      }
    }
    return c;
  }

  // --- Tokens

  [[noreturn]] void fail(const std::string& message) const { source_.fail(at_, message); }

  void take_word() {
    token_.clear();
    for (int c = peek(); c != at_end && !is_space(c) && c != '[' && c != ']' && c != '"' && c != '#'; c = peek()) {
      if (token_.size() == most_text_bytes) fail("a word of more than 1 MiB");
      token_ += static_cast<char>(c);
      pass();
    }
  }

  // Reads the next key of a list; false at the list's end, which is consumed, or the file's.
  bool next_key() {
    const int c = skip_space();
    at_ = here_;
    if (c == at_end) {
      if (depth_ > 0 && wanted_ == extent::whole) fail("the file ends within a list (expected ])");
      done_ = done_ || depth_ > 0;
      return false;
    }
    if (c == ']') {
      if (depth_ == 0) fail("unexpected ] (expected a key)");
      --depth_;
      pass();
      return false;
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter)
      fail(fmt::format("unexpected '{}' (expected a key)",
                       c == '"' || c == '[' ? std::string(1, static_cast<char>(c)) : shown_word()));
    take_word();
    key_ = key_text_ = token_;
    for (char& letter_of : key_) {
      if (letter_of >= 'A' && letter_of <= 'Z') letter_of = static_cast<char>(letter_of - 'A' + 'a');
    }
    key_at_ = at_;
    return true;
  }

  std::string shown_word() {
    take_word();
    const std::string text = quoted(token_);
    return text.substr(1, text.size() - 2);
  }

  enum class value_kind { number, string, list };

  // The value of a key. A number, or a string's bytes if they are `kept`, is then in token_; a list is opened.
  value_kind take_value(bool kept = true) {
    const int c = skip_space();
    at_ = here_;
    if (c == at_end) fail(fmt::format("the file ends after {} (expected a value)", quoted(key_)));
    if (c == '[') {
      pass();
      ++depth_;
      return value_kind::list;
    }
    if (c != '"') {
      take_word();
      if (token_.empty()) fail(fmt::format("{} has no value (expected a number, a string or a list)", quoted(key_)));
      return value_kind::number;
    }
    pass();
    token_.clear();
    for (int inner = peek(); inner != '"'; inner = peek()) {
      if (inner == at_end) fail("the quotes do not end (expected another one)");
      if (kept && token_.size() == most_text_bytes) fail("a string of more than 1 MiB");
      if (kept) token_ += static_cast<char>(inner);
      pass();
    }
    pass();
    return value_kind::string;
  }

  void skip_value() {
    if (take_value(false) == value_kind::list) skip_list();
  }

  void skip_list() {
    const std::int64_t outside = depth_ - 1;
    while (depth_ > outside && !done_) {
      if (next_key()) (void)take_value(false);
    }
  }

  void open_list() {
    if (take_value() != value_kind::list) fail(fmt::format("{} is no list (expected [)", quoted(key_)));
  }

  // An id: an integer of 64 bits, negative ones excluded.
  std::string take_id() {
    std::int64_t id = 0;
    if (take_value() != value_kind::number || parse_integer(token_, id) != number_status::ok || id < 0) {
      fail(fmt::format("{} is not a vertex id (expected an integer from 0 to 2^63-1)", quoted(token_)));
    }
    return std::to_string(id);
  }

  // --- The graph

  void read_graph() {
    while (!done_ && next_key()) {
      if (key_ == "directed") {
        read_direction();
      } else if (key_ == "node" || key_ == "edge") {
        if (wanted_ == extent::head) {
          done_ = true;
          return;
        }
        const place begin = key_at_;
        const bool node = key_ == "node";
        open_list();
        node ? read_node(begin) : read_edge(begin);
      } else {
        skip_value();
      }
    }
    if (graph_.direction == edge_direction::not_said) graph_.direction = edge_direction::undirected;
  }

  void read_direction() {
    if (take_value() != value_kind::number || (token_ != "0" && token_ != "1")) {
      fail(fmt::format("{} is no direction (expected 0 or 1)", quoted(token_)));
    }
    graph_.direction = token_ == "1" ? edge_direction::directed : edge_direction::undirected;
  }

  struct attribute {
    std::string name;
    attribute_kind kind;
    std::string value;
  };

  // The value in token_.
  [[nodiscard]] attribute_kind kind_of_number() const {
    std::int64_t whole = 0;
    double real = 0;
    if (parse_integer(token_, whole) == number_status::ok) return attribute_kind::integer;
    return parse_real(token_, real) == number_status::ok ? attribute_kind::real : attribute_kind::text;
  }

  // The value of the key, or all of those within its list.
  void read_attribute(const std::string& name, std::vector<attribute>& found) {
    const value_kind kind = take_value();
    if (kind == value_kind::number) found.push_back({name, kind_of_number(), token_});
    if (kind == value_kind::string) found.push_back({name, attribute_kind::text, without_entities(token_)});
    if (kind != value_kind::list) return;
    if (std::count(name.begin(), name.end(), '.') >= most_named_lists) return skip_list();
    while (next_key()) read_attribute(name + "." + key_text_, found);
  }
  void read_attribute(std::vector<attribute>& found) {
    graph_.keeps_attributes() ? read_attribute(std::string(key_text_), found) : skip_value();
  }
  void set_attributes(graph_collector::owner of, const std::vector<attribute>& found) {
    for (const attribute& each : found) graph_.set_attribute(of, each.name, each.kind, each.value);
  }

  void read_node(place begin) {
    std::optional<std::string> id;
    std::optional<std::string> label;
    std::vector<attribute> attributes;
    while (next_key()) {
      if (key_ == "id" && !id.has_value()) {
        id = take_id();
      } else if (key_ == "label" && !label.has_value()) {
        const value_kind kind = take_value();
        if (kind == value_kind::list) skip_list();
        if (kind == value_kind::number) label = token_;
        if (kind == value_kind::string) label = without_entities(token_);
      } else {
        read_attribute(attributes);
      }
    }
    if (!id.has_value()) source_.fail(begin, "a node without an id (expected one)");
    graph_.add_node(*id, begin);
    if (label.has_value()) {
      graph_.set_label(*label);
      graph_.set_attribute(graph_collector::owner::node, "label", attribute_kind::text, *label);
    }
    set_attributes(graph_collector::owner::node, attributes);
  }

  void read_edge(place begin) {
    std::optional<std::string> source;
    std::optional<std::string> target;
    std::vector<attribute> attributes;
    while (next_key()) {
      if (key_ == "source" && !source.has_value()) {
        source = take_id();
      } else if (key_ == "target" && !target.has_value()) {
        target = take_id();
      } else if (const int rank = edge_text::weight_rank(key_); rank >= 0) {
        const value_kind kind = take_value();
        if (kind == value_kind::list) {
          skip_list();
          continue;
        }
        graph_.set_weight(rank, token_, at_);
        if (graph_.keeps_attributes()) attributes.push_back({key_text_, kind_of_number(), token_});
      } else {
        read_attribute(attributes);
      }
    }
    set_attributes(graph_collector::owner::edge, attributes);
    if (!source.has_value() || !target.has_value()) {
      source_.fail(begin, fmt::format("an edge without a {} (expected one)", source.has_value() ? "target" : "source"));
    }
    graph_.add_edge(*source, *target, begin);
  }

  byte_source& source_;
  extent wanted_;
  graph_collector& graph_;
  std::string_view rest_;
  place here_;       // of the next character
  place at_;         // of the last token
  place key_at_;     // of the last key
  std::string key_;  // in lower case
  std::string key_text_;
  std::string token_;
  std::int64_t depth_ = 0;
  bool done_ = false;
};

}  // namespace

void parse_gml(byte_source& source, extent wanted, graph_collector& graph) { gml_parser(source, wanted, graph).run(); }

}  // namespace spargo::detail::document
