// Sparse matrices whose rows are distributed over ranks: reading, products, conjugate gradients.
//
// All functions are collective over the communicator; an error of one rank is thrown on all (agreed_error). Every
// result has the same bits for any number of ranks and threads, except where a comment mentions sums over ranks.
#pragma once

#include <spargo/core/dense.hpp>
#include <spargo/distributed/exchange.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/sparse/spmv.hpp>

#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// The entries of a file in shares: concatenated in rank order they equal the result of one process. Every rank parses a
// range of lines of an uncompressed regular file; from a pipe, gzip or an array-format file rank 0 reads everything.
// Errors are those of one process, with the same line. V: pattern, double, complex<double>.
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

// Every rank owns a range of rows; columns are global, ascending and distinct, as to_csr produces them. Rows are
// partitioned by rows and entries. V: double.
template <value_type V>
class SPARGO_EXPORT distributed_matrix {
 public:
  // From entries in shares: each rank passes its own, and any rank may have any entries. Duplicates are summed in rank
  // order, then in the order of the share. With a symmetry the entries are one triangle. Memory: the share, twice the
  // entries of this rank's rows while sorting, 8 bytes per 128 rows.
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

// How a rank overlaps its product with the exchange of ghosts (elements of x owned by others).
enum class product_split {
  // `rows` on the host. On devices `columns`, unless three quarters of the rows form one run without ghosts.
  automatic,
  rows,     // rows without ghosts first
  columns,  // own columns of all rows first, then the ghosts
};

// y = alpha * A * x + beta * y. Rows without ghosts are multiplied while the ghosts are exchanged, the others
// afterwards.
// product_split::rows sums each row in its own order, so y has the same bits for any number of ranks: on the host, and
// on devices in rows of up to 32 entries, those of spmv_plan's row_per_thread; devices sum longer rows by a warp or a
// block. product_split::columns adds two products by spmv_plan's automatic choice; `automatic` on devices uses that
// choice for interior rows. y is then deterministic, but differs within rounding from other numbers of ranks.
// Device plans copy the matrix, in the form of spmv_storage::copied unless its bits are to be kept; so does a split by
// columns on the host. On a device `run` enqueues and waits only for the other hosts.
template <value_type V, class Space>
class SPARGO_EXPORT distributed_spmv_plan {
 public:
  // Borrows a host matrix that is split by rows. Throws unsupported if a rank's columns and ghosts exceed 2^31 - 1.
  // `options`: for devices.
  distributed_spmv_plan(const communicator& comm, const context<Space>& ctx, const distributed_matrix<V>& matrix,
                        const exchange_options& options = {}, product_split split = product_split::automatic);
  distributed_spmv_plan(distributed_spmv_plan&&) noexcept;
  distributed_spmv_plan& operator=(distributed_spmv_plan&&) noexcept;
  ~distributed_spmv_plan();

  // Length of x on this rank: its own elements, then the ghosts, which `run` writes.
  [[nodiscard]] std::int64_t own_columns() const noexcept;
  [[nodiscard]] std::int64_t ghosts() const noexcept;
  [[nodiscard]] std::int64_t local_columns() const noexcept { return own_columns() + ghosts(); }
  [[nodiscard]] std::int64_t own_rows() const noexcept;
  [[nodiscard]] std::int64_t interior_rows() const noexcept;  // without ghosts
  [[nodiscard]] spmv_algorithm algorithm() const noexcept;    // of most entries of this rank

  void run(V alpha, span<V, Space> x, V beta, span<V, Space> y) const;

  [[nodiscard]] const communicator& comm() const noexcept;
  [[nodiscard]] const context<Space>& ctx() const noexcept;
  [[nodiscard]] std::string reason() const;             // one sentence about the distribution
  [[nodiscard]] std::string_view how() const noexcept;  // transport of the ghosts

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// Y = alpha * A * X + beta * Y for several vectors at once, row-major. Rows without ghosts are multiplied while the
// ghost rows of X are exchanged: on the host the longest run of them, on devices all. Y has the same bits for any
// number of ranks: on the host those of spmm_plan's row_groups; on devices, in rows of up to 32 entries, those of
// distributed_spmv_plan column by column. Devices sum longer rows by a warp or a block; then X and Y must be 16-byte
// aligned on all ranks or on none.
template <value_type V, class Space>
class SPARGO_EXPORT distributed_spmm_plan {
 public:
  // For products with `columns` columns. Borrows or copies the matrix and throws as distributed_spmv_plan does;
  // invalid_argument for negative `columns`.
  distributed_spmm_plan(const communicator& comm, const context<Space>& ctx, const distributed_matrix<V>& matrix,
                        std::int64_t columns, const exchange_options& options = {});
  distributed_spmm_plan(distributed_spmm_plan&&) noexcept;
  distributed_spmm_plan& operator=(distributed_spmm_plan&&) noexcept;
  ~distributed_spmm_plan();

  // Rows of X on this rank: its own, then the ghosts, which `run` writes.
  [[nodiscard]] std::int64_t own_columns() const noexcept;
  [[nodiscard]] std::int64_t ghosts() const noexcept;
  [[nodiscard]] std::int64_t local_columns() const noexcept { return own_columns() + ghosts(); }
  [[nodiscard]] std::int64_t own_rows() const noexcept;
  [[nodiscard]] std::int64_t interior_rows() const noexcept;  // without ghosts

  // x: local_columns() x columns, y: own_rows() x columns, both without gaps between rows.
  void run(V alpha, const dense_view<V, Space>& x, V beta, const dense_view<V, Space>& y) const;

  [[nodiscard]] std::string_view how() const noexcept;  // transport of the ghost rows

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

struct SPARGO_EXPORT cg_options {
  double tolerance = 1e-8;  // on the 2-norm of the residual relative to that of b
  std::int64_t max_iterations = 1000;
};
struct SPARGO_EXPORT cg_result {
  std::int64_t iterations = 0;
  double residual = 0;  // relative, from the recurrence
  bool converged = false;
};

// Solves A x = b for a symmetric positive definite A by conjugate gradients (Hestenes, Stiefel, 1952). b and x are this
// rank's elements; x holds the initial guess. Sums over ranks: the same bits on every run with the same number of
// ranks. On a device the host waits for each sum, but not for the last update of x, which is on the context's stream.
// Throws invalid_data if A is found not to be positive definite, or if b or a product is not finite. If the square of b
// is out of range, b is scaled by a power of 2. Memory: three vectors, four on a device.
SPARGO_EXPORT cg_result distributed_cg(const distributed_spmv_plan<double, host>& a, span<const double, host> b,
                                       span<double, host> x, const cg_options& options = {});
SPARGO_EXPORT cg_result distributed_cg(const distributed_spmv_plan<double, device>& a, span<const double, device> b,
                                       span<double, device> x, const cg_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
