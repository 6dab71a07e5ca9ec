// Weakly connected components of distributed graphs on hosts and devices, against a naive search of the whole graph.
#include "distributed/graphs.hpp"
#include "distributed/spaces.hpp"

#include <spargo/distributed/components.hpp>

namespace spargo {
namespace {

using test::edges;
using test::make_edges;
using test::share_of;
using pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

void add_path(pairs& to, std::int64_t first, std::int64_t last) {
  for (std::int64_t v = first; v < last; ++v) to.emplace_back(v, v + 1);
}

// The last four are for two ranks with 128 vertices each. A cut edge is read before trees are skipped only at every
// 16th vertex and outside its rank's largest tree.
edges edges_of(const std::string& name) {
  pairs all;
  if (name == "none") return make_edges(300, {});
  if (name == "no vertices") return make_edges(0, {});
  if (name == "both ends skipped") {  // edge 100-140: both ends are in their ranks' largest trees
    all = {{100, 140}};
    add_path(all, 0, 127);
    add_path(all, 128, 255);
    return make_edges(256, all);
  }
  if (name ==
      "one end skipped") {  // edge 127-141: 0 and 127 are a small tree, whose label never reaches the other rank
    all = {{0, 127}, {127, 141}, {32, 144}};
    add_path(all, 1, 126);
    add_path(all, 128, 255);
    return make_edges(256, all);
  }
  if (name == "one tree by a ghost") {  // the first rank's vertices, once 100-141 is read
    all = {{0, 127}, {127, 141}, {100, 141}};
    add_path(all, 1, 126);
    add_path(all, 128, 255);
    return make_edges(256, all);
  }
  if (name == "apart") {  // the ranks' largest trees are not connected
    add_path(all, 0, 100);
    add_path(all, 160, 255);
    for (std::int64_t v = 101; v < 128; ++v) all.emplace_back(v, v + 27);
    return make_edges(256, all);
  }
  return generate<pattern, std::int64_t>(context<host>(), name);
}

// Propagates labels along edges until none decreases.
template <class I>
std::vector<I> smallest_reached(const edges& all) {
  std::vector<I> label(static_cast<std::size_t>(all.rows()));
  for (std::size_t v = 0; v < label.size(); ++v) label[v] = static_cast<I>(v);
  for (bool falls = true; falls;) {
    falls = false;
    for (std::int64_t k = 0; k < all.nnz(); ++k) {
      I& u = label[static_cast<std::size_t>(all.row_indices()[k])];
      I& v = label[static_cast<std::size_t>(all.col_indices()[k])];
      if (u == v) continue;
      u = v = std::min(u, v);
      falls = true;
    }
  }
  return label;
}

template <class Types>
class DistributedComponents : public testing::Test {
 protected:
  using I = typename Types::index;
  using Space = typename Types::space;

  static void expect_those_of(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      SCOPED_TRACE(name);
      const edges all = edges_of(name);
      const std::vector<I> expected = smallest_reached<I>(all);
      std::int64_t count = 0;
      for (std::size_t v = 0; v < expected.size(); ++v) count += expected[v] == static_cast<I>(v) ? 1 : 0;
      test::on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
        const context<host> cpu = test::context_of(comm);
        const distributed_graph<I> g(comm, cpu, share_of(comm, all).view(), {direction_kind::undirected});
        distributed_components_plan<I, Space> plan(comm, ctx, g, links);
        for (int k = 0; k < 2; ++k) {
          plan.run();
          const array<I, host> labels = test::fetched(ctx, plan.labels());
          ASSERT_EQ(comm.all_gather(span<const I, host>(labels)), expected);
          EXPECT_EQ(plan.count(), count);
          EXPECT_EQ(check_components<I>(comm, cpu, g, labels.view()), "");
        }
      });
    }
  }
};

TYPED_TEST_SUITE(DistributedComponents, test::ranks_kinds, );

TYPED_TEST(DistributedComponents, AreTheWholeGraphs) {
  if constexpr (std::same_as<typename TypeParam::space, device>) SPARGO_TEST_NEEDS_GPU();
  this->expect_those_of({"gen:rmat:scale=11,degree=8", "gen:rmat:scale=13,degree=16", "gen:uniform:rows=1500,degree=1",
                         "gen:uniform:rows=1500,degree=2", "gen:grid2d:n=30,m=50", "gen:path:n=300", "gen:star:n=40000",
                         "gen:complete:n=140", "gen:path:n=1", "none", "no vertices"});
}

TYPED_TEST(DistributedComponents, AreJoinedByEdgesThatWereSkipped) {
  if constexpr (std::same_as<typename TypeParam::space, device>) SPARGO_TEST_NEEDS_GPU();
  this->expect_those_of({"both ends skipped", "one end skipped", "one tree by a ghost", "apart"});
}

}  // namespace
}  // namespace spargo
