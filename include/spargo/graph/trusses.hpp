// Trusses: the k-truss of an undirected graph is the largest subgraph in which every edge is in k - 2 triangles or
// more, and an edge's truss number is the largest k for which it is in the k-truss.
//
// Every edge is in the 2-truss. Self-loops never count, and parallel edges of a view count once. Truss numbers are
// unique, so the result does not depend on the algorithm, the backend or the number of threads.
//
// Cost: all triangles are counted once, O(edges^1.5); then each edge that is removed intersects the rows of its ends,
// as far as they are left. Sources: Cohen, "Trusses", 2008; Wang, Cheng, PVLDB 5, 2012; Kabir, Madduri, HPEC 2017
// (PKT).
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/graph_plan.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class trusses_algorithm {
  automatic,  // the fastest for this graph and backend
  peel,       // edges are removed in the order of their truss numbers
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<trusses_algorithm> enum_rows() noexcept;
[[nodiscard]] inline trusses_algorithm parse_trusses_algorithm(std::string_view name) {  // throws invalid_argument
  return parse_enum<trusses_algorithm>("trusses: unknown algorithm", name);
}

struct SPARGO_EXPORT trusses_options {
  trusses_algorithm algorithm = trusses_algorithm::automatic;
  std::int64_t k = 0;  // 0: truss numbers of all edges; 2 or more: the k-truss only, which takes less time
};

// Edge e joins sources[e] and targets[e], sources[e] < targets[e]; edges ascend by (source, target).
template <index_type I, class Space>
struct trusses_result {
  array<I, Space> sources;
  array<I, Space> targets;
  array<I, Space> numbers;  // [edge] its truss number; empty with options.k
  I max_k = 0;  // the largest truss number, 0 without edges; with options.k: k, or 0 if the k-truss is empty
  trusses_algorithm algorithm = trusses_algorithm::automatic;  // the one that ran
};

// Estimates memory and time of a plan.
[[nodiscard]] SPARGO_EXPORT plan_estimate estimate(const graph_shape& shape, const trusses_options& options);

// Workspace for many runs on one graph, allocated once. The plan copies the edges, ordered for the algorithm, so the
// graph may be freed. Memory besides the graph, for 32-bit types on the host: 88 bytes per edge (an undirected one),
// and 20 per vertex, and 4 per vertex and thread; on a device 102 bytes per edge and 24 per vertex. On a device
// building a plan synchronizes, and run once per round.
template <index_type I, index_type O, class Space>
class SPARGO_EXPORT trusses_plan : public detail::graph_plan_base<trusses_plan<I, O, Space>, trusses_options, I, O> {
 public:
  // O(edges log degree). Throws unsupported for a directed graph or an algorithm that the backend lacks, and
  // invalid_argument for an algorithm or a k that does not exist, or an inconsistent graph view. A graph must have each
  // edge in both directions, otherwise the behaviour is undefined.
  trusses_plan(const context<Space>& ctx, const graph_view<I, O, Space>& g, const trusses_options& options = {});

  void run();

  // Of the last run; valid until the next.
  [[nodiscard]] span<const I, Space> sources() const noexcept;
  [[nodiscard]] span<const I, Space> targets() const noexcept;
  [[nodiscard]] span<const I, Space> numbers() const noexcept;
  [[nodiscard]] I max_k() const noexcept;

 private:
  using state = detail::state_of<trusses_plan>;
};

template <index_type I, index_type O, class Space>
trusses_plan(const context<Space>&, const graph<I, O, Space>&, const trusses_options& = {})
    -> trusses_plan<I, O, Space>;

// One run with a temporary plan.
template <index_type I, index_type O, class Space>
[[nodiscard]] trusses_result<I, Space> trusses(const context<Space>& ctx, const graph_view<I, O, Space>& g,
                                               const trusses_options& options = {}) {
  trusses_plan plan(ctx, g, options);
  plan.run();
  return {clone(ctx, plan.sources()), clone(ctx, plan.targets()), clone(ctx, plan.numbers()), plan.max_k(),
          plan.algorithm()};
}
template <index_type I, index_type O, class Space>
[[nodiscard]] trusses_result<I, Space> trusses(const context<Space>& ctx, const graph<I, O, Space>& g,
                                               const trusses_options& options = {}) {
  return trusses(ctx, g.view(), options);
}

// A result to check. With k: the edges of the k-truss; else all edges and their truss numbers.
template <index_type I>
struct trusses_claim {
  span<const I, host> sources = {};
  span<const I, host> targets = {};
  span<const I, host> numbers = {};
  std::int64_t k = 0;
};

// Checks on the host, independently of the algorithms. Empty when right; else one sentence about an offending edge. It
// does not compute truss numbers but proves that these are neither too high (each edge has its triangles) nor too low
// (the edges can be removed in an order in which each has no more than its triangles left). Takes about as long as a
// plan; 48 bytes per edge for I = int32.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_trusses(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                      const std::type_identity_t<trusses_claim<I>>& claim);
template <index_type I, index_type O>
[[nodiscard]] std::string check_trusses(const context<host>& ctx, const graph<I, O, host>& g,
                                        const std::type_identity_t<trusses_claim<I>>& claim) {
  return check_trusses(ctx, g.view(), claim);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
