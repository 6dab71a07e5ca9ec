// Checks samples hop by hop.
#include "core/instantiate.hpp"
#include "graph/plan.hpp"

#include <spargo/graph/neighbor_samples.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace spargo {

namespace {

template <class I, class O>
std::string fault_of(const csr_pattern_view<I, O, host>& g, span<const I, host> seeds,
                     const neighbor_sample<I, O, host>& s, const neighbor_sample_options& options) {
  const std::size_t hops = options.fan_outs.size();
  const auto sum = [](const auto& of) { return std::accumulate(of.begin(), of.end(), std::int64_t{0}); };
  if (s.nodes_of_hop.size() != hops + 1 || s.edges_of_hop.size() != hops || sum(s.nodes_of_hop) != s.nodes.size() ||
      sum(s.edges_of_hop) != s.edges.size() || s.rows.size() != s.edges.size() || s.cols.size() != s.edges.size()) {
    return "the sizes of the arrays do not fit";
  }
  if (s.nodes.size() < seeds.size() || !std::equal(seeds.begin(), seeds.end(), s.nodes.begin())) {
    return "the nodes do not begin with the seeds";
  }
  std::int64_t seen = seeds.size();  // nodes seen so far: seeds, and ends of edges
  std::int64_t first = 0;            // next node to expand
  std::int64_t e = 0;
  for (std::size_t hop = 0; hop < hops; ++hop) {
    const std::int64_t fan_out = options.fan_outs[hop];
    const std::int64_t last = first + s.nodes_of_hop[hop];
    const std::int64_t end = e + s.edges_of_hop[hop];
    if (seen != last) return fmt::format("{} nodes before hop {} (expected {})", last, hop, seen);
    for (std::int64_t node = first; node < last; ++node) {
      const std::int64_t begin = g.offsets[s.nodes[node]];
      const std::int64_t row = g.offsets[s.nodes[node] + 1] - begin;
      const bool replaces = options.replacement == sample_replacement::with;
      const std::int64_t count = fan_out < 0 || row == 0 ? row : replaces ? fan_out : std::min(row, fan_out);
      std::set<O> taken;
      for (std::int64_t k = 0; k < count; ++k, ++e) {
        if (e >= end || s.cols[e] != node) return fmt::format("node {} has {} edges (expected {})", node, k, count);
        if (s.edges[e] < begin || s.edges[e] >= begin + row) return fmt::format("edge {} is not of its vertex", e);
        if (s.rows[e] < 0 || s.rows[e] > seen || s.rows[e] >= s.nodes.size()) {
          return fmt::format("edge {} leads from node {} (expected 0 to {})", e, s.rows[e], seen);
        }
        seen += s.rows[e] == seen ? 1 : 0;
        if (s.nodes[s.rows[e]] != g.indices[s.edges[e]]) return fmt::format("edge {} leads elsewhere in the graph", e);
        if (!taken.insert(s.edges[e]).second && !replaces) return fmt::format("edge {} is taken twice", e);
      }
    }
    if (e != end) return fmt::format("hop {} has edges of vertices that are not expanded", hop);
    first = last;
  }
  if (seen != s.nodes.size()) return "no edge leads to the last nodes";
  const std::set<I> distinct(s.nodes.begin(), s.nodes.end());
  if (std::ssize(distinct) != s.nodes.size()) return "a vertex is two nodes";
  return {};
}

}  // namespace

template <index_type I, index_type O>
std::string check_neighbor_sample(const context<host>& /*ctx*/, const graph_view<I, O, host>& g,
                                  std::type_identity_t<span<const I, host>> seeds,
                                  const neighbor_sample<I, O, host>& sample,
                                  const neighbor_sample_options& options) try {
  detail::expect_graph("check_neighbor_sample", g);
  return fault_of(g.out, seeds, sample, options);
} catch (...) {
  detail::rethrow("check_neighbor_sample");
}

#define INSTANTIATE(I, O)                                                                         \
  template std::string check_neighbor_sample(const context<host>&, const graph_view<I, O, host>&, \
                                             std::type_identity_t<span<const I, host>>,           \
                                             const neighbor_sample<I, O, host>&, const neighbor_sample_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
