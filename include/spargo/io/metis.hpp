// METIS graphs (Karypis, METIS 5.1 manual, section 4.1): undirected, without self-loops.
//
// The first line that is not a comment (% begins one) is `vertices edges [fmt [ncon]]`; each following line is one
// vertex, empty if it has no neighbours. A line has the vertex's size (fmt 1xx) and `ncon` weights (fmt x1x), which are
// skipped; then its neighbours, from 1, each followed by the edge's weight, 0 or more (fmt xx1). Both ends list an
// edge, with the same weight. Declared sizes are not trusted for allocation. Limits: lines of 64 MiB (comments of any
// length). One thread parses; memory is about three times the entries while both directions are compared.
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
  coo_matrix<double, I, host> triangle;  // each edge once, below the diagonal; all 1 if not `weighted`
  bool weighted = false;
  bool has_vertex_data = false;       // sizes or weights were skipped
  std::int64_t first_vertex = -1;     // with a neighbour
  std::int64_t rounded_integers = 0;  // weights that float64 cannot represent exactly, each counted once
};

// Throws `io`, `parse` with line and column (an edge listed by one end only, a count that differs from the first line),
// or `unsupported` for more vertices than I can hold.
template <index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT metis_graph<I> read_metis(const context<host>& ctx, const input_file& file,
                                                      const read_options& options = {});

// Writes a symmetric matrix as a graph: its pattern, or positive integers as edge weights. The file appears complete or
// not at all; compressed if the name ends in .gz. Throws `invalid_data` for an entry on the diagonal, one without an
// equal mirrored entry, or a value that is not a positive integer.
template <entry_type V, index_type I, index_type O>
SPARGO_EXPORT void write_metis(const context<host>& ctx, const std::string& path,
                               const csr_view<const V, I, O, host>& matrix);
template <detail::viewable Matrix>
void write_metis(const context<host>& ctx, const std::string& path, const Matrix& matrix) {
  write_metis(ctx, path, detail::view_of(matrix));
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
