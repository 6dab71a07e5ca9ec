// Graphs as METIS has them (Karypis, METIS 5.1 manual, section 4.1): undirected, without self-loops.
//
// The first line that is no comment (% begins one) is `vertices edges [fmt [ncon]]`; the lines after it are the
// vertices, an empty one per vertex without neighbours. On a line: the vertex's size (fmt 1xx) and `ncon` weights (fmt
// x1x), which are passed over; then its neighbours, from 1, each with the edge's weight, 0 or more, behind it (fmt
// xx1). An edge stands on the lines of both its ends, with one weight. Nothing is allocated on the word of the first
// line. Limits: lines of at most 64 MiB (comments of any length). One thread parses; memory is about three times the
// entries while both sides of the edges are compared.
#pragma once

#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>

#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

template <index_type I>
struct metis_graph {
  coo_matrix<double, I, host> triangle;  // each edge once, below the diagonal; all 1 when `weighted` is false
  bool weighted = false;
  bool has_vertex_data = false;       // sizes or weights, which were passed over
  std::int64_t first_vertex = -1;     // that has a neighbour
  std::int64_t rounded_integers = 0;  // weights past what float64 holds exactly; each once
};

// Throws `io`, `parse` with line and column (an edge on one line only, a count that the first line does not say), or
// `unsupported` for more vertices than I holds.
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT metis_graph<I> read_metis(const context<host>& ctx, const input_file& file,
                                                      const read_options& options = {});

// A symmetric matrix as a graph: its pattern, or with integers above 0 as the weights of edges. Written whole or not at
// all; .gz by name. Throws `invalid_data` for an entry on the diagonal or without its mirrored one of the same value,
// and for a value that is no such integer.
template <entry_type V, index_type I, index_type O>
SPARGO_EXPORT void write_metis(const context<host>& ctx, const std::string& path,
                               const csr_view<const V, I, O, host>& matrix);
template <detail::viewable Matrix>
void write_metis(const context<host>& ctx, const std::string& path, const Matrix& matrix) {
  write_metis(ctx, path, detail::view_of(matrix));
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
