// Krylov methods over ranks: the host's methods on this rank's rows, with sums over all ranks and a product that
// exchanges ghosts, for which vectors have room behind their own elements.
#include <spargo/distributed/krylov.hpp>

#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "distributed/exchange/with_ghosts.hpp"
#include "solvers/krylov/choice.hpp"
#include "solvers/krylov/solver.hpp"
#include "sparse/products.hpp"

#include <spargo/distributed/spmv.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace spargo {

namespace {

namespace krylov = detail::krylov;

class all_ranks final : public krylov::collective {
 public:
  all_ranks(const communicator& comm, const partition& rows, std::int64_t most_sums)
      : comm_(comm),
        rows_(rows.size()),
        first_(rows.first(comm.rank())),
        gathered_(static_cast<std::size_t>(comm.size() * most_sums)),
        offsets_(static_cast<std::size_t>(comm.size()) + 1) {}

  [[nodiscard]] std::int64_t rows() const override { return rows_; }
  void sum(double* totals, std::int64_t count) const override {
    if (comm_.size() == 1 || count == 0) return;
    for (std::size_t r = 0; r < offsets_.size(); ++r) offsets_[r] = static_cast<std::int64_t>(r) * count;
    std::copy_n(totals, count, gathered_.data() + comm_.rank() * count);
    comm_.gather_in_place<double>(span<double, host>(gathered_.data(), comm_.size() * count), offsets_);
    std::copy_n(gathered_.data(), count, totals);
    for (int r = 1; r < comm_.size(); ++r) {
      for (std::int64_t s = 0; s < count; ++s) totals[s] += gathered_[static_cast<std::size_t>(r * count + s)];
    }
  }
  void largest(double& most, std::int64_t& row) const override {
    const std::int64_t none = rows_;
    most = comm_.all_reduce(most, reduction::max);
    const std::int64_t first = comm_.all_reduce(row < 0 ? none : first_ + row, reduction::min);
    row = first == none ? -1 : first;
  }
  void together(detail::function_ref<void()> work) const override { comm_.agree_on(work); }

 private:
  communicator comm_;
  std::int64_t rows_;
  std::int64_t first_;
  mutable std::vector<double> gathered_;
  mutable std::vector<std::int64_t> offsets_;
};

// As of one process (solvers/krylov/inspect.cpp): each entry (i, j) has a partner (j, i). Partners of entries in
// columns of other ranks are looked for there.
template <class V>
bool is_hermitian(const communicator& comm, const context<host>& ctx, const distributed_matrix<V>& a,
                  const array<double, host>& own_roots) {
  const auto own = a.own();
  const partition& parts = a.row_parts();
  const std::int64_t first = parts.first(comm.rank());
  const auto is_own = [&](std::int64_t column) { return column >= first && column < first + own.rows; };
  detail::distributed::with_ghosts<double, std::int64_t> roots(comm, ctx, own, parts);
  roots.exchange_values(own_roots.view());
  const auto has_partner = [&](std::int64_t row, std::int64_t column, V value) {  // row: of this rank's, from 0
    const std::int64_t* const begin = own.indices.data() + own.offsets[row];
    const std::int64_t* const end = own.indices.data() + own.offsets[row + 1];
    const std::int64_t* const found = std::lower_bound(begin, end, column);
    if (found == end || *found != column) return false;
    const std::int64_t e = found - own.indices.data();
    return std::abs(own.values[e] - krylov::conjugated(value)) <=
           krylov::asymmetry_of_rounding<V>() * own_roots[row] * roots.values[roots.place(e)];
  };
  const auto visit = [&](std::int64_t row, const auto& put) {
    for (std::int64_t e = own.offsets[row]; e < own.offsets[row + 1]; ++e) {
      if (!is_own(own.indices[e])) put(own.indices[e], first + row, own.values[e]);
    }
  };
  const detail::distributed::dealer<V, decltype(visit)> dealer(comm, ctx, own.rows, a.rows(), visit);
  const auto others = dealer.template deal<std::int64_t>(parts, a.cols());
  bool all = true;
  for (std::int64_t k = 0; all && k < others.nnz(); ++k) {
    all = has_partner(others.row_indices()[k], others.col_indices()[k], others.values()[k]);
  }
  for (std::int64_t row = 0; all && row < own.rows; ++row) {
    for (std::int64_t e = own.offsets[row]; all && e < own.offsets[row + 1]; ++e) {
      if (is_own(own.indices[e])) all = has_partner(own.indices[e] - first, first + row, own.values[e]);
    }
  }
  return comm.all_reduce<std::int32_t>(all ? 1 : 0, reduction::min) != 0;
}

// Rows are numbered among all; the diagonal is this rank's.
template <class V>
krylov::inspected_matrix<V> inspect(const communicator& comm, const context<host>& ctx, const all_ranks& ranks,
                                    const distributed_matrix<V>& a) {
  array<double, host> roots;
  krylov::inspected_matrix<V> found;
  comm.agree_on([&] {
    roots = {ctx, a.own().rows};
    found = krylov::inspect_rows<V, std::int64_t, std::int64_t>(ctx, a.own(), a.row_parts().first(comm.rank()),
                                                                roots.view());
    if (found.negative_row >= 0) found.negative = found.diagonal[found.negative_row];
  });
  const V negative = found.negative.value_or(V{});
  ranks.largest(found.largest, found.bad_row);
  double none = 0;
  ranks.largest(none, found.zero_row);
  ranks.largest(none, found.negative_row);
  if (found.negative_row >= 0) {
    const int owner = a.row_parts().owner(found.negative_row);
    found.negative = comm.all_gather(negative)[static_cast<std::size_t>(owner)];
  }
  if (found.bad_row < 0) found.is_hermitian = is_hermitian(comm, ctx, a, roots);
  return found;
}

void check(const krylov_options& options, std::int64_t rows, std::int64_t cols) {
  krylov::check_options<host>(options);
  SPARGO_EXPECTS(rows == cols, fmt::format("solve: a matrix of {} x {} (expected a square one)", rows, cols));
  const bool runs = options.preconditioner == krylov_preconditioner::automatic ||
                    options.preconditioner == krylov_preconditioner::none ||
                    options.preconditioner == krylov_preconditioner::jacobi;
  if (runs) return;
  throw error(error_code::unsupported, fmt::format("solve: {} does not run over ranks (expected jacobi or none)",
                                                   to_string(options.preconditioner)));
}

}  // namespace

template <value_type V>
struct distributed_krylov_plan<V>::state {
  communicator comm;
  all_ranks ranks;
  std::shared_ptr<const distributed_spmv_plan<V, host>> product{};
  std::unique_ptr<krylov::solver<V, host>> solver{};

  state(const communicator& all, const partition& rows, std::int64_t most_sums)
      : comm(all), ranks(all, rows, most_sums) {}
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept { return solver->workspace_bytes(); }
};

template <value_type V>
distributed_krylov_plan<V>::distributed_krylov_plan(const communicator& comm, const context<host>& ctx,
                                                    const distributed_matrix<V>& matrix,
                                                    const krylov_options& options) {
  auto made = comm.agree_on([&] {
    check(options, matrix.rows(), matrix.cols());
    const std::int64_t restart = std::max<std::int64_t>(1, std::min(options.restart, matrix.rows()));
    return std::make_unique<state>(comm, matrix.row_parts(), krylov::sums_of_pass(restart));
  });
  krylov::inspected_matrix<V> found = inspect(comm, ctx, made->ranks, matrix);
  krylov::choice chosen;
  krylov_preconditioner by{};
  comm.agree_on([&] {
    krylov::expect_finite(found.bad_row);
    chosen = krylov::choose(ctx, found, options.method);
    by = krylov::choose_preconditioner(ctx, found, chosen.algorithm, options.preconditioner);
  });
  const auto product = std::make_shared<const distributed_spmv_plan<V, host>>(comm, ctx, matrix);
  krylov::system<V> system{ctx};
  system.ranks = &made->ranks;
  system.ghosts = product->ghosts();
  system.exponent = krylov::scaling_exponent(found.largest);
  system.a = {product->own_rows(), [product = product.get()](span<const V, host> x, span<V, host> y) {
                product->run(V{1}, span<V, host>(const_cast<V*>(x.data()), product->local_columns()), V{}, y);
              }};
  if (by == krylov_preconditioner::jacobi) {
    system.inverse = krylov::inverted(system, std::move(found.diagonal), krylov::needs_hermitian(chosen.algorithm));
    std::int64_t row = -1;
    (void)system.largest(span<const V, host>(system.inverse.data(), system.n()), row);
    if (row >= 0) {
      comm.agree_on([&] { krylov::expect_automatic(options.preconditioner, row); });
      system.inverse = {};
      by = krylov_preconditioner::none;
    }
  }
  comm.agree_on([&] {
    made->solver = std::make_unique<krylov::solver<V, host>>(std::move(system), options, chosen.algorithm, by);
  });
  made->product = product;
  made->solver->is_hermitian = found.is_hermitian;
  made->solver->knows_exponent = true;
  state_ = {std::move(chosen), std::move(made)};
}

template <value_type V>
krylov_result distributed_krylov_plan<V>::run(span<const V, host> b, span<V, host> x) const try {
  const std::int64_t n = state_->solver->system.n();
  state_->comm.agree_on([&] {
    detail::expect_size("solve", "b", b.size(), n);
    detail::expect_size("solve", "x", x.size(), n);
    detail::expect_range("solve", "b", b);
    detail::expect_range("solve", "x", x);
    detail::expect_apart("solve", "x", detail::memory_of(x), "b", detail::memory_of(b));
  });
  return state_->solver->solve(method(), b, x);
} catch (const agreed_error&) {
  throw;
} catch (const error& e) {
  // What an element is refused for, all ranks know (collective::largest). Other errors are of one rank.
  if (e.code() == error_code::invalid_data) throw agreed_error(e.code(), e.what());
  throw;
}

template <value_type V>
krylov_preconditioner distributed_krylov_plan<V>::preconditioner() const noexcept {
  return state_->solver->preconditioner;
}
template <value_type V>
std::string_view distributed_krylov_plan<V>::how() const noexcept {
  return state_->product->how();
}

#define INSTANTIATE(V) template class distributed_krylov_plan<V>;
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo
