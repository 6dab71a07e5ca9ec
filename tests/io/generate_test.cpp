#include <spargo/core/error.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/io/generate.hpp>

#include <gtest/gtest.h>

#include "support/device.hpp"
#include "support/resource.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace spargo {
namespace {

using triplet = std::tuple<std::int64_t, std::int64_t, double>;

template <class V = double, class I = std::int32_t>
std::vector<triplet> entries_of(const std::string& spec, int threads = 2) {
  const auto m = generate<V, I>(context<host>({.threads = threads}), spec);
  std::vector<triplet> result;
  for (std::int64_t e = 0; e < m.nnz(); ++e) {
    double value = 1.0;
    if constexpr (!is_pattern<V>) value = m.values()[e];
    result.emplace_back(m.row_indices()[e], m.col_indices()[e], value);
  }
  return result;
}

// The definition of each structured kind, point by point: entries between grid points by their coordinates.
std::vector<triplet> grid_oracle(std::int64_t n, std::int64_t m, std::int64_t k, double diagonal, int points) {
  std::vector<triplet> result;
  for (std::int64_t a = 0; a < n * m * k; ++a) {
    for (std::int64_t b = 0; b < n * m * k; ++b) {
      const auto dz = std::abs(a / (m * k) - b / (m * k));
      const auto dy = std::abs(a / k % m - b / k % m);
      const auto dx = std::abs(a % k - b % k);
      if (a == b && diagonal != 0) result.emplace_back(a, b, diagonal);
      const bool near = points == 27 ? std::max({dx, dy, dz}) == 1 : dx + dy + dz == 1;
      if (near) result.emplace_back(a, b, diagonal != 0 ? -1.0 : 1.0);
    }
  }
  return result;
}

TEST(Generate, GridsAndLaplaciansMatchTheirDefinition) {
  EXPECT_EQ(entries_of("gen:grid2d:n=5,m=7"), grid_oracle(1, 5, 7, 0, 4));
  EXPECT_EQ(entries_of("gen:grid2d:n=1"), grid_oracle(1, 1, 1, 0, 4));
  EXPECT_EQ(entries_of("gen:grid3d:n=3,m=4,k=5"), grid_oracle(3, 4, 5, 0, 6));
  EXPECT_EQ(entries_of("gen:laplacian2d:n=6"), grid_oracle(1, 6, 6, 4, 5));
  EXPECT_EQ(entries_of("gen:laplacian3d:n=3,m=2,k=4"), grid_oracle(3, 2, 4, 6, 7));
  EXPECT_EQ(entries_of("gen:laplacian3d:n=3,m=4,k=5,points=27"), grid_oracle(3, 4, 5, 26, 27));
  EXPECT_EQ(entries_of("gen:path:n=9"), grid_oracle(1, 1, 9, 0, 4));
}

TEST(Generate, StarAndComplete) {
  EXPECT_EQ(entries_of("gen:star:n=4"),
            (std::vector<triplet>{{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 0, 1}, {2, 0, 1}, {3, 0, 1}}));
  EXPECT_EQ(entries_of("gen:complete:n=3"),
            (std::vector<triplet>{{0, 1, 1}, {0, 2, 1}, {1, 0, 1}, {1, 2, 1}, {2, 0, 1}, {2, 1, 1}}));
}

TEST(Generate, BandedHoldsEveryDiagonal) {
  std::set<std::pair<std::int64_t, std::int64_t>> expected;
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) {
      if (std::abs(i - j) <= 2) expected.emplace(i, j);
    }
  }
  std::set<std::pair<std::int64_t, std::int64_t>> got;
  for (const auto& [i, j, v] : entries_of("gen:banded:rows=9,degree=5")) {
    got.emplace(i, j);
    EXPECT_GE(v, -1.0);
    EXPECT_LT(v, 1.0);
  }
  EXPECT_EQ(got, expected);
}

const std::vector<std::string> all_specs = {
    "gen:rmat:scale=10,degree=8",
    "gen:rmat:scale=0,degree=3",
    "gen:rmat:scale=7,degree=4,seed=9",
    "gen:uniform:rows=1000,cols=77,degree=5,seed=3",
    "gen:grid2d:n=100,m=90",
    "gen:grid3d:n=20",
    "gen:laplacian2d:n=70",
    "gen:laplacian3d:n=17",
    "gen:laplacian3d:n=9,m=1,points=27",
    "gen:banded:rows=5000,degree=7",
    "gen:banded:rows=3,degree=5",
    "gen:powerlaw:rows=3000,degree=9,max=500",
    "gen:powerlaw:rows=50,degree=50",
    "gen:powerlaw:rows=2000,degree=3,alpha=0.75,max=2000",
    "gen:path:n=1",
    "gen:path:n=5000",
    "gen:star:n=9000",
    "gen:complete:n=40",
};

template <class V, class I>
void expect_the_same_on_device(const context<device>& ctx, const std::string& spec) {
  const context<host> making({.threads = 2});
  const auto here = generate<V, I>(making, spec);
  const auto made = generate<V, I>(ctx, making, spec);
  const auto there = to_host<V, I>(ctx, made.view());
  ASSERT_EQ(there.rows(), here.rows()) << spec;
  ASSERT_EQ(there.cols(), here.cols()) << spec;
  ASSERT_EQ(there.nnz(), here.nnz()) << spec;
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  EXPECT_TRUE(same(here.row_indices(), there.row_indices())) << spec;
  EXPECT_TRUE(same(here.col_indices(), there.col_indices())) << spec;
  if constexpr (!is_pattern<V>) {
    EXPECT_TRUE(same(here.values(), there.values())) << spec;
  }
}

TEST(Generate, TheDeviceMakesTheSame) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  std::vector<std::string> specs = all_specs;
  specs.insert(specs.end(), {"gen:rmat:scale=17,degree=9,seed=77", "gen:rmat:scale=12,degree=5,a=0.3,b=0.3,c=0.3",
                             "gen:uniform:rows=70000,degree=16"});
  for (const std::string& spec : specs) {
    expect_the_same_on_device<pattern, std::int32_t>(ctx, spec);
    expect_the_same_on_device<pattern, std::int64_t>(ctx, spec);
    expect_the_same_on_device<float, std::int32_t>(ctx, spec);
    expect_the_same_on_device<double, std::int32_t>(ctx, spec);
    expect_the_same_on_device<std::complex<double>, std::int64_t>(ctx, spec);
  }
}

TEST(Generate, SizeIsAsDescribed) {
  for (const auto& spec : all_specs) {
    const generator_info info = describe_generator(spec);
    const auto entries = entries_of(spec);
    EXPECT_EQ(static_cast<std::int64_t>(entries.size()), info.entries) << spec;
    for (const auto& [i, j, v] : entries) {
      ASSERT_TRUE(i >= 0 && i < info.rows && j >= 0 && j < info.cols) << spec << ": " << i << ", " << j;
    }
    if (!info.symmetric) continue;
    std::set<std::pair<std::int64_t, std::int64_t>> pattern;
    for (const auto& [i, j, v] : entries) pattern.emplace(i, j);
    for (const auto& [i, j] : pattern) ASSERT_TRUE(pattern.count({j, i})) << spec;
  }
}

TEST(Generate, WhatIsToldOfPlacesIsNoMoreThanThereAre) {
  std::vector<std::string> specs = all_specs;
  specs.insert(specs.end(), {"gen:rmat:scale=9,degree=1", "gen:rmat:scale=9,degree=200,b=0.01,c=0.01",
                             "gen:rmat:scale=4,degree=99,a=1,b=0,c=0", "gen:rmat:scale=14,degree=16",
                             "gen:uniform:rows=9,degree=300", "gen:uniform:rows=3000,degree=50",
                             "gen:uniform:rows=40000,degree=3", "gen:uniform:rows=40000,cols=7,degree=3",
                             "gen:powerlaw:rows=20000,degree=8", "gen:powerlaw:rows=3000,degree=2,max=3000"});
  for (const auto& spec : specs) {
    std::int64_t off_diagonal = 0;
    std::set<std::pair<std::int64_t, std::int64_t>> places;
    for (const auto& [i, j, v] : entries_of(spec)) {
      if (i == j) continue;
      ++off_diagonal;
      places.emplace(i, j);
    }
    const generator_info info = describe_generator(spec);
    EXPECT_GE(info.off_diagonal, info.distinct) << spec;
    EXPECT_GE(info.distinct, 0) << spec;
    EXPECT_LE(info.off_diagonal, off_diagonal) << spec;
    EXPECT_LE(info.distinct, static_cast<std::int64_t>(places.size())) << spec;
    const bool random =
        spec.starts_with("gen:rmat") || spec.starts_with("gen:uniform") || spec.starts_with("gen:power");
    if (!random) {
      EXPECT_EQ(info.distinct, static_cast<std::int64_t>(places.size())) << spec;
    }
  }
  EXPECT_GT(describe_generator("gen:rmat:scale=20,degree=16").off_diagonal, (std::int64_t{16} << 20) * 99 / 100);
  EXPECT_GT(describe_generator("gen:uniform:rows=1000000,degree=16").distinct, 15'970'000);
}

TEST(Generate, IsTheSameForEveryThreadCountAndIndexWidth) {
  for (const auto& spec : all_specs) {
    const auto one = entries_of(spec, 1);
    for (const int threads : {2, 3, 8}) EXPECT_EQ(one, entries_of(spec, threads)) << spec << " with " << threads;
    EXPECT_EQ(one, (entries_of<double, std::int64_t>(spec))) << spec;
    EXPECT_EQ(one, (entries_of<float, std::int32_t>(spec))) << spec << ": values are exact in float";
  }
}

// FNV-1a over the numbers, to detect a change of any bit on any machine.
std::uint64_t fingerprint(const std::string& spec) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::uint64_t x) {
    for (int b = 0; b < 8; ++b) hash = (hash ^ ((x >> (8 * b)) & 0xff)) * 0x100000001b3U;
  };
  for (const auto& [i, j, v] : entries_of(spec)) {
    add(static_cast<std::uint64_t>(i));
    add(static_cast<std::uint64_t>(j));
    add(static_cast<std::uint64_t>(static_cast<std::int64_t>(v * 0x1p24)));
  }
  return hash;
}

TEST(Generate, NeverChanges) {
  EXPECT_EQ(fingerprint("gen:rmat:scale=10,degree=8"), 15977342096404273825U);
  EXPECT_EQ(fingerprint("gen:uniform:rows=1000,cols=77,degree=5,seed=3"), 1456388035008255127U);
  EXPECT_EQ(fingerprint("gen:powerlaw:rows=2000,degree=3,alpha=0.75,max=2000"), 6057687918863174825U);
  EXPECT_EQ(fingerprint("gen:banded:rows=5000,degree=7"), 12841555510794809001U);
}

TEST(Generate, SeedsDiffer) {
  EXPECT_NE(entries_of("gen:rmat:scale=10,degree=8,seed=1"), entries_of("gen:rmat:scale=10,degree=8,seed=2"));
  EXPECT_EQ(entries_of("gen:rmat:scale=10,degree=8,seed=1"), entries_of("gen:rmat:scale=10,degree=8"));
  const std::string large = "gen:rmat:scale=10,degree=8,seed=";
  EXPECT_NE(entries_of(large + "18446744073709551615"), entries_of(large + "9223372036854775807")) << "2^64-1, 2^63-1";
  for (const char* seed : {"18446744073709551616", "-1"}) EXPECT_THROW((void)entries_of(large + seed), error) << seed;
}

// The quadrants of the unpermuted Kronecker product have the right shares at the top level; after the permutation only
// the degree distribution shows: it must be skewed, unlike the uniform one.
TEST(Generate, RmatIsSkewed) {
  const auto longest = [](const std::string& spec) {
    std::map<std::int64_t, std::int64_t> degree;
    for (const auto& [i, j, v] : entries_of(spec)) ++degree[i];
    std::int64_t most = 0;
    for (const auto& [i, d] : degree) most = std::max(most, d);
    return most;
  };
  EXPECT_GT(longest("gen:rmat:scale=12,degree=16"), 300);
  EXPECT_LT(longest("gen:rmat:scale=12,degree=16,a=0.25,b=0.25,c=0.25"), 50);
}

TEST(Generate, PowerlawHasItsLongestRowAndItsTotal) {
  std::map<std::int64_t, std::int64_t> length;
  for (const auto& [i, j, v] : entries_of("gen:powerlaw:rows=3000,degree=9,max=500")) ++length[i];
  std::vector<std::int64_t> lengths;
  for (const auto& [i, l] : length) lengths.push_back(l);
  std::sort(lengths.rbegin(), lengths.rend());
  EXPECT_EQ(lengths[0], 500);
  EXPECT_LE(lengths[1], 500);
  EXPECT_GT(lengths[10], 4 * lengths[1000]);
}

TEST(Generate, BadSpecsSayWhatWasExpected) {
  const auto message = [](const std::string& spec) {
    try {
      (void)describe_generator(spec);
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(message("gen:rnat:scale=3").find("rmat, uniform"), std::string::npos);
  EXPECT_NE(message("gen:rmat:scala=3").find("no key 'scala' (expected scale,degree"), std::string::npos);
  EXPECT_NE(message("gen:rmat").find("'scale' is missing"), std::string::npos);
  EXPECT_NE(message("gen:rmat:scale=3,scale=4").find("given twice"), std::string::npos);
  EXPECT_NE(message("gen:rmat:scale=3x").find("scale=3x (expected an integer from 0 to 40)"), std::string::npos);
  EXPECT_NE(message("gen:rmat:scale=41").find("expected an integer"), std::string::npos);
  EXPECT_NE(message("gen:rmat:scale").find("key=value"), std::string::npos);
  EXPECT_NE(message("gen:rmat:scale=3,a=0.9,b=0.2").find("exceeds 1"), std::string::npos);
  EXPECT_NE(message("gen:banded:rows=9,degree=4").find("odd"), std::string::npos);
  EXPECT_NE(message("gen:grid3d:n=1000000000")
                .find("1000000000 x 1000000000 x 1000000000 rows (expected at most 2^41 = 2199023255552)"),
            std::string::npos);
  EXPECT_NE(message("gen:laplacian3d:n=3,points=8").find("7 or 27"), std::string::npos);
  EXPECT_NE(message("gen:powerlaw:rows=9,degree=2,alpha=0.3").find("multiple of 0.25"), std::string::npos);
  EXPECT_NE(message("gen:path:n=0").find("expected an integer from 1"), std::string::npos);
}

TEST(Generate, RefusesIndicesThatDoNotFit) {
  try {
    (void)generate<pattern, std::int32_t>(context<host>(), "gen:uniform:rows=3000000000,degree=0");
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
  }
}

TEST(Generate, EveryRefusedAllocationSurfaces) {
  for (const std::string spec : {"gen:powerlaw:rows=100,degree=4", "gen:laplacian2d:n=10", "gen:rmat:scale=5"}) {
    EXPECT_GT(
        test::fail_every_allocation([&](const context<host>& ctx) { (void)generate<double, std::int32_t>(ctx, spec); }),
        2);
  }
}

}  // namespace
}  // namespace spargo
