// The pipeline against a loop over the whole range: sizes around the chunk, streams, pinned and pageable memory, errors
// in the function, exhausted memory.
#include "support/resource.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <spargo/primitives/pipeline.hpp>
#include <spargo/primitives/scan.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace spargo::test {
namespace {

using value = std::int32_t;

constexpr std::int64_t chunk = 64;

const std::vector<std::int64_t>& sizes() {
  static const std::vector<std::int64_t> all{0,   1,   31,  32,  33,  63,  64,   65,  127,
                                             128, 129, 255, 256, 257, 613, 1023, 1025};
  return all;
}

std::vector<value> numbers(std::int64_t size) {
  std::vector<value> v(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<value>((i * 2654435761U) % 1999) - 999;
  return v;
}

// A scan of each chunk, which shows where every chunk began.
std::vector<value> scans_of_chunks(const std::vector<value>& in, std::int64_t length) {
  std::vector<value> out(in.size());
  value sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i % static_cast<std::size_t>(length) == 0) sum = 0;
    sum += in[i];
    out[i] = sum;
  }
  return out;
}

constexpr auto scan_chunk = [](const auto& ctx, auto in, auto out) { inclusive_scan<value>(ctx, in, out); };

template <class Space>
class Pipeline : public test::space_suite<Space> {};

struct space_names {
  template <class Space>
  static std::string GetName(int) {
    return std::same_as<Space, host> ? "Host" : "Device";
  }
};

using spaces = suite_types<host, device>;
TYPED_TEST_SUITE(Pipeline, spaces, space_names);

TYPED_TEST(Pipeline, EveryElementOnceAndInItsPlace) {
  const context<TypeParam> ctx;
  for (const int streams : {1, 2, 3, 5, 8}) {
    pipeline_plan<value, value, TypeParam> plan(ctx, {.chunk = chunk, .streams = streams});
    EXPECT_EQ(plan.chunk(), chunk);
    EXPECT_EQ(plan.streams(), streams);
    for (const std::int64_t size : sizes()) {
      const std::vector<value> in = numbers(size);
      std::vector<value> out(in.size(), -77);
      plan.run(in, scan_chunk, span<value, host>(out));
      EXPECT_EQ(out, scans_of_chunks(in, chunk)) << size << " elements, " << streams << " streams";
    }
  }
}

TYPED_TEST(Pipeline, OneCallMakesItsOwnPlan) {
  const context<TypeParam> ctx;
  for (const std::int64_t length : {1, 7, 64, 4096}) {
    for (const std::int64_t size : {0, 1, 63, 64, 65, 613}) {
      const std::vector<value> in = numbers(size);
      std::vector<value> out(in.size(), -77);
      pipeline<value, value>(ctx, in, scan_chunk, out, {.chunk = length});
      EXPECT_EQ(out, scans_of_chunks(in, length)) << size << " elements, chunks of " << length;
    }
  }
}

// Automatic chunks: consecutive, in order, of equal length except the last, covering the range.
TYPED_TEST(Pipeline, ChoosesChunks) {
  const context<TypeParam> ctx;
  for (const std::int64_t size : {1, 1000, 1 << 20, 5'000'011}) {
    const std::vector<value> in = numbers(size);
    std::vector<value> out(in.size(), -77);
    std::vector<std::int64_t> lengths;
    pipeline<value, value>(
        ctx, in,
        [&](const auto& at, auto from, auto to) {
          lengths.push_back(from.size());
          inclusive_scan<value>(at, from, to);
        },
        out);
    ASSERT_FALSE(lengths.empty());
    EXPECT_EQ(out, scans_of_chunks(in, lengths.front())) << size;
    for (std::size_t k = 0; k + 1 < lengths.size(); ++k) EXPECT_EQ(lengths[k], lengths[0]);
    EXPECT_LE(lengths.back(), lengths.front());
  }
}

// In and Out of different sizes: every element stays in its place.
TYPED_TEST(Pipeline, TypesOfDifferentSizes) {
  using wide = std::array<value, 3>;
  const context<TypeParam> ctx;
  const std::vector<value> numbers_in = numbers(613);
  std::vector<wide> out(numbers_in.size(), wide{-77, -77, -77});
  pipeline<value, wide>(ctx, numbers_in,
                        [](const auto& at, auto from, auto to) {
                          // The chunk's bytes at the front of its part, zeros after them.
                          using there = typename decltype(from)::space;
                          fill_zero(at, to);
                          copy<value>(at, from, span<value, there>(reinterpret_cast<value*>(to.data()), from.size()));
                        },
                        out, {.chunk = 100, .streams = 3});
  const auto* got = reinterpret_cast<const value*>(out.data());
  for (std::size_t i = 0; i < numbers_in.size(); ++i) {
    const std::size_t part = i / 100 * 100;
    ASSERT_EQ(got[part * 3 + (i - part)], numbers_in[i]) << i;
  }
  for (std::size_t i = 0; i < numbers_in.size() * 3; ++i) {
    const std::size_t part = i / 300;
    const std::size_t length = std::min<std::size_t>(100, numbers_in.size() - part * 100);
    if (i % 300 >= length) {
      ASSERT_EQ(got[i], 0) << i;
    }
  }
}

TYPED_TEST(Pipeline, FunctionThatThrowsLeavesThePlanUsable) {
  const context<TypeParam> ctx;
  pipeline_plan<value, value, TypeParam> plan(ctx, {.chunk = chunk, .streams = 3});
  const std::vector<value> in = numbers(1025);
  for (const int failing : {0, 1, 5, 16}) {
    std::vector<value> out(in.size());
    int calls = 0;
    const auto run = [&] {
      plan.run(
          in,
          [&](const auto& at, auto from, auto to) {
            if (calls++ == failing) throw std::domain_error("chunk " + std::to_string(failing));
            scan_chunk(at, from, to);
          },
          span<value, host>(out));
    };
    EXPECT_THROW(run(), std::domain_error);
    EXPECT_EQ(calls, failing + 1);
    plan.run(in, scan_chunk, span<value, host>(out));
    EXPECT_EQ(out, scans_of_chunks(in, chunk));
  }
}

TYPED_TEST(Pipeline, RefusesWhatItCannotMap) {
  const context<TypeParam> ctx;
  pipeline_plan<value, value, TypeParam> plan(ctx, {.chunk = chunk});
  std::vector<value> a = numbers(10);
  std::vector<value> b = numbers(11);
  const span<value, host> whole(b);
  int calls = 0;
  const auto expect_refusal = [&](span<const value, host> in, span<value, host> out) {
    try {
      plan.run(
          in, [&](const auto&, auto, auto) { ++calls; }, out);
      ADD_FAILURE() << "accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_argument) << e.what();
      EXPECT_EQ(std::string(e.what()).rfind("pipeline: ", 0), 0U) << e.what();
    }
  };
  expect_refusal(a, whole);
  expect_refusal({nullptr, 11}, whole);
  expect_refusal(b, {nullptr, 11});
  expect_refusal(whole, whole);
  expect_refusal(whole.subspan(0, 6), whole.subspan(5, 6));
  expect_refusal(whole.subspan(5, 6), whole.subspan(0, 6));
  EXPECT_EQ(calls, 0);
  plan.run(
      whole.subspan(0, 5), [&](const auto&, auto, auto) { ++calls; }, whole.subspan(5, 5));
  EXPECT_EQ(calls, 1);

  for (const pipeline_options& bad :
       {pipeline_options{.chunk = -1}, pipeline_options{.streams = -1}, pipeline_options{.streams = 33}}) {
    EXPECT_THROW((pipeline_plan<value, value, TypeParam>(ctx, bad)), error);
  }
}

// 64-bit positions without the memory: nothing reads it.
TEST(PipelineHost, HugeRangesAreCutIn64Bits) {
  const std::int64_t size = (std::int64_t{1} << 31) + 3;
  const auto* in = reinterpret_cast<const char*>(std::uintptr_t{1} << 40);
  auto* out = reinterpret_cast<char*>(std::uintptr_t{1} << 41);
  const std::int64_t length = 100'000'000;
  std::int64_t next = 0;
  pipeline<char, char>(context<host>(), span<const char, host>(in, size),
                       [&](const context<host>&, span<const char, host> from, span<char, host> to) {
                         ASSERT_EQ(from.data() - in, next);
                         ASSERT_EQ(to.data() - out, next);
                         ASSERT_EQ(from.size(), std::min(length, size - next));
                         ASSERT_EQ(to.size(), from.size());
                         next += from.size();
                       },
                       span<char, host>(out, size), {.chunk = length});
  EXPECT_EQ(next, size);
}

TEST(PipelineHost, ThePinnedResourceSaysWhetherThereIsADevice) {
  const context<host> pinned({.resource = &pinned_host_resource()});
  if (gpu().usable()) {
    array<value, host> a(pinned, 1000);
    std::memset(a.data(), 1, 4000);
    EXPECT_EQ(a[999], 0x01010101);
  } else {
    try {
      const array<value, host> a(pinned, 1000);
      ADD_FAILURE() << "pinned memory without a GPU";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::device_unavailable) << e.what();
    }
  }
}

class PipelineDevice : public test::device_suite {};

TEST_F(PipelineDevice, PinnedAndPageableMemoryInEachDirection) {
  const context<device> ctx;
  const context<host> pinned({.resource = &pinned_host_resource()});
  for (const int streams : {1, 3, 4}) {
    pipeline_plan<value, value, device> plan(ctx, {.chunk = chunk, .streams = streams});
    for (const std::int64_t size : sizes()) {
      const std::vector<value> in = numbers(size);
      const std::vector<value> expected = scans_of_chunks(in, chunk);
      array<value, host> pinned_in(pinned, size + 1);
      array<value, host> pinned_out(pinned, size + 1);
      // Shifted by one element: aligned to an element only.
      const auto from = pinned_in.view().subspan(1, size);
      const auto to = pinned_out.view().subspan(1, size);
      if (size != 0) std::memcpy(from.data(), in.data(), static_cast<std::size_t>(size) * sizeof(value));
      std::vector<value> out(in.size());
      const auto poison = [&] {
        std::fill(out.begin(), out.end(), -77);
        std::fill(to.begin(), to.end(), -77);
      };
      poison();
      plan.run(from, scan_chunk, to);
      EXPECT_EQ(std::vector<value>(to.begin(), to.end()), expected) << size;
      poison();
      plan.run(from, scan_chunk, span<value, host>(out));
      EXPECT_EQ(out, expected) << size;
      poison();
      plan.run(in, scan_chunk, to);
      EXPECT_EQ(std::vector<value>(to.begin(), to.end()), expected) << size;
    }
  }
}

TEST_F(PipelineDevice, RefusesDeviceMemory) {
  const context<device> ctx;
  array<value, device> there(ctx, 100);
  std::vector<value> here(100);
  pipeline_plan<value, value, device> plan(ctx);
  EXPECT_THROW(plan.run(span<const value, host>(there.data(), 100), scan_chunk, span<value, host>(here)), error);
  EXPECT_THROW(plan.run(here, scan_chunk, span<value, host>(there.data(), 100)), error);
  plan.run(here, scan_chunk, span<value, host>(numbers(100).data(), 100));
}

TEST_F(PipelineDevice, EveryAllocationMayFail) {
  const std::vector<value> in = numbers(613);
  const std::int64_t requests = fail_every_device_allocation([&](const context<device>& ctx) {
    std::vector<value> out(in.size());
    pipeline<value, value>(ctx, in, scan_chunk, out, {.chunk = chunk, .streams = 3});
    EXPECT_EQ(out, scans_of_chunks(in, chunk));
  });
  EXPECT_GE(requests, 6);
}

}  // namespace
}  // namespace spargo::test
