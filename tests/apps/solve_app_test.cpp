// `spargo solve` end to end: the truths of real matrices, keys, outputs, exit status, refusals.
#include <cmath>
#include <complex>
#include <map>

#include "apps/run_here.hpp"
#include "cli/picture.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

json truth_of_more() {
  std::ifstream file(data_directory() / "truth_more.json");
  return json::parse(file)["files"];
}

// "solve" has SciPy's iterations with Jacobi for b = A * ones, null where 5,000 did not suffice.
TEST(SolveApp, AgreesWithTheTruth) {
  SPARGO_TEST_NEEDS_DATA();
  int definite = 0;
  int solved = 0;
  const json truths = truth_of_more();
  for (const auto& [name, facts] : truths.items()) {
    if (!facts.contains("solve")) continue;
    const app_run run =
        run_here("solve", {"--json", "-", "--max-iterations", "5000", (data_directory() / name).string()});
    const json got = run.json();
    ASSERT_TRUE(run.code == 0 || run.code == 3) << name << ": " << run.err;
    EXPECT_EQ(got["valid"], true) << name;
    EXPECT_EQ(got["converged"], run.code == 0) << name;
    EXPECT_EQ(got["converged"], got["relative_residual"] <= 1e-8) << name;
    if (facts["spd"]) {
      EXPECT_EQ(got["method"], "cg") << name;
      EXPECT_EQ(run.code, 0) << name << ": " << run.err;
      EXPECT_LE(got["iterations"].get<double>(), 1.15 * facts["solve"]["cg"].get<double>() + 2) << name;
      EXPECT_EQ(got["history"].size(), got["iterations"].get<std::size_t>() + 1) << name;
      ++definite;
    } else if (!facts["solve"]["bicgstab"].is_null()) {
      EXPECT_EQ(run.code, 0) << name << ": " << run.err;
    }
    if (run.code == 0 && facts.contains("condition_estimate") && facts["condition_estimate"].is_number()) {
      EXPECT_LE(got["max_error"].get<double>(), 2e-8 * facts["condition_estimate"].get<double>() * std::sqrt(2e4))
          << name;
    }
    solved += run.code == 0 ? 1 : 0;
  }
  EXPECT_GE(definite, 4);
  EXPECT_GE(solved, 12);
}

// Status 3, with the report on standard output and one line on standard error.
void expect_unconverged(const app_run& run, const std::string& why) {
  EXPECT_EQ(run.code, 3);
  EXPECT_NE(run.err.find("not converged: " + why), std::string::npos) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

class SolveFile : public testing::Test {
 protected:
  static std::string general(const std::string& entries) {
    return "%%MatrixMarket matrix coordinate real general\n" + entries;
  }
  const scratch folder_;
  const std::string spd_ = folder_.write("spd.mtx", general("3 3 5\n1 1 4\n2 2 4\n3 3 2\n1 2 -1\n2 1 -1\n"));
};

TEST_F(SolveFile, EveryKeyOfTheContractIsThere) {
  const json got = run_here("solve", {"--json", "-", spd_}).json();
  for (const char* key : {"app", "file", "rows", "cols", "nnz", "method", "converged", "iterations",
                          "relative_residual", "history", "time_ms", "device", "threads", "preconditioner", "valid"}) {
    EXPECT_TRUE(got.contains(key)) << key;
  }
  EXPECT_EQ(got["app"], "solve");
  EXPECT_EQ(got["method"], "cg");
  EXPECT_EQ(got["preconditioner"], "jacobi");
  EXPECT_EQ(got["converged"], true);
  EXPECT_EQ(got["device"], "cpu");
  EXPECT_NEAR(got["x"]["sum"].get<double>(), 3, 1e-7);
  EXPECT_LE(got["max_error"].get<double>(), 1e-7);
}

TEST_F(SolveFile, RightSidesAndOutputs) {
  const std::string x = folder_ / "x.mtx";
  const std::string b = folder_.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n2\n7\n1\n");
  for (const char* method : {"cg", "minres", "bicgstab", "gmres"}) {
    EXPECT_EQ(run_here("solve", {spd_, "--method", method, "--rhs", b, "--tolerance", "1e-13", "--output", x}).code, 0);
    std::istringstream text(slurp(x));
    std::string line;
    std::getline(text, line);
    EXPECT_EQ(line, "%%MatrixMarket matrix array real general");
    std::getline(text, line);
    EXPECT_EQ(line, "3 1");
    for (const double expected : {1.0, 2.0, 0.5}) {
      std::getline(text, line);
      EXPECT_NEAR(std::stod(line), expected, 1e-10) << method;
    }
  }
  const json ones = run_here("solve", {spd_, "--rhs", "ones", "--json", "-"}).json();
  EXPECT_NEAR(ones["x"]["first"][2].get<double>(), 0.5, 1e-8);
  EXPECT_FALSE(ones.contains("max_error"));
  EXPECT_EQ(run_here("solve", {spd_, "--rhs", "random:7"}).code, 0);
}

TEST_F(SolveFile, ComplexSystems) {
  const std::string file =
      folder_.write("c.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 3 0\n2 2 2 0\n2 1 0 1\n");
  const json got = run_here("solve", {file, "--json", "-"}).json();
  EXPECT_EQ(got["method"], "cg");
  EXPECT_EQ(got["converged"], true);
  EXPECT_NEAR(got["x"]["first"][1][0].get<double>(), 1, 1e-8);
  EXPECT_NEAR(got["x"]["first"][1][1].get<double>(), 0, 1e-8);
}

TEST_F(SolveFile, NotConvergedIsStatus3WithItsReason) {
  const app_run limit = run_here("solve", {"gen:laplacian2d:n=50", "--max-iterations", "3", "--json", "-"});
  expect_unconverged(limit, "the limit of 3 iterations");
  EXPECT_EQ(limit.json()["outcome"], "iteration_limit");
  EXPECT_EQ(limit.json()["valid"], true);
  const std::string turn = folder_.write("turn.mtx", general("2 2 4\n1 1 .01\n1 2 1\n2 1 -1\n2 2 .01\n"));
  expect_unconverged(run_here("solve", {turn, "--method", "gmres", "--restart", "1"}), "the limit of 20 iterations");
  const std::string skew = folder_.write("skew.mtx", general("2 2 2\n1 2 1\n2 1 -1\n"));
  const app_run broken = run_here("solve", {skew, "--method", "bicgstab", "--json", "-"});
  expect_unconverged(broken, "bicgstab broke down in iteration 1: (r0, A p) is 0");
  EXPECT_EQ(broken.json()["outcome"], "breakdown");
  EXPECT_EQ(run_here("solve", {skew}).code, 0) << "gmres goes on";
  const std::string indefinite = folder_.write("i.mtx", general("2 2 4\n1 1 1\n2 2 1\n1 2 3\n2 1 3\n"));
  const app_run negative = run_here("solve", {indefinite, "--method", "cg", "--rhs", "random:1"});
  expect_unconverged(negative, "the matrix is not positive definite: p'Ap is ");
  EXPECT_EQ(run_here("solve", {indefinite, "--rhs", "random:1"}).code, 0) << "minres goes on";
  EXPECT_EQ(run_here("solve", {"gen:laplacian2d:n=4", "--max-iterations", "1600000"}).code, 0);
  EXPECT_NE(run_here("solve", {"gen:laplacian2d:n=4", "--max-iterations", "-1"}).err.find("(expected 0 to 2^63-1)"),
            std::string::npos);
}

TEST_F(SolveFile, Refusals) {
  const std::string wide = folder_.write("w.mtx", general("2 3 1\n1 1 1\n"));
  expect_failure(run_here("solve", {wide}), "solve", 1,
                 "spargo solve: " + wide + ": a matrix of 2 x 3 (expected a square one)");
  expect_failure(run_here("solve", {folder_.write("z.mtx", general("2 2 1\n1 1 1\n")), "--preconditioner", "jacobi"}),
                 "solve", 1, "z.mtx: row 2 has 0 on the diagonal");
  expect_failure(run_here("solve", {folder_.write("n.mtx", general("2 2 2\n1 1 1\n2 2 nan\n"))}), "solve", 1,
                 "n.mtx: entry (2, 2) is infinite or NaN");
  const std::string two = folder_.write("two.mtx", general("2 2 2\n1 1 1\n2 2 1\n"));
  expect_failure(run_here("solve", {two, "--rhs", folder_.write("b.txt", "# b\n1\n-inf\n")}), "solve", 1,
                 "b.txt:3:1: -inf is not finite (expected finite numbers)");
  const std::string column = folder_.write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n");
  expect_failure(run_here("solve", {two, "--rhs", column}), "solve", 1,
                 "b.mtx: --rhs has an infinite element or NaN in place 2");
  expect_failure(run_here("solve", {spd_, "--block-size", "0"}), "solve", 2, "--block-size");
  expect_failure(run_here("solve", {spd_, "--preconditioner", "block-jacobi", "--block-size", "257"}), "solve", 1,
                 "blocks of 257 rows (expected 1 to 256)");
  expect_failure(run_here("solve", {spd_, "--preconditioner", "ilu"}), "solve", 2,
                 "ilu is not a preconditioner (expected auto, none, jacobi, block-jacobi, ilu0 or ic0)");
  const std::string indefinite = folder_.write("i.mtx", general("2 2 4\n1 1 1\n2 2 1\n1 2 3\n2 1 3\n"));
  expect_failure(run_here("solve", {indefinite, "--preconditioner", "ic0"}), "solve", 1,
                 "i.mtx: ic0 meets the pivot -8 in row 2: ");
  expect_failure(run_here("solve", {spd_, "--method", "lu"}), "solve", 2,
                 "(expected auto, cg, minres, bicgstab or gmres)");
  expect_failure(run_here("solve", {spd_, "--tolerance", "-1"}), "solve", 2, "--tolerance");
  expect_failure(run_here("solve", {spd_, "--restart", "0"}), "solve", 2, "--restart");
  expect_failure(run_here("solve", {spd_, "--output", spd_}), "solve", 2, "this is the input");
  expect_failure(run_here("solve", {spd_, "--rhs", folder_.write("b.mtx", general("2 1 1\n1 1 1\n"))}), "solve", 1,
                 "b.mtx: --rhs is 2 x 1");
  expect_failure(run_here("solve", {spd_, "--rhs", folder_.write("b.txt", "1\n")}), "solve", 1,
                 "b.txt: --rhs has 1 number (expected ");
  expect_failure(run_here("solve", {spd_, "--plot", folder_ / "a.gif"}), "solve", 2, "--plot");
}

TEST_F(SolveFile, Preconditioners) {
  std::map<std::string, std::int64_t> iterations;
  for (const char* name : {"none", "jacobi", "block-jacobi", "ilu0", "ic0"}) {
    const json got = run_here("solve", {"gen:laplacian2d:n=60", "--preconditioner", name, "--json", "-"}).json();
    EXPECT_EQ(got["preconditioner"], name);
    EXPECT_EQ(got["converged"], true) << name;
    EXPECT_LE(got["max_error"].get<double>(), 1e-4) << name;
    iterations[name] = got["iterations"];
  }
  EXPECT_LT(iterations["block-jacobi"], iterations["jacobi"]);
  EXPECT_LT(iterations["ilu0"], iterations["block-jacobi"]);
  EXPECT_LT(iterations["ic0"], iterations["block-jacobi"]);
}

TEST_F(SolveFile, SolveOnAGpu) {
  const app_run run = run_here("solve", {"gen:laplacian2d:n=60", "--device", "cuda", "--json", "-"});
  if (!query_devices().usable()) {
    EXPECT_EQ(run.code, 1);
    EXPECT_NE(run.err.find(query_devices().reason), std::string::npos) << run.err;
    GTEST_SKIP() << "no GPU: " << query_devices().reason;
  }
  const json got = run.json();
  const json here = run_here("solve", {"gen:laplacian2d:n=60", "--device", "cpu", "--json", "-"}).json();
  EXPECT_EQ(got["device"], "cuda:0");
  EXPECT_EQ(got["method"], "cg");
  EXPECT_EQ(got["valid"], true);
  EXPECT_EQ(got["converged"], true);
  EXPECT_NEAR(got["iterations"].get<double>(), here["iterations"].get<double>(), 2);
  EXPECT_EQ(got["history"].size(), got["iterations"].get<std::size_t>() + 1);
  const json by_gmres =
      run_here("solve", {"gen:laplacian2d:n=60", "--device", "cuda", "--method", "gmres", "--json", "-"}).json();
  EXPECT_EQ(by_gmres["method"], "gmres");
  EXPECT_EQ(by_gmres["valid"], true);
  EXPECT_EQ(by_gmres["converged"], true);
  for (const char* name : {"block-jacobi", "ilu0", "ic0"}) {
    const std::vector<std::string> flags{"gen:laplacian2d:n=60", "--preconditioner", name, "--json", "-"};
    std::vector<std::string> there = flags;
    there.insert(there.end(), {"--device", "cuda"});
    const json by_gpu = run_here("solve", there).json();
    EXPECT_EQ(by_gpu["preconditioner"], name);
    EXPECT_EQ(by_gpu["valid"], true);
    EXPECT_NEAR(by_gpu["iterations"].get<double>(), run_here("solve", flags).json()["iterations"].get<double>(), 2);
  }
}

TEST_F(SolveFile, APictureOfTheHistory) {
  if (!apps::can_draw()) GTEST_SKIP() << "no Cairo";
  const std::string svg = folder_ / "h.svg";
  EXPECT_EQ(run_here("solve", {"gen:laplacian2d:n=30", "--plot", svg}).code, 0);
  const std::string text = slurp(svg);
  EXPECT_NE(text.find("<svg"), std::string::npos);
  EXPECT_GT(text.size(), 5000U);
  EXPECT_EQ(run_here("solve", {"gen:laplacian2d:n=30", "--max-iterations", "0", "--plot", svg}).code, 3);
}

}  // namespace
}  // namespace spargo::test
