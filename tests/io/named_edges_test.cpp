// Edge lists whose vertices have names, against a std::map and by hand.
#include "io/edge_list/read.hpp"
#include "io/support/files.hpp"
#include "support/resource.hpp"
#include "support/rounds.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/edge_list.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace spargo {
namespace {

using edge = std::tuple<std::string, std::string, double>;

struct named_list {
  std::vector<std::string> names;
  std::vector<edge> edges;
  bool weighted = false;
  bool operator==(const named_list&) const = default;
};

template <class I>
named_list under_names(const edge_list<I>& list) {
  named_list read;
  EXPECT_TRUE(list.ids.empty());
  EXPECT_EQ(list.edges.rows(), list.names.size());
  for (std::int64_t v = 0; v < list.names.size(); ++v) {
    read.names.emplace_back(list.names.name(v));
    EXPECT_EQ(list.names.find(read.names.back()), v);
  }
  for (std::int64_t k = 0; k < list.edges.nnz(); ++k) {
    read.edges.emplace_back(list.names.name(list.edges.row_indices()[k]), list.names.name(list.edges.col_indices()[k]),
                            list.edges.values()[k]);
  }
  EXPECT_EQ(list.first_vertex, list.edges.nnz() == 0 ? -1 : list.edges.row_indices()[0]);
  read.weighted = list.weighted;
  return read;
}

std::vector<std::pair<int, detail::edge_list_tuning>> ways() {
  std::vector<std::pair<int, detail::edge_list_tuning>> all;
  for (const int threads : {1, 2, 3, 5, 8}) {
    for (const std::int64_t block : {0, 64, 1000}) {
      detail::edge_list_tuning tuning;
      tuning.input.block_bytes = block;
      if (block > 0) tuning.part_bytes = 16;
      all.emplace_back(threads, tuning);
    }
  }
  detail::edge_list_tuning colliding;
  colliding.part_bytes = 40;
  colliding.names.hash_mask = 0;
  all.emplace_back(4, colliding);
  return all;
}

class NamedEdges : public testing::Test {
 protected:
  named_list read(const std::string& text, const edge_list_options& options = {}) {
    const std::string path = folder_.write("a.csv", text);
    const named_list first = under_names(read_edge_list<std::int32_t>(context<host>(), path, options));
    for (const auto& [threads, tuning] : ways()) {
      const context<host> ctx({.threads = threads});
      EXPECT_EQ(under_names(detail::read_edge_list_with<std::int32_t>(ctx, path, options, tuning)), first)
          << threads << " threads, blocks of " << tuning.input.block_bytes;
    }
    EXPECT_EQ(under_names(read_edge_list<std::int64_t>(context<host>(), path, options)), first);
    const auto bare = read_edge_pattern<std::int32_t>(context<host>(), path, options);
    EXPECT_EQ(bare.edges.rows(), std::ssize(first.names));
    EXPECT_EQ(bare.names.size(), std::ssize(first.names));
    return first;
  }

  // The message after the file name.
  std::string refusal(const std::string& text, const edge_list_options& options = {}) {
    const std::string path = folder_.write("a.csv", text);
    std::vector<std::string> all;
    for (const auto& [threads, tuning] : ways()) {
      try {
        (void)detail::read_edge_list_with<std::int32_t>(context<host>({.threads = threads}), path, options, tuning);
        all.emplace_back("accepted");
      } catch (const error& e) {
        all.emplace_back(std::string(e.what()).substr(path.size() + 1));
      }
      EXPECT_EQ(all.back(), all.front()) << threads << " threads, blocks of " << tuning.input.block_bytes;
    }
    return all.front();
  }

  void expect_refused(const std::string& text, const std::string& start, const edge_list_options& options = {}) {
    EXPECT_EQ(refusal(text, options).substr(0, start.size()), start) << text;
  }

  std::vector<std::int64_t> integers(const std::string& text, const edge_list_options& options = {}) {
    const auto list = read_edge_list<std::int32_t>(context<host>(), folder_.write("a.csv", text), options);
    EXPECT_TRUE(list.names.empty());
    return list.ids;
  }

  test::temporary_folder folder_;
};

const edge_list_options as_names{{}, {}, id_kind::names};
const edge_list_options as_integers{{}, {}, id_kind::integers};

TEST_F(NamedEdges, OneLineIsAnEdge) {
  EXPECT_EQ(read("a,b\n"), (named_list{{"a", "b"}, {{"a", "b", 1}}}));
  EXPECT_EQ(read("a,b"), (named_list{{"a", "b"}, {{"a", "b", 1}}}));
  EXPECT_EQ(read("alice bob 2.5"), (named_list{{"alice", "bob"}, {{"alice", "bob", 2.5}}, true}));
}

TEST_F(NamedEdges, VerticesAreNumberedByFirstAppearance) {
  EXPECT_EQ(read("zoe,adam\nadam,bob\nzoe,zoe\nbob,carl\n").names,
            (std::vector<std::string>{"zoe", "adam", "bob", "carl"}));
}

TEST_F(NamedEdges, NumbersBesideNamesAreNames) {
  EXPECT_EQ(read("alice,1\nbob,1\n1,alice\n").names, (std::vector<std::string>{"alice", "1", "bob"}));
  EXPECT_EQ(read("a,01\nb,1\n").names, (std::vector<std::string>{"a", "01", "b", "1"}));
}

TEST_F(NamedEdges, QuotesHoldSeparatorsAndQuotes) {
  EXPECT_EQ(read("\"Doe, Jane\",\"Roe\"\n\"Roe\",\"a \"\"b\"\" c\"\n").names,
            (std::vector<std::string>{"Doe, Jane", "Roe", "a \"b\" c"}));
  EXPECT_EQ(read("\"Doe, Jane\",\"Roe\",0.5\nRoe,\"Doe, Jane\",2\n"),
            (named_list{{"Doe, Jane", "Roe"}, {{"Doe, Jane", "Roe", 0.5}, {"Roe", "Doe, Jane", 2}}, true}));
  EXPECT_EQ(read("\"a b\" \"c\"\nc d\n").names, (std::vector<std::string>{"a b", "c", "d"}));
  EXPECT_EQ(read("\"\",a\na,\"\"\n").names, (std::vector<std::string>{"", "a"}));
  EXPECT_EQ(read("\"\"\"\",\"\"\"\"\"\"\n").names, (std::vector<std::string>{"\"", "\"\""}));
  EXPECT_EQ(read("\"#1\",x\n# a comment\n\"%\",x\n").names, (std::vector<std::string>{"#1", "x", "%"}));
}

TEST_F(NamedEdges, BlanksBelongToNamesBetweenOtherSeparators) {
  EXPECT_EQ(read("New York,Los Angeles\n Los Angeles , San Jose\n").names,
            (std::vector<std::string>{"New York", "Los Angeles", "San Jose"}));
  EXPECT_EQ(read("New York\tLos Angeles\t3\n"),
            (named_list{{"New York", "Los Angeles"}, {{"New York", "Los Angeles", 3}}, true}));
  EXPECT_EQ(read("a, b;c\nd;e\n").names, (std::vector<std::string>{"a, b", "c", "d", "e"}));
  EXPECT_EQ(read("http://a/?x=1,2 http://b\nhttp://b http://c/;d\n").names,
            (std::vector<std::string>{"http://a/?x=1,2", "http://b", "http://c/;d"}));
}

TEST_F(NamedEdges, BytesAreTakenAsTheyAre) {
  EXPECT_EQ(read("Zoë,Łukasz\n\xff\xfe,Zoë\n").names, (std::vector<std::string>{"Zoë", "Łukasz", "\xff\xfe"}));
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a,b\n")
                .names,
            (std::vector<std::string>{"a", "b"}))
      << "a byte-order mark";
  EXPECT_EQ(read("a,b\r\nb,c\r\n").names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(read("f47ac10b-58cc-4372-a567-0e02b2c3d479,10.0.0.1\n").names.size(), 2U);
}

TEST_F(NamedEdges, CommentsAndHeaderLinesArePassed) {
  const std::vector<std::string> names = {"alice", "bob"};
  EXPECT_EQ(read("# who knows whom\nsource,target,weight\nalice,bob,2\n").names, names);
  EXPECT_EQ(read("% c\n\nid,weight,target,source\n7,2.5,bob,alice\n"),
            (named_list{names, {{"alice", "bob", 2.5}}, true}));
  EXPECT_EQ(read("employee,manager\nalice,bob\n", {{}, "employee,manager"}).names, names);
}

// Below a header line a comment with all columns may be an edge that would be lost, and the header an edge that is
// none.
TEST_F(NamedEdges, WhatMayBeAnEdgeIsNotPassed) {
  const std::string head = "source,target\ncuda,gpu\n";
  expect_refused(head + "#graph,#gpu\n", "3:1: a comment with all columns of an edge (expected quotes around a name");
  expect_refused(head + " %a,b\nx,y\n", "3:2: a comment with all columns of an edge");
  expect_refused("id;source;target\n1;a;b\n#2;c;d\n", "3:1: a comment with all columns");
  EXPECT_EQ(read(head + "\"#graph\",#gpu\n").names, (std::vector<std::string>{"cuda", "gpu", "#graph", "#gpu"}));
  for (const char* comment : {"# a, b", "#", "##a,b", "#!x", "#a,b,c", "#a,", "% x,y", "#\ta,b"}) {
    EXPECT_EQ(read(head + comment + "\nx,y\n").edges.size(), 2U) << comment;
  }
  EXPECT_EQ(read("a,b\n#c,d\n").edges.size(), 1U) << "no header";
  EXPECT_EQ(integers("source,target\n#1,2\n3,4\n"), (std::vector<std::int64_t>{3, 4}));

  expect_refused(head + "source,target\n", "3:1: the names of the columns again (expected an edge)");
  expect_refused("\"Source\",\"Target\",\"Weight\"\na,b,1\nSource,Target,Weight\nc,d,2\n", "3:");
  expect_refused("n,to,from\n1,a,b\n2,to,from\n", "3:1: the names of the columns again");
  EXPECT_EQ(read(head + "target,source\nsource,gpu\n").edges.size(), 3U);
  expect_refused("source target x\nsource target x\n", "2:1: the names of the columns again", as_names);
}

TEST_F(NamedEdges, NetworkxAttributes) {
  EXPECT_EQ(read("alice bob {}\nbob carl {}\n").edges, (std::vector<edge>{{"alice", "bob", 1}, {"bob", "carl", 1}}));
  EXPECT_EQ(read("alice bob {'weight': 3.0, 'kind': 'a b'}\nbob carl {'weight': 2}\n").edges,
            (std::vector<edge>{{"alice", "bob", 3}, {"bob", "carl", 2}}));
}

TEST_F(NamedEdges, FilesOfIntegersStayFilesOfIntegers) {
  EXPECT_EQ(integers("7,3\n3,5\n"), (std::vector<std::int64_t>{3, 5, 7}));
  EXPECT_EQ(integers("\"101\",\"102\"\n\"102\",\"7\"\n"), (std::vector<std::int64_t>{7, 101, 102}));
  EXPECT_EQ(integers("\"101\" \"102\" 0.5\n\"102\" \"7\" 1\n"), (std::vector<std::int64_t>{7, 101, 102}));
  std::string text;
  for (int k = 0; k < 50; ++k) text += fmt::format("{} {}\n", k, k + 1);
  expect_refused(text + "50 alice\n", "51:4: 'alice' is not a vertex id");
  EXPECT_NE(refusal(text + "50 alice\n").find("ids=names"), std::string::npos);
  expect_refused("1 2\nx y\n", "2:1: 'x' is not a vertex id");
  expect_refused("1 2\n-1 3\n", "2:1: vertex id '-1' is negative");
  expect_refused("1.5 2\n", "1:1: vertex id '1.5' is not an integer");
  expect_refused("a,b\n", "1:1: 'a' is not a vertex id", as_integers);
}

TEST_F(NamedEdges, AnyFileCanBeReadAsNames) {
  EXPECT_EQ(read("7,3\n3,05\n-1,1e3\n", as_names).names, (std::vector<std::string>{"7", "3", "05", "-1", "1e3"}));
  EXPECT_TRUE(read("", as_names).names.empty());
  EXPECT_TRUE(read("# nothing\n", as_names).names.empty());
}

TEST_F(NamedEdges, ErrorsHaveTheirPlace) {
  expect_refused("a,b\n\"c,d\n", "2:1: the quotes do not end on this line");
  expect_refused("a,b\nc,\"d\n", "2:3: the quotes do not end on this line");
  expect_refused("a,b\n\"c\"x,d\n", "2:4: unexpected 'x'");
  expect_refused("a b\n\"c\"x d\n", "2:4: unexpected 'x'");
  expect_refused("a,b\nc\n", "2:2: too few columns: 1 (expected 3 or more)");
  expect_refused("a,b\n,c\n", "2:1: the source vertex is missing");
  expect_refused("a,b\nc,\n", "2:3: the target vertex is missing");
  expect_refused("a,b,1\nc,d\n", "2:4: an edge without a weight");
  expect_refused("a,b\nc,d,1\n", "2:6: a weight (expected none");
  expect_refused("a,b,friend\n", "1:5: 'friend' is not a weight");
  expect_refused("a,b\n" + std::string(2'000'000, 'x') + ",y\n", "2:1048577: the line is t");
}

TEST_F(NamedEdges, GarbageIsNoListOfNames) {
  expect_refused("<html>\n", " an HTML page is not supported");
  expect_refused(std::string("a\0b c\0\1\n", 8), "1:1: 'a\\x00b' is not a vertex id");
}

TEST_F(NamedEdges, LongNames) {
  const std::string a(500'000, 'a');
  const std::string b = a + "b";
  EXPECT_EQ(read(a + "," + b + "\n" + b + ",c\n").names, (std::vector<std::string>{a, b, "c"}));
}

TEST_F(NamedEdges, EveryRefusedAllocationSurfaces) {
  std::string text;
  for (int k = 0; k < 5'000; ++k) text += fmt::format("first vertex {},second vertex {}\n", k, k);
  const std::string path = folder_.write("a.csv", text);
  const auto requests = test::fail_every_allocation(
      [&](const context<host>& ctx) { EXPECT_EQ(read_edge_list<std::int32_t>(ctx, path).names.size(), 10'000); });
  EXPECT_GT(requests, 5);
}

TEST_F(NamedEdges, AreWrittenAndReadAgain) {
  const std::string text = "\"Doe, Jane\",Roe,1\nRoe,\"a \"\"b\"\"\",2\n\"\",\"#x\",3\n\"b c\",\"{\",4\n";
  const named_list first = read(text);
  const auto list = read_edge_list<std::int32_t>(context<host>(), folder_.write("a.csv", text));
  for (const edge_list_style style : {edge_list_style::tabs, edge_list_style::commas}) {
    const std::string path = folder_.file("out.csv");
    write_edge_list(path, list.edges.view(), list.names, style);
    EXPECT_EQ(under_names(read_edge_list<std::int32_t>(context<host>(), path)), first);
  }
}

// Fields of random bytes, quoted where necessary and sometimes elsewhere.
TEST_F(NamedEdges, RandomFilesAreThoseOfAMap) {
  std::mt19937_64 random(1);
  for (std::int64_t round = 0; round < static_cast<std::int64_t>(test::rounds(200)); ++round) {
    const char separator = " ,;\t"[random() % 4];
    const bool weighted = random() % 2 == 0;
    const std::size_t distinct = 1 + random() % 40;
    std::vector<std::string> names;
    for (std::size_t k = 0; k < distinct; ++k) {
      std::string name = fmt::format("n{}", k);
      for (std::size_t c = random() % 12; c > 0; --c) name += "ab \"',;\t#%{}é"[random() % 13];
      names.push_back(name);
    }
    named_list expected;
    expected.weighted = weighted;
    std::map<std::string, bool> known;
    std::string text = random() % 3 == 0 ? "# comment, \"\n" : "";
    for (std::size_t k = 0, edges = 1 + random() % 60; k < edges; ++k) {
      std::string ends[2];
      for (std::string& end : ends) {
        end = names[random() % distinct];
        if (known.emplace(end, true).second) expected.names.push_back(end);
        const bool must = end.find_first_of(" \"',;\t") != std::string::npos;
        std::string field;
        if (must || random() % 4 == 0) {
          for (const char c : end) field.append(c == '"' ? 2 : 1, c);
          field = '"' + field + '"';
        } else {
          field = end;
        }
        text += field + (&end == ends ? std::string(1, separator) : "");
      }
      const auto weight = static_cast<double>(random() % 1000) / 8;
      if (weighted) text += separator + fmt::format("{}", weight);
      expected.edges.emplace_back(ends[0], ends[1], weighted ? weight : 1);
      text += random() % 5 == 0 ? "\r\n" : "\n";
    }
    ASSERT_EQ(read(text, as_names), expected) << text;
  }
}

}  // namespace
}  // namespace spargo
