// Branches of the histograms that ordinary inputs miss: counters that carry, edges too large for shared memory, more
// elements than a host table counts, overlapping arguments.
#include "primitives/histogram/algorithms.hpp"
#include "support/device.hpp"

#include <spargo/primitives/histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace spargo {
namespace {

const std::vector<histogram_algorithm> device_algorithms = detail::algorithms_on<device>(detail::histogram::algorithms);
const std::vector<histogram_algorithm> host_algorithms = detail::algorithms_on<host>(detail::histogram::algorithms);

template <class Count, class Run>
void expect_device(const context<device>& ctx, const std::vector<std::int64_t>& expected, Run&& run) {
  auto counts = to_device(ctx, span<const Count, host>(std::vector<Count>(expected.size(), Count{-77})));
  run(counts.view());
  const auto back = to_host(ctx, std::as_const(counts).view());
  ctx.synchronize();
  EXPECT_EQ(std::vector<std::int64_t>(back.data(), back.data() + back.size()), expected);
}

// `multi_pass` keeps bins k and k + 32,768 in one word. 80 million keys over a few hundred blocks give every block more
// than 65,536 of each: the lower half carries into the upper and the upper overflows, in every order.
TEST(HistogramBranches, DeviceHalvesOfAWordCarry) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t n = 80'000'003;
  const std::int64_t bins = 65536;
  constexpr std::int32_t lower = 1234;
  constexpr std::int32_t upper = lower + 32768;
  enum class order { upper_first, lower_first, alternating, upper_to_the_brim };
  for (const auto kind : {order::upper_first, order::lower_first, order::alternating, order::upper_to_the_brim}) {
    std::vector<std::int32_t> keys(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool first_half = i < keys.size() / 2;
      bool is_upper = i % 2 == 0;
      if (kind == order::upper_first) is_upper = first_half;
      if (kind == order::lower_first) is_upper = !first_half;
      if (kind == order::upper_to_the_brim) is_upper = i % 65536 != 65535;
      keys[i] = is_upper ? upper : lower;
    }
    keys[7] = 65535;
    std::vector<std::int64_t> expected(static_cast<std::size_t>(bins), 0);
    for (const std::int32_t key : keys) ++expected[static_cast<std::size_t>(key)];
    const auto there = to_device(ctx, span<const std::int32_t, host>(keys));
    for (const auto algorithm : {histogram_algorithm::multi_pass, histogram_algorithm::automatic}) {
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", order " + std::to_string(static_cast<int>(kind)));
      expect_device<std::int64_t>(ctx, expected, [&](span<std::int64_t, device> counts) {
        histogram<std::int32_t, std::int64_t, device>(ctx, there.view(), counts, {.algorithm = algorithm});
      });
    }
  }
}

// `bins` + 1 edges with steps of different widths, some of them empty.
template <class T>
std::vector<T> many_edges(std::int64_t bins) {
  std::vector<T> edges;
  double at = -5;
  for (std::int64_t k = 0; k <= bins; ++k) {
    edges.push_back(static_cast<T>(at));
    at += k % 9 == 4 ? 0 : (1.0 + static_cast<double>(k % 5)) / static_cast<double>(bins);
  }
  return edges;
}

template <class T>
std::vector<T> random_values(std::int64_t n) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> draw(-6, 0);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& v : values) v = static_cast<T>(draw(random));
  return values;
}

// Finds the last edge <= each value.
template <class T>
std::vector<std::int64_t> count_edges(const std::vector<T>& values, const std::vector<T>& edges) {
  std::vector<std::int64_t> counts(edges.size() - 1, 0);
  for (const T v : values) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), v);
    if (above != edges.begin() && above != edges.end()) ++counts[static_cast<std::size_t>(above - edges.begin() - 1)];
  }
  return counts;
}

template <class T>
class HistogramManyEdges : public testing::Test {};
using real_types = testing::Types<float, double>;
TYPED_TEST_SUITE(HistogramManyEdges, real_types);

// 64 KiB of edges and more are searched in global memory.
TYPED_TEST(HistogramManyEdges, Device) {
  using T = TypeParam;
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto values = random_values<T>(150'001);
  const auto there = to_device(ctx, span<const T, host>(values));
  const auto fitting = static_cast<std::int64_t>(64 * 1024 / sizeof(T));
  for (const std::int64_t bins : {fitting - 2, fitting - 1, fitting, 2 * fitting}) {
    const auto edges = many_edges<T>(bins);
    const auto device_edges = to_device(ctx, span<const T, host>(edges));
    const auto expected = count_edges(values, edges);
    for (const auto algorithm : device_algorithms) {
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", bins " + std::to_string(bins));
      expect_device<std::int32_t>(ctx, expected, [&](span<std::int32_t, device> counts) {
        histogram_edges<T, std::int32_t, device>(ctx, there.view(), device_edges.view(), counts,
                                                 {.algorithm = algorithm});
      });
    }
  }
}

TYPED_TEST(HistogramManyEdges, Host) {
  using T = TypeParam;
  const context<host> ctx({.threads = 2});
  for (const std::int64_t n : {0, 1, 150'001}) {
    const auto values = random_values<T>(n);
    for (const std::int64_t bins : {1, 5, 3000, 20'000}) {
      const auto edges = many_edges<T>(bins);
      const auto expected = count_edges(values, edges);
      for (const auto algorithm : host_algorithms) {
        SCOPED_TRACE(std::string(to_string(algorithm)) + ", bins " + std::to_string(bins));
        std::vector<std::int64_t> counts(static_cast<std::size_t>(bins), -1);
        histogram_edges<T, std::int64_t, host>(ctx, values, edges, span<std::int64_t, host>(counts),
                                               {.algorithm = algorithm});
        EXPECT_EQ(counts, expected);
      }
    }
  }
}

TEST(HistogramBranches, CountsMayNotOverlapTheEdges) {
  const context<host> ctx;
  std::vector<std::int64_t> shared(6, 0);
  const auto* const as_edges = reinterpret_cast<const double*>(shared.data());
  const std::vector<double> values(3, 0.5);
  const auto call = [&](std::int64_t first_edge, std::int64_t first_count) {
    histogram_edges<double, std::int64_t, host>(ctx, values, span<const double, host>(as_edges + first_edge, 3),
                                                span<std::int64_t, host>(shared.data() + first_count, 2));
  };
  for (const std::int64_t first_count : {0, 1, 2}) {
    try {
      call(0, first_count);
      ADD_FAILURE() << "taken with counts at " << first_count;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("overlaps the edges"), std::string::npos) << e.what();
    }
  }
  EXPECT_NO_THROW(call(0, 3));
}

// Zeros without memory: pages that are only read share one page.
class zeros {
 public:
  explicit zeros(std::int64_t size) : size_(size) {
    data_ =
        mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  zeros(const zeros&) = delete;
  zeros& operator=(const zeros&) = delete;
  ~zeros() {
    if (usable()) munmap(data_, static_cast<std::size_t>(size_));
  }
  [[nodiscard]] bool usable() const { return data_ != MAP_FAILED; }
  [[nodiscard]] span<const std::uint8_t, host> view() const { return {static_cast<const std::uint8_t*>(data_), size_}; }

 private:
  std::int64_t size_;
  void* data_;
};

// A host table has 32-bit counters: a share of more elements is counted in several passes.
TEST(HistogramBranches, HugeShareOnTheHost) {
  const std::int64_t n = (std::int64_t{1} << 32) + 5;
  const zeros keys(n);
  if (!keys.usable()) GTEST_SKIP() << "no address space for 4 GiB";
  const context<host> ctx({.threads = 1});
  std::vector<std::int64_t> counts(256, -1);
  std::vector<std::int64_t> expected(256, 0);
  expected[0] = n;
  histogram<std::uint8_t, std::int64_t, host>(ctx, keys.view(), span<std::int64_t, host>(counts),
                                              {.algorithm = histogram_algorithm::interleaved});
  EXPECT_EQ(counts, expected);
}

// More than 2^31 different bytes.
TEST(HistogramBranches, DeviceHugeOfAllKinds) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const std::int64_t part = 1 << 20;
  const std::int64_t parts = (std::int64_t{1} << 11) + 1;
  const std::int64_t n = part * parts + 3;
  if (ctx.memory().free_bytes < 2 * n) GTEST_SKIP() << "the device has too little free memory";
  std::mt19937_64 random(5);
  std::vector<std::uint8_t> pattern(static_cast<std::size_t>(part));
  for (auto& key : pattern) key = static_cast<std::uint8_t>(random() % 251);
  std::vector<std::int64_t> expected(256, 0);
  for (const auto key : pattern) expected[key] += parts;
  const std::vector<std::uint8_t> last = {255, 255, 254};
  for (const auto key : last) ++expected[key];
  array<std::uint8_t, device> keys(ctx, n);
  const auto device_pattern = to_device(ctx, span<const std::uint8_t, host>(pattern));
  for (std::int64_t k = 0; k < parts; ++k) {
    copy<std::uint8_t>(ctx, device_pattern.view(), keys.view().subspan(k * part, part));
  }
  copy<std::uint8_t>(ctx, span<const std::uint8_t, host>(last), keys.view().subspan(part * parts, 3));
  for (const auto algorithm : device_algorithms) {
    if (algorithm == histogram_algorithm::global_atomic || algorithm == histogram_algorithm::contiguous_partition) {
      continue;  // 2^31 atomics on 251 addresses take seconds
    }
    SCOPED_TRACE(to_string(algorithm));
    expect_device<std::int64_t>(ctx, expected, [&](span<std::int64_t, device> counts) {
      histogram<std::uint8_t, std::int64_t, device>(ctx, std::as_const(keys).view(), counts, {.algorithm = algorithm});
    });
  }
}

}  // namespace
}  // namespace spargo
