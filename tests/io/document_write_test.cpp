// GML and GraphML that are written: read back equal, for random names, weights and attributes.
#include <spargo/core/error.hpp>
#include <spargo/io/graph_document.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "io/support/files.hpp"
#include "support/rounds.hpp"

namespace spargo {
namespace {

const context<host> cpu({.threads = 1});

struct sample {
  std::vector<std::string> names;
  std::vector<std::int32_t> sources, targets;
  std::vector<double> weights;
  document_options options;
  bool weighted = true;

  [[nodiscard]] vertex_name_table table() const {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return {cpu, views};
  }
  [[nodiscard]] std::int64_t size() const { return std::ssize(names); }
  void write(const std::string& path) const {
    const auto n = static_cast<std::int32_t>(names.size());
    const span<const std::int32_t, host> rows(sources), cols(targets);
    const coo_view<const pattern, std::int32_t, host> edges{{n, n, rows, cols}, {}};
    if (weighted) {
      write_graph_document<double, std::int32_t>(path, {{edges}, span<const double, host>(weights)}, table(), {},
                                                 options);
    } else {
      write_graph_document<pattern, std::int32_t>(path, edges, table(), {}, options);
    }
  }
};

class DocumentWrite : public testing::TestWithParam<document_format> {
 protected:
  void SetUp() override {
    try {
      (void)read_graph_document(cpu, folder_.write("e", "<graphml><graph edgedefault=\"directed\"/></graphml>"));
    } catch (const error& e) {
      if (GetParam() == document_format::graphml) GTEST_SKIP() << e.what();
    }
  }
  attributed_edge_list<std::int32_t> back(const sample& s) const {
    s.write(folder_.file("d"));
    return read_attributed_document<std::int32_t>(cpu, input_file(folder_.file("d")));
  }

  test::temporary_folder folder_;
};

std::string draw_text(std::mt19937& random) {
  static const std::vector<std::string> parts{"a",     "Z", "7",  "&",  "<",  ">",   "\"", "'",
                                              "&amp;", " ", "\n", "\t", "\r", "ö",   "漢", "\xf0\x9f\x98\x80",
                                              "]]>",   "[", "]",  "#",  "\\", "\x7f"};
  std::string text = "n";
  for (auto k = random() % 6; k > 0; --k) text += parts[random() % parts.size()];
  return text;
}

sample draw(unsigned seed, document_format format) {
  std::mt19937 random(seed);
  sample s;
  s.options.format = format;
  const auto n = 1 + random() % 12;
  for (std::size_t v = 0; v < n; ++v) s.names.push_back(std::to_string(v) + draw_text(random));
  const auto m = random() % 30;
  const bool whole = random() % 2 == 0;
  s.weighted = m > 0 && random() % 4 != 0;
  const std::vector<double> reals{0.1, -2.5, 1e300, 5e-324, 3, -0.0, 1e22, std::numeric_limits<double>::infinity()};
  for (std::size_t e = 0; e < m; ++e) {
    s.sources.push_back(static_cast<std::int32_t>(random() % n));
    s.targets.push_back(static_cast<std::int32_t>(random() % n));
    s.weights.push_back(whole ? std::floor(1e12 / static_cast<double>(1 + random() % 1000000))
                              : reals[random() % reals.size()]);
  }
  s.options.direction = random() % 2 == 0 ? edge_direction::directed : edge_direction::undirected;
  s.options.attributes.weight_name = seed % 2 == 0 ? "weight" : "value";
  const auto add = [&](std::vector<attribute_column>& to, const char* name, attribute_kind kind, std::size_t count,
                       const std::vector<std::string>& values) {
    attribute_column& column = to.emplace_back(attribute_column{name, kind, {}, {}});
    for (std::size_t k = 0; k < count; ++k) {
      column.present.push_back(k == 0 || random() % 3 != 0);
      column.values.push_back(!column.present.back() ? ""
                              : values.empty()       ? draw_text(random)
                                                     : values[random() % values.size()]);
    }
  };
  add(s.options.attributes.nodes, "town", attribute_kind::text, n, {});
  add(s.options.attributes.nodes, "age", attribute_kind::integer, n, {"1", "-5", "2147483647"});
  if (m > 0) add(s.options.attributes.edges, "ratio", attribute_kind::real, m, {"1.5", "0.25", "-2.0"});
  return s;
}

void expect_equal(const std::vector<attribute_column>& got, const std::vector<attribute_column>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    EXPECT_EQ(got[k].name, want[k].name);
    EXPECT_EQ(got[k].kind, want[k].kind) << got[k].name;
    EXPECT_EQ(got[k].values, want[k].values) << got[k].name;
    EXPECT_EQ(got[k].present, want[k].present) << got[k].name;
  }
}

TEST_P(DocumentWrite, RandomGraphsComeBack) {
  for (unsigned seed = 0; seed < static_cast<unsigned>(test::rounds(80)); ++seed) {
    SCOPED_TRACE(seed);
    const sample s = draw(seed, GetParam());
    const attributed_edge_list<std::int32_t> read = back(s);
    const edge_list<std::int32_t>& list = read.list;
    ASSERT_EQ(list.edges.rows(), s.size());
    ASSERT_EQ(list.header.ids, id_kind::names);
    for (std::int64_t v = 0; v < s.size(); ++v) EXPECT_EQ(list.names.name(v), s.names[static_cast<std::size_t>(v)]);
    EXPECT_EQ(list.header.direction, s.options.direction);
    ASSERT_EQ(list.edges.nnz(), std::ssize(s.sources));
    EXPECT_EQ(list.weighted, s.weighted);
    for (std::int64_t e = 0; e < list.edges.nnz(); ++e) {
      const auto k = static_cast<std::size_t>(e);
      EXPECT_EQ(list.edges.row_indices()[e], s.sources[k]);
      EXPECT_EQ(list.edges.col_indices()[e], s.targets[k]);
      EXPECT_EQ(list.edges.values()[e], s.weighted ? s.weights[k] : 1);
    }
    expect_equal(read.attributes.nodes, s.options.attributes.nodes);
    expect_equal(read.attributes.edges, s.options.attributes.edges);
    EXPECT_EQ(read.attributes.weight_name, s.weighted ? s.options.attributes.weight_name : "weight");
    EXPECT_EQ(read.attributes.omitted, 0);
    if (testing::Test::HasFailure()) return;
  }
}

sample small(document_format format) {
  sample s;
  s.names = {"a", "b", "c"};
  s.sources = {0, 1};
  s.targets = {1, 2};
  s.weights = {1, 2};
  s.options.format = format;
  return s;
}

TEST_P(DocumentWrite, TheFirstVertexComesFirst) {
  sample s = small(GetParam());
  s.options.first_vertex = 1;
  const auto read = back(s);
  EXPECT_EQ(read.list.names.name(read.list.first_vertex), "b");
  EXPECT_EQ(read.list.names.name(read.list.edges.row_indices()[0]), "a");
}

TEST_P(DocumentWrite, RepeatedEdgesAreSaidInGml) {
  sample s = small(GetParam());
  const auto is_multigraph = [&] {
    s.write(folder_.file("d"));
    return test::read_file(folder_.file("d")).find("multigraph 1") != std::string::npos;
  };
  const bool gml = GetParam() == document_format::gml;
  EXPECT_FALSE(is_multigraph());
  s.sources.push_back(1);
  s.targets.push_back(0);
  s.weights.push_back(1);
  EXPECT_EQ(is_multigraph(), gml);  // 0 - 1 again
  s.options.direction = edge_direction::directed;
  EXPECT_FALSE(is_multigraph());
}

TEST_P(DocumentWrite, WhatCannotBeWrittenIsRefusedAndNothingIsLeft) {
  const auto refused = [&](sample s, const std::string& says) {
    const std::string path = folder_.file("none");
    try {
      s.write(path);
      ADD_FAILURE() << says;
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
    }
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
  };
  for (const char* text :
       {"\x01", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xef\xbf\xbf", "\xf4\x90\x80\x80", "\xe2\x82", "\x1b"}) {
    sample s = small(GetParam());
    s.names[1] = text;
    refused(s, "vertex 1: text that is not UTF-8");
  }
  sample s = small(GetParam());
  s.targets[1] = 3;
  refused(s, "vertex 3");
  s = small(GetParam());
  s.options.attributes.nodes = {{"a", attribute_kind::text, {"x"}, {true}}};
  refused(s, "1 vertices");
  s = small(GetParam());
  s.weights[1] = std::nan("");
  if (GetParam() == document_format::gml) {
    refused(s, "the edge from b to c: its weight is NaN");
  } else {
    EXPECT_TRUE(std::isnan(back(s).list.edges.values()[1]));
  }
}

TEST_P(DocumentWrite, KeysThatClashDiffer) {
  sample s = small(GetParam());
  const attribute_column column{"Weight", attribute_kind::text, {"x", "y"}, {true, true}};
  s.options.attributes.edges = {column, column};
  s.options.attributes.edges[1].name = "a b";
  const auto read = back(s);
  ASSERT_EQ(read.attributes.edges.size(), 2U);
  EXPECT_EQ(read.attributes.edges[0].name, "Weight_2");
  EXPECT_EQ(read.attributes.edges[1].name, GetParam() == document_format::gml ? "a_b" : "a b");
  EXPECT_EQ(read.list.edges.values()[1], 2);
}

INSTANTIATE_TEST_SUITE_P(Formats, DocumentWrite, testing::Values(document_format::gml, document_format::graphml));

// --- Reading attributes
// -----------------------------------------------------------------------------------------------

TEST(DocumentAttributes, OfGml) {
  const test::temporary_folder folder;
  const input_file file(folder.write(
      "a",
      "graph [ Version 2 node [ id 7 label \"x\" Size 3 g [ x 1 y [ z 2.5 ] ] Size 4 ] node [ id 3 label \"y\" "
      "Size 1.5 ] edge [ source 7 target 3 value 2 kind \"a&#252;\" ] edge [ source 3 target 7 value 3 ] ]"));
  const auto read = read_attributed_document(cpu, file);
  const auto& nodes = read.attributes.nodes;
  ASSERT_EQ(nodes.size(), 3U);  // labels are the names
  EXPECT_EQ(nodes[0].name, "Size");
  EXPECT_EQ(nodes[0].kind, attribute_kind::real);
  EXPECT_EQ(nodes[0].values, (std::vector<std::string>{"3", "1.5"}));
  EXPECT_EQ(nodes[1].name, "g.x");
  EXPECT_EQ(nodes[2].name, "g.y.z");
  EXPECT_EQ(nodes[2].present, (std::vector<bool>{true, false}));
  EXPECT_EQ(read.attributes.omitted, 1);
  ASSERT_EQ(read.attributes.edges.size(), 1U);
  EXPECT_EQ(read.attributes.edges[0].values[0], "a\xc3\xbc");
  EXPECT_EQ(read.attributes.weight_name, "value");
}

TEST(DocumentAttributes, FollowAscendingIds) {
  const test::temporary_folder folder;
  const input_file file(folder.write("a", "graph [ node [ id 9 w 1 ] node [ id 3 w 2 ] node [ id 5 ] ]"));
  const auto read = read_attributed_document(cpu, file);
  EXPECT_EQ(read.list.ids, (std::vector<std::int64_t>{3, 5, 9}));
  EXPECT_EQ(read.attributes.nodes.at(0).values, (std::vector<std::string>{"2", "", "1"}));
}

TEST(DocumentAttributes, OfGraphml) {
  const test::temporary_folder folder;
  const std::string text =
      "<graphml><key id='a' for='node' attr.name='age' attr.type='int'><default>7</default></key>"
      "<key id='b' for='node' attr.name='ok' attr.type='boolean'/><key id='c' for='edge' attr.name='weight' "
      "attr.type='double'><default>2</default></key><key id='d' for='edge' attr.name='note'/><key id='s' for='node'/>"
      "<graph edgedefault='directed'><node id='x'><data key='a'> 3 </data><data key='b'>True</data></node>"
      "<node id='y'><data key='b'>0</data><data key='s'> <y:Shape> <y:Fill/> </y:Shape> </data></node><edge source='x' "
      "target='y'><data key='d'> t </data></edge>"
      "<edge source='y' target='x'><data key='c'>5</data></edge></graph></graphml>";
  try {
    const auto read = read_attributed_document(cpu, input_file(folder.write("a", text)));
    const auto& nodes = read.attributes.nodes;
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes[0].name, "age");
    EXPECT_EQ(nodes[0].kind, attribute_kind::integer);
    EXPECT_EQ(nodes[0].values, (std::vector<std::string>{"3", "7"}));
    EXPECT_EQ(nodes[1].kind, attribute_kind::boolean);
    EXPECT_EQ(nodes[1].values, (std::vector<std::string>{"true", "false"}));
    ASSERT_EQ(read.attributes.edges.size(), 1U);
    EXPECT_EQ(read.attributes.edges[0].values, (std::vector<std::string>{" t ", ""}));
    EXPECT_EQ(read.list.edges.values()[0], 2);
    EXPECT_EQ(read.list.edges.values()[1], 5);
  } catch (const error& e) {
    if (e.code() != error_code::unsupported) throw;
    GTEST_SKIP() << e.what();
  }
}

}  // namespace
}  // namespace spargo
