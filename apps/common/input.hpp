// Any input, recognised from its content and read into a typed matrix or graph.
//
// An input is opened once and described first (`describe_input`: a look at its head, no more), which fixes the types:
// the narrowest index type that holds its dimensions, the kind of its values. Then the same stream is read with those
// types, so that a pipe does as well as a file:
//
//   Matrix Market, generator, edge list, METIS, DIMACS  ->  COO as listed (a triangle stays one)  ->  canonical CSR
//   snapshot                                            ->  CSR, mapped
//
// How vertices are called ("ids as the file writes them"): an edge list and a snapshot of one, as listed; a Matrix
// Market, METIS or DIMACS file and a snapshot without ids, rows from 1; a generated graph, from 0.
#pragma once

#include "common/extent.hpp"
#include "common/progress.hpp"
#include "common/timing.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/dimacs.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/metis.hpp>
#include <spargo/io/snapshot.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace spargo::apps {

enum class input_kind { matrix_market, edge_list, metis, dimacs, snapshot, generator };

// A graph as text: its size, and whether it has weights, are known when it is read.
[[nodiscard]] constexpr bool is_graph_text(input_kind kind) {
  return kind == input_kind::edge_list || kind == input_kind::metis || kind == input_kind::dimacs;
}

struct input_description {
  std::string path;
  std::optional<input_file> file;  // none for a generator
  input_kind kind = input_kind::matrix_market;
  std::string format;  // "Matrix Market coordinate", "edge list", ...
  matrix_market_field field = matrix_market_field::real;
  bool single_precision = false;  // a snapshot that holds fp32 or complex fp32
  symmetry_kind symmetry = symmetry_kind::general;
  bool directed = true;   // what a graph of it is unless the user says otherwise
  std::int64_t rows = 0;  // as declared; 0 for a graph as text
  std::int64_t cols = 0;
  std::optional<snapshot> mapped;  // the snapshot itself, verified

  // Whether the text can be read once more, as a file can and a pipe cannot.
  [[nodiscard]] bool can_be_read_again() const { return !file.has_value() || file->can_be_read_again(); }
};

// Opens `path` (`-`: standard input), looks at the beginning, and says what the file is. An unreadable file, a
// directory, a format that is not read: `error` (io, unsupported), with the file's name.
[[nodiscard]] input_description describe_input(const context<host>& ctx, const std::string& path);

[[nodiscard]] std::string to_string(matrix_market_field field);
[[nodiscard]] std::string to_string(symmetry_kind symmetry);

enum class vertex_naming { listed, rows_from_one, from_zero };

// Vertex <-> id as the file writes it.
struct vertex_names {
  vertex_naming naming = vertex_naming::rows_from_one;
  std::vector<std::int64_t> ids;  // when listed: ascending
  std::int64_t vertices = 0;

  [[nodiscard]] std::int64_t id(std::int64_t vertex) const;
  [[nodiscard]] std::optional<std::int64_t> vertex(std::int64_t id) const;  // none: no such vertex
  [[nodiscard]] std::vector<std::int64_t> all() const;                      // every id, by vertex
};

// What reading told besides the entries.
struct input_facts {
  std::int64_t stored = 0;            // entries in the file
  std::int64_t expanded = 0;          // with mirrored ones, before duplicates are summed
  std::int64_t rounded_integers = 0;  // integers past what the values hold exactly
  bool weighted = true;               // a graph as text: whether it has weights
  std::int64_t first_vertex = -1;     // the first vertex named in the file; -1: none
  bool parsed_on_device = false;
  std::string passed_over;  // what the file holds besides; empty: nothing
  vertex_names names;
};

template <class T>
struct type_tag {
  using type = T;
};

// f(type_tag<I>) with the narrowest index type that holds 0..extent.
template <class F>
decltype(auto) with_index(std::int64_t extent, F&& f) {
  if (extent <= std::numeric_limits<std::int32_t>::max()) return f(type_tag<std::int32_t>{});
  return f(type_tag<std::int64_t>{});
}

// f(type_tag<O>) with the narrowest offset type that goes with I and holds nnz.
template <index_type I, class F>
decltype(auto) with_offset(std::int64_t nnz, F&& f) {
  if constexpr (sizeof(I) == 4) {
    if (nnz <= std::numeric_limits<std::int32_t>::max()) return f(type_tag<std::int32_t>{});
  }
  return f(type_tag<std::int64_t>{});
}

template <entry_type V, index_type I>
struct coo_input {
  coo_matrix<V, I, host> entries;                   // as listed
  symmetry_kind triangle = symmetry_kind::general;  // of the matrix that the entries are a triangle of; general: all
  input_facts facts;
};

// A CSR matrix that is owned, or borrows a mapped snapshot (which must outlive it).
template <entry_type V, index_type I, index_type O>
struct csr_input {
  csr_matrix<V, I, O, host> owned;
  array<V, host> converted;  // values beside a snapshot's pattern
  csr_view<const V, I, O, host> matrix;
  input_facts facts;
  double load_ms = 0;     // reading and parsing
  double convert_ms = 0;  // to canonical CSR
  // Where the device parsed the text and converted it: the matrix there, too (with_parsed_csr).
  csr_matrix<V, I, O, device> on_device;
};

// Values of another type, entry by entry; a pattern's entries are 1.
template <entry_type To, entry_type From>
[[nodiscard]] array<To, host> convert_values(const context<host>& ctx, span<const From, host> from, std::int64_t nnz) {
  if constexpr (is_pattern<To>) {
    return {ctx, 0};
  } else {
    array<To, host> to(ctx, nnz);
    for (std::int64_t k = 0; k < nnz; ++k) {
      if constexpr (is_pattern<From>) {
        to[k] = To(1);
      } else if constexpr (complex_type<From> && complex_type<To>) {
        using part = typename To::value_type;
        to[k] = To(static_cast<part>(from[k].real()), static_cast<part>(from[k].imag()));
      } else if constexpr (complex_type<To>) {
        to[k] = To(static_cast<typename To::value_type>(from[k]));
      } else if constexpr (complex_type<From>) {
        to[k] = static_cast<To>(from[k].real());  // never reached: describe_input's field chooses To
      } else {
        to[k] = static_cast<To>(from[k]);  // a real one to a real one
      }
    }
    return to;
  }
}

// Entries with values of type V.
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, host> with_values(const context<host>& ctx, coo_matrix<double, I, host> read) {
  if constexpr (std::same_as<V, double>) {
    return read;
  } else {
    array<V, host> values = convert_values<V, double>(ctx, read.values().view(), read.nnz());
    return {read.rows(), read.cols(), std::move(read.row_indices()), std::move(read.col_indices()), std::move(values)};
  }
}

template <entry_type V, index_type I>
void read_edges(const context<host>& ctx, const input_description& input, const read_options& options,
                coo_input<V, I>& result) {
  edge_list<I> list = read_edge_list<I>(ctx, *input.file, options);
  input_facts& facts = result.facts;
  facts.weighted = list.weighted;
  facts.first_vertex = list.first_vertex;
  facts.stored = facts.expanded = list.edges.nnz();
  facts.names = {vertex_naming::listed, std::move(list.ids), list.edges.rows()};
  result.entries = with_values<V, I>(ctx, std::move(list.edges));
}

template <entry_type V, index_type I>
void read_metis_graph(const context<host>& ctx, const input_description& input, const read_options& options,
                      coo_input<V, I>& result) {
  metis_graph<I> graph = read_metis<I>(ctx, *input.file, options);
  input_facts& facts = result.facts;
  facts.weighted = graph.weighted;
  facts.first_vertex = graph.first_vertex;
  facts.stored = facts.expanded = 2 * graph.triangle.nnz();
  if (graph.has_vertex_data) facts.passed_over = "weights and sizes of vertices";
  result.triangle = symmetry_kind::symmetric;
  result.entries = with_values<V, I>(ctx, std::move(graph.triangle));
}

template <entry_type V, index_type I>
void read_dimacs_graph(const context<host>& ctx, const input_description& input, const read_options& options,
                       coo_input<V, I>& result) {
  dimacs_graph<I> graph = read_dimacs<I>(ctx, *input.file, options);
  const bool arcs = graph.problem == dimacs_problem::shortest_path;
  if (arcs != input.directed) {
    throw error(error_code::unsupported, source_position{input.file->name(), 0, 0},
                "the problem line comes too late to tell what the file is (expected it in the first 64 KiB)");
  }
  input_facts& facts = result.facts;
  facts.weighted = arcs;
  facts.first_vertex = graph.first_vertex;
  facts.stored = facts.expanded = graph.entries.nnz();
  if (!arcs) {
    result.triangle = symmetry_kind::symmetric;
    for (std::int64_t k = 0; k < facts.stored; ++k) {
      facts.expanded += graph.entries.row_indices()[k] != graph.entries.col_indices()[k] ? 1 : 0;
    }
  }
  result.entries = with_values<V, I>(ctx, std::move(graph.entries));
}

// Reads anything but a snapshot. `I` as `with_index` chose it; for a graph as text it must hold the number of its
// vertices.
template <entry_type V, index_type I>
[[nodiscard]] coo_input<V, I> read_coo(const context<host>& ctx, const input_description& input,
                                       const read_options& options) {
  coo_input<V, I> result;
  input_facts& facts = result.facts;
  if (input.kind == input_kind::edge_list) {
    read_edges<V, I>(ctx, input, options, result);
    return result;
  }
  if (is_graph_text(input.kind)) {
    input.kind == input_kind::metis ? read_metis_graph<V, I>(ctx, input, options, result)
                                    : read_dimacs_graph<V, I>(ctx, input, options, result);
    const std::int64_t vertices = facts.names.vertices = result.entries.rows();
    expect_reasonable_extent(input.path, vertices, vertices, result.entries.nnz());
    return result;
  }
  if (input.kind == input_kind::generator) {
    const busy generating("generating " + input.path);
    if (input.field == matrix_market_field::pattern && !is_pattern<V>) {  // as of a pattern that is read
      auto edges = generate<pattern, I>(ctx, input.path);
      array<V, host> ones = convert_values<V, pattern>(ctx, {}, edges.nnz());
      result.entries = {edges.rows(), edges.cols(), std::move(edges.row_indices()), std::move(edges.col_indices()),
                        std::move(ones)};
    } else {
      result.entries = generate<V, I>(ctx, input.path);
    }
    facts.stored = facts.expanded = result.entries.nnz();
    facts.names.naming = vertex_naming::from_zero;
  } else {
    matrix_market_summary summary;
    result.entries = read_matrix_market_stored<V, I>(ctx, *input.file, options, &summary);
    result.triangle = summary.header.symmetry;
    facts.stored = summary.stored;
    facts.expanded = summary.expanded;
    facts.rounded_integers = summary.rounded_integers;
  }
  facts.names.vertices = result.entries.rows();
  if (result.entries.nnz() > 0) facts.first_vertex = result.entries.row_indices()[0];
  return result;
}

// The matrix of a mapped snapshot, as it lies there or with its values converted to V.
template <entry_type V, index_type I, index_type O>
[[nodiscard]] csr_input<V, I, O> borrow_csr(const context<host>& ctx, const input_description& input) {
  csr_input<V, I, O> result;
  const snapshot_header& header = input.mapped->header();
  const auto borrow = [&]<class Stored>(type_tag<Stored>) {
    const csr_view<const Stored, I, O, host> stored = input.mapped->template matrix<Stored, I, O>();
    if constexpr (std::same_as<Stored, V>) {
      result.matrix = stored;
    } else {
      result.converted = convert_values<V, Stored>(ctx, stored.values, stored.nnz());
      result.matrix = {{stored.rows, stored.cols, stored.offsets, stored.indices}, result.converted.view()};
    }
  };
  switch (header.values) {
    case value_kind::pattern:
      borrow(type_tag<pattern>{});
      break;
    case value_kind::fp32:
      borrow(type_tag<float>{});
      break;
    case value_kind::fp64:
      borrow(type_tag<double>{});
      break;
    case value_kind::complex_fp32:
      borrow(type_tag<std::complex<float>>{});
      break;
    case value_kind::complex_fp64:
      borrow(type_tag<std::complex<double>>{});
      break;
  }
  input_facts& facts = result.facts;
  facts.stored = facts.expanded = header.nnz;
  facts.names.vertices = header.rows;
  if (header.has_ids) {
    facts.names.naming = vertex_naming::listed;
    facts.names.ids.assign(input.mapped->ids().begin(), input.mapped->ids().end());
  }
  facts.first_vertex = header.first_vertex;
  for (std::int64_t row = 0; row < header.rows && facts.first_vertex < 0; ++row) {
    if (result.matrix.offsets[row + 1] > 0) facts.first_vertex = row;
  }
  return result;
}

// read_coo with the narrowest index type, then f(coo_input<V, I>&). Not for a snapshot.
template <entry_type V, class F>
decltype(auto) with_coo(const context<host>& ctx, const input_description& input, const read_options& options, F&& f) {
  if (!is_graph_text(input.kind)) {
    return with_index(std::max(input.rows, input.cols), [&]<class I>(type_tag<I>) {
      coo_input<V, I> read = read_coo<V, I>(ctx, input, options);
      expect_reasonable_extent(input.path, input.rows, input.cols, read.entries.nnz());
      return f(read);
    });
  }
  std::optional<coo_input<V, std::int32_t>> narrow;
  try {  // how many vertices there are is known only when it is read
    narrow.emplace(read_coo<V, std::int32_t>(ctx, input, options));
  } catch (const error& e) {
    if (e.code() != error_code::unsupported || !input.can_be_read_again()) throw;
  }
  if (narrow.has_value()) return f(*narrow);
  coo_input<V, std::int64_t> wide = read_coo<V, std::int64_t>(ctx, input, options);
  return f(wide);
}

// A graph as text as listed, with its weights: f(coo_input<double, I>&), or f(coo_input<pattern, I>&) where it has
// none.
template <class F>
decltype(auto) with_edges(const context<host>& ctx, const input_description& input, const read_options& options,
                          F&& f) {
  return with_coo<double>(ctx, input, options, [&]<class I>(coo_input<double, I>& read) {
    if (read.facts.weighted) return f(read);
    coo_input<pattern, I> unweighted;
    unweighted.entries = {read.entries.rows(),
                          read.entries.cols(),
                          std::move(read.entries.row_indices()),
                          std::move(read.entries.col_indices()),
                          {}};
    unweighted.triangle = read.triangle;
    unweighted.facts = std::move(read.facts);
    read.entries = {};
    return f(unweighted);
  });
}

// f(csr_input<V, I, O>&) with what was read, as canonical CSR in its place.
template <entry_type V, index_type I, class F>
decltype(auto) with_canonical(const context<host>& ctx, coo_input<V, I>& read, F&& f) {
  return with_offset<I>(read.facts.expanded, [&]<class O>(type_tag<O>) {
    const stopwatch converting;
    csr_input<V, I, O> result;
    {
      const busy building("building CSR");
      result.owned = to_csr<O>(ctx, std::as_const(read.entries).view(), {.symmetry = read.triangle});
      read.entries = {};
    }
    result.matrix = result.owned.view();
    result.facts = std::move(read.facts);
    result.convert_ms = converting.milliseconds();
    return f(result);
  });
}

// The (I, O) of a snapshot, as tags: f(type_tag<I>, type_tag<O>).
template <class F>
decltype(auto) with_stored_indices(const snapshot_header& header, F&& f) {
  if (header.index_bytes == 8) return f(type_tag<std::int64_t>{}, type_tag<std::int64_t>{});
  if (header.offset_bytes == 8) return f(type_tag<std::int32_t>{}, type_tag<std::int64_t>{});
  return f(type_tag<std::int32_t>{}, type_tag<std::int32_t>{});
}

// Any input as canonical CSR with values V, duplicates summed: f(csr_input<V, I, O>&).
template <entry_type V, class F>
decltype(auto) with_csr(const context<host>& ctx, const input_description& input, const read_options& options, F&& f) {
  const stopwatch loading;
  if (input.kind == input_kind::snapshot) {
    return with_stored_indices(input.mapped->header(), [&]<class I, class O>(type_tag<I>, type_tag<O>) {
      csr_input<V, I, O> borrowed = borrow_csr<V, I, O>(ctx, input);
      borrowed.load_ms = loading.milliseconds();
      return f(borrowed);
    });
  }
  return with_coo<V>(ctx, input, options, [&]<class I>(coo_input<V, I>& read) {
    const double load_ms = loading.milliseconds();
    return with_canonical<V, I>(ctx, read, [&]<class O>(csr_input<V, I, O>& result) {
      result.load_ms = load_ms;
      return f(result);
    });
  });
}

// f(type_tag<V>) with the type that holds the input's values as they are.
template <class F>
decltype(auto) with_stored_values(const input_description& input, F&& f) {
  if (input.field == matrix_market_field::pattern) return f(type_tag<pattern>{});
  const bool complex = input.field == matrix_market_field::complex;
  if (input.single_precision) {
    return complex ? f(type_tag<std::complex<float>>{}) : f(type_tag<float>{});
  }
  return complex ? f(type_tag<std::complex<double>>{}) : f(type_tag<double>{});
}

}  // namespace spargo::apps
