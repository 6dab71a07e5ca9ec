// Leiden's refinement against its rule, evaluated anew for every decision.
#include "graph/communities/refinement.hpp"
#include "graph/partition_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace spargo {
namespace {

using test::cpu;
using test::label_vector;

// Refinement of `communities` as its comment describes it, with masses that are degrees and resolution 1; nodes in the
// given order, gains reduced by a random part of up to 1/32. Everything is computed anew for each decision.
label_vector naive_refinement(const std::vector<std::vector<std::int64_t>>& weight, const label_vector& communities,
                              const label_vector& order, std::uint64_t seed) {
  const std::size_t n = weight.size();
  label_vector group = test::own_labels(static_cast<std::int64_t>(n));
  std::int64_t total = 0;
  label_vector degree(n);
  for (std::size_t v = 0; v < n; ++v) {
    degree[v] = std::accumulate(weight[v].begin(), weight[v].end(), std::int64_t{0});
    total += degree[v];
  }
  const auto is_well_connected = [&](std::int64_t which, std::int64_t community) {
    std::int64_t mass = 0, all = 0, cut = 0;
    for (std::size_t v = 0; v < n; ++v) {
      if (communities[v] != community) continue;
      all += degree[v];
      if (group[v] == which) mass += degree[v];
      for (std::size_t u = 0; u < n; ++u) {
        if (communities[u] == community && group[v] == which && group[u] != which) cut += weight[v][u];
      }
    }
    return cut * total >= mass * (all - mass);
  };
  for (const std::int64_t v : order) {
    const auto at = static_cast<std::size_t>(v);
    if (group[at] != v || std::count(group.begin(), group.end(), v) != 1) continue;
    if (!is_well_connected(v, communities[at])) continue;
    std::int64_t best = v, most = 0;
    for (std::int64_t to = 0; to < static_cast<std::int64_t>(n); ++to) {
      std::int64_t inside = 0, mass = 0;
      for (std::size_t u = 0; u < n; ++u) {
        if (group[u] != to || communities[u] != communities[at] || u == at) continue;
        inside += weight[at][u];
        mass += degree[u];
      }
      std::int64_t gain = inside * total - degree[at] * mass;
      const std::uint64_t random =
          detail::mixed_bits(detail::communities::blur_key(seed, v), static_cast<std::uint64_t>(to));
      if (gain > 0) gain -= gain * static_cast<std::int64_t>(random % 1024) / 32768;
      if (gain > most && is_well_connected(to, communities[at])) {
        most = gain;
        best = to;
      }
    }
    group[at] = best;
  }
  return group;
}

TEST(LouvainLeidenRefinement, FollowsItsRule) {
  std::int64_t joined = 0;
  for (std::uint64_t seed = 0; seed < test::rounds(800); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 2 + random.below(24);
    const auto g = test::build<std::int64_t, std::int32_t, std::int32_t>(
        n, test::draw_edges(random, n, 3 * n, test::drawn::whole), direction_kind::undirected);
    const auto view = g.view();
    std::vector<std::vector<std::int64_t>> weight(static_cast<std::size_t>(n),
                                                  std::vector<std::int64_t>(static_cast<std::size_t>(n)));
    label_vector mass, communities, order;
    std::int64_t total = 0;
    for (std::int64_t v = 0; v < n; ++v) {
      for (auto e = view.out.offsets[v]; e < view.out.offsets[v + 1]; ++e) {
        const auto u = view.out.indices[e];
        if (u != v) weight[static_cast<std::size_t>(v)][static_cast<std::size_t>(u)] = view.out_weights[e];
      }
      const auto& row = weight[static_cast<std::size_t>(v)];
      mass.push_back(std::accumulate(row.begin(), row.end(), std::int64_t{0}));
      total += mass.back();
      communities.push_back(random.below(3));
      order.push_back(v);
    }
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return detail::mixed_bits(seed, static_cast<std::uint64_t>(a)) <
             detail::mixed_bits(seed, static_cast<std::uint64_t>(b));
    });
    using level = detail::communities::level_graph<std::int32_t, std::int32_t>;
    const level graph{n, view.out.offsets.data(), view.out.indices.data(), view.out_weights.data(), mass.data()};
    std::vector<std::int32_t> named(communities.begin(), communities.end());
    named.resize(static_cast<std::size_t>(std::max<std::int64_t>(n, 3)));
    std::vector<std::int32_t> group(static_cast<std::size_t>(n));
    const std::int64_t few = std::min<std::int64_t>(n, 3);
    for (auto& label : named) label = static_cast<std::int32_t>(label % few);
    for (auto& label : communities) label %= few;
    named.resize(static_cast<std::size_t>(n));
    detail::communities::weight_tables<std::int32_t> tables(static_cast<std::size_t>(cpu().threads()));
    detail::communities::refinement<std::int32_t, std::int32_t>(cpu(), graph, {total, 1}, seed, tables)
        .run(named, group);
    const label_vector expected = naive_refinement(weight, communities, order, seed);
    ASSERT_EQ(label_vector(group.begin(), group.end()), expected) << "seed " << seed;
    joined += n - test::different(expected);
  }
  EXPECT_GT(joined, 1000 / static_cast<std::int64_t>(test::rounds_over));
}

// By up to 1/32, differently for each node and group.
TEST(LouvainLeidenRefinement, BlurReducesGains) {
  using detail::communities::blur_key;
  using detail::communities::blurred_gain;
  constexpr detail::communities::int128 gain = detail::communities::int128{1} << 60;
  std::set<std::int64_t> lost;
  for (std::int64_t node = 0; node < 20; ++node) {
    for (std::int64_t group = 0; group < 20; ++group) {
      const auto less = static_cast<std::int64_t>(gain - blurred_gain(gain, blur_key(7, node), group));
      EXPECT_GE(less, 0);
      EXPECT_LE(less, std::int64_t{1} << 55);
      lost.insert(less);
    }
  }
  EXPECT_GT(lost.size(), 250U);
  EXPECT_GT(*lost.rbegin(), std::int64_t{1} << 54);
  // Small gains too, in proportion.
  for (std::int64_t group = 0; group < 20; ++group) {
    const auto less = static_cast<std::int64_t>(gain - blurred_gain(gain, blur_key(7, 1), group));
    const std::int64_t small = 10000 - blurred_gain(std::int64_t{10000}, blur_key(7, 1), group);
    EXPECT_EQ(small, std::int64_t{10000} * (less >> 45) >> 15) << group;
  }
  for (const std::int64_t same : {0, -5, 1}) EXPECT_EQ(blurred_gain(same, 1, 2), same);
}

// Node 0 gains by joining node 1, which hangs on the heavy node 2 of their community as well only in the second case.
TEST(LouvainLeidenRefinement, NodesJoinWellConnectedGroupsOnly) {
  const std::vector<std::int64_t> mass{1, 1, 10};
  const std::vector<std::int32_t> offsets{0, 2, 4, 6}, neighbours{1, 2, 0, 2, 0, 1};
  for (const std::int64_t weight : {1, 9}) {
    const std::vector<std::int64_t> weights{2, 9, 2, weight, 9, weight};
    const detail::communities::level_graph<std::int32_t, std::int32_t> g{3, offsets.data(), neighbours.data(),
                                                                         weights.data(), mass.data()};
    std::vector<std::int32_t> community(3, 0), group(3);
    detail::communities::weight_tables<std::int32_t> tables(static_cast<std::size_t>(cpu().threads()));
    detail::communities::refinement<std::int32_t, std::int32_t>(cpu(), g, {.link = 1, .penalty = 1}, 1, tables)
        .run(community, group);
    EXPECT_EQ(group[0] == group[1], weight == 9) << weight;
    EXPECT_EQ(group[2], 2);
  }
}

}  // namespace
}  // namespace spargo
