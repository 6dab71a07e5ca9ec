// The random generators against a second, naive implementation of random.hpp and generate.cpp: draw by draw, by
// quadrants, with integer divisions and long multiplication. It locates a change of meaning; the fingerprints in
// generate_test.cpp only show that something changed.
#include <spargo/io/generate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace spargo {
namespace {

using triplet = std::tuple<std::int64_t, std::int64_t, double>;

std::vector<triplet> entries_of(const std::string& spec, int threads) {
  const auto m = generate<double, std::int64_t>(context<host>({.threads = threads}), spec);
  std::vector<triplet> result;
  for (std::int64_t e = 0; e < m.nnz(); ++e) {
    result.emplace_back(m.row_indices()[e], m.col_indices()[e], m.values()[e]);
  }
  return result;
}

// --- Draws -----------------------------------------------------------------------------------------------------------

// The first output of SplitMix64 from state x, as published by its authors.
std::uint64_t split_mix(std::uint64_t x) {
  std::uint64_t z = x + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

enum stream : std::uint64_t { values = 1, imaginary = 2, structure = 3, order = 4 };

std::uint64_t draw(std::uint64_t seed, stream s, std::uint64_t counter) {
  return split_mix(split_mix(split_mix(seed) ^ s) ^ split_mix(counter));
}

// The 25 leading bits as a fraction of 2^25, mapped to [-1, 1).
double real_of(std::uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 39), -24) - 1.0; }

// floor(bits * bound / 2^64) in halves; bound < 2^32.
std::int64_t scaled(std::uint64_t bits, std::int64_t bound) {
  const auto b = static_cast<std::uint64_t>(bound);
  const std::uint64_t low = (bits & 0xffffffffU) * b;
  return static_cast<std::int64_t>(((bits >> 32) * b + (low >> 32)) >> 32);
}

// The permutation of 0..size-1: three rounds of an odd multiplication, an addition and a shift on the next power of
// two, repeated while the result is out of range.
std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed) {
  const std::uint64_t key = split_mix(seed ^ order);
  int bits = 0;
  std::uint64_t range = 1;
  for (; range < static_cast<std::uint64_t>(size); range *= 2) ++bits;
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < size; ++i) {
    auto x = static_cast<std::uint64_t>(i);
    do {
      for (std::uint64_t r = 0; r < 3; ++r) {
        const std::uint64_t k = split_mix(key + r);
        const std::uint64_t odd = k % 2 == 1 ? k : k + 1;
        x = (x * odd + k / 0x100000000U) % range;
        x ^= x >> (bits / 2 + 1);
      }
    } while (x >= static_cast<std::uint64_t>(size));
    result.push_back(static_cast<std::int64_t>(x));
  }
  return result;
}

TEST(GenerateOracle, DrawsAreThePublishedOnes) {
  // The first outputs of SplitMix64 from the states 0 and 1234567, in its reference implementation.
  EXPECT_EQ(split_mix(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(split_mix(1234567), 6457827717110365317U);
}

TEST(GenerateOracle, ShufflesLoseNothing) {
  for (const std::int64_t size : {1, 2, 3, 31, 32, 33, 255, 256, 257, 5000}) {
    std::vector<std::int64_t> sorted = shuffled(size, 7);
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int64_t> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    EXPECT_EQ(sorted, all);
  }
}

// --- R-MAT -----------------------------------------------------------------------------------------------------------

struct quadrants {
  double a = 0.57;
  double b = 0.19;
  double c = 0.19;
};

// Each level halves the square; a: top left, b: top right, c: bottom left, the rest: bottom right.
std::vector<triplet> rmat(int scale, std::int64_t degree, std::uint64_t seed, const quadrants& q = {}) {
  const std::int64_t vertices = std::int64_t{1} << scale;
  const std::vector<std::int64_t> name = shuffled(vertices, seed);
  const auto words = static_cast<std::uint64_t>((scale + 1) / 2);  // two levels share a draw, the low half first
  std::vector<triplet> result;
  for (std::uint64_t e = 0; e < static_cast<std::uint64_t>(vertices * degree); ++e) {
    std::int64_t top = 0;
    std::int64_t left = 0;
    std::int64_t side = vertices;
    for (int level = 0; level < scale; ++level) {
      const std::uint64_t word = draw(seed, structure, e * words + static_cast<std::uint64_t>(level / 2));
      const double u = static_cast<double>(level % 2 == 0 ? word % 0x100000000U : word / 0x100000000U);
      side /= 2;
      if (u < std::floor(q.a * 0x1p32)) continue;
      if (u < std::floor((q.a + q.b) * 0x1p32)) {
        left += side;
      } else if (u < std::floor((q.a + q.b + q.c) * 0x1p32)) {
        top += side;
      } else {
        top += side;
        left += side;
      }
    }
    result.emplace_back(name[static_cast<std::size_t>(top)], name[static_cast<std::size_t>(left)],
                        real_of(draw(seed, values, e)));
  }
  return result;
}

TEST(GenerateOracle, Rmat) {
  for (const int threads : {1, 3}) {
    EXPECT_EQ(entries_of("gen:rmat:scale=0,degree=3", threads), rmat(0, 3, 1));
    EXPECT_EQ(entries_of("gen:rmat:scale=1,degree=50,seed=0", threads), rmat(1, 50, 0));
    EXPECT_EQ(entries_of("gen:rmat:scale=7,degree=5,seed=99", threads), rmat(7, 5, 99));
    EXPECT_EQ(entries_of("gen:rmat:scale=10,degree=16", threads), rmat(10, 16, 1));
    EXPECT_EQ(entries_of("gen:rmat:scale=8,degree=4,a=0.5,b=0.3,c=0.15", threads), rmat(8, 4, 1, {0.5, 0.3, 0.15}));
  }
}

// Independent of draws: with the unpermuted vertices, every level of the product has each quadrant's share.
TEST(GenerateOracle, RmatQuadrantsHaveTheirSharesAtEveryLevel) {
  constexpr int scale = 12;
  const auto got = entries_of("gen:rmat:scale=12,degree=32,seed=5,a=0.5,b=0.3,c=0.15", 2);
  const std::vector<std::int64_t> name = shuffled(std::int64_t{1} << scale, 5);
  std::vector<std::int64_t> old(name.size());
  for (std::size_t v = 0; v < name.size(); ++v) old[static_cast<std::size_t>(name[v])] = static_cast<std::int64_t>(v);
  const double share[4] = {0.5, 0.3, 0.15, 0.05};
  const auto edges = static_cast<double>(got.size());
  for (int level = 0; level < scale; ++level) {
    double count[4] = {};
    for (const auto& [i, j, v] : got) {
      const std::int64_t row = old[static_cast<std::size_t>(i)] >> level & 1;
      const std::int64_t col = old[static_cast<std::size_t>(j)] >> level & 1;
      ++count[2 * row + col];
    }
    for (int k = 0; k < 4; ++k) {
      const double sigma = std::sqrt(edges * share[k] * (1 - share[k]));
      EXPECT_NEAR(count[k], edges * share[k], 5 * sigma) << "level " << level << ", quadrant " << k;
    }
  }
}

// --- Uniform and banded ----------------------------------------------------------------------------------------------

TEST(GenerateOracle, Uniform) {
  const auto uniform = [](std::int64_t rows, std::int64_t cols, std::int64_t degree, std::uint64_t seed) {
    std::vector<triplet> result;
    std::uint64_t e = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < degree; ++k, ++e) {
        result.emplace_back(i, scaled(draw(seed, structure, e), cols), real_of(draw(seed, values, e)));
      }
    }
    return result;
  };
  for (const int threads : {1, 3}) {
    EXPECT_EQ(entries_of("gen:uniform:rows=300,cols=77,degree=5,seed=3", threads), uniform(300, 77, 5, 3));
    EXPECT_EQ(entries_of("gen:uniform:rows=33,degree=4", threads), uniform(33, 33, 4, 1));
    EXPECT_EQ(entries_of("gen:uniform:rows=7,cols=1,degree=2", threads), uniform(7, 1, 2, 1));
    EXPECT_EQ(entries_of("gen:uniform:rows=7,cols=4000000000,degree=9", threads), uniform(7, 4000000000, 9, 1));
    EXPECT_EQ(entries_of("gen:uniform:rows=7,degree=0", threads), uniform(7, 7, 0, 1));
  }
}

TEST(GenerateOracle, Banded) {
  const auto banded = [](std::int64_t rows, std::int64_t degree, std::uint64_t seed) {
    std::vector<triplet> result;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < rows; ++j) {
        if (2 * std::abs(i - j) < degree) result.emplace_back(i, j, real_of(draw(seed, values, result.size())));
      }
    }
    return result;
  };
  for (const int threads : {1, 3}) {
    EXPECT_EQ(entries_of("gen:banded:rows=200,degree=7,seed=11", threads), banded(200, 7, 11));
    EXPECT_EQ(entries_of("gen:banded:rows=3,degree=5", threads), banded(3, 5, 1));
    EXPECT_EQ(entries_of("gen:banded:rows=1,degree=1", threads), banded(1, 1, 1));
  }
}

// --- Power law -------------------------------------------------------------------------------------------------------

// Lengths by rank, in integers (alpha 1 or 2): the largest scale c within the total; the rest round-robin.
std::vector<std::int64_t> ranked_lengths(std::int64_t rows, std::int64_t total, std::int64_t longest, int alpha) {
  const auto with = [&](std::int64_t c) {
    std::vector<std::int64_t> lengths = {longest};
    for (std::int64_t r = 2; r <= rows; ++r) lengths.push_back(std::min(longest, c / (alpha == 2 ? r * r : r)));
    return lengths;
  };
  const auto sum = [](const std::vector<std::int64_t>& v) { return std::accumulate(v.begin(), v.end(), 0L); };
  std::int64_t c = 0;
  while (sum(with(c + 1)) <= total) ++c;
  std::vector<std::int64_t> lengths = with(c);
  for (std::size_t r = 1; sum(lengths) < total; r = r + 1 < lengths.size() ? r + 1 : 1) {
    if (lengths[r] < longest) ++lengths[r];
  }
  return lengths;
}

TEST(GenerateOracle, Powerlaw) {
  const auto powerlaw = [](std::int64_t rows, std::int64_t degree, std::int64_t longest, int alpha,
                           std::uint64_t seed) {
    const std::vector<std::int64_t> lengths = ranked_lengths(rows, rows * degree, longest, alpha);
    const std::vector<std::int64_t> rank = shuffled(rows, seed);
    std::vector<triplet> result;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < lengths[static_cast<std::size_t>(rank[static_cast<std::size_t>(i)])]; ++k) {
        const std::uint64_t e = result.size();
        result.emplace_back(i, scaled(draw(seed, structure, e), rows), real_of(draw(seed, values, e)));
      }
    }
    return result;
  };
  for (const int threads : {1, 3}) {
    EXPECT_EQ(entries_of("gen:powerlaw:rows=257,degree=5,max=100", threads), powerlaw(257, 5, 100, 1, 1));
    EXPECT_EQ(entries_of("gen:powerlaw:rows=100,degree=3,max=90,alpha=2,seed=8", threads), powerlaw(100, 3, 90, 2, 8));
    EXPECT_EQ(entries_of("gen:powerlaw:rows=257,degree=2,max=200", threads), powerlaw(257, 2, 200, 1, 1));
    EXPECT_EQ(entries_of("gen:powerlaw:rows=800,degree=4", threads), powerlaw(800, 4, 100, 1, 1)) << "max is rows / 8";
    EXPECT_EQ(entries_of("gen:powerlaw:rows=20,degree=1,max=20", threads), powerlaw(20, 1, 20, 1, 1)) << "one row";
  }
}

// --- Complex values --------------------------------------------------------------------------------------------------

TEST(GenerateOracle, ComplexValuesHaveTwoStreams) {
  const auto m = generate<std::complex<float>, std::int32_t>(context<host>({.threads = 2}), "gen:rmat:scale=6,seed=2");
  for (std::int64_t e = 0; e < m.nnz(); ++e) {
    const auto counter = static_cast<std::uint64_t>(e);
    ASSERT_EQ(m.values()[e].real(), static_cast<float>(real_of(draw(2, values, counter))));
    ASSERT_EQ(m.values()[e].imag(), static_cast<float>(real_of(draw(2, imaginary, counter))));
  }
}

}  // namespace
}  // namespace spargo
