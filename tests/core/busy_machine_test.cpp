// Busy machines: the default number of threads against one thread under the same load.
//
// Threads that spin for each other on shared cores lose whole time slices and become up to a thousand times slower. Two
// busy loops per core run beside each operation here, and the medians of both are compared.
// Own program: it keeps all cores busy.
#include "core/parallel.hpp"

#include <spargo/distributed/communicator.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/primitives/histogram.hpp>
#include <spargo/primitives/matmul.hpp>
#include <spargo/primitives/reduce.hpp>
#include <spargo/primitives/scan.hpp>
#include <spargo/sparse/spmv.hpp>

#include "support/cgroup.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <vector>

namespace spargo {
namespace {

using clock = std::chrono::steady_clock;

// Processes that keep cores busy as long as this lives.
class busy_loops {
 public:
  explicit busy_loops(int count) {
    for (int k = 0; k < count; ++k) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (true) detail::pause_thread();
      }
      if (child > 0) children_.push_back(child);
    }
  }
  ~busy_loops() {
    for (const pid_t child : children_) ::kill(child, SIGKILL);
    for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
  }
  busy_loops(const busy_loops&) = delete;
  busy_loops& operator=(const busy_loops&) = delete;

 private:
  std::vector<pid_t> children_;
};

double microseconds_of(const std::function<void()>& f) {
  const auto start = clock::now();
  f();
  return std::chrono::duration<double, std::micro>(clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// Allowed: four times as long, plus the time to wake a thread.
constexpr double allowed = 4.0;
constexpr double wakeup = 100.0;

// Alternates, so that both see the same load.
void compare(const char* name, const std::function<void()>& alone, const std::function<void()>& shared) {
  std::vector<double> one, many;
  const auto start = clock::now();
  for (int k = 0; k < 400 && (k < 7 || clock::now() - start < std::chrono::milliseconds(600)); ++k) {
    one.push_back(microseconds_of(alone));
    many.push_back(microseconds_of(shared));
  }
  EXPECT_LE(median(many), allowed * median(one) + wakeup)
      << name << ": " << median(many) << " us, and " << median(one) << " with one thread";
  std::printf("  %-28s %10.1f us, one thread %10.1f (medians of %zu)\n", name, median(many), median(one), one.size());
}

// Each operation with one thread and with `threads`.
void compare_operations(int threads) {
  const context<host> alone({.threads = 1});
  const context<host> shared({.threads = threads});
  const auto both = [&](const char* name, auto make) {
    auto one = make(alone);
    auto many = make(shared);
    compare(
        name, [&] { one(); }, [&] { many(); });
  };

  for (const auto& [name, spec] : {std::pair{"bfs, R-MAT 10", "gen:rmat:scale=10,degree=16"},
                                   std::pair{"bfs, R-MAT 16", "gen:rmat:scale=16,degree=16"},
                                   std::pair{"bfs, grid 560 x 560", "gen:grid2d:n=560"}}) {
    const auto edges = generate<pattern, std::int32_t>(shared, spec);
    const auto g = build_graph<std::int32_t>(shared, edges.view(), {.direction = direction_kind::undirected});
    both(name, [&](const context<host>& ctx) {
      return [plan = std::make_shared<bfs_plan<std::int32_t, std::int32_t, host>>(ctx, g.view())] { plan->run(1); };
    });
  }
  for (const auto& [name, spec] :
       {std::pair{"spmv, 100 rows", "gen:laplacian2d:n=10"}, std::pair{"spmv, 90,000 rows", "gen:laplacian2d:n=300"},
        std::pair{"spmv, R-MAT 16", "gen:rmat:scale=16,degree=16"}}) {
    const auto entries = generate<double, std::int32_t>(shared, spec);
    const auto a = to_csr<std::int32_t>(shared, entries.view());
    const std::vector<double> x(static_cast<std::size_t>(a.cols()), 1.0);
    std::vector<double> y(static_cast<std::size_t>(a.rows()));
    both(name, [&](const context<host>& ctx) {
      return [&, plan = std::make_shared<spmv_plan<double, std::int32_t, std::int32_t, host>>(ctx, a.view())] {
        plan->run(1.0, x, 0.0, y);
      };
    });
    if (a.rows() == 90'000) {
      both("COO to CSR, 450,000 entries",
           [&](const context<host>& ctx) { return [&] { (void)to_csr<std::int32_t>(ctx, entries.view()); }; });
      both("build graph", [&](const context<host>& ctx) {
        return [&] { (void)build_graph<std::int32_t>(ctx, entries.view(), {.direction = direction_kind::undirected}); };
      });
    }
  }
  const std::int64_t n = 1 << 20;
  array<float, host> values(shared, n), out(shared, n);
  std::fill(values.begin(), values.end(), 1.0F);
  array<std::uint8_t, host> bytes(shared, n);
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{7});
  array<std::int64_t, host> counts(shared, 256);
  both("reduce", [&](const context<host>& ctx) { return [&] { (void)reduce<float, host>(ctx, values.view()); }; });
  both("scan",
       [&](const context<host>& ctx) { return [&] { inclusive_scan<float, host>(ctx, values.view(), out.view()); }; });
  both("histogram", [&](const context<host>& ctx) {
    return [&] { histogram<std::uint8_t, std::int64_t, host>(ctx, bytes.view(), counts.view()); };
  });
  both("copy", [&](const context<host>& ctx) { return [&] { copy<float>(ctx, values.view(), out.view()); }; });
  const std::int64_t side = 192;
  const dense_view<const float, host> a{side, side, side, values.view().subspan(0, side * side)};
  const dense_view<float, host> c{side, side, side, out.view().subspan(0, side * side)};
  both("matmul", [&](const context<host>& ctx) { return [&] { matmul<float, host>(ctx, 1.0F, a, a, 0.0F, c); }; });
}

TEST(BusyMachine, TwoBusyLoopsPerCore) {
  const busy_loops load(2 * detail::usable_processors());
  compare_operations(context<host>().threads());
}

TEST(BusyMachine, MoreThreadsThanCores) {
  const busy_loops load(detail::usable_processors());
  compare_operations(4 * detail::usable_processors());
}

// Ranks that only wait for each other. 20,000 us if they yield, as a busy loop then runs; 300 to 1,800 asleep.
TEST(BusyMachine, RanksOfATeam) {
  constexpr int barriers = 300;
  const busy_loops load(2 * detail::usable_processors());
  const double each = microseconds_of([] {
                        run_team(4, [](const communicator& comm) {
                          for (int k = 0; k < barriers; ++k) comm.barrier();
                        });
                      }) /
                      barriers;
  std::printf("  a barrier of four ranks takes %.1f us\n", each);
  EXPECT_LE(each, 8000.0);
}

// A child limited to one processor, or half of one's time, that requests four threads.
int run_limited(const std::function<bool()>& limit) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!limit()) ::_exit(2);
    compare_operations(4);
    std::fflush(stdout);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(BusyMachine, OneProcessor) {
  const int status = run_limited([] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(BusyMachine, QuotaOfHalfAProcessor) {
  const test::control_group group("cpu", "cpu.cfs_quota_us", "cpu.max");
  if (!group.exists()) GTEST_SKIP() << "no control group of processor time can be made here";
  const bool set = group.is_version_two()
                       ? group.set("cpu.max", "50000 100000")
                       : group.set("cpu.cfs_period_us", "100000") && group.set("cpu.cfs_quota_us", "50000");
  ASSERT_TRUE(set);
  EXPECT_EQ(run_limited([&] { return test::enter(group.procs().c_str()); }), 0);
}

}  // namespace
}  // namespace spargo
