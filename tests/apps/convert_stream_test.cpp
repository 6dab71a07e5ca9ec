// convert with too little memory: the same files as with enough, or one line of error.
#include "apps/run_app.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>

namespace spargo::apps {
namespace {

using test::scratch;
using test::slurp;

// 3 million edges take 72 MB.
std::string edges(bool weighted) {
  std::string text = "# many\n";
  for (std::int64_t k = 0; k < 3'000'000; ++k) {
    text += std::to_string(k * 7919 % 1'000'003) + " " + std::to_string(k % 1013) + (weighted ? " 0.25\n" : "\n");
  }
  return text;
}

std::string named() {
  std::string text = "source,target,weight\n";
  for (std::int64_t k = 0; k < 700'000; ++k) {
    const std::string source = "user " + std::to_string(k * 7919 % 300'007);
    text += (k % 4 == 0 ? "\"" + source + ", again\"" : source) + ",page/" + std::to_string(k % 200'003) + ",0.25\n";
  }
  return text;
}

// Ordered by row, or by column as in SuiteSparse files.
std::string matrix(bool by_row) {
  std::string text = "%%MatrixMarket matrix coordinate integer general\n100000 100000 2500000\n";
  for (std::int64_t k = 0; k < 2'500'000; ++k) {
    const std::string major = std::to_string(1 + k / 26);
    const std::string minor = std::to_string(1 + k / 26 % 7 + k % 26 * 3000);
    text += (by_row ? major + " " + minor : minor + " " + major) + " " + std::to_string(k % 100) + "\n";
  }
  return text;
}

// Of a symmetric matrix, with duplicates.
std::string triangle() {
  std::string text = "%%MatrixMarket matrix coordinate integer symmetric\n100000 100000 2500000\n";
  for (std::int64_t k = 0; k < 2'500'000; ++k) {
    text += std::to_string(50'000 + k / 50) + " " + std::to_string(1 + k % 49 * 1000) + " 7\n";
  }
  return text;
}

TEST(convert, streams_what_does_not_fit) {
  const scratch folder;
  (void)folder.write("plain.el", edges(false));
  (void)folder.write("weighted.wel", edges(true));
  (void)folder.write("sorted.mtx", matrix(true));
  (void)folder.write("unsorted.mtx", matrix(false));
  (void)folder.write("triangle.mtx", triangle());
  (void)folder.write("named.csv", named());
  struct one {
    std::string from, to;
  };
  int number = 0;
  for (const one& c : {one{"plain.el", "a.snap"}, one{"plain.el", "b.wel"}, one{"weighted.wel", "c.txt.gz"},
                       one{"weighted.wel", "d.el"}, one{"sorted.mtx", "e.mtx"}, one{"sorted.mtx", "f.csv"},
                       one{"sorted.mtx", "g.el"}, one{"unsorted.mtx", "h.mtx"}, one{"unsorted.mtx", "i.wel"},
                       one{"named.csv", "k.wel"}, one{"named.csv", "l.csv"}, one{"triangle.mtx", "j.mtx"}}) {
    if (test::is_sanitized && number++ % 2 != 0) continue;
    SCOPED_TRACE(c.from + " to " + c.to);
    const std::string from = folder / c.from;
    const std::string to = folder / c.to;
    const test::app_run with = test::run_app("convert", {from, to, "--json", "-", "--threads", "2"});
    ASSERT_EQ(with.code, 0) << with.err;
    EXPECT_EQ(with.json().at("streamed"), false);
    const std::string expected = slurp(to);
    std::filesystem::remove(to);
    const test::app_run within =
        test::run_app("convert", {from, to, "--json", "-", "--threads", "2", "--max-memory", "35M"});
    ASSERT_EQ(within.code, 0) << within.err;
    EXPECT_EQ(within.json().at("streamed"), true);
    EXPECT_EQ(within.json().at("entries"), with.json().at("entries"));
    EXPECT_EQ(within.json().at("values"), with.json().at("values"));
    EXPECT_EQ(within.err, with.err);
    EXPECT_TRUE(slurp(to) == expected);
    std::filesystem::remove(to);
  }
}

TEST(convert, says_so_where_it_cannot_stream) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const std::string sorted = folder.write("sorted.mtx", matrix(true));
  const std::string list = folder.write("plain.el", edges(false));
  for (const auto& [from, to] : {std::pair(sorted, "a.spg"), std::pair(list, "a.mtx"), std::pair(list, "a.spg")}) {
    test::expect_failure(test::run_app("convert", {from, folder / to, "--max-memory", "35M"}), "convert", 1,
                         "--max-memory");
    EXPECT_FALSE(std::filesystem::exists(folder / to));
  }
}

}  // namespace
}  // namespace spargo::apps
