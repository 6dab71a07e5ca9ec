// Ranks with a device each: exchanges by every way that there is. With one GPU all ranks are on it.
#include "dist/devices.hpp"
#include "dist/device_channel.hpp"

#include <gmock/gmock.h>

namespace spargo {
namespace {

using test::on_devices;
using testing::HasSubstr;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// --- Exchanges ---

// Word w of an element in a round.
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
  for (int round = 0; round < rounds; ++round) {  // one after the other, none waited for
    for (int k = 0; k < 20 && (round + comm.rank()) % 3 == 0; ++k) fill_zero(ctx, ballast.view());  // some are late
    halo.start(std::as_const(given[static_cast<std::size_t>(round)]).view());
    halo.finish(got[static_cast<std::size_t>(round)].view());
    fill_zero(ctx, given[static_cast<std::size_t>(round)].view());  // allowed from here on
  }
  for (int round = 0; round < rounds; ++round) {
    const auto there = to_host(ctx, got[static_cast<std::size_t>(round)]);
    for (std::int64_t k = 0; k < there.size(); ++k) {
      ASSERT_EQ(there[k], word_of<T>(ghosts[static_cast<std::size_t>(k / words)], k % words, round))
          << "round " << round << ", ghost " << k / words;
    }
  }
}

TEST(DeviceExchange, BringsWhatOthersOwn) {
  SPARGO_TEST_NEEDS_GPU();
  on_devices([](const communicator& comm, const context<device>& ctx, const exchange_options& options) {
    for (const std::int64_t size : {0, 100, 5000}) {  // parts without elements, too
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
    expect_ghosts<std::uint64_t>(comm, ctx, options, parts, ghosts, 2);
  });
}

TEST(DeviceExchange, TellsHowItGoes) {
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

// What can be seen of NCCL with one GPU: it loads, and a rank sends to itself.
TEST(DeviceExchange, SendsToItselfByNccl) {
  SPARGO_TEST_NEEDS_GPU();
  if (!detail::dist::why_no_nccl().empty()) GTEST_SKIP() << detail::dist::why_no_nccl();
  const communicator comm;
  const context<device> ctx;
  const std::vector<detail::dist::device_message> messages{{0, 800}, {0, 16}};
  const auto channel = detail::dist::connect_by_nccl(comm, ctx, messages, messages);
  for (int round = 0; round < 3; ++round) {
    std::vector<char> sent;
    for (int k = 0; k < 816; ++k) sent.push_back(static_cast<char>(k * 7 + round));
    const auto there = to_device(ctx, sent);
    channel->begin(ctx.stream());
    for (const std::size_t m : {0, 1}) {
      detail::copy_on_device(ctx, there.data() + (m == 0 ? 0 : 800), channel->outbox(m, channel->set()),
                             m == 0 ? 800 : 16);
    }
    channel->start();
    channel->finish();
    array<char, device> got(ctx, 816);
    detail::copy_on_device(ctx, channel->inbox(0, channel->set()), got.data(), 816);
    const auto back = to_host(ctx, got);
    EXPECT_TRUE(std::equal(back.begin(), back.end(), sent.begin(), sent.end()));
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

TEST(DeviceExchange, EndsWhereARankFails) {  // between start and finish: nobody waits for ever
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
  context<device>().synchronize();  // the device is as it was
}

}  // namespace
}  // namespace spargo
