// A conversion of `convert`, and its warnings of what OUT cannot hold.
#pragma once

#include "cli/cli.hpp"
#include "cli/report.hpp"
#include "cli/vertex_table.hpp"
#include "commands/convert/restructure.hpp"
#include "commands/convert/target.hpp"
#include "input/cache.hpp"
#include "input/input.hpp"

#include <spargo/core/context.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/io/graph_document.hpp>
#include <spargo/io/snapshot.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

struct convert_flags {
  common_flags common;
  std::string from;
  std::string to;
  std::string format;  // empty: by the name of `to`
  cache_mode cache = cache_mode::off;
  bool undirected = false;
  structure_flags structure;
  table_flags table;  // --join, --on
};

struct written {
  std::int64_t rows = 0, cols = 0, entries = 0;
  bool values = false;
  bool streamed = false;
  bool triangle = false;  // of a symmetric matrix: each edge once
};

// One conversion: input, output, and where warnings go.
struct conversion {
  const context<host>& ctx;
  const convert_flags& flags;
  const target& to;
  report& out;
  input_description& input;

  // Whether OUT says whether it is directed, however its edges are listed.
  [[nodiscard]] bool says_direction() const {
    return to.kind == target_kind::snapshot || to.kind == target_kind::document;
  }
  // Whether edges that are listed one way are to be written both ways: by --undirected, or as the file says of
  // itself (a snapshot keeps its edges and that they are undirected).
  [[nodiscard]] bool adds_reverses() const {
    const bool stated = lists_edges(input.kind) && !input.directed && !says_direction();
    return (flags.undirected && input.directed) || stated;
  }
  [[nodiscard]] std::string source() const { return input.file.has_value() ? input.file->name() : flags.from; }
  void warn(const std::string& message) const { out.warn(flags.to + ": " + message); }
  [[noreturn]] void refuse(const std::string& message) const {
    throw error(error_code::unsupported, source_position{source(), 0, 0}, message);
  }
};

// Whether what is written can be taken back: not from a pipe.
[[nodiscard]] bool is_replaceable(const std::string& path);

// What a snapshot holds besides a matrix.
struct snapshot_extras {
  value_origin origin = value_origin::numbers;
  std::string_view notes = {};
};

// Writes all of a matrix in canonical form, as what c.input describes. Values are double, or a pattern's.
template <entry_type V, index_type I, index_type O>
written write_canonical(const conversion& c, const csr_view<const V, I, O, host>& matrix, const input_facts& facts,
                        const snapshot_extras& extras);
// The same of values whose origin is c.input's field.
template <entry_type V, index_type I, index_type O>
written write_canonical(const conversion& c, const csr_view<const V, I, O, host>& matrix, const input_facts& facts) {
  const bool integers = c.input.field == matrix_market_field::integer;
  return write_canonical<V, I, O>(c, matrix, facts, {integers ? value_origin::integers : value_origin::numbers, {}});
}

// Writes entries to a document, in their order; of a symmetric matrix, a triangle. Takes attributes of vertices from
// --join, besides `attributes`. V: double or a pattern; anything else is refused.
template <entry_type V, index_type I>
written write_document(const conversion& c, const coo_view<const V, I, host>& entries, symmetry_kind triangle,
                       const input_facts& facts, graph_attributes attributes = {});

// A document with its attributes to a document.
[[nodiscard]] written convert_document(const conversion& c);

// The columns of an edge list with a header line that are neither ends, weight nor direction, of `edges` lines. Warns
// where they cannot be had.
[[nodiscard]] std::vector<attribute_column> read_edge_columns(const conversion& c, std::int64_t edges);

// In memory if it fits: what does not is streamed, if that is possible.
[[nodiscard]] written convert(const conversion& c);

void warn_of_isolated(const conversion& c, std::int64_t isolated);
void warn_of_weights(const conversion& c);
void warn_of_direction(const conversion& c);
// Rows from 1 are called otherwise where they come from.
void warn_of_ids(const conversion& c, const vertex_names& names);
// METIS is for graphs alone.
void warn_of_lightest(const conversion& c);
// Parallel edges of a snapshot: products sum their weights, paths take the lightest.
void warn_of_sums(const conversion& c);
// Default source of a search: the first vertex of the input, and of the output.
void warn_of_first_vertex(const conversion& c, const input_facts& facts, std::int64_t first);

}  // namespace spargo::apps
