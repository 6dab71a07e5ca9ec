// `eigenvector`, `katz` and `hits` end to end: keys, values by hand, weights, outputs, every graph of the data folder,
// errors.
#include <cmath>
#include <map>

#include "apps/graph_app.hpp"
#include "support/snapshots.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

json run_on(const std::string& command, const std::string& file, const std::vector<std::string>& flags) {
  return on_cpu(command)(file, flags);
}
std::map<std::string, double> values_of(const json& rows) {
  std::map<std::string, double> values;
  for (const json& row : rows) values[row[0].dump()] = row[1];
  return values;
}

class RanksFile : public testing::Test {
 protected:
  const scratch folder_;
  // A star around 10 with a far id, a duplicate, a loop at the end of a path.
  const std::string star_ = folder_.write("star.el", "10 20\n10 30\n10 40\n10 1000000000000\n10 20\n");
  const std::string weighted_ = folder_.write("w.el", "1 3 1\n2 3 2\n2 3 1\n");
};

TEST_F(RanksFile, EveryKeyOfTheContractIsThere) {
  for (const std::string command : {"eigenvector", "katz", "hits"}) {
    const json got = run_on(command, star_, {"--undirected"});
    SCOPED_TRACE(command);
    expect_graph_keys(got, {"iterations", "residual", "converged"});
    EXPECT_EQ(got["valid"], true);
    EXPECT_EQ(got.contains("top"), command != "hits");
    EXPECT_EQ(got.contains("hubs") && got.contains("authorities"), command == "hits");
    EXPECT_EQ(got["algorithm"], "power");
  }
}

TEST_F(RanksFile, KnownValues) {
  const json e = run_on("eigenvector", star_, {"--undirected", "--tolerance", "1e-14", "--max-iterations", "1000"});
  EXPECT_EQ(e["converged"], true);
  EXPECT_NEAR(e["eigenvalue"], 2, 1e-10);
  EXPECT_EQ(e["top"][0][0], 10);
  EXPECT_NEAR(e["top"][0][1], std::sqrt(0.5), 1e-10);
  EXPECT_NEAR(values_of(e["top"]).at("1000000000000"), std::sqrt(0.125), 1e-10);
  const json k = run_on("katz", star_, {"--directed", "--alpha", "0.5", "--beta", "3"});
  EXPECT_EQ(k["alpha"], 0.5);
  EXPECT_FALSE(k.contains("eigenvalue_bound"));
  const double norm = std::sqrt(1 + 4 * 1.5 * 1.5);
  EXPECT_NEAR(values_of(k["top"]).at("10"), 1 / norm, 1e-12);
  EXPECT_NEAR(values_of(k["top"]).at("20"), 1.5 / norm, 1e-12) << "a duplicate counts once";
  const json chosen = run_on("katz", star_, {"--undirected"});
  EXPECT_NEAR(chosen["eigenvalue_bound"], 2, 0.2);
  EXPECT_NEAR(chosen["alpha"].get<double>() * chosen["eigenvalue_bound"].get<double>(), 0.9, 1e-12);
  const json h = run_on("hits", star_, {"--directed"});
  EXPECT_NEAR(h["hubs"][0][1], 1, 1e-12);
  EXPECT_NEAR(values_of(h["authorities"]).at("40"), 0.25, 1e-12);
}

TEST_F(RanksFile, WeightsCountWhereAskedFor) {
  EXPECT_NEAR(values_of(run_on("hits", weighted_, {})["hubs"]).at("2"), 0.5, 1e-12);
  const json got = run_on("hits", weighted_, {"--weights", "file"});
  EXPECT_EQ(got["weights"], "file");
  EXPECT_NEAR(values_of(got["hubs"]).at("2"), 0.75, 1e-12) << "weights of both lines are added";
  for (const std::string command : {"eigenvector", "katz"}) {
    EXPECT_EQ(run_on(command, weighted_, {"--weights", "file"})["valid"], true);
    EXPECT_EQ(run_on(command, weighted_, {"--weights", "random:3"})["weights"], "random:3");
  }
}

TEST_F(RanksFile, OutputHasIdsAsTheFileWritesThem) {
  const std::string out = folder_ / "hits.csv";
  (void)run_on("hits", weighted_, {"--weights", "file", "--output", out, "--sort"});
  EXPECT_EQ(slurp(out).substr(0, 21), "id,hub,authority\n2,0.");
  const std::string values = folder_ / "values.txt";
  (void)run_on("eigenvector", star_, {"--undirected", "--output", values, "--top", "1"});
  EXPECT_EQ(slurp(values).substr(0, 5), "10 0.");
}

TEST_F(RanksFile, DivergenceBeyondTheRangeOfNumbersIsAnError) {
  const app_run run = run_here("katz", {"--device", "cpu", "--undirected", "--alpha", "50", star_});
  expect_failure(run, "katz", 1, "--alpha 50: the iteration diverges");
  EXPECT_NE(run.err.find("converges)"), std::string::npos) << run.err;
}

TEST_F(RanksFile, DivergenceIsReportedWithTheBound) {
  const json got = run_on("katz", star_, {"--undirected", "--alpha", "0.6", "--max-iterations", "20"});
  EXPECT_EQ(got["converged"], false);
  EXPECT_EQ(got["valid"], true);
  EXPECT_NEAR(got["eigenvalue_bound"], 2, 0.2);
  const app_run text = run_here("katz", {"--device", "cpu", "--undirected", "--alpha", "0.6", star_});
  EXPECT_NE(text.out.find("NOT CONVERGED"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("any alpha below"), std::string::npos) << text.out;
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.err.find("katz: warning: not converged after "), std::string::npos) << text.err;
  for (const char* command : {"eigenvector", "hits"}) {
    const app_run cut = run_here(
        command, {"--device", "cpu", "--undirected", "--max-iterations", "1", source_folder() + "/datasets/karate.el"});
    EXPECT_EQ(cut.code, 0) << cut.err;
    EXPECT_NE(cut.err.find("warning: not converged after 1 iteration (residual "), std::string::npos) << cut.err;
  }
}

TEST_F(RanksFile, ErrorsAreOneLine) {
  const auto fails = [&](const std::string& command, const std::vector<std::string>& flags, int code,
                         const std::string& message) {
    const app_run run = run_here(command, flags);
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  };
  fails("eigenvector", {"--tolerance", "-1", star_}, 2, "--tolerance: -1 (expected 0 or more)");
  fails("katz", {"--alpha", "-1", star_}, 2, "--alpha: -1 (expected more than 0)");
  fails("katz", {"--alpha", "0", star_}, 2, "--alpha: 0 (expected more than 0)");
  fails("katz", {"--beta", "nan", star_}, 2, "--beta: nan (expected 0 or more)");
  const auto negative = folder_.write("negative.el", "1 2 3\n2 3 -1\n");
  fails("hits", {"--weights", "file", negative}, 1, "negative.el:2");
}

TEST(RanksApp, EveryGraphOfTheData) {
  for_each_truth("core_numbers", 40, [](const std::string&, const std::string& file, const json&, const json&) {
    EXPECT_EQ(run_on("eigenvector", file, {"--undirected", "--max-iterations", "20"})["valid"], true);
    EXPECT_EQ(run_on("katz", file, {})["converged"], true);
    EXPECT_EQ(run_on("hits", file, {"--directed", "--max-iterations", "20"})["valid"], true);
  });
}

}  // namespace
}  // namespace spargo::test
