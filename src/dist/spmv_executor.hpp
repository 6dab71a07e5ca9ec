// What a distributed product hides: a rank's rows in one memory space.
#pragma once

#include "dist/local_columns.hpp"

#include <spargo/dist/matrix.hpp>

#include <memory>
#include <string_view>

namespace spargo::detail::dist {

template <class V, class Space>
class spmv_executor {
 public:
  spmv_executor() = default;
  spmv_executor(const spmv_executor&) = delete;
  spmv_executor& operator=(const spmv_executor&) = delete;
  virtual ~spmv_executor() = default;

  // Sizes are right.
  virtual void run(V alpha, span<V, Space> x, V beta, span<V, Space> y) = 0;
  [[nodiscard]] virtual std::int64_t own_columns() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t ghosts() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t interior_rows() const noexcept = 0;
  [[nodiscard]] virtual std::string_view how() const noexcept = 0;  // ghosts travel
};

// Collective. Borrows the matrix where it is the host's.
template <class V>
[[nodiscard]] std::unique_ptr<spmv_executor<V, host>> make_spmv_executor(const communicator& comm,
                                                                         const context<host>& ctx,
                                                                         const distributed_matrix<V>& matrix,
                                                                         local_columns columns,
                                                                         const exchange_options& options);
template <class V>
[[nodiscard]] std::unique_ptr<spmv_executor<V, device>> make_spmv_executor(const communicator& comm,
                                                                           const context<device>& ctx,
                                                                           const distributed_matrix<V>& matrix,
                                                                           local_columns columns,
                                                                           const exchange_options& options);

// The threads with which a rank prepares on the host what it computes with.
[[nodiscard]] inline context<host> host_of(const communicator&, const context<host>& ctx) { return ctx; }
[[nodiscard]] inline context<host> host_of(const communicator& comm, const context<device>&) {
  return context<host>({.threads = std::max(1, context<host>().threads() / comm.local_size())});
}

}  // namespace spargo::detail::dist
