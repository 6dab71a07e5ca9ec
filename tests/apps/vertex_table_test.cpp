// --output of every graph command: the format by the name, --sort and --top.
#include "cli/vertex_table.hpp"

#include "apps/run_here.hpp"

#include <random>
#include <set>
#include <sstream>

namespace spargo::apps {
namespace {

using nlohmann::json;
using test::app_run;
using test::expect_failure;
using test::run_app;
using test::run_here;
using test::run_shell;
using test::scratch;
using test::slurp;

// 1, 2, 3 form a triangle that leads on to 10 and 11; 20 and 21 are apart.
const std::string graph = "1 2\n2 3\n3 1\n3 10\n10 11\n20 21\n";

struct table {
  const char* command;
  std::vector<std::string> columns;
  std::string value;   // the column that --sort uses
  bool largest_first;  // or the smallest
};
std::ostream& operator<<(std::ostream& out, const table& t) { return out << t.command; }

using rows = std::vector<std::vector<std::string>>;

rows split(const std::string& text, char separator) {
  rows table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    table.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, separator);) table.back().push_back(cell);
  }
  return table;
}

class graph_output : public testing::TestWithParam<table> {
 protected:
  // The content of --output with this name.
  std::string written(const std::string& name, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {file_, "--device", "cpu", "--output", folder_ / name});
    const app_run run = run_here(GetParam().command, flags);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find(folder_ / name), std::string::npos) << run.out;
    return slurp(folder_ / name);
  }

  const scratch folder_;
  const std::string file_ = folder_.write("g.el", graph);
};

TEST_P(graph_output, is_what_its_name_says) {
  rows expected = split(written("plain.txt"), ' ');
  ASSERT_EQ(expected.size(), 7U);
  EXPECT_EQ(expected[0][0], "1");
  EXPECT_EQ(expected[6][0], "21");
  expected.insert(expected.begin(), GetParam().columns);
  EXPECT_EQ(split(written("table.csv"), ','), expected);
  EXPECT_EQ(split(written("table.tsv"), '\t'), expected);
}

TEST_P(graph_output, is_compressed_where_its_name_says_so) {
  const std::string plain = written("table.csv");
  (void)written("packed.csv.gz");
  EXPECT_EQ(run_shell("gzip -dc '" + (folder_ / "packed.csv.gz") + "'").out, plain);
}

// Objects with the numbers of the text; null for missing values.
TEST_P(graph_output, is_json_where_its_name_says_so) {
  const rows plain = split(written("plain"), ' ');
  const json objects = json::parse(written("table.json"));
  ASSERT_EQ(objects.size(), plain.size());
  for (std::size_t line = 0; line < plain.size(); ++line) {
    ASSERT_EQ(objects[line].size(), GetParam().columns.size());
    for (std::size_t k = 0; k < plain[line].size(); ++k) {
      const json& value = objects[line].at(GetParam().columns[k]);
      if (value.is_null()) {
        EXPECT_TRUE(plain[line][k] == "-1" || plain[line][k] == "inf") << plain[line][k];
      } else {
        EXPECT_EQ(value.get<double>(), std::stod(plain[line][k]));
      }
    }
  }
}

TEST_P(graph_output, of_no_vertices_is_still_whole) {
  const std::string none = folder_.write("none.el", "# nothing\n");
  for (const std::string ending : {".csv", ".json"}) {
    const std::string path = folder_ / ("none" + ending);
    const app_run run = run_here(GetParam().command, {none, "--device", "cpu", "--output", path});
    if (run.code != 0) continue;  // a search has no source
    if (ending == ".json") {
      EXPECT_EQ(json::parse(slurp(path)), json::array());
    } else {
      EXPECT_EQ(split(slurp(path), ',').size(), 1U);
    }
  }
}

// Lines sorted by value, then by id; unreached vertices last.
TEST_P(graph_output, is_sorted_and_cut_on_request) {
  const auto column = std::find(GetParam().columns.begin(), GetParam().columns.end(), GetParam().value);
  const auto at = static_cast<std::size_t>(column - GetParam().columns.begin());
  rows lines = split(written("plain"), ' ');
  std::map<std::string, double> sizes;  // of the groups
  for (const auto& line : lines) ++sizes[line[at]];
  const bool groups = std::set<std::string>{"component", "community"}.contains(GetParam().value);
  const auto key = [&](const std::vector<std::string>& line) {
    if (groups) return std::pair(-sizes[line[at]], std::stod(line[at]));
    const double value = line[at] == "-1" ? std::numeric_limits<double>::infinity() : std::stod(line[at]);
    return std::pair(GetParam().largest_first ? -value : value, 0.0);
  };
  std::stable_sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  EXPECT_EQ(split(written("sorted", {"--sort"}), ' '), lines);
  EXPECT_EQ(split(written("all", {"--top", "99999999999"}), ' '), lines);
  lines.resize(3);
  EXPECT_EQ(split(written("three", {"--top", "3"}), ' '), lines);
  EXPECT_EQ(split(written("both", {"--top", "3", "--sort"}), ' '), lines);
  lines.insert(lines.begin(), GetParam().columns);
  EXPECT_EQ(split(written("three.csv", {"--top", "3"}), ','), lines);
}

TEST_P(graph_output, is_what_help_says) {
  const std::string help = run_here("help", {GetParam().command}).out;
  std::string columns;
  for (const std::string& name : GetParam().columns) columns += (columns.empty() ? "" : " ") + name;
  std::string flat;
  std::istringstream words(help);
  for (std::string word; words >> word;) flat += word + " ";
  for (const std::string& part : {columns, std::string("FILE.csv"), std::string("--sort"), std::string("--top")}) {
    EXPECT_NE(flat.find(part), std::string::npos) << part << " in " << flat;
  }
}

TEST_P(graph_output, needs_lines_to_sort) {
  expect_failure(run_here(GetParam().command, {file_, "--sort"}), GetParam().command, 2, "--output");
  for (const std::string count : {"0", "-3", "x"}) {
    expect_failure(run_here(GetParam().command, {file_, "--output", folder_ / "x", "--top", count}), GetParam().command,
                   2, "--top");
  }
}

INSTANTIATE_TEST_SUITE_P(all, graph_output,
                         testing::Values(table{"bfs", {"id", "level", "parent"}, "level", false},
                                         table{"sssp", {"id", "distance", "parent"}, "distance", false},
                                         table{"pagerank", {"id", "rank"}, "rank", true},
                                         table{"betweenness", {"id", "value"}, "value", true},
                                         table{"components", {"id", "component"}, "component", true},
                                         table{"communities", {"id", "community"}, "community", true},
                                         table{"triangles", {"id", "triangles", "coefficient"}, "triangles", true}),
                         [](const auto& named) { return std::string(named.param.command); });

// The list of the report has K vertices as well.
TEST(graph_outputs, cut_the_list_of_the_report) {
  const scratch folder;
  const std::string file = folder.write("g.el", graph);
  for (const char* command : {"pagerank", "betweenness"}) {
    const auto top = [&](const std::vector<std::string>& flags) {
      std::vector<std::string> all = {file, "--device", "cpu", "--json", "-"};
      all.insert(all.end(), flags.begin(), flags.end());
      return run_app(command, all).json().at("top");
    };
    const json whole = top({});
    ASSERT_EQ(whole.size(), 7U);
    EXPECT_EQ(top({"--top", "2"}), (json{whole[0], whole[1]}));
    EXPECT_EQ(top({"--top", "100"}), whole);
  }
}

TEST(graph_outputs, are_read_by_python) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "no python3";
  const scratch folder;
  const std::string file = folder.write("g.el", graph);
  for (const std::string name : {"r.csv", "r.tsv", "r.json"}) {
    ASSERT_EQ(run_app("pagerank", {file, "--device", "cpu", "--quiet", "--output", folder / name}).code, 0);
  }
  const std::string script = folder.write("read.py",
                                          "import csv, json, sys\n"
                                          "folder = sys.argv[1]\n"
                                          "a = list(csv.DictReader(open(folder + '/r.csv', newline='')))\n"
                                          "b = list(csv.DictReader(open(folder + '/r.tsv', newline=''), "
                                          "dialect='excel-tab'))\n"
                                          "c = json.load(open(folder + '/r.json'))\n"
                                          "d = [{'id': int(r['id']), 'rank': float(r['rank'])} for r in a]\n"
                                          "assert a == b and c == d and len(c) == 7\n"
                                          "print(abs(sum(r['rank'] for r in c) - 1) < 1e-9)\n");
  const app_run run = run_shell("python3 '" + script + "' '" + folder.path().string() + "'");
  EXPECT_EQ(run.out, "True\n") << run.err;
}

TEST(first_vertices, are_those_of_a_stable_sort) {
  std::mt19937 random(7);
  for (const std::int64_t n : {0, 1, 2, 31, 257}) {
    std::vector<int> values(static_cast<std::size_t>(n));
    for (int& value : values) value = static_cast<int>(random() % 7);
    const auto larger = [&](std::int64_t a, std::int64_t b) {
      return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
    };
    std::vector<std::int64_t> expected(static_cast<std::size_t>(n));
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), larger);
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{5}, n - 1, n, n + 1, std::int64_t{0}}) {
      if (count < 0) continue;
      const vertex_order got = first_vertices(n, count, larger);
      const auto kept = count == 0 ? n : std::min(count, n);
      EXPECT_EQ(std::vector<std::int64_t>(got.begin(), got.end()),
                std::vector<std::int64_t>(expected.begin(), expected.begin() + kept));
    }
  }
}

TEST(tables, hold_every_name) {
  const scratch folder;
  const std::vector<std::string_view> all = {"a\"b", "x, y", "\xff"};
  vertex_names names;
  names.naming = vertex_naming::names;
  names.vertices = 3;
  names.table = vertex_name_table(context<host>(), all);
  for (const std::string name : {"t.json", "t.csv"}) {
    table_writer writer(folder / name, "id,level");
    for (std::int64_t v = 0; v < 3; ++v) {
      writer.label(names, v);
      writer.number(v);
      writer.end_row();
    }
    writer.commit();
  }
  const json objects = json::parse(slurp(folder / "t.json"));
  EXPECT_EQ(objects.at(0).at("id"), "a\"b");
  EXPECT_EQ(objects.at(1).at("id"), "x, y");
  EXPECT_EQ(objects.at(2).at("id"), "\\xff");  // JSON is UTF-8
  EXPECT_EQ(slurp(folder / "t.csv"), "id,level\n\"a\"\"b\",0\n\"x, y\",1\n\xff,2\n");
}

TEST(tables, have_null_for_what_is_no_number) {
  const scratch folder;
  for (const std::string name : {"t.json", "t.csv"}) {
    table_writer writer(folder / name, "id,a,b");
    vertex_names names;
    names.vertices = 1;
    writer.label(names, 0);
    writer.number(std::numeric_limits<double>::quiet_NaN());
    writer.number(0.1);
    writer.end_row();
    writer.commit();
  }
  EXPECT_EQ(json::parse(slurp(folder / "t.json")), json::parse(R"([{"id":1,"a":null,"b":0.1}])"));
  EXPECT_EQ(slurp(folder / "t.csv"), "id,a,b\n1,nan,0.1\n");
}

}  // namespace
}  // namespace spargo::apps
