// Work enqueued before and after a stream_order's calls runs in that order on otherwise unrelated streams.
#include <spargo/core/array.hpp>
#include <spargo/core/stream_order.hpp>

#include "support/suites.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spargo {
namespace {

constexpr std::int64_t elements = std::int64_t{1} << 24;

// Repeated copies that keep the stream busy for some milliseconds.
void keep_busy(const context<device>& ctx, array<std::int32_t, device>& a, array<std::int32_t, device>& b) {
  for (int i = 0; i < 50; ++i) {
    copy<std::int32_t>(ctx, a.view(), b.view());
    copy<std::int32_t>(ctx, b.view(), a.view());
  }
}

class StreamOrder : public test::device_suite {};

// After `order`, `second` copies what `first` wrote before, not the old contents.
template <class Order>
void expect_ordered(const context<device>& first, const context<device>& second, const Order& order) {
  array<std::int32_t, device> scratch(first, elements);
  array<std::int32_t, device> late(first, elements);
  array<std::int32_t, device> seen(second, elements);
  second.synchronize();
  for (std::int32_t turn = 0; turn < 5; ++turn) {
    const std::vector<std::int32_t> wanted(static_cast<std::size_t>(elements), turn + 1);
    auto from = to_device(first, wanted);
    fill_zero(first, late);
    first.synchronize();
    keep_busy(first, from, scratch);
    copy<std::int32_t>(first, from.view(), late.view());
    order();
    copy<std::int32_t>(second, late.view(), seen.view());
    const auto found = to_host(second, seen);
    EXPECT_TRUE(std::all_of(found.begin(), found.end(), [&](std::int32_t x) { return x == turn + 1; }));
    first.synchronize();
  }
}

TEST_F(StreamOrder, AfterWaitsForTheOtherStream) {
  const context<device> ours;
  const context<device> theirs;
  stream_order order(ours);
  expect_ordered(theirs, ours, [&] { order.after(theirs.stream()); });
}

TEST_F(StreamOrder, BeforeMakesTheOtherStreamWait) {
  const context<device> ours;
  const context<device> theirs;
  stream_order order(ours);
  expect_ordered(ours, theirs, [&] { order.before(theirs.stream()); });
}

TEST_F(StreamOrder, OfItsOwnStreamThereIsNothingToDo) {
  const context<device> ctx;
  stream_order order(ctx);
  order.after(ctx.stream());
  order.before(ctx.stream());
  stream_order moved(std::move(order));
  moved.after(nullptr);  // the legacy default stream
  moved.before(nullptr);
  ctx.synchronize();
}

TEST(StreamOrderWithoutCuda, ThereIsNoContextToMakeItOf) {
  if (config::has_cuda) GTEST_SKIP() << "with CUDA";
  EXPECT_THROW(stream_order(context<device>()), error);
}

}  // namespace
}  // namespace spargo
