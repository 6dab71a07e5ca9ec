// Products of a distributed matrix with a vector.
#pragma once

#include <spargo/distributed/matrix.hpp>
#include <spargo/sparse/spmv.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

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
  // Borrows a host matrix split by rows. Throws unsupported for over 2^31 - 1 columns with ghosts. `options`: devices.
  distributed_spmv_plan(const communicator& comm, const context<Space>& ctx, const distributed_matrix<V>& matrix,
                        const exchange_options& options = {}, product_split split = product_split::automatic);

  // Length of x on this rank: its own elements, then the ghosts, which `run` writes.
  [[nodiscard]] std::int64_t own_columns() const noexcept;
  [[nodiscard]] std::int64_t ghosts() const noexcept;
  [[nodiscard]] std::int64_t local_columns() const noexcept { return own_columns() + ghosts(); }
  [[nodiscard]] std::int64_t own_rows() const noexcept;
  [[nodiscard]] std::int64_t interior_rows() const noexcept;  // without ghosts
  [[nodiscard]] spmv_algorithm algorithm() const noexcept;    // of most entries of this rank

  void run(V alpha, span<V, Space> x, V beta, span<V, Space> y) const;
  // The same with x in two parts: this rank's elements, read only, and a buffer that `run` fills with the ghosts.
  void run(V alpha, span<const V, Space> own, span<V, Space> ghosts, V beta,
           span<V, Space> y) const requires std::same_as<Space, device>;

  [[nodiscard]] const communicator& comm() const noexcept;
  [[nodiscard]] const context<Space>& ctx() const noexcept;
  [[nodiscard]] std::string reason() const;             // one sentence about the distribution
  [[nodiscard]] std::string_view how() const noexcept;  // transport of the ghosts

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
