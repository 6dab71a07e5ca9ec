// Recognition of formats by first bytes and name; every text reader skips a byte-order mark.
#include "io/support/files.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/dimacs.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/metis.hpp>

#include <gtest/gtest.h>

namespace spargo {
namespace {

const std::string k5 =
    "5 10 001\n2 1 3 1 4 1 5 1\n1 1 3 2 4 2 5 2\n1 1 2 2 4 3 5 3\n1 1 2 2 3 3 5 4\n1 1 2 2 3 3 4 4\n";

TEST(InputFormat, IsToldByTheText) {
  using enum input_format;
  EXPECT_EQ(recognise_format("%%MatrixMarket matrix", "a"), matrix_market);
  EXPECT_EQ(recognise_format("SPARGO\r\n", "a.mtx"), snapshot);
  EXPECT_EQ(recognise_format("1 2\n2 3\n", "a"), edge_list);
  EXPECT_EQ(recognise_format("source,target\n1,2\n", "a"), edge_list);
  EXPECT_EQ(recognise_format("c,d\n1,2\n", "a.csv"), edge_list);
  EXPECT_EQ(recognise_format("1 2 {}\n", "a"), edge_list);
  EXPECT_EQ(recognise_format("c roads\np sp 2 1\na 1 2 3\n", "a"), dimacs_arcs);
  EXPECT_EQ(recognise_format("p edge 2 1\ne 1 2\n", "a"), dimacs_edges);
  EXPECT_EQ(recognise_format("p col 2 1\ne 1 2\n", "a.gr"), dimacs_edges);
  EXPECT_EQ(recognise_format(k5, "a"), metis);
  EXPECT_EQ(recognise_format("% a comment\n" + k5, "<stdin>"), metis);
}

TEST(InputFormat, IsToldByTheNameWhereTheTextLeavesItOpen) {
  using enum input_format;
  EXPECT_EQ(recognise_format("4 4\n2 3\n1 4\n1 4\n2 3\n", "a.el"), edge_list);
  EXPECT_EQ(recognise_format("4 4\n2 3\n1 4\n1 4\n2 3\n", "a.graph.gz"), metis);
  EXPECT_EQ(recognise_format("3 6\n2 3\n1 3\n1 2\n", "a.el"), edge_list);
  EXPECT_EQ(recognise_format("3 6\n2 3\n1 3\n1 2\n", "a.graph"), metis);  // counts every edge twice
  EXPECT_EQ(recognise_format("3 7\n2 3\n1 3\n1 2\n", "a.graph"), edge_list);
  EXPECT_EQ(recognise_format("c\n", "a.gr"), dimacs_arcs);
  EXPECT_EQ(recognise_format("c\n", "a.col"), dimacs_edges);
  EXPECT_EQ(recognise_format("1 2 3\n", "a.mtx"), matrix_market);
  const std::string comment(std::size_t{64} << 10, 'c');
  EXPECT_EQ(recognise_format("%" + comment, "a.graph"), metis);
  EXPECT_EQ(recognise_format("%" + comment, "a"), edge_list);
  EXPECT_EQ(recognise_format("c " + comment, "a.col"), dimacs_edges);
  EXPECT_EQ(recognise_format("c " + comment, "a"), dimacs_arcs);
  EXPECT_EQ(recognise_format("#" + comment, "a"), edge_list);
}

TEST(InputFormat, OthersAreRefusedByName) {
  for (const auto& [text, name] : std::vector<std::pair<std::string, std::string>>{
           {"<?xml version=\"1.0\"?>\n<gexf>", "a GEXF file"}, {"*Vertices 3\n", "a Pajek file"}}) {
    try {
      (void)recognise_format(text, "a.txt");
      ADD_FAILURE() << text;
    } catch (const error& e) {
      EXPECT_EQ(
          std::string(e.what()),
          "a.txt: " + name +
              " is not supported (expected Matrix Market, an edge list, METIS, DIMACS, GML, GraphML or a snapshot)");
    }
  }
}

TEST(InputFormat, AByteOrderMarkIsPassedOver) {
  const test::temporary_folder folder;
  const context<host> ctx;
  const auto with_mark = [&](const char* name, const std::string& text, const auto& read) {
    for (const bool packed : {false, true}) {
      const std::string marked = "\xEF\xBB\xBF" + text;
      const input_file file(folder.write(name, packed ? test::gzip(marked) : marked));
      EXPECT_EQ(file.head(), text);
      read(file);
    }
  };
  with_mark("a.graph", k5, [&](const input_file& file) {
    EXPECT_EQ(file.format(), input_format::metis);
    EXPECT_EQ(read_metis<std::int32_t>(ctx, file).triangle.nnz(), 10);
  });
  with_mark("a.gr", "p sp 2 1\na 1 2 3\n", [&](const input_file& file) {
    EXPECT_EQ(file.format(), input_format::dimacs_arcs);
    EXPECT_EQ(read_dimacs<std::int32_t>(ctx, file).entries.nnz(), 1);
  });
  with_mark("a.csv", "source,target\n1,2\n", [&](const input_file& file) {
    EXPECT_EQ(file.format(), input_format::edge_list);
    EXPECT_EQ(read_edge_list<std::int32_t>(ctx, file).edges.nnz(), 1);
  });
  with_mark("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", [&](const input_file& file) {
    EXPECT_EQ(file.format(), input_format::matrix_market);
    EXPECT_EQ((read_matrix_market<pattern, std::int32_t>(ctx, file).nnz()), 1);
  });
}

}  // namespace
}  // namespace spargo
