// Names, checks, the choice of algorithm and the plan around an executor.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/graph/with_in_edges.hpp"
#include "graph/pagerank/executor.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace spargo {

namespace {

namespace ranking = detail::pagerank;

template <class I, class O, class Space>
void check_part(const csr_pattern_view<I, O, Space>& part, const char* name, std::int64_t vertices,
                std::int64_t edges) {
  SPARGO_EXPECTS(part.rows >= 0 && part.rows == part.cols && part.rows == vertices && part.nnz() == edges,
                 fmt::format("pagerank: {}-edges are {} x {} with {} entries (expected {} x {} with {})", name,
                             part.rows, part.cols, part.nnz(), vertices, vertices, edges));
  SPARGO_EXPECTS(part.offsets.size() == vertices + 1 || (vertices == 0 && part.offsets.empty()),
                 fmt::format("pagerank: {} offsets of {}-edges for {} vertices (expected one more than vertices)",
                             part.offsets.size(), name, vertices));
}

template <class I, class O, class Space>
void check_graph(const graph_view<I, O, Space>& g) {
  check_part(g.out, "out", g.out.rows, g.out.nnz());
  if (g.has_in_edges()) check_part(g.in, "in", g.out.rows, g.out.nnz());
}

void check_options(const pagerank_options& o) {
  SPARGO_EXPECTS(o.damping >= 0 && o.damping < 1,
                 fmt::format("pagerank: damping {} (expected at least 0 and below 1)", o.damping));
  SPARGO_EXPECTS(o.tolerance >= 0 && std::isfinite(o.tolerance),
                 fmt::format("pagerank: tolerance {} (expected 0 or more)", o.tolerance));
  SPARGO_EXPECTS(o.max_iterations >= 1,
                 fmt::format("pagerank: at most {} iterations (expected 1 or more)", o.max_iterations));
  SPARGO_EXPECTS(o.iterations >= 0, fmt::format("pagerank: {} iterations (expected 0 or more)", o.iterations));
}

struct choice {
  pagerank_algorithm algorithm;
  std::string reason;
};

template <class Space>
choice choose(const pagerank_options& o) {
  SPARGO_EXPECTS(detail::is_in(ranking::algorithms, o.algorithm),
                 fmt::format("pagerank: no algorithm has the number {}", static_cast<int>(o.algorithm)));
  if (!detail::runs_on<Space>(ranking::algorithms, o.algorithm)) {
    throw error(error_code::unsupported,
                fmt::format("pagerank: algorithm {} runs on the host only", to_string(o.algorithm)));
  }
  if (!detail::runs_on<Space>(ranking::copies, o.copy)) {
    throw error(error_code::unsupported, fmt::format("pagerank: copy {} is for a device", to_string(o.copy)));
  }
  if (o.algorithm == pagerank_algorithm::gauss_seidel && o.iterations > 0) {
    throw error(error_code::unsupported, "pagerank: a number of iterations is defined for jacobi only");
  }
  SPARGO_EXPECTS(detail::is_in(ranking::copies, o.copy),
                 fmt::format("pagerank: no copy has the number {}", static_cast<int>(o.copy)));
  if (o.algorithm != pagerank_algorithm::automatic) return {o.algorithm, "asked for"};
  if (o.iterations > 0) return {pagerank_algorithm::jacobi, "a number of iterations is defined for jacobi only"};
  if constexpr (std::same_as<Space, device>) {
    return {pagerank_algorithm::jacobi, "a device has no other"};
  } else {
    return {pagerank_algorithm::gauss_seidel, "it meets a tolerance in fewer iterations"};
  }
}

}  // namespace

std::string_view to_string(pagerank_algorithm algorithm) { return detail::name_in(ranking::algorithms, algorithm); }

std::string_view to_string(pagerank_copy copy) { return detail::name_in(ranking::copies, copy); }

pagerank_algorithm parse_pagerank_algorithm(std::string_view name) try {
  return detail::parse_in(ranking::algorithms, "pagerank", name);
} catch (...) {
  detail::rethrow("pagerank");
}

void detail::pagerank::check_sum(const char* name, double sum, bool negative) {
  constexpr double least = std::numeric_limits<double>::min();  // 1 over anything less may overflow
  SPARGO_EXPECTS(
      !negative && std::isfinite(sum) && sum >= least,
      fmt::format("pagerank: the {} holds {} (expected finite values of 0 or more that sum to at least {:.2g})", name,
                  negative ? "a negative value" : fmt::format("values that sum to {}", sum), least));
}

template <detail::real V, index_type I, index_type O, class Space>
struct pagerank_plan<V, I, O, Space>::state {
  std::int64_t vertices;
  double tolerance;
  choice chosen;
  std::unique_ptr<detail::pagerank::executor<V, Space>> executor;
  detail::pagerank::run_outcome outcome;
};

template <detail::real V, index_type I, index_type O, class Space>
pagerank_plan<V, I, O, Space>::pagerank_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                             const pagerank_options& options) try {
  if constexpr (detail::is_built<Space>) {
    check_options(options);
    check_graph(g);
    if (detail::lacks_in_edges(g)) {
      throw error(error_code::unsupported, "pagerank: a directed graph without in-edges (add_in_edges builds them)");
    }
    choice chosen = choose<Space>(options);
    pagerank_options reduced = options;
    reduced.algorithm = chosen.algorithm;
    graph_view<I, O, Space> both = g;
    if (!g.has_in_edges()) both.in = g.out;
    auto executor = detail::pagerank::make_executor<V, I, O>(ctx, both, reduced);
    if (const std::string more = executor->reason(); !more.empty()) chosen.reason += "; " + more;
    state_ =
        std::make_unique<state>(state{g.vertices(), options.tolerance, std::move(chosen), std::move(executor), {}});
  } else {
    detail::no_device("pagerank");
  }
} catch (...) {
  detail::rethrow("pagerank");
}
template <detail::real V, index_type I, index_type O, class Space>
pagerank_plan<V, I, O, Space>::pagerank_plan(pagerank_plan&&) noexcept = default;
template <detail::real V, index_type I, index_type O, class Space>
pagerank_plan<V, I, O, Space>& pagerank_plan<V, I, O, Space>::operator=(pagerank_plan&&) noexcept = default;
template <detail::real V, index_type I, index_type O, class Space>
pagerank_plan<V, I, O, Space>::~pagerank_plan() = default;

template <detail::real V, index_type I, index_type O, class Space>
void pagerank_plan<V, I, O, Space>::run(span<const V, Space> personalization, span<const V, Space> guess) try {
  const auto check = [&](const char* name, const span<const V, Space>& values) {
    SPARGO_EXPECTS(
        values.empty() || values.size() == state_->vertices,
        fmt::format("pagerank: the {} has {} values for {} vertices", name, values.size(), state_->vertices));
  };
  check("personalization", personalization);
  check("guess", guess);
  state_->outcome = {};
  if (state_->vertices > 0) state_->outcome = state_->executor->run(personalization, guess);
} catch (...) {
  detail::rethrow("pagerank");
}
template <detail::real V, index_type I, index_type O, class Space>
span<const V, Space> pagerank_plan<V, I, O, Space>::ranks() const noexcept {
  return state_->executor->ranks();
}
template <detail::real V, index_type I, index_type O, class Space>
std::int64_t pagerank_plan<V, I, O, Space>::iterations() const noexcept {
  return state_->outcome.iterations;
}
template <detail::real V, index_type I, index_type O, class Space>
double pagerank_plan<V, I, O, Space>::residual() const noexcept {
  return state_->outcome.residual;
}
template <detail::real V, index_type I, index_type O, class Space>
bool pagerank_plan<V, I, O, Space>::converged() const noexcept {
  return state_->outcome.residual <= state_->tolerance;
}
template <detail::real V, index_type I, index_type O, class Space>
pagerank_algorithm pagerank_plan<V, I, O, Space>::algorithm() const noexcept {
  return state_->chosen.algorithm;
}
template <detail::real V, index_type I, index_type O, class Space>
const std::string& pagerank_plan<V, I, O, Space>::reason() const noexcept {
  return state_->chosen.reason;
}
template <detail::real V, index_type I, index_type O, class Space>
std::int64_t pagerank_plan<V, I, O, Space>::workspace_bytes() const noexcept {
  return state_->executor->workspace_bytes();
}

template <detail::real V, index_type I, index_type O, class Space>
pagerank_result<V, Space> pagerank(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                   const pagerank_options& options,
                                   std::type_identity_t<span<const V, Space>> personalization,
                                   std::type_identity_t<span<const V, Space>> guess) try {
  check_graph(g);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  pagerank_plan<V, I, O, Space> plan(ctx, pulled.view(), options);
  plan.run(personalization, guess);
  return {clone(ctx, plan.ranks()), plan.iterations(), plan.residual(), plan.converged(), plan.algorithm()};
} catch (...) {
  detail::rethrow("pagerank");
}

#define INSTANTIATE_IN(V, I, O, S)                                                                                     \
  template class pagerank_plan<V, I, O, S>;                                                                            \
  template pagerank_result<V, S> pagerank<V, I, O, S>(const context<S>&, const graph_view<I, O, S>&,                   \
                                                      const pagerank_options&, std::type_identity_t<span<const V, S>>, \
                                                      std::type_identity_t<span<const V, S>>);
#define INSTANTIATE(I, O)             \
  INSTANTIATE_IN(float, I, O, host)   \
  INSTANTIATE_IN(float, I, O, device) \
  INSTANTIATE_IN(double, I, O, host)  \
  INSTANTIATE_IN(double, I, O, device)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
