// One text read in every way: whole or in blocks of any size, by one or several threads, mapped, compressed or through
// a pipe, and compressed but truncated or damaged anywhere. The result, or the error's line and column, must be equal.
#include "io/edge_list/read.hpp"
#include "io/matrix_market/detail.hpp"
#include "io/support/files.hpp"
#include "support/rounds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <csignal>
#include <functional>
#include <thread>

namespace spargo {
namespace {

struct way {
  int threads;
  std::int64_t block;
  std::int64_t part;
};

std::vector<way> ways() {
  std::vector<way> all = {{1, 0, 1 << 17}, {3, 0, 9}};
  for (const std::int64_t block : {1, 2, 3, 5, 8, 13, 31, 32, 33, 64}) {
    all.push_back({1, block, 7});
    all.push_back({2, block, 1 << 17});
  }
  return all;
}

using reader = std::function<std::string(const std::string& path, const way& how)>;

// Entries and values bit by bit, or the error without the file name.
template <class Read>
std::string outcome(const std::string& path, const Read& read) {
  try {
    const auto entries = read();
    std::string text = fmt::format("{} x {}:", entries.rows(), entries.cols());
    for (std::int64_t k = 0; k < entries.nnz(); ++k) {
      text += fmt::format(" {},{},{:x}", entries.row_indices()[k], entries.col_indices()[k],
                          std::bit_cast<std::uint64_t>(entries.values()[k]));
    }
    return text;
  } catch (const error& e) {
    return std::string(e.what()).substr(path.size());
  }
}

std::string read_matrix(const std::string& path, const way& how) {
  return outcome(path, [&] {
    matrix_market_summary summary;
    return detail::read_entries<double, std::int32_t>(context<host>({.threads = how.threads}), path, {},
                                                      {.input = {.block_bytes = how.block}, .part_bytes = how.part},
                                                      detail::triangles::both, summary);
  });
}

std::string read_edges(const std::string& path, const way& how) {
  detail::edge_list_tuning tuning;
  tuning.input.block_bytes = how.block;
  tuning.part_bytes = how.part;
  return outcome(path, [&] {
    return detail::read_edge_list_with<std::int32_t>(context<host>({.threads = how.threads}), path, {}, tuning).edges;
  });
}

struct text_case {
  const char* name;
  std::string text;
  reader read;
};

std::vector<text_case> cases() {
  std::string random = "%%MatrixMarket matrix coordinate real symmetric\n% with a comment\n90 90 40\n";
  for (int k = 1; k <= 40; ++k) random += fmt::format("{} {} {}\n", k + k % 7, k, 1.0 / k);
  return {
      {"matrix", random, read_matrix},
      {"matrix without an end", random.substr(0, random.size() - 1), read_matrix},
      {"bad value", random.substr(0, 300) + "x" + random.substr(301), read_matrix},
      {"too few", random.substr(0, 400), read_matrix},
      {"repeated",
       "%%MatrixMarket matrix array real general\n10 10\n" +
           [] {
             std::string lines;
             for (int k = 0; k < 100; ++k) lines += "0.5\n";
             return lines;
           }(),
       read_matrix},
      {"edges", "# edges\n1 2\n3\t4\r\n\n5,6\n7 8\n9 9", read_edges},
      {"weights", "1 2 0.5 more\n99999999999 4 1e5\n5 6 7\n", read_edges},
      {"a word", "1 2\n3 4\n5 six\n7 8\n", read_edges},
      {"uneven", "1 2\n3 4\n5 6 7\n8 9\n", read_edges},
  };
}

// Reads whole, and in every `step`-th way from `first` on.
void expect_one_outcome(const text_case& text, const std::string& path, std::size_t first = 0, std::size_t step = 1) {
  const std::string expected = text.read(path, {1, 0, 1 << 17});
  const std::vector<way> all = ways();
  for (std::size_t k = first; k < all.size(); k += step) {
    const way& how = all[k];
    ASSERT_EQ(text.read(path, how), expected)
        << text.name << ": " << how.threads << " threads, blocks of " << how.block << ", parts of " << how.part;
  }
}

// For many files: all ways, or under sanitizers a rotating subset, so that each way sees files of every kind.
class ways_in_turn {
 public:
  void expect_one_outcome(const text_case& text, const std::string& path) {
    spargo::expect_one_outcome(text, path, turn_++ % test::rounds_over, test::rounds_over);
  }

 private:
  std::size_t turn_ = 0;
};

TEST(Differential, PlainAndCompressedAreTheSame) {
  const test::temporary_folder folder;
  for (const text_case& text : cases()) {
    const std::string plain = folder.write("plain", text.text);
    const std::string packed = folder.write("packed", test::gzip(text.text));
    const std::size_t half = text.text.size() / 2;
    const std::string members =
        folder.write("members", test::gzip(text.text.substr(0, half)) + test::gzip(text.text.substr(half)));
    expect_one_outcome(text, plain);
    expect_one_outcome(text, packed);
    EXPECT_EQ(text.read(plain, {2, 0, 64}), text.read(packed, {2, 0, 64})) << text.name;
    EXPECT_EQ(text.read(plain, {2, 0, 64}), text.read(members, {2, 3, 64})) << text.name;
  }
}

TEST(Differential, APipeIsTheSame) {
  const test::temporary_folder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that reports an error closes the pipe early
  for (const text_case& text : cases()) {
    const std::string expected = text.read(folder.write("plain", text.text), {1, 0, 1 << 17});
    for (const std::string& content : {text.text, test::gzip(text.text)}) {
      for (const way& how : {way{1, 0, 1 << 17}, way{2, 5, 3}}) {
        std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << content; });
        EXPECT_EQ(text.read(pipe, how), expected) << text.name;
        writer.join();
      }
    }
  }
}

TEST(Differential, TruncatedAtEveryByte) {
  const test::temporary_folder folder;
  ways_in_turn ways;
  for (const text_case& text : cases()) {
    const std::string whole = test::gzip(text.text);
    for (std::size_t size = 2; size < whole.size(); size += 1 + whole.size() / 150) {
      SCOPED_TRACE(size);
      const std::string path = folder.write("cut", whole.substr(0, size));
      ways.expect_one_outcome(text, path);
    }
  }
}

TEST(Differential, DamagedAtEveryByte) {
  const test::temporary_folder folder;
  ways_in_turn ways;
  for (const text_case& text : cases()) {
    const std::string whole = test::gzip(text.text);
    for (std::size_t at = 2; at < whole.size(); at += 1 + whole.size() / 100) {
      SCOPED_TRACE(at);
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 == 0 ? 0x01 : 0x90));
      ways.expect_one_outcome(text, folder.write("damaged", damaged));
    }
  }
}

// A compressed file is read ahead: a reader that stops early must not wait for the rest, nor leave a thread behind.
TEST(Differential, LeavingEarlyStopsTheReadAhead) {
  const test::temporary_folder folder;
  std::string text = "1 2\n3 x\n";
  for (int k = 0; k < 3'000'000; ++k) text += "1 2 3\n";
  const std::string path = folder.write("long", test::gzip(text));
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(read_edges(path, {2, 100, 100}).rfind(":2:3:", 0), 0U);
  }
}

}  // namespace
}  // namespace spargo
