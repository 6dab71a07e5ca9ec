// `spargo eigs` end to end: known eigenvalues, keys, outputs, exit status, refusals.
#include <cmath>
#include <numbers>

#include "apps/run_here.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

json eigs_of(std::vector<std::string> arguments, int code = 0) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const app_run run = run_here("eigs", arguments);
  EXPECT_EQ(run.code, code) << run.err;
  const json got = run.json();
  EXPECT_EQ(got["valid"], true);
  return got;
}

// Zachary's karate club: the largest eigenvalue, and the algebraic connectivity.
TEST(EigsApp, TheKarateClub) {
  SPARGO_TEST_NEEDS_DATA();
  const std::string karate = (data_directory() / "karate.mtx").string();
  const json got = eigs_of({karate, "--count", "3"});
  EXPECT_NEAR(got["values"][0].get<double>(), 6.72570, 1e-5);
  EXPECT_EQ(got["values"].size(), 3U);
  EXPECT_EQ(got["residuals"].size(), 3U);
  for (const char* key : {"app", "rows", "time_ms", "converged", "operator", "which", "device", "threads"}) {
    EXPECT_TRUE(got.contains(key)) << key;
  }
  const json laplacian = eigs_of({karate, "--operator", "laplacian", "--which", "smallest", "--count", "2"});
  EXPECT_NEAR(laplacian["values"][0].get<double>(), 0, 1e-8);
  EXPECT_NEAR(laplacian["values"][1].get<double>(), 0.468525, 1e-6);
  const json normalized = eigs_of({karate, "--operator", "normalized", "--which", "smallest", "--count", "1"});
  EXPECT_NEAR(normalized["values"][0].get<double>(), 0, 1e-8);
}

TEST(EigsApp, ReportsItsCheckAndPlansItsMemory) {
  const std::vector<std::string> words = {"gen:laplacian2d:n=200", "--max-products", "50", "--device", "cpu"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run_here("eigs", more);
  };
  EXPECT_NE(with({}).out.find("\n  check "), std::string::npos);
  EXPECT_GT(with({"--json", "-"}).json().at("validate_ms"), 0.0);
  EXPECT_TRUE(with({"--json", "-", "--no-validate"}).json().at("validate_ms").is_null());
  EXPECT_EQ(with({"--no-validate"}).out.find("\n  check "), std::string::npos);
  const json plan = run_app("spargo", {"plan", "eigs", "gen:laplacian2d:n=200", "--json", "-"}).json();
  const auto took = run_app("spargo", {"eigs", words[0], "--max-products", "50", "--json", "-", "--no-validate"})
                        .json()
                        .at("host_memory_bytes")
                        .get<double>();
  EXPECT_LT(plan.at("host_bytes").get<double>(), 1.5 * took);
  EXPECT_GE(plan.at("host_running_bytes").get<double>(), took);
  EXPECT_LE(plan.at("host_running_bytes").get<double>(), 4 * took);
}

class EigsFile : public testing::Test {
 protected:
  static std::string matrix(const std::string& kind, const std::string& entries) {
    return "%%MatrixMarket matrix coordinate " + kind + "\n" + entries;
  }
  const scratch folder_;
};

TEST_F(EigsFile, PathsAndCompleteGraphs) {
  // The path of 30 vertices: 2 cos(pi k / 31), and Laplacian 2 - 2 cos(pi k / 30).
  std::string path = "30 30 29\n";
  for (int k = 1; k < 30; ++k) path += std::to_string(k + 1) + " " + std::to_string(k) + "\n";
  const std::string p30 = folder_.write("p30.mtx", matrix("pattern symmetric", path));
  const json adjacency = eigs_of({p30, "--count", "4"});
  const json laplacian = eigs_of({p30, "--count", "4", "--operator", "laplacian", "--which", "smallest"});
  for (std::size_t k = 0; k < 4; ++k) {
    const auto d = static_cast<double>(k);
    EXPECT_NEAR(adjacency["values"][k].get<double>(), 2 * std::cos(std::numbers::pi * (d + 1) / 31), 1e-9);
    EXPECT_NEAR(laplacian["values"][k].get<double>(), 2 - 2 * std::cos(std::numbers::pi * d / 30), 1e-9);
  }
  // A triangle with loops of weight 5: the Laplacian ignores these, the normalised one has 1 - 5/7 in it.
  const std::string loops =
      folder_.write("k3.mtx", matrix("real symmetric", "3 3 6\n1 1 5\n2 1 1\n2 2 5\n3 1 1\n3 2 1\n3 3 5\n"));
  EXPECT_NEAR(eigs_of({loops, "--operator", "laplacian", "--count", "1"})["values"][0].get<double>(), 3, 1e-12);
  EXPECT_NEAR(eigs_of({loops, "--operator", "normalized", "--count", "1"})["values"][0].get<double>(), 3.0 / 7, 1e-12);
  // An isolated vertex adds a 0.
  const std::string apart = folder_.write("a.mtx", matrix("real symmetric", "3 3 1\n2 1 2\n"));
  for (const char* form : {"laplacian", "normalized"}) {
    EXPECT_NEAR(eigs_of({apart, "--operator", form, "--count", "1"})["values"][0].get<double>(), *form == 'l' ? 4 : 2,
                1e-12);
  }
}

// The check does not lose squares of small or large numbers.
TEST_F(EigsFile, SmallAndLargeValuesAreChecked) {
  for (const char* value : {"1e-200", "1e-310", "1e200"}) {
    std::string path = "30 30 29\n";
    for (int k = 1; k < 30; ++k) path += std::to_string(k + 1) + " " + std::to_string(k) + " " + value + "\n";
    const json got = eigs_of({folder_.write("p.mtx", matrix("real symmetric", path)), "--count", "2"});
    EXPECT_NEAR(got["values"][0].get<double>() / std::strtod(value, nullptr), 2 * std::cos(std::numbers::pi / 31), 1e-9)
        << value;
  }
  // Values of four digits do not converge to the tolerance; what is found is right as far as it goes.
  const std::string least = matrix("real symmetric", "2 2 3\n1 1 1e-320\n2 1 -1e-320\n2 2 1e-320\n");
  EXPECT_FALSE(eigs_of({folder_.write("least.mtx", least)}, 3)["converged"].get<bool>());
}

TEST_F(EigsFile, ComplexMatricesAndVectors) {
  const std::string file = folder_.write("h.mtx", matrix("complex hermitian", "2 2 3\n1 1 2 0\n2 1 0 1\n2 2 2 0\n"));
  const std::string out = folder_ / "v.mtx";
  const json got = eigs_of({file, "--count", "2", "--output", out});
  EXPECT_NEAR(got["values"][0].get<double>(), 3, 1e-12);
  EXPECT_NEAR(got["values"][1].get<double>(), 1, 1e-12);
  EXPECT_EQ(slurp(out).substr(0, 44), "%%MatrixMarket matrix array complex general\n");
  const std::string diagonal = folder_.write("d.mtx", matrix("real general", "3 3 3\n1 1 1\n2 2 7\n3 3 4\n"));
  EXPECT_EQ(eigs_of({diagonal, "--count", "1", "--output", out})["values"].size(), 1U);
  std::istringstream text(slurp(out));
  std::string line;
  std::getline(text, line);
  std::getline(text, line);
  EXPECT_EQ(line, "3 1");
  double first = 0, second = 0;
  text >> first >> second;
  EXPECT_NEAR(first, 0, 1e-9);
  EXPECT_NEAR(std::abs(second), 1, 1e-12);
}

TEST_F(EigsFile, SaysThatAMatrixHasFewerEigenvalues) {
  const app_run more = run_here("eigs", {"gen:laplacian2d:n=2", "--count", "5"});
  EXPECT_NE(more.err.find("warning: gen:laplacian2d:n=2: --count 5: all 4 eigenvalues of the matrix are given"),
            std::string::npos)
      << more.err;
  const app_run usual = run_here("eigs", {"gen:laplacian2d:n=2"});
  EXPECT_EQ(usual.err, "") << "nobody asked for six";
  EXPECT_NE(usual.out.find("all 4 eigenvalues of the matrix"), std::string::npos) << usual.out;
  EXPECT_EQ(run_here("eigs", {"gen:laplacian2d:n=2", "--count", "4"}).out.find("all 4"), std::string::npos);
}

TEST_F(EigsFile, WarnsOfTheLaplacianOfALaplacian) {
  const std::string already = "its rows' sums are 0: a Laplacian already?";
  const std::string k3 =
      folder_.write("l.mtx", matrix("real symmetric", "4 4 6\n1 1 2\n2 1 -1\n2 2 2\n3 1 -1\n3 2 -1\n3 3 2\n"));
  const std::string skewed = folder_.write("m.mtx", matrix("real symmetric", "2 2 3\n1 1 1\n2 1 -1\n2 2 2\n"));
  const std::string zeros = folder_.write("z.mtx", matrix("real symmetric", "2 2 1\n1 1 0\n"));
  EXPECT_NE(run_here("eigs", {k3, "--operator", "laplacian"}).err.find(k3 + ": " + already), std::string::npos);
  EXPECT_EQ(run_here("eigs", {k3}).err, "");
  const std::string negated = folder_.write("n.mtx", matrix("real symmetric", "2 2 3\n1 1 -1\n2 1 1\n2 2 -1\n"));
  for (const std::string& other : {skewed, zeros, negated, std::string("gen:path:n=9")}) {
    EXPECT_EQ(run_here("eigs", {other, "--operator", "laplacian"}).err, "") << other;
  }
  EXPECT_NE(run_here("eigs", {k3}).out.find("\n  operator   A itself\n"), std::string::npos)
      << run_here("eigs", {k3}).out;
}

TEST(EigsApp, OnAGpu) {
  const std::vector<std::string> words = {"gen:laplacian2d:n=60", "--count", "3", "--device"};
  const auto on = [&](const char* device, std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    more.insert(more.begin() + std::ssize(words), device);
    return run_here("eigs", more);
  };
  const app_run run = on("cuda", {"--json", "-"});
  if (!query_devices().usable()) {
    EXPECT_EQ(run.code, 1);
    EXPECT_NE(run.err.find(query_devices().reason), std::string::npos) << run.err;
    EXPECT_EQ(on("auto", {"--json", "-"}).json()["device_reason"], "eigs takes a GPU where --device asks for one");
    GTEST_SKIP() << "no GPU: " << query_devices().reason;
  }
  for (const char* form : {"adjacency", "laplacian"}) {
    const json there = on("cuda", {"--operator", form, "--json", "-"}).json();
    const json here = on("cpu", {"--operator", form, "--json", "-"}).json();
    EXPECT_EQ(there["device"], "cuda:0");
    EXPECT_EQ(there["valid"], true);
    EXPECT_EQ(there["converged"], true);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(there["values"][k].get<double>(), here["values"][k].get<double>(), 1e-9);
    }
  }
}

TEST_F(EigsFile, RefusalsAndStatus) {
  const std::string wide = folder_.write("w.mtx", matrix("real general", "2 3 1\n1 1 1\n"));
  expect_failure(run_here("eigs", {wide}), "eigs", 1,
                 "spargo eigs: " + wide + ": a matrix of 2 x 3 (expected a square one)");
  const std::string skew = folder_.write("s.mtx", matrix("real general", "2 2 2\n1 2 1\n2 1 -1\n"));
  expect_failure(run_here("eigs", {skew}), "eigs", 1, "not symmetric (Hermitian): (1, 2) and (2, 1) differ\n");
  const std::string lone = folder_.write("l.mtx", matrix("real general", "3 3 1\n1 3 1\n"));
  expect_failure(run_here("eigs", {lone}), "eigs", 1,
                 "l.mtx: the matrix is not symmetric (Hermitian): (1, 3) is an entry and (3, 1) is none\n");
  const std::string one = folder_.write("1.mtx", matrix("real general", "1 1 1\n1 1 2\n"));
  const app_run only = run_here("eigs", {one, "--count", "2"});
  EXPECT_NE(only.err.find("--count 2: the only eigenvalue of the matrix is given"), std::string::npos) << only.err;
  EXPECT_NE(only.out.find("the largest eigenvalue\n"), std::string::npos) << only.out;
  const std::string negative = folder_.write("n.mtx", matrix("real symmetric", "2 2 1\n2 1 -1\n"));
  expect_failure(run_here("eigs", {negative, "--operator", "normalized"}), "eigs", 1, "row 1 has the sum -1");
  const std::string spins = folder_.write("h.mtx", matrix("complex hermitian", "2 2 2\n1 1 1 0\n2 1 0 1\n"));
  const std::string real = folder_.write("r.mtx", matrix("complex hermitian", "2 2 2\n1 1 1 0\n2 1 3 0\n"));
  for (const std::string form : {"laplacian", "normalized"}) {
    expect_failure(run_here("eigs", {spins, "--operator", form}), "eigs", 1,
                   spins + ": row 1, column 2 is a complex number (--operator " + form + ": expected weights");
    EXPECT_NEAR(eigs_of({real, "--operator", form, "--which", "smallest", "--count", "1"})["values"][0].get<double>(),
                0, 1e-12);
  }
  expect_failure(run_here("eigs", {skew, "--which", "middle"}), "eigs", 2, "(expected largest or smallest)");
  expect_failure(run_here("eigs", {skew, "--count", "0"}), "eigs", 2, "--count");
  expect_failure(run_here("eigs", {skew, "--output", skew}), "eigs", 2, "this is the input");
  const json got = eigs_of({"gen:laplacian2d:n=80", "--which", "smallest", "--max-products", "40"}, 3);
  EXPECT_EQ(got["converged"], false);
}

}  // namespace
}  // namespace spargo::test
