// Checks results of power iterations by repeating them: values are pushed over the out-edges, with atomic additions,
// in double precision, following the definitions. All terms are nonnegative, so that rounding stays a relative error of
// every single value, however many steps: about steps * degree * epsilon, far below `allowed`.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <spargo/graph/eigenvector.hpp>
#include <spargo/graph/hits.hpp>
#include <spargo/graph/katz.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

namespace spargo {

namespace {

using doubles = std::vector<double>;

constexpr double allowed = 1e-9;  // relative error of a value

// Edges with weights.
template <class I, class O>
struct pushed_edges {
  int threads;
  csr_pattern_view<I, O, host> out;
  doubles weights;  // empty: all 1

  [[nodiscard]] double weight(O e) const { return weights.empty() ? 1 : weights[static_cast<std::size_t>(e)]; }
  // y[v] = the sum of w(u, v) x[u]
  [[nodiscard]] doubles to_targets(const doubles& x) const {
    doubles y(x.size());
    detail::parallel_for(threads, out.rows, detail::grain::rows, [&](std::int64_t u) {
      for (O e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
        const double part = weight(e) * x[static_cast<std::size_t>(u)];
        std::atomic_ref(y[static_cast<std::size_t>(out.indices[e])]).fetch_add(part, std::memory_order_relaxed);
      }
    });
    return y;
  }
  // y[u] = the sum of w(u, v) x[v]
  [[nodiscard]] doubles to_sources(const doubles& x) const {
    doubles y(x.size());
    detail::parallel_for(threads, out.rows, detail::grain::rows, [&](std::int64_t u) {
      double sum = 0;
      for (O e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
        sum += weight(e) * x[static_cast<std::size_t>(out.indices[e])];
      }
      y[static_cast<std::size_t>(u)] = sum;
    });
    return y;
  }
  [[nodiscard]] double largest() const {
    double most = weights.empty() ? 1 : 0;
    for (const double w : weights) most = std::max(most, w);
    return most > 0 ? most : 1;
  }
};

double sum_of(const doubles& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double length_of(const doubles& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, value);
  if (most == 0) return 0;
  double squares = 0;
  for (const double value : x) squares += value / most * (value / most);
  return most * std::sqrt(squares);
}
void divide(doubles& x, double by) {
  if (!(by > 0) || !std::isfinite(by)) return;
  for (double& value : x) value /= by;
}
doubles vector_of(span<const double, host> values, std::size_t size, double otherwise) {
  return values.empty() ? doubles(size, otherwise) : doubles(values.begin(), values.end());
}

std::string compare(std::string_view name, span<const double, host> found, const doubles& expected) {
  if (found.size() != static_cast<std::int64_t>(expected.size())) {
    return fmt::format("{} {} of {} vertices", found.size(), name, expected.size());
  }
  // Values that vanish beside the largest lose their digits at the end of the range of doubles.
  const double vanishing = 1e-290 * sum_of(expected);
  for (std::int64_t v = 0; v < found.size(); ++v) {
    const double right = expected[static_cast<std::size_t>(v)];
    if (!(std::abs(found[v] - right) <= allowed * right + vanishing)) {
      return fmt::format("vertex {} has {} in the {} (expected {})", v, found[v], name, right);
    }
  }
  return {};
}

// The figures of a run that is repeated.
struct claims {
  std::int64_t iterations;
  double residual;
  bool converged;
  double tolerance;
  std::int64_t max_iterations;
  double divisor;  // of a step's change
};

// Repeats x = step(x) `claimed.iterations` times. The fault, if the iterations should have ended earlier or later.
std::string repeat(const claims& claimed, doubles& x, const std::function<doubles(const doubles&)>& step) {
  if (claimed.iterations < 1 || claimed.iterations > claimed.max_iterations) {
    return fmt::format("{} iterations (expected 1 to {})", claimed.iterations, claimed.max_iterations);
  }
  double change = 0;
  double rounding = 0;
  for (std::int64_t k = 1; k <= claimed.iterations; ++k) {
    const doubles next = step(x);
    change = rounding = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
      change += std::abs(next[v] - x[v]) / claimed.divisor;
      rounding += allowed * (next[v] + x[v]) / claimed.divisor;
    }
    x = next;
    // A plan adds up the changes before it divides.
    if (!std::isfinite(change * claimed.divisor)) {
      if (k == claimed.iterations && !claimed.converged && !std::isfinite(claimed.residual)) return {};
      if (!std::isfinite(change)) return fmt::format("iteration {} leaves the range of double precision", k);
    }
    if (k < claimed.iterations && change < claimed.tolerance - rounding) {
      return fmt::format("iteration {} changes less than the tolerance ({:.3g}), but {} were made", k, change,
                         claimed.iterations);
    }
  }
  if (!(std::abs(claimed.residual - change) <= rounding + allowed * change)) {
    return fmt::format("the residual is {} (expected {})", claimed.residual, change);
  }
  if (claimed.converged != (claimed.residual < claimed.tolerance)) {
    return fmt::format("a residual of {:.3g} is called {}converged", claimed.residual, claimed.converged ? "" : "not ");
  }
  if (!claimed.converged && claimed.iterations < claimed.max_iterations) {
    return fmt::format("ended after {} iterations with a residual of {:.3g}", claimed.iterations, claimed.residual);
  }
  return {};
}

template <class Result, class Options>
claims claims_of(const Result& found, const Options& o, double divisor) {
  return {found.iterations, found.residual, found.converged, o.tolerance, o.max_iterations, divisor};
}

template <class I, class O>
std::string check(const pushed_edges<I, O>& edges, const eigenvector_result<host>& found,
                  const eigenvector_options& options, span<const double, host> start) {
  const auto n = static_cast<std::size_t>(edges.out.rows);
  if (n == 0) return compare("values", found.values, {});
  doubles x = vector_of(start, n, 1);
  divide(x, sum_of(x));
  double before = 0;
  double after = 0;
  std::string fault = repeat(claims_of(found, options, static_cast<double>(n)), x, [&](const doubles& now) {
    before = length_of(now);
    doubles next = edges.to_targets(now);
    for (std::size_t v = 0; v < n; ++v) next[v] += now[v];
    after = length_of(next);
    divide(next, after);
    return next;
  });
  if (!fault.empty()) return fault;
  const double eigenvalue = after / before - 1;
  if (!(std::abs(found.eigenvalue - eigenvalue) <= allowed * (1 + eigenvalue))) {
    return fmt::format("the eigenvalue is {} (expected {})", found.eigenvalue, eigenvalue);
  }
  return compare("values", found.values, x);
}

template <class I, class O>
std::string check(const pushed_edges<I, O>& edges, const katz_result<host>& found, const katz_options& options,
                  span<const double, host> beta, span<const double, host> start) {
  const auto n = static_cast<std::size_t>(edges.out.rows);
  if (n == 0) return compare("values", found.values, {});
  if (options.alpha > 0 ? found.alpha != options.alpha : !(found.alpha > 0)) {
    return fmt::format("alpha is {} (expected {})", found.alpha, options.alpha);
  }
  const doubles constants = vector_of(beta, n, options.beta);
  doubles x = vector_of(start, n, 0);
  std::string fault = repeat(claims_of(found, options, static_cast<double>(n)), x, [&](const doubles& now) {
    doubles next = edges.to_targets(now);
    for (std::size_t v = 0; v < n; ++v) next[v] = found.alpha * next[v] + constants[v];
    return next;
  });
  if (!fault.empty() || !std::isfinite(found.residual)) return fault;
  if (options.scale == katz_scale::unit) divide(x, length_of(x));
  return compare("values", found.values, x);
}

template <class I, class O>
std::string check(const pushed_edges<I, O>& edges, const hits_result<host>& found, const hits_options& options,
                  span<const double, host> start) {
  const auto n = static_cast<std::size_t>(edges.out.rows);
  if (n == 0) return compare("hubs", found.hubs, {});
  const double unit = edges.largest();
  const auto authorities_of = [&](const doubles& hubs) {
    doubles authorities = edges.to_targets(hubs);
    divide(authorities, unit);
    return authorities;
  };
  doubles x = vector_of(start, n, 1);
  divide(x, sum_of(x));
  std::string fault = repeat(claims_of(found, options, 1), x, [&](const doubles& now) {
    doubles next = edges.to_sources(authorities_of(now));
    divide(next, sum_of(next));
    return next;
  });
  if (fault.empty()) fault = compare("hubs", found.hubs, x);
  if (!fault.empty()) return fault;
  doubles authorities = authorities_of(x);
  divide(authorities, sum_of(authorities));
  return compare("authorities", found.authorities, authorities);
}

template <class W, class I, class O>
pushed_edges<I, O> with_weights(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g) {
  pushed_edges<I, O> edges{ctx.threads(), g.out, {}};
  edges.weights.assign(g.out_weights.begin(), g.out_weights.end());
  return edges;
}

}  // namespace

template <index_type I, index_type O>
std::string check_eigenvector(const context<host>& ctx, const graph_view<I, O, host>& g,
                              const eigenvector_result<host>& found, const eigenvector_options& options,
                              span<const double, host> start) try {
  return check(pushed_edges<I, O>{ctx.threads(), g.out, {}}, found, options, start);
} catch (...) {
  detail::rethrow("check_eigenvector");
}
template <detail::scalar W, index_type I, index_type O>
std::string check_eigenvector(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                              const eigenvector_result<host>& found, const eigenvector_options& options,
                              span<const double, host> start) try {
  return check(with_weights(ctx, g), found, options, start);
} catch (...) {
  detail::rethrow("check_eigenvector");
}

template <index_type I, index_type O>
std::string check_katz(const context<host>& ctx, const graph_view<I, O, host>& g, const katz_result<host>& found,
                       const katz_options& options, span<const double, host> beta, span<const double, host> start) try {
  return check(pushed_edges<I, O>{ctx.threads(), g.out, {}}, found, options, beta, start);
} catch (...) {
  detail::rethrow("check_katz");
}
template <detail::scalar W, index_type I, index_type O>
std::string check_katz(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                       const katz_result<host>& found, const katz_options& options, span<const double, host> beta,
                       span<const double, host> start) try {
  return check(with_weights(ctx, g), found, options, beta, start);
} catch (...) {
  detail::rethrow("check_katz");
}

template <index_type I, index_type O>
std::string check_hits(const context<host>& ctx, const graph_view<I, O, host>& g, const hits_result<host>& found,
                       const hits_options& options, span<const double, host> start) try {
  return check(pushed_edges<I, O>{ctx.threads(), g.out, {}}, found, options, start);
} catch (...) {
  detail::rethrow("check_hits");
}
template <detail::scalar W, index_type I, index_type O>
std::string check_hits(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                       const hits_result<host>& found, const hits_options& options,
                       span<const double, host> start) try {
  return check(with_weights(ctx, g), found, options, start);
} catch (...) {
  detail::rethrow("check_hits");
}

#define INSTANTIATE_W(W, I, O)                                                                             \
  template std::string check_eigenvector(const context<host>&, const weighted_graph_view<W, I, O, host>&,  \
                                         const eigenvector_result<host>&, const eigenvector_options&,      \
                                         span<const double, host>);                                        \
  template std::string check_katz(const context<host>&, const weighted_graph_view<W, I, O, host>&,         \
                                  const katz_result<host>&, const katz_options&, span<const double, host>, \
                                  span<const double, host>);                                               \
  template std::string check_hits(const context<host>&, const weighted_graph_view<W, I, O, host>&,         \
                                  const hits_result<host>&, const hits_options&, span<const double, host>);
#define INSTANTIATE(I, O)                                                                                        \
  template std::string check_eigenvector(const context<host>&, const graph_view<I, O, host>&,                    \
                                         const eigenvector_result<host>&, const eigenvector_options&,            \
                                         span<const double, host>);                                              \
  template std::string check_katz(const context<host>&, const graph_view<I, O, host>&, const katz_result<host>&, \
                                  const katz_options&, span<const double, host>, span<const double, host>);      \
  template std::string check_hits(const context<host>&, const graph_view<I, O, host>&, const hits_result<host>&, \
                                  const hits_options&, span<const double, host>);                                \
  INSTANTIATE_W(std::int32_t, I, O)                                                                              \
  INSTANTIATE_W(std::int64_t, I, O)                                                                              \
  INSTANTIATE_W(float, I, O)                                                                                     \
  INSTANTIATE_W(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
