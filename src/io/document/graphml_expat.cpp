// GraphML by Expat, which reads XML as a stream of elements (http://graphml.graphdrawing.org/specification.html).
//
// Handlers never throw through Expat: they keep the first error and stop it. An entity that a file declares is refused,
// so that none expands.
#include "io/document/document.hpp"
#include "io/edge_list/columns.hpp"

#include <fmt/format.h>

#include <expat.h>

#include <exception>
#include <map>
#include <optional>
#include <set>

namespace spargo::detail::document {

namespace {

class graphml_parser {
 public:
  graphml_parser(byte_source& source, extent wanted, graph_collector& graph)
      : source_(source), wanted_(wanted), graph_(graph), parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          of(self).guard([&](graphml_parser& p) { p.begin(name, attributes); });
        },
        [](void* self, const XML_Char*) { of(self).guard([](graphml_parser& p) { p.end(); }); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* self, const XML_Char* text, int size) {
      of(self).guard([&](graphml_parser& p) { p.take({text, static_cast<std::size_t>(size)}); });
    });
    XML_SetEntityDeclHandler(parser_.get(), [](void* self, const XML_Char*, int, const XML_Char*, int, const XML_Char*,
                                               const XML_Char*, const XML_Char*, const XML_Char*) {
      of(self).guard([](graphml_parser& p) { p.refuse("an entity is declared (expected none)"); });
    });
  }

  void run() {
    bool ended = false;
    while (!ended && !done_) {
      const std::string_view bytes = source_.next();
      ended = bytes.empty();
      if (ended && wanted_ == extent::head) return;
      const auto status = XML_Parse(parser_.get(), bytes.data(), static_cast<int>(bytes.size()), ended ? 1 : 0);
      if (failure_) std::rethrow_exception(failure_);
      if (status == XML_STATUS_ERROR && !done_) fail_as_xml();
    }
    if (!found_ && !done_) source_.fail(here(), "the file has no graph (expected <graph>)");
  }

 private:
  enum class element { root, key, default_value, graph, node, edge, data, other };

  static graphml_parser& of(void* self) { return *static_cast<graphml_parser*>(self); }

  template <class Work>
  void guard(Work&& work) {
    if (failure_ || done_) return;
    try {
      work(*this);
    } catch (...) {
      failure_ = std::current_exception();
    }
    if (failure_ || done_) XML_StopParser(parser_.get(), XML_FALSE);
  }

  [[nodiscard]] place here() const {
    return {static_cast<std::int64_t>(XML_GetCurrentLineNumber(parser_.get())),
            static_cast<std::int64_t>(XML_GetCurrentColumnNumber(parser_.get())) + 1};
  }
  [[noreturn]] void fail(const std::string& message) const { source_.fail(here(), message); }
  [[noreturn]] void refuse(const std::string& message) const { source_.fail(here(), message, error_code::unsupported); }
  [[noreturn]] void fail_as_xml() const {
    const XML_Error code = XML_GetErrorCode(parser_.get());
    if (code == XML_ERROR_NO_MEMORY) throw std::bad_alloc();
    fail(fmt::format("the XML is malformed: {}", XML_ErrorString(code)));
  }

  // --- Elements

  [[nodiscard]] element parent() const { return open_.empty() ? element::other : open_.back(); }

  static std::optional<std::string_view> find(const XML_Char** attributes, std::string_view name) {
    for (; *attributes != nullptr; attributes += 2) {
      if (name == *attributes) return attributes[1];
    }
    return std::nullopt;
  }

  std::string_view expect(const XML_Char** attributes, const char* element_name, const char* name) const {
    const auto found = find(attributes, name);
    if (!found.has_value()) fail(fmt::format("<{}> has no {} (expected one)", element_name, name));
    if (found->size() > most_text_bytes) fail(fmt::format("{} is longer than 1 MiB", name));
    return *found;
  }

  void begin(std::string_view name, const XML_Char** attributes) {
    if (std::ssize(open_) == most_nested) refuse("elements are nested more than 1,000 deep");
    if (const std::size_t prefix = name.find(':'); prefix != std::string_view::npos) name.remove_prefix(prefix + 1);
    element kind = element::other;
    if (open_.empty()) {
      if (name != "graphml") fail(fmt::format("<{}> is no GraphML (expected <graphml>)", name.substr(0, 32)));
      kind = element::root;
    } else if (name == "graph") {
      begin_graph(attributes);
      kind = element::graph;
    } else if (parent() == element::root && name == "key") {
      begin_key(attributes);
      kind = element::key;
    } else if (parent() == element::key && name == "default") {
      kind = element::default_value;
    } else if (parent() == element::graph && (name == "node" || name == "edge")) {
      if (wanted_ == extent::head) {
        done_ = true;
        return;
      }
      kind = name == "node" ? element::node : element::edge;
      name == "node" ? graph_.add_node(expect(attributes, "node", "id"), here()) : begin_edge(attributes);
    } else if ((parent() == element::edge || parent() == element::node) && name == "data") {
      kind = element::data;
      const auto key = keys_.find(std::string(expect(attributes, "data", "key")));
      key_of_data_ = key == keys_.end() ? nullptr : &key->second;
    } else if (name == "hyperedge") {
      refuse("a hyperedge (expected edges of two ends)");
    }
    if (kind == element::data || parent() == element::data) has_elements_ = kind != element::data;
    text_.clear();
    text_at_ = here();
    open_.push_back(kind);
  }

  void begin_graph(const XML_Char** attributes) {
    if (parent() != element::root) refuse("a graph within a graph (expected none)");
    if (found_) refuse("a second graph (expected one)");
    found_ = true;
    const std::string_view said = expect(attributes, "graph", "edgedefault");
    if (said != "directed" && said != "undirected") {
      fail(fmt::format("edgedefault is {} (expected directed or undirected)", quoted(said)));
    }
    graph_.direction = said == "directed" ? edge_direction::directed : edge_direction::undirected;
  }

  void begin_key(const XML_Char** attributes) {
    key_ = std::string(expect(attributes, "key", "id"));
    const std::string_view of = find(attributes, "for").value_or("all");
    const std::string_view name = find(attributes, "attr.name").value_or("");
    const std::string_view type = find(attributes, "attr.type").value_or("string");
    key_facts& key = keys_[key_] = {};
    key.of_edges = of == "edge" || of == "all";
    key.of_nodes = of == "node" || of == "all";
    key.rank = key.of_edges ? edge_text::weight_rank(name) : -1;
    key.name = name.empty() ? key_ : std::string(name);
    key.kind = type == "int" || type == "long"       ? attribute_kind::integer
               : type == "float" || type == "double" ? attribute_kind::real
               : type == "boolean"                   ? attribute_kind::boolean
                                                     : attribute_kind::text;
  }

  void begin_edge(const XML_Char** attributes) {
    from_ = std::string(expect(attributes, "edge", "source"));
    to_ = std::string(expect(attributes, "edge", "target"));
    edge_at_ = here();
    const auto said = find(attributes, "directed");
    if (!said.has_value()) return;
    const bool directed = *said == "true" || *said == "1";
    if (directed != (graph_.direction == edge_direction::directed)) {
      refuse("an edge whose direction is not the graph's edgedefault (expected one kind of edges)");
    }
  }

  void take(std::string_view text) {
    const bool kept = parent() == element::default_value || (parent() == element::data && is_wanted());
    if (!kept) return;
    if (text_.size() + text.size() > most_text_bytes) fail("a value of more than 1 MiB");
    text_ += text;
  }

  void end() {
    const element ended = parent();
    open_.pop_back();
    if (ended == element::default_value) {
      keys_[key_].value = text_;
      keys_[key_].at = text_at_;
    } else if (ended == element::data && is_wanted() && !has_elements_) {
      take_value(parent(), *key_of_data_, text_, text_at_);
    } else if (ended == element::node || ended == element::edge) {
      take_defaults(ended);
      if (ended == element::edge) graph_.add_edge(from_, to_, edge_at_);
      given_.clear();
    }
  }

  struct key_facts {
    bool of_nodes = false;
    bool of_edges = false;
    int rank = -1;  // of an edge's weight
    std::string name;
    attribute_kind kind = attribute_kind::text;
    std::optional<std::string> value;  // the default
    place at;
  };

  [[nodiscard]] bool is_wanted() const {
    return key_of_data_ != nullptr && (key_of_data_->rank >= 0 || graph_.keeps_attributes());
  }

  void take_value(element owner, const key_facts& key, std::string_view text, place at) {
    if (owner == element::edge && key.rank >= 0) graph_.set_weight(key.rank, trimmed(text), at);
    if (!graph_.keeps_attributes()) return;
    given_.insert(&key);
    const std::string_view inner = trimmed(text);
    const attribute_kind kind = has_kind(inner, key.kind) ? key.kind : attribute_kind::text;
    if (kind == attribute_kind::boolean) {
      text = inner == "1" || inner == "true" || inner == "True" ? "true" : "false";
    } else if (kind != attribute_kind::text) {
      text = inner;
    }
    const auto of = owner == element::node ? graph_collector::owner::node : graph_collector::owner::edge;
    graph_.set_attribute(of, key.name, kind, text);
  }

  static bool has_kind(std::string_view text, attribute_kind kind) {
    std::int64_t whole = 0;
    double real = 0;
    if (kind == attribute_kind::integer) return parse_integer(text, whole) == number_status::ok;
    if (kind == attribute_kind::real) return parse_real(text, real) == number_status::ok;
    return kind == attribute_kind::text || text == "1" || text == "true" || text == "True" || text == "0" ||
           text == "false" || text == "False";
  }

  void take_defaults(element owner) {
    const bool node = owner == element::node;
    for (const auto& [id, key] : keys_) {
      if (!key.value.has_value() || !(node ? key.of_nodes : key.of_edges)) continue;
      const bool weight = !node && key.rank >= 0;
      const bool has_one = weight ? graph_.has_weight(key.rank) : !graph_.keeps_attributes() || given_.count(&key) > 0;
      if (!has_one) take_value(owner, key, *key.value, key.at);
    }
  }

  static std::string_view trimmed(std::string_view text) {
    const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    return text.substr(first, last == std::string_view::npos ? 0 : last - first + 1);
  }

  byte_source& source_;
  extent wanted_;
  graph_collector& graph_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::exception_ptr failure_;
  std::vector<element> open_;
  std::map<std::string, key_facts> keys_;
  std::string key_;
  std::string from_;
  std::string to_;
  place edge_at_;
  std::string text_;
  place text_at_;
  const key_facts* key_of_data_ = nullptr;
  bool has_elements_ = false;         // the value that is open, or was the last one: it is no text then
  std::set<const key_facts*> given_;  // to the node or edge that is open
  bool found_ = false;
  bool done_ = false;
};

}  // namespace

void parse_graphml(byte_source& source, extent wanted, graph_collector& graph) {
  graphml_parser(source, wanted, graph).run();
}

}  // namespace spargo::detail::document
