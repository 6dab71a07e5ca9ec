// Checks ranks by pushing them over out-edges, in double precision, following the definition.
//
// A plan stops when a step changed the ranks by at most its tolerance in the l1 norm; a step contracts by the damping,
// so another step changes them by at most that again. Threads add to ranks with atomics. Cost: O(vertices + edges) per
// step, 24 bytes per vertex, and 8 per edge with weights.
#include <spargo/graph/pagerank.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace spargo {

namespace {

constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();

template <class V, class I, class O>
class rank_checker {
 public:
  rank_checker(const context<host>& ctx, const graph_view<I, O, host>& g, const pagerank_options& options,
               span<const V, host> personalization, std::vector<double> weights)
      : threads_(ctx.threads()), n_(g.vertices()), out_(g.out), weights_(std::move(weights)), options_(options) {
    for (std::int64_t u = 0; u < n_; ++u) {
      const O first = out_.offsets[u];
      const O last = out_.offsets[u + 1];
      degrees_.push_back(weights_.empty() ? static_cast<double>(last - first)
                                          : std::accumulate(weights_.begin() + first, weights_.begin() + last, 0.0));
    }
    preference_ = shares_of(personalization);
  }

  std::string check_tolerance(span<const V, host> ranks) {
    const std::vector<double> given(ranks.begin(), ranks.end());
    const std::vector<double> after = step(given);
    const double allowed = rounding() + options_.tolerance * (options_.norm == pagerank_norm::l1 ? 1.0 : double(n_));
    double change = 0;
    double total = 0;
    std::size_t worst = 0;
    for (std::size_t v = 0; v < given.size(); ++v) {
      change += std::abs(after[v] - given[v]);
      total += given[v];
      if (std::abs(after[v] - given[v]) > std::abs(after[worst] - given[worst])) worst = v;
    }
    if (!(change <= allowed)) {
      return fmt::format(
          "a step changes the ranks by {:.3g} (expected at most {:.3g}), that of vertex {} from {} to {}", change,
          allowed, worst, given[worst], after[worst]);
    }
    // Without a guess, Gauss-Seidel's ranks, too, are within the last step's change / (1 - damping) of the true ones.
    // Rounding adds at most half an epsilon per rank to the sum.
    const double slack =
        allowed / (1 - options_.damping) + static_cast<double>(given.size()) * std::numeric_limits<double>::epsilon();
    if (options_.dangling != pagerank_dangling::drop && !(std::abs(total - 1) <= slack)) {
      return fmt::format("the ranks sum to {} (expected 1)", total);
    }
    return {};
  }

  std::string check_iterations(span<const V, host> ranks, span<const V, host> guess) {
    std::vector<double> expected = shares_of(guess);
    for (std::int64_t k = 0; k < options_.iterations; ++k) expected = step(expected);
    const double allowed = sizeof(V) == 4 ? 1e-4 : 1e-9;
    for (std::int64_t v = 0; v < n_; ++v) {
      const double right = expected[static_cast<std::size_t>(v)];
      if (!(std::abs(ranks[v] - right) <= allowed * right)) {
        return fmt::format("vertex {} has rank {} after {} iterations (expected {})", v, ranks[v], options_.iterations,
                           right);
      }
    }
    return {};
  }

 private:
  // Scaled to sum 1; if empty, 1/n each.
  [[nodiscard]] std::vector<double> shares_of(span<const V, host> values) const {
    if (values.empty()) return std::vector<double>(static_cast<std::size_t>(n_), 1.0 / static_cast<double>(n_));
    double sum = 0;
    for (const V value : values) sum += value;
    std::vector<double> shares(values.begin(), values.end());
    for (double& share : shares) share /= sum;
    return shares;
  }

  // Ranks are rounded to V, and so are their contributions.
  [[nodiscard]] static double rounding() { return 32.0 * std::numeric_limits<V>::epsilon(); }

  [[nodiscard]] std::vector<double> step(const std::vector<double>& ranks) const {
    std::vector<double> incoming(ranks.size(), 0.0);
    double held = 0;
    for (std::int64_t u = 0; u < n_; ++u) {
      if (degrees_[static_cast<std::size_t>(u)] == 0) held += ranks[static_cast<std::size_t>(u)];
    }
    const auto push_all = [&](const auto& add) {
      detail::parallel_for(threads_, n_, detail::grain::rows, [&](std::int64_t u) {
        const double rank = ranks[static_cast<std::size_t>(u)];
        const double degree = degrees_[static_cast<std::size_t>(u)];
        if (degree == 0) return;
        const double share = rank / degree;
        for (O e = out_.offsets[u]; e < out_.offsets[u + 1]; ++e) {
          add(incoming[static_cast<std::size_t>(out_.indices[e])],
              weights_.empty() ? share : rank * (weights_[static_cast<std::size_t>(e)] / degree));
        }
      });
    };
    if (threads_ == 1) {  // an atomic addition is a compare-exchange loop and takes three times as long
      push_all([](double& to, double share) { to += share; });
    } else {
      push_all(
          [](double& to, double share) { std::atomic_ref<double>(to).fetch_add(share, std::memory_order_relaxed); });
    }
    const double d = options_.damping;
    for (std::size_t v = 0; v < incoming.size(); ++v) {
      double lands = 0;
      if (options_.dangling == pagerank_dangling::uniform) lands = held / static_cast<double>(n_);
      if (options_.dangling == pagerank_dangling::personalization) lands = held * preference_[v];
      incoming[v] = (1 - d) * preference_[v] + d * (incoming[v] + lands);
    }
    return incoming;
  }

  int threads_;
  std::int64_t n_;
  csr_pattern_view<I, O, host> out_;
  std::vector<double> weights_;  // by edge; empty: all 1
  std::vector<double> degrees_;  // sums of weights
  pagerank_options options_;
  std::vector<double> preference_;
};

}  // namespace

namespace {

template <class V, class I, class O>
std::string check_ranks(const context<host>& ctx, const graph_view<I, O, host>& g, span<const V, host> ranks,
                        const pagerank_options& options, span<const V, host> personalization, span<const V, host> guess,
                        std::vector<double> weights) {
  const std::int64_t n = g.vertices();
  if (ranks.size() != n) return fmt::format("there are {} ranks for {} vertices", ranks.size(), n);
  SPARGO_EXPECTS((personalization.empty() || personalization.size() == n) && (guess.empty() || guess.size() == n),
                 fmt::format("check_pagerank: a personalization of {} values and a guess of {} for {} vertices",
                             personalization.size(), guess.size(), n));
  std::int64_t bad = nobody;
  for (std::int64_t v = n - 1; v >= 0; --v) {
    if (!(ranks[v] >= 0 && std::isfinite(ranks[v]))) bad = v;
  }
  if (bad != nobody) return fmt::format("vertex {} has rank {}", bad, ranks[bad]);
  if (n == 0) return {};
  rank_checker<V, I, O> checker(ctx, g, options, personalization, std::move(weights));
  return options.iterations > 0 ? checker.check_iterations(ranks, guess) : checker.check_tolerance(ranks);
}

}  // namespace

template <detail::real V, index_type I, index_type O>
std::string check_pagerank(const context<host>& ctx, const graph_view<I, O, host>& g,
                           std::type_identity_t<span<const V, host>> ranks, const pagerank_options& options,
                           std::type_identity_t<span<const V, host>> personalization,
                           std::type_identity_t<span<const V, host>> guess) try {
  return check_ranks<V>(ctx, g, ranks, options, personalization, guess, {});
} catch (...) {
  detail::rethrow("check_pagerank");
}
template <detail::real V, detail::scalar W, index_type I, index_type O>
std::string check_pagerank(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                           std::type_identity_t<span<const V, host>> ranks, const pagerank_options& options,
                           std::type_identity_t<span<const V, host>> personalization,
                           std::type_identity_t<span<const V, host>> guess) try {
  const graph_view<I, O, host>& structure = g;
  return check_ranks<V>(ctx, structure, ranks, options, personalization, guess,
                        std::vector<double>(g.out_weights.begin(), g.out_weights.end()));
} catch (...) {
  detail::rethrow("check_pagerank");
}

#define INSTANTIATE_W(V, W, I, O)                                                                                 \
  template std::string check_pagerank<V, W, I, O>(                                                                \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, std::type_identity_t<span<const V, host>>, \
      const pagerank_options&, std::type_identity_t<span<const V, host>>, std::type_identity_t<span<const V, host>>);
#define INSTANTIATE_V(V, I, O)                                                                                        \
  template std::string check_pagerank<V, I, O>(                                                                       \
      const context<host>&, const graph_view<I, O, host>&, std::type_identity_t<span<const V, host>>,                 \
      const pagerank_options&, std::type_identity_t<span<const V, host>>, std::type_identity_t<span<const V, host>>); \
  INSTANTIATE_W(V, std::int32_t, I, O)                                                                                \
  INSTANTIATE_W(V, std::int64_t, I, O)                                                                                \
  INSTANTIATE_W(V, float, I, O)                                                                                       \
  INSTANTIATE_W(V, double, I, O)
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
