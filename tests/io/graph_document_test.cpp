// GML and GraphML: random graphs written by the test, positions of errors, bombs, and damaged files.
#include <spargo/core/error.hpp>
#include <spargo/io/graph_document.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "io/support/files.hpp"
#include "support/rounds.hpp"

namespace spargo {
namespace {

using edge = std::tuple<std::string, std::string, double>;

struct drawn_graph {
  std::vector<std::string> nodes;
  std::vector<edge> edges;
  bool directed = false;
  bool weighted = false;
};

class GraphDocument : public testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)read("<graphml><graph edgedefault=\"directed\"/></graphml>");
    } catch (const error& e) {
      if (e.code() == error_code::unsupported) has_expat_ = false;
    }
  }

  edge_list<std::int32_t> read(const std::string& text) const {
    return read_graph_document<std::int32_t>(context<host>({.threads = 2}), folder_.write("a", text));
  }
  drawn_graph drawn(const std::string& text) const {
    const edge_list<std::int32_t> list = read(text);
    drawn_graph graph;
    const auto name = [&](std::int64_t v) {
      return list.header.ids == id_kind::names ? std::string(list.names.name(v))
                                               : std::to_string(list.ids[static_cast<std::size_t>(v)]);
    };
    for (std::int64_t v = 0; v < list.edges.rows(); ++v) graph.nodes.push_back(name(v));
    for (std::int64_t k = 0; k < list.edges.nnz(); ++k) {
      graph.edges.emplace_back(name(list.edges.row_indices()[k]), name(list.edges.col_indices()[k]),
                               list.edges.values()[k]);
    }
    graph.directed = list.header.direction == edge_direction::directed;
    graph.weighted = list.weighted;
    const auto said = read_graph_document_direction(folder_.file("a"));
    EXPECT_EQ(said, list.header.direction);
    return graph;
  }
  // "LINE:COLUMN: message" of the error.
  std::string failure(const std::string& text) const {
    try {
      (void)read(text);
    } catch (const error& e) {
      const std::string message = e.what();
      return message.substr(std::min(message.size(), folder_.file("a").size() + 1));
    }
    return "none";
  }
  void expect_failure(const std::string& text, const std::string& part) const {
    EXPECT_NE(failure(text).find(part), std::string::npos) << failure(text) << "\n" << text.substr(0, 500);
  }

  bool has_expat_ = true;
  test::temporary_folder folder_;
};

drawn_graph draw(std::uint32_t seed, bool integers) {
  std::mt19937 random(seed);
  drawn_graph graph;
  graph.directed = random() % 2 == 0;
  graph.weighted = random() % 2 == 0;
  std::set<std::string> taken;
  for (std::size_t k = 0, count = 1 + random() % 30; k < count; ++k) {
    const std::string name = integers ? std::to_string(std::uint64_t{random()} << (random() % 31))
                                      : fmt::format("n{} <\"&'ü>", random() % 1000);
    if (taken.insert(name).second) graph.nodes.push_back(name);
  }
  for (std::size_t k = 0, count = random() % 60; k < count; ++k) {
    const auto end = [&] { return graph.nodes[random() % graph.nodes.size()]; };
    const double weight = static_cast<double>(random() % 1000) / 8;
    const std::string from = end();
    graph.edges.emplace_back(from, end(), graph.weighted ? weight : 1.0);
  }
  return graph;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return out;
}

std::string as_gml(const drawn_graph& graph, bool integers) {
  std::string text =
      fmt::format("# c [\nCreator \"x ] y\nz\"\ngraph [ directed {}\n label \"[\"", graph.directed ? 1 : 0);
  const auto id = [&](const std::string& name) {
    return integers ? name
                    : std::to_string(std::find(graph.nodes.begin(), graph.nodes.end(), name) - graph.nodes.begin());
  };
  std::string edges;
  for (const auto& [from, to, weight] : graph.edges) {
    edges += fmt::format("edge [ graphics [ a [ b 1 ] ] target {} source {} {} ]\n", id(to), id(from),
                         graph.weighted ? fmt::format("value {}", weight) : "w_1 9");
  }
  std::string nodes;
  for (const std::string& name : graph.nodes) {
    nodes += fmt::format("  node\n[\tid {}\n{} graphics [ x 1.5 label \"no\" ] ]\r\n", id(name),
                         integers ? "" : "label \"" + escaped(name) + "\"");
  }
  return text + (graph.directed ? nodes + edges : edges + nodes) + "]\n";
}

std::string as_graphml(const drawn_graph& graph) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c --><graphml xmlns=\"x\">\n<key id=\"d0\" for=\"edge\" "
      "attr.name=\"Weight\" attr.type=\"double\"><default>0.5</default></key><key id=\"d1\" for=\"node\" "
      "attr.name=\"weight\"/>\n<graph id=\"G\" edgedefault=\"{}\">",
      graph.directed ? "directed" : "undirected");
  for (const std::string& name : graph.nodes) {
    text += fmt::format("<node id=\"{}\"><data key=\"d1\">no</data></node>\n", escaped(name));
  }
  for (const auto& [from, to, weight] : graph.edges) {
    const std::string data = weight == 0.5 ? "" : fmt::format("<data key=\"d0\">\n {} </data>", weight);
    text += fmt::format("<edge source=\"{}\" target=\"{}\">{}</edge>", escaped(from), escaped(to), data);
  }
  return text + "</graph></graphml>";
}

void expect_same(const drawn_graph& got, drawn_graph want, bool integers) {
  if (integers) {
    std::sort(want.nodes.begin(), want.nodes.end(),
              [](const auto& a, const auto& b) { return std::stoull(a) < std::stoull(b); });
  }
  EXPECT_EQ(got.nodes, want.nodes);
  EXPECT_EQ(got.edges, want.edges);
  EXPECT_EQ(got.directed, want.directed);
  EXPECT_TRUE(want.edges.empty() || got.weighted == want.weighted);
}

TEST_F(GraphDocument, RandomGraphsComeBack) {
  for (std::uint32_t seed = 0; seed < test::rounds(200); ++seed) {
    for (const bool integers : {false, true}) {
      drawn_graph graph = draw(seed, integers);
      expect_same(drawn(as_gml(graph, integers)), graph, integers);
      if (!has_expat_) continue;
      if (!graph.weighted) {
        for (edge& each : graph.edges) std::get<2>(each) = 0.5;  // the key's default
      }
      graph.weighted = true;
      expect_same(drawn(as_graphml(graph)), graph, integers);
    }
  }
  if (!has_expat_) GTEST_SKIP() << "no GraphML: this library was built without Expat";
}

TEST_F(GraphDocument, LabelsAreNamesIfAllNodesHaveDifferentOnes) {
  const auto nodes = [&](const std::string& first, const std::string& second) {
    return drawn("graph [ node [ id 7 " + first + " ] node [ id 3 " + second + " ] ]").nodes;
  };
  using names = std::vector<std::string>;
  EXPECT_EQ(nodes("label \"b\"", "label \"a\""), (names{"b", "a"}));
  EXPECT_EQ(nodes("label \"b\"", "label \"b\""), (names{"3", "7"}));
  EXPECT_EQ(nodes("label \"b\"", ""), (names{"3", "7"}));
  EXPECT_EQ(nodes("label \"2\"", "label \"1\""), (names{"1", "2"}));
  EXPECT_EQ(nodes("label 2", "label 01"), (names{"2", "01"}));
  EXPECT_EQ(nodes("label \"&#252;&amp;&#;&x;&#1114112;\"", "label \"\""), (names{"ü&&#;&x;&#1114112;", ""}));
  EXPECT_EQ(nodes("LABEL \"b\" label \"c\"", "label \"a\""), (names{"b", "a"}));
}

TEST_F(GraphDocument, TheFirstUsualAttributeIsTheWeight) {
  const auto weight = [&](const std::string& attributes) {
    return drawn("graph [ node [ id 1 ] edge [ source 1 target 1 " + attributes + " ] ]").edges[0];
  };
  EXPECT_EQ(weight("value 3 weight 2.5 cost 9"), edge("1", "1", 2.5));
  EXPECT_EQ(weight("distance 3 length \"4e1\""), edge("1", "1", 40));
  EXPECT_EQ(weight("cost 9"), edge("1", "1", 1));
  expect_failure("graph [ node [ id 1 ]\nedge [ source 1 target 1 ]\n edge [ source 1 target 1 weight 2 ] ]",
                 "2:1: an edge without a weight");
  expect_failure("graph [ node [ id 1 ]\nedge [ source 1 target 1 w 2 ]\n edge [ source 1 target 1 ] ]",
                 "3:2: an edge without a weight");
  expect_failure("graph [ node [ id 1 ] edge [ source 1 target 1 w x ] ]", "1:50: 'x' is not a weight");
  expect_failure("graph [ node [ id 1 ] edge [ source 1 target 1 w 1e999 ] ]", "beyond the range");
  expect_failure("graph [ edge [ w 1 W 2 ] ]", "1:22: a second weight");
}

TEST_F(GraphDocument, BadGmlIsRefusedWithItsPlace) {
  expect_failure("graph [\n  node [ id 1 ]\n  node [ id 2 ]\n  node [ id 1 ]\n]", "4:3: node '1' occurs twice");
  expect_failure("graph [\n  node [ id 1 ]\n  edge [ source 1 target 5 ]\n]", "3:3: the edge's end '5' is no node");
  expect_failure("graph [\n  node [ label \"a\" ]\n]", "2:3: a node without an id");
  expect_failure("graph [\n  edge [ source 1 ]\n]", "2:3: an edge without a target");
  expect_failure("graph [\n  edge [ target 1 ]\n]", "2:3: an edge without a source");
  expect_failure("graph [ node [ id -1 ] ]", "1:19: '-1' is not a vertex id");
  expect_failure("graph [ node [ id 9223372036854775808 ] ]", "is not a vertex id");
  expect_failure("graph [ node [ id \"a\" ] ]", "is not a vertex id");
  expect_failure("graph [ node [ id [ ] ] ]", "is not a vertex id");
  expect_failure("graph [ node 5 ]", "'node' is no list");
  expect_failure("graph [ directed 2 ]", "1:18: '2' is no direction");
  expect_failure("graph [ 5 6 ]", "1:9: unexpected '5' (expected a key)");
  expect_failure("graph [ a ]", "'a' has no value");
  expect_failure("graph [ a", "the file ends after 'a'");
  expect_failure("graph [ node [ id 1 ]", "the file ends within a list");
  expect_failure("graph [ a \"b ]", "1:11: the quotes do not end");
  expect_failure("graph [ ] ]", "unexpected ]");
  expect_failure("graph [ ]\ngraph [ ]", "2:1: a second graph");
  expect_failure("Creator \"x\"\n", "the file ends before its graph");
  expect_failure(
      "graph [ a \"" + std::string(3 << 20, 'x') + "\" node [ id 1 label \"" + std::string(3 << 20, 'x') + "\" ] ]",
      "a string of more than 1 MiB");
  EXPECT_EQ(failure("graph [ ]"), "none");
  std::string deep = "graph [ ";
  for (int k = 0; k < 300'000; ++k) deep += "a [ ";
  expect_failure(deep, "the file ends within a list");
  for (int k = 0; k < 300'000; ++k) deep += "] ";
  EXPECT_EQ(failure(deep + "]"), "none");
}

TEST_F(GraphDocument, BadGraphmlIsRefusedWithItsPlace) {
  if (!has_expat_) GTEST_SKIP() << "no GraphML: this library was built without Expat";
  const auto graph = [](const std::string& inside) {
    return "<graphml>\n<key id=\"w\" for=\"edge\" attr.name=\"weight\"/>\n<graph edgedefault=\"directed\">\n" + inside +
           "\n</graph></graphml>";
  };
  expect_failure(graph("<node id=\"a\"/>\n<node id=\"a\"/>"), "5:1: node 'a' occurs twice");
  expect_failure(graph("<node id=\"a\"/>\n<edge source=\"a\" target=\"b\"/>"), "5:1: the edge's end 'b' is no node");
  expect_failure(graph("<node/>"), "4:1: <node> has no id");
  expect_failure(graph("<edge source=\"a\"/>"), "<edge> has no target");
  expect_failure(graph("<node id=\"a\"><graph edgedefault=\"directed\"/></node>"), "4:14: a graph within a graph");
  expect_failure(graph("<hyperedge/>"), "a hyperedge");
  expect_failure(graph("<node id=\"a\"/><edge source=\"a\" target=\"a\" directed=\"false\"/>"),
                 "whose direction is not");
  expect_failure(graph("<node id=\"a\"/><edge source=\"a\" target=\"a\"><data key=\"w\">x</data></edge>"),
                 "'x' is not a weight");
  expect_failure(graph("<node id=\"a\"/><edge source=\"a\" target=\"a\"><data key=\"w\"/></edge>"), "is not a weight");
  expect_failure(graph("<node id=\"a\">"), "the XML is malformed: mismatched tag");
  expect_failure("<graphml><graph edgedefault=\"directed\">", "the XML is malformed: no element found");
  expect_failure("<graphml><graph/></graphml>", "<graph> has no edgedefault");
  expect_failure("<graphml><graph edgedefault=\"both\"/></graphml>", "edgedefault is 'both'");
  expect_failure("<graphml><graph edgedefault=\"directed\"/><graph edgedefault=\"directed\"/></graphml>",
                 "a second graph");
  expect_failure("<graphml></graphml>", "the file has no graph");
  expect_failure("<a><graphml/></a>", "<a> is no GraphML");
  const std::string bomb =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE graphml [\n<!ENTITY a \"aaaaaaaaaa\">\n"
      "<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n<graphml>&b;</graphml>";
  expect_failure(bomb, "3:12: an entity is declared");
  expect_failure("<!DOCTYPE graphml [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><graphml>&a;</graphml>",
                 "an entity is declared");
  std::string deep = "<graphml>";
  for (int k = 0; k < 100'000; ++k) deep += "<a>";
  expect_failure(deep, "nested more than 1,000 deep");
  EXPECT_EQ(
      drawn("<g:graphml xmlns:g=\"x\"><g:graph edgedefault=\"undirected\"><g:node id=\"a\"/></g:graph></g:graphml>")
          .nodes.size(),
      1U);
}

// Each byte replaced, and each prefix: an error or a graph, and never anything else.
TEST_F(GraphDocument, DamagedFilesAreReadOrRefused) {
  std::mt19937 random(9);
  for (std::uint64_t round = 0; round < test::rounds(500); ++round) {
    const drawn_graph graph = draw(static_cast<std::uint32_t>(round % 7), round % 3 == 0);
    std::string text = round % 2 == 0 || !has_expat_ ? as_gml(graph, round % 3 == 0) : as_graphml(graph);
    if (round % 5 == 0) text.resize(random() % text.size());
    for (std::size_t k = 0, changes = random() % 4; k < changes && !text.empty(); ++k) {
      text[random() % text.size()] = "\"[]<>&;#\n\r x0\xff\0"[random() % 15];
    }
    const std::string path = folder_.write("a", text);
    for (const bool whole : {true, false}) {
      try {
        const input_file file(path);
        const input_format format = file.format();
        if (format != input_format::gml && format != input_format::graphml) continue;
        if (whole) {
          const auto list = read_graph_document<std::int32_t>(context<host>(), file);
          for (std::int64_t k = 0; k < list.edges.nnz(); ++k) ASSERT_LT(list.edges.col_indices()[k], list.edges.rows());
        } else {
          (void)read_graph_document_direction(file);
        }
      } catch (const error& e) {
        EXPECT_NE(std::string(e.what()).find(path), std::string::npos);
      }
    }
  }
}

TEST_F(GraphDocument, StreamsAndLongLinesAreRead) {
  const drawn_graph graph = draw(4, true);
  std::string text = as_gml(graph, true);
  std::replace(text.begin() + 30, text.end(), '\n', ' ');
  text.insert(text.find("graph ["), "a \"" + std::string(2 << 20, 'x') + "\" ");
  expect_same(
      [&] {
        const std::string packed = folder_.write("p", test::gzip("\xEF\xBB\xBF" + as_gml(graph, true)));
        const auto list = read_graph_document<std::int64_t>(context<host>(), packed);
        EXPECT_EQ(list.edges.nnz(), std::ssize(graph.edges));
        EXPECT_EQ(list.first_vertex,
                  std::find(list.ids.begin(), list.ids.end(), std::stoll(graph.nodes[0])) - list.ids.begin());
        return drawn(as_gml(graph, true));
      }(),
      graph, true);
  EXPECT_EQ(read(text).edges.nnz(), std::ssize(graph.edges));
}

}  // namespace
}  // namespace spargo
