// Collective functions, agreement on errors, and ranks that fail or end while others wait.
#include "distributed/ranks.hpp"

#include <spargo/distributed/exchange.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace spargo {
namespace {

using test::on_ranks;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

TEST(Communicator, GathersInTheOrderOfRanks) {
  on_ranks([](const communicator& comm) {
    std::vector<std::int64_t> expected;
    std::vector<std::int64_t> some(static_cast<std::size_t>(comm.rank() % 3), comm.rank());  // nothing from some ranks
    for (int r = 0; r < comm.size(); ++r) expected.insert(expected.end(), static_cast<std::size_t>(r % 3), r);
    EXPECT_THAT(comm.all_gather(span<const std::int64_t, host>(some)), ElementsAreArray(expected));
    std::vector<int> ranks(static_cast<std::size_t>(comm.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    EXPECT_EQ(comm.all_gather(comm.rank()), ranks);
    comm.barrier();
  });
}

TEST(Communicator, DealsAnyNumberToEachRank) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> sent;
    for (int r = 0; r < comm.size(); ++r) {  // rank s sends r + 1 values 100 s + r to rank r
      counts.push_back((comm.rank() + r) % 3);
      sent.insert(sent.end(), static_cast<std::size_t>(counts.back()), 100 * comm.rank() + r);
    }
    std::vector<std::int64_t> received;
    const auto got = comm.all_to_all<std::int64_t>(ctx, sent, counts, received);
    std::vector<std::int64_t> expected;
    for (int s = 0; s < comm.size(); ++s) {
      EXPECT_EQ(received[static_cast<std::size_t>(s)], (s + comm.rank()) % 3);
      expected.insert(expected.end(), static_cast<std::size_t>((s + comm.rank()) % 3), 100 * s + comm.rank());
    }
    EXPECT_EQ(std::vector<std::int64_t>(got.begin(), got.end()), expected);
  });
}

// Rank 0 has a large number and the last rank its negative, the others 0.1: any other order gives other bits.
TEST(Communicator, SumsInTheOrderOfRanksWhateverTheSize) {
  on_ranks([](const communicator& comm) {
    const auto value = [&](int rank, std::size_t i) {
      return rank == 0 ? 1e17 : rank == comm.size() - 1 ? -1e17 : 0.1 + static_cast<double>(i) + rank;
    };
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{512}, std::size_t{513}, std::size_t{5000}}) {
      std::vector<double> values(size);
      std::vector<double> expected(size);
      for (std::size_t i = 0; i < size; ++i) {
        values[i] = value(comm.rank(), i);
        expected[i] = value(0, i);
        for (int r = 1; r < comm.size(); ++r) expected[i] += value(r, i);
      }
      comm.reduce_in_place(span<double, host>(values), reduction::sum);
      EXPECT_EQ(values, expected);
    }
    EXPECT_EQ(comm.all_reduce(std::int64_t{7} - comm.rank(), reduction::min), 8 - comm.size());
    EXPECT_EQ(comm.all_reduce(comm.rank() * 1.5, reduction::max), 1.5 * (comm.size() - 1));
  });
}

TEST(Communicator, AgreesOnTheFirstErrorInAFile) {
  on_ranks([](const communicator& comm) {
    const int last = comm.size() - 1;
    comm.agree_on([] {});
    EXPECT_EQ(comm.agree_on([&] { return comm.rank() + 1; }), comm.rank() + 1);
    try {
      comm.agree_on([&] {  // later ranks fail on earlier lines; even ranks succeed
        if (comm.rank() % 2 == 1 || comm.rank() == last) {
          throw error(error_code::parse, {"a:b.mtx", 1000 - comm.rank(), 7},
                      "wrong: on rank " + std::to_string(comm.rank()));
        }
      });
      FAIL() << "no error";
    } catch (const agreed_error& e) {
      EXPECT_EQ(e.code(), error_code::parse);
      EXPECT_EQ(e.position().line, 1000 - last);
      EXPECT_EQ(e.position().column, 7);
      EXPECT_EQ(e.what(), "a:b.mtx:" + std::to_string(1000 - last) + ":7: wrong: on rank " + std::to_string(last));
    }
    try {
      comm.agree_on([&]() -> int {
        if (comm.rank() == last) throw std::bad_alloc();
        return 1;
      });
      FAIL() << "no error";
    } catch (const agreed_error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
      EXPECT_STREQ(e.what(), "host memory ran out");
    }
    EXPECT_EQ(comm.all_gather(1).size(), static_cast<std::size_t>(comm.size()));  // all continue together
  });
}

TEST(Communicator, CountsWhatItSends) {
  on_ranks([](const communicator& comm) {
    const traffic before = comm.sent();
    (void)comm.all_gather(std::int64_t{1});
    EXPECT_EQ(comm.sent().bytes - before.bytes, 8 * (comm.size() - 1));
    EXPECT_GE(comm.sent().seconds, before.seconds);
  });
}

// A part's collectives involve its ranks only: beside other parts, in nested parts, and before those of all.
TEST(Communicator, SplitsIntoParts) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    const traffic before = comm.sent();
    const communicator part = comm.split(comm.rank() % 2);
    EXPECT_EQ(part.size(), (comm.size() + 1 - comm.rank() % 2) / 2);
    EXPECT_EQ(part.rank(), comm.rank() / 2);
    for (int round = 0; round < (comm.rank() % 2 == 0 ? 50 : 20); ++round) {
      std::vector<int> expected;
      for (int r = comm.rank() % 2; r < comm.size(); r += 2) expected.push_back(100 * r + round);
      ASSERT_EQ(part.all_gather(100 * comm.rank() + round), expected);
    }
    EXPECT_EQ(part.all_reduce(comm.rank(), reduction::max), comm.size() - 1 - (comm.size() - 1 - comm.rank()) % 2);
    EXPECT_EQ(comm.sent().bytes - before.bytes > 0, part.size() > 1);  // counted as the whole communicator's
    EXPECT_EQ(comm.sent().bytes, part.sent().bytes);

    std::vector<std::int64_t> counts(static_cast<std::size_t>(part.size()), 1);
    std::vector<std::int64_t> sent(counts.size(), comm.rank());
    std::vector<std::int64_t> received;
    const auto got = part.all_to_all<std::int64_t>(ctx, sent, counts, received);
    for (std::int64_t k = 0; k < got.size(); ++k) EXPECT_EQ(got[k], 2 * k + comm.rank() % 2);

    partition owners;  // each rank receives one element of a neighbour
    for (int r = 0; r < part.size(); ++r) owners.offsets.push_back(128 * (r + 1));
    owners.offsets.erase(owners.offsets.begin());
    const int next = (part.rank() + 1) % part.size();
    const std::vector<std::int64_t> ghosts(part.size() > 1 ? 1 : 0, 128 * next + 5);
    exchange<host> pair(part, ctx, owners, ghosts, 8);
    const std::vector<double> own(128, comm.rank());
    std::vector<double> ghost(ghosts.size());
    pair.start(span<const double, host>(own));
    (void)comm.all_gather(1);  // two parts at a time
    pair.finish(span<double, host>(ghost));
    if (!ghost.empty()) {
      EXPECT_EQ(ghost[0], 2 * next + comm.rank() % 2);
    }

    const communicator single = part.split(part.rank());
    EXPECT_EQ(single.size(), 1);
    EXPECT_EQ(single.all_gather(7), std::vector<int>{7});
    const communicator again = part.split(0);
    EXPECT_EQ(again.all_gather(comm.rank()), part.all_gather(comm.rank()));
    EXPECT_EQ(comm.all_gather(1).size(), static_cast<std::size_t>(comm.size()));
    EXPECT_THROW((void)comm.split(-1), error);
  });
}

TEST(Exchange, BringsWhatOthersOwn) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx = test::context_of(comm);
    // Parts 1, 4, ... are empty; each rank receives every third remote element.
    partition owners;
    owners.offsets = {0};
    for (int r = 0; r < comm.size(); ++r) owners.offsets.push_back(owners.offsets.back() + (r % 3 == 1 ? 0 : 128 + r));
    std::vector<std::int64_t> ghosts;
    for (std::int64_t i = comm.rank() % 3; i < owners.size(); i += 3) {
      if (owners.owner(i) != comm.rank()) ghosts.push_back(i);
    }
    // Any order within an owner: two ranks of three reverse it.
    for (auto first = ghosts.begin(); comm.rank() % 3 != 0 && first != ghosts.end();) {
      const auto last =
          std::find_if(first, ghosts.end(), [&](auto i) { return owners.owner(i) != owners.owner(*first); });
      std::reverse(first, last);
      first = last;
    }
    exchange<host> wide(comm, ctx, owners, ghosts, 8);
    exchange<host> narrow(comm, ctx, owners, ghosts, 4);
    struct odd {
      std::int32_t a[3];
    };
    exchange<host> other(comm, ctx, owners, ghosts, sizeof(odd));
    std::vector<double> own(static_cast<std::size_t>(owners.count(comm.rank())));
    std::vector<double> got(ghosts.size());
    std::vector<std::int32_t> own4(own.size());
    std::vector<std::int32_t> got4(ghosts.size());
    std::vector<odd> own12(own.size());
    std::vector<odd> got12(ghosts.size());
    for (int round = 0; round < 20; ++round) {
      for (std::size_t i = 0; i < own.size(); ++i) {
        const auto element = owners.first(comm.rank()) + static_cast<std::int64_t>(i);
        own[i] = static_cast<double>(element * 100 + round);
        own4[i] = static_cast<std::int32_t>(element * 100 - round);
        own12[i] = {{round, 0, static_cast<std::int32_t>(element)}};
      }
      wide.start(span<const double, host>(own));
      narrow.start(span<const std::int32_t, host>(own4));
      other.start(span<const odd, host>(own12));
      std::fill(own.begin(), own.end(), -1.0);
      other.finish(span<odd, host>(got12));
      narrow.finish(span<std::int32_t, host>(got4));
      wide.finish(span<double, host>(got));
      for (std::size_t g = 0; g < ghosts.size(); ++g) {
        ASSERT_EQ(got[g], static_cast<double>(ghosts[g] * 100 + round));
        ASSERT_EQ(got4[g], ghosts[g] * 100 - round);
        ASSERT_EQ(got12[g].a[0], round);
        ASSERT_EQ(got12[g].a[2], ghosts[g]);
      }
    }
  });
}

// Nearly all ranks get half of the remote elements, for several packing threads; two values per element.
TEST(Exchange, BringsNearlyAllElements) {
  on_ranks([](const communicator& comm) {
    const context<host> ctx({.threads = 1 + comm.rank() % 3});
    const partition owners = even_partition(100000 * comm.size(), comm.size());
    for (const std::int64_t gap : {2, 17, 1000, 50000}) {
      std::vector<std::int64_t> ghosts;
      for (std::int64_t i = 0; i < owners.size(); ++i) {
        if (owners.owner(i) != comm.rank() && i % gap != 1) ghosts.push_back(i);
      }
      exchange<host> wide(comm, ctx, owners, ghosts, 8);
      exchange<host> pairs(comm, ctx, owners, ghosts, 16);
      std::vector<double> own;
      std::vector<double> own2;
      for (std::int64_t i = owners.first(comm.rank()); i < owners.last(comm.rank()); ++i) {
        own.push_back(static_cast<double>(i));
        own2.insert(own2.end(), {static_cast<double>(i), -static_cast<double>(i)});
      }
      std::vector<double> got(ghosts.size());
      std::vector<double> got2(2 * ghosts.size());
      wide.start(span<const double, host>(own));
      pairs.start(span<const double, host>(own2));
      pairs.finish(span<double, host>(got2));
      wide.finish(span<double, host>(got));
      for (std::size_t g = 0; g < ghosts.size(); ++g) {
        ASSERT_EQ(got[g], static_cast<double>(ghosts[g])) << gap;
        ASSERT_EQ(got2[2 * g], got[g]) << gap;
        ASSERT_EQ(got2[2 * g + 1], -got[g]) << gap;
      }
      EXPECT_EQ(comm.all_reduce(wide.sent(), reduction::sum), comm.all_reduce(std::ssize(ghosts), reduction::sum));
    }
  });
}

TEST(Partition, CutsAtMultiplesOf128ByEntriesAndRows) {
  EXPECT_THAT(even_partition(1000, 3).offsets, ElementsAre(0, 384, 768, 1000));
  EXPECT_THAT(even_partition(100, 3).offsets, ElementsAre(0, 100, 100, 100));
  EXPECT_THAT(even_partition(0, 2).offsets, ElementsAre(0, 0, 0));
  on_ranks([](const communicator& comm) {
    // All entries are in the first block: it becomes the first part, and the other ranks get the other rows.
    std::vector<std::int64_t> entries(10);
    entries[0] = 100000;
    const partition hub = balanced_partition(comm, 1280, entries);
    EXPECT_EQ(hub.parts(), comm.size());
    EXPECT_EQ(hub.size(), 1280);
    if (comm.size() > 1) {
      EXPECT_EQ(std::count(hub.offsets.begin(), hub.offsets.end(), 128) +
                    std::count(hub.offsets.begin(), hub.offsets.end(), 0),
                comm.size());
    }
    const partition alike = balanced_partition(comm, 128 * 420, std::vector<std::int64_t>(420, 5));
    for (int r = 0; r < comm.size(); ++r) {
      EXPECT_EQ(alike.first(r) % 128, 0);
      EXPECT_NEAR(static_cast<double>(alike.count(r)), 128.0 * 420 / comm.size(), 128);
    }
    for (std::int64_t i = 0; i < alike.size(); i += 77) {
      const int owner = alike.owner(i);
      EXPECT_TRUE(alike.first(owner) <= i && i < alike.last(owner));
    }
  });
}

// --- Teams whose ranks fail -----------------------------------------------------------------------------------------

class TeamFailure : public testing::Test {
 protected:
  void SetUp() override {
    if (test::is_launched()) GTEST_SKIP() << "of threads only";
  }
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  void TearDown() override { EXPECT_LT(std::chrono::steady_clock::now() - start_, std::chrono::seconds(5)); }
};

TEST_F(TeamFailure, AnExceptionOfOneRankEndsAll) {
  for (const int thrower : {0, 2}) {
    try {
      run_team(4, [&](const communicator& comm) {
        if (comm.rank() == thrower) throw std::runtime_error("rank " + std::to_string(thrower));
        for (;;) (void)comm.all_gather(1);
      });
      FAIL() << "no error";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "rank " + std::to_string(thrower));
    }
  }
}

TEST_F(TeamFailure, ARankThatEndsLeavesNobodyWaiting) {
  EXPECT_THROW(run_team(3,
                        [](const communicator& comm) {
                          if (comm.rank() != 1) comm.barrier();
                        }),
               peer_failed);
}

TEST_F(TeamFailure, AnExchangeWhoseOtherSideIsGoneEnds) {
  EXPECT_THROW(run_team(2,
                        [](const communicator& comm) {
                          const context<host> ctx({.threads = 1});
                          partition owners;
                          owners.offsets = {0, 128, 256};
                          const std::vector<std::int64_t> ghosts(1, comm.rank() == 0 ? 200 : 3);
                          exchange<host> all(comm, ctx, owners, ghosts, 8);
                          std::vector<double> own(128);
                          std::vector<double> got(1);
                          if (comm.rank() == 1) return;
                          all.start(span<const double, host>(own));
                          all.finish(span<double, host>(got));
                        }),
               peer_failed);
}

// A failure in one part reaches ranks that wait in another part, or in the whole communicator.
TEST_F(TeamFailure, AnExceptionInOnePartEndsAll) {
  for (const int thrower : {0, 3, 5}) {
    try {
      run_team(6, [&](const communicator& comm) {
        const communicator part = comm.split(comm.rank() / 2);
        if (comm.rank() == thrower) throw std::runtime_error("rank " + std::to_string(thrower));
        if (comm.rank() == 2) comm.barrier();
        for (;;) (void)part.all_gather(1);
      });
      FAIL() << "no error";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "rank " + std::to_string(thrower));
    }
  }
  EXPECT_THROW(run_team(4,
                        [](const communicator& comm) {
                          const communicator part = comm.split(comm.rank() % 2);
                          if (comm.rank() != 3) part.barrier();
                        }),
               peer_failed);
}

// One part may end while another still communicates.
TEST_F(TeamFailure, PartsMayEndBeforeOthers) {
  run_team(4, [](const communicator& comm) {
    const communicator part = comm.split(comm.rank() % 2);
    for (int round = 0; round < (comm.rank() % 2 == 0 ? 1 : 500); ++round) ASSERT_EQ(part.all_gather(1).size(), 2);
  });
}

// Ranks 0 and 1 end before 2 and 3: that is no failure.
TEST_F(TeamFailure, RanksMayEndWhileOthersStillTalk) {
  run_team(4, [](const communicator& comm) {
    const context<host> ctx({.threads = 1});
    partition owners;
    owners.offsets = {0, 128, 256, 384, 512};
    const std::vector<std::int64_t> ghosts(1, (comm.rank() ^ 1) * 128);
    exchange<host> pair(comm, ctx, owners, ghosts, 8);
    const std::vector<double> own(128, comm.rank());
    std::vector<double> got(1);
    for (int round = 0; round < (comm.rank() < 2 ? 1 : 200); ++round) {
      pair.start(span<const double, host>(own));
      pair.finish(span<double, host>(got));
      ASSERT_EQ(got[0], comm.rank() ^ 1);
    }
  });
}

// Started by tests/apps/ranks_app_test.cpp, on processes.
TEST(Processes, DISABLED_WaitForOneThatExits) {
  const communicator& all = test::world();
  ASSERT_GT(all.size(), 1);
  all.barrier();
  if (all.rank() == 1) std::_Exit(7);
  for (;;) all.barrier();
}

TEST(Launcher, IsKnownByItsEnvironment) {
  if (test::is_launched()) GTEST_SKIP() << "under a launcher";
  EXPECT_EQ(query_launcher().size, 1);
  EXPECT_EQ(communicator::world().size(), 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);  // mpirun -n 1 needs no MPI
  EXPECT_EQ(communicator::world().size(), 1);
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ::setenv("PMI_SIZE", "3", 1);
  ::setenv("PMI_RANK", "2", 1);
  EXPECT_EQ(query_launcher().size, 3);
  EXPECT_EQ(query_launcher().rank, 2);
  EXPECT_EQ(query_launcher().variable, "PMI_SIZE");
  ::unsetenv("PMI_SIZE");
  ::unsetenv("PMI_RANK");
}

}  // namespace
}  // namespace spargo
