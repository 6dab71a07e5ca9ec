// Orders of greedy algorithms from their definition, sharing nothing with src but the hash that breaks ties.
#pragma once

#include <spargo/graph/greedy_order.hpp>
#include <spargo/graph/weights.hpp>

#include "graph/graph_support.hpp"
#include "support/message.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace spargo::test {

// [vertex] the other ends of its edges, as often as they are listed; a loop twice.
using adjacency = std::vector<std::vector<std::int64_t>>;

template <class Numbers>
[[nodiscard]] std::vector<std::int64_t> wide(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

template <class Options>
[[nodiscard]] std::vector<Options> every_order() {
  std::vector<Options> all;
  for (const auto& row : enum_rows<greedy_order>()) {
    all.push_back({});
    all.back().order = row.value;
    all.back().seed = static_cast<std::uint64_t>(row.value) / 2;
  }
  return all;
}
template <class Options>
[[nodiscard]] std::string text_of(const Options& options) {
  return "order " + std::string(to_string(options.order)) + ", seed " + std::to_string(options.seed);
}

[[nodiscard]] inline adjacency both_ways(std::int64_t n, const edge_vector& edges) {
  adjacency neighbours(static_cast<std::size_t>(n));
  for (const auto& [u, v] : edges) {
    neighbours[static_cast<std::size_t>(u)].push_back(v);
    neighbours[static_cast<std::size_t>(v)].push_back(u);
  }
  return neighbours;
}

// Round in which each vertex goes: at each level all of at most k neighbours at once, then those that have as few.
[[nodiscard]] inline std::vector<std::int64_t> naive_rounds(const adjacency& neighbours) {
  std::vector<std::int64_t> rounds(neighbours.size(), -1);
  const auto degree = [&](std::size_t v) {
    return std::count_if(neighbours[v].begin(), neighbours[v].end(), [&](std::int64_t u) {
      return static_cast<std::size_t>(u) != v && rounds[static_cast<std::size_t>(u)] < 0;
    });
  };
  std::int64_t round = 0;
  for (std::int64_t k = 0; std::count(rounds.begin(), rounds.end(), -1) > 0;) {
    std::vector<std::size_t> gone;
    for (std::size_t v = 0; v < rounds.size(); ++v) {
      if (rounds[v] < 0 && degree(v) <= k) gone.push_back(v);
    }
    for (const std::size_t v : gone) rounds[v] = round;
    if (gone.empty()) {
      ++k;
    } else {
      ++round;
    }
  }
  return rounds;
}

template <class Options>
[[nodiscard]] std::vector<std::int64_t> naive_order(const adjacency& neighbours, const Options& options,
                                                    greedy_order usual) {
  const greedy_order wanted = options.order == greedy_order::automatic ? usual : options.order;
  const auto rounds = wanted == greedy_order::smallest_last ? naive_rounds(neighbours) : std::vector<std::int64_t>();
  std::size_t entries = 0;
  for (const auto& row : neighbours) entries += row.size();
  std::uint64_t hashes = 16;  // different values of the hash: at least 8 times the mean degree, at most 4096
  while (hashes < 4096 && hashes * neighbours.size() < 8 * entries) hashes *= 2;
  std::vector<std::tuple<std::int64_t, std::uint64_t, std::int64_t>> keys;
  for (std::size_t v = 0; v < neighbours.size(); ++v) {
    const auto degree = static_cast<std::int64_t>(neighbours[v].size());
    const std::uint64_t hash = detail::mixed_bits(options.seed, v);
    std::int64_t key = 0;
    if (wanted == greedy_order::largest_first) key = -degree;
    if (wanted == greedy_order::smallest_first) key = degree;
    if (wanted == greedy_order::smallest_last) key = -rounds[v];
    if (wanted == greedy_order::random) key = static_cast<std::int64_t>(hash >> 40);
    keys.emplace_back(key, (hash << 24) / (~std::uint64_t{0} / hashes + 1), static_cast<std::int64_t>(v));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::int64_t> order;
  for (const auto& key : keys) order.push_back(std::get<2>(key));
  return order;
}

}  // namespace spargo::test
