// --report: a page of HTML that is well formed, has what the JSON report has, and takes no name for markup.
#include "cli/page.hpp"

#include "apps/all_commands.hpp"
#include "apps/run_here.hpp"
#include "cli/charts.hpp"

#include <regex>

namespace spargo::apps {
namespace {

using nlohmann::json;
using test::app_run;
using test::expect_failure;
using test::run_here;
using test::run_shell;
using test::scratch;
using test::slurp;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

// Every element is closed in order, every attribute is quoted, and nothing in a text could be a tag.
std::string fault_of(const std::string& html) {
  static const std::regex tag("<(/?)([a-z][a-z0-9]*)((?: [a-zA-Z-]+=\"[^\"<>]*\")*)(/?)>");
  std::vector<std::string> open;
  std::size_t at = html.find('\n') + 1;
  if (!html.starts_with("<!DOCTYPE html>\n")) return "no doctype";
  for (std::size_t next = 0; (next = html.find_first_of("<>", at)) != std::string::npos;) {
    std::cmatch found;
    if (!std::regex_search(html.data() + next, html.data() + std::min(html.size(), next + 50000), found, tag,
                           std::regex_constants::match_continuous)) {
      return "not a tag: " + html.substr(next, 60);
    }
    const std::string name = found[2];
    if (found[1].length() > 0) {
      if (open.empty() || open.back() != name) return "closes " + name;
      open.pop_back();
    } else if (found[4].length() == 0 && name != "meta") {
      open.push_back(name);
    }
    at = next + static_cast<std::size_t>(found.length());
    // Style sheets may have > in selectors, and are fixed text.
    if (name == "style" && found[1].length() == 0) at = html.find("</style>", at);
  }
  return open.empty() ? "" : "open: " + open.back();
}

// The page without its pictures' bytes, which are too long for a regular expression.
std::string without_pictures(std::string html) {
  const std::string start = " src=\"data:image/png;base64,";
  for (std::size_t at = 0; (at = html.find(start, at)) != std::string::npos;) {
    const std::size_t from = at + start.size();
    const std::size_t end = html.find('"', from);
    html.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
  return html;
}

void expect_page(const std::string& page) {
  const std::string html = without_pictures(page);
  EXPECT_EQ(fault_of(html), "");
  for (const char* part : {"prefers-color-scheme:dark", "name=\"viewport\"", "<h1>", "To repeat it"}) {
    EXPECT_TRUE(contains(html, part)) << part;
  }
  for (const char* part : {"<script", "http:", "https:", "src=\"", "url(", "@import"}) {
    EXPECT_FALSE(contains(html, part)) << part;
  }
}

struct both {
  json keys;
  std::string html;
};

class reported : public testing::Test {
 protected:
  both run(const std::string& command, std::vector<std::string> words) {
    words.insert(words.end(), {"--device", "cpu", "--json", folder_ / "keys", "--report", folder_ / "page.html"});
    const app_run run = run_here(command, words);
    EXPECT_EQ(run.code, 0) << run.err;
    return {json::parse(slurp(folder_ / "keys")), slurp(folder_ / "page.html")};
  }

  const scratch folder_;
  const std::string edges_ = folder_.write("g.el", "1 2\n2 3\n3 1\n3 10\n10 11\n20 21\n");
};

class page_of_command : public testing::TestWithParam<std::string> {};

TEST_P(page_of_command, has_its_figures) {
  const scratch folder;
  const std::string& command = GetParam();
  const std::string page = folder / "page.html", keys = folder / "keys";
  const std::string input = command == "solve" ? "gen:laplacian2d:n=8" : "gen:grid2d:n=8";
  std::vector<std::string> words = {input, "--report", page, "--json", keys};
  if (command == "convert") words.insert(words.begin() + 1, folder / "out.mtx");
  if (command == "subgraph") words.insert(words.end(), {"--component", "largest"});
  if (command == "spmv") words.insert(words.end(), {"--format", "all"});
  const app_run run = run_here(command, words);
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string html = slurp(page);
  expect_page(html);
  const json report = json::parse(slurp(keys));
  for (const auto& [key, value] : report.items()) {
    if (!value.is_string() || key == "date" || key == "command_line" || key == "version" || key == "cpu") continue;
    EXPECT_TRUE(contains(html, html_escaped(value.get<std::string>()))) << key;
  }
  EXPECT_TRUE(contains(html, command + " " + input + " ")) << "the command";
  EXPECT_TRUE(contains(html, " --report " + page + " --json " + keys)) << "the command";
  if (report.contains("valid")) {
    EXPECT_TRUE(contains(html, "<p class=\"verdict good\">")) << html;
  }
  if (command == "info") {
    EXPECT_EQ(count_of(html, "<h2>Sparsity pattern</h2>"), 1U);
  }
  if (command == "reorder") {
    EXPECT_EQ(count_of(html, "<h2>Sparsity pattern</h2>"), 1U);
    EXPECT_EQ(count_of(html, "<h2>Sparsity pattern, reordered</h2>"), 1U);
  }
  if (command == "multiply") {
    EXPECT_TRUE(contains(html, ">column</th>"));
    EXPECT_FALSE(contains(html, "valid: yes"));
  }
  if (command == "coloring") {
    EXPECT_TRUE(contains(html, "<title>colour 0: "));
  }
  EXPECT_EQ(contains(html, "edges of the matching"), command == "matching");
  EXPECT_EQ(contains(html, "edges of the forest"), command == "forest");
  if (command == "solve") {
    EXPECT_TRUE(contains(html, "<h2>Convergence</h2>"));
  }
  if (command == "spmv") {
    EXPECT_GE(count_of(html, "<tr>"), 5U);
  }
}

INSTANTIATE_TEST_SUITE_P(all, page_of_command, testing::ValuesIn(test::commands_where([](const apps::command& each) {
                           return each.kind != command_kind::tools;
                         })),
                         [](const auto& named) { return test::test_name(named.param); });

TEST_F(reported, page_draws_the_levels_of_a_search) {
  const auto [keys, html] = run("bfs", {edges_, "--undirected", "--source", "1"});
  expect_page(html);
  const json& levels = keys.at("runs").at(0).at("levels");
  ASSERT_EQ(levels, json({1, 2, 1, 1}));
  for (std::size_t depth = 0; depth < levels.size(); ++depth) {
    const std::string tip = "<title>depth " + std::to_string(depth) + ": " + levels[depth].dump() + " vertices</title>";
    EXPECT_EQ(count_of(html, tip), 1U) << tip;
  }
  const auto [several, of_several] = run("bfs", {edges_, "--undirected", "--sources", "3"});
  expect_page(of_several);
  EXPECT_EQ(count_of(of_several, "<h2>Vertices at each depth from "), 3U);
  EXPECT_TRUE(contains(of_several, "<th scope=\"col\" class=\"number\">source</th>"));
  EXPECT_FALSE(contains(of_several, ">levels</th>"));
}

TEST_F(reported, page_ranks_what_is_highest) {
  const auto [keys, html] = run("pagerank", {edges_, "--undirected", "--top", "3"});
  expect_page(html);
  ASSERT_EQ(keys.at("top").size(), 3U);
  std::size_t at = 0;
  for (const json& each : keys.at("top")) {
    at = html.find("<td class=\"name\"><bdi>" + each[0].dump() + "</bdi>", at);
    ASSERT_NE(at, std::string::npos) << each;
  }
  const auto [named, of_names] = run("pagerank", {folder_.write("named.el", "a_b c_d\n"), "--undirected"});
  EXPECT_TRUE(contains(of_names, "<bdi>a_<wbr>b</bdi>")) << "where a long name may break";
  EXPECT_TRUE(contains(of_names, "<title>a_b: ")) << of_names;
}

TEST_F(reported, page_counts_groups_and_degrees) {
  const auto [keys, html] = run("components", {edges_, "--undirected"});
  EXPECT_TRUE(contains(html, "<title>size 2: 1 components</title>"));
  EXPECT_TRUE(contains(html, "<title>size 5: 1 components</title>"));
  const auto [facts, page] = run("info", {edges_, "--undirected"});
  EXPECT_TRUE(contains(page, "<title>degree 1: 3 vertices</title>")) << page;
  EXPECT_TRUE(contains(page, "<title>degree 2: 3 vertices</title>"));
  EXPECT_TRUE(contains(page, "<title>degree 3: 1 vertices</title>"));
  EXPECT_FALSE(facts.contains("degree_counts"));
  EXPECT_FALSE(facts.contains("spy"));
}

TEST_F(reported, page_of_a_deep_search_stays_small) {
  const auto [keys, html] = run("bfs", {"gen:path:n=200000", "--repeat", "1"});
  EXPECT_EQ(keys.at("runs").at(0).at("levels").size(), 200000U);
  expect_page(html);
  EXPECT_TRUE(contains(html, "class=\"line\""));
  EXPECT_LT(html.size(), 300000U);
}

// Names of vertices, files and columns.
TEST_F(reported, page_takes_no_name_for_markup) {
  const std::vector<std::string> names = {"<script>alert(1)</script>",
                                          "</title><img src=x onerror=alert(1)>",
                                          "a&b",
                                          "q'uote\"",
                                          "\xff\xfe",
                                          "\u202eevil",
                                          "&lt;"};
  std::string text = "from,to\n";
  const auto quoted = [](std::string name) {
    for (std::size_t k = 0; (k = name.find('"', k)) != std::string::npos; k += 2) name.insert(k, 1, '"');
    return "\"" + name + "\"";
  };
  for (const std::string& name : names) text += quoted(name) + "," + quoted(names.front()) + "\n";
  const std::string file = folder_.write("<b>&'\".csv", text);
  for (const std::string command : {"pagerank", "bfs", "components", "similarity", "hits", "info"}) {
    SCOPED_TRACE(command);
    const std::string html = run(command, {file, "--ids", "names"}).html;
    expect_page(html);
    EXPECT_FALSE(contains(html, "<img"));
    EXPECT_FALSE(contains(html, "<b>&"));
    EXPECT_TRUE(contains(html, "&lt;b&gt;&amp;&#39;&quot;.csv"));
    if (command == "pagerank") {
      EXPECT_TRUE(contains(html, "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>"));
      EXPECT_TRUE(contains(html, "<bdi>&amp;lt;</bdi>"));
      EXPECT_TRUE(contains(html, "<bdi>\\xff\\xfe</bdi>"));
    }
  }
}

TEST_F(reported, page_has_the_command_as_a_shell_takes_it) {
  std::filesystem::create_directory(folder_.path() / "my graphs");
  const std::string file = folder_.write("my graphs/it's.el", "1 2\n");
  const std::string html = run("bfs", {file}).html;
  const std::size_t first = html.find("<code>") + 6;
  std::string command = html.substr(first, html.find("</code>") - first);
  EXPECT_TRUE(contains(command, "/my graphs/it&#39;\\&#39;&#39;s.el&#39;")) << command;
}

TEST_F(reported, page_has_warnings_and_unchecked_results) {
  const std::string file = folder_.write("w.wel", "1 2 9007199254740993\n");
  EXPECT_TRUE(contains(run("sssp", {file, "--weights", "file"}).html, "<p class=\"warning\">"));
  for (const char* command : {"bfs", "pagerank"}) {
    EXPECT_TRUE(contains(run(command, {edges_, "--no-validate"}).html, "<p class=\"verdict\"><bdi>not validated"));
  }
}

TEST_F(reported, page_goes_through_the_door_of_outputs) {
  const app_run printed = run_here("bfs", {edges_, "--report", "-"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  expect_page(printed.out);
  EXPECT_TRUE(printed.out.ends_with("</html>\n"));
  const std::string before = slurp(edges_);
  expect_failure(run_here("bfs", {edges_, "--report", edges_}), "bfs", 2, "this is the input");
  EXPECT_EQ(slurp(edges_), before);
  expect_failure(run_here("bfs", {edges_, "--json", "-", "--report", "-"}), "bfs", 2, "the same output");
  expect_failure(run_here("bfs", {edges_, "--report", folder_ / "none/page.html"}), "bfs", 1, "none/page.html");
  expect_failure(run_here("bfs", {folder_ / "missing.el", "--report", folder_ / "page.html"}), "bfs", 1, "missing.el");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "page.html"));
  EXPECT_EQ(run_here("bfs", {edges_, "--force", "--report", edges_}).code, 0);
  expect_page(slurp(edges_));
}

TEST_F(reported, page_of_a_plan_runs_nothing) {
  const app_run run = run_here("plan", {"bfs", "gen:rmat:scale=30", "--report", folder_ / "page.html"});
  EXPECT_EQ(run.code, 0) << run.err;
  expect_page(slurp(folder_ / "page.html"));
  EXPECT_TRUE(contains(slurp(folder_ / "page.html"), "1,073,741,824"));
}

// --- Charts ---------------------------------------------------------------------------------------------------------

std::vector<double> heights_of(const std::string& svg) {
  static const std::regex bar("class=\"bar\"[^>]* height=\"([0-9.]+)\"");
  std::vector<double> all;
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), bar); at != std::sregex_iterator(); ++at) {
    all.push_back(std::stod((*at)[1]));
  }
  return all;
}

TEST(bar_chart, is_proportional_or_logarithmic) {
  const std::vector<double> linear = heights_of(bar_chart({{"a", 10}, {"b", 20}, {"c", 0}, {"d", 5}}, {"x", "y"}));
  ASSERT_EQ(linear.size(), 4U);
  EXPECT_NEAR(linear[1], 2 * linear[0], 0.2);
  EXPECT_NEAR(linear[0], 2 * linear[3], 0.2);
  EXPECT_EQ(linear[2], 0);
  EXPECT_GT(linear[1], 150);
  const std::vector<double> many =
      heights_of(bar_chart({{"a", 20}, {"b", 200}, {"c", 2000}, {"d", 20000}}, {"x", "y"}));
  ASSERT_EQ(many.size(), 4U);
  EXPECT_GT(many[0], 1);
  EXPECT_NEAR(many[1] - many[0], many[2] - many[1], 0.3);
  EXPECT_NEAR(many[2] - many[1], many[3] - many[2], 0.3);
  EXPECT_GT(heights_of(bar_chart({{"a", 1}, {"b", 1000}}, {"x", "y"}))[0], 1);
}

TEST(charts, take_what_is_empty_or_equal) {
  EXPECT_EQ(bar_chart({}, {}), "");
  EXPECT_EQ(point_chart({}, {}, mark::dots), "");
  EXPECT_EQ(density_chart({}), "");
  for (const std::string& svg :
       {bar_chart({{"a", 0}}, {}), bar_chart({{"a", 7}, {"b", 7}}, {}), point_chart({{1, 1}}, {}, mark::line),
        point_chart({{0, 0}, {0, 0}}, {}, mark::dots), point_chart({{1, std::nan("")}, {2, 1}}, {}, mark::dots)}) {
    EXPECT_EQ(fault_of("<!DOCTYPE html>\n" + svg), "");
    EXPECT_FALSE(contains(svg, "nan") || contains(svg, "inf")) << svg;
  }
}

TEST(point_chart, has_logarithmic_axes_and_bounded_size) {
  std::vector<chart_point> points;
  for (int k = 0; k < 100000; ++k) points.push_back({k + 1.0, 1e6 / (k + 1.0)});
  const std::string svg = point_chart(points, {"x", "y"}, mark::dots);
  EXPECT_LT(svg.size(), 100000U);
  // A power law is a straight line: from the top left to the bottom right, through the middle.
  static const std::regex dot("cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  std::vector<std::pair<double, double>> all;
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), dot); at != std::sregex_iterator(); ++at) {
    all.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  }
  ASSERT_GT(all.size(), 100U);
  const double slope = (all.back().second - all.front().second) / (all.back().first - all.front().first);
  for (const auto& [x, y] : all) EXPECT_NEAR(y, all.front().second + slope * (x - all.front().first), 1.5);
}

TEST(density_chart, has_a_square_for_each_cell_with_entries) {
  const std::string svg = density_chart({4, 6, 2, 2, 3, {1, 0, 9, 0, 2, 0}});
  EXPECT_EQ(count_of(svg, "<path"), 3U);
  EXPECT_TRUE(contains(svg, "row 1 to 2, column 5 to 6: 9 entries"));
  EXPECT_TRUE(contains(svg, "row 3 to 4, column 3 to 4: 2 entries"));
  EXPECT_TRUE(contains(svg, "class=\"d5\""));
}

}  // namespace
}  // namespace spargo::apps
