// Edge lists with columns in any order: header lines, separators, decimal commas, directions given by comments.
#include <spargo/core/error.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/stream.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "io/edge_list/read.hpp"
#include "io/support/files.hpp"

namespace spargo {
namespace {

std::string listed(const edge_list<std::int32_t>& list) {
  std::string text;
  for (std::int64_t k = 0; k < list.edges.nnz(); ++k) {
    const auto id = [&](std::int32_t v) { return list.ids[static_cast<std::size_t>(v)]; };
    text += fmt::format("{} {}", id(list.edges.row_indices()[k]), id(list.edges.col_indices()[k]));
    if (list.weighted) text += fmt::format(" {}", list.edges.values()[k]);
    text += '\n';
  }
  return text;
}

class EdgeColumns : public testing::Test {
 protected:
  // One "source target [weight]" per line, or the error without the file name, from every reader and block size.
  std::string read(const std::string& text, const std::string& columns = {}) const {
    const std::string path = folder_.write("a.csv", text);
    const std::string packed = folder_.write("a.csv.gz", test::gzip(text));
    std::string first = attempt(path, [&] {
      auto list = read_edge_list<std::int32_t>(context<host>(), path, {{}, columns});
      return listed(list);
    });
    for (const std::string& file : {path, packed}) {
      for (const int threads : {1, 3}) {
        for (const std::int64_t block : {1, 7, 64, 0}) {
          detail::edge_list_tuning tuning;
          tuning.input.block_bytes = block;
          tuning.part_bytes = 5;
          const context<host> ctx({.threads = threads});
          EXPECT_EQ(
              first,
              attempt(file,
                      [&] {
                        return listed(detail::read_edge_list_with<std::int32_t>(ctx, file, {{}, columns}, tuning));
                      }))
              << threads << " threads, blocks of " << block;
        }
      }
    }
    EXPECT_EQ(first, attempt(path, [&] {
                const std::string out = folder_.file("out.el");
                stream_options options;
                options.reading = {{}, columns};
                (void)stream_edge_list(context<host>({.threads = 2}), path, out, options);
                return listed(read_edge_list<std::int32_t>(context<host>(), out));
              }));
    return first;
  }
  template <class Read>
  static std::string attempt(const std::string& path, const Read& read) {
    try {
      return read();
    } catch (const error& e) {
      const std::string said = e.what();
      return said.rfind(path, 0) == 0 ? said.substr(path.size() + 1) : said;
    }
  }
  [[nodiscard]] edge_list_header header(const std::string& text) const {
    return read_edge_list_header(folder_.write("h.csv", text));
  }

  test::temporary_folder folder_;
};

TEST_F(EdgeColumns, NamesDecide) {
  const std::string expected = "10 20 1.5\n20 30 2.5\n";
  EXPECT_EQ(read("id,source,target,weight\n0,10,20,1.5\n1,20,30,2.5\n"), expected);
  EXPECT_EQ(read("source,target,id,weight\n10,20,0,1.5\n20,30,1,2.5\n"), expected);
  EXPECT_EQ(read("edge_id,from,to,length\n0,10,20,1.5\n1,20,30,2.5\n"), expected);
  EXPECT_EQ(read("W;DST;SRC\n1.5;20;10\n2.5;30;20\n"), expected);
  EXPECT_EQ(read("From Node,To Node,Distance\n10,20,1.5\n20,30,2.5\n"), expected);
  EXPECT_EQ(read("label\ttarget\tsource\tvalue\n\t20\t10\t1.5\nx y\t30\t20\t2.5\n"), expected) << "an empty field";
  EXPECT_EQ(read("\"note\",\"source\",\"target\",\"weight\"\n\"a, \"\"b\"\"\",10,20,1.5\n,20,30,2.5\n"), expected);
  EXPECT_EQ(read("# c\n\nweight source target\n1.5 10 20\n\n# d\n2.5   20\t30 \n"), expected) << "between blanks";
  EXPECT_EQ(read("id,source,target,weight\r\n0,10,20,1.5\r\n1,\"20\",30,2.5"), expected) << "CRLF";
}

TEST_F(EdgeColumns, ColumnsWithoutAWeightsNameAreNotUsed) {
  const std::string expected = "10 20\n20 30\n";
  EXPECT_EQ(read("target,source\n20,10\n30,20\n"), expected);
  EXPECT_EQ(read("time,source,target\n1,10,20\n2,20,30\n"), expected);
  EXPECT_EQ(read("source,target,timestamp\n10,20,1082040961\n20,30,1082155839\n"), expected);
  EXPECT_EQ(read("source,target,colour\n10,20,red\n20,30,\n"), expected);
  EXPECT_EQ(read("a,b,timestamp\n10,20,1082040961\n20,30,1082155839\n"), expected);
  EXPECT_EQ(read("source,target\n10,20\n20,30\n"), expected);
}

TEST_F(EdgeColumns, IndexColumnsAreSkipped) {
  const std::string expected = "10 20 1.5\n20 30 2.5\n";
  EXPECT_EQ(read(",source,target,weight\n0,10,20,1.5\n1,20,30,2.5\n"), expected) << "pandas";
  EXPECT_EQ(read("\tsource\ttarget\tweight\n0\t10\t20\t1.5\n1\t20\t30\t2.5\n"), expected) << "pandas, sep='\\t'";
  EXPECT_EQ(read(",a,b,c\n0,10,20,1.5\n1,20,30,2.5\n"), expected);
  EXPECT_EQ(read("\"from\" \"to\" \"weight\"\n\"1\" 10 20 1.5\n\"2\" 20 30 2.5\n"), expected) << "R's write.table";
  EXPECT_EQ(read("from,to,weight\n1,10,20,1.5\n2,20,30,2.5\n"), expected) << "R, quote = FALSE";
  EXPECT_EQ(read("\"\",\"from\",\"to\",\"weight\"\n\"1\",10,20,1.5\n\"2\",20,30,2.5\n"), expected) << "R's write.csv";
}

TEST_F(EdgeColumns, AFieldMoreThanNamesMayBeADecimalComma) {
  for (const std::string text :
       {"source,target,weight\n1,2,0,5\n2,3,1,25\n", "source,target,weight\nA,B,0,5\nB,C,1,25\n"}) {
    EXPECT_EQ(read(text).rfind("1:1: the names of the columns do not say whether the lines", 0), 0U) << read(text);
  }
}

TEST_F(EdgeColumns, UnknownNamesAreAHeaderAboveIdsOnly) {
  EXPECT_EQ(read("a,b\n1,2\n"), "1 2\n");
  EXPECT_EQ(read("a,b,c\n1,2,3\n"), "1 2 3\n");
  EXPECT_EQ(header("a,b,c\n1,2,3\n").names, (std::vector<std::string>{"a", "b", "c"}));
  for (const std::string text : {"a,b\n", "a,b\nc,d\n", "a,b\n1,2\nc,d\n"}) {
    EXPECT_TRUE(header(text).names.empty()) << text;
    EXPECT_EQ(header(text).ids, id_kind::names) << text;
  }
  EXPECT_EQ(read("source,target\n"), "");
}

TEST_F(EdgeColumns, AmbiguousNamesAreRefused) {
  const auto refused = [&](const std::string& names, const std::string& values) {
    const std::string message = read(names + "\n" + values + "\n");
    EXPECT_EQ(message.rfind("1:1: the names of the columns do not say which", 0), 0U) << message;
    EXPECT_NE(message.find("columns="), std::string::npos);
    for (const char* name : {"'"}) EXPECT_NE(message.find(name), std::string::npos);
    return message;
  };
  EXPECT_NE(refused("source,from,to", "1,2,3").find("'source', 'from', 'to'"), std::string::npos);
  refused("source,target,weight,length", "1,2,3,4");
  refused("id,a,b", "1,2,3");
  refused("source,b", "1,2");
  refused("a,weight,b", "1,2,3");
  EXPECT_EQ(read("source,from,to\n1,2,3\n", "from,to"), "2 3\n");
}

TEST_F(EdgeColumns, ColumnsAsAskedForDecide) {
  const std::string text = "id,source,target,weight\n0,10,20,1.5\n1,20,30,2.5\n";
  EXPECT_EQ(read(text, "target,source"), "20 10\n30 20\n");
  EXPECT_EQ(read(text, "id,TARGET,weight"), "0 20 1.5\n1 30 2.5\n");
  EXPECT_EQ(read(text, "3,2,1"), "20 10 0\n30 20 1\n");
  EXPECT_EQ(read("1 2 3 4\n5 6 7 8\n", "4,1,2"), "4 1 2\n8 5 6\n");
  EXPECT_EQ(read("a b c\n1 2 3\n", "3,1"), "3 1\n");
  EXPECT_EQ(read("1,2,3\n", "2,3"), "2 3\n");
  EXPECT_EQ(read("from to w\n\"1\" 10 20 1.5\n", "to,from"), "20 10\n") << "row names";
  EXPECT_NE(read("a,b,a\n1,2,3\n", "a,b").find("several columns are called 'a'"), std::string::npos);
  EXPECT_EQ(read("weight,to.id,from.id\n5,1,2\n"), "2 1 5\n") << "points in names, as R has them";
  const auto refused = [&](const std::string& columns, const std::string& why) {
    const std::string message = read(text, columns);
    EXPECT_NE(message.find("columns " + columns + ": " + why), std::string::npos) << message;
  };
  refused("source", "expected SOURCE,TARGET");
  refused("a,b,c,d", "expected SOURCE,TARGET");
  refused("source,targets", "no column is called 'targets' (the first line has 'id', 'source', 'target', 'weight')");
  refused("source,7", "the first line has 4 columns");
  refused("source,2", "a column twice");
  refused("0,1", "no column is called '0'");
}

TEST_F(EdgeColumns, GephisTypeSaysTheDirection) {
  const std::string names = "Source,Target,Type,Id,Label,Weight\n";
  const std::string text = names + "1,2,Undirected,0,,0.5\n2,3,Undirected,1,\"a,b\",4.0\n";
  EXPECT_EQ(read(text), "1 2 0.5\n2 3 4\n");
  EXPECT_EQ(header(text).direction, edge_direction::undirected);
  EXPECT_EQ(header(text).said_by, "the column 'Type'");
  EXPECT_EQ(header(names + "1,2,Directed,0,,0.5\n").direction, edge_direction::directed);
  EXPECT_EQ(read(names + "1,2,Undirected,0,,0.5\n2,3,Directed,1,,4\n"),
            "3:5: an edge of type 'Directed' (expected undirected, as the first edge is: a graph is either)");
  EXPECT_EQ(read("source,target,type\n1,2,friend\n2,3,foe\n"), "1 2\n2 3\n") << "another type";
}

TEST_F(EdgeColumns, CommentsSayTheDirection) {
  const auto direction = [&](const std::string& comment) { return header(comment + "\n1 2\n").direction; };
  EXPECT_EQ(direction("# Undirected graph: ../../data/output/dblp.ungraph.txt"), edge_direction::undirected);
  EXPECT_EQ(direction("#  undirected graph (each unordered pair of nodes is saved once)"), edge_direction::undirected);
  EXPECT_EQ(direction("# Directed graph (each unordered pair of nodes is saved once): a.txt"),
            edge_direction::directed);
  EXPECT_EQ(direction("# Nodes: 2 Edges: 1\n# Undirected graph"), edge_direction::undirected);
  EXPECT_EQ(direction("% sym unweighted"), edge_direction::undirected);
  EXPECT_EQ(direction("% asym positive\r"), edge_direction::directed);
  EXPECT_EQ(direction("% another\n% sym unweighted"), edge_direction::not_said);
  EXPECT_EQ(direction("% symmetric"), edge_direction::not_said);
  EXPECT_EQ(direction("# an undirected graph"), edge_direction::not_said);
  EXPECT_EQ(direction("#" + std::string(100000, 'x') + "\n# Undirected graph"), edge_direction::undirected);
  EXPECT_EQ(header("% sym unweighted\n1 2\n").said_by, "the comment '% sym unweighted'");
  EXPECT_EQ(header("1 2\n# Undirected graph\n").direction, edge_direction::not_said);
}

TEST_F(EdgeColumns, LeftAndRightVerticesAreDifferent) {
  EXPECT_EQ(read("% bip unweighted\n% 4 3 2\n1 1\n2 1\n2 2\n3 2\n"), "1 4\n2 4\n2 5\n3 5\n");
  EXPECT_EQ(read("% bip weighted\n%4 3 2\n1 1 .5\n3 2 1\n"), "1 4 0.5\n3 5 1\n");
  EXPECT_EQ(header("% bip unweighted\n% 4 3 2\n1 1\n").direction, edge_direction::undirected);
  EXPECT_EQ(read("% bip unweighted\n% 4 3 2\n1 1\n4 1\n"),
            "4:1: left vertex 4 (expected at most 3, as the second line says)");
  EXPECT_EQ(read("% bip weighted\n% 4 3 2\n1 1 3\n2 1\n"),
            "4:4: an edge without a weight (expected one, as on the first edge)");
  EXPECT_EQ(read("% bip unweighted\n1 1\n").rfind("1:1: a bipartite graph, whose left and right", 0), 0U);
}

TEST_F(EdgeColumns, DecimalCommasAreReadOrRefused) {
  EXPECT_EQ(read("Source;Target;Weight\n1;2;0,5\n2;3;1,25\n3;4;7\n"), "1 2 0.5\n2 3 1.25\n3 4 7\n");
  EXPECT_EQ(read("1;2;0,5\n2;3;-1,25e-1\n"), "1 2 0.5\n2 3 -0.125\n");
  EXPECT_EQ(read("1\t2\t0,5\n"), "1 2 0.5\n");
  EXPECT_EQ(read("1 2 0,5\n2 3 ,5 x\n"), "1 2 0.5\n2 3 0.5\n");
  EXPECT_EQ(read("1 2 1\n2 3 0,5\n3 4 2\n"), "1 2 1\n2 3 0.5\n3 4 2\n") << "not on the first line";
  EXPECT_EQ(read("1;2;0,5\n2;3;1.25\n"),
            "2:5: weight '1.25' has a decimal point (expected a comma, as among the first weights)");
  EXPECT_EQ(read("1;2;1.000,5\n").find("'1.000,5'") != std::string::npos, true);
  std::string late;  // a decimal comma that the first lines do not have
  for (int k = 0; k < 10000; ++k) late += "1 2 3.5\n";
  const std::string path = folder_.write("late.el", late + "1 2 0,5\n");
  EXPECT_EQ(attempt(path, [&] { return listed(read_edge_list<std::int32_t>(context<host>({.threads = 2}), path)); })
                .rfind("10001:5: weight '0,5' has a decimal comma", 0),
            0U);
}

TEST_F(EdgeColumns, FieldsThatAreMissingHaveTheirPlace) {
  const std::string names = "id,source,target,weight\n1,2,3,4\n";
  EXPECT_EQ(read(names + "2,3,4,\n"), "3:7: the weight is missing (expected a real number)");
  EXPECT_EQ(read(names + "2,,4,5\n"), "3:3: the source vertex is missing (expected an id, 0 to 2^63-1)");
  EXPECT_EQ(read(names + "2,3\n"), "3:4: too few columns: 2 (expected 4 or more)");
  EXPECT_EQ(read(names + "2,x,4,5\n"), "3:3: 'x' is not a vertex id (expected 0 to 2^63-1; ids=names takes names)");
  EXPECT_EQ(read(names + "2,3,4,x\n"), "3:7: 'x' is not a weight (expected a real number)");
  EXPECT_EQ(read(names + "\"2,3,4,5\n"), "3:1: the quotes do not end on this line (expected another one)");
  EXPECT_EQ(read(names + "\"2\"x,3,4,5\n"), "3:4: unexpected 'x' (expected ',' or the end of the line)");
  EXPECT_EQ(read("from,to,weight\n1,2,\n2,3,4\n"), "2:5: the weight is missing (expected a real number)");
  EXPECT_EQ(read("1,2,3\n2,3,\n"), "2:5: an edge without a weight (expected one, as on the first edge)");
}

TEST_F(EdgeColumns, RoundedIntegersAreCounted) {
  const auto rounded = [&](const std::string& text) {
    return read_edge_list<std::int32_t>(context<host>(), folder_.write("r.el", text)).rounded_integers;
  };
  EXPECT_EQ(rounded("1 2 9007199254740993\n2 3 1\n"), 1);
  EXPECT_EQ(rounded("1 2 -9007199254740993\n2 3 9007199254740992\n"), 1);
  EXPECT_EQ(rounded("1 2 9007199254740994\n2 3 1e300\n3 4 123456789012345678901234567890.5\n"), 0);
  EXPECT_EQ(rounded("1 2 99999999999999999999\n2 3 10000000000000000000\n"), 1);
  EXPECT_EQ(rounded("weight,source,target\n9007199254740993,1,2\n"), 1);
  EXPECT_EQ(rounded("1 2 {'weight': 9007199254740993}\n"), 1);
  EXPECT_EQ(rounded("1 2\n2 3\n"), 0);
}

}  // namespace
}  // namespace spargo
