// Krylov methods over ranks: the methods of one process on this rank's rows, with sums over all ranks and a product
// that exchanges ghosts: on hosts the vectors have room for them behind their own elements, on devices they are apart.
// distributed_cg is one of them.
#include <spargo/distributed/krylov.hpp>

#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/instantiate.hpp"
#include "distributed/exchange/with_ghosts.hpp"
#include "distributed/products/device_sums.hpp"
#include "distributed/products/executor.hpp"
#include "solvers/krylov/choice.hpp"
#include "solvers/krylov/solver.hpp"
#include "sparse/products.hpp"

#include <spargo/distributed/cg.hpp>
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
  [[nodiscard]] krylov::device_sums* on_devices() const override { return device_sums_.get(); }

  // For sums of up to `most` doubles on devices. Collective.
  template <class Space>
  void connect(const context<Space>& ctx, device_link link, std::int64_t most) {
    if constexpr (std::same_as<Space, device>) {
      if (comm_.size() > 1) device_sums_ = detail::distributed::connect_sums(comm_, ctx, link, most);
    }
  }

 private:
  communicator comm_;
  std::int64_t rows_;
  std::int64_t first_;
  mutable std::vector<double> gathered_;
  mutable std::vector<std::int64_t> offsets_;
  std::unique_ptr<krylov::device_sums> device_sums_{};
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

// The exponent is not known. Borrows all; `ghosts`: room for a product's.
template <class V>
krylov::system<V> system_of(const all_ranks& ranks, const distributed_spmv_plan<V, host>& product,
                            const array<V, host>& /*ghosts*/) {
  krylov::system<V> made{product.ctx()};
  made.ranks = &ranks;
  made.ghosts = product.ghosts();
  made.a = {product.own_rows(), [&product](span<const V, host> x, span<V, host> y) {
              product.run(V{1}, span<V, host>(const_cast<V*>(x.data()), product.local_columns()), V{}, y);
            }};
  return made;
}
template <class V>
krylov::system<V, device> system_of(const all_ranks& ranks, const distributed_spmv_plan<V, device>& product,
                                    array<V, device>& ghosts) {
  krylov::system<V, device> made{product.ctx()};
  made.ranks = &ranks;
  made.captures = product.comm().size() == 1;  // else hosts take part in an exchange
  product.comm().agree_on([&] { ghosts = {product.ctx(), product.ghosts()}; });
  made.a = {product.own_rows(), [&product, room = ghosts.view()](span<const V, device> x, span<V, device> y) {
              product.run(V{1}, x, room, V{}, y);
            }};
  return made;
}

// M = the diagonal, in the system.
template <class V>
void add_inverse(krylov::system<V>& of, array<V, host> diagonal, krylov_method method) {
  of.inverse = krylov::inverted(of, std::move(diagonal), krylov::needs_hermitian(method));
}
template <class V>
void add_inverse(krylov::system<V, device>& of, const array<V, host>& diagonal, krylov_method method) {
  of.inverse = krylov::inverted(of, to_device(of.ctx, diagonal), krylov::needs_hermitian(method));
  of.make_work();  // for the look at the inverse
}

// Doubles in the largest sum of all ranks: of a pass, or of gmres' basis.
template <class V>
std::int64_t most_doubles(krylov_method method, const krylov_options& options, std::int64_t restart) {
  constexpr std::int64_t of_pass = 4;
  const bool may_be_gmres = method == krylov_method::gmres ||
                            (method == krylov_method::bicgstab && options.method == krylov_method::automatic);
  return may_be_gmres ? std::max(of_pass, krylov::doubles_of<krylov::sum_of<V>> * (restart + 1)) : of_pass;
}

template <class V, class Space>
krylov_result run_solver(krylov::solver<V, Space>& solver, krylov_method method, span<const V, Space> b,
                         span<V, Space> x) try {
  return krylov::solve_with(solver, method, b, x);
} catch (const agreed_error&) {
  throw;
} catch (const error& e) {
  // What an element is refused for, all ranks know (collective::largest). Other errors are of one rank.
  if (e.code() == error_code::invalid_data) throw agreed_error(e.code(), e.what());
  throw;
}

}  // namespace

template <value_type V, class Space>
struct distributed_krylov_plan<V, Space>::state {
  communicator comm;
  all_ranks ranks;
  std::shared_ptr<const distributed_spmv_plan<V, Space>> product{};
  array<V, Space> ghosts{};
  std::unique_ptr<krylov::solver<V, Space>> solver{};

  state(const communicator& all, const partition& rows, std::int64_t most_sums)
      : comm(all), ranks(all, rows, most_sums) {}
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    if constexpr (detail::is_built<Space>) {
      return solver->workspace_bytes() + ghosts.size() * static_cast<std::int64_t>(sizeof(V));
    } else {
      return 0;
    }
  }
};

template <value_type V, class Space>
distributed_krylov_plan<V, Space>::distributed_krylov_plan(const communicator& comm, const context<Space>& ctx,
                                                           const distributed_matrix<V>& matrix,
                                                           const krylov_options& options,
                                                           const exchange_options& links) {
  if constexpr (detail::is_built<Space>) {
    const std::int64_t restart = std::max<std::int64_t>(1, std::min(options.restart, matrix.rows()));
    auto made = comm.agree_on([&] {
      check(options, matrix.rows(), matrix.cols());
      return std::make_unique<state>(comm, matrix.row_parts(), krylov::sums_of_pass(restart));
    });
    const context<host> cpu = detail::distributed::host_of(comm, ctx);
    krylov::inspected_matrix<V> found = inspect(comm, cpu, made->ranks, matrix);
    krylov::choice chosen;
    krylov_preconditioner by{};
    comm.agree_on([&] {
      krylov::expect_finite(found.bad_row);
      chosen = krylov::choose(cpu, found, options.method);
      by = krylov::choose_preconditioner(cpu, found, chosen.algorithm, options.preconditioner);
    });
    made->product = std::make_shared<const distributed_spmv_plan<V, Space>>(comm, ctx, matrix, links);
    made->ranks.connect(ctx, links.link, most_doubles<V>(chosen.algorithm, options, restart));
    krylov::system<V, Space> system = system_of(made->ranks, *made->product, made->ghosts);
    system.exponent = krylov::scaling_exponent(found.largest);
    if (by == krylov_preconditioner::jacobi) {
      comm.agree_on([&] { add_inverse(system, std::move(found.diagonal), chosen.algorithm); });
      std::int64_t row = -1;
      (void)system.largest(span<const V, Space>(system.inverse.data(), system.n()), row);
      if (row >= 0) {
        comm.agree_on([&] { krylov::expect_automatic(options.preconditioner, row); });
        system.inverse = {};
        by = krylov_preconditioner::none;
      }
    }
    comm.agree_on([&] { made->solver = krylov::make_solver(std::move(system), options, chosen.algorithm, by); });
    made->solver->is_hermitian = found.is_hermitian;
    made->solver->knows_exponent = true;
    state_ = {std::move(chosen), std::move(made)};
  } else {
    detail::no_device("solve");
  }
}

template <value_type V, class Space>
krylov_result distributed_krylov_plan<V, Space>::run(span<const V, Space> b, span<V, Space> x) const {
  const std::int64_t n = state_->product->own_rows();
  state_->comm.agree_on([&] {
    detail::expect_size("solve", "b", b.size(), n);
    detail::expect_size("solve", "x", x.size(), n);
    detail::expect_range("solve", "b", b);
    detail::expect_range("solve", "x", x);
    detail::expect_apart("solve", "x", detail::memory_of(x), "b", detail::memory_of(b));
  });
  return run_solver(*state_->solver, method(), b, x);
}

template <value_type V, class Space>
krylov_preconditioner distributed_krylov_plan<V, Space>::preconditioner() const noexcept {
  return state_->solver->preconditioner;
}
template <value_type V, class Space>
std::string_view distributed_krylov_plan<V, Space>::how() const noexcept {
  return state_->product->how();
}

#define INSTANTIATE(V)                             \
  template class distributed_krylov_plan<V, host>; \
  template class distributed_krylov_plan<V, device>;
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

namespace {

template <class Space>
cg_result solve(const distributed_spmv_plan<double, Space>& a, span<const double, Space> b, span<double, Space> x,
                const cg_options& options) {
  const std::int64_t n = a.own_rows();
  a.comm().agree_on([&] {
    SPARGO_EXPECTS(a.own_columns() == n && b.size() == n && x.size() == n,
                   fmt::format("cg: {} rows, {} columns, b of {} and x of {} (expected the same)", n, a.own_columns(),
                               b.size(), x.size()));
  });
  const partition rows{communicator::offsets_of(a.comm().all_gather(n))};
  all_ranks ranks(a.comm(), rows, krylov::sums_of_pass(1));
  const krylov_options wanted{
      .method = krylov_method::cg, .tolerance = options.tolerance, .max_iterations = options.max_iterations};
  ranks.connect(a.ctx(), device_link::automatic, most_doubles<double>(krylov_method::cg, wanted, 1));
  array<double, Space> ghosts;
  krylov::system<double, Space> system = system_of(ranks, a, ghosts);
  const auto solver = a.comm().agree_on(
      [&] { return krylov::make_solver(std::move(system), wanted, krylov_method::cg, krylov_preconditioner::none); });
  solver->is_hermitian = true;  // not known: nothing is said of it
  const krylov_result found = run_solver(*solver, krylov_method::cg, b, x);
  if (found.outcome == krylov_outcome::not_positive_definite || found.outcome == krylov_outcome::not_finite) {
    throw agreed_error(error_code::invalid_data, "cg: " + found.reason);
  }
  return {found.iterations, found.relative_residual, found.converged};
}

}  // namespace

cg_result distributed_cg(const distributed_spmv_plan<double, host>& a, span<const double, host> b, span<double, host> x,
                         const cg_options& options) {
  return solve<host>(a, b, x, options);
}
cg_result distributed_cg(const distributed_spmv_plan<double, device>& a, span<const double, device> b,
                         span<double, device> x, const cg_options& options) {
  if constexpr (detail::is_built<device>) {
    return solve<device>(a, b, x, options);
  } else {
    detail::no_device("cg");
  }
}

}  // namespace spargo
