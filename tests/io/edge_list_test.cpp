#include <spargo/core/error.hpp>
#include <spargo/io/edge_list.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "io/edge_list/read.hpp"
#include "io/support/files.hpp"
#include "support/data.hpp"
#include "support/resource.hpp"
#include "support/rounds.hpp"

namespace spargo {
namespace {

using edge = std::tuple<std::int64_t, std::int64_t, double>;

// Edges with the file's ids.
template <class I>
std::vector<edge> edges_of(const edge_list<I>& list) {
  std::vector<edge> result;
  for (std::int64_t k = 0; k < list.edges.nnz(); ++k) {
    result.emplace_back(list.ids[static_cast<std::size_t>(list.edges.row_indices()[k])],
                        list.ids[static_cast<std::size_t>(list.edges.col_indices()[k])], list.edges.values()[k]);
  }
  return result;
}

// Threads and block sizes, which must not matter. Larger blocks for megabytes, since each is a system call.
std::vector<std::pair<int, detail::edge_list_tuning>> ways(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  const std::int64_t times = !failed && bytes >= std::uintmax_t{1} << 20 ? 1000 : 1;
  std::vector<std::pair<int, detail::edge_list_tuning>> result = {{2, {}}};
  for (const int threads : {1, 3}) {
    for (const std::int64_t block : {1, 7, 64}) {
      detail::edge_list_tuning tuning;
      tuning.input.block_bytes = times * block;
      tuning.part_bytes = 5;
      result.emplace_back(threads, tuning);
    }
  }
  return result;
}

template <class List>
void expect_same_ends(const edge_list<std::int32_t>& list, const List& bare) {
  const auto same = [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  EXPECT_EQ(bare.edges.rows(), list.edges.rows());
  EXPECT_TRUE(same(bare.edges.row_indices(), list.edges.row_indices()));
  EXPECT_TRUE(same(bare.edges.col_indices(), list.edges.col_indices()));
  EXPECT_EQ(bare.ids, list.ids);
  EXPECT_EQ(bare.weighted, list.weighted);
  EXPECT_EQ(bare.first_vertex, list.first_vertex);
}

edge_list<std::int32_t> read_all_ways(const std::string& path) {
  edge_list<std::int32_t> first = read_edge_list<std::int32_t>(context<host>(), path);
  for (const auto& [threads, tuning] : ways(path)) {
    const auto again = detail::read_edge_list_with<std::int32_t>(context<host>({.threads = threads}), path, {}, tuning);
    EXPECT_EQ(edges_of(first), edges_of(again)) << threads << " threads, blocks of " << tuning.input.block_bytes;
    EXPECT_EQ(first.ids, again.ids);
    EXPECT_EQ(first.weighted, again.weighted);
    EXPECT_EQ(first.first_vertex, again.first_vertex);
    const auto bare = detail::read_edge_list_with<std::int32_t>(context<host>({.threads = threads}), path, {}, tuning,
                                                                detail::edge_weights::drop);
    EXPECT_TRUE(bare.edges.values().empty());
    expect_same_ends(first, bare);
  }
  expect_same_ends(first, read_edge_pattern<std::int32_t>(context<host>(), path));
  return first;
}

std::string error_all_ways(const std::string& path) {
  const auto message = [&](int threads, const detail::edge_list_tuning& tuning) -> std::string {
    try {
      (void)detail::read_edge_list_with<std::int32_t>(context<host>({.threads = threads}), path, {}, tuning);
    } catch (const error& e) {
      return e.what();
    }
    return "accepted";
  };
  const std::string first = message(1, {});
  for (const auto& [threads, tuning] : ways(path)) EXPECT_EQ(message(threads, tuning), first) << path;
  try {
    (void)read_edge_pattern<std::int32_t>(context<host>(), path);
  } catch (const error& e) {
    EXPECT_EQ(e.what(), first) << "without weights";
  }
  return first;
}

class EdgeList : public testing::Test {
 protected:
  std::vector<edge> read(const std::string& text) { return edges_of(read_all_ways(folder_.write("a.el", text))); }
  // The message after the file name.
  std::string refusal(const std::string& text) {
    const std::string path = folder_.write("a.el", text);
    const std::string message = error_all_ways(path);
    EXPECT_EQ(message.rfind(path, 0), 0U) << message;
    return message.substr(std::min(message.size(), path.size() + 1));
  }

  test::temporary_folder folder_;
};

TEST_F(EdgeList, TakesEverySpelling) {
  const std::vector<edge> expected = {{5, 2, 1}, {2, 9, 1}, {5, 5, 1}};
  EXPECT_EQ(read("5 2\n2 9\n5 5\n"), expected);
  EXPECT_EQ(read("5 2\n2 9\n5 5"), expected) << "no final newline";
  EXPECT_EQ(read("# a comment\n%another\n\n5\t2\r\n  2   9  \r\n \t\n#x\n5,5\r\n"), expected);
  EXPECT_EQ(read("5;2\n2 , 9\n5, 5,\n"), expected);
  EXPECT_EQ(read("005 02\n2 9\n5 5\n"), expected) << "leading zeros";
}

TEST_F(EdgeList, TakesWeightsAndIgnoresFurtherColumns) {
  const std::vector<edge> expected = {{1, 2, -0.5}, {2, 1, 1e300}};
  EXPECT_EQ(read("1 2 -.5\n2 1 1e300\n"), expected);
  EXPECT_EQ(read("1,2,-0.5,1407470400,x y\n2,1,1E+300,junk\n"), expected);
  EXPECT_TRUE(read_all_ways(folder_.write("a.el", "1 2 3\n")).weighted);
  EXPECT_FALSE(read_all_ways(folder_.write("a.el", "1 2\n")).weighted);
}

TEST_F(EdgeList, WeightsMayBeInfiniteOrNotANumber) {
  const auto list =
      read_edge_list<std::int32_t>(context<host>(), folder_.write("a.el", "1 2 inf\n2 1 -Infinity\n1 1 nan\n"));
  EXPECT_EQ(list.edges.values()[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(list.edges.values()[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(list.edges.values()[2]));
  EXPECT_EQ(refusal("1 2 infinit\n").rfind("1:5: 'infinit' is not a weight", 0), 0U);
}

TEST_F(EdgeList, TheLimitOfALineIsExact) {
  const std::string most(std::size_t{1} << 20, 'x');
  EXPECT_EQ(read("1 2 0\n3 4 5 " + most.substr(6) + "\n3 4 0\n").size(), 3U);
  EXPECT_EQ(refusal("1 2 0\n3 4 5 " + most.substr(5) + "\n3 4 0\n"),
            "2:1048577: the line is too long (expected at most 1048576 bytes)");
  EXPECT_EQ(read("1 2\n#" + most + most + "\n3 4\n").size(), 2U) << "a comment";
  EXPECT_EQ(refusal("1 2\n#" + most + most + "\n3 x\n").rfind("3:3: 'x'", 0), 0U);
}

TEST_F(EdgeList, AThousandGzipMembersAreOneText) {
  std::string packed;
  for (int k = 0; k < 1000; ++k) packed += test::gzip(std::to_string(k) + " " + std::to_string(k + 1) + "\n");
  const auto list = read_edge_list<std::int32_t>(context<host>({.threads = 2}), folder_.write("a", packed));
  EXPECT_EQ(list.edges.nnz(), 1000);
  EXPECT_EQ(list.ids.size(), 1001U);
}

TEST_F(EdgeList, RenumbersInAscendingOrderOfId) {
  const auto sparse = read_all_ways(folder_.write("a.el", "9223372036854775807 7\n7 1000000000000\n0 7\n"));
  EXPECT_EQ(sparse.ids, (std::vector<std::int64_t>{0, 7, 1000000000000, INT64_MAX}));
  EXPECT_EQ(sparse.first_vertex, 3);
  EXPECT_EQ(edges_of(sparse), (std::vector<edge>{{INT64_MAX, 7, 1}, {7, 1000000000000, 1}, {0, 7, 1}}));
  EXPECT_EQ(sparse.edges.rows(), 4);
  EXPECT_EQ(sparse.edges.cols(), 4);
  const auto dense = read_all_ways(folder_.write("a.el", "63 64\n130 0\n"));
  EXPECT_EQ(dense.ids, (std::vector<std::int64_t>{0, 63, 64, 130}));
  EXPECT_EQ(dense.first_vertex, 1);
}

TEST_F(EdgeList, EmptyFilesAreEmptyGraphs) {
  for (const std::string text : {"", "\n\n", "# only a comment", "# a\n% b\n"}) {
    const auto list = read_all_ways(folder_.write("a.el", text));
    EXPECT_EQ(list.edges.nnz(), 0);
    EXPECT_EQ(list.edges.rows(), 0);
    EXPECT_EQ(list.first_vertex, -1);
  }
}

TEST_F(EdgeList, ErrorsHaveTheirPlace) {
  EXPECT_EQ(refusal("1 2\n3 -4\n").rfind("2:3: vertex id '-4' is negative", 0), 0U);
  EXPECT_EQ(refusal("1 2\n\n# c\n1.5 4\n").rfind("4:1: vertex id '1.5' is not an integer", 0), 0U);
  EXPECT_EQ(refusal("1 2\n+3 4\n").rfind("2:1: '+3' is not a vertex id", 0), 0U);
  EXPECT_EQ(refusal("1 -0\n").rfind("1:3: vertex id '-0' is negative", 0), 0U);
  EXPECT_EQ(refusal("1 9223372036854775808\n").rfind("1:3: vertex id '9223372036854775808' is too large", 0), 0U);
  EXPECT_EQ(refusal("1 99999999999999999999999999\n").rfind("1:3: vertex id", 0), 0U);
  EXPECT_EQ(refusal("1|2\n2|3\n"),
            "1:1: '1|2' is not a vertex id (expected columns separated by blanks, tabs, commas or semicolons; "
            "tr '|' ',' < FILE makes commas)");
  EXPECT_EQ(refusal("from 2\n1,2\n").rfind("1:1: 'from' is not a vertex id", 0), 0U);
  EXPECT_EQ(refusal("from,to\nfrom,to\n1,2\n").rfind("2:1: 'from' is not a vertex id", 0), 0U);
  EXPECT_EQ(refusal("1 2\n7\n").rfind("2:2: the target vertex is missing", 0), 0U);
  EXPECT_EQ(refusal("1,,2\n").rfind("1:3: the target vertex is missing", 0), 0U);
  EXPECT_EQ(refusal(",1 2\n").rfind("1:1: the source vertex is missing", 0), 0U);
  EXPECT_EQ(refusal("1 2 x\n").rfind("1:5: 'x' is not a weight", 0), 0U);
  EXPECT_EQ(refusal("1 2 1e999\n").rfind("1:5: weight '1e999' is beyond", 0), 0U);
  EXPECT_EQ(refusal("1 2 3\n4 5\n").rfind("2:4: an edge without a weight", 0), 0U);
  EXPECT_EQ(refusal("1 2\n4 5\n6 7 8\n").rfind("3:5: a weight (expected none", 0), 0U);
  EXPECT_EQ(refusal("1 2\n1 2x\n").rfind("2:3: '2x' is not a vertex id", 0), 0U);
  EXPECT_EQ(refusal(std::string("1 \0 2\n", 6)).rfind("1:3: '\\x00' is not a vertex id", 0), 0U);
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate pattern general\n").rfind("1:1: a Matrix Market banner", 0), 0U);
  EXPECT_EQ(refusal("<html>\n").rfind(" an HTML page is not supported", 0), 0U);
}

TEST_F(EdgeList, TheFirstErrorInTheFileWins) {
  std::string text;
  for (int k = 0; k < 200; ++k) text += "1 2\n";
  EXPECT_EQ(refusal(text + "1 x\n1 2\n-1 2\n").rfind("201:3: 'x'", 0), 0U);
  EXPECT_EQ(refusal("1 2\n4 5 x\n").rfind("2:5: a weight (expected none", 0), 0U) << "one line, two faults";
  EXPECT_EQ(refusal("1 2 x\n4 5\n").rfind("1:5: 'x' is not a weight", 0), 0U);
}

// Ids far larger than the number of edges are sorted in chunks by several threads.
TEST_F(EdgeList, ManySparseIdsAreOrdered) {
  std::string text;
  std::vector<edge> expected;
  std::set<std::int64_t> ids;
  std::uint64_t state = 1;
  const auto draw = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>(state >> 33) % 1000 * 1'000'000'000'000;  // each id many times
  };
  for (int k = 0; k < 30'000; ++k) {
    const std::int64_t source = k % 3 == 0 ? INT64_MAX - k : draw();  // a third of the ids occurs once
    const std::int64_t target = draw();
    ids.insert({source, target});
    text += std::to_string(source) + ' ' + std::to_string(target) + '\n';
    expected.emplace_back(source, target, 1);
  }
  const std::string path = folder_.write("a.el", text);
  for (const int threads : {1, 2, 3, 8}) {
    const auto list = read_edge_list<std::int64_t>(context<host>({.threads = threads}), path);
    EXPECT_TRUE(std::equal(ids.begin(), ids.end(), list.ids.begin(), list.ids.end())) << threads << " threads";
    EXPECT_TRUE(edges_of(list) == expected) << threads << " threads";
  }
}

// A long file of common and unusual lines; `draw(k)`: ids of edge k. Expected values are the C library's.
template <class Draw>
void expect_mixture(const test::temporary_folder& folder, const char* separator, const Draw& draw) {
  std::string text;
  std::vector<edge> expected;
  std::set<std::int64_t> ids;
  const char* const weights[] = {"1", "-2.5", "0.1234567890123456789", "3e-5", "1234567890", "+7", "1e0005"};
  for (int k = 0; k < 20'000; ++k) {
    const auto [source, target] = draw(k);
    const std::string weight = weights[k % 7];
    if (k % 997 == 0) text += k % 2 == 0 ? "# in between\n" : "\n";
    text += std::string(k % 13 == 0 ? 12 : 0, ' ') + (k % 101 == 0 ? "000" : "") + std::to_string(source) + separator +
            std::to_string(target) + separator + weight + (k % 5 == 0 ? "\tmore 1 2" : "") +
            (k % 3 == 0 ? "\r\n" : "\n");
    expected.emplace_back(source, target, std::strtod(weight.c_str(), nullptr));
    ids.insert({source, target});
  }
  for (const std::string& path : {folder.write("plain", text), folder.write("packed", test::gzip(text))}) {
    for (const auto& [block, part] : {std::pair(0, 1 << 17), std::pair(100'000, 3'000), std::pair(9'000, 9'000)}) {
      detail::edge_list_tuning tuning;
      tuning.input.block_bytes = block;
      tuning.part_bytes = part;
      const auto list = detail::read_edge_list_with<std::int32_t>(context<host>({.threads = 3}), path, {}, tuning);
      ASSERT_TRUE(list.weighted);
      EXPECT_TRUE(std::equal(ids.begin(), ids.end(), list.ids.begin(), list.ids.end())) << path << " " << block;
      EXPECT_TRUE(edges_of(list) == expected) << path << " " << block;
    }
  }
}

TEST_F(EdgeList, LargeIdsMayComeLate) {
  expect_mixture(folder_, "\t", [](std::int64_t k) {
    if (k < 12'345) return std::pair(k % 777, 3 * k);
    return std::pair(INT64_MAX - k % 500, k % 2 == 0 ? k : std::int64_t{1} << 31);
  });
}

TEST_F(EdgeList, FewIdsFarApart) {
  expect_mixture(folder_, ", ", [](std::int64_t k) { return std::pair(k % 300 * 7'000'000, 2'147'483'647 - k % 11); });
}

// The bitmap is abandoned after the first edges, which are too few for it, and built at the end.
TEST_F(EdgeList, ALargeIdAtTheBeginning) {
  expect_mixture(folder_, " ", [](std::int64_t k) { return std::pair(k == 0 ? 100'000 : k % 777, k % 300); });
}

TEST_F(EdgeList, NoIdMissing) {
  expect_mixture(folder_, " ", [](std::int64_t k) { return std::pair(k % 5000, (k * 7) % 5000); });
}

// Replaces each character of a line by any other: the message must not depend on which path of the parser reads it,
// hence on whether much text follows. Under sanitizers each place gets a rotating eighth of the characters.
TEST_F(EdgeList, ADamagedLineIsTheSameInTheMiddleAndAtTheEnd) {
  const std::string line = "12 ,345\t-1.25e-3;x\n";
  const std::string far = "#" + std::string(1000, 'x') + "\n1 2 3\n";
  const auto outcome = [&](const std::string& text) -> std::string {
    try {
      const auto list =
          detail::read_edge_list_with<std::int32_t>(context<host>({.threads = 1}), folder_.write("f", text), {}, {});
      for (const auto& [source, target, weight] : edges_of(list)) {
        if (source != 1 || target != 2) return fmt::format("{} {} {}", source, target, weight);
      }
      return "no edge";
    } catch (const error& e) {
      return e.what();
    }
  };
  for (std::size_t at = 0; at + 1 < line.size(); ++at) {
    for (auto c = static_cast<int>(at % test::rounds_over); c < 256; c += static_cast<int>(test::rounds_over)) {
      if (c == '\n') continue;
      std::string damaged = line;
      damaged[at] = static_cast<char>(c);
      const std::string early = outcome("1 2 3\n" + damaged + far);
      const std::string late = outcome("1 2 3\n" + far + damaged);
      const auto what = [](const std::string& message, const std::string& place) {
        const std::size_t found = message.find(place);
        return found == std::string::npos ? message : message.substr(found + place.size());
      };
      EXPECT_EQ(what(early, "f:2:"), what(late, "f:4:")) << "byte " << c << " at " << at;
    }
  }
}

// The number of edges is estimated from the beginning of the file: here it is far too small.
TEST_F(EdgeList, DenserEndsThanBeginnings) {
  std::string text = "1 2\n#" + std::string(5000, 'x') + "\n";
  std::vector<edge> expected = {{1, 2, 1}};
  for (std::int64_t k = 0; k < 3000; ++k) {
    text += std::to_string(k % 10) + " 3\n";
    expected.emplace_back(k % 10, 3, 1);
  }
  EXPECT_EQ(read(text), expected);
}

TEST_F(EdgeList, LongLinesAreRefused) {
  EXPECT_NE(refusal("1 2\n3 4 5 " + std::string(3 << 20, 'y') + "\n").find("2:"), std::string::npos);
}

TEST_F(EdgeList, GzipIsRecognisedByContent) {
  const std::string text = "10 20\n20 30\n";
  EXPECT_EQ(edges_of(read_all_ways(folder_.write("plain", test::gzip(text)))), read(text));
  const std::string whole = test::gzip(text);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const std::string path = folder_.write("cut.gz", whole.substr(0, size));
    for (const auto& [threads, tuning] : ways(path)) {
      EXPECT_THROW(
          (void)detail::read_edge_list_with<std::int32_t>(context<host>({.threads = threads}), path, {}, tuning), error)
          << size << " bytes";
    }
  }
}

TEST_F(EdgeList, SystemErrorsAreOneLine) {
  EXPECT_NE(error_all_ways(folder_.file("missing")).find("No such file"), std::string::npos);
  EXPECT_NE(error_all_ways(folder_.path()).find("directory"), std::string::npos);
}

TEST_F(EdgeList, EveryRefusedAllocationSurfaces) {
  for (const std::string text : {"1 2 3.5\n5 6 7.5\n", "1 2\n900000000000 4\n"}) {
    const std::string path = folder_.write("a.el", text);
    EXPECT_GT(
        test::fail_every_allocation([&](const context<host>& ctx) { (void)read_edge_list<std::int32_t>(ctx, path); }),
        5);
  }
}

TEST_F(EdgeList, WritesWhatItReads) {
  const std::string text = "7\t9\t0.1\n9\t7\t-1e-300\n12345678901\t7\t3\n";
  const auto list = read_all_ways(folder_.write("a.el", text));
  for (const std::string name : {"out.wel", "out.wel.gz"}) {
    write_edge_list<double, std::int32_t>(folder_.file(name), list.edges.view(), list.ids);
    EXPECT_EQ(edges_of(read_all_ways(folder_.file(name))), edges_of(list));
  }
  EXPECT_EQ(test::read_file(folder_.file("out.wel")), "# source\ttarget\tweight\n" + text);
  const coo_view<const pattern, std::int32_t, host> bare{{3, 3, list.edges.row_indices(), list.edges.col_indices()},
                                                         {}};
  write_edge_list<pattern, std::int32_t>(folder_.file("bare.el"), bare);
  EXPECT_EQ(test::read_file(folder_.file("bare.el")), "# source\ttarget\n0\t1\n1\t0\n2\t0\n");
}

TEST_F(EdgeList, WritesCsvThatIsReadBack) {
  const auto list = read_all_ways(folder_.write("a.el", "7\t9\t0.1\n9\t7\t-1e-300\n12345678901\t7\t3\n"));
  const std::string path = folder_.file("out.csv");
  write_edge_list<double, std::int32_t>(path, list.edges.view(), list.ids, edge_list_style::commas);
  EXPECT_EQ(test::read_file(path), "source,target,weight\n7,9,0.1\n9,7,-1e-300\n12345678901,7,3\n");
  EXPECT_EQ(edges_of(read_all_ways(path)), edges_of(list));
  const coo_view<const pattern, std::int32_t, host> bare{{3, 3, list.edges.row_indices(), list.edges.col_indices()},
                                                         {}};
  write_edge_list<pattern, std::int32_t>(path, bare, {}, edge_list_style::commas);
  EXPECT_EQ(test::read_file(path), "source,target\n0,1\n1,0\n2,0\n");
  const coo_view<const pattern, std::int32_t, host> empty{};
  write_edge_list<pattern, std::int32_t>(path, empty, {}, edge_list_style::commas);
  EXPECT_EQ(test::read_file(path), "source,target\n");
  EXPECT_EQ(read_all_ways(path).edges.nnz(), 0);
}

TEST_F(EdgeList, BadGraphsAreNotWritten) {
  const std::vector<std::int32_t> far = {5};
  const coo_view<const pattern, std::int32_t, host> outside{{3, 3, far, far}, {}};
  EXPECT_THROW((write_edge_list<pattern, std::int32_t>(folder_.file("o.el"), outside)), error);
  const coo_view<const pattern, std::int32_t, host> oblong{{3, 4, {}, {}}, {}};
  EXPECT_THROW((write_edge_list<pattern, std::int32_t>(folder_.file("o.el"), oblong)), error);
  const std::vector<std::int32_t> near = {0};
  const std::vector<std::int64_t> unreadable = {-7};
  const coo_view<const pattern, std::int32_t, host> loop{{1, 1, near, near}, {}};
  EXPECT_THROW((write_edge_list<pattern, std::int32_t>(folder_.file("o.el"), loop, unreadable)), error);
  EXPECT_EQ(folder_.entries(), 0U);
}

// --- Real files ------------------------------------------------------------------------------------------------------

// A file's contents, read with standard streams.
struct plain_reading {
  std::vector<edge> edges;
  std::set<std::int64_t> ids;
};

plain_reading read_plainly(const std::string& text) {
  plain_reading result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream in(line);
    std::int64_t source = 0;
    std::int64_t target = 0;
    if (!(in >> source >> target)) continue;
    double weight = 1.0;
    in >> weight;
    result.edges.emplace_back(source, target, weight);
    result.ids.insert({source, target});
  }
  return result;
}

// Figures by numpy and networkx, in truth.json.
void expect_facts(const edge_list<std::int32_t>& list, const nlohmann::json& facts, const std::string& name) {
  const std::vector<edge> edges = edges_of(list);
  ASSERT_FALSE(edges.empty()) << name;
  EXPECT_EQ(list.edges.nnz(), facts["edge_lines"].get<std::int64_t>()) << name;
  EXPECT_EQ(list.ids.front(), facts["min_id"].get<std::int64_t>()) << name;
  EXPECT_EQ(list.ids.back(), facts["max_id"].get<std::int64_t>()) << name;
  EXPECT_EQ(std::get<0>(edges[0]), facts["first_edge"][0].get<std::int64_t>()) << name;
  EXPECT_EQ(std::get<1>(edges[0]), facts["first_edge"][1].get<std::int64_t>()) << name;
  EXPECT_EQ(list.ids[static_cast<std::size_t>(list.first_vertex)], facts["first_edge"][0].get<std::int64_t>()) << name;
  std::set<std::pair<std::int64_t, std::int64_t>> distinct;
  std::int64_t loops = 0;
  double sum = 0;
  for (const auto& [source, target, weight] : edges) {
    loops += source == target ? 1 : 0;
    sum += weight;
    distinct.emplace(source, target);
  }
  EXPECT_EQ(loops, facts["self_loops"].get<std::int64_t>()) << name;
  EXPECT_EQ(list.edges.nnz() - static_cast<std::int64_t>(distinct.size()), facts["duplicate_edges"].get<std::int64_t>())
      << name;
  EXPECT_EQ(list.weighted, facts.contains("weights")) << name;
  if (list.weighted) {
    EXPECT_NEAR(sum, facts["weights"]["sum"].get<double>(), 1e-6) << name;
  }
}

TEST(EdgeListFiles, AgreeWithAPlainReadingAndTheTruth) {
  SPARGO_TEST_NEEDS_DATA();
  const auto folder = test::data_directory();
  const auto truth = nlohmann::json::parse(std::ifstream(folder / "truth.json"));
  int files = 0;
  for (const auto& [name, facts] : truth["files"].items()) {
    if (facts["kind"] == "mtx" || name.rfind("twitch", 0) == 0) continue;
    const std::string path = (folder / name).string();
    const auto list = read_edge_list<std::int32_t>(context<host>({.threads = 2}), path);
    const auto plain = read_plainly(name.ends_with(".gz") ? test::gunzip(path) : test::read_file(path));
    EXPECT_TRUE(edges_of(list) == plain.edges) << name;
    EXPECT_TRUE(std::equal(plain.ids.begin(), plain.ids.end(), list.ids.begin(), list.ids.end())) << name;
    EXPECT_EQ(list.edges.rows(), facts["distinct_ids"].get<std::int64_t>()) << name;
    expect_facts(list, facts, name);
    ++files;
  }
  EXPECT_EQ(files, 14);
}

// Larger than a block, so that room is reserved before anything is read: enough, too little, far too much.
TEST(EdgeListFiles, LargeOnesWhoseLinesBecomeShorterOrLonger) {
  const test::temporary_folder folder;
  const auto lines = [](const std::string& filling, std::size_t bytes, int step) {
    std::string text;
    for (int k = 0; text.size() < bytes; ++k) text += fmt::format("{}\t{}{}\n", k % 5000, k * step % 7000, filling);
    return text;
  };
  const std::string blanks(40, ' ');
  const std::string comments = "# " + std::string(70, '-') + "\n";
  for (const auto& [head, tail] : std::vector<std::pair<std::string, std::string>>{
           {lines("", 6 << 20, 3), lines("", 14 << 20, 11)},
           {lines(blanks, 3 << 20, 3), lines("", 9 << 20, 11)},
           {lines("", 2 << 20, 3), lines(blanks, 16 << 20, 11)},
           {comments + lines("", 1 << 20, 3), comments + lines("", 18 << 20, 7)},
           {lines("\t2.5", 6 << 20, 3), lines("\t7", 14 << 20, 5)}}) {
    const std::string path = folder.write("a.el", head + tail);
    detail::edge_list_tuning small;
    small.input.block_bytes = 1 << 20;
    const auto expected = detail::read_edge_list_with<std::int32_t>(context<host>({.threads = 1}), path, {}, small);
    for (const int threads : {1, 2, 5}) {
      const context<host> ctx({.threads = threads});
      const auto read = read_edge_list<std::int32_t>(ctx, path);
      expect_same_ends(expected, read);
      EXPECT_TRUE(std::equal(expected.edges.values().begin(), expected.edges.values().end(),
                             read.edges.values().begin(), read.edges.values().end()));
      expect_same_ends(expected, read_edge_pattern<std::int32_t>(ctx, path));
    }
  }
}

// The original file, with a line `from,to`; the figures are in MANIFEST.md of the data.
TEST(EdgeListFiles, ALineOfColumnNamesIsPassedOver) {
  SPARGO_TEST_NEEDS_DATA();
  const std::string path = (test::data_directory() / "twitch_DE_raw.csv.gz").string();
  const auto list = read_edge_list<std::int32_t>(context<host>(), path);
  const std::string text = test::gunzip(path);
  EXPECT_EQ(list.edges.nnz(), std::count(text.begin(), text.end(), '\n') - 1);
  EXPECT_FALSE(list.weighted);
  EXPECT_EQ(list.ids[static_cast<std::size_t>(list.edges.row_indices()[0])], 0);
  EXPECT_EQ(list.ids[static_cast<std::size_t>(list.edges.col_indices()[0])], 9206);
}

}  // namespace
}  // namespace spargo
