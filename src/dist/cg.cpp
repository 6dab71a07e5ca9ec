// Conjugate gradients: a product, two sums over all ranks and five passes over vectors a step.
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
  array<double, Space> r;
  array<double, Space> p;  // with room for ghosts
  array<double, Space> q;
  std::optional<detail::dist::started_dot<Space>> product;
  comm.agree_on([&] {
    r = {ctx, n};
    p = {ctx, a.local_columns()};
    q = {ctx, n};
    product.emplace(ctx);
  });
  const auto finished = [&] { return comm.all_reduce(product->finish(), reduction::sum); };
  const auto dot_of = [&](span<const double, Space> u, span<const double, Space> v) {
    product->start(u, v);
    return finished();
  };
  const span<double, Space> own_p = p.view().subspan(0, n);
  copy<double>(ctx, span<const double, Space>(x), own_p);
  a.run(-1.0, p, 0.0, r);
  combine(ctx, 1.0, b, 1.0, r, r.view());
  copy<double>(ctx, std::as_const(r).view(), own_p);
  const double scale = std::sqrt(dot_of(b, b));
  double rr = dot_of(r, r);
  cg_result result;
  while (true) {
    result.residual = scale > 0 ? std::sqrt(rr) / scale : std::sqrt(rr);
    result.converged = result.residual <= options.tolerance;
    if (result.converged || result.iterations == options.max_iterations) return result;
    a.run(1.0, p, 0.0, q);
    const double pq = dot_of(own_p, q);
    if (!(pq > 0)) {
      throw agreed_error(error_code::invalid_data,
                         fmt::format("cg: p'Ap is {} (expected a positive definite matrix)", pq));
    }
    const double alpha = rr / pq;
    combine(ctx, 1.0, r, -alpha, q, r.view());
    product->start(r, r);
    combine(ctx, 1.0, x, alpha, own_p, x);  // a device does so while the hosts add up r'r
    const double before = std::exchange(rr, finished());
    combine(ctx, 1.0, r, rr / before, own_p, own_p);
    ++result.iterations;
  }
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
