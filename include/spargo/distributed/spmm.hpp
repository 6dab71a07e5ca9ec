// Products of a distributed matrix with several vectors at once.
#pragma once

#include <spargo/core/dense.hpp>
#include <spargo/distributed/matrix.hpp>
#include <spargo/sparse/spmm.hpp>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Y = alpha * A * X + beta * Y for several vectors at once, row-major. Rows without ghosts are multiplied while the
// ghost rows of X are exchanged: on the host the longest run of them, on devices all. Y has the same bits for any
// number of ranks: on the host those of spmm_plan's row_groups; on devices, in rows of up to 32 entries, those of
// distributed_spmv_plan. Devices sum longer rows by a warp or a block; X and Y must then be 16-byte aligned on all
// ranks or on none.
template <value_type V, class Space>
class SPARGO_EXPORT distributed_spmm_plan {
 public:
  // Borrows or copies the matrix and throws as distributed_spmv_plan does; invalid_argument for negative `columns`.
  distributed_spmm_plan(const communicator& comm, const context<Space>& ctx, const distributed_matrix<V>& matrix,
                        std::int64_t columns, const exchange_options& options = {});

  // Rows of X on this rank: its own, then the ghosts, which `run` writes.
  [[nodiscard]] std::int64_t own_columns() const noexcept;
  [[nodiscard]] std::int64_t ghosts() const noexcept;
  [[nodiscard]] std::int64_t local_columns() const noexcept { return own_columns() + ghosts(); }
  [[nodiscard]] std::int64_t own_rows() const noexcept;
  [[nodiscard]] std::int64_t interior_rows() const noexcept;  // without ghosts

  // x: local_columns() x columns, y: own_rows() x columns, both without gaps between rows.
  void run(V alpha, const dense_view<V, Space>& x, V beta, const dense_view<V, Space>& y) const;

  [[nodiscard]] spmm_algorithm algorithm() const noexcept { return spmm_algorithm::row_groups; }
  [[nodiscard]] std::string reason() const;             // one sentence about the distribution
  [[nodiscard]] std::string_view how() const noexcept;  // transport of the ghost rows

 private:
  struct [[gnu::visibility("hidden")]] state;
  detail::state_pointer<state> state_;
};

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
