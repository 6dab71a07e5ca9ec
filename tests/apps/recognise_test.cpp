// Recognition of formats; an edge list must never be taken for anything else.
#include "apps/run_app.hpp"
#include "support/snapshots.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/input.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

namespace spargo::apps {
namespace {

using test::run_app;
using test::scratch;
using test::slurp;

enum class head_extent { part, whole };  // of the text

// The format of a text; for an unsupported one, the name in the error.
std::string form_of(std::string_view text, const std::string& path = "a.txt", head_extent extent = head_extent::whole) {
  constexpr std::size_t head_bytes = std::size_t{1} << 16;
  std::string head(text);
  if (extent == head_extent::part) head.resize(std::max(head.size(), head_bytes), ' ');  // a line that is continued
  try {
    switch (recognise_format(head, path)) {
      case input_format::metis:
        return "METIS";
      case input_format::dimacs_arcs:
        return "DIMACS arcs";
      case input_format::dimacs_edges:
        return "DIMACS edges";
      case input_format::gml:
        return "GML";
      case input_format::graphml:
        return "GraphML";
      case input_format::edge_list:
        return "edge list";
      default:
        return "another";
    }
  } catch (const error& e) {
    const std::string said = std::string(e.what()).substr(path.size());
    const std::size_t end = said.find(" file is not supported");
    return end == std::string::npos ? said : said.substr(4, end - 4);
  }
}

// Numbers of 8 bytes.
std::string words(const std::vector<std::uint64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0])};
}

constexpr const char* k5 =
    "5 10 001\n2 1 3 1 4 1 5 1\n1 1 3 2 4 2 5 2\n1 1 2 2 4 3 5 3\n1 1 2 2 3 3 5 4\n1 1 2 2 3 3 4 4\n";

TEST(recognise, metis_by_its_content) {
  EXPECT_EQ(form_of(k5), "METIS");
  EXPECT_EQ(form_of(k5, "-", head_extent::part), "METIS");
  EXPECT_EQ(form_of("% a comment\n4 1\n\n3\n2\n\n"), "METIS");
  EXPECT_EQ(form_of("% METIS graph\n3 0\n\n\n\n"), "METIS");
  EXPECT_EQ(form_of("3 1 010\n7 3\n1\n9 1\n"), "METIS");
  EXPECT_EQ(form_of("2 1 0\n2\n1"), "METIS");
}

TEST(recognise, metis_by_its_name_where_it_could_be_either) {
  const char* const cycle = "4 4\n2 4\n1 3\n2 4\n1 3\n";
  EXPECT_EQ(form_of(cycle), "edge list");
  for (const char* name : {"a.graph", "a.metis", "a.graph.gz"}) {
    EXPECT_EQ(form_of(cycle, name), "METIS");
    EXPECT_EQ(form_of("1 2\n1 3\n2 3\n", name), "edge list") << "no graph of one vertex has two edges";
    EXPECT_EQ(form_of("# a graph\n10 2\n3 4\n", name), "edge list");
    EXPECT_EQ(form_of("10 2\n3 4\n", name), "edge list") << "two vertices of ten";
    EXPECT_EQ(form_of("3 1\n2\n1 9\n\n", name), "METIS") << "a wrong one, and METIS's reader says why";
  }
}

TEST(recognise, edge_lists_stay_edge_lists) {
  for (const char* text : {"1 2\n2 3\n", "1 2 3\n2 3 4\n", "3 1 1\n1 2 1\n2 3 1\n3 1 1\n", "# c\n1 2\n",
                           "5 4 x\n1 2 3 4 5\n", "1 2 3 4\n5 6 7 8 9\n", "10 20 {}\n1 2 {}\n", "source,target\n1,2\n",
                           "3 1\n4 4\n1\n\n", "7\n", "3000000000 2\n1\n", "c 1\n1 2\n", "graph of mine\n"}) {
    EXPECT_EQ(form_of(text), "edge list") << text;
    EXPECT_EQ(form_of(text, "a.el", head_extent::part), "edge list") << text;
  }
}

TEST(recognise, dimacs_by_its_problem_line) {
  EXPECT_EQ(form_of("c roads\nc\np sp 3 1\na 1 2 3\n"), "DIMACS arcs");
  EXPECT_EQ(form_of("p edge 3 1\ne 1 2\n"), "DIMACS edges");
  EXPECT_EQ(form_of("p col 3 1\ne 1 2\n"), "DIMACS edges");
  EXPECT_EQ(form_of("p max 3 1\n"), "DIMACS arcs") << "whose reader refuses it by name";
  EXPECT_EQ(form_of("c a long\nc comment\n", "a.gr", head_extent::part), "DIMACS arcs");
  EXPECT_EQ(form_of("c a long\nc comment\n", "a.col.gz", head_extent::part), "DIMACS edges");
}

TEST(recognise, others_by_name) {
  EXPECT_EQ(form_of("<?xml version=\"1.0\"?>\n<!-- by hand -->\n<graphml xmlns=\"\">\n"), "GraphML");
  EXPECT_EQ(form_of("graph\n[\n  node [\n"), "GML");
  EXPECT_EQ(form_of("Creator \"igraph\"\nVersion 1\ngraph\n["), "GML");
  EXPECT_EQ(form_of("*Vertices 3\n1 \"a\"\n"), "Pajek");
  EXPECT_EQ(form_of("*Network a\n*Vertices 3\n"), "Pajek");
  EXPECT_EQ(form_of("AdjacencyGraph\n3\n4\n0\n1\n3\n1\n0\n2\n1\n"), "Ligra (PBBS) adjacency graph");
  EXPECT_EQ(form_of("WeightedAdjacencyGraph\r\n3\n"), "Ligra (PBBS) adjacency graph");
  EXPECT_EQ(form_of(std::string(1, '\1') + words({4, 3, 0, 1, 3, 4}) + "\1"), "GAP graph (.sg)");
  EXPECT_EQ(form_of(std::string(1, '\0') + words({4, 3, 0, 1, 3, 4})), "GAP graph (.sg)");
  EXPECT_EQ(form_of(words({1, 0, 2, 1, 1, 1})), "Galois graph (.gr)");
  EXPECT_EQ(form_of(words({2, 4, 2, 1, 1, 1})), "Galois graph (.gr)");
  EXPECT_EQ(form_of(words({2, 4, 2, 1, 1, 9})), "edge list") << "no offsets";
  const scratch folder;
  test::expect_failure(run_app("bfs", {folder.write("a.net", "*Vertices 3\n")}), "bfs", 1,
                       "a Pajek file is not supported");
}

TEST(recognise, files_of_the_corpus) {
  int files = 0;
  for (const char* folder : {"valid", "invalid", "overflow"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(test::source_folder() + "/tests/io/corpus/" + std::string(folder))) {
      const std::string extension = entry.path().extension().string();
      const char* const expected = extension == ".el"    ? "edge list"
                                   : extension == ".gr"  ? "DIMACS arcs"
                                   : extension == ".col" ? "DIMACS edges"
                                                         : nullptr;
      if (expected == nullptr || entry.path().filename().string().starts_with("dimacs_arc_before") ||
          entry.path().filename().string().starts_with("matrix_market") ||
          entry.path().filename().string().starts_with("cr_inside"))
        continue;
      EXPECT_EQ(form_of(slurp(entry.path()), entry.path().string()), expected) << entry.path();
      ++files;
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/tests/io/corpus/valid")) {
    if (entry.path().extension() != ".graph") continue;
    EXPECT_EQ(form_of(slurp(entry.path()), entry.path().string()), "METIS") << entry.path();
    ++files;
  }
  EXPECT_GT(files, 60);
}

TEST(recognise, real_edge_lists) {
  SPARGO_TEST_NEEDS_DATA();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_directory())) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (!name.ends_with(".el") && !name.ends_with(".wel") && !name.ends_with(".csv") && !name.ends_with(".txt"))
      continue;
    std::string head(std::size_t{1} << 16, '\0');
    const gzFile file = ::gzopen(entry.path().c_str(), "rb");
    head.resize(static_cast<std::size_t>(std::max(::gzread(file, head.data(), 1 << 16), 0)));
    ::gzclose(file);
    for (const char* path : {"-", "a.graph"}) EXPECT_EQ(form_of(head, path, head_extent::part), "edge list") << name;
    ++files;
  }
  EXPECT_GE(files, 14);
}

// Once misread as an edge list of five weighted edges.
TEST(recognise, k5_is_a_complete_graph_of_five) {
  const scratch folder;
  const std::string path = folder.write("k5.graph", k5);
  const nlohmann::json found = run_app("bfs", {path, "--json", "-", "--device", "cpu"}).json();
  EXPECT_EQ(found.at("vertices"), 5);
  EXPECT_EQ(found.at("edges"), 10);
  EXPECT_EQ(found.at("directed"), false);
  EXPECT_EQ(found.at("runs").at(0).at("levels"), nlohmann::json({1, 4}));
  EXPECT_EQ(run_app("info", {path, "--json", "-"}).json().at("kind"), "METIS");
  EXPECT_NE(run_app("bfs", {path, "--device", "cpu"}).out.find("METIS"), std::string::npos);
  test::expect_failure(run_app("spmv", {path}), "spmv", 1, "not a Matrix Market file: METIS");
  const std::string wrong = folder.write("wrong.graph", "3 2\n2 3\n1\n\n");
  test::expect_failure(run_app("bfs", {wrong}), "bfs", 1, "wrong.graph:2:3: the edge to vertex 3 is not on the line");
  const std::string weights = folder.write("weights.graph", "4 1 010\n7 3\n1\n9 1\n3\n");
  EXPECT_NE(run_app("info", {weights}).err.find("skipped: vertex weights and sizes"), std::string::npos);
}

TEST(recognise, dimacs_graphs_are_searched) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const std::string roads = folder.write("a.gr", "c\np sp 4 3\na 2 1 5\na 1 3 7\na 3 4 1\n");
  const nlohmann::json found = run_app("bfs", {roads, "--json", "-", "--device", "cpu"}).json();
  EXPECT_EQ(found.at("directed"), true);
  EXPECT_EQ(found.at("edges"), 3);
  EXPECT_EQ(found.at("runs").at(0).at("levels"), nlohmann::json({1, 1, 1, 1}));
  EXPECT_EQ(found.at("runs").at(0).at("source"), 2);
  const std::string colours = folder.write("a.col", "p edge 4 4\ne 1 2\ne 2 1\ne 3 2\ne 4 4\n");
  const nlohmann::json undirected = run_app("bfs", {colours, "--json", "-", "--device", "cpu", "--cache"}).json();
  EXPECT_EQ(undirected.at("directed"), false);
  EXPECT_EQ(undirected.at("edges"), 2);
  EXPECT_EQ(undirected.at("vertices"), 4);
  EXPECT_EQ(run_app("bfs", {colours, "--json", "-", "--device", "cpu", "--cache"}).json().at("cache"), "used");
}

}  // namespace
}  // namespace spargo::apps
