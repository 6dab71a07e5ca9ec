// Conjugate gradients: a product, two sums over all ranks and five passes over vectors a step.
//
// The update of x waits for nothing but p, so that a device works on it while the hosts add up: half of it beside r'r,
// the other half beside the next step's p'q, for which the device keeps the last p.
#include "core/backend.hpp"
#include "dist/combine.hpp"

#include <spargo/dist/matrix.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

namespace spargo {

namespace {

template <class Space>
cg_result solve(const distributed_spmv_plan<double, Space>& a, span<const double, Space> b, span<double, Space> x,
                const cg_options& options) {
  using detail::dist::combine;
  const std::int64_t n = a.own_rows();
  const communicator& comm = a.comm();
  const context<Space>& ctx = a.ctx();
  SPARGO_EXPECTS(a.own_columns() == n && b.size() == n && x.size() == n,
                 fmt::format("cg: {} rows, {} columns, b of {} and x of {} (expected the same)", n, a.own_columns(),
                             b.size(), x.size()));
  constexpr bool defers = std::same_as<Space, device>;
  const std::int64_t half = defers ? n / 2 : n;
  array<double, Space> r;
  array<double, Space> directions[2];  // p and, on a device, the last one; with room for ghosts
  array<double, Space> q;
  std::optional<detail::dist::started_dot<Space>> product;
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
  double alpha = 0;
  cg_result result;
  // Elements [first, last) of x, by p of `k`.
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
