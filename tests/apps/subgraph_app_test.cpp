// `subgraph` end to end: each selection on files of every format, ids and weights in every output, flags, errors.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "apps/graph_app.hpp"
#include "commands/subgraph/selection.hpp"
#include "graph/graph_support.hpp"
#include "support/snapshots.hpp"

#include <fmt/format.h>

namespace spargo::test {
namespace {

using nlohmann::json;
using words = std::vector<std::string>;

json run_subgraph(const std::string& file, words flags) {
  flags.insert(flags.end(), {"--device", "cpu", "--json", "-", "--repeat", "1", file});
  const app_run run = run_here("subgraph", flags);
  EXPECT_EQ(run.code, 0) << file << ": " << run.err;
  return run.code == 0 ? run.json() : json::object();
}

class SubgraphApp : public testing::Test {
 protected:
  const scratch folder_;
  // A triangle, a tail of two edges, an edge apart with a loop; a duplicate whose second weight is lighter.
  const std::string edges_ =
      folder_.write("g.wel", "10 20 1\n20 30 2\n30 10 3\n30 40 4\n40 500 5\n70 80 7\n80 80 9\n10 20 0.5\n");

  [[nodiscard]] std::string write_to(const std::string& name, words flags) const {
    const std::string out = folder_ / name;
    flags.insert(flags.end(), {"--output", out});
    (void)run_subgraph(edges_, flags);
    return slurp(out);
  }
};

TEST_F(SubgraphApp, EveryKeyOfTheContractIsThere) {
  const json got = run_subgraph(edges_, {"--component", "largest"});
  for (const char* key : {"app", "file", "vertices", "edges", "directed", "device", "threads", "algorithm", "load_ms",
                          "build_ms", "total_ms", "time_ms", "valid", "graph_vertices", "graph_edges"}) {
    EXPECT_TRUE(got.contains(key)) << key;
  }
  EXPECT_EQ(got["vertices"], 5);
  EXPECT_EQ(got["edges"], 5);
  EXPECT_EQ(got["graph_vertices"], 7);
  EXPECT_EQ(got["graph_edges"], 6);
  EXPECT_EQ(got["self_loops"], 0);
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(got["algorithm"], "component");
}

TEST_F(SubgraphApp, SelectsByEachFlag) {
  EXPECT_EQ(write_to("near.csv", {"--ego", "30"}), "source,target,weight\n30,10,3\n30,40,4\n");
  EXPECT_EQ(write_to("two.csv", {"--ego", "30", "--radius", "2"}),
            "source,target,weight\n10,20,0.5\n20,30,2\n30,10,3\n30,40,4\n40,500,5\n");
  EXPECT_EQ(write_to("self.csv", {"--ego", "80", "--radius", "0"}), "source,target,weight\n80,80,9\n");
  EXPECT_EQ(write_to("of.csv", {"--component", "80"}), "source,target,weight\n70,80,7\n80,80,9\n");
  EXPECT_EQ(write_to("core.csv", {"--k-core", "2"}), "source,target,weight\n10,20,0.5\n20,30,2\n30,10,3\n");
  const std::string ids = folder_.write("ids.txt", "# wanted\n40\r\n\n  30 \n80\n40\n");
  EXPECT_EQ(write_to("ids.csv", {"--ids", ids}), "source,target,weight\n30,40,4\n80,80,9\n");
}

TEST_F(SubgraphApp, UndirectedEdgesAreTakenBothWays) {
  const json near = run_subgraph(edges_, {"--ego", "40", "--undirected"});
  EXPECT_EQ(near["vertices"], 3);
  EXPECT_EQ(near["edges"], 2);
  EXPECT_EQ(run_subgraph(edges_, {"--ego", "40"})["vertices"], 2);
  const json core = run_subgraph(edges_, {"--k-core", "2", "--undirected", "--output", folder_ / "core.mtx"});
  EXPECT_EQ(core["vertices"], 3);
  EXPECT_EQ(core["edges"], 3);
  const std::string text = slurp(folder_ / "core.mtx");
  EXPECT_EQ(text.substr(0, text.find('\n')), "%%MatrixMarket matrix coordinate real symmetric");
  EXPECT_NE(text.find("\n3 3 3\n"), std::string::npos) << text;
}

// Every command gives the same answer on each output.
TEST_F(SubgraphApp, WritesEveryFormat) {
  for (const char* name : {"a.mtx", "a.el", "a.wel", "a.csv", "a.txt.gz", "a.tsv", "a.graph", "a.spg"}) {
    if (std::string(name) == "a.spg" && !why_no_snapshots().empty()) continue;
    SCOPED_TRACE(name);
    const std::string out = folder_ / name;
    const json got = run_subgraph(edges_, {"--component", "largest", "--undirected", "--output", out});
    EXPECT_EQ(got["output"], out);
    const app_run read = run_on("components", out, {"--json", "-", "--undirected"});
    ASSERT_EQ(read.code, 0) << read.err;
    EXPECT_EQ(read.json()["vertices"], 5);
    EXPECT_EQ(read.json()["edges"], 5);
  }
  EXPECT_EQ(write_to("named", {"--ego", "70", "--to", "csv"}), "source,target,weight\n70,80,7\n80,80,9\n");
}

TEST_F(SubgraphApp, NamesIntegersAndTheFirstVertexAreKept) {
  const std::string named =
      folder_.write("named.csv", "source,target,weight\nann,bob,3\n\"c, d\",ann,4\nbob,\"c, d\",5\neve,bob,6\n");
  const std::string out = folder_ / "out.csv";
  (void)run_subgraph(named, {"--k-core", "2", "--output", out});
  EXPECT_EQ(slurp(out), "source,target,weight\nann,bob,3\nbob,\"c, d\",5\n\"c, d\",ann,4\n");
  const std::string ids = folder_.write("names.txt", "\"c, d\"\nann\n");
  (void)run_subgraph(named, {"--ids", ids, "--output", out});
  EXPECT_EQ(slurp(out), "source,target,weight\n\"c, d\",ann,4\n");
  const std::string tags =
      folder_.write("tags.csv", "source,target\n\"#gpu\",\"#cpu\"\n\"#cpu\",\"# of cores\"\n\"# of cores\",%x\n");
  const std::string listed = folder_.write("tags.txt", "# tags\n#gpu\n#\n## two\n#cpu\n# of cores\n%x\n");
  (void)run_subgraph(tags, {"--ids", listed, "--output", out});
  EXPECT_EQ(slurp(out), "source,target\n\"#gpu\",\"#cpu\"\n\"#cpu\",\"# of cores\"\n\"# of cores\",\"%x\"\n");
  const std::string unknown = folder_.write("unknown.txt", "#gpu\n#tpu\n");
  expect_failure(run_here("subgraph", {tags, "--ids", unknown, "--output", out}), "subgraph", 1,
                 unknown + ":2:1: #tpu is no vertex of the graph (expected one of its names a line)");
  const std::string later = folder_.write("later.el", "9 4\n4 9\n1 9\n");
  (void)run_subgraph(later, {"--component", "9", "--output", folder_ / "out.el"});
  EXPECT_EQ(slurp(folder_ / "out.el"), "# source\ttarget\n9\t4\n1\t9\n4\t9\n");
  // The first vertex of the file has no edges, so another one is taken; no warning.
  const std::string first = folder_.write("first.txt", "9\n4\n1\n");
  const std::string chain = folder_.write("chain.el", "9 5\n4 1\n");
  const app_run run = run_here("subgraph", {"--ids", first, "--output", folder_ / "first.el", chain});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err.find("the first vertex"), std::string::npos) << run.err;
  EXPECT_EQ(slurp(folder_ / "first.el"), "# source\ttarget\n4\t1\n");
  const std::string matrix =
      folder_.write("m.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n4 4 3\n2 1 -5\n3 2 6\n4 4 7\n");
  (void)run_subgraph(matrix, {"--component", "1", "--output", folder_ / "part.mtx"});
  EXPECT_NE(slurp(folder_ / "part.mtx").find("integer symmetric\n3 3 2\n2 1 -5\n3 2 6\n"), std::string::npos)
      << slurp(folder_ / "part.mtx");
}

TEST_F(SubgraphApp, WithoutASelectionTakesTheGraph) {
  const json got = run_subgraph(edges_, {"--output", folder_ / "all.csv"});
  EXPECT_EQ(got["vertices"], 7);
  EXPECT_EQ(got["edges"], 6);
  EXPECT_EQ(slurp(folder_ / "all.csv"),
            "source,target,weight\n10,20,0.5\n20,30,2\n30,10,3\n30,40,4\n40,500,5\n70,80,7\n80,80,9\n");
}

TEST_F(SubgraphApp, EmptySelectionsAreGraphs) {
  const std::string none = folder_.write("none.txt", "# nothing\n");
  for (const words& flags : {words{"--k-core", "9"}, words{"--ids", none}}) {
    words with_output = flags;
    with_output.insert(with_output.end(), {"--output", folder_ / "empty.csv"});
    const json got = run_subgraph(edges_, with_output);
    EXPECT_EQ(got["vertices"], 0);
    EXPECT_EQ(got["edges"], 0);
    EXPECT_EQ(slurp(folder_ / "empty.csv"), "source,target,weight\n");
  }
}

TEST_F(SubgraphApp, RefusesWhatItCannotDo) {
  const std::string out = folder_ / "x.el";
  const auto refused = [&](words flags, int code, const std::string& message) {
    flags.insert(flags.end(), {"--output", out, edges_});
    expect_failure(run_here("subgraph", flags), "subgraph", code, message);
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refused({"--ego", "30", "--k-core", "2"}, 2, "expected one of --ids, --ego, --component and --k-core");
  refused({"--radius", "2"}, 2, "--radius: expected --ego ID with it");
  refused({"--top", "2"}, 2, "--top requires --print");
  refused({"--ego", "31"}, 1, "--ego 31: the graph has no such vertex");
  refused({"--component", "biggest"}, 1, "--component biggest: the graph has no such vertex");
  const std::string ids = folder_.write("bad.txt", "30\n# 31\n  41\n");
  refused({"--ids", ids}, 1, ids + ":3:3: 41 is no vertex of the graph (expected one of its ids a line)");
  const std::string many = folder_.write("many.txt", "30 40\n");
  refused({"--ids", many}, 1, many + ":1:1: 30 40 is no vertex of the graph");
  refused({"--ids", folder_ / "missing"}, 1, (folder_ / "missing") + ": ");
  expect_failure(run_here("subgraph", {"--output", folder_ / "x.json", edges_}), "subgraph", 2,
                 "the name does not say which format to write");
  const std::string infinite = folder_.write("nan.wel", "1 2 3\n2 3 nan\n");
  expect_failure(run_here("subgraph", {infinite}), "subgraph", 1, infinite + ":2:5: ");
}

// Random graphs against a selection from the text itself.
TEST_F(SubgraphApp, AgreesWithANaiveSelection) {
  std::uint64_t state = 7;
  const auto below = [&](std::uint64_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((state >> 33) % n);
  };
  for (int round = 0; round < 60; ++round) {
    using edge = std::pair<std::int64_t, std::int64_t>;
    std::map<edge, std::int64_t> lightest;
    std::set<std::int64_t> vertices;
    std::string text;
    for (std::int64_t k = 1 + below(40); k > 0; --k) {
      const edge e(3 * below(15), 3 * below(15));
      const std::int64_t weight = below(9) - 3;
      text += std::to_string(e.first) + " " + std::to_string(e.second) + " " + std::to_string(weight) + "\n";
      const auto at = lightest.emplace(e, weight).first;
      at->second = std::min(at->second, weight);
      vertices.insert({e.first, e.second});
    }
    const std::string file = folder_.write("random.wel", text);
    std::string listed;
    std::set<std::int64_t> kept;
    for (const std::int64_t v : vertices) {
      if (below(3) > 0) kept.insert(v);
    }
    for (const std::int64_t v : kept) listed += std::to_string(v) + "\n";
    const std::string ids = folder_.write("kept.txt", listed);
    const std::string out = folder_ / "kept.wel";
    const json got = run_subgraph(file, {"--ids", ids, "--output", out, "--threads", std::to_string(1 + round % 3)});
    std::map<edge, std::int64_t> expected, written;
    std::int64_t loops = 0;
    for (const auto& [e, weight] : lightest) {
      if (kept.count(e.first) == 0 || kept.count(e.second) == 0) continue;
      expected[e] = weight;
      loops += e.first == e.second ? 1 : 0;
    }
    std::ifstream lines(out);
    std::string head;
    std::getline(lines, head);
    for (std::int64_t u = 0, v = 0, w = 0; lines >> u >> v >> w;) EXPECT_TRUE(written.emplace(edge(u, v), w).second);
    EXPECT_EQ(written, expected) << text;
    EXPECT_EQ(got["vertices"], kept.size());
    EXPECT_EQ(got["edges"], static_cast<std::int64_t>(expected.size()) - loops);
    EXPECT_EQ(got["self_loops"], loops);
    if (HasFailure()) return;
  }
}

// Files as other programs write them: a byte order mark, no line feed at the end, UTF-16.
TEST_F(SubgraphApp, ReadsIdsOfOtherPrograms) {
  const std::string marked = folder_.write("marked.txt",
                                           "\xef\xbb\xbf"
                                           "30\n40");
  EXPECT_EQ(write_to("marked.csv", {"--ids", marked}), "source,target,weight\n30,40,4\n");
  // Cut at zero bytes, the lines would be 30 and 500, 30 and 40, and 30.
  using namespace std::string_literals;
  for (const std::string& text : {"30\n5\0\n00\n"s,
                                  "30\n40\0"
                                  "500\n"s,
                                  "30\0 40"s}) {
    const std::string zero = folder_.write("zero.txt", text);
    expect_failure(run_here("subgraph", {"--ids", zero, edges_}), "subgraph", 1, "a zero byte (expected text)");
  }
}

TEST_F(SubgraphApp, AnUnweightedGraphHasNoWeightsInItsPart) {
  const std::string plain = folder_.write("plain.csv", "source,target\n9,4\n4,9\n1,9\n7,7\n");
  (void)run_subgraph(plain, {"--component", "9", "--output", folder_ / "plain_part.csv"});
  EXPECT_EQ(slurp(folder_ / "plain_part.csv"), "source,target\n9,4\n1,9\n4,9\n");
}

// Any other vertices than the selected ones, or in another order, are refused.
TEST(SubgraphCheck, FindsEveryChange) {
  using apps::vertex_selection;
  const context<host> ctx({.threads = 2});
  const auto expect_found = [&](const graph_view<std::int32_t, std::int64_t, host>& g, const apps::selected_by& by) {
    const auto fault = [&](const std::vector<std::int32_t>& vertices) {
      return apps::check_selection(g, by, span<const std::int32_t, host>(vertices));
    };
    const auto selected = apps::select_vertices(ctx, g, by);
    const std::vector<std::int32_t> right(selected.begin(), selected.end());
    ASSERT_EQ(fault(right), "");
    for (std::int32_t v = 0; v < g.vertices(); ++v) {
      std::vector<std::int32_t> wrong = right;
      const auto at = std::lower_bound(wrong.begin(), wrong.end(), v);
      const bool has = at != wrong.end() && *at == v;
      has ? wrong.erase(at) : wrong.insert(at, v);
      ASSERT_EQ(fault(wrong), fmt::format("vertex {} is {} (expected {})", v, has ? "not selected" : "selected",
                                          has ? "selected" : "not selected"));
      wrong = right;
      wrong.push_back(v);
      ASSERT_NE(fault(wrong), "");
    }
  };
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_source random(seed);
    const std::int64_t n = 1 + random.below(12);
    const edge_vector edges = random_edges(random, n, random.below(3 * n), 0);
    const auto both = make_undirected<std::int32_t, std::int64_t>(n, edges);
    const auto one = make_directed<std::int32_t, std::int64_t>(n, edges, edges_kept::out_and_in);
    for (const auto& g : {both.view(), one.view()}) {
      expect_found(g, {});
      for (std::int64_t v = -1; v < n; ++v) {
        apps::selected_by by;
        by.selection = vertex_selection::component;
        by.vertex = v;
        expect_found(g, by);
        if (v < 0) continue;
        by.selection = vertex_selection::ego;
        for (by.radius = 0; by.radius < 4; ++by.radius) expect_found(g, by);
        by.selection = vertex_selection::ids;
        by.ids = {v};
        expect_found(g, by);
      }
      apps::selected_by by;
      by.selection = vertex_selection::k_core;
      for (by.k = 0; by.k < 6; ++by.k) expect_found(g, by);
    }
    if (HasFailure()) return;
  }
}

// An upper bound: the part may be as large as the graph.
TEST(SubgraphPlan, CoversARun) {
  for (const std::string graph : {"gen:rmat:scale=16,degree=16", "gen:grid2d:n=300"}) {
    for (const char* direction : {"--undirected", "--directed"}) {
      for (const std::vector<std::string>& selection : std::vector<std::vector<std::string>>{
               {}, {"--component", "largest"}, {"--ego", "1", "--radius", "3"}, {"--k-core", "2"}}) {
        std::vector<std::string> flags{graph, direction, "--device", "cpu", "--threads", "2", "--json", "-"};
        flags.insert(flags.end(), selection.begin(), selection.end());
        SCOPED_TRACE(testing::PrintToString(flags));
        std::vector<std::string> planned = flags;
        planned.insert(planned.begin(), {"plan", "subgraph"});
        const double said = run_app("spargo", planned).json().at("host_running_bytes");
        flags.insert(flags.end(), {"--repeat", "1", "--no-validate"});
        const double took = run_app("subgraph", flags).json().at("host_memory_bytes");
        EXPECT_GE(said, took);
        if (selection.empty()) {
          EXPECT_LE(said, 2 * took + (1 << 24)) << "partly used pages count up to 12 MiB";
        }
      }
    }
  }
}

// Of all real graphs: the largest component and the K-core have the sizes of the truth and of `cores`.
TEST(SubgraphData, AgreesWithOtherCommands) {
  int files = 0;
  for_each_truth(
      "core_numbers", 12, [&](const std::string& name, const std::string& file, const json& truth, const json&) {
        const bool is_complex = name.find("complex") != std::string::npos || name == "hermitian3.mtx" ||
                                name.starts_with("young1c");  // complex numbers are no weights
        if (files == 12 || is_complex) return;
        ++files;
        const std::int64_t deepest = truth["max"];
        const json core = run_subgraph(file, {"--undirected", "--k-core", std::to_string(deepest)});
        EXPECT_EQ(core["valid"], true);
        const auto& last = truth["histogram"].back();
        if (deepest > 0) {
          EXPECT_EQ(core["vertices"], last[1]);
        }
        const json largest = run_subgraph(file, {"--undirected", "--component", "largest"});
        EXPECT_EQ(largest["valid"], true);
        EXPECT_EQ(largest["vertices"], report_of("components", file, {"--undirected", "--repeat", "1"})["largest"]);
      });
}

}  // namespace
}  // namespace spargo::test
