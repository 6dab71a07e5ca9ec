// Tables of edges: the columns that their names say, as in files, and names as numbers.
#include <spargo/core/error.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/edge_table.hpp>
#include <spargo/io/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "io/support/files.hpp"
#include "support/rounds.hpp"

namespace spargo {
namespace {

// Source, target and weight from 0, or the sentence about the names.
template <class Find>
std::string found(const Find& find) {
  try {
    const auto [source, target, weight] = find();
    return std::to_string(source) + " " + std::to_string(target) + " " + std::to_string(weight);
  } catch (const error& e) {
    const std::string message = e.what();
    const std::size_t begin = message.find("the names of the columns");
    const std::size_t end = message.find(" (expected");
    return begin == std::string::npos ? message : message.substr(begin, end - begin);
  }
}

TEST(EdgeTable, NamesDecideAsInFiles) {
  const std::vector<std::string> words{"source", "From Node Id", "target", "DST", "weight", "Length", "id",
                                       "label",  "cost",         "colour", "u",   "v",      "time"};
  std::mt19937 random(3);
  const test::temporary_folder folder;
  int named = 0;
  int refused = 0;
  for (std::uint64_t round = 0; round < test::rounds(400); ++round) {
    std::vector<std::string> names;
    std::string text;
    std::string row;
    for (std::size_t k = 0, count = 2 + random() % 4; k < count; ++k) {
      names.push_back(words[random() % words.size()]);
      text += (k == 0 ? "" : ",") + names.back();
      row += (k == 0 ? "" : ",") + std::to_string(3 * k + 1);
    }
    const std::string path = folder.write("a.csv", text + '\n' + row + "\n9" + row + '\n');
    const std::string of_file = found([&] {
      const edge_list_header header = read_edge_list_header(input_file(path));
      return std::array{header.source, header.target, header.weight};
    });
    const std::string of_names = found([&] {
      const edge_columns columns = find_edge_columns(names);
      named += columns.named ? 1 : 0;
      return std::array{columns.source, columns.target, columns.weight};
    });
    EXPECT_EQ(of_file, of_names) << text;
    refused += of_names.starts_with("the names") ? 1 : 0;
  }
  EXPECT_GT(named, 10);
  EXPECT_GT(refused, 10);
}

TEST(EdgeTable, TooFewColumnsAreRefused) {
  EXPECT_THROW((void)find_edge_columns({}), error);
  EXPECT_THROW((void)find_edge_columns({"source"}), error);
}

TEST(EdgeTable, NamesAreNumberedInOrderOfFirstOccurrence) {
  std::mt19937 random(5);
  for (const std::int64_t count : {0, 1, 255, 257, 40'000}) {
    for (const int threads : {1, 3, 8}) {
      std::vector<std::string> texts;
      for (std::int64_t k = 0; k < count; ++k) {
        texts.push_back(std::string(random() % 40, 'x') + std::to_string(random() % (1 + count / 3)));
      }
      if (count > 0) texts.back().clear();
      const std::vector<std::string_view> names(texts.begin(), texts.end());
      std::map<std::string_view, std::int64_t> known;
      std::vector<std::string_view> order;
      std::vector<std::int64_t> numbers(names.size());
      const context<host> ctx({.threads = threads});
      const vertex_name_table table = number_names(ctx, names, numbers);
      for (std::size_t k = 0; k < names.size(); ++k) {
        const auto [at, fresh] = known.try_emplace(names[k], std::ssize(order));
        if (fresh) order.push_back(names[k]);
        ASSERT_EQ(numbers[k], at->second) << k;
      }
      ASSERT_EQ(table.size(), std::ssize(order));
      for (std::int64_t v = 0; v < table.size(); ++v) ASSERT_EQ(table.name(v), order[static_cast<std::size_t>(v)]);
      EXPECT_EQ(table.find("no such name"), std::nullopt);
    }
  }
  std::vector<std::int64_t> few(1);
  EXPECT_THROW((void)number_names(context<host>(), std::vector<std::string_view>{"a", "b"}, few), error);
}

TEST(EdgeTable, IdsAreNumberedInAscendingOrder) {
  std::mt19937_64 random(7);
  for (const std::int64_t count : {0, 1, 511, 513, 60'000}) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
    for (std::int64_t& id : ids)
      id = static_cast<std::int64_t>((random() % (1 + ids.size() / 2)) * 0x9E3779B97F4A7C15U >> 1);
    std::vector<std::int64_t> distinct = ids;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (const int threads : {1, 3, 8}) {
      std::vector<std::int64_t> numbers(ids.size());
      ASSERT_EQ(number_ids(context<host>({.threads = threads}), ids, numbers), distinct);
      for (std::size_t k = 0; k < ids.size(); ++k) ASSERT_EQ(distinct[static_cast<std::size_t>(numbers[k])], ids[k]);
    }
  }
  std::vector<std::int64_t> one(1);
  EXPECT_THROW((void)number_ids(context<host>(), std::vector<std::int64_t>{-1}, one), error);
  EXPECT_THROW((void)number_ids(context<host>(), std::vector<std::int64_t>{1, 2}, one), error);
}

// "007" and "7" are one vertex where ids are integers: the first such id is found, with its line.
TEST(EdgeTable, IdsWithLeadingZerosAreFound) {
  const test::temporary_folder folder;
  const auto first_padded = [&](const std::string& text, const std::string& columns = {},
                                id_kind ids = id_kind::automatic) {
    const input_file file(folder.write("a.csv", text));
    const padded_id id = find_padded_id(file, read_edge_list_header(file, columns, ids));
    return id.text + ":" + std::to_string(id.line);
  };
  EXPECT_EQ(first_padded("1 2\n3 007\n08 1\n"), "007:2");
  EXPECT_EQ(first_padded("# c\n\n00 2"), "00:3") << "without an end of the line";
  EXPECT_EQ(first_padded("source,target,weight\n1,2,007\n0,10,1\n"), ":0") << "a weight";
  EXPECT_EQ(first_padded("t,source,target\n09,1,2\n10,1,\"02\"\n"), "02:3") << "in quotes; 09 is a time";
  EXPECT_EQ(first_padded("09,1,2\n10,1,02\n", "2,3"), "02:2");
  EXPECT_EQ(first_padded("sep=;\nsource;target\n1;01\n"), "01:3");
  EXPECT_EQ(first_padded("0 1\n10 100\n20\t0\r\n"), ":0");
  EXPECT_EQ(first_padded("ann 007\nbob 7\n"), ":0") << "names stay as they are";
  EXPECT_EQ(first_padded("007 7\n", {}, id_kind::names), ":0");
  EXPECT_EQ(first_padded("# " + std::string(70'000, 'c') + "\n1 02\n"), ":0") << "beyond the first 64 KiB";
}

// Below the first 64 KiB by readers and searches, for any threads, parts and places among the 64 bytes of a step.
TEST(EdgeTable, IdsWithLeadingZerosAreFoundAnywhere) {
  const test::temporary_folder folder;
  const auto text_of = [](const padded_id& id) { return id.text + ":" + std::to_string(id.line); };
  const auto lines = [](int first, int count, const std::string& rest) {
    std::string text;
    for (int k = first; k < first + count; ++k) text += std::to_string(k) + " 10" + rest + "\n";
    return text;
  };
  for (const std::string& rest : {std::string(), std::string(" 0.05"), std::string(" 7 00:00 007")}) {
    for (const std::string odd : {"5 007", "007 5", "007  \t 5", "5 ,  007"}) {
      const std::string before = lines(1, 10'000, rest) + "# 07\n\n";
      const std::string text = before + odd + rest + "\n" + lines(1, 9'000, rest) + "08 08" + rest;
      const std::string path = folder.write("a.el", text);
      const std::string want = "007:10003";
      const input_file unread(path);
      const edge_list_header header = read_edge_list_header(unread);
      EXPECT_EQ(text_of(find_padded_id(unread, header)), ":0");
      for (const int threads : {1, 3}) {
        const context<host> ctx({.threads = threads});
        const input_file as_list(path);
        (void)read_edge_list<std::int32_t>(ctx, as_list);
        EXPECT_EQ(text_of(find_padded_id(as_list, header)), want) << odd << rest;
        const input_file as_pattern(path);
        (void)read_edge_pattern<std::int64_t>(ctx, as_pattern);
        EXPECT_EQ(text_of(find_padded_id(as_pattern, header)), want) << odd << rest;
        const input_file streamed(path);
        (void)stream_edge_list(ctx, streamed, folder.file("copy.el"), {});
        EXPECT_EQ(text_of(find_padded_id(streamed, header)), want) << odd << rest;
        EXPECT_EQ(text_of(scan_padded_id(ctx, unread, header)), want) << odd << rest;
        std::string first;
        for (int part = 0; part < 5; ++part) {
          const std::string found = text_of(scan_padded_id(ctx, unread, header, part, 5));
          if (first.empty() && found != ":0") first = found;
        }
        EXPECT_EQ(first, want) << odd << rest;
      }
    }
  }
  const context<host> ctx;
  for (int width = 0; width < 140; ++width) {  // of a column before the ids, which moves them along
    const std::string text =
        "note,source,target\n00,1,2\n" + std::string(static_cast<std::size_t>(width), 'c') + ",3,04\n00,5,6\n";
    const input_file file(folder.write("w.csv", text));
    const edge_list_header header = read_edge_list_header(file);
    ASSERT_EQ(text_of(scan_padded_id(ctx, file, header)), "04:3") << width;
    ASSERT_EQ(text_of(find_padded_id(file, header)), "04:3") << width;
  }
  const std::string none = lines(1, 9'000, " 007");
  const input_file file(folder.write("none.el", none));
  EXPECT_EQ(text_of(scan_padded_id(ctx, file, read_edge_list_header(file))), ":0");
  const input_file names(folder.write("names.el", "ann 007\nbob 7\n"));
  EXPECT_EQ(text_of(scan_padded_id(ctx, names, read_edge_list_header(names))), ":0");
  const input_file empty(folder.write("empty.el", "# nothing\n"));
  EXPECT_EQ(text_of(scan_padded_id(ctx, empty, read_edge_list_header(empty), 1, 3)), ":0");
}

}  // namespace
}  // namespace spargo
