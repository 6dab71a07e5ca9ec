#include "io/text/blocks.hpp"
#include "support/folders.hpp"

#include "io/support/files.hpp"

#include <spargo/io/output.hpp>
#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <thread>

namespace spargo {
namespace {

using detail::input_tuning;
using detail::text_source;
using test::gzip;

const std::vector<std::string>& texts() {
  static const std::vector<std::string> all = {"",
                                               "\n",
                                               "a",
                                               "a\n",
                                               "a\nb",
                                               "\n\n\n",
                                               "ab\ncde\n\nf\n",
                                               "first\nsecond line\r\nthird\n",
                                               "a long line without an end",
                                               std::string(300, 'x') + "\n" + std::string(255, 'y') + "\nz"};
  return all;
}

// Concatenates the blocks; every block must be whole lines, and each byte must have the right position.
std::string collect(text_source& source, std::int64_t line = 1) {
  std::string all;
  for (std::string_view block = source.next(); !block.empty(); block = source.next()) {
    EXPECT_EQ(block.back(), '\n');
    std::int64_t column = 1;
    for (const char& c : block) {
      const source_position at = source.position_of(&c);
      EXPECT_EQ(at.line, line);
      EXPECT_EQ(at.column, column);
      column = c == '\n' ? 1 : column + 1;
      line += c == '\n' ? 1 : 0;
    }
    all += block;
  }
  return all;
}

TEST(Input, BlocksOfAnySizeMakeUpTheText) {
  const test::temporary_folder folder;
  const context<host> ctx({.threads = 2});
  for (const std::string& text : texts()) {
    const std::string plain = folder.write("plain", text);
    const std::string packed = folder.write("packed", gzip(text));
    const std::string expected = text.empty() || text.back() == '\n' ? text : text + "\n";
    for (const std::int64_t block : {1, 2, 3, 5, 64, 0}) {
      for (const std::string& path : {plain, packed}) {
        text_source source(ctx, path, {}, {.block_bytes = block});
        EXPECT_EQ(collect(source), expected) << path << " in blocks of " << block;
        EXPECT_TRUE(source.next().empty());
      }
    }
  }
}

TEST(Input, ANameWithANulByteIsRefused) {
  const test::temporary_folder folder;
  const std::string name = folder.write("a", "1 2\n") + std::string("\0.el", 4);
  for (const auto& attempt :
       std::vector<std::function<void()>>{[&] { (void)input_file(name); }, [&] { output_file out(name); }}) {
    try {
      attempt();
      ADD_FAILURE() << "accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("NUL byte"), std::string::npos) << e.what();
    }
  }
}

TEST(Input, TheEndHasThePositionAfterTheText) {
  const test::temporary_folder folder;
  const context<host> ctx;
  const std::vector<std::pair<std::string, std::pair<int, int>>> cases = {
      {"", {1, 1}}, {"a\n", {2, 1}}, {"a\nbc", {2, 3}}, {"\n\n", {3, 1}}};
  for (const auto& [text, end] : cases) {
    for (const std::string& content : {text, gzip(text)}) {
      text_source source(ctx, folder.write("file", content), {}, {.block_bytes = 2});
      while (!source.next().empty()) {
      }
      try {
        source.fail_at_end("more was expected");
      } catch (const error& e) {
        EXPECT_EQ(e.position().line, end.first) << text;
        EXPECT_EQ(e.position().column, end.second) << text;
      }
    }
  }
}

TEST(Input, PutBackTextComesAgain) {
  const test::temporary_folder folder;
  const context<host> ctx;
  for (const std::string& content : {std::string("one\ntwo\nthree"), gzip("one\ntwo\nthree")}) {
    for (const std::int64_t size : {1, 5, 100}) {
      text_source source(ctx, folder.write("file", content), {}, {.block_bytes = size});
      std::string_view block = source.next();
      source.put_back(block.data() + 4);
      EXPECT_EQ(collect(source, 2).substr(0, 4), "two\n") << size;
    }
  }
}

TEST(Input, PositionsSurvivePutBack) {
  const test::temporary_folder folder;
  const context<host> ctx;
  for (const std::string& content : {std::string("one\ntwo\nthree"), gzip("one\ntwo\nthree")}) {
    text_source source(ctx, folder.write("file", content));
    std::string_view block = source.next();
    source.put_back(block.data() + 8);
    block = source.next();
    EXPECT_EQ(block, "three\n");
    EXPECT_EQ(source.position_of(block.data() + 2).line, 3);
    EXPECT_EQ(source.position_of(block.data() + 2).column, 3);
  }
}

// The error of reading a whole file with only the source's own checks, as `what()`.
std::string failure_of(const std::string& path, const input_tuning& tuning = {}) {
  try {
    text_source source(context<host>({.threads = 1}), path, {}, tuning);
    for (auto block = source.next(); !block.empty(); block = source.next()) {
    }
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(Input, ALineBeyondTheLimitIsRefused) {
  const test::temporary_folder folder;
  const std::string line(101, ' ');
  for (const std::string& text : {"ab\n" + line + "\nc\n", "ab\n" + line, "ab\n" + line + line + line}) {
    for (const std::string& content : {text, gzip(text)}) {
      const std::string path = folder.write("file", content);
      EXPECT_EQ(failure_of(path, {.block_bytes = 1, .max_line_bytes = 100}),
                path + ":2:101: the line is too long (expected at most 100 bytes)");
      EXPECT_EQ(failure_of(path, {.block_bytes = 1, .max_line_bytes = 303}), "");
    }
  }
}

TEST(Input, AnErrorInALongLineIsTheLengthOfTheLine) {
  const test::temporary_folder folder;
  text_source source(context<host>(), folder.write("file", "a\nb " + std::string(200, 'c') + "\n"), {}, {0, 100});
  const std::string_view block = source.next();
  try {
    source.fail(block.data() + 2, "unexpected b");
  } catch (const error& e) {
    EXPECT_EQ(e.position().line, 2);
    EXPECT_EQ(e.position().column, 101);
  }
}

TEST(Input, SeveralGzipMembersAreOneText) {
  const test::temporary_folder folder;
  const std::string path = folder.write("file", gzip("one\nt") + gzip("") + gzip("wo\n") + std::string(1000, '\0'));
  text_source source(context<host>(), path);
  EXPECT_EQ(collect(source), "one\ntwo\n");
}

TEST(Input, GzipCutAnywhereIsRefused) {
  const test::temporary_folder folder;
  std::string text;
  for (int i = 0; i < 200; ++i) text += std::to_string(i * i) + "\n";
  const std::string packed = gzip(text);
  for (std::size_t size = 2; size < packed.size(); ++size) {
    const std::string path = folder.write("file", packed.substr(0, size));
    EXPECT_NE(failure_of(path).find("the gzip stream is truncated"), std::string::npos) << size << failure_of(path);
  }
  EXPECT_EQ(failure_of(folder.write("file", packed)), "");
}

TEST(Input, GzipDamagedAnywhereIsRefused) {
  const test::temporary_folder folder;
  const std::string packed = gzip("the quick brown fox jumps over the lazy dog\n");
  for (std::size_t at = 2; at < packed.size(); ++at) {
    if (at >= 4 && at < 10) continue;  // time, compressor flags, operating system: not checked
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_NE(failure_of(folder.write("file", damaged)).find("gzip"), std::string::npos) << at;
  }
  EXPECT_NE(failure_of(folder.write("file", packed + "x")).find("followed by bytes"), std::string::npos);
}

TEST(Input, TextBeforeADamageIsDelivered) {
  const test::temporary_folder folder;
  const std::string packed = gzip("one\ntwo\nthr");
  const std::string path = folder.write("file", packed.substr(0, packed.size() - 4));  // cuts off the length
  text_source source(context<host>(), path);
  EXPECT_EQ(source.next(), "one\ntwo\n");
  try {
    EXPECT_TRUE(source.next().empty());
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::io);
    EXPECT_STREQ(e.what(), (path + ":3:4: the gzip stream is truncated").c_str());
  }
}

TEST(Input, WhatIsNoFileIsRefusedInOneLine) {
  const test::temporary_folder folder;
  EXPECT_EQ(failure_of(folder.path()), folder.path() + ": is a directory (expected a file)");
  EXPECT_EQ(failure_of(folder.file("none")),
            folder.file("none") + ": cannot open for reading: No such file or directory");
}

TEST(Input, APipeIsRead) {
  const test::temporary_folder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const bool packed : {false, true}) {
    std::thread writer([&] {
      const std::string text = "one\ntwo\nthree";
      std::ofstream(path, std::ios::binary) << (packed ? gzip(text) : text);
    });
    text_source source(context<host>(), path, {}, {.block_bytes = 4});
    EXPECT_EQ(collect(source), "one\ntwo\nthree\n");
    writer.join();
  }
}

TEST(Input, AnEndlessDeviceIsRefused) {
  EXPECT_NE(failure_of("/dev/zero").find("the line is too long"), std::string::npos);
}

TEST(Input, ProgressGrowsToTheSizeOfTheFile) {
  const test::temporary_folder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  for (const std::string& content : {text, gzip(text)}) {
    std::vector<read_progress> seen;
    const read_options options{.progress = [&](const read_progress& p) { seen.push_back(p); }};
    text_source source(context<host>(), folder.write("file", content), options, {.block_bytes = 1000});
    EXPECT_EQ(collect(source), text);
    ASSERT_GE(seen.size(), 2U);
    for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_GT(seen[i].bytes_done, seen[i - 1].bytes_done);
    EXPECT_EQ(seen.back().bytes_done, static_cast<std::int64_t>(content.size()));
    EXPECT_EQ(seen.back().bytes_total, static_cast<std::int64_t>(content.size()));
  }
}

TEST(Input, SplitsAtLineEnds) {
  for (const std::string& text : texts()) {
    const std::string whole = text + "\n";
    for (std::int64_t chunks = 1; chunks < 12; ++chunks) {
      std::string joined;
      const auto parts = detail::split_at_lines(whole, chunks);
      EXPECT_LE(static_cast<std::int64_t>(parts.size()), chunks);
      for (const std::string_view part : parts) {
        EXPECT_EQ(part.back(), '\n');
        joined += part;
      }
      EXPECT_EQ(joined, whole);
    }
  }
}

// The error of a build without xxHash, before it looks at anything else.
TEST(Input, SnapshotsAreRefusedWithoutXxhash) {
  try {
    check_snapshots("none.spg");
    GTEST_SKIP() << "this build has xxHash";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
    EXPECT_NE(std::string(e.what()).find("none.spg: this build cannot read or write snapshots"), std::string::npos);
  }
  const context<host> ctx;
  EXPECT_THROW(write_snapshot(ctx, "none.spg", csr_view<const pattern, std::int32_t, std::int32_t, host>()), error);
  const std::string valid = test::source_folder() + "/tests/io/corpus/valid/no_rows.spg";
  EXPECT_THROW((void)snapshot(ctx, valid), error);
}

TEST(Input, QuotesWhatCannotBePrinted) {
  EXPECT_EQ(detail::quoted("1.5x"), "'1.5x'");
  EXPECT_EQ(detail::quoted(std::string_view("\0\x1b\xff", 3)), "'\\x00\\x1b\\xff'");
  EXPECT_EQ(detail::quoted(std::string(40, 'a')), "'" + std::string(32, 'a') + "...'");
}

}  // namespace
}  // namespace spargo
