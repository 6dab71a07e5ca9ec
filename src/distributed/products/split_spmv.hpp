// Distributed SpMV split by columns: A x = A_own x_own + A_ghost x_ghost.
//
// Two single-process plans in either memory space: the product with own elements runs during the exchange; that with
// ghosts is then added. It pays off if nearly all rows have ghosts and would wait. Cost: a copy of the matrix, y and
// the offsets. Each row is summed in two parts, which depend on the number of ranks.
#pragma once

#include "core/parallel.hpp"
#include "distributed/products/executor.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/sparse/spmv.hpp>

#include <optional>

namespace spargo::detail::distributed {

template <class V, class Space>
class split_spmv final : public spmv_executor<V, Space> {
 public:
  split_spmv(const communicator& comm, const context<Space>& ctx, const distributed_matrix<V>& matrix,
             const local_columns& columns, const exchange_options& options)
      : own_columns_(columns.own), ghosts_(std::ssize(columns.ghosts)) {
    comm.agree_on([&] {
      const context<host> cpu = host_of(comm, ctx);
      own_.emplace(ctx, take(cpu, matrix.own(), columns, 0, own_columns_));
      others_.emplace(ctx, take(cpu, matrix.own(), columns, own_columns_, columns.size()));
      for (std::int64_t row = 0; row < matrix.own().rows; ++row) {
        if (columns.are_own(matrix.own().offsets[row], matrix.own().offsets[row + 1])) ++interior_rows_;
      }
    });
    if constexpr (std::same_as<Space, host>) {
      halo_.emplace(comm, ctx, matrix.column_parts(), columns.ghosts, sizeof(V));
    } else {
      halo_.emplace(comm, ctx, matrix.column_parts(), columns.ghosts, sizeof(V), options);
    }
  }

  void run(V alpha, span<const V, Space> own, span<V, Space> others, V beta, span<V, Space> y) override {
    halo_->start(own);
    own_->plan.run(alpha, own, beta, y);
    if constexpr (std::same_as<Space, host>) {
      halo_->finish(others);
    } else {
      halo_->finish_aside(others, [](stream_handle) {});  // the copy overlaps that product
    }
    if (ghosts_ > 0) others_->plan.run(alpha, others, V{1}, y);
  }
  [[nodiscard]] spmv_algorithm algorithm() const noexcept override { return own_->plan.algorithm(); }
  [[nodiscard]] bool splits_columns() const noexcept override { return true; }
  [[nodiscard]] std::int64_t own_columns() const noexcept override { return own_columns_; }
  [[nodiscard]] std::int64_t ghosts() const noexcept override { return ghosts_; }
  [[nodiscard]] std::int64_t interior_rows() const noexcept override { return interior_rows_; }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  template <class S>
  using matrix_in = csr_matrix<V, std::int32_t, std::int64_t, S>;

  static matrix_in<host> in_space(const context<host>&, matrix_in<host>&& m) { return std::move(m); }
  static matrix_in<device> in_space(const context<device>& ctx, matrix_in<host>&& m) { return to_device(ctx, m); }

  // A matrix that lives as long as the plan that borrows it.
  struct part {
    matrix_in<Space> matrix;
    spmv_plan<V, std::int32_t, std::int64_t, Space> plan;

    part(const context<Space>& ctx, matrix_in<host>&& m)
        : matrix(in_space(ctx, std::move(m))), plan(ctx, matrix.view(), {.storage = storage}) {
      if (plan.storage() == spmv_storage::copied) matrix = {};
    }
  };
  static constexpr spmv_storage storage = std::same_as<Space, host> ? spmv_storage::borrowed : spmv_storage::copied;

  // Extracts the entries in columns [first, last), renumbered from 0, in row order.
  static matrix_in<host> take(const context<host>& cpu, const csr_view<const V, std::int64_t, std::int64_t, host>& a,
                              const local_columns& columns, std::int64_t first, std::int64_t last) {
    const auto is_in = [&](std::int64_t e) { return columns.indices[e] >= first && columns.indices[e] < last; };
    array<std::int64_t, host> offsets(cpu, a.rows + 1);
    offsets[0] = 0;
    parallel_for(cpu.threads(), a.rows, grain::rows, [&](std::int64_t row) {
      std::int64_t count = 0;
      for (std::int64_t e = a.offsets[row]; e < a.offsets[row + 1]; ++e) count += is_in(e) ? 1 : 0;
      offsets[row + 1] = count;
    });
    for (std::int64_t row = 0; row < a.rows; ++row) offsets[row + 1] += offsets[row];
    array<std::int32_t, host> indices(cpu, offsets[a.rows]);
    array<V, host> values(cpu, offsets[a.rows]);
    parallel_for(cpu.threads(), a.rows, grain::rows, [&](std::int64_t row) {
      std::int64_t to = offsets[row];
      for (std::int64_t e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
        if (!is_in(e)) continue;
        indices[to] = static_cast<std::int32_t>(columns.indices[e] - first);
        values[to++] = a.values[e];
      }
    });
    return {static_cast<std::int32_t>(a.rows), static_cast<std::int32_t>(last - first), std::move(offsets),
            std::move(indices), std::move(values)};
  }

  std::int64_t own_columns_;
  std::int64_t ghosts_;
  std::int64_t interior_rows_ = 0;
  std::optional<part> own_;
  std::optional<part> others_;
  std::optional<exchange<Space>> halo_;
};

}  // namespace spargo::detail::distributed
