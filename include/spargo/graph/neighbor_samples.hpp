// Samples of neighbourhoods for training on graphs: from seed vertices some out-neighbours, from these some of theirs,
// and so on. GraphSAGE's sampling, in the layout of PyTorch Geometric.
//
// Hop h takes up to fan_outs[h] entries of the row of every vertex that hop h - 1 found first (hop 0: of the seeds):
// distinct entries, each set equally likely, or with replacement. A vertex is expanded once. A row that has no more
// entries than that is taken whole without replacement, and so is any row for a fan-out of -1.
//
// Determinism: draws are Philox4x32-10 of (seed, vertex, hop, draw), in integers. The same samples, in the same order,
// on both backends and for any number of threads; the sample of a vertex in a hop does not depend on the others.
//
// Sources: Hamilton, Ying, Leskovec, NeurIPS 2017 (GraphSAGE); Bentley and Floyd, CACM 30(9), 1987, and Knuth, TAOCP
// volume 2, 3.4.2, algorithm S (sampling without replacement); Salmon et al., SC 2011 (Philox).
#pragma once

#include <spargo/graph/graph.hpp>

#include <string>
#include <type_traits>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class sample_replacement { without, with };

struct SPARGO_EXPORT neighbor_sample_options {
  std::vector<std::int64_t> fan_outs = {15, 10};  // of each hop; -1: all neighbours
  sample_replacement replacement = sample_replacement::without;
  std::uint64_t seed = 1;
};

// Edge k of the sample leads to nodes[cols[k]], which was expanded, from nodes[rows[k]], which was drawn for it:
// messages flow from rows to cols, as in PyTorch Geometric. Edges of a hop follow each other, by col, in the order of
// the draws.
template <index_type I, index_type O, class Space>
struct neighbor_sample {
  array<I, Space> nodes;  // distinct: the seeds in their order, then others in the order of the edges
  array<I, Space> rows;   // positions in `nodes`
  array<I, Space> cols;   // positions in `nodes`
  array<O, Space> edges;  // entries of the graph: g.out.indices[edges[k]] == nodes[rows[k]]
  std::vector<std::int64_t> nodes_of_hop{};  // number of new nodes: seeds, then of each hop
  std::vector<std::int64_t> edges_of_hop{};
};

// `seeds`: distinct vertices. Throws invalid_argument for a seed that is not a vertex or is listed twice, a fan-out
// below -1, or an inconsistent graph view. Time: O(sample), and per row the smaller of its length and the square of the
// fan-out. On a device it takes 8 bytes per vertex of the graph, writes them once, and synchronizes twice per hop.
template <index_type I, index_type O, class Space>
[[nodiscard]] SPARGO_EXPORT neighbor_sample<I, O, Space> sample_neighbors(
    const context<Space>& ctx, const graph_view<I, O, Space>& g, std::type_identity_t<span<const I, Space>> seeds,
    const neighbor_sample_options& options = {});
template <index_type I, index_type O, class Space>
[[nodiscard]] neighbor_sample<I, O, Space> sample_neighbors(const context<Space>& ctx, const graph<I, O, Space>& g,
                                                            std::type_identity_t<span<const I, Space>> seeds,
                                                            const neighbor_sample_options& options = {}) {
  return sample_neighbors(ctx, g.view(), seeds, options);
}

// Empty if a sample is one of these seeds: every edge is an entry of the graph, nodes are distinct and in order, every
// vertex of a hop is expanded and has as many edges as its row and the fan-out say, without replacement distinct ones;
// else one sentence about the first fault. Independent of the sampling. O(sample * log(sample)).
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT std::string check_neighbor_sample(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                              std::type_identity_t<span<const I, host>> seeds,
                                                              const neighbor_sample<I, O, host>& sample,
                                                              const neighbor_sample_options& options);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
