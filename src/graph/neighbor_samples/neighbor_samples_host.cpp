// Neighbour sampling on the host: threads draw for the vertices of a hop; then one thread numbers the new vertices with
// a hash table, in edge order.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/neighbor_samples/backend.hpp"

#include <spargo/core/interruption.hpp>

#include <vector>

namespace spargo::detail::neighbor_samples {

namespace {

// Vertex numbers in a hash table with linear probing; at most half full.
template <class I>
class vertex_numbers {
 public:
  // The number of a vertex; a new one gets `next`.
  I find_or_add(I vertex, I next) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    slot& found = at(vertex);
    if (found.vertex < 0) {
      found = {vertex, next};
      ++used_;
    }
    return found.number;
  }

 private:
  struct slot {
    I vertex = -1;
    I number = 0;
  };

  slot& at(I vertex) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t k = (static_cast<std::uint64_t>(vertex) * 0x9E3779B97F4A7C15U >> 20) & mask;
    while (slots_[k].vertex >= 0 && slots_[k].vertex != vertex) k = (k + 1) & mask;
    return slots_[k];
  }
  void grow() {
    const std::vector<slot> before = std::exchange(slots_, std::vector<slot>(slots_.size() * 2));
    for (const slot& each : before) {
      if (each.vertex >= 0) at(each.vertex) = each;
    }
  }

  std::vector<slot> slots_ = std::vector<slot>(1024);
  std::size_t used_ = 0;
};

}  // namespace

template <class I, class O>
neighbor_sample<I, O, host> sample(const context<host>& ctx, const csr_pattern_view<I, O, host>& rows,
                                   span<const I, host> seeds, const neighbor_sample_options& options) {
  std::vector<I> nodes;
  std::vector<I> sources;
  std::vector<I> targets;
  std::vector<O> edges;
  vertex_numbers<I> numbers;
  for (std::int64_t k = 0; k < seeds.size(); ++k) {
    if (seeds[k] < 0 || seeds[k] >= rows.rows) refuse_vertex(k, seeds[k], rows.rows);
    if (numbers.find_or_add(seeds[k], static_cast<I>(k)) != k) refuse_duplicate(k, seeds[k]);
    nodes.push_back(seeds[k]);
  }
  std::vector<std::int64_t> nodes_of_hop{seeds.size()};
  std::vector<std::int64_t> edges_of_hop;
  std::size_t first = 0;  // of the vertices to expand
  for (std::size_t hop = 0; hop < options.fan_outs.size(); ++hop) {
    interruption::look();
    const hop_rule rule = rule_of(options, hop);
    const std::size_t last = nodes.size();
    std::vector<std::size_t> offsets{edges.size()};
    const auto begin = [&](std::size_t i) { return std::int64_t{rows.offsets[nodes[i]]}; };
    const auto length = [&](std::size_t i) { return std::int64_t{rows.offsets[nodes[i] + 1]} - begin(i); };
    for (std::size_t i = first; i < last; ++i) {
      const std::int64_t count = rule.count(length(i));
      targets.insert(targets.end(), static_cast<std::size_t>(count), static_cast<I>(i));
      offsets.push_back(offsets.back() + static_cast<std::size_t>(count));
    }
    edges.resize(offsets.back());
    parallel_for(ctx.threads(), static_cast<std::int64_t>(last - first), grain::rows / 8, [&](std::int64_t k) {
      const std::size_t i = first + static_cast<std::size_t>(k);
      draw_entries(rule, std::int64_t{nodes[i]}, begin(i), length(i), edges.data() + offsets[i - first]);
    });
    for (std::size_t k = offsets.front(); k < edges.size(); ++k) {
      const I vertex = rows.indices[edges[k]];
      const auto next = static_cast<I>(nodes.size());
      const I number = numbers.find_or_add(vertex, next);
      if (number == next) nodes.push_back(vertex);
      sources.push_back(number);
    }
    nodes_of_hop.push_back(static_cast<std::int64_t>(nodes.size() - last));
    edges_of_hop.push_back(static_cast<std::int64_t>(edges.size() - offsets.front()));
    first = last;
  }
  return {clone(ctx, nodes), clone(ctx, sources),     clone(ctx, targets),
          clone(ctx, edges), std::move(nodes_of_hop), std::move(edges_of_hop)};
}

#define INSTANTIATE(I, O)                                                                                \
  template neighbor_sample<I, O, host> sample(const context<host>&, const csr_pattern_view<I, O, host>&, \
                                              span<const I, host>, const neighbor_sample_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::neighbor_samples
