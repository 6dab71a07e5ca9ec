// Samples of neighbours against samples by the definition, entry by entry, and their distributions.
#include "core/parallel.hpp"
#include "graph/graph_suite.hpp"
#include "graph/known_graphs.hpp"
#include "graph/walks_support.hpp"
#include "support/message.hpp"

#include <spargo/graph/neighbor_samples.hpp>
#include <spargo/io/generate.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace spargo {
namespace {

using longs = std::vector<std::int64_t>;

struct plain_sample {
  longs nodes, rows, cols, edges, nodes_of_hop, edges_of_hop;

  bool operator==(const plain_sample&) const = default;
};

std::uint64_t word_of(std::uint64_t seed, std::int64_t v, std::size_t hop, std::int64_t draw) {
  // Counters of a walk's step and attempt are those of a hop and a pair of draws.
  return test::random_bits(seed, v, static_cast<std::uint32_t>(hop), static_cast<std::uint32_t>(draw / 2),
                           static_cast<int>(draw % 2));
}
std::int64_t scaled(std::uint64_t word, std::int64_t bound) {
  return static_cast<std::int64_t>((static_cast<test::wide_sum>(word) * static_cast<std::uint64_t>(bound)) >> 64);
}

longs naive_draws(std::int64_t row, std::int64_t fan_out, bool replaces, std::uint64_t seed, std::int64_t v,
                  std::size_t hop) {
  longs taken;
  std::int64_t used = 0;
  const auto draw = [&](std::int64_t bound) { return scaled(word_of(seed, v, hop, used++), bound); };
  if (fan_out == -1 || row == 0 || (!replaces && row <= fan_out)) {
    for (std::int64_t k = 0; k < row; ++k) taken.push_back(k);
  } else if (replaces) {
    for (std::int64_t k = 0; k < fan_out; ++k) taken.push_back(draw(row));
  } else if (fan_out * fan_out <= row) {
    std::set<std::int64_t> chosen;
    for (std::int64_t j = row - fan_out; j < row; ++j) {
      const std::int64_t drawn = draw(j + 1);
      taken.push_back(chosen.contains(drawn) ? j : drawn);
      chosen.insert(taken.back());
    }
  } else {
    for (std::int64_t k = 0; std::ssize(taken) < fan_out; ++k) {
      if (draw(row - k) < fan_out - std::ssize(taken)) taken.push_back(k);
    }
  }
  return taken;
}

template <class I, class O>
plain_sample naive_sample(const test::raw_graph<I, O>& g, const longs& seeds, const neighbor_sample_options& o) {
  plain_sample s{seeds, {}, {}, {}, {std::ssize(seeds)}, {}};
  std::map<std::int64_t, std::int64_t> numbers;
  for (std::size_t k = 0; k < seeds.size(); ++k) numbers[seeds[k]] = static_cast<std::int64_t>(k);
  std::size_t first = 0;
  for (std::size_t hop = 0; hop < o.fan_outs.size(); ++hop) {
    const std::size_t last = s.nodes.size();
    const std::int64_t edges_before = std::ssize(s.edges);
    for (std::size_t node = first; node < last; ++node) {
      const auto v = static_cast<std::size_t>(s.nodes[node]);
      const std::int64_t begin = g.offsets[v];
      for (const std::int64_t k : naive_draws(g.offsets[v + 1] - begin, o.fan_outs[hop],
                                              o.replacement == sample_replacement::with, o.seed, s.nodes[node], hop)) {
        const std::int64_t to = g.indices[static_cast<std::size_t>(begin + k)];
        if (!numbers.contains(to)) {
          numbers[to] = std::ssize(s.nodes);
          s.nodes.push_back(to);
        }
        s.rows.push_back(numbers[to]);
        s.cols.push_back(static_cast<std::int64_t>(node));
        s.edges.push_back(begin + k);
      }
    }
    s.nodes_of_hop.push_back(std::ssize(s.nodes) - static_cast<std::int64_t>(last));
    s.edges_of_hop.push_back(std::ssize(s.edges) - edges_before);
    first = last;
  }
  return s;
}

template <class Placed, class Array>
longs fetched(const Placed& placed, const Array& values) {
  const auto found = placed.fetch(values.view());
  return {found.begin(), found.end()};
}

template <class Case>
class NeighborSamples : public test::threaded_graph_suite<Case> {
 protected:
  using I = typename Case::index;
  using O = typename Case::offset;
  using Space = typename Case::space;

  static array<I, Space> place(const context<Space>& ctx, const longs& seeds) {
    const std::vector<I> values(seeds.begin(), seeds.end());
    if constexpr (std::same_as<Space, host>) {
      return clone(ctx, values);
    } else {
      return to_device(ctx, span<const I, host>(values));
    }
  }
  void check(const test::raw_graph<I, O>& g, const longs& seeds, const neighbor_sample_options& options) {
    const test::placed_graph<I, O, Space> placed(g);
    const auto found = sample_neighbors(placed.ctx(), placed.view(), place(placed.ctx(), seeds).view(), options);
    const plain_sample sample{fetched(placed, found.nodes), fetched(placed, found.rows), fetched(placed, found.cols),
                              fetched(placed, found.edges), found.nodes_of_hop,          found.edges_of_hop};
    ASSERT_EQ(sample, naive_sample(g, seeds, options));
    const context<host> cpu;
    const auto copied = [&](const auto& values) { return clone(cpu, placed.fetch(values.view())); };
    const neighbor_sample<I, O, host> on_host{copied(found.nodes), copied(found.rows), copied(found.cols),
                                              copied(found.edges), found.nodes_of_hop, found.edges_of_hop};
    const std::vector<I> starts(seeds.begin(), seeds.end());
    ASSERT_EQ(check_neighbor_sample(cpu, g.view(), starts, on_host, options), "");
  }
};

TYPED_TEST_SUITE(NeighborSamples, test::graph_cases);

TYPED_TEST(NeighborSamples, SmallShapes) {
  using index = typename TypeParam::index;
  using offset = typename TypeParam::offset;
  const auto empty = test::make_undirected<index, offset>(0, {});
  this->check(empty, {}, {});
  const auto loop = test::make_directed<index, offset>(2, {{0, 0}, {0, 0}}, test::edges_kept::out);
  this->check(loop, {1, 0}, {.fan_outs = {1, 2, 3}});
  const auto star = test::make_undirected<index, offset>(300, test::star_edges(300));
  for (const std::int64_t fan_out : {-1, 0, 1, 5, 17, 18, 298, 299, 1000}) {
    for (const auto replacement : {sample_replacement::without, sample_replacement::with}) {
      this->check(star, {0, 7}, {.fan_outs = {fan_out, 3}, .replacement = replacement});
      if (this->HasFatalFailure()) FAIL() << "fan-out " << fan_out;
    }
  }
  this->check(star, {5, 3}, {.fan_outs = {}});
  this->check(star, {}, {.fan_outs = {2}});
}

TYPED_TEST(NeighborSamples, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < this->rounds(300); ++seed) {
    test::random_source random(seed);
    const std::int64_t n = 1 + random.below(60);
    const auto edges = test::random_edges(random, n, random.below(10 * n), static_cast<int>(random.below(3)));
    const auto g =
        test::make_directed<typename TypeParam::index, typename TypeParam::offset>(n, edges, test::edges_kept::out);
    std::set<std::int64_t> seeds;
    for (std::int64_t k = 0; k < 1 + random.below(5); ++k) seeds.insert(random.below(n));
    neighbor_sample_options options{.fan_outs = {}, .seed = random.next()};
    if (seed % 2 == 0) options.replacement = sample_replacement::with;
    for (std::int64_t hop = 0; hop < random.below(4); ++hop) options.fan_outs.push_back(random.below(9) - 1);
    this->check(g, {seeds.rbegin(), seeds.rend()}, options);
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TYPED_TEST(NeighborSamples, BadArgumentsAreRefused) {
  const auto g = test::make_undirected<typename TypeParam::index, typename TypeParam::offset>(5, test::path_edges(5));
  const test::placed_graph<typename TypeParam::index, typename TypeParam::offset, typename TypeParam::space> placed(g);
  const auto refused = [&](const longs& seeds, const neighbor_sample_options& options = {}) {
    return test::message_of(error_code::invalid_argument, [&] {
      (void)sample_neighbors(placed.ctx(), placed.view(), this->place(placed.ctx(), seeds).view(), options);
    });
  };
  EXPECT_EQ(refused({0, 4, 5, 9}), "sample_neighbors: seed 2 is 5 (expected a vertex, 0 to 4)");
  EXPECT_EQ(refused({0, -1}), "sample_neighbors: seed 1 is -1 (expected a vertex, 0 to 4)");
  EXPECT_EQ(refused({3, 1, 2, 1, 3}), "sample_neighbors: seed 3 is 1 again (expected distinct seeds)");
  EXPECT_EQ(refused({0}, {.fan_outs = {3, -2}}),
            "sample_neighbors: fan-out -2 (expected 0 or more, or -1 for all neighbours)");
}

// Every set of 3 of 9 entries (Floyd), and of 4 of 6 (algorithm S), is equally likely, and every pair of 5 with
// replacement.
void expect_sets(std::int64_t row, std::int64_t fan_out, sample_replacement replacement, double outcomes) {
  constexpr std::int64_t centres = 30000;  // each draws for itself
  test::raw_graph<std::int32_t, std::int64_t> g;
  g.vertices = static_cast<std::int32_t>(centres + row);
  g.offsets.push_back(0);
  for (std::int64_t v = 0; v < g.vertices; ++v) {
    for (std::int64_t k = 0; v < centres && k < row; ++k) g.indices.push_back(static_cast<std::int32_t>(centres + k));
    g.offsets.push_back(std::ssize(g.indices));
  }
  std::vector<std::int32_t> seeds(centres);
  std::iota(seeds.begin(), seeds.end(), 0);
  const auto found = sample_neighbors(context<host>({.threads = 2}), g.view(), seeds,
                                      {.fan_outs = {fan_out}, .replacement = replacement, .seed = 3});
  test::distribution sets;
  std::set<std::int64_t> all;
  ASSERT_EQ(found.edges.size(), centres * fan_out);
  for (std::int64_t v = 0; v < centres; ++v) {
    std::int64_t code = 0;
    for (std::int64_t k = 0; k < fan_out; ++k) {
      const std::int64_t entry = found.edges[v * fan_out + k] - v * row;
      code = replacement == sample_replacement::with ? code * row + entry : code | (std::int64_t{1} << entry);
    }
    all.insert(code);
    sets.count(code);
  }
  for (const std::int64_t code : all) sets.expect(code, 1 / outcomes);
  EXPECT_EQ(static_cast<double>(all.size()), outcomes);
  sets.test();
}

TEST(NeighborSamplesDistribution, SetsAreEquallyLikely) {
  expect_sets(9, 3, sample_replacement::without, 84);
  expect_sets(6, 4, sample_replacement::without, 15);
  expect_sets(5, 2, sample_replacement::with, 25);
}

TEST(NeighborSamplesHost, DoNotDependOnThreads) {
  const context<host> ctx({.threads = 2});
  const auto g = build_graph(ctx, generate(ctx, "gen:rmat:scale=13,degree=16"), {});
  std::vector<std::int32_t> seeds(4000);
  std::iota(seeds.begin(), seeds.end(), 11);
  detail::assume_processors(8);
  std::vector<std::int64_t> first;
  for (int threads = 1; threads <= 8; ++threads) {
    const auto found = sample_neighbors(context<host>({.threads = threads}), g, seeds);
    if (threads == 1) first = test::copy_of(found.edges.view());
    ASSERT_EQ(test::copy_of(found.edges.view()), first) << threads << " threads";
  }
  detail::assume_processors(0);
}

TEST(NeighborSamplesDevice, AgreeWithTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> gpu;
  const context<host> cpu;
  const auto g = build_graph(cpu, generate(cpu, "gen:rmat:scale=13,degree=16"), {});
  const auto placed = to_device(gpu, g.view());
  std::vector<std::int32_t> seeds(4000);
  std::iota(seeds.begin(), seeds.end(), 11);
  const auto seeds_there = to_device(gpu, span<const std::int32_t, host>(seeds));
  for (const auto replacement : {sample_replacement::without, sample_replacement::with}) {
    const neighbor_sample_options options{.fan_outs = {10, 5, 40}, .replacement = replacement};
    const auto on_host = sample_neighbors(cpu, g, seeds, options);
    const auto on_device = sample_neighbors(gpu, placed, seeds_there.view(), options);
    EXPECT_EQ(on_device.nodes_of_hop, on_host.nodes_of_hop);
    EXPECT_EQ(on_device.edges_of_hop, on_host.edges_of_hop);
    const auto expect_same = [&](const auto& there, const auto& here) {
      EXPECT_EQ(test::copy_of(to_host(gpu, there.view()).view()), test::copy_of(here.view()));
    };
    expect_same(on_device.nodes, on_host.nodes);
    expect_same(on_device.rows, on_host.rows);
    expect_same(on_device.cols, on_host.cols);
    expect_same(on_device.edges, on_host.edges);
  }
}

TEST(NeighborSamplesData, AreSamples) {
  test::for_each_truth<pattern>("core_numbers", [](const auto& known, const nlohmann::json&) {
    const context<host> ctx({.threads = 2});
    const auto g = build_graph(ctx, known.edges, {.direction = direction_kind::undirected});
    std::vector<std::int32_t> seeds;
    for (std::int32_t v = 0; v < g.vertices(); v += 1 + g.vertices() / 40) seeds.push_back(v);
    for (const auto replacement : {sample_replacement::without, sample_replacement::with}) {
      const neighbor_sample_options options{.fan_outs = {5, 3}, .replacement = replacement};
      EXPECT_EQ(check_neighbor_sample(ctx, g.view(), seeds, sample_neighbors(ctx, g, seeds, options), options), "");
    }
  });
}

TEST(NeighborSamplesCheck, FindsFaults) {
  const context<host> ctx;
  const auto raw = test::make_directed<std::int32_t, std::int64_t>(6, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {2, 5}},
                                                                   test::edges_kept::out);
  const std::vector<std::int32_t> seeds{0};
  const neighbor_sample_options options{.fan_outs = {2, 2}};
  const auto fault = [&](auto&& spoil, const neighbor_sample_options& o) {
    auto sample = sample_neighbors(ctx, raw.view(), seeds, o);
    spoil(sample);
    return check_neighbor_sample(ctx, raw.view(), seeds, sample, o);
  };
  EXPECT_EQ(fault([](auto&) {}, options), "");
  EXPECT_EQ(fault([](auto& s) { s.nodes[0] = 3; }, options), "the nodes do not begin with the seeds");
  EXPECT_EQ(fault([](auto& s) { s.edges[1] = s.edges[0]; }, options), "edge 1 leads elsewhere in the graph");
  EXPECT_EQ(fault([](auto& s) { s.edges[0] = 5; }, options), "edge 0 is not of its vertex");
  EXPECT_EQ(fault([](auto& s) { s.rows[1] = 0; }, options), "edge 1 leads elsewhere in the graph");
  EXPECT_EQ(fault([](auto& s) { s.rows[0] = 2; }, options), "edge 0 leads from node 2 (expected 0 to 1)");
  EXPECT_EQ(fault([](auto& s) { s.cols[0] = 1; }, options), "node 0 has 0 edges (expected 2)");
  EXPECT_EQ(fault([](auto& s) { ++s.nodes_of_hop[0]; }, options), "the sizes of the arrays do not fit");
  const auto repeat = [](auto& s) {
    s.edges[1] = s.edges[0];
    s.rows[1] = s.rows[0];
    --s.nodes_of_hop[1];
    ++s.nodes_of_hop[2];
  };
  EXPECT_EQ(fault(repeat, options), "edge 1 is taken twice");
}

}  // namespace
}  // namespace spargo
