// Parts of the readers of documents: the text as a stream of bytes, and a collector of nodes and edges.
#pragma once

#include "io/gzip.hpp"
#include "io/text/blocks.hpp"
#include "io/text/number.hpp"

#include <spargo/io/graph_document.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail::document {

struct place {
  std::int64_t line = 1;
  std::int64_t column = 1;  // in bytes
};

// All of a file, or its first bytes only.
enum class extent { whole, head };

// The bytes of a file from the first on, without a byte-order mark.
class byte_source {
 public:
  byte_source(const input_file& file, extent wanted, const read_options& options = {});

  // The next bytes, valid until the next call; empty at the end. Throws `io` for a stream that is corrupt or was read.
  [[nodiscard]] std::string_view next();
  [[nodiscard]] const std::string& name() const { return name_; }
  [[noreturn]] void fail(place at, const std::string& message, error_code code = error_code::parse) const;

 private:
  std::string name_;
  std::string_view head_;
  std::unique_ptr<byte_stream> stream_;
  read_options options_;
  std::int64_t total_ = 0;
  std::vector<char> buffer_;
  bool begun_ = false;
};

// Collects a graph in file order; edges may come before their nodes.
class graph_collector {
 public:
  graph_collector(const context<host>& ctx, const byte_source& source) : source_(source), ctx_(ctx) {}

  edge_direction direction = edge_direction::not_said;

  void add_node(std::string_view id, place at);
  void set_label(std::string_view label);  // of the last node; at most one
  void add_edge(std::string_view source, std::string_view target, place at);
  // A weight of the edge that is added next. `rank`: of its name (`weight_rank`).
  void set_weight(int rank, std::string_view token, place at);
  [[nodiscard]] bool has_weight(int rank) const;

  // Attributes are skipped until this is called.
  void keep_attributes() { keeps_attributes_ = true; }
  [[nodiscard]] bool keeps_attributes() const { return keeps_attributes_; }
  // A value of the node that was added last, or of the edge that is added next.
  enum class owner { node, edge };
  void set_attribute(owner of, const std::string& name, attribute_kind kind, std::string_view value);

  template <index_type I>
  [[nodiscard]] edge_list<I> finish();
  // Of the list that was finished.
  [[nodiscard]] graph_attributes finish_attributes();

 private:
  // Strings, concatenated.
  struct strings {
    std::string characters;
    std::vector<std::size_t> ends;

    void add(std::string_view text) {
      characters += text;
      ends.push_back(characters.size());
    }
    void append_views(std::vector<std::string_view>& views) const;
  };
  struct weight_values {
    std::vector<double> values;
    std::int64_t last = -1;     // the last edge that has one
    std::int64_t missing = -1;  // the first edge that has none, once a later one has it
  };
  // Attributes of nodes or of edges, by name.
  struct columns {
    std::vector<attribute_column> all;
    std::map<std::string, std::size_t> by_name;
  };
  struct numbering {
    vertex_name_table nodes;
    std::vector<std::int64_t> numbers;  // of all nodes, then of the ends of each edge
  };

  [[nodiscard]] numbering number_nodes() const;
  [[nodiscard]] vertex_name_table choose_names(const vertex_name_table& by_id);
  weight_values* complete_weights();

  const byte_source& source_;
  const context<host>& ctx_;
  strings nodes_;
  strings labels_;
  strings ends_;
  std::vector<place> node_places_;
  std::vector<place> edge_places_;
  std::array<weight_values, 5> weights_;
  std::int64_t rounded_ = 0;
  bool keeps_attributes_ = false;
  bool labels_are_names_ = false;
  int weight_rank_ = -1;                // of the one that the list has
  std::vector<std::int64_t> vertices_;  // [node], as numbered in the list
  columns node_columns_;
  columns edge_columns_;
  std::int64_t omitted_ = 0;
};

// The narrowest kind that holds values of both.
[[nodiscard]] attribute_kind joined_kind(attribute_kind a, attribute_kind b);

// Parse the source into the collector. `extent::head`: up to the first node or edge.
void parse_gml(byte_source& source, extent wanted, graph_collector& graph);
void parse_graphml(byte_source& source, extent wanted, graph_collector& graph);

inline constexpr std::size_t most_text_bytes = std::size_t{1} << 20;  // of an id or a number
inline constexpr int most_nested = 1000;

}  // namespace spargo::detail::document
