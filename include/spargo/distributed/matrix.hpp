// Sparse matrices with rows distributed over ranks, and files read by ranks. Operations: spmv.hpp, spmm.hpp, cg.hpp.
//
// All functions are collective over the communicator; an error of one rank is thrown on all (agreed_error). Every
// result has the same bits for any number of ranks and threads, except where a comment mentions sums over ranks.
#pragma once

#include <spargo/distributed/exchange.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// The entries of a file in shares: concatenated in rank order they equal the result of one process. Every rank parses a
// range of lines of an uncompressed regular file; from a pipe, gzip or an array-format file rank 0 reads everything.
// Errors are those of one process, with the same line.
template <entry_type V>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, std::int64_t, host> read_matrix_market_stored(
    const communicator& comm, const context<host>& ctx, const std::string& path, const read_options& options = {},
    matrix_market_summary* summary = nullptr);

// Edges in shares as above, with final vertex numbers.
struct distributed_edge_list {
  coo_matrix<double, std::int64_t, host> edges;  // rows == cols == vertices of the graph
  bool weighted = false;
  std::int64_t stored = 0;        // edges of all ranks
  std::vector<std::int64_t> ids;  // of vertices [ids_first, ids_first + ids.size()), ascending; each rank has a slice
  std::int64_t ids_first = 0;
  std::int64_t first_vertex = -1;  // as in edge_list
  std::int64_t rounded_integers = 0;
  edge_list_header header;
  vertex_name_table names;  // used instead of ids; complete on every rank
};
[[nodiscard]] SPARGO_EXPORT distributed_edge_list read_edge_list(const communicator& comm, const context<host>& ctx,
                                                                 const std::string& path,
                                                                 const edge_list_options& options = {});

// Every rank owns a range of rows; columns are global, ascending and distinct. Balanced by rows and entries.
template <value_type V>
class SPARGO_EXPORT distributed_matrix {
 public:
  // From entries in shares: each rank passes its own, and any rank may have any entries. Duplicates are summed in rank
  // order, then in the order of the share. With a symmetry the entries are one triangle, mirrored as to_csr does.
  // Memory: the share, twice the entries of this rank's rows while sorting, 8 bytes per 128 rows.
  distributed_matrix(const communicator& comm, const context<host>& ctx,
                     const coo_view<const V, std::int64_t, host>& share,
                     symmetry_kind symmetry = symmetry_kind::general);

  [[nodiscard]] std::int64_t rows() const noexcept { return row_parts_.size(); }
  [[nodiscard]] std::int64_t cols() const noexcept { return column_parts_.size(); }
  [[nodiscard]] std::int64_t nnz() const noexcept { return nnz_; }  // of all ranks
  [[nodiscard]] const partition& row_parts() const noexcept { return row_parts_; }
  [[nodiscard]] const partition& column_parts() const noexcept {
    return column_parts_;
  }  // of x; equals row_parts() if square
  // This rank's rows; the first is row_parts().first(rank).
  [[nodiscard]] csr_view<const V, std::int64_t, std::int64_t, host> own() const noexcept { return own_.view(); }

 private:
  partition row_parts_;
  partition column_parts_;
  std::int64_t nnz_ = 0;
  csr_matrix<V, std::int64_t, std::int64_t, host> own_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
