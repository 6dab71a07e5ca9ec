// Any input, recognised from its content and read into a typed matrix or graph.
//
// An input is described first (`describe_input`: a look at its head, no more), which fixes the types: the narrowest
// index type that holds its dimensions, the kind of its values. It is read once, with those types:
//
//   Matrix Market, generator, edge list  ->  COO as listed (a triangle stays one)  ->  canonical CSR
//   snapshot                             ->  CSR, mapped
//
// How vertices are called ("ids as the file writes them"): an edge list and a snapshot of one, as listed; a Matrix
// Market file and a snapshot without ids, rows from 1; a generated graph, from 0.
#pragma once

#include "common/timing.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/snapshot.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace spargo::apps {

enum class input_kind { matrix_market, edge_list, snapshot, generator };

struct input_description {
  std::string path;
  input_kind kind = input_kind::matrix_market;
  std::string format;  // "Matrix Market coordinate", "edge list", ...
  matrix_market_field field = matrix_market_field::real;
  bool single_precision = false;  // a snapshot that holds fp32 or complex fp32
  symmetry_kind symmetry = symmetry_kind::general;
  bool directed = true;   // what a graph of it is unless the user says otherwise
  std::int64_t rows = 0;  // as declared; 0 for an edge list
  std::int64_t cols = 0;
  std::optional<snapshot> mapped;  // the snapshot itself, verified
};

// Opens, looks at the beginning, and says what the file is. An unreadable file, a directory, a compressed snapshot:
// `error` (io, unsupported), with the file's name.
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
  bool weighted = true;               // an edge list: whether it has weights
  std::int64_t first_vertex = -1;     // the first vertex named in the file; -1: none
  bool parsed_on_device = false;
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

// Reads anything but a snapshot. `I` as `with_index` chose it; for an edge list it must hold the number of its ids.
template <entry_type V, index_type I>
[[nodiscard]] coo_input<V, I> read_coo(const context<host>& ctx, const input_description& input,
                                       const read_options& options) {
  coo_input<V, I> result;
  input_facts& facts = result.facts;
  if (input.kind == input_kind::edge_list) {
    edge_list<I> list = read_edge_list<I>(ctx, input.path, options);
    facts.weighted = list.weighted;
    facts.first_vertex = list.first_vertex;
    facts.stored = facts.expanded = list.edges.nnz();
    facts.names = {vertex_naming::listed, std::move(list.ids), list.edges.rows()};
    if constexpr (std::same_as<V, double>) {
      result.entries = std::move(list.edges);
    } else {
      array<V, host> values = convert_values<V, double>(ctx, list.edges.values().view(), list.edges.nnz());
      result.entries = {list.edges.rows(), list.edges.cols(), std::move(list.edges.row_indices()),
                        std::move(list.edges.col_indices()), std::move(values)};
    }
    return result;
  }
  if (input.kind == input_kind::generator) {
    result.entries = generate<V, I>(ctx, input.path);
    facts.stored = facts.expanded = result.entries.nnz();
    facts.names.naming = vertex_naming::from_zero;
  } else {
    matrix_market_summary summary;
    result.entries = read_matrix_market_stored<V, I>(ctx, input.path, options, &summary);
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
  for (std::int64_t row = 0; row < header.rows && facts.first_vertex < 0; ++row) {
    if (result.matrix.offsets[row + 1] > 0) facts.first_vertex = row;
  }
  return result;
}

// read_coo with the narrowest index type, then f(coo_input<V, I>&). Not for a snapshot.
template <entry_type V, class F>
decltype(auto) with_coo(const context<host>& ctx, const input_description& input, const read_options& options, F&& f) {
  if (input.kind != input_kind::edge_list) {
    return with_index(std::max(input.rows, input.cols), [&]<class I>(type_tag<I>) {
      coo_input<V, I> read = read_coo<V, I>(ctx, input, options);
      return f(read);
    });
  }
  std::optional<coo_input<V, std::int32_t>> narrow;
  try {  // how many ids there are is known only at the end
    narrow.emplace(read_coo<V, std::int32_t>(ctx, input, options));
  } catch (const error& e) {
    if (e.code() != error_code::unsupported) throw;
  }
  if (narrow.has_value()) return f(*narrow);
  coo_input<V, std::int64_t> wide = read_coo<V, std::int64_t>(ctx, input, options);
  return f(wide);
}

// An edge list as listed, with its weights: f(coo_input<double, I>&), or f(coo_input<pattern, I>&) where it has none.
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
    result.owned = to_csr<O>(ctx, std::as_const(read.entries).view(), {.symmetry = read.triangle});
    read.entries = {};
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
