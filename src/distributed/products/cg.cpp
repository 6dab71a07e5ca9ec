// Conjugate gradients: per step one product, two sums over all ranks and five vector passes.
//
// The update of x depends only on p, so a device can do it while the hosts reduce: half of it during r'r, the other
// half during the next step's p'q, for which the device keeps the previous p.
#include "core/backend.hpp"
#include "distributed/communicator/combine.hpp"

#include <spargo/distributed/cg.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

namespace spargo {

namespace {

// Squares of vectors within these bounds, also as they shrink, stay far from the ends of the range.
constexpr double least_square = 1e-200;
constexpr double most_square = 1e200;

void expect_finite(const char* what, double value) {
  if (std::isfinite(value)) return;
  throw agreed_error(error_code::invalid_data, fmt::format("cg: {} is {} (expected a finite number)", what, value));
}

// The largest magnitude over all ranks; NaN if any element is.
template <class Space>
double largest_of(const communicator& comm, const context<Space>& ctx, span<const double, Space> v) {
  const auto larger = [](double now, double other) { return std::isnan(now) || other <= now ? now : other; };
  double largest = 0;
  const auto look = [&](span<const double, host> values) {
    for (const double value : values) largest = larger(largest, std::abs(value));
  };
  comm.agree_on([&] {
    if constexpr (std::same_as<Space, host>) {
      look(v);
    } else {
      const array<double, host> copied = to_host(ctx, v);
      look(copied);
    }
  });
  for (const double each : comm.all_gather(largest)) largest = larger(largest, each);
  return largest;
}

template <class Space>
cg_result iterate(const distributed_spmv_plan<double, Space>& a, span<const double, Space> b, span<double, Space> x,
                  const cg_options& options) {
  using detail::distributed::combine;
  const std::int64_t n = a.own_rows();
  const communicator& comm = a.comm();
  const context<Space>& ctx = a.ctx();
  constexpr bool defers = std::same_as<Space, device>;
  const std::int64_t half = defers ? n / 2 : n;
  array<double, Space> r;
  array<double, Space> directions[2];  // p and, on a device, the previous p; with room for ghosts
  array<double, Space> q;
  std::optional<detail::distributed::started_dot<Space>> product;
  comm.agree_on([&] {
    r = {ctx, n};
    for (int k = 0; k < (defers ? 2 : 1); ++k) directions[k] = {ctx, a.local_columns()};
    q = {ctx, n};
    product.emplace(ctx);
  });
  const auto finished = [&] { return comm.all_reduce(product->finish(), reduction::sum); };
  const auto dot_of = [&](span<const double, Space> u, span<const double, Space> v) {
    product->start(u, v);
    return finished();
  };
  const auto own = [&](int k) { return directions[k].view().subspan(0, n); };
  int now = 0;
  copy<double>(ctx, span<const double, Space>(x), own(now));
  a.run(-1.0, directions[now], 0.0, r);
  combine(ctx, 1.0, b, 1.0, r, r.view());
  copy<double>(ctx, std::as_const(r).view(), own(now));
  const double scale = std::sqrt(dot_of(b, b));
  double rr = dot_of(r, r);
  expect_finite("the square of the first residual", rr);
  double alpha = 0;
  cg_result result;
  const auto update_x = [&](int k, std::int64_t first, std::int64_t last) {
    const span<double, Space> part = x.subspan(first, last - first);
    combine(ctx, 1.0, part, alpha, own(k).subspan(first, last - first), part);
  };
  const auto update_rest = [&] {
    if (defers && result.iterations > 0) update_x(1 - now, half, n);
  };
  while (true) {
    result.residual = scale > 0 ? std::sqrt(rr) / scale : std::sqrt(rr);
    result.converged = result.residual <= options.tolerance;
    if (result.converged || result.iterations == options.max_iterations) break;
    const span<double, Space> p = own(now);
    a.run(1.0, directions[now], 0.0, q);
    product->start(p, q);
    update_rest();
    const double pq = finished();
    expect_finite("p'Ap", pq);
    if (!(pq > 0)) {
      throw agreed_error(error_code::invalid_data,
                         fmt::format("cg: p'Ap is {} (expected a positive definite matrix)", pq));
    }
    alpha = rr / pq;
    combine(ctx, 1.0, r, -alpha, q, r.view());
    product->start(r, r);
    update_x(now, 0, half);
    const double before = std::exchange(rr, finished());
    const int next = defers ? 1 - now : now;
    combine(ctx, 1.0, r, rr / before, p, own(next));
    now = next;
    ++result.iterations;
  }
  update_rest();
  return result;
}

// If squares of b leave the range, solves for b times a power of 2.
template <class Space>
cg_result solve(const distributed_spmv_plan<double, Space>& a, span<const double, Space> b, span<double, Space> x,
                const cg_options& options) {
  using detail::distributed::combine;
  const std::int64_t n = a.own_rows();
  const communicator& comm = a.comm();
  const context<Space>& ctx = a.ctx();
  SPARGO_EXPECTS(a.own_columns() == n && b.size() == n && x.size() == n,
                 fmt::format("cg: {} rows, {} columns, b of {} and x of {} (expected the same)", n, a.own_columns(),
                             b.size(), x.size()));
  const double square = comm.all_reduce(comm.agree_on([&] { return dot<double, Space>(ctx, b, b); }), reduction::sum);
  if (square >= least_square && square <= most_square) return iterate<Space>(a, b, x, options);
  const double largest = largest_of<Space>(comm, ctx, b);
  expect_finite("the largest element of b", largest);
  if (largest == 0) return iterate<Space>(a, b, x, options);
  const int exponent = std::ilogb(largest) / 2;  // in two steps: a single power of 2 may be out of range
  array<double, Space> scaled = comm.agree_on([&] { return array<double, Space>(ctx, n); });
  const auto times = [&](double power, span<const double, Space> from, span<double, Space> to) {
    combine(ctx, power, from, 0, from, to);
    combine(ctx, power, to, 0, to, to);
  };
  times(std::ldexp(1, -exponent), b, scaled);
  times(std::ldexp(1, -exponent), x, x);
  const cg_result result = iterate<Space>(a, std::as_const(scaled).view(), x, options);
  times(std::ldexp(1, exponent), x, x);
  return result;
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
