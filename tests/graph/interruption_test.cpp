// Interruption of long work: the exception reaches the caller, nothing leaks, and only the calling thread polls.
#include <spargo/spargo.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <unistd.h>

namespace spargo {
namespace {

struct stopped {};

using operation = std::function<std::int64_t(const context<host>&)>;

// Graphs and matrices that keep each operation busy for several regions; results do not depend on threads.
class long_work {
 public:
  long_work() {
    const context<host> ctx;
    const auto pairs = generate<double, std::int32_t>(ctx, "gen:rmat:scale=12,degree=8,seed=3");
    g_ = build_graph(ctx, pairs, {.direction = direction_kind::undirected});
    weighted_ = build_weighted_graph(ctx, generate<double, std::int32_t>(ctx, "gen:laplacian2d:n=60"));
    write_matrix_market(path_, pairs);
    weights_ = array<std::int32_t, host>(ctx, weighted_.view().out.nnz());
    for (std::int64_t e = 0; e < weights_.size(); ++e) weights_[e] = static_cast<std::int32_t>(1 + e % 7);
  }
  ~long_work() { std::filesystem::remove(path_); }

  [[nodiscard]] std::vector<std::pair<const char*, operation>> operations() const {
    const auto paths = [this](const context<host>& ctx, sssp_algorithm algorithm) {
      const weighted_graph_view<std::int32_t, std::int32_t, std::int64_t, host> view{
          {weighted_.view()}, weights_.view(), {}};
      const auto found = sssp(ctx, view, 0, {.algorithm = algorithm});
      std::int64_t sum = 0;
      for (const std::int64_t d : found.distances) sum += d;
      return sum;
    };
    return {
        {"bfs", [this](const context<host>& ctx) { return bfs(ctx, g_, 1).reached; }},
        {"bfs in levels",
         [this](const context<host>& ctx) {
           return bfs(ctx, g_, 1, {.algorithm = bfs_algorithm::direction_optimizing}).reached;
         }},
        {"dijkstra", [=](const context<host>& ctx) { return paths(ctx, sssp_algorithm::dijkstra); }},
        {"delta stepping", [=](const context<host>& ctx) { return paths(ctx, sssp_algorithm::delta_stepping); }},
        {"pagerank",
         [this](const context<host>& ctx) { return pagerank<double>(ctx, g_, {.iterations = 7}).iterations; }},
        {"components", [this](const context<host>& ctx) { return components(ctx, g_).count; }},
        {"betweenness by source",
         [this](const context<host>& ctx) {
           const auto found = betweenness<std::int32_t, std::int64_t, host>(
               ctx, g_, sources_, {.algorithm = betweenness_algorithm::by_source});
           return static_cast<std::int64_t>(found.values[0] * 1000);
         }},
        {"betweenness by level",
         [this](const context<host>& ctx) {
           const auto found = betweenness<std::int32_t, std::int64_t, host>(
               ctx, g_, sources_, {.algorithm = betweenness_algorithm::by_level});
           return static_cast<std::int64_t>(found.values[0] * 1000);
         }},
        {"triangles", [this](const context<host>& ctx) { return triangles(ctx, g_).total; }},
        {"communities", [this](const context<host>& ctx) { return communities(ctx, g_).count; }},
        {"leiden",
         [this](const context<host>& ctx) {
           return communities(ctx, g_, {.method = communities_method::leiden, .iterations = 1}).count;
         }},
        {"multi_bfs", [this](const context<host>& ctx) { return multi_bfs(ctx, g_, sources_).counts[0].distance_sum; }},
        {"reading",
         [this](const context<host>& ctx) { return read_matrix_market<double, std::int32_t>(ctx, path_).nnz(); }},
    };
  }

 private:
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("spargo_interruption_" + std::to_string(::getpid()) + ".mtx"))
          .string();
  graph<std::int32_t, std::int64_t, host> g_;
  weighted_graph<double, std::int32_t, std::int64_t, host> weighted_;
  array<std::int32_t, host> weights_;
  const std::vector<std::int32_t> sources_{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
};

TEST(Interruption, EveryLongOperationAsksAndCanBeEndedAnywhere) {
  const long_work work;
  for (const int threads : {1, 3}) {
    const context<host> ctx({.threads = threads});
    for (const auto& [name, run] : work.operations()) {
      SCOPED_TRACE(std::string(name) + ", threads " + std::to_string(threads));
      const std::int64_t expected = run(ctx);
      int polls = 0;
      {
        const interruption counting([&] { ++polls; }, interruption::clock::duration::zero());
        EXPECT_EQ(run(ctx), expected);
      }
      EXPECT_GE(polls, 1);
      for (const int last : {1, 2, polls / 2, polls}) {
        int left = std::max(1, last);
        const interruption ending(
            [&] {
              if (--left == 0) throw stopped{};
            },
            interruption::clock::duration::zero());
        if (threads == 1 && last <= polls) {
          EXPECT_THROW(static_cast<void>(run(ctx)), stopped);
        } else {  // with threads the leader runs a varying number of parts
          try {
            EXPECT_EQ(run(ctx), expected);
          } catch (const stopped&) {
          }
        }
      }
      EXPECT_EQ(run(ctx), expected);
    }
  }
}

// So does a batch of Leiden or Louvain.
TEST(Interruption, IsAskedWithinABatchOfLeiden) {
  const context<host> ctx({.threads = 1});
  const auto g =
      build_graph(ctx, generate(ctx, "gen:rmat:scale=14,degree=16"), {.direction = direction_kind::undirected});
  communities_plan plan(ctx, g, {.method = communities_method::leiden, .iterations = 1, .max_levels = 1});
  int polls = 0;
  const interruption counting([&] { ++polls; }, interruption::clock::duration::zero());
  plan.run();
  EXPECT_GE(polls, 400);
}

// A round of label propagation takes seconds on a large graph.
TEST(Interruption, IsAskedWithinARoundOfCommunities) {
  const context<host> ctx({.threads = 1});
  const auto g =
      build_graph(ctx, generate(ctx, "gen:rmat:scale=12,degree=16"), {.direction = direction_kind::undirected});
  const auto polls_in = [](const auto& run) {
    int polls = 0;
    const interruption counting([&] { ++polls; }, interruption::clock::duration::zero());
    run();
    return polls;
  };
  communities_plan plan(ctx, g, {.iterations = 1});
  EXPECT_GE(polls_in([&] { plan.run(); }), 6);
  EXPECT_GE(polls_in([&] { EXPECT_EQ(check_communities(ctx, g, plan.labels(), {.iterations = 1}), ""); }), 2);
}

TEST(Interruption, IsAskedNoMoreThanOnceInItsInterval) {
  int polls = 0;
  const interruption never([&] { ++polls; }, std::chrono::hours(1));
  for (int k = 0; k < 1000; ++k) interruption::look();
  EXPECT_EQ(polls, 0);
}

TEST(Interruption, TheInnermostOfThisThreadIsAsked) {
  int outer = 0;
  int inner = 0;
  const interruption first([&] { ++outer; }, interruption::clock::duration::zero());
  {
    const interruption second([&] { ++inner; }, interruption::clock::duration::zero());
    interruption::look();
    std::thread([] { interruption::look(); }).join();
  }
  EXPECT_EQ(inner, 1);
  EXPECT_EQ(outer, 0);
  interruption::look();
  EXPECT_EQ(outer, 1);
}

// Sources of betweenness, in order; each algorithm and the check. When threads search sources of their own, progress is
// reported by the thread that polls.
TEST(Interruption, IsToldHowManySourcesAreDone) {
  const context<host> ctx({.threads = 1});
  const auto g =
      build_graph<std::int64_t>(ctx, generate<pattern, std::int32_t>(ctx, "gen:rmat:scale=6,degree=4").view(),
                                {.direction = direction_kind::undirected});
  std::vector<operation_progress> reports;
  const interruption recorder([&](const operation_progress& now) { reports.push_back(now); },
                              interruption::clock::duration::zero());
  const auto followed = [&](const auto& run) {
    reports.clear();
    run();
    EXPECT_EQ(reports.back().total, 0);  // all is done
    std::int64_t last = 0;
    std::set<std::int64_t> seen;
    for (const operation_progress& now : reports) {
      if (now.total == 0) continue;
      EXPECT_EQ(now.total, g.vertices());
      EXPECT_GE(now.done, last);
      last = now.done;
      seen.insert(now.done);
    }
    return std::vector<std::int64_t>(seen.begin(), seen.end());
  };
  std::vector<std::int64_t> each(static_cast<std::size_t>(g.vertices()));
  std::iota(each.begin(), each.end(), 0);
  betweenness_result<host> found;
  EXPECT_EQ(followed([&] { found = betweenness(ctx, g, {}, {.algorithm = betweenness_algorithm::by_source}); }), each);
  EXPECT_EQ(followed([&] { EXPECT_EQ(check_betweenness(ctx, g, found.values.view()), ""); }), each);
  std::erase_if(each, [](std::int64_t k) { return k % 4 != 0; });  // four at a time
  EXPECT_EQ(followed([&] { found = betweenness(ctx, g, {}, {.algorithm = betweenness_algorithm::by_level}); }), each);
}

// The library's own errors may be thrown.
TEST(Interruption, AnErrorOfTheLibraryMayBeThrown) {
  const interruption deadline([] { throw error(error_code::unsupported, "deadline"); },
                              interruption::clock::duration::zero());
  EXPECT_THROW(static_cast<void>(generate<double, std::int32_t>(context<host>(), "gen:rmat:scale=10,degree=8")), error);
}

}  // namespace
}  // namespace spargo
