// Graphs for a GPU: the same graph and errors whether the host or the device parses, generates and builds. The host,
// which other tests check, is the oracle.
#include "placement/placed_input.hpp"
#include "placement/weighted_input.hpp"

#include "apps/all_commands.hpp"
#include "apps/run_app.hpp"
#include "support/snapshots.hpp"
#include "support/suites.hpp"

#include <spargo/core/error.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>

namespace spargo::apps {
namespace {

using test::app_run;
using test::run_app;
using test::scratch;

// All facts about a graph, or the error.
struct outcome {
  std::string error;
  std::size_t types = 0;
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::int64_t stored = 0;
  std::int64_t first_vertex = 0;
  bool directed = false;
  bool weighted = false;
  std::vector<std::int64_t> names;
  std::vector<std::int64_t> rows;  // offsets and indices of the out-edges, then of the in-edges
  bool operator==(const outcome&) const = default;
};

template <class T>
void append(std::vector<std::int64_t>& to, span<const T, host> from) {
  to.insert(to.end(), from.data(), from.data() + from.size());
}

struct request {
  std::string device = "cpu";
  std::string parse = "auto";
  bool undirected = false;
  in_edges wanted = in_edges::build;
};

graph_flags flags_of(const std::string& file, const request& how) {
  graph_flags flags;
  flags.common.device = how.device;
  flags.common.threads = 3;
  flags.common.quiet = true;
  flags.file = file;
  flags.parse = how.parse;
  flags.undirected = how.undirected;
  return flags;
}

outcome load(const std::string& file, const request& how, std::optional<loaded_input>* loaded = nullptr) {
  const graph_flags flags = flags_of(file, how);
  outcome result;
  try {
    graph_work work;
    work.wanted = how.wanted;
    placed_input read = load_placed(flags, work);
    result.types = read.g.index();
    result.stored = read.from.facts.stored;
    result.first_vertex = read.from.facts.first_vertex;
    result.weighted = read.from.facts.weighted;
    result.names = read.from.facts.names.all();
    std::visit(
        [&](const auto& g) {
          result.vertices = g.vertices();
          result.edges = g.edges();
          result.directed = g.direction() == direction_kind::directed;
          const auto offsets = g.offsets();
          const auto view = g.view();
          EXPECT_EQ(offsets.size(), view.out.offsets.size());
          EXPECT_EQ(g.entries(), view.out.nnz());
          std::int64_t bytes = 0;
          const auto add = [&](const auto& part) {
            bytes += part.offsets.size() * std::int64_t{sizeof(part.offsets[0])} +
                     part.indices.size() * std::int64_t{sizeof(part.indices[0])};
          };
          add(view.out);
          if (result.directed) add(view.in);
          EXPECT_EQ(g.bytes(), bytes);
          append(result.rows, offsets);
          append(result.rows, view.out.indices);
          append(result.rows, view.in.offsets);
          append(result.rows, view.in.indices);
        },
        read.g);
    if (loaded != nullptr) loaded->emplace(std::move(read.from));
  } catch (const error& e) {
    result = {};
    result.error = e.what();
  }
  return result;
}

std::string edges_of(int edges, std::int64_t ids, unsigned seed, const std::string& between = "\t") {
  std::mt19937_64 random(seed);
  std::string text = "# a header\n";
  const auto id = [&] { return std::to_string(random() % static_cast<std::uint64_t>(ids)); };
  for (int k = 0; k < edges; ++k) text += id() + between + id() + "\n";
  return text;
}

const std::vector<std::string> generated = {
    "gen:rmat:scale=10,degree=8",
    "gen:rmat:scale=0,degree=3",
    "gen:uniform:rows=3000,degree=5",
    "gen:grid2d:n=30,m=40",
    "gen:powerlaw:rows=3000,degree=9,max=500",
    "gen:star:n=300",
};

// The same with weights and their kind.
struct weighted_outcome {
  std::string error;
  std::string weights;
  std::size_t types = 0;
  bool on_device = false;
  std::int64_t edges = 0;
  std::vector<std::int64_t> rows;
  std::vector<double> values;  // their bits survive: integers are below 2^53
};

weighted_outcome load_weights(const std::string& file, const std::string& weights, const request& how) {
  const graph_flags flags = flags_of(file, how);
  weighted_outcome result;
  try {
    const placed_weighted_input read = load_weighted(flags, {}, parse_weights(weights));
    result.weights = read.weights;
    result.types = read.g.index();
    result.on_device = read.from.built_on_device;
    std::visit(
        [&](const auto& g) {
          result.edges = g.edges();
          const auto view = g.view();
          append(result.rows, view.out.offsets);
          append(result.rows, view.out.indices);
          for (const auto weight : view.out_weights) result.values.push_back(static_cast<double>(weight));
        },
        read.g);
  } catch (const error& e) {
    result.error = e.what();
  }
  return result;
}

TEST(PlacedInput, OnTheCpuItIsTheGraphThatIsLoadedThere) {
  const scratch folder;
  for (const std::string& file :
       {folder.write("a.el", edges_of(5000, 900, 1)), std::string("gen:rmat:scale=9,degree=8")}) {
    for (const bool undirected : {false, true}) {
      graph_flags flags;
      flags.file = file;
      flags.undirected = undirected;
      const context<host> two({.threads = 2});
      const input_description input = describe_input(two, file);
      input_cache none(cache_mode::off, input, value_kind::pattern);
      any_coo<pattern> listed = read_graph_entries(two, input, {}, none);
      const auto names = std::visit([](const auto& read) { return read.facts.names.all(); }, listed);
      const any_graph plain = make_graph(
          two, std::move(listed),
          {.direction = undirected ? direction_kind::undirected : direction_kind::directed, .in_edges = !undirected});
      const outcome placed = load(file, {.undirected = undirected});
      std::vector<std::int64_t> rows;
      std::visit(
          [&](const auto& g) {
            for (const auto& part : {g.view().out, g.view().in}) {
              append(rows, part.offsets);
              append(rows, part.indices);
            }
          },
          plain);
      EXPECT_EQ(placed.error, "");
      EXPECT_EQ(placed.rows, rows) << file;
      EXPECT_EQ(placed.names, names);
    }
  }
}

TEST(PlacedInput, WithoutAGpuThereIsNoneToParse) {
  for (const std::string& command : test::graph_commands()) {
    const app_run run = run_app(command, {"--parse", "gpu", "--device", "cpu", "gen:path:n=5"});
    test::expect_failure(run, command, 2, "--parse gpu needs a GPU");
  }
}

TEST(PlacedInput, ReportsSayWhereItWasDone) {
  for (const std::string& command : test::graph_commands()) {
    const auto report = run_app(command, {"--device", "cpu", "gen:path:n=5", "--json", "-"}).json();
    EXPECT_EQ(report.at("parsed_on"), "cpu");
    EXPECT_EQ(report.at("built_on"), "cpu");
    EXPECT_FALSE(report.contains("parsed_on_reason"));
  }
}

class PlacedInputOnGpu : public test::device_suite {
 protected:
  // Returns whether the device has parsed it.
  bool same(const std::string& file) {
    bool parsed = false;
    for (const bool undirected : {false, true}) {
      for (const in_edges wanted : {in_edges::omit, in_edges::build}) {
        std::optional<loaded_input> loaded;
        const outcome here = load(file, {"cpu", "auto", undirected, wanted});
        const outcome there = load(file, {"cuda", "gpu", undirected, wanted}, &loaded);
        EXPECT_TRUE(here == there) << file << (undirected ? " undirected" : " directed") << "\n"
                                   << here.error << "\n"
                                   << there.error;
        if (!there.error.empty()) continue;
        EXPECT_TRUE(loaded->built_on_device) << file;
        EXPECT_EQ(loaded->reason_for_host.empty(), loaded->facts.parsed_on_device)
            << file << ": " << loaded->reason_for_host;
        parsed = loaded->facts.parsed_on_device;
      }
    }
    return parsed;
  }

  const scratch folder_;
};

TEST_F(PlacedInputOnGpu, EdgeListsAreParsedAndBuiltThere) {
  for (const int edges : {1, 2, 33, 4000, 100'000}) {
    EXPECT_TRUE(same(folder_.write("dense.el", edges_of(edges, 1000, 1)))) << edges;
    EXPECT_TRUE(same(folder_.write("commas.el", edges_of(edges, 50'000, 2, ",")))) << edges;
  }
  EXPECT_TRUE(same(folder_.write("loops.el", "7 7\n9 9\n")));
  EXPECT_TRUE(same(folder_.write("weights.wel", "1 2 0.5\n2 1 7\n3 3 1e9\n")));
}

TEST_F(PlacedInputOnGpu, GeneratedGraphsAreMadeThere) {
  for (const std::string& spec : generated) {
    EXPECT_EQ(same(spec), spec.starts_with("gen:rmat") || spec.starts_with("gen:uniform")) << spec;
  }
}

TEST_F(PlacedInputOnGpu, OthersAreReadByTheHostAndBuiltThere) {
  const std::string plain = edges_of(3000, 700, 3);
  EXPECT_FALSE(same(folder_.write("far.el", plain + "1 99999999999\n")));
  EXPECT_FALSE(same(folder_.write("comment.el", plain + "# a comment\n5 6\n")));
  EXPECT_FALSE(
      same(folder_.write("s.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 4\n")));
  EXPECT_FALSE(same(folder_.write("g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 5\n3 2 6\n")));
  EXPECT_FALSE(same(folder_.write("empty.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n")));
  EXPECT_FALSE(same(folder_.write("a.graph", "3 2\n2\n1 3\n2\n")));
  EXPECT_FALSE(same(folder_.write("nothing.el", "# nothing\n")));
  if (test::run_shell("gzip '" + folder_.write("z.el", plain) + "'").code == 0) {
    EXPECT_FALSE(same(folder_ / "z.el.gz"));
  }
}

TEST_F(PlacedInputOnGpu, SnapshotsAreReadByTheHost) {
  SPARGO_NEEDS_SNAPSHOTS();
  const std::string snapshot = folder_ / "s.spg";
  ASSERT_EQ(run_app("convert", {"gen:rmat:scale=8,degree=4", snapshot, "--quiet"}).code, 0);
  EXPECT_FALSE(same(snapshot));
}

TEST_F(PlacedInputOnGpu, TheCorpusIsReadAlikeOrRefusedAlike) {
  const auto corpus = std::filesystem::path(test::source_folder()) / "tests/io/corpus";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no corpus";
  int refused = 0;
  int files = 0;
  for (const char* kind : {"valid", "invalid"}) {
    for (const auto& entry : std::filesystem::directory_iterator(corpus / kind)) {
      const std::string path = entry.path().string();
      const outcome here = load(path, {});
      const outcome there = load(path, {"cuda", "gpu"});
      EXPECT_TRUE(here == there) << path << "\n" << here.error << "\n" << there.error;
      refused += there.error.empty() ? 0 : 1;
      ++files;
    }
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(files, refused);
}

TEST_F(PlacedInputOnGpu, ABadLineIsTheSameLine) {
  std::string text = edges_of(200'000, 1000, 4);
  for (const std::size_t line : {std::size_t{1}, std::size_t{100'000}, std::size_t{199'999}}) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < line; ++k) at = text.find('\n', at) + 1;
    for (const std::string bad : {"1 x\n", "1\n", "-3 4\n", "1 99999999999999999999\n", "1 2 3\n"}) {
      const std::string path = folder_.write("bad.el", text.substr(0, at) + bad + text.substr(at));
      const outcome here = load(path, {});
      const std::size_t found = bad == "1 2 3\n" && line == 1 ? line + 2 : line + 1;  // after the first edge
      EXPECT_NE(here.error.find(":" + std::to_string(found) + ":"), std::string::npos) << here.error;
      EXPECT_EQ(load(path, {"cuda", "gpu"}).error, here.error);
    }
  }
}

TEST_F(PlacedInputOnGpu, WeightsAreTheSameWhereverTheyWereRead) {
  std::mt19937_64 random(8);
  const auto weighted = [&](const std::function<std::string()>& weight) {
    std::string text;
    for (int k = 0; k < 30'000; ++k) {
      text += std::to_string(random() % 500) + " " + std::to_string(random() % 500) + " " + weight() + "\n";
    }
    return text;
  };
  const auto number = [&] { return random() % 1000; };
  const std::vector<std::string> files = {
      folder_.write("whole.wel", weighted([&] { return std::to_string(number()); })),
      folder_.write("wide.wel", weighted([&] { return std::to_string(number() << 30); })),
      folder_.write("real.wel", weighted([&] { return std::to_string(number()) + ".25"; })),
      folder_.write("none.el", edges_of(30'000, 500, 9)),
      folder_.write("one.wel", "4 5 6\n"),
      folder_.write("nothing.el", "# nothing\n"),
      folder_.write("s.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 5\n3 2 0.5\n4 4 1\n"),
      folder_.write("k.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 1 0\n"),
      folder_.write("p.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n2 1\n3 2\n"),
      folder_.write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n"),
      folder_.write("a.graph", "3 2 001\n2 7\n1 7 3 4\n2 4\n"),
      folder_.write("a.gr", "p sp 3 2\na 1 2 5\na 2 3 6\n"),
      "gen:rmat:scale=9,degree=8",
      "gen:grid2d:n=30,m=40",
  };
  for (const std::string& file : files) {
    for (const std::string weights : {"", "file", "unit", "random:5"}) {
      for (const bool undirected : {false, true}) {
        SCOPED_TRACE(file + " --weights " + weights + (undirected ? " undirected" : " directed"));
        const weighted_outcome here = load_weights(file, weights, {"cpu", "auto", undirected});
        const weighted_outcome there = load_weights(file, weights, {"cuda", "gpu", undirected});
        EXPECT_EQ(there.error, here.error);
        EXPECT_EQ(there.weights, here.weights);
        EXPECT_EQ(there.types, here.types);
        EXPECT_EQ(there.edges, here.edges);
        EXPECT_TRUE(there.rows == here.rows);
        EXPECT_TRUE(there.values == here.values);
        EXPECT_EQ(there.on_device, here.error.empty());
      }
    }
  }
}

TEST_F(PlacedInputOnGpu, ABadWeightIsTheSameLine) {
  std::mt19937_64 random(8);
  std::string text;
  for (int k = 0; k < 50'000; ++k) {
    text += std::to_string(random() % 500) + " " + std::to_string(random() % 500) + " 3\n";
  }
  for (const std::size_t line : {std::size_t{1}, std::size_t{30'000}, std::size_t{49'999}}) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < line; ++k) at = text.find('\n', at) + 1;
    for (const std::string bad : {"1 2 -4\n", "1 2 nan\n", "1 2 -0.5\n", "1 2 -inf\n"}) {
      const std::string path = folder_.write("bad.wel", text.substr(0, at) + bad + text.substr(at));
      const std::string here = load_weights(path, "", {}).error;
      EXPECT_NE(here.find(":" + std::to_string(line + 1) + ":5: "), std::string::npos) << here;
      EXPECT_EQ(load_weights(path, "", {"cuda", "gpu"}).error, here);
    }
  }
}

TEST_F(PlacedInputOnGpu, MemoryThatDoesNotSufficeIsTheHosts) {
  const std::string path = folder_.write("a.el", edges_of(500'000, 100'000, 5));
  const std::vector<std::string> common = {"--device", "cuda", "--parse", "gpu", "--json", "-", path};
  const app_run all = run_app("bfs", common);
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(all.json().at("parsed_on"), "gpu");
  std::vector<std::string> limited = common;
  limited.insert(limited.end(), {"--max-device-memory", "12M"});
  const app_run less = run_app("bfs", limited);
  ASSERT_EQ(less.code, 0) << less.err;
  EXPECT_EQ(less.json().at("parsed_on"), "cpu");
  EXPECT_EQ(less.json().at("built_on"), "cpu");
  EXPECT_EQ(less.json().at("device"), "cuda:0");
  EXPECT_NE(less.json().at("parsed_on_reason").get<std::string>().find("memory"), std::string::npos);
  EXPECT_EQ(less.json().at("runs")[0].at("levels"), all.json().at("runs")[0].at("levels"));
}

// A large file, with every flag that needs the graph on the host.
TEST_F(PlacedInputOnGpu, AnswersAreTheSameWhereverItWasLoaded) {
  const std::string path = folder_.write("a.el", edges_of(1'600'000, 200'000, 6));
  const auto run = [&](const std::string& command, std::vector<std::string> more) {
    more.insert(more.end(), {"--json", "-", "--repeat", "1", path});
    const app_run ran = run_app(command, more);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.json();
  };
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {}, {"--undirected"}, {"--source", "max-degree"}, {"--sources", "3", "--undirected"}, {"--deterministic"}}) {
    std::vector<std::string> with = flags;
    with.insert(with.end(), {"--device", "cuda"});
    const auto there = run("bfs", with);
    with.back() = "cpu";
    const auto here = run("bfs", with);
    EXPECT_EQ(there.at("parsed_on"), "gpu");
    EXPECT_EQ(there.at("built_on"), "gpu");
    EXPECT_EQ(there.at("edges"), here.at("edges"));
    ASSERT_EQ(there.at("runs").size(), here.at("runs").size());
    for (std::size_t k = 0; k < here.at("runs").size(); ++k) {
      for (const char* key : {"source", "reached", "levels", "valid"}) {
        EXPECT_EQ(there.at("runs")[k].at(key), here.at("runs")[k].at(key)) << key;
      }
    }
  }
  const auto trees = [&](const char* device) {
    const std::string out = folder_ / device;
    (void)run("bfs", {"--deterministic", "--device", device, "--output", out});
    return test::slurp(out);
  };
  EXPECT_TRUE(trees("cuda") == trees("cpu"));
  const auto same = [&](const std::string& command, const std::vector<std::string>& keys,
                        const std::vector<std::string>& flags) {
    std::vector<std::string> with = flags;
    with.insert(with.end(), {"--device", "cuda"});
    const auto there = run(command, with);
    with.back() = "cpu";
    const auto here = run(command, with);
    EXPECT_EQ(there.at("parsed_on"), "gpu") << command;
    EXPECT_EQ(there.at("built_on"), "gpu") << command;
    EXPECT_EQ(there.at("upload_ms"), 0) << command;
    for (const std::string& key : keys) EXPECT_EQ(there.at(key), here.at(key)) << command << " " << key;
    return std::pair(there, here);
  };
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{}, {"--weights", "random:3", "--undirected", "--source", "max-degree"}}) {
    const auto [there, here] = same("sssp", {"edges", "weights", "weight_type", "valid"}, flags);
    for (const char* key : {"source", "reached", "max_distance", "sum_distance", "first"}) {
      EXPECT_EQ(there.at("runs")[0].at(key), here.at("runs")[0].at(key)) << key;
    }
  }
  (void)same("triangles", {"edges", "triangles", "average_local", "transitivity", "lcc_average", "valid"}, {});
  (void)same("triangles", {"edges", "triangles", "average_local", "transitivity", "valid"}, {"--undirected"});
  (void)same("betweenness", {"edges", "sources", "valid"}, {"--sources", "3"});
  (void)same("communities", {"edges", "communities", "label_sum", "rounds", "valid"},
             {"--method", "cdlp", "--iterations", "4"});
  for (const char* key : {"components", "sizes", "valid", "edges"}) {
    EXPECT_EQ(run("components", {"--device", "cuda"}).at(key), run("components", {"--device", "cpu"}).at(key)) << key;
  }
  for (const char* key : {"valid", "edges", "converged"}) {
    EXPECT_EQ(run("pagerank", {"--device", "cuda"}).at(key), run("pagerank", {"--device", "cpu"}).at(key)) << key;
  }
}

}  // namespace
}  // namespace spargo::apps
