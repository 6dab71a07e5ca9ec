// Tables that are no edge lists, or say how they are to be read: adjacency matrices, files of other programs, line ends
// of old Macs, Excel's separator line, decimal commas without a header, and names above names.
#include "io/edge_list/read.hpp"
#include "io/support/files.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/dimacs.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/metis.hpp>
#include <spargo/io/stream.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace spargo {
namespace {

class Tables : public testing::Test {
 protected:
  // "source target [weight]" a line, or the error without the file's name; the same from a .gz.
  std::string read(const std::string& text, const std::string& columns = {}) const {
    const std::string plain = attempt(folder_.write("a.csv", text), columns);
    EXPECT_EQ(plain, attempt(folder_.write("a.csv.gz", test::gzip(text)), columns));
    return plain;
  }
  static std::string attempt(const std::string& path, const std::string& columns) {
    try {
      const auto list = read_edge_list<std::int32_t>(context<host>({.threads = 2}), path, {{}, columns});
      std::string all;
      for (std::int64_t k = 0; k < list.edges.nnz(); ++k) {
        for (const auto v : {list.edges.row_indices()[k], list.edges.col_indices()[k]}) {
          all += list.names.empty() ? std::to_string(list.ids[static_cast<std::size_t>(v)])
                                    : std::string(list.names.name(v));
          all += ' ';
        }
        if (list.weighted) all += fmt::format("{} ", list.edges.values()[k]);
        all.back() = '\n';
      }
      return all;
    } catch (const error& e) {
      const std::string said = e.what();
      return said.rfind(path, 0) == 0 ? said.substr(path.size() + 1) : said;
    }
  }
  [[nodiscard]] edge_list_header header(const std::string& text, const std::string& columns = {},
                                        id_kind ids = id_kind::automatic) const {
    return read_edge_list_header(folder_.write("h.csv", text), columns, ids);
  }
  // Whether a text is refused as an adjacency matrix; with --columns it never is.
  bool is_matrix(const std::string& text) const {
    const bool refused = read(text).find("an adjacency matrix") != std::string::npos;
    EXPECT_EQ(read(text, "1,2").find("an adjacency matrix"), std::string::npos) << text;
    return refused;
  }

  test::temporary_folder folder_;
};

// `rows` x `columns` values of `value(row, column)`.
template <class Value>
std::string table(int rows, int columns, char separator, const Value& value) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      text += fmt::format("{}", value(i, j));
      text += j + 1 < columns ? separator : '\n';
    }
  }
  return text;
}

int ring(int i, int j) { return j == i + 1 || i == j + 1 ? 1 : 0; }

TEST_F(Tables, AdjacencyMatricesAreRefusedByName) {
  EXPECT_TRUE(is_matrix(",A,B,C\nA,0,1,0\nB,1,0,1\nC,0,1,0\n")) << "pandas, networkx";
  EXPECT_TRUE(is_matrix(",A,B\nA,0,1\nB,1,0\n"));
  EXPECT_TRUE(is_matrix(",0,1,2,3\n0,0,1,1,0\n1,1,0,0,0\n2,1,0,0,0\n3,0,0,0,0\n")) << "integer labels";
  EXPECT_TRUE(is_matrix(";A;B;C\nA;0;0,5;0\nB;0,5;0;1\nC;0;1;0\n")) << "decimal commas";
  EXPECT_TRUE(is_matrix(",A,B,C\nA,,1.5,\nB,2,,1\nC,,1,\n")) << "pandas leaves missing ones empty";
  EXPECT_TRUE(is_matrix("\"\",\"A\",\"B\",\"C\"\n\"A\",0,1,0\n\"B\",1,0,1\n\"C\",0,1,0\n")) << "R's write.csv";
  EXPECT_TRUE(is_matrix("\"A\" \"B\" \"C\"\n\"A\" 0 1 0\n\"B\" 1 0 1\n\"C\" 0 1 0\n")) << "R's write.table";
  EXPECT_TRUE(
      is_matrix("\"\",\"V1\",\"V2\",\"V3\",\"V4\"\n\"1\",0,1,0,1\n\"2\",1,0,1,0\n\"3\",0,1,0,1\n\"4\",1,0,1,0\n"));
  EXPECT_TRUE(is_matrix("\"\",\"X1\",\"X2\",\"X3\",\"X4\"\n1,0,1,0,1\n2,1,0,1,0\n3,0,1,0,1\n4,1,0,1,0\n")) << "R";
  EXPECT_TRUE(is_matrix("node,A,B,C\nA,0,1,0\nB,1,0,1\nC,0,1,0\n"));
  EXPECT_TRUE(is_matrix("A,B,C,D\n0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n")) << "no labels of rows";
  EXPECT_TRUE(is_matrix("0,1,2,3\n0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n")) << "integers above";
  for (const char separator : {',', ' ', '\t', ';'}) {
    EXPECT_TRUE(is_matrix(table(4, 4, separator, ring))) << separator;
    EXPECT_TRUE(is_matrix(table(40, 40, separator, ring)));
  }
  EXPECT_TRUE(is_matrix(table(5, 5, ' ', [](int i, int j) { return fmt::format("{:.18e}", ring(i, j) * 1.0); })))
      << "numpy.savetxt";
  EXPECT_TRUE(is_matrix(table(5, 5, ',', [](int i, int j) { return i == j ? 0 : i * 5 + j; }))) << "directed, weighted";
  EXPECT_TRUE(is_matrix(table(1000, 1000, ',', ring))) << "larger than what is looked at";
  EXPECT_TRUE(is_matrix(table(3, 40000, ',', ring))) << "no line is whole in what is looked at";
  EXPECT_TRUE(is_matrix("# a matrix\n" + table(4, 4, ',', ring)));
  EXPECT_EQ(read("# c\n\n,A,B\nA,0,1\nB,1,0\n").rfind("3:1: an adjacency matrix of 2 vertices", 0), 0U)
      << read("# c\n\n,A,B\nA,0,1\nB,1,0\n");
}

TEST_F(Tables, TablesOfEdgesAreNoMatrices) {
  for (const std::string text : {
           "1,2,3\n2,3,1\n3,1,2\n",
           "0,1,1\n1,0,1\n2,0,0\n",
           "a,b,c\n0,1,1\n1,0,1\n1,1,0\n",
           ",source,target,weight\n0,10,20,1.5\n1,20,30,2.5\n2,30,10,1\n",
           "\"\",\"V1\",\"V2\",\"V3\"\n\"1\",10,20,1.5\n\"2\",20,30,2.5\n\"3\",30,40,1\n",
           "source,target,weight,time\n0,1,0,0\n1,0,0,0\n0,0,0,0\n0,0,0,0\n",
           "7188,1,10,1407470400\n430,1,10,1376539200\n3134,1,10,1369713600\n3026,1,10,1350014400\n",
           "1 2 0.5 9\n2 3 0.5 8\n3 4 0.5 7\n4 1 0.5 6\n",
           "1 2 3 4\n5 6 7 8\n",
           "x,5,6\n5,0,1\n6,1,0\n",
           "A,B,1\nB,A,0\n",
       }) {
    EXPECT_FALSE(is_matrix(text)) << text;
  }
}

// Each blank would begin a new field, and the rest of the number be lost or become a vertex.
TEST_F(Tables, NumbersWithBlanksAreNotCut) {
  struct grouped {
    std::string text;
    std::string says;
  };
  for (const grouped& g : {
           grouped{"source,target,weight\n1,2,3\n1,2,1 000\n", "3:5: blanks within the number '1 000'"},
           grouped{"# c\nsource;target;weight\n1;2;1 000\n2;3;1\n", "3:5: blanks within the number '1 000'"},
           grouped{"source;target;weight\n1 000;2;3\n2;3;4\n", "2:1: blanks within the number '1 000'"},
           grouped{"1;1 234 567;3\n2;3;4\n", "1:3: blanks within the number '1 234 567'"},
           grouped{"1,2,3\n1,2, 2.5\t 7 \n", "2:6: blanks within the number '2.5\\x09 7'"},
           grouped{"source\ttarget\tweight\n1\t2\t1 000\n", "2:5: blanks within the number '1 000'"},
       }) {
    EXPECT_EQ(read(g.text).rfind(g.says, 0), 0U) << g.text << read(g.text);
  }
  EXPECT_EQ(read("1, 2 , 3 \n2 ,3,\t4\n"), "1 2 3\n2 3 4\n");
  EXPECT_EQ(read("1 , 2, 0.5\tmore 1 2\n"), "1 2 0.5\n");
  EXPECT_EQ(read("1 2 3 4\n2 3 4 5\n"), "1 2 3\n2 3 4\n");
  EXPECT_EQ(read("source\ttarget\n1 \t 2\n2\t3\n"), "1 2\n2 3\n");
}

// Beyond the first lines, among lines of the fast path, and as the last line.
TEST_F(Tables, NumbersWithBlanksAreNotCutAnywhere) {
  const auto rows = [](int count, const std::string& delimiter) {
    std::string text;
    for (int k = 0; k < count; ++k) text += fmt::format("{0}{1}{2}{1}0.5\n", k % 999, delimiter, k % 777);
    return text;
  };
  for (const std::string delimiter : {",", ";", "\t"}) {
    const std::string head = fmt::format("source{0}target{0}weight\n", delimiter) + rows(20000, delimiter);
    for (const auto& [fields, column] : {std::pair<std::vector<std::string>, int>{{"1", "2", "1 000"}, 5},
                                         {{"1 000", "2", "3"}, 1},
                                         {{"1", "2 000", "3"}, 3},
                                         {{"1", "2", "2.5  7"}, 5},
                                         {{"1", "1 234 567", "0.25"}, 3}}) {
      const std::string line = fmt::format("{1}{0}{2}{0}{3}\n", delimiter, fields[0], fields[1], fields[2]);
      const std::string says = fmt::format("20002:{}: blanks within the number '", column);
      for (const int after : {0, 1000}) {
        EXPECT_EQ(read(head + line + rows(after, delimiter)).rfind(says, 0), 0U) << line << after;
      }
    }
    // Blanks around separators, and columns that are not used, are none of that.
    const std::string good = fmt::format("7 {0} 8{0} 0.5 {0}a 1 2\n7{0}8{0}0.5 \n", delimiter);
    const std::string wide = fmt::format("source{0}target{0}weight{0}note\n", delimiter) + rows(20000, delimiter);
    EXPECT_TRUE(read(wide + good + rows(1000, delimiter)).find("7 8 0.5\n7 8 0.5\n") != std::string::npos) << good;
  }
  // Blanks that separate, and text with commas.
  const std::string head = rows(20000, " ");
  EXPECT_TRUE(
      read(head + "7 8 0.5 a, b\n7 8 0.5 1 2\n7,8,0.5\n" + rows(1000, " ")).find("7 8 0.5\n7 8 0.5\n7 8 0.5\n") !=
      std::string::npos);
}

TEST_F(Tables, ColumnsOfTwoKindsAreNoticed) {
  const auto two = [&](const std::string& first, const std::string& rows = "1,1\n1,2\n") {
    return header(first + "\n" + rows).may_be_two_kinds;
  };
  for (const char* names : {"user_id,item_id", "customer,product", "reviewer,paper", "userId,movieId,rating",
                            "UserID,MovieID", "student_name,course_name", "user,business_id", "gene,disease",
                            "\"user id\",\"item id\"", "actor,director", "userid,itemid", ",user,item"}) {
    EXPECT_TRUE(two(names, names[0] == ',' ? "0,1,1\n1,1,2\n" : "1,1\n1,2\n")) << names;
  }
  for (const char* names :
       {"source,target", "from,to", "a,b", "x1,x2", "person1,person2", "node_a,node_b", "citing,cited",
        "follower,followee", "author,coauthor", "user_id,friend_user_id", "from_station,to_station",
        "HomeTeam,AwayTeam", "caller_id,callee_id", "user,User2", "parent_id,child_id"}) {
    EXPECT_FALSE(two(names)) << names;
  }
  EXPECT_FALSE(header("user_id,item_id\n1,1\n", "user_id,item_id").may_be_two_kinds) << "as asked for";
  EXPECT_FALSE(header("1,1\n1,2\n").may_be_two_kinds);
  // Names are apart by themselves, unless one is in both columns.
  EXPECT_FALSE(header("customer,product,n\nann,pear,1\nbob,plum,2\n").may_be_two_kinds);
  EXPECT_TRUE(header("city,person,n\nparis,hector,1\ntroy,paris,2\n").may_be_two_kinds);
}

TEST_F(Tables, TheFirstNumberMayBeTheOneWithBlanks) {
  EXPECT_EQ(read("1 1,22,3\n11,22,33\n11,22,33\n"), "1:1: blanks within the number '1 1' (expected none)");
  EXPECT_EQ(read("1 000;2\n3;4\n5;6\n"), "1:1: blanks within the number '1 000' (expected none)");
  EXPECT_EQ(read("1,2 000\n3,4\n"), "1:3: blanks within the number '2 000' (expected none)");
  EXPECT_EQ(read("1 2 3\n4,5,6\n7 8 9\n"), "1 2 3\n4 5 6\n7 8 9\n") << "mostly blanks";
  EXPECT_EQ(read("1 2 0.5\n4 5 6\n"), "1 2 0.5\n4 5 6\n");
}

TEST_F(Tables, AMissingIdDoesNotMakeAHeaderAnEdge) {
  EXPECT_EQ(read("child,parent\n1,\n2,1\n3,1\n"), "2:3: the target vertex is missing (expected an id, 0 to 2^63-1)");
  EXPECT_EQ(read("id,parent_id\n1,\n2,1\n").rfind("1:1: the names of the columns do not say which are source and", 0),
            0U);
  EXPECT_EQ(header("child,parent\n1,\n,2\n").names.size(), 0U) << "no line has both";
}

TEST_F(Tables, ColumnsOfTwoKindsAreKeptApart) {
  EXPECT_EQ(read("user_id,item_id\n1,1\n3,2\n1,0\n"), "1 1\n3 2\n1 0\n");
  EXPECT_EQ(read("user_id,item_id\n1,1\n3,2\n1,0\n", "bip:user_id,item_id"), "1 5\n3 6\n1 4\n");
  EXPECT_EQ(read("item_id,rating,user_id\n7,0.5,1\n8,2,3\n", "bip:user_id,item_id,rating"), "1 11 0.5\n3 12 2\n");
  EXPECT_EQ(read("1 1\n3 2\n", "bip:1,2"), "1 5\n3 6\n");
  EXPECT_EQ(read("1\t1\t.5\n3\t2\t1\n", "bip:2,1,3"), "1 4 0.5\n2 6 1\n");
  EXPECT_EQ(read("# c\nu,v\n# 99,1\n\n1,1\n", "bip:u,v"), "1 3\n");
  EXPECT_EQ(header("u,v\n1,1\n", "bip:u,v").direction, edge_direction::undirected);
  EXPECT_EQ(header("bip:u,v\n1,1\n", "bip:u,v").left_ids, -1) << "a column of this name";
  std::string far = "user,item\n";
  for (int k = 0; k < 30000; ++k) far += "1,2\n";
  EXPECT_EQ(header(far + "\"70\",2\n", "bip:user,item").left_ids, 71);
  EXPECT_EQ(header(far + "70,2\n", "bip:user,item").left_ids, 71);
  EXPECT_EQ(read("user,item\n1,2\nx,1\n", "bip:user,item").rfind("3:1: 'x' is not a vertex id", 0), 0U);
  EXPECT_NE(read("user,item\n9223372036854775807,2\n", "bip:user,item").find("on the left is 2^63-1"),
            std::string::npos);
  EXPECT_NE(read("user,item\n9223372036854775806,2\n", "bip:user,item").find("right vertex is too large"),
            std::string::npos);
}

TEST_F(Tables, FilesOfOtherProgramsAreRefusedByEveryDoor) {
  const auto refused = [&](const std::string& text, const std::string& name) {
    EXPECT_NE(read(text).find(name + " is not supported"), std::string::npos) << text << read(text);
    EXPECT_THROW((void)recognise_format(text, "f"), error) << text;
  };
  for (const std::string head : {"graph {", "graph G {", "digraph G {", "strict digraph \"a b\" {", "DIGRAPH{",
                                 "// c\ndigraph G {", "/* a\nb */ graph\n{", "digraph G\n{", "# c\ngraph G { "}) {
    refused(head + "\n  a -- b;\n  b -> c;\n}\n", "a DOT (Graphviz) file");
  }
  refused("digraph G {a -> b; b -> c}\n", "a DOT (Graphviz) file");
  refused("graph {\"a\" -- \"b\"}\n", "a DOT (Graphviz) file");
  refused("<gexf>\n", "a GEXF file");
  EXPECT_NE(read("graph [\n  node [\n").find("a GML file, and not an edge list"), std::string::npos);
  refused("*Vertices 2\n1 \"a\"\n2 \"b\"\n*Edges\n1 2\n", "a Pajek file");
  refused("{\"directed\": false, \"nodes\": [{\"id\": 1}]}\n", "a JSON file");
  refused("{\n  \"nodes\": []\n}\n", "a JSON file");
  refused("[[1, 2], [2, 3]]\n", "a JSON file");
  refused("dl n=4 format=fullmatrix\ndata:\n0 1 1 0\n", "a UCINET (DL) file");
  refused("DL\nN = 4\n", "a UCINET (DL) file");
  refused("nodedef>name VARCHAR\na\nedgedef>node1 VARCHAR,node2 VARCHAR\na,b\n", "a GDF (GUESS) file");
  refused(">>graph6<<A_\n", "a graph6 file");
  refused("LEDA.GRAPH\nstring\nint\n", "a LEDA file");
}

TEST_F(Tables, WordsOfOtherFormatsMayBeNames) {
  EXPECT_EQ(read("graph G {}\nG a {}\n"), "graph G\nG a\n");
  EXPECT_EQ(read("graph G {'weight': 3.0}\ndigraph G {'weight': 1, 'way': 'a->b'}\n"), "graph G 3\ndigraph G 1\n");
  EXPECT_EQ(read("graph,digraph\ndl,n\n"), "graph digraph\ndl n\n");
  EXPECT_EQ(read("{a} [b]\n[c d\n"), "{a} [b]\n[c d\n");
}

TEST_F(Tables, LineEndsOfOldMacsAreRefusedByEveryReader) {
  const std::string what = "a line ends in a carriage return alone (expected a line feed: tr '\\r' '\\n' < FILE)";
  EXPECT_EQ(read("1 2\r2 3\r"), "1:4: " + what);
  EXPECT_EQ(read("alice,bob\rbob,carol\r"), "1:10: " + what);
  EXPECT_EQ(read("# a comment\r1 2\r2 3\r"), "1:12: " + what);
  EXPECT_EQ(read("# a comment\r1 2\n2 3\n"), "1:12: " + what);
  EXPECT_EQ(read("source,target\r1,2\r"), "1:14: " + what);
  EXPECT_EQ(read("1 2\r"), "1 2\n") << "the rest of a CRLF";
  EXPECT_EQ(read("1 2\r\n2 3\r\n"), "1 2\n2 3\n");
  EXPECT_EQ(read("a,b\nb,c\rd,e\n").rfind("2:4: ", 0), 0U) << read("a,b\nb,c\rd,e\n");
  EXPECT_EQ(read("a b\nb c\rd e\n").rfind("2:4: ", 0), 0U) << read("a b\nb c\rd e\n");
  const auto refused = [&](const std::string& name, const std::string& text, const auto& reading) {
    const std::string path = folder_.write(name, text);
    for (const int step : {0, 1}) {
      try {
        if (step == 0) (void)input_file(path).format();
        if (step == 1) (void)reading(path);
        ADD_FAILURE() << name << " accepted by " << step;
      } catch (const error& e) {
        EXPECT_EQ(std::string(e.what()), fmt::format("{}:1:{}: {}", path, text.find('\r') + 1, what));
        EXPECT_EQ(e.code(), error_code::parse);
      }
    }
  };
  const context<host> ctx;
  refused("a.graph", "% c\r2 1\r2\r1\r", [&](const std::string& f) { return read_metis<std::int32_t>(ctx, f); });
  refused("a.graph", "2 1\r2\r1\r", [&](const std::string& f) { return read_metis<std::int32_t>(ctx, f); });
  refused("a.gr", "c x\rp sp 2 1\ra 1 2 3\r", [&](const std::string& f) { return read_dimacs<std::int32_t>(ctx, f); });
  refused("a.col", "p edge 2 1\re 1 2\r", [&](const std::string& f) { return read_dimacs<std::int32_t>(ctx, f); });
  const std::string banner = "%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 1\r";
  try {
    (void)read_matrix_market<double, std::int32_t>(ctx, folder_.write("a.mtx", banner));
    ADD_FAILURE() << "accepted";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("a.mtx:1:46: " + what), std::string::npos) << e.what();
  }
}

TEST_F(Tables, ExcelsSeparatorLineIsHonoured) {
  EXPECT_EQ(read("sep=;\n1;2;0,5\n2;3;1\n"), "1 2 0.5\n2 3 1\n");
  EXPECT_EQ(read("sep=,\r\n1,2\r\n2,3\r\n"), "1 2\n2 3\n");
  EXPECT_EQ(read("SEP=|\nsource|target|weight\n1|2|0.5\n"), "1 2 0.5\n");
  EXPECT_EQ(read("\"sep=;\"\nalice b;bob,c\n"), "alice b bob,c\n");
  EXPECT_EQ(read("sep=;\nid;source;target\n0;1;2\n", "target,source"), "2 1\n");
  EXPECT_EQ(read("# c\nsep=\t\na\tb\n1\t2\n"), "1 2\n");
  EXPECT_EQ(read("sep=;\n1;2;3\n2;3;x\n"), "3:5: 'x' is not a weight (expected a real number)");
  EXPECT_EQ(read("sep=;\n"), "");
  EXPECT_EQ(read("sep=;\n;A;B\nA;0;1\nB;1;0\n").rfind("2:1: an adjacency matrix", 0), 0U);
  EXPECT_EQ(read("sep= to\n"), "sep= to\n") << "a name";
  const std::string text = "sep=;\nsource;target;weight\n1;2;0.5\n2;3;1\n";
  for (const std::int64_t block : {1, 7, 0}) {
    detail::edge_list_tuning tuning;
    tuning.input.block_bytes = block;
    const std::string path = folder_.write("a.csv", text);
    EXPECT_EQ(detail::read_edge_list_with<std::int32_t>(context<host>({.threads = 2}), path, {}, tuning).edges.nnz(),
              2);
    const std::string out = folder_.file("out.csv");
    EXPECT_EQ(stream_edge_list(context<host>(), path, out, {.style = edge_list_style::commas}).entries, 2);
  }
}

TEST_F(Tables, DecimalCommasWithoutAHeaderAreReadOrRefused) {
  const std::string unclear = "1:1: four fields, of which the last two may be one weight with a decimal comma";
  for (const char* text : {"1,2,0,5\n2,3,1,25\n", "1, 2, 0,5\n", "1,2,0,5\n2,3,1\n", "alice,bob,0,5\nbob,carol,1,25\n",
                           "1,2,0,3333333333333333\n2,3,-1,5\n", "# c\n1,2,0,5\n"}) {
    const std::string said = read(text);
    EXPECT_NE(said.find(unclear.substr(4)), std::string::npos) << text << said;
    EXPECT_NE(said.find("(expected columns=1,2,3 if the third is the weight, columns=1,2 for no weights, or ;"),
              std::string::npos);
  }
  EXPECT_EQ(read("1,2,0,5\n2,3,1,25\n", "1,2,3"), "1 2 0\n2 3 1\n");
  EXPECT_EQ(read("1,2,0,5\n2,3,1,25\n", "1,2"), "1 2\n2 3\n");
  EXPECT_EQ(read("7188,1,10,1407470400\n430,1,-3,1376539200\n"), "7188 1 10\n430 1 -3\n") << "times";
  EXPECT_EQ(read("1,2,3,1600000000000\n"), "1 2 3\n") << "milliseconds";
  EXPECT_EQ(read("1,2,3,20240131\n2,3,4,20231224\n"), "1 2 3\n2 3 4\n") << "dates";
  EXPECT_EQ(read("1,2,0.5,5\n"), "1 2 0.5\n");
  EXPECT_EQ(read("1,2,5,x\n"), "1 2 5\n");
  EXPECT_EQ(read("1,2,3,4,5\n"), "1 2 3\n");
  EXPECT_EQ(read("1,2,\"0,5\"\n2,3,\"1,25\"\n"), "1 2 0.5\n2 3 1.25\n");
  EXPECT_EQ(read("source,target,weight\n1,2,\"0,5\"\n2,3,\"1,25\"\n3,4,2\n"), "1 2 0.5\n2 3 1.25\n3 4 2\n");
  EXPECT_EQ(read("alice,bob,\"0,5\"\nbob,carol,\"1,25\"\n"), "alice bob 0.5\nbob carol 1.25\n");
  EXPECT_EQ(read("1,2,\"0,5\"\n2,3,1.5\n"),
            "2:5: weight '1.5' has a decimal point (expected a comma, as among the first weights)");
  EXPECT_NE(read("1,2,\"1,234\"\n2,3,\"12,500\"\n").find("may be decimal commas or group thousands"), std::string::npos)
      << read("1,2,\"1,234\"\n2,3,\"12,500\"\n");
  EXPECT_NE(read("1\t2\t123,456\n").find("group thousands"), std::string::npos) << "three digits";
  EXPECT_EQ(read("1,2,\"1,234\"\n2,3,\"12,5\"\n"), "1 2 1.234\n2 3 12.5\n");
  EXPECT_EQ(read("1;2;1,234\n2;3;12,500\n"), "1 2 1.234\n2 3 12.5\n") << "semicolons are of decimal commas";
  EXPECT_EQ(read("source;target;weight, km;x\n1;2;0,5;1\n", "1,2,3"), "1 2 0.5\n") << "a comma within a name";
}

TEST_F(Tables, ListsOfNeighboursAreRefusedByName) {
  const auto kind = [&](const std::string& text, const std::string& file = "a.txt") {
    const std::string said = attempt(folder_.write(file, text), {});
    const std::size_t end = said.find(" is not supported (expected a line for each edge");
    EXPECT_EQ(attempt(folder_.write(file, text), "1,2").find("is not supported"), std::string::npos) << text;
    return end == std::string::npos ? std::string() : said.substr(1, end - 1);
  };
  const std::string networkx = "#-\n# GMT Thu Nov 26 07:40:32 2026\n# a name\n";
  const std::string adjacency = "a networkx adjacency list";
  EXPECT_EQ(kind(networkx + "0 1 2 3\n1 2\n2\n3\n"), adjacency);
  EXPECT_EQ(kind(networkx + "0 1 2\n1 2 3\n2 3 0\n3 0 1\n"), adjacency) << "as weighted edges";
  EXPECT_EQ(kind(networkx + "alice,bob\nbob,carol\ncarol\n"), adjacency);
  EXPECT_EQ(kind("0 1\n1 {}\n1 1\n2 {}\n2 0\n"), adjacency) << "several lines a vertex";
  EXPECT_EQ(kind("a 2\nb {'weight': 4, 'since': 2001}\nc {}\nb 0\n"), adjacency);
  for (const char* text : {"0 1 2 3\n1 4\n2 4\n3\n", "0 1 2 3 4\n1\n2\n3\n4\n", "0,1,2\n1,2\n2\n",
                           "0\t1\n1\t2\t3\t4\n2\t3\n", "1 2 3\n2 3 4 5\n3 4 5\n"}) {
    EXPECT_EQ(kind(text), "an adjacency list") << text;
  }
  for (const char* text : {"1: 2 3\n2: 3 1\n3: 1 2\n", "1 : 2 3\n2 : 3 1\n", "a: b\nb: c\nc:\n"}) {
    EXPECT_EQ(kind(text), "an adjacency list") << text;
  }
  for (const char* arrow : {"->", "--", "=>", "-", ">", "|", "~", "\u2192", "\u2013"}) {
    const std::string text = fmt::format("1 {0} 2\n2 {0} 3\n", arrow);
    EXPECT_EQ(kind(text), "a list of edges with arrows");
    EXPECT_NE(read(text).find("columns=1,3 takes"), std::string::npos);
    EXPECT_EQ(read(text, "1,3"), "1 2\n2 3\n");
  }
  for (const char* text : {"(1, 2)\n(2, 3)\n(1, 3)\n", "[1,2],\n[2,3]\n", "# c\n('a', 'b', 0.5)\n", "{1, 2}\n{2, 3}\n",
                           "source,target\n(1, 2)\n"}) {
    EXPECT_EQ(kind(text), "a list of tuples") << text;
    EXPECT_NE(read(text).find("; tr -d '()[]{}' removes brackets)"), std::string::npos) << read(text);
  }
  EXPECT_EQ(kind("1 -> 2\n2 3 1\n"), "") << "not every line";
  EXPECT_NE(read("from to\n1 -> 2\n2 -> 3\n").find("a list of edges with arrows"), std::string::npos);
  for (const char* text : {"e 1 2\ne 2 3\n", "a 1 2 5\na 2 3 6\n"}) {
    EXPECT_EQ(kind(text), "a DIMACS file without its line p") << text;
    EXPECT_EQ(read(text, "2,3"), "1 2\n2 3\n");
  }
  EXPECT_EQ(kind("# 0\n1\n2\n# 1\n2\n"), "an LGL file");
  EXPECT_EQ(kind("# a\nb 0.5\nc 2\n# b\nc 1\n"), "an LGL file");
  EXPECT_EQ(kind("# a\nb 1\n", "a.lgl"), "an LGL file");
  for (const char* text : {"1 2\n2 3\n", "0 1 2\n1 2 3\n2 3 0\n", "1 2 3 4\n2 3 4 5\n", "# a\n1 2\n2 3\n",
                           "# 2020\n1 2\n# 2021\n2 3\n", "1 2 {'weight': 1}\n2 3 {'weight': 4}\n", "# c\nsep=;\na;b\n",
                           "1 2 0.5 x\n2 3 1\n", "1 2\n\n2 3\n", "0 1\n1 2\n2 0\n", "# c\n# d\n1 2 3\n"}) {
    EXPECT_EQ(kind(text), "") << text;
    EXPECT_EQ(read(text).find("expected"), std::string::npos) << text << read(text);
  }
  EXPECT_EQ(read("1 2\n2 3 4\n").rfind("2:5: a weight", 0), 0U) << "one line differs";
  EXPECT_EQ(read("5 7\n1 2 3\n2 3 4\n").rfind("2:5: a weight", 0), 0U) << "a line of counts";
  EXPECT_EQ(read("1 2\n2 3\n3\n").rfind("3:2: the target vertex is missing", 0), 0U);
  std::string large = "1 2 3\n";
  while (large.size() < 70'000) large += "2 3 4\n";
  EXPECT_EQ(kind(large + "3 4 5 6\n"), "") << "beyond the first 64 KiB";
}

TEST_F(Tables, UnknownNamesAboveNamesAreSaid) {
  const std::string text = "Person,Friend\nalice,bob\nbob,carol\n";
  EXPECT_EQ(header(text).possible_names, (std::vector<std::string>{"Person", "Friend"}));
  EXPECT_EQ(read(text), "Person Friend\nalice bob\nbob carol\n");
  EXPECT_EQ(read(text, "Person,Friend"), "alice bob\nbob carol\n");
  EXPECT_EQ(read(text, "friend,person"), "bob alice\ncarol bob\n");
  EXPECT_EQ(read(text, "1,2"), "Person Friend\nalice bob\nbob carol\n") << "numbers: all lines are edges";
  EXPECT_TRUE(header(text, "1,2").possible_names.empty());
  EXPECT_TRUE(header("alice,bob\nbob,carol\n").possible_names.empty());
  EXPECT_TRUE(header("alice,bob\n").possible_names.empty()) << "nothing below";
  EXPECT_TRUE(header("1,2\n3,4\n").possible_names.empty());
  EXPECT_TRUE(header("alice,bob\ncarol,alice\n").possible_names.empty()) << "a target below";
  EXPECT_TRUE(header("source,target\na,b\n").possible_names.empty());
  EXPECT_FALSE(header("Person Friend\nalice bob\n").possible_names.empty());
  for (const char* numbers : {"007,8\n9,10\n", "1,Friend\nalice,bob\n", "Person,2.5\nalice,bob\n"}) {
    EXPECT_TRUE(header(numbers, {}, id_kind::names).possible_names.empty()) << numbers;
  }
}

TEST_F(Tables, NumbersBeforeCommentsAreNoNames) {
  for (const char* text : {"source,target\n1,2 # a\n2,3 # b\n", "source,target\n1,2\t% a\n2,3 // b\n",
                           "source,target,weight\n1,2 # a,3\n2,3 # b,4\n", "source;target\n1 // a;2\n2 // b;3\n"}) {
    EXPECT_EQ(header(text).ids, id_kind::integers) << text;
    EXPECT_EQ(read(text).rfind("2:", 0), 0U) << text << read(text);
  }
  const std::string text = "source,target\n1,2 # a\n2,3 # b\n";
  EXPECT_EQ(header(text, {}, id_kind::names).ids, id_kind::names) << "on request";
  for (const char* names :
       {"source,target\n1,flat 2 # a\n2,b # c\n", "source,target\n1,2 a\n2,3 b\n", "source,target\n1,2#a\n2,3#b\n"}) {
    EXPECT_EQ(header(names).ids, id_kind::names) << names;
  }
}

TEST_F(Tables, AColumnOfNumbersTellsNamesFromEdges) {
  const std::string expected = "alice bob 2001\nbob carol 2005\n";
  EXPECT_EQ(read("Person,Friend,Since\nalice,bob,2001\nbob,carol,2005\n"), expected);
  EXPECT_EQ(header("Person,Friend,Since\nalice,bob,2001\n").names,
            (std::vector<std::string>{"Person", "Friend", "Since"}));
  EXPECT_EQ(read("Person;Friend;Score\nalice;bob;0,5\n"), "alice bob 0.5\n");
  const std::string expected_columns =
      "is not a weight (expected a real number, or columns=SOURCE,TARGET[,WEIGHT] by name";
  EXPECT_EQ(read("a,b,x\nc,d,y\n").rfind("1:5: 'x' " + expected_columns, 0), 0U);
  EXPECT_EQ(read("trip,from where,to where\n1,Wall St,\"Park, NY\"\n").rfind("1:17: 'to where' " + expected_columns, 0),
            0U);
  EXPECT_EQ(read("# c\n1 2 2024-01-05\n").rfind("2:5: '2024-01-05' " + expected_columns, 0), 0U);
  EXPECT_EQ(read("1 2 2024-01-05\n2 3 2024-01-06\n", "1,2"), "1 2\n2 3\n");
  EXPECT_EQ(read("1 2 3\n2 3 x\n"), "2:5: 'x' is not a weight (expected a real number)");
  EXPECT_EQ(read("a b {'weight': 2}\nb c {'weight': 3}\n"), "a b 2\nb c 3\n");
}

// STRING's files have blanks between columns.
TEST_F(Tables, AColumnOfNumbersBelowAWordMakesAHeaderBetweenBlanksToo) {
  EXPECT_EQ(read("protein1 protein2 combined_score\n9606.A 9606.B 490\n9606.B 9606.C 198\n"),
            "9606.A 9606.B 490\n9606.B 9606.C 198\n");
  EXPECT_EQ(read("a b score\n1 2 0.5\n"), "1 2 0.5\n");
  EXPECT_TRUE(header("a b 1\nc d 2\n").names.empty());
  EXPECT_TRUE(header("a b {}\nc d {}\n").names.empty());
}

// Names whose separators lack quotes, and commas that group thousands, would be cut.
TEST_F(Tables, LinesWithMoreFieldsThanTheHeaderAreRefusedAnywhere) {
  const auto says = [](const std::string& place, const std::string& field, int expected, char separator) {
    const std::string shown = separator == '\t' ? "\\x09" : std::string(1, separator);
    return fmt::format("{}: '{}' is a field too many (expected {}, as in the header line; a field with '{}' in quotes)",
                       place, field, expected, shown);
  };
  EXPECT_EQ(read("source,target\nAnn,Bob\nSmith, John,Bob\nX,Y\n"), says("3:13", "Bob", 2, ','));
  EXPECT_EQ(read("source,target\nAnn,Bob\n\"Smith, John\",Bob\n"), "Ann Bob\nSmith, John Bob\n");
  EXPECT_EQ(read("source\ttarget\na\tb\tc\nd\te\n"), says("2:5", "c", 2, '\t'));
  EXPECT_EQ(read("note;source;target\nx;a;b\ny;c;d; e\n"), says("3:8", "e", 3, ';'));
  EXPECT_EQ(read("id,source,target\n1,2,3\n2,3,4,5\n"), says("3:7", "5", 3, ','));
  EXPECT_EQ(read("source,target\n1,2,3,4\n2,3,4,5\n"), says("2:5", "3", 2, ',')) << "no weight is named";
  // Empty fields may follow, and lists without a header or with given columns have no limit.
  EXPECT_EQ(read("source,target\na,b,\nc,d, ,\n"), "a b\nc d\n");
  EXPECT_EQ(read("source,target,weight\n1,2,3,\n2,3,4,,\n"), "1 2 3\n2 3 4\n");
  EXPECT_EQ(read("source,target\nAnn,Bob\nSmith, John,Bob\n", "source,target"), "Ann Bob\nSmith John\n");
  EXPECT_EQ(read("1,2,3,x\n2,3,4,y,z\n"), "1 2 3\n2 3 4\n");
  EXPECT_EQ(read("source target\na b c\n"), "a b\n") << "blanks may be within what follows";
  for (const std::string rest : {"", ",note", ",note,more"}) {
    std::string text = "source,target,weight" + rest + "\n";
    for (int k = 0; k < 20000; ++k) text += "1,2,3" + std::string(rest.empty() ? "" : ",x") + "\n";
    const int most = 3 + static_cast<int>(std::count(rest.begin(), rest.end(), ','));
    const std::string good = text + "1,2,3" + std::string(static_cast<std::size_t>(most - 3), ',') + "\n";
    EXPECT_EQ(read(good + "7,8,9\n").substr(6 * 20001), "7 8 9\n");
    std::string line = "1,2,1,234.5";  // and so on
    while (std::count(line.begin(), line.end(), ',') < most) line += ",4";
    const std::string last = line.substr(line.rfind(',') + 1);
    const std::size_t column = line.rfind(',') + 2;
    EXPECT_EQ(read(text + line + "\n"), says(fmt::format("20002:{}", column), last, most, ','));
    EXPECT_EQ(read(text + line + "\n" + text.substr(text.find('\n') + 1)),
              says(fmt::format("20002:{}", column), last, most, ','));
  }
}

TEST_F(Tables, ColumnsOfNumbersThatAreNotUsed) {
  const auto numbers = [&](const std::string& text) { return header(text).unused_numbers; };
  EXPECT_EQ(numbers("source,target,Dist\n1,2,0.5\n2,3,1\n"), (std::vector<int>{2}));
  EXPECT_EQ(numbers("from,to,id,cost_usd,note,Weight (a.u.)\n1,2,0,5,x,1\n2,3,1,6,,2.5\n"), (std::vector<int>{3, 5}));
  EXPECT_EQ(numbers("source,target,timestamp\n1,2,1082040961\n"), (std::vector<int>{}));
  EXPECT_EQ(numbers("source,target,colour\n1,2,red\n2,3,4\n"), (std::vector<int>{}));
  EXPECT_EQ(numbers("source,target,weight,length_km\n1,2,1,4\n"), (std::vector<int>{})) << "there is a weight";
  EXPECT_EQ(numbers("source;target;Dist\n1;2;0,5\n"), (std::vector<int>{2}));
  EXPECT_EQ(read("source,target,Dist\n1,2,0.5\n", "source,target,dist"), "1 2 0.5\n");
}

TEST_F(Tables, LeadingZerosAreOneIntegerAndTwoNames) {
  EXPECT_EQ(read("007,7\n7,8\n"), "7 7\n7 8\n");
  EXPECT_EQ(read("007,7\n7,x y\nx y,z\na,b\n"), "007 7\n7 x y\nx y z\na b\n");
}

}  // namespace
}  // namespace spargo
