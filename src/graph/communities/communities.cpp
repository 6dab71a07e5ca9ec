// Names, checks, the choice of algorithm and the plan around an executor.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "graph/communities/algorithms.hpp"
#include "graph/communities/executor.hpp"
#include "graph/graph/with_in_edges.hpp"

#include <fmt/format.h>

#include <utility>

namespace spargo {

namespace detail::communities {

void throw_bad_label(std::int64_t vertex, std::int64_t label, std::int64_t vertices) {
  throw_invalid_argument(
      fmt::format("communities: vertex {} has the initial label {} (expected 0 to {})", vertex, label, vertices - 1));
}

namespace {

template <class I, class O, class Space>
void check_part(const csr_pattern_view<I, O, Space>& part, const char* name, std::int64_t vertices,
                std::int64_t edges) {
  SPARGO_EXPECTS(part.rows >= 0 && part.rows == part.cols && part.rows == vertices && part.nnz() == edges,
                 fmt::format("communities: {}-edges are {} x {} with {} entries (expected {} x {} with {})", name,
                             part.rows, part.cols, part.nnz(), vertices, vertices, edges));
  SPARGO_EXPECTS(part.offsets.size() == vertices + 1 || (vertices == 0 && part.offsets.empty()),
                 fmt::format("communities: {} offsets of {}-edges for {} vertices (expected one more than vertices)",
                             part.offsets.size(), name, vertices));
}

template <class I, class O, class Space>
void check_graph(const graph_view<I, O, Space>& g) {
  check_part(g.out, "out", g.out.rows, g.out.nnz());
  if (g.direction == direction_kind::directed && g.has_in_edges()) check_part(g.in, "in", g.out.rows, g.out.nnz());
}

struct choice {
  communities_algorithm algorithm;
  std::string reason;
};

template <class Space>
choice choose(const communities_options& o) {
  SPARGO_EXPECTS(is_in(methods, o.method),
                 fmt::format("communities: no method has the number {}", static_cast<int>(o.method)));
  SPARGO_EXPECTS(o.iterations >= 1, fmt::format("communities: {} iterations (expected 1 or more)", o.iterations));
  expect_runs_on<Space>(algorithms, "communities", o.algorithm);
  if (o.algorithm != communities_algorithm::automatic) return {o.algorithm, "asked for"};
  return {communities_algorithm::frontier, "vertices whose neighbours have kept their labels are skipped"};
}

}  // namespace

}  // namespace detail::communities

namespace {
namespace found = detail::communities;
}

std::string_view to_string(communities_method method) { return detail::name_in(found::methods, method); }
std::string_view to_string(communities_algorithm algorithm) { return detail::name_in(found::algorithms, algorithm); }

communities_method parse_communities_method(std::string_view name) try {
  return detail::parse_in(found::methods, "communities", name);
} catch (...) {
  detail::rethrow("communities");
}
communities_algorithm parse_communities_algorithm(std::string_view name) try {
  return detail::parse_in(found::algorithms, "communities", name);
} catch (...) {
  detail::rethrow("communities");
}

template <index_type I, index_type O, class Space>
struct communities_plan<I, O, Space>::state {
  std::int64_t vertices;
  graph<I, O, Space> proper;  // where the graph given has loops
  found::choice chosen;
  std::unique_ptr<found::executor<I, Space>> executor;
  found::run_outcome outcome;
};

template <index_type I, index_type O, class Space>
communities_plan<I, O, Space>::communities_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                                const communities_options& options) try {
  if constexpr (detail::is_built<Space>) {
    found::check_graph(g);
    if (detail::lacks_in_edges(g)) {
      throw error(error_code::unsupported, "communities: a directed graph without in-edges (add_in_edges builds them)");
    }
    found::choice chosen = found::choose<Space>(options);
    communities_options settled = options;
    settled.algorithm = chosen.algorithm;
    graph<I, O, Space> proper;
    if (g.loops > 0) proper = detail::without_loops(ctx, g);
    auto executor = found::make_executor<I, O>(ctx, g.loops > 0 ? proper.view() : g, settled);
    state_ =
        std::make_unique<state>(state{g.vertices(), std::move(proper), std::move(chosen), std::move(executor), {}});
  } else {
    detail::no_device("communities");
  }
} catch (...) {
  detail::rethrow("communities");
}
template <index_type I, index_type O, class Space>
communities_plan<I, O, Space>::communities_plan(communities_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
communities_plan<I, O, Space>& communities_plan<I, O, Space>::operator=(communities_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
communities_plan<I, O, Space>::~communities_plan() = default;

template <index_type I, index_type O, class Space>
void communities_plan<I, O, Space>::run(span<const I, Space> initial) try {
  SPARGO_EXPECTS(initial.empty() || initial.size() == state_->vertices,
                 fmt::format("communities: {} initial labels for {} vertices", initial.size(), state_->vertices));
  state_->outcome = state_->executor->run(initial);
} catch (...) {
  detail::rethrow("communities");
}
template <index_type I, index_type O, class Space>
span<const I, Space> communities_plan<I, O, Space>::labels() const noexcept {
  return state_->executor->labels();
}
template <index_type I, index_type O, class Space>
std::int64_t communities_plan<I, O, Space>::count() const noexcept {
  return state_->outcome.count;
}
template <index_type I, index_type O, class Space>
std::int64_t communities_plan<I, O, Space>::rounds() const noexcept {
  return state_->outcome.rounds;
}
template <index_type I, index_type O, class Space>
communities_algorithm communities_plan<I, O, Space>::algorithm() const noexcept {
  return state_->chosen.algorithm;
}
template <index_type I, index_type O, class Space>
const std::string& communities_plan<I, O, Space>::reason() const noexcept {
  return state_->chosen.reason;
}
template <index_type I, index_type O, class Space>
std::int64_t communities_plan<I, O, Space>::workspace_bytes() const noexcept {
  return state_->executor->workspace_bytes();
}

template <index_type I, index_type O, class Space>
communities_result<I, Space> communities(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                         const communities_options& options,
                                         std::type_identity_t<span<const I, Space>> initial) try {
  detail::communities::check_graph(g);
  const detail::with_in_edges<I, O, Space> pulled(ctx, g);
  communities_plan<I, O, Space> plan(ctx, pulled.view(), options);
  plan.run(initial);
  return {clone(ctx, plan.labels()), plan.count(), plan.rounds(), plan.algorithm()};
} catch (...) {
  detail::rethrow("communities");
}

#define INSTANTIATE_IN(I, O, S)                                                                         \
  template class communities_plan<I, O, S>;                                                             \
  template communities_result<I, S> communities<I, O, S>(const context<S>&, const graph_view<I, O, S>&, \
                                                         const communities_options&,                    \
                                                         std::type_identity_t<span<const I, S>>);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_IN(I, O, host) \
  INSTANTIATE_IN(I, O, device)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
