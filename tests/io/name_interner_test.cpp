// Names of vertices, against a std::map.
#include "io/text/name_interner.hpp"

#include <spargo/core/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>

namespace spargo {
namespace {

using detail::name_interner;

// Several threads number names in rounds, between which the table grows; against a sequential reader.
void expect_first_appearance(const std::vector<std::string>& names, int threads, std::int64_t round,
                             const detail::name_interner_tuning& tuning = {}) {
  const context<host> ctx({.threads = threads});
  name_interner interner(ctx, tuning);
  const auto size = static_cast<std::int64_t>(names.size());
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::int64_t> numbers(names.size());
  for (std::int64_t begin = 0; begin < size; begin += round) {
    const std::int64_t end = std::min(size, begin + round);
    interner.reserve(end - begin);
    std::atomic<std::int64_t> taken{begin};
    std::vector<std::thread> numbering;
    for (int t = 0; t < threads; ++t) {
      numbering.emplace_back([&] {
        name_interner::arena& memory = interner.take_arena();
        for (std::int64_t k = taken.fetch_add(100); k < end; k = taken.fetch_add(100)) {
          interner.number(views.data() + k, std::min<std::int64_t>(100, end - k), k, memory, numbers.data() + k);
        }
        interner.give_back(memory);
      });
    }
    for (std::thread& t : numbering) t.join();
  }
  std::map<std::string, std::int64_t> known;
  std::vector<std::int64_t> expected;
  for (const std::string& name : names) expected.push_back(known.emplace(name, std::ssize(known)).first->second);
  array<std::int64_t, host> vertices;
  const vertex_name_table table = interner.finish(vertices);
  ASSERT_EQ(table.size(), std::ssize(known));
  for (std::size_t k = 0; k < names.size(); ++k) {
    ASSERT_EQ(vertices[numbers[k]], expected[k]) << "name " << k << ", " << threads << " threads";
    ASSERT_EQ(table.name(expected[k]), names[k]);
  }
  for (const auto& [name, vertex] : known) ASSERT_EQ(table.find(name), vertex);
  EXPECT_EQ(table.find("no such name"), std::nullopt);
}

// Random names of 0 to 40 bytes, many of them repeated.
std::vector<std::string> random_names(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) {
    if (k > 0 && random() % 3 == 0) {
      names.push_back(names[random() % k]);
      continue;
    }
    std::string& name = names.emplace_back(random() % 41, '\0');
    for (char& c : name) c = static_cast<char>(random() % 4 == 0 ? random() : 'a' + random() % 3);
  }
  return names;
}

TEST(NameInterner, VerticesAreThoseOfAMap) {
  const std::vector<std::string> names = random_names(60'000, 1);
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::int64_t round : {1'000, 20'000, 1'000'000}) expect_first_appearance(names, threads, round);
  }
}

TEST(NameInterner, CollidingNamesAreToldApart) {
  const std::vector<std::string> names = random_names(3'000, 2);
  for (const std::uint64_t mask : {std::uint64_t{0}, std::uint64_t{0xe} << 60}) {
    for (const int threads : {1, 4}) expect_first_appearance(names, threads, 1'000, {.hash_mask = mask});
  }
}

TEST(NameInterner, NamesOfAnyLengthDiffer) {
  std::vector<std::string> names;
  for (std::size_t length = 0; length < 70; ++length) {
    names.emplace_back(length, 'x');
    for (std::size_t at = 0; at < length; ++at) {
      names.emplace_back(length, 'x');
      names.back()[at] = 'y';
    }
  }
  names.emplace_back(1'000'000, 'z');
  names.emplace_back(1'000'001, 'z');
  names.push_back(std::string(999'999, 'z') + "a");
  for (const int threads : {1, 3}) expect_first_appearance(names, threads, 700);
}

TEST(NameInterner, EveryThreadMeetsTheSameNames) {
  std::vector<std::string> names;
  for (std::int64_t k = 0; k < 50'000; ++k) names.push_back("name " + std::to_string(k % 37));
  expect_first_appearance(names, 8, 50'000);
}

TEST(NameInterner, NothingGivesNoNames) {
  array<std::int64_t, host> vertices;
  const vertex_name_table table = name_interner(context<host>{}).finish(vertices);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.find(""), std::nullopt);
}

}  // namespace
}  // namespace spargo
