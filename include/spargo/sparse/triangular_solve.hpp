// Triangular solve, x = T^-1 b, where T is the lower or the upper triangle of a square CSR matrix.
//
// Idea: the level of a row is one more than the largest level of the rows whose x it needs; rows of a level are
// independent of each other (Anderson and Saad, Int. J. High Speed Computing 1, 1989). Threads share the rows of wide
// levels; one thread solves narrow ones. A matrix whose levels are mostly narrow is solved in order of its rows.
// Deterministic: each x is one sum in the order of its row's entries, so any number of threads gives the same bits. The
// error of a row is that of the sum: (T + D) x = b exactly for some D with |D| <= (entries of the row + 2) eps |T|, a
// few times that for complex values.
//
// On a device one kernel solves all levels: rows wait for the elements of x that they need, and the order of levels is
// the order in which they start, so that nothing waits for ever. Neighbouring rows pass elements through shared memory
// (after Liu, Li, Hogg, Duff, Vinter, Euro-Par 2016). The levels are found there in the same way. The sums of a row are
// in a fixed order, other than the host's: every run on a device of one kind gives the same bits.
//
// Sweeps of Jacobi's method in the place of a solve, x <- D^-1 (b - (T - D) x) from x = D^-1 b, each a product: an
// approximation, the same linear function of b every time, for preconditioners where levels are many. As many sweeps as
// there are levels, less one, solve exactly (Anzt, Chow, Dongarra, Euro-Par 2015).
#pragma once

#include <spargo/core/state_pointer.hpp>
#include <spargo/formats/csr.hpp>

#include <cstdint>
#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Entries outside of the triangle are ignored, so that one matrix can hold both factors of an LU decomposition.
enum class triangle_part { lower_triangle, upper_triangle };

enum class triangle_diagonal {
  explicit_diagonal,       // as the matrix has it
  implicit_unit_diagonal,  // 1; the matrix's own is ignored
};

struct SPARGO_EXPORT triangular_solve_options {
  triangle_part part = triangle_part::lower_triangle;
  triangle_diagonal diagonal = triangle_diagonal::explicit_diagonal;
  std::int64_t sweeps = 0;  // of Jacobi's method, up to 1000, each a launch on a device; 0: exact
};

// Copies the triangle in the order of the levels, with sweeps in the order of the rows: O(rows + nnz) time; the matrix
// may be freed. Rows may be unsorted and have duplicates, which count as their sum. Then `run` allocates nothing. Not
// for concurrent use. On a device the plan synchronises the stream, `run` is asynchronous.
template <value_type V, index_type I, index_type O, class Space>
class SPARGO_EXPORT triangular_solve_plan {
 public:
  // Throws invalid_argument for a matrix that is not square or sweeps out of range, invalid_data, naming the row, for
  // an explicit diagonal with a zero, and on a device `unsupported` for 2^32 - 1 rows or more.
  triangular_solve_plan(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                        const triangular_solve_options& options = {});

  // Of as many elements as the matrix has rows. x may be b; otherwise they must not overlap.
  void run(span<const V, Space> b, span<V, Space> x) const;

  // Rows in the longest chain of dependencies; 0 with sweeps.
  [[nodiscard]] std::int64_t levels() const noexcept;
  [[nodiscard]] const std::string& reason() const noexcept;     // how it is solved and why, one sentence
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept;  // the copy included

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

template <class Space, detail::viewable Matrix>
triangular_solve_plan(const context<Space>&, const Matrix&, const triangular_solve_options& = {})
    -> triangular_solve_plan<detail::scalar_of<Matrix>, detail::index_of<Matrix>, detail::offset_of<Matrix>, Space>;

// Makes a plan for one solve. Prefer a plan for repeated ones.
template <value_type V, index_type I, index_type O, class Space>
void triangular_solve(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                      std::type_identity_t<span<const V, Space>> b, std::type_identity_t<span<V, Space>> x,
                      const triangular_solve_options& options = {}) {
  triangular_solve_plan<V, I, O, Space>(ctx, matrix, options).run(b, x);
}
template <class Space, detail::viewable Matrix, class V = detail::scalar_of<Matrix>>
void triangular_solve(const context<Space>& ctx, const Matrix& matrix, std::type_identity_t<span<const V, Space>> b,
                      std::type_identity_t<span<V, Space>> x, const triangular_solve_options& options = {}) {
  triangular_solve(ctx, detail::view_of(matrix), b, x, options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
