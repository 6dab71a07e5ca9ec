// Sparse matrices whose rows are shared out among ranks: reading, products, conjugate gradients.
//
// All functions are collective over the communicator, and throw the same error on all ranks (agreed_error) for what can
// fail on one of them. Every result is the same for any number of ranks and threads, bit for bit, but where sums over
// ranks are named.
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

// The entries of a file in shares: one rank's after the other's they are what the reader of one process returns. Of a
// file that lies on a disk as plain text every rank parses a range of lines; a pipe, gzip, or an array is read by rank
// 0, and its share is all. Errors are those of one process, with the same line. V: pattern, double, complex<double>.
template <entry_type V>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, std::int64_t, host> read_matrix_market_stored(
    const communicator& comm, const context<host>& ctx, const std::string& path, const read_options& options = {},
    matrix_market_summary* summary = nullptr);

// Edges in shares as above, with the vertices' final numbers.
struct distributed_edge_list {
  coo_matrix<double, std::int64_t, host> edges;  // rows == cols == the vertices of all
  bool weighted = false;
  std::int64_t stored = 0;        // edges of all shares
  std::vector<std::int64_t> ids;  // of vertices [ids_first, ids_first + ids.size()), ascending; a slice a rank
  std::int64_t ids_first = 0;
  std::int64_t first_vertex = -1;  // as in edge_list
  std::int64_t rounded_integers = 0;
  edge_list_header header;
  vertex_name_table names;  // in place of ids: all of them, on every rank
};
[[nodiscard]] SPARGO_EXPORT distributed_edge_list read_edge_list(const communicator& comm, const context<host>& ctx,
                                                                 const std::string& path,
                                                                 const edge_list_options& options = {});

// Every rank has a range of rows, with columns of the whole matrix, ascending and distinct as to_csr leaves them. Rows
// are shared out by entries and rows. V: double.
template <value_type V>
class SPARGO_EXPORT distributed_matrix {
 public:
  // Of entries in shares, of which each rank gives its own; duplicates are summed in the order of ranks, then of the
  // share. Not collective in what the shares hold: any rank may have any entries. With a symmetry they are a triangle.
  // Memory: the share, twice the entries of this rank's rows while they are sorted, 8 bytes for 128 rows.
  distributed_matrix(const communicator& comm, const context<host>& ctx,
                     const coo_view<const V, std::int64_t, host>& share,
                     symmetry_kind symmetry = symmetry_kind::general);

  [[nodiscard]] std::int64_t rows() const noexcept { return row_parts_.size(); }
  [[nodiscard]] std::int64_t cols() const noexcept { return column_parts_.size(); }
  [[nodiscard]] std::int64_t nnz() const noexcept { return nnz_; }  // of all ranks
  [[nodiscard]] const partition& row_parts() const noexcept { return row_parts_; }
  [[nodiscard]] const partition& column_parts() const noexcept {
    return column_parts_;
  }  // of x; those of the rows if square
  // This rank's rows, of which the first is row_parts().first(rank).
  [[nodiscard]] csr_view<const V, std::int64_t, std::int64_t, host> own() const noexcept { return own_.view(); }

 private:
  partition row_parts_;
  partition column_parts_;
  std::int64_t nnz_ = 0;
  csr_matrix<V, std::int64_t, std::int64_t, host> own_;
};

// How a rank's product is arranged around the wait for the others' elements of x.
enum class product_split {
  // On the host rows. On devices what is fastest: columns, unless three quarters of the rows, one after the other, need
  // none of them.
  automatic,
  rows,     // the rows that need none of them first
  columns,  // all rows' own columns first, then the others'
};

// y = alpha * A * x + beta * y. The rows that need nothing of other ranks are multiplied while the others' elements of
// x travel, the rest after it. With product_split::rows each row is summed in its own order, so that y has the same
// bits for any number of ranks: on the host, and on devices in rows of up to 32 entries, those of spmv_plan's
// row_per_thread; longer rows are summed by a warp or a block there. product_split::columns is two products by
// spmv_plan's automatic choice, and so is that of the interior rows on devices where the split is automatic: y is
// deterministic then, but within rounding of what other numbers of ranks give. Device plans copy the matrix, in the
// form that spmv_storage::copied stands for unless its bits are to be kept; so does a split by columns on the host.
// `run` on a device enqueues, and waits for the other hosts only.
template <value_type V, class Space>
class SPARGO_EXPORT distributed_spmv_plan {
 public:
  // Borrows the matrix where it is the host's and split by rows. Throws unsupported where a rank's columns and the
  // ghosts beside them exceed 2^31 - 1. `options`: of devices.
  distributed_spmv_plan(const communicator& comm, const context<Space>& ctx, const distributed_matrix<V>& matrix,
                        const exchange_options& options = {}, product_split split = product_split::automatic);
  distributed_spmv_plan(distributed_spmv_plan&&) noexcept;
  distributed_spmv_plan& operator=(distributed_spmv_plan&&) noexcept;
  ~distributed_spmv_plan();

  // How long x is on this rank: its own elements, and behind them room for the others' (ghosts), which `run` writes.
  [[nodiscard]] std::int64_t own_columns() const noexcept;
  [[nodiscard]] std::int64_t ghosts() const noexcept;
  [[nodiscard]] std::int64_t local_columns() const noexcept { return own_columns() + ghosts(); }
  [[nodiscard]] std::int64_t own_rows() const noexcept;
  [[nodiscard]] std::int64_t interior_rows() const noexcept;  // those that do not wait
  [[nodiscard]] spmv_algorithm algorithm() const noexcept;    // of most entries here

  void run(V alpha, span<V, Space> x, V beta, span<V, Space> y) const;

  [[nodiscard]] const communicator& comm() const noexcept;
  [[nodiscard]] const context<Space>& ctx() const noexcept;
  [[nodiscard]] std::string reason() const;             // one sentence on how it is shared
  [[nodiscard]] std::string_view how() const noexcept;  // the others' elements come

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// Y = alpha * A * X + beta * Y for several vectors at once, row-major. Rows that need nothing of other ranks are
// multiplied while the others' rows of X travel: on the host the longest run of them, on devices all. Y has the same
// bits for any number of ranks: on the host those of spmm_plan's row_groups; on devices, in rows of up to 32 entries,
// those of distributed_spmv_plan column by column, while longer rows are summed by a warp or a block, for which X and Y
// must begin at multiples of 16 bytes, on all ranks or on none.
template <value_type V, class Space>
class SPARGO_EXPORT distributed_spmm_plan {
 public:
  // For products with `columns` columns. Borrows and copies the matrix, and throws, as distributed_spmv_plan does;
  // invalid_argument for a negative number.
  distributed_spmm_plan(const communicator& comm, const context<Space>& ctx, const distributed_matrix<V>& matrix,
                        std::int64_t columns, const exchange_options& options = {});
  distributed_spmm_plan(distributed_spmm_plan&&) noexcept;
  distributed_spmm_plan& operator=(distributed_spmm_plan&&) noexcept;
  ~distributed_spmm_plan();

  // Rows of X on this rank: its own, and behind them room for the others', which `run` writes.
  [[nodiscard]] std::int64_t own_columns() const noexcept;
  [[nodiscard]] std::int64_t ghosts() const noexcept;
  [[nodiscard]] std::int64_t local_columns() const noexcept { return own_columns() + ghosts(); }
  [[nodiscard]] std::int64_t own_rows() const noexcept;
  [[nodiscard]] std::int64_t interior_rows() const noexcept;  // those that do not wait

  // x: local_columns() x columns, y: own_rows() x columns, both without gaps between rows.
  void run(V alpha, const dense_view<V, Space>& x, V beta, const dense_view<V, Space>& y) const;

  [[nodiscard]] std::string_view how() const noexcept;  // the others' rows of X come

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

struct SPARGO_EXPORT cg_options {
  double tolerance = 1e-8;  // of the residual's 2-norm, relative to that of b
  std::int64_t max_iterations = 1000;
};
struct SPARGO_EXPORT cg_result {
  std::int64_t iterations = 0;
  double residual = 0;  // relative, as the recurrence has it
  bool converged = false;
};

// Solves A x = b for a symmetric positive definite A by conjugate gradients (Hestenes, Stiefel, 1952). b and x are this
// rank's elements; x is the guess on entry. Sums over ranks: the same bits on every run with as many ranks. On a device
// the host waits for each sum, but not for the last update of x, which is on the context's stream. Throws invalid_data
// where A is not positive definite, as far as that shows, and where b or products are not finite. A b whose square is
// out of range is scaled by a power of 2. Memory: three vectors, on a device four.
SPARGO_EXPORT cg_result distributed_cg(const distributed_spmv_plan<double, host>& a, span<const double, host> b,
                                       span<double, host> x, const cg_options& options = {});
SPARGO_EXPORT cg_result distributed_cg(const distributed_spmv_plan<double, device>& a, span<const double, device> b,
                                       span<double, device> x, const cg_options& options = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
