// The oracle of random walks, and the test of a distribution.
#pragma once

#include "graph/sssp_support.hpp"

#include <spargo/graph/walks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace spargo::test {

__extension__ using wide_sum = unsigned __int128;

// 64 random bits: half of Philox4x32-10's block of (walk, step, attempt), as the paper writes it.
inline std::uint64_t random_bits(std::uint64_t seed, std::int64_t walk, std::uint32_t step, std::uint32_t attempt,
                                 int half) {
  std::uint32_t key[] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  std::uint32_t x[] = {static_cast<std::uint32_t>(walk), static_cast<std::uint32_t>(walk >> 32), step, attempt};
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    const std::uint64_t first = static_cast<std::uint64_t>(0xD2511F53) * x[0];
    const std::uint64_t second = static_cast<std::uint64_t>(0xCD9E8D57) * x[2];
    const std::uint32_t next[] = {
        static_cast<std::uint32_t>(second / 4294967296) ^ x[1] ^ key[0], static_cast<std::uint32_t>(second),
        static_cast<std::uint32_t>(first / 4294967296) ^ x[3] ^ key[1], static_cast<std::uint32_t>(first)};
    std::copy_n(next, 4, x);
  }
  return x[2 * half] + 4294967296 * x[2 * half + 1];
}

// A row's entries with what they count, as integers: weights[k] times a power of two, of which the largest has as many
// bits as leave the sum of all below 2^62.
inline std::vector<std::uint64_t> whole_weights(const std::vector<double>& weights) {
  const double largest = weights.empty() ? 0 : *std::max_element(weights.begin(), weights.end());
  int entry_bits = 0;
  while ((std::size_t{1} << entry_bits) < weights.size()) ++entry_bits;
  std::vector<std::uint64_t> whole;
  for (const double weight : weights) {
    if (weight <= 0) {
      whole.push_back(0);
      continue;
    }
    const int exponent = 61 - entry_bits - std::ilogb(largest);
    whole.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::scalbn(weight, exponent))));
  }
  return whole;
}

// A walk by the definition; `weights` is empty, or has one for each entry of the graph.
template <class I, class O>
class naive_walks {
 public:
  naive_walks(const raw_graph<I, O>& g, std::vector<double> weights, const walks_options& options)
      : g_(g), weights_(std::move(weights)), o_(options) {}

  [[nodiscard]] std::vector<I> walk(std::int64_t number, std::int64_t start) const {
    std::vector<I> vertices{static_cast<I>(start)};
    for (std::int64_t step = 0; step < o_.length; ++step) {
      const I v = vertices.back();
      if (v < 0) {
        vertices.push_back(-1);
      } else if (step == 0 || (o_.p == 1 && o_.q == 1)) {
        const auto bits =
            random_bits(o_.seed, number, static_cast<std::uint32_t>(step / 2), 0, static_cast<int>(step % 2));
        vertices.push_back(chosen(v, row_weights(v), bits));
      } else {
        vertices.push_back(second(number, static_cast<std::uint32_t>(step), vertices[vertices.size() - 2], v));
      }
    }
    return vertices;
  }

 private:
  using sums = std::vector<wide_sum>;

  [[nodiscard]] std::size_t first(I v) const {
    return static_cast<std::size_t>(g_.offsets[static_cast<std::size_t>(v)]);
  }
  [[nodiscard]] std::size_t last(I v) const {
    return static_cast<std::size_t>(g_.offsets[static_cast<std::size_t>(v) + 1]);
  }
  [[nodiscard]] sums row_weights(I v) const {
    if (weights_.empty()) return sums(last(v) - first(v), 1);
    const std::vector<double> row(weights_.begin() + static_cast<std::ptrdiff_t>(first(v)),
                                  weights_.begin() + static_cast<std::ptrdiff_t>(last(v)));
    sums whole;
    for (const std::uint64_t weight : whole_weights(row)) whole.push_back(weight);
    return whole;
  }
  [[nodiscard]] I chosen(I v, const sums& counts, std::uint64_t bits) const {
    const wide_sum total = std::accumulate(counts.begin(), counts.end(), wide_sum{0});
    if (total == 0) return -1;
    int shift = 0;
    while ((total >> shift) > ~std::uint64_t{0}) ++shift;
    const wide_sum place = (static_cast<wide_sum>(bits) * (total >> shift)) >> 64;
    wide_sum sum = 0;
    for (std::size_t k = 0;; ++k) {
      sum += counts[k];
      if ((sum >> shift) > place) return g_.indices[first(v) + k];
    }
  }
  [[nodiscard]] std::uint64_t factor(I previous, I x) const {
    const double largest = std::max({1.0, 1 / o_.p, 1 / o_.q});
    const auto begin = g_.indices.begin() + static_cast<std::ptrdiff_t>(first(previous));
    const auto end = g_.indices.begin() + static_cast<std::ptrdiff_t>(last(previous));
    const double own = x == previous ? 1 / o_.p : std::find(begin, end, x) != end ? 1 : 1 / o_.q;
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::round(4294967296.0 * (own / largest))));
  }
  [[nodiscard]] I second(std::int64_t number, std::uint32_t step, I previous, I v) const {
    const sums counts = row_weights(v);
    if (std::all_of(counts.begin(), counts.end(), [](wide_sum c) { return c == 0; })) return -1;
    if (counts.size() == 1) return g_.indices[first(v)];
    for (std::uint32_t attempt = 1; attempt <= 32; ++attempt) {
      const I x = chosen(v, counts, random_bits(o_.seed, number, step, attempt, 0));
      const std::uint64_t luck = random_bits(o_.seed, number, step, attempt, 1) % 4294967296;
      if (luck < factor(previous, x)) return x;
    }
    sums products = counts;
    for (std::size_t k = 0; k < products.size(); ++k) products[k] *= factor(previous, g_.indices[first(v) + k]);
    return chosen(v, products, random_bits(o_.seed, number, step, 33, 0));
  }

  const raw_graph<I, O>& g_;
  std::vector<double> weights_;
  walks_options o_;
};

// Whether chi-square of the counts against the probabilities, which add up to 1, is one that 9999 of 10000 samples have
// (Wilson and Hilferty). Outcomes of probability 0 must not occur.
class distribution {
 public:
  void expect(std::int64_t outcome, double probability) { expected_[outcome] += probability; }
  void count(std::int64_t outcome) {
    ++counts_[outcome];
    ++size_;
  }
  [[nodiscard]] std::int64_t size() const { return size_; }
  void test() const {
    double square = 0;
    double degrees = -1;
    for (const auto& [outcome, probability] : expected_) {
      const auto found = counts_.find(outcome);
      const double count = found == counts_.end() ? 0 : static_cast<double>(found->second);
      if (probability == 0) {
        EXPECT_EQ(count, 0) << "outcome " << outcome;
        continue;
      }
      const double mean = probability * static_cast<double>(size_);
      ASSERT_GE(mean, 5) << "too few samples";
      square += (count - mean) * (count - mean) / mean;
      ++degrees;
    }
    for (const auto& [outcome, count] : counts_) EXPECT_TRUE(expected_.contains(outcome)) << "outcome " << outcome;
    if (degrees < 1) return;
    constexpr double quantile = 3.72;
    const double root = 1 - 2 / (9 * degrees) + quantile * std::sqrt(2 / (9 * degrees));
    EXPECT_LT(square, degrees * root * root * root) << degrees << " degrees of freedom";
  }

 private:
  std::map<std::int64_t, double> expected_;
  std::map<std::int64_t, std::int64_t> counts_;
  std::int64_t size_ = 0;
};

}  // namespace spargo::test
