// The validator accepts exactly the correct results: random faults, judged by a slow oracle.
#include <spargo/graph/bfs_validate.hpp>

#include "graph/graph_support.hpp"
#include "graph/host_types.hpp"

#include <gtest/gtest.h>

namespace spargo {
namespace {

using test::edges_kept;
using test::raw_graph;

template <class I>
struct answer {
  std::vector<std::int32_t> levels;
  std::vector<I> parents;
};

template <class I, class O>
answer<I> right_answer(const graph_view<I, O, host>& g, std::int64_t source) {
  answer<I> a{test::naive_levels(g, source), {}};
  a.parents.assign(a.levels.size(), -1);
  a.parents[static_cast<std::size_t>(source)] = static_cast<I>(source);
  for (I u = 0; u < g.vertices(); ++u) {
    for (O e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) {
      const auto v = static_cast<std::size_t>(g.out.indices[e]);
      const std::int32_t from = a.levels[static_cast<std::size_t>(u)];
      if (from >= 0 && a.levels[v] == from + 1) a.parents[v] = u;
    }
  }
  return a;
}

template <class T>
class CheckBfs : public testing::Test {};
TYPED_TEST_SUITE(CheckBfs, test::host_graph_cases);

template <class I, class O>
void expect_same_verdicts(const raw_graph<I, O>& raw, std::int64_t source, const answer<I>& a) {
  const context<host> ctx({.threads = 2});
  const auto g = raw.view();
  const auto s = static_cast<I>(source);
  const auto truth = test::naive_levels(g, source);
  const bool levels_right = a.levels == truth;
  const bool parents_right = test::parent_fault(g, source, truth, a.parents).empty();
  const std::string both = check_bfs<I, O>(ctx, g, s, a.levels, a.parents);
  const std::string levels = check_bfs<I, O>(ctx, g, s, a.levels, {});
  const std::string parents = check_bfs<I, O>(ctx, g, s, {}, a.parents);
  EXPECT_EQ(both.empty(), levels_right && parents_right) << both;
  EXPECT_EQ(levels.empty(), levels_right) << levels;
  EXPECT_EQ(parents.empty(), parents_right) << parents;
}

// Plants one fault of each kind at a random place.
template <class I>
void spoil(answer<I>& a, std::int64_t source, int kind, test::random_source& random) {
  const auto n = static_cast<std::int64_t>(a.levels.size());
  const auto v = static_cast<std::size_t>(random.below(n));
  const auto w = static_cast<std::size_t>(random.below(n));
  const auto s = static_cast<std::size_t>(source);
  const auto any = [&] { return static_cast<I>(random.below(n)); };
  switch (kind) {
    case 0:
      a.levels[v] += 1;
      break;
    case 1:
      a.levels[v] -= 1;
      break;
    case 2:
      a.levels[v] = static_cast<std::int32_t>(random.below(n));
      break;
    case 3:
      a.parents[v] = any();
      break;
    case 4:
      a.parents[s] = any();
      break;
    case 5:
      a.levels[s] = 1;
      break;
    case 6:
      a.levels[v] = -1;
      break;
    case 7:
      a.levels[v] = -1;
      a.parents[v] = -1;
      break;
    case 8:
      a.parents[v] = -1;
      break;
    case 9:
      a.levels[v] = a.levels[w] + 1;
      a.parents[v] = static_cast<I>(w);
      break;
    case 10:
      a.parents[v] = static_cast<I>(w);
      a.parents[w] = static_cast<I>(v);
      break;
    case 11:
      a.parents[v] = static_cast<I>(v);
      break;
    case 12:
      a.parents[v] = static_cast<I>(n);
      break;
    case 13:
      a.parents[v] = -2;
      break;
    case 14:
      a.levels[v] = -2;
      break;
    case 15:
      a.levels[v] = static_cast<std::int32_t>(n);
      break;
    case 16:
      std::swap(a.levels[v], a.levels[w]);
      break;
    case 17:
      for (auto& l : a.levels) l += l >= 1;
      break;  // every level except the source's is one too deep
    default:
      break;
  }
}

TYPED_TEST(CheckBfs, AgreesWithASlowJudgeOnEveryFault) {
  using I = typename TypeParam::index;
  using O = typename TypeParam::offset;
  test::random_source random(31);
  for (int round = 0; round < 150; ++round) {
    const std::int64_t n = 2 + random.below(40);
    const auto edges = test::random_edges(random, n, random.below(3 * n), round % 3);
    const auto raw =
        round % 2 == 0 ? test::make_undirected<I, O>(n, edges) : test::make_directed<I, O>(n, edges, edges_kept::out);
    const std::int64_t source = random.below(n);
    const auto right = right_answer(raw.view(), source);
    SCOPED_TRACE("round " + std::to_string(round));
    expect_same_verdicts(raw, source, right);
    for (int kind = 0; kind < 18; ++kind) {
      SCOPED_TRACE("kind " + std::to_string(kind));
      auto wrong = right;
      spoil(wrong, source, kind, random);
      expect_same_verdicts(raw, source, wrong);
    }
    if (testing::Test::HasFailure()) return;
  }
}

// The path 0 - 1 - 2 - 3 - 4 with the chord 1 - 3, and 5 - 6 separate.
class CheckBfsSentence : public testing::Test {
 protected:
  raw_graph<std::int32_t, std::int32_t> raw_ =
      test::make_undirected<std::int32_t, std::int32_t>(7, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 3}, {5, 6}});
  std::vector<std::int32_t> levels_{0, 1, 2, 2, 3, -1, -1};
  std::vector<std::int32_t> parents_{0, 0, 1, 1, 3, -1, -1};

  [[nodiscard]] std::string check(std::int64_t max_depth = -1) const {
    const context<host> ctx({.threads = 2});
    return check_bfs<std::int32_t, std::int32_t>(ctx, raw_.view(), 0, levels_, parents_, max_depth);
  }
};

TEST_F(CheckBfsSentence, Right) { EXPECT_EQ(check(), ""); }
TEST_F(CheckBfsSentence, NonNeighbour) {
  levels_[4] = 2;
  parents_[4] = 1;
  EXPECT_EQ(check(), "vertex 4 has the parent 1, but no edge leads from there");
}
TEST_F(CheckBfsSentence, TooDeep) {
  levels_ = {0, 1, 2, 3, 4, -1, -1};
  parents_ = {0, 0, 1, 2, 3, -1, -1};
  EXPECT_EQ(check(), "an edge leads from vertex 1 at level 1, to vertex 3 at level 3");
}
TEST_F(CheckBfsSentence, Unreached) {
  levels_[4] = -1;
  parents_[4] = -1;
  EXPECT_EQ(check(), "an edge leads from vertex 3 at level 2, to vertex 4, which is unreached");
}
// A search that stopped at a depth: all up to it is reached, and nothing beyond.
TEST_F(CheckBfsSentence, DepthLimit) {
  EXPECT_EQ(check(3), "");
  EXPECT_EQ(check(std::int64_t{1} << 40), "");
  EXPECT_EQ(check(2), "vertex 4 is at level 3 (expected -1 to 2)");
  levels_[4] = -1;
  parents_[4] = -1;
  EXPECT_EQ(check(2), "");
  EXPECT_EQ(check(3), "an edge leads from vertex 3 at level 2, to vertex 4, which is unreached");
  levels_[2] = -1;
  parents_[2] = -1;
  EXPECT_EQ(check(2), "an edge leads from vertex 1 at level 1, to vertex 2, which is unreached");
  levels_ = {0, -1, -1, -1, -1, -1, -1};
  parents_ = {0, -1, -1, -1, -1, -1, -1};
  EXPECT_EQ(check(0), "");
  levels_.clear();
  EXPECT_EQ(check(0), "");
  EXPECT_EQ(check(1), "an edge leads from vertex 0 at level 0, to vertex 1, which is unreached");
}
TEST_F(CheckBfsSentence, CycleApart) {
  parents_[5] = 6;
  parents_[6] = 5;
  EXPECT_EQ(check(), "vertex 5 has the parent 6, but no level");
  levels_.clear();
  EXPECT_EQ(check(), "the parents of vertex 5 form a cycle");
}
TEST_F(CheckBfsSentence, ParentsLeadNowhere) {
  parents_[6] = 5;
  levels_.clear();
  EXPECT_EQ(check(), "the parents of vertex 6 lead to vertex 5, which has none");
}
TEST_F(CheckBfsSentence, SecondComponentMarkedReached) {
  levels_[5] = 1;
  parents_[5] = 0;
  levels_[6] = 2;
  parents_[6] = 5;
  EXPECT_EQ(check(), "vertex 5 has the parent 0, but no edge leads from there");
  parents_.clear();
  EXPECT_EQ(check(), "vertex 5 is at level 1, but no edge leads to it from level 0");
}
TEST_F(CheckBfsSentence, Levels) {
  levels_[3] = 1;
  EXPECT_EQ(check(), "vertex 3 is at level 1, but its parent 1 is at level 1");
  levels_[3] = 0;
  EXPECT_EQ(check(), "vertex 3 is at level 0, but is not the source");
  levels_[0] = 2;
  EXPECT_EQ(check(), "the source, vertex 0, is at level 2 (expected 0)");
}
TEST_F(CheckBfsSentence, Sizes) {
  levels_.pop_back();
  EXPECT_EQ(check(), "there are 6 levels for 7 vertices");
  levels_.clear();
  parents_.push_back(-1);
  EXPECT_EQ(check(), "there are 8 parents for 7 vertices");
  parents_.clear();
  EXPECT_THROW((void)check(), error);
}
TEST_F(CheckBfsSentence, SourceOutside) {
  const context<host> ctx;
  EXPECT_THROW((void)(check_bfs<std::int32_t, std::int32_t>(ctx, raw_.view(), 7, levels_, parents_)), error);
  EXPECT_THROW((void)(check_bfs<std::int32_t, std::int32_t>(ctx, raw_.view(), -1, levels_, parents_)), error);
}

// A long chain: counting levels along parents must be linear, not quadratic.
TEST(CheckBfsCost, LongPathFromParentsAlone) {
  const std::int32_t n = 300000;
  const auto raw = test::make_undirected<std::int32_t, std::int32_t>(n, test::path_edges(n));
  std::vector<std::int32_t> parents(static_cast<std::size_t>(n));
  for (std::int32_t v = 0; v < n; ++v) parents[static_cast<std::size_t>(v)] = v == n - 1 ? v : v + 1;
  const context<host> ctx;
  EXPECT_EQ((check_bfs<std::int32_t, std::int32_t>(ctx, raw.view(), n - 1, {}, parents)), "");
  parents[5] = 4;
  EXPECT_NE((check_bfs<std::int32_t, std::int32_t>(ctx, raw.view(), n - 1, {}, parents)), "");
}

}  // namespace
}  // namespace spargo
