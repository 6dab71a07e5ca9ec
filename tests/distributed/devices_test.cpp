// Ranks with a device each: exchanges over every link, products, CG and PageRank. One GPU is shared by all ranks.
#include "distributed/devices.hpp"
#include "distributed/exchange/device_channel.hpp"

#include <spargo/distributed/bfs.hpp>
#include <spargo/distributed/cg.hpp>
#include <spargo/distributed/components.hpp>
#include <spargo/distributed/pagerank.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gmock/gmock.h>

#include <cmath>

namespace spargo {
namespace {

using test::on_devices;
using testing::HasSubstr;
using entries = coo_matrix<double, std::int64_t, host>;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// --- Exchanges ---

template <class T>
T word_of(std::int64_t element, std::int64_t w, int round) {
  return static_cast<T>(mixed(static_cast<std::uint64_t>(element * 1000 + w * 37 + round)));
}

template <class T>
void expect_ghosts(const communicator& comm, const context<device>& ctx, const exchange_options& options,
                   const partition& parts, const std::vector<std::int64_t>& ghosts, std::int64_t words) {
  constexpr int rounds = 7;
  exchange<device> halo(comm, ctx, parts, ghosts, static_cast<std::size_t>(words) * sizeof(T), options);
  EXPECT_EQ(halo.link(), options.link);
  const std::int64_t first = parts.first(comm.rank());
  const std::int64_t own = parts.count(comm.rank());
  std::vector<array<T, device>> given;
  std::vector<array<T, device>> got;
  for (int round = 0; round < rounds; ++round) {
    std::vector<T> values;
    for (std::int64_t k = 0; k < own * words; ++k) values.push_back(word_of<T>(first + k / words, k % words, round));
    given.push_back(to_device(ctx, values));
    got.emplace_back(ctx, std::ssize(ghosts) * words);
    fill_zero(ctx, got.back().view());
  }
  array<char, device> ballast(ctx, std::int64_t{1} << 26);
  for (int round = 0; round < rounds; ++round) {  // back to back, without waiting
    for (int k = 0; k < 20 && (round + comm.rank()) % 3 == 0; ++k) fill_zero(ctx, ballast.view());  // some are late
    halo.start(std::as_const(given[static_cast<std::size_t>(round)]).view());
    const auto device_ghosts = got[static_cast<std::size_t>(round)].view();
    if (round % 3 == 1) {
      halo.finish_aside(device_ghosts, [](stream_handle) {});
    } else if (round % 3 == 2) {
      copy(ctx, halo.finish_in_place<T>(), device_ghosts);
    } else {
      halo.finish(device_ghosts);
    }
    fill_zero(ctx, given[static_cast<std::size_t>(round)].view());  // allowed from here on
  }
  for (int round = 0; round < rounds; ++round) {
    const auto host_ghosts = to_host(ctx, got[static_cast<std::size_t>(round)]);
    for (std::int64_t k = 0; k < host_ghosts.size(); ++k) {
      ASSERT_EQ(host_ghosts[k], word_of<T>(ghosts[static_cast<std::size_t>(k / words)], k % words, round))
          << "round " << round << ", ghost " << k / words;
    }
  }
}

TEST(DeviceExchange, BringsWhatOthersOwn) {
  SPARGO_TEST_NEEDS_GPU();
  on_devices([](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    for (const std::int64_t size : {0, 100, 5000}) {  // including empty parts
      for (const std::int64_t every : {1, 3, 700}) {
        const partition parts = even_partition(size, comm.size());
        std::vector<std::int64_t> ghosts;
        for (std::int64_t v = comm.rank() % every; v < size; v += every) {
          if (parts.owner(v) != comm.rank()) ghosts.push_back(v);
        }
        expect_ghosts<std::uint64_t>(comm, ctx, options, parts, ghosts, 1);
        expect_ghosts<std::uint32_t>(comm, ctx, options, parts, ghosts, 1);
        if (every != 3) continue;
        expect_ghosts<std::uint64_t>(comm, ctx, options, parts, ghosts, 3);
        expect_ghosts<std::uint32_t>(comm, ctx, options, parts, ghosts, 5);
        expect_ghosts<unsigned char>(comm, ctx, options, parts, ghosts, 7);
      }
    }
  });
}

TEST(DeviceExchange, GoesOneWayOnly) {  // rank 0 sends, and never receives
  SPARGO_TEST_NEEDS_GPU();
  on_devices([](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    const partition parts = even_partition(4096, comm.size());
    std::vector<std::int64_t> ghosts;
    for (std::int64_t v = 0; comm.rank() > 0 && v < parts.last(0); v += 2) ghosts.push_back(v);
    std::reverse(ghosts.begin(), ghosts.end());  // any order within an owner
    expect_ghosts<std::uint64_t>(comm, ctx, options, parts, ghosts, 2);
  });
}

TEST(DeviceExchange, ReportsItsLink) {
  SPARGO_TEST_NEEDS_GPU();
  test::on_ranks([](const communicator& comm) {
    const context<device> ctx = test::device_of(comm);
    const partition parts = even_partition(1000, comm.size());
    const exchange<device> halo(comm, ctx, parts, {}, 8);
    EXPECT_NE(halo.link(), device_link::automatic);
    if (test::gpu().count == 1 && comm.name() != std::string_view("mpi")) {
      EXPECT_EQ(halo.link(), device_link::peer);
      EXPECT_EQ(halo.how(), comm.size() == 1 ? "peer stores" : "peer stores, within one GPU");
    }
    const exchange<device> forced(comm, ctx, parts, {}, 8, {.link = device_link::host_memory});
    EXPECT_EQ(forced.how(), "page-locked host memory");
    if (comm.size() <= test::gpu().count) return;
    try {
      const exchange<device> refused(comm, ctx, parts, {}, 8, {.link = device_link::nccl});
      ADD_FAILURE() << "two ranks on one GPU by NCCL";
    } catch (const agreed_error& e) {
      EXPECT_EQ(e.code(), error_code::unsupported);
      EXPECT_THAT(e.what(), HasSubstr("exchange: no NCCL"));
    }
  });
}

// What one GPU can show of NCCL: it loads, and a rank sends to itself, alternately on two streams.
TEST(DeviceExchange, SendsToItselfByNccl) {
  SPARGO_TEST_NEEDS_GPU();
  if constexpr (config::has_cuda) {
    if (!detail::distributed::reason_against_nccl().empty()) GTEST_SKIP() << detail::distributed::reason_against_nccl();
    const communicator comm;
    const context<device> ctx;
    const context<device> second;
    const std::vector<detail::distributed::device_message> messages{{0, 800}, {0, 16}};
    const auto start = [&](const context<device>& on, detail::distributed::device_channel& channel,
                           const std::vector<char>& sent) {
      const auto device_values = to_device(on, sent);
      channel.begin(on.stream());
      for (const std::size_t m : {0, 1}) {
        detail::copy_on_device(on, device_values.data() + (m == 0 ? 0 : 800), channel.outbox(m, channel.set()),
                               m == 0 ? 800 : 16);
      }
      channel.start();
    };
    const auto expect = [&](const context<device>& on, detail::distributed::device_channel& channel,
                            const std::vector<char>& sent) {
      channel.finish();
      array<char, device> got(on, 816);
      detail::copy_on_device(on, channel.inbox(0, channel.set()), got.data(), 816);
      const auto back = to_host(on, got);
      EXPECT_TRUE(std::equal(back.begin(), back.end(), sent.begin(), sent.end()));
    };
    const auto values = [](int seed) {
      std::vector<char> made;
      for (int k = 0; k < 816; ++k) made.push_back(static_cast<char>(k * 7 + seed));
      return made;
    };
    const auto channel = detail::distributed::connect_by_nccl(comm, ctx, messages, messages);
    const auto kept = comm.kept();
    EXPECT_NE(kept, nullptr);
    for (int other = 0; other < 2; ++other) {  // created and destroyed
      const auto beside = detail::distributed::connect_by_nccl(comm, second, messages, messages);
      EXPECT_EQ(comm.kept(), kept);
      for (int round = 0; round < 3; ++round) {
        start(ctx, *channel, values(round));
        start(second, *beside, values(round + 100));
        expect(second, *beside, values(round + 100));
        expect(ctx, *channel, values(round));
      }
    }
  }
}

class refusing_resource final : public memory_resource<device> {
 public:
  void* allocate(std::size_t bytes, stream_handle) override {
    throw error(error_code::out_of_memory, "refused: " + std::to_string(bytes) + " bytes");
  }
  void deallocate(void*, std::size_t, stream_handle) noexcept override {}
};

TEST(DeviceExchange, ThrowsOnAllRanksWhereOneHasNoMemory) {
  SPARGO_TEST_NEEDS_GPU();
  on_devices([](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    if (comm.size() == 1) return;
    refusing_resource none;
    const context<device> poor({.ordinal = ctx.ordinal(), .resource = &none});
    const partition parts = even_partition(1000, comm.size());
    std::vector<std::int64_t> ghosts;
    if (comm.rank() != 1) ghosts.push_back(parts.first(1));
    try {
      const exchange<device> halo(comm, comm.rank() == 1 ? poor : ctx, parts, ghosts, 8, options);
      ADD_FAILURE() << "no error";
    } catch (const agreed_error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      EXPECT_THAT(e.what(), HasSubstr("refused"));
    }
  });
}

TEST(DeviceExchange, EndsWhereARankFails) {  // between start and finish: no wait lasts forever
  SPARGO_TEST_NEEDS_GPU();
  if (test::is_launched()) GTEST_SKIP() << "processes end together";
  for (const device_link link : {device_link::peer, device_link::host_memory}) {
    EXPECT_THROW(run_team(4,
                          [&](const communicator& comm) {
                            const context<device> ctx = test::device_of(comm);
                            const partition parts = even_partition(4096, comm.size());
                            std::vector<std::int64_t> ghosts;
                            for (std::int64_t v = 0; v < 4096; ++v) {
                              if (parts.owner(v) != comm.rank()) ghosts.push_back(v);
                            }
                            exchange<device> halo(comm, ctx, parts, ghosts, 8, {.link = link});
                            array<double, device> own(ctx, parts.count(comm.rank()));
                            array<double, device> got(ctx, std::ssize(ghosts));
                            for (int round = 0; round < 5; ++round) {
                              halo.start(std::as_const(own).view());
                              if (round == 3 && comm.rank() == 2) throw error(error_code::io, "spoilt");
                              halo.finish(got.view());
                            }
                          }),
                 error);
  }
  context<device>().synchronize();  // the device still works
}

// --- Products ---

double x_of(std::int64_t column) { return 1.0 / (1.0 + static_cast<double>(column % 1009)) - 0.25; }

std::vector<double> multiply(const communicator& comm, const context<device>& ctx, const entries& share,
                             const exchange_options& options) {
  const context<host> cpu({.threads = 1});
  const distributed_matrix<double> a(comm, cpu, share.view());
  const distributed_spmv_plan<double, device> plan(comm, ctx, a, options, product_split::rows);
  std::vector<double> x(static_cast<std::size_t>(plan.local_columns()), std::nan(""));
  for (std::int64_t i = 0; i < plan.own_columns(); ++i) {
    x[static_cast<std::size_t>(i)] = x_of(a.column_parts().first(comm.rank()) + i);
  }
  auto device_x = to_device(ctx, x);
  const std::vector<double> nothing(static_cast<std::size_t>(plan.own_rows()), std::nan(""));
  auto y = to_device(ctx, nothing);
  for (int k = 0; k < 5; ++k) plan.run(2.0, device_x.view(), 0.0, y.view());
  plan.run(-0.5, device_x.view(), 0.5, y.view());
  EXPECT_EQ(comm.all_reduce(plan.own_rows(), reduction::sum), a.rows());
  return comm.all_gather(span<const double, host>(to_host(ctx, y)));
}

class DeviceProduct : public testing::TestWithParam<const char*> {};

TEST_P(DeviceProduct, HasTheBitsOfOneDevice) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 1});
  const context<device> one;
  const auto all = generate<double, std::int64_t>(cpu, GetParam());
  const std::vector<double> expected = multiply(communicator(), one, all, {});
  const auto a = to_csr<std::int64_t>(cpu, all.view());
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < a.rows(); ++row) {  // by definition
    double sum = 0;
    double size = 0;
    longest = std::max(longest, a.offsets()[row + 1] - a.offsets()[row]);
    for (std::int64_t e = a.offsets()[row]; e < a.offsets()[row + 1]; ++e) {
      sum += a.values()[e] * x_of(a.indices()[e]);
      size += std::abs(a.values()[e] * x_of(a.indices()[e]));
    }
    const auto terms = static_cast<double>(a.offsets()[row + 1] - a.offsets()[row]);
    ASSERT_NEAR(expected[static_cast<std::size_t>(row)], 0.5 * sum, (terms + 4) * 3e-16 * size) << "row " << row;
  }
  if (longest <= 32) {
    std::vector<double> x;
    for (std::int64_t j = 0; j < a.cols(); ++j) x.push_back(x_of(j));
    const auto device_a = to_device(one, a);
    const auto device_x = to_device(one, x);
    array<double, device> y(one, a.rows());
    const spmv_plan plan(one, device_a, {.algorithm = spmv_algorithm::row_per_thread});
    plan.run(2.0, device_x, 0.0, y);
    plan.run(-0.5, device_x, 0.5, y);
    const auto bits = to_host(one, y);
    EXPECT_EQ(std::vector<double>(bits.begin(), bits.end()), expected);
  }
  on_devices([&](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    const entries share = generate_part<double, std::int64_t>(cpu, GetParam(), comm.rank(), comm.size());
    EXPECT_EQ(multiply(comm, ctx, share, options), expected);
  });
}

INSTANTIATE_TEST_SUITE_P(, DeviceProduct,
                         testing::Values("gen:laplacian2d:n=60", "gen:uniform:rows=3000,degree=9",
                                         "gen:rmat:scale=13,degree=16", "gen:uniform:rows=700,cols=2100,degree=3",
                                         "gen:uniform:rows=2100,cols=50,degree=3", "gen:powerlaw:rows=4000,degree=5",
                                         "gen:banded:rows=2000,degree=47", "gen:star:n=9000", "gen:path:n=130",
                                         "gen:path:n=1"));

TEST(DeviceProducts, OverlapWhatNeedsNothingOfOthers) {
  SPARGO_TEST_NEEDS_GPU();
  on_devices([](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    const context<host> cpu({.threads = 1});
    const distributed_matrix<double> a(
        comm, cpu, generate_part<double, std::int64_t>(cpu, "gen:laplacian2d:n=128", comm.rank(), comm.size()).view());
    const distributed_spmv_plan<double, device> plan(comm, ctx, a, options);
    const int neighbours = comm.size() == 1 ? 0 : comm.rank() == 0 || comm.rank() == comm.size() - 1 ? 1 : 2;
    EXPECT_EQ(plan.ghosts(), 128 * neighbours);
    EXPECT_EQ(plan.interior_rows(), plan.own_rows() - 128 * neighbours);
    const traffic before = comm.sent();
    array<double, device> x(ctx, plan.local_columns());
    array<double, device> y(ctx, plan.own_rows());
    fill_zero(ctx, x.view());
    for (int k = 0; k < 4; ++k) plan.run(1.0, x.view(), 0.0, y.view());
    EXPECT_GE(comm.sent().bytes - before.bytes, 4 * 8 * 128 * neighbours);
    EXPECT_LE(comm.sent().bytes - before.bytes, 4 * (8 * 128 + 1) * neighbours);
  });
}

TEST(DeviceCg, SolvesTheLaplaceEquation) {
  SPARGO_TEST_NEEDS_GPU();
  on_devices([](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    const context<host> cpu({.threads = 1});
    const distributed_matrix<double> a(
        comm, cpu, generate_part<double, std::int64_t>(cpu, "gen:laplacian2d:n=40", comm.rank(), comm.size()).view());
    const distributed_spmv_plan<double, device> plan(comm, ctx, a, options);
    std::vector<double> solution(static_cast<std::size_t>(plan.local_columns()));
    for (std::int64_t i = 0; i < plan.own_rows(); ++i) {
      solution[static_cast<std::size_t>(i)] = x_of(a.row_parts().first(comm.rank()) + i);
    }
    auto device_x = to_device(ctx, solution);
    array<double, device> b(ctx, plan.own_rows());
    plan.run(1.0, device_x.view(), 0.0, b.view());
    array<double, device> x(ctx, plan.own_rows());
    fill_zero(ctx, x.view());
    const cg_result found = distributed_cg(plan, std::as_const(b).view(), x.view(), {.tolerance = 1e-12});
    EXPECT_TRUE(found.converged);
    EXPECT_LT(found.iterations, 250);
    const auto back = to_host(ctx, x);
    for (std::int64_t i = 0; i < back.size(); ++i) ASSERT_NEAR(back[i], solution[static_cast<std::size_t>(i)], 1e-9);
  });
}

// --- PageRank ---

class DeviceRanks : public testing::TestWithParam<const char*> {};

TEST_P(DeviceRanks, AreThoseOfTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 1});
  for (const direction_kind direction : {direction_kind::directed, direction_kind::undirected}) {
    for (const pagerank_dangling dangling : {pagerank_dangling::uniform, pagerank_dangling::drop}) {
      pagerank_options options{.damping = 0.8, .iterations = 7, .dangling = dangling};
      const auto all = generate<pattern, std::int64_t>(cpu, GetParam());
      const distributed_graph<std::int32_t> whole(communicator(), cpu, all.view(), {direction, true});
      const auto expected = distributed_pagerank(communicator(), cpu, whole, options);
      on_devices([&](const communicator& comm, const context<device>& ctx, const exchange_options& links) {
        const auto share = generate_part<pattern, std::int64_t>(cpu, GetParam(), comm.rank(), comm.size());
        const distributed_graph<std::int32_t> g(comm, cpu, share.view(), {direction, true});
        distributed_pagerank_plan<std::int32_t, device> plan(comm, ctx, g, options, links);
        plan.run();
        const std::vector<double> ranks = comm.all_gather(span<const double, host>(to_host(ctx, plan.ranks())));
        ASSERT_EQ(std::ssize(ranks), expected.ranks.size());
        for (std::size_t v = 0; v < ranks.size(); ++v) {
          const double wanted = expected.ranks[static_cast<std::int64_t>(v)];
          ASSERT_NEAR(ranks[v], wanted, 1e-12 * wanted);
        }
        EXPECT_EQ(plan.iterations(), 7);
        EXPECT_NEAR(plan.residual(), expected.residual, 1e-12);
        plan.run();
        EXPECT_EQ(comm.all_gather(span<const double, host>(to_host(ctx, plan.ranks()))), ranks);
        pagerank_options to_an_end = options;
        to_an_end.iterations = 0;
        to_an_end.tolerance = 1e-9;
        distributed_pagerank_plan<std::int32_t, device> ending(comm, ctx, g, to_an_end, links);
        ending.run();
        EXPECT_TRUE(ending.converged());
        for (const pagerank_copy copy : {pagerank_copy::blocked, pagerank_copy::binned}) {
          if (all.nnz() < 1000 || std::string(GetParam()).starts_with("gen:star"))
            break;  // the row is too long for bins
          SCOPED_TRACE(to_string(copy));
          pagerank_options from_copy = options;
          from_copy.copy = copy;
          distributed_pagerank_plan<std::int32_t, device> copied(comm, ctx, g, from_copy, links);
          for (int run = 0; run < 2; ++run) {
            copied.run();
            const std::vector<double> those = comm.all_gather(span<const double, host>(to_host(ctx, copied.ranks())));
            for (std::size_t v = 0; v < those.size(); ++v) ASSERT_NEAR(those[v], ranks[v], 1e-12 * ranks[v]);
            EXPECT_NEAR(copied.residual(), expected.residual, 1e-12);
          }
        }
        pagerank_result<double, host> found{to_host(ctx, ending.ranks()), ending.iterations(), ending.residual(),
                                            ending.converged(), pagerank_algorithm::jacobi};
        EXPECT_EQ(check_pagerank(comm, cpu, g, found, to_an_end), "");
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, DeviceRanks,
                         testing::Values("gen:rmat:scale=13,degree=16", "gen:uniform:rows=1500,degree=2",
                                         "gen:grid2d:n=30,m=50", "gen:star:n=9000", "gen:path:n=1"));

// --- Searches ---

class DeviceSearch : public testing::TestWithParam<const char*> {};

TEST_P(DeviceSearch, FindsTheLevelsOfTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<host> cpu({.threads = 1});
  const auto all = generate<pattern, std::int64_t>(cpu, GetParam());
  const auto search_on = [&]<class I>(I, direction_kind direction, bool in_edges) {
    const distributed_graph<I> whole(communicator(), cpu, all.view(), {direction, in_edges});
    const std::int64_t n = whole.vertices();
    const std::vector<std::int64_t> sources{0, n - 1, n / 3, 0};
    std::vector<std::vector<std::int32_t>> expected;
    distributed_bfs_plan<I> host_plan(communicator(), cpu, whole);
    for (const std::int64_t source : sources) {
      host_plan.run(source);
      expected.emplace_back(host_plan.levels().begin(), host_plan.levels().end());
    }
    on_devices([&](const communicator& comm, const context<device>& ctx, const exchange_options& links) {
      const auto share = generate_part<pattern, std::int64_t>(cpu, GetParam(), comm.rank(), comm.size());
      const distributed_graph<I> g(comm, cpu, share.view(), {direction, in_edges});
      const distributed_graph<I, device> device_graph(comm, ctx, g);
      for (const bfs_direction way : {bfs_direction::automatic, bfs_direction::push, bfs_direction::pull}) {
        const bool can_pull = in_edges || direction == direction_kind::undirected;
        if (way == bfs_direction::pull && !can_pull) continue;
        EXPECT_THROW((distributed_bfs_plan<I, device>(comm, ctx, g, {way, bfs_parents::smallest}, links)),
                     agreed_error);
        distributed_bfs_plan<I, device> plan(comm, ctx, g, {way}, links);
        for (std::size_t k = 0; k < sources.size(); ++k) {
          plan.run(sources[k]);
          const auto levels = to_host(ctx, plan.levels());
          const auto parents = to_host(ctx, plan.parents());
          ASSERT_EQ(comm.all_gather(span<const std::int32_t, host>(levels)), expected[k]);
          EXPECT_EQ(check_bfs<I>(comm, cpu, g, sources[k], levels.view(), parents.view()), "");
          EXPECT_EQ(check_bfs<I>(comm, ctx, device_graph, sources[k], plan.levels(), plan.parents()), "");
          EXPECT_EQ(plan.reached(),
                    std::count_if(expected[k].begin(), expected[k].end(), [](int l) { return l >= 0; }));
          if (way == bfs_direction::pull) {
            EXPECT_EQ(plan.pulled_levels(), std::ssize(plan.level_sizes()));
          }
        }
      }
    });
  };
  search_on(std::int32_t{}, direction_kind::undirected, false);
  search_on(std::int32_t{}, direction_kind::directed, true);
  search_on(std::int32_t{}, direction_kind::directed, false);
  search_on(std::int64_t{}, direction_kind::undirected, false);
}

INSTANTIATE_TEST_SUITE_P(, DeviceSearch,
                         testing::Values("gen:rmat:scale=13,degree=16", "gen:uniform:rows=1500,degree=2",
                                         "gen:grid2d:n=12,m=20", "gen:star:n=40000", "gen:complete:n=140",
                                         "gen:path:n=1"));

TEST(DeviceGraphs, RefuseWhatTheyCannotDo) {
  SPARGO_TEST_NEEDS_GPU();
  on_devices([](const communicator& comm, const context<device>& ctx, const exchange_options& links) {
    const context<host> cpu({.threads = 1});
    const auto share = generate_part<pattern, std::int64_t>(cpu, "gen:path:n=300", comm.rank(), comm.size());
    const distributed_graph<std::int32_t> g(comm, cpu, share.view());
    using search = distributed_bfs_plan<std::int32_t, device>;
    EXPECT_THROW(search(comm, ctx, g, {bfs_direction::pull}, links), agreed_error);
    EXPECT_THROW((distributed_pagerank_plan<std::int32_t, device>(comm, ctx, g, {}, links)), agreed_error);
    EXPECT_THROW((distributed_components_plan<std::int32_t, device>(comm, ctx, g, links)), agreed_error);
    search plan(comm, ctx, g, {}, links);
    EXPECT_THROW(plan.run(300), error);
    plan.run(299);
    EXPECT_GE(plan.reached(), 1);
  });
}

}  // namespace
}  // namespace spargo
