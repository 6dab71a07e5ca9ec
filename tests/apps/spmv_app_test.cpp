// `spmv` end to end: every matrix of the data folder against truth.json (scipy and long double sums), flags, errors.
#include <cmath>

#include "apps/run_here.hpp"
#include "io/support/files.hpp"

namespace spargo::test {
namespace {

using nlohmann::json;

double magnitude(const json& v) {
  return v.is_array() ? std::hypot(v[0].get<double>(), v[1].get<double>()) : std::abs(v.get<double>());
}

double distance(const json& a, const json& b) {
  if (a.is_array()) return std::hypot(a[0].get<double>() - b[0].get<double>(), a[1].get<double>() - b[1].get<double>());
  return std::abs(a.get<double>() - b.get<double>());
}

void expect_y(const json& y, const json& truth, double abs_sum, const std::string& what) {
  // Sums may cancel: their error is bounded by the magnitude of the terms.
  EXPECT_LE(distance(y["sum"], truth["sum"]), 1e-12 * (abs_sum + magnitude(truth["sum"]))) << what;
  EXPECT_LE(std::abs(y["l2"].get<double>() - truth["l2"].get<double>()), 1e-12 * abs_sum) << what;
  for (std::size_t i = 0; i < truth["first5"].size(); ++i) {
    EXPECT_LE(distance(y["first"][i], truth["first5"][i]), 1e-12 * abs_sum) << what << ", y[" << i << "]";
  }
}

void check_all(const std::string& device) {
  const auto folder = data_directory();
  int files = 0;
  for (const auto& [name, facts] : truth().items()) {
    if (is_left_out(name)) continue;
    if (facts["kind"] != "mtx") continue;
    for (const auto& [x, key] : {std::pair("ones", "ones"), std::pair("reciprocal", "inv")}) {
      const std::string what = name + " --x " + x;
      const app_run run =
          run_here("spmv", {"--json", "-", "--device", device, "--repeat", "1", "--x", x, (folder / name).string()});
      ASSERT_EQ(run.code, 0) << what << ": " << run.err;
      const json got = run.json();
      EXPECT_EQ(got["rows"], facts["rows"]) << what;
      EXPECT_EQ(got["cols"], facts["cols"]) << what;
      EXPECT_EQ(got["nnz"], facts["unique_nnz"]) << what;
      EXPECT_EQ(got["field"], facts["field"]) << what;
      EXPECT_EQ(got["symmetry"], facts["symmetry"]) << what;
      EXPECT_EQ(got["verified"], true) << what;
      expect_y(got["y"], facts["spmv"][key], facts["abs_sum"].get<double>(), what);
    }
    ++files;
  }
  EXPECT_GT(files, used_inputs(30));
}

TEST(SpmvApp, AgreesWithTheTruthOnTheCpu) {
  SPARGO_TEST_NEEDS_DATA();
  check_all("cpu");
}

TEST(SpmvApp, AgreesWithTheTruthOnTheGpu) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  check_all("cuda");
}

class SpmvFile : public testing::Test {
 protected:
  const scratch folder_;
  const std::string matrix_ = folder_.write("m.mtx",
                                            "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n1 3 -1\n3 2 "
                                            "4\n3 2 0.5\n");
};

TEST_F(SpmvFile, EveryKeyOfTheContractIsThere) {
  const json got = run_app("spmv", {"--json", "-", "--device", "cpu", matrix_}).json();
  for (const char* key : {"app",
                          "file",
                          "rows",
                          "cols",
                          "nnz",
                          "field",
                          "symmetry",
                          "format",
                          "algorithm",
                          "device",
                          "threads",
                          "precision",
                          "load_ms",
                          "convert_ms",
                          "plan_ms",
                          "time_ms",
                          "gflops",
                          "bytes",
                          "gbytes_per_s",
                          "bandwidth_fraction",
                          "copy_gbytes_per_s",
                          "y",
                          "verified",
                          "max_error",
                          "storage"}) {
    EXPECT_TRUE(got.contains(key)) << key;
  }
  EXPECT_EQ(got["app"], "spmv");
  EXPECT_EQ(got["nnz"], 3) << "duplicates are summed";
  EXPECT_EQ(got["y"]["first"], json({1.0, 0.0, 4.5}));
  EXPECT_DOUBLE_EQ(got["y"]["sum"].get<double>(), 5.5);
}

// The sum of A^T 1 is that of A 1.
TEST(SpmvApp, TransposedProductsAgreeWithTheTruth) {
  SPARGO_TEST_NEEDS_DATA();
  const auto folder = data_directory();
  int files = 0;
  for (const auto& [name, facts] : truth().items()) {
    if (is_left_out(name)) continue;
    if (facts["kind"] != "mtx") continue;
    for (const char* repeat : {"1", "100"}) {  // scattered, and by a transposed copy
      const app_run run = run_here("spmv", {"--json", "-", "--device", "cpu", "--warmup", "0", "--repeat", repeat,
                                            "--transpose", (folder / name).string()});
      ASSERT_EQ(run.code, 0) << name << ": " << run.err;
      const json got = run.json();
      EXPECT_EQ(got["transpose"], true);
      EXPECT_EQ(got["rows"], facts["rows"]) << name;
      EXPECT_EQ(got["verified"], true) << name;
      EXPECT_EQ(got["storage"], repeat == std::string("1") || got["nnz"] == 0 ? "borrowed" : "copied") << name;
      const json& sum = facts["spmv"]["ones"]["sum"];
      EXPECT_LE(distance(got["y"]["sum"], sum), 1e-12 * (facts["abs_sum"].get<double>() + magnitude(sum))) << name;
    }
    ++files;
  }
  EXPECT_GT(files, used_inputs(30));
}

TEST_F(SpmvFile, TransposedProductsOfEveryFormat) {
  const std::string wide = folder_.write("wide.mtx",
                                         "%%MatrixMarket matrix coordinate complex general\n2 4 3\n1 1 2 1\n1 4 0 -1\n"
                                         "2 1 3 0\n");
  const std::string x = folder_.write("x.mtx", "%%MatrixMarket matrix array real general\n2 1\n10\n100\n");
  for (const std::string format : {"auto", "csr", "coo", "ell", "sell", "all"}) {
    const json got =
        run_here("spmv", {"--json", "-", "--device", "cpu", "--transpose", "--format", format, matrix_}).json();
    EXPECT_EQ(got["y"]["first"], json({2.0, 4.5, -1.0})) << format;
    EXPECT_EQ(got["verified"], true);
    const std::string y = folder_ / "y.mtx";
    const json four = run_here("spmv", {"--json", "-", "--device", "cpu", "--transpose", "--format", format, "--x", x,
                                        "--output", y, wide})
                          .json();
    EXPECT_EQ(four["y"]["first"], json({{320.0, 10.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, -10.0}})) << format;
    EXPECT_NE(slurp(folder_ / "y.mtx").find("\n4 1\n"), std::string::npos) << slurp(folder_ / "y.mtx");
  }
  expect_failure(run_here("spmv", {"--transpose", "--x", x, matrix_}), "spmv", 1, "3 x 1, the matrix's rows");
  expect_failure(run_here("spmv", {"--transpose", "--devices", "2", matrix_}), "spmv", 2, "--transpose");
}

// inf - inf has the sign bit set on x86; what is printed has no sign.
TEST_F(SpmvFile, SumsOfOppositeInfinitiesAreNan) {
  const std::string file = folder_.write("inf.mtx",
                                         "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 inf\n1 2 -inf\n"
                                         "2 2 inf\n");
  const app_run run = run_here("spmv", {"--device", "cpu", "--output", folder_ / "y.mtx", file});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("sum nan"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("-nan"), std::string::npos) << run.out;
  EXPECT_EQ(slurp(folder_ / "y.mtx").find("-nan"), std::string::npos) << slurp(folder_ / "y.mtx");
}

TEST_F(SpmvFile, EveryFormatAndPrecisionAgrees) {
  for (const std::string format : {"csr", "coo", "ell", "sell"}) {
    for (const std::string precision : {"fp32", "fp64"}) {
      const app_run run = run_app("spmv", {"--json", "-", "--device", "cpu", "--format", format, "--precision",
                                           precision, "--threads", "2", matrix_});
      ASSERT_EQ(run.code, 0) << run.err;
      const json got = run.json();
      EXPECT_EQ(got["format"], format);
      EXPECT_EQ(got["precision"], precision);
      EXPECT_EQ(got["y"]["first"], json({1.0, 0.0, 4.5})) << format;
      EXPECT_EQ(got["verified"], true);
    }
  }
}

TEST_F(SpmvFile, SinglePrecisionIsPrintedAsSuch) {
  const std::string file =
      folder_.write("tenth.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.1\n");
  const app_run run =
      run_app("spmv", {"--json", "-", "--device", "cpu", "--precision", "fp32", "--output", folder_ / "y.mtx", file});
  EXPECT_EQ(run.json()["y"]["first"], json({0.1})) << run.out;
  EXPECT_TRUE(slurp(folder_ / "y.mtx").ends_with("\n0.1\n")) << slurp(folder_ / "y.mtx");
}

TEST_F(SpmvFile, OutputIsAnArrayThatCanBeTheNextX) {
  const std::string y = folder_ / "y.mtx";
  ASSERT_EQ(run_app("spmv", {"--quiet", "--output", y, matrix_}).code, 0);
  EXPECT_TRUE(slurp(y).starts_with("%%MatrixMarket matrix array real general\n3 1\n"));
  const json got = run_app("spmv", {"--json", "-", "--x", y, matrix_}).json();
  EXPECT_EQ(got["y"]["first"], json({-2.5, 0.0, 0.0}));
  const std::string shorter = folder_.write("x2.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
  expect_failure(run_app("spmv", {"--x", shorter, matrix_}), "spmv", 1, "2");
}

TEST_F(SpmvFile, XIsAFileOfNumbers) {
  const auto y_of = [&](const std::string& x) {
    const app_run run = run_here("spmv", {"--json", "-", "--device", "cpu", "--x", x, matrix_});
    return run.code == 0 ? run.json()["y"]["first"] : json(run.err);
  };
  const json expected = y_of(folder_.write("x.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n-2\n3e1\n"));
  ASSERT_TRUE(expected.is_array()) << expected;
  EXPECT_EQ(y_of(folder_.write("x.txt", "1\n-2\n3e1\n")), expected);
  EXPECT_EQ(y_of(folder_.write("marks.txt", "\xef\xbb\xbf# by hand\r\n +1.0 \r\n\r\n-2\r\n% more\n\t3000e-2")),
            expected);
  EXPECT_EQ(y_of(folder_.write("x.gz", gzip("1\n-2\n30\n"))), expected);
  for (const std::string text : {"1\n-2\n30\n", "%%MatrixMarket matrix array real general\n3 1\n1\n-2\n30\n"}) {
    EXPECT_EQ(y_of(test::piped(text).path()), expected) << "a pipe can be read once";
  }
  const auto refused = [&](const std::string& text, const std::string& says) {
    expect_failure(run_here("spmv", {"--x", folder_.write("bad.txt", text), matrix_}), "spmv", 1, says);
  };
  refused("1\n-2\n", "bad.txt: --x has 2 numbers (expected 3, the matrix's columns)");
  refused("1\n-2\n30\n7\n", "bad.txt: --x has 4 numbers (expected 3, ");
  refused("", "bad.txt: --x has 0 numbers (expected 3, ");
  refused("# c\n1\n  2 3\n", "bad.txt:3:3: '2 3' is not a number");
  refused("1\n1,5\n", "bad.txt:2:1: '1,5' is not a number");
  refused("x\n1\n", "bad.txt:1:1: 'x' is not a number");
  refused("1\n+-2\n", "bad.txt:2:1: '+-2' is not a number");
  refused("1\n1e999\n", "bad.txt:2:1: 1e999 is beyond the range of float64");
}

TEST_F(SpmvFile, AFailedRunKeepsTheOldOutput) {
  const std::string y = folder_.write("y.mtx", "old");
  const std::string broken = folder_.write("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  expect_failure(run_app("spmv", {"--output", y, broken}), "spmv", 1, "b.mtx:3:1: ");
  EXPECT_EQ(slurp(y), "old");
  expect_failure(run_app("spmv", {"--output", folder_ / "no/such/y.mtx", matrix_}), "spmv", 1, "No such file");
}

TEST_F(SpmvFile, ComparesFormatsInATable) {
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"gen:laplacian2d:n=30", "--format", "all", "--device", "cpu", "--repeat", "2"});
    return run_app("spmv", more);
  };
  const auto report = run({"--json", "-"}).json();
  const auto& formats = report["formats"];
  ASSERT_EQ(formats.size(), 4U);
  std::size_t k = 0;
  for (const char* name : {"csr", "coo", "ell", "sell"}) {
    EXPECT_EQ(formats[k]["format"], name);
    EXPECT_EQ(formats[k]["verified"], true) << name;
    EXPECT_GT(formats[k]["time_ms"]["median"], 0.0) << name;
    EXPECT_GT(formats[k]["gbytes_per_s"], 0.0) << name;
    ++k;
  }
  EXPECT_EQ(report["verified"], true);
  const std::string text = run({}).out;
  for (const char* row : {"\n  csr ", "\n  coo ", "\n  ell ", "\n  sell ", "\n  fastest "}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << text;
  }
  // One long row: ELL would be almost only padding.
  const auto skewed = run_app("spmv", {"gen:star:n=20000", "--format", "all", "--json", "-", "--device", "cpu"}).json();
  EXPECT_EQ(skewed["formats"][2]["format"], "ell");
  EXPECT_NE(skewed["formats"][2]["refused"].get<std::string>().find("padding"), std::string::npos);
  EXPECT_EQ(skewed["formats"][0]["verified"], true);
  expect_failure(run({"--algorithm", "merge_path"}), "spmv", 2, "--format all");
}

TEST_F(SpmvFile, SeedsRepeat) {
  const auto sum = [&](const std::string& x) {
    return run_app("spmv", {"--json", "-", "--x", x, matrix_}).json()["y"]["sum"].get<double>();
  };
  EXPECT_EQ(sum("random:7"), sum("random:7"));
  EXPECT_NE(sum("random:7"), sum("random:8"));
}

TEST_F(SpmvFile, CommandLineErrorsAreTwo) {
  expect_failure(run_app("spmv", {}), "spmv", 2);
  expect_failure(run_app("spmv", {"--format", "dia", matrix_}), "spmv", 2);
  expect_failure(run_app("spmv", {"--threads", "0", matrix_}), "spmv", 2);
  expect_failure(run_app("spmv", {"--no-such-flag", matrix_}), "spmv", 2);
  expect_failure(run_app("spmv", {"--device", "tpu", matrix_}), "spmv", 2);
  EXPECT_EQ(run_app("spmv", {"--help"}).code, 0);
  EXPECT_NE(run_app("spmv", {"--version"}).out.find("0.1.0"), std::string::npos);
}

TEST_F(SpmvFile, HostileFilesFailInOneLine) {
  const std::string header = "%%MatrixMarket matrix coordinate real general\n";
  const auto fails = [&](const std::string& name, const std::string& text, const std::string& says) {
    expect_failure(run_app("spmv", {folder_.write(name, text)}), "spmv", 1, says);
  };
  fails("huge.mtx", header + "1000000000 1000000000 1000000000000000000\n", "huge.mtx:");
  fails("page.mtx", "<!DOCTYPE html>\n<html></html>\n", "page.mtx");
  fails("nul.mtx", header + "2 2 1\n1 1 1" + std::string(1, '\0') + "\n", "nul.mtx:3:");
  fails("line.mtx", header + "2 2 1\n1 1 " + std::string(10 << 20, '1') + "\n", "line.mtx:3:");
  fails("edges.txt", "1 2\n2 3\n", "edges.txt");
  expect_failure(run_app("spmv", {folder_.path().string()}), "spmv", 1, "directory");
  expect_failure(run_app("spmv", {folder_ / "missing"}), "spmv", 1, "No such file");
  expect_failure(run_app("spmv", {"gen:nothing:n=3"}), "spmv", 1, "gen:nothing");
}

TEST_F(SpmvFile, WithoutAGpuCudaIsRefusedAndAutoSaysWhy) {
  if (gpu().usable()) GTEST_SKIP() << "there is a GPU";
  expect_failure(run_app("spmv", {"--device", "cuda", matrix_}), "spmv", 1);
  const json got = run_app("spmv", {"--json", "-", matrix_}).json();
  EXPECT_EQ(got["device"], "cpu");
}

// A copy of a stencil matrix costs some products: --repeat decides whether it pays off.
TEST(SpmvApp, ChoosesStorageForTheProductsAskedFor) {
  const auto get = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--json", "-", "--device", "cpu", "gen:laplacian2d:n=200"});
    return run_app("spmv", flags).json();
  };
  const json few = get({"--repeat", "1"});
  EXPECT_EQ(few["storage"], "borrowed");
  EXPECT_NE(few["storage_reason"].get<std::string>().find("within 1 product ("), std::string::npos) << few;
  const json many = get({"--repeat", "100"});
  EXPECT_EQ(many["storage"], "copied");
  EXPECT_EQ(many["format"], "csr");
  EXPECT_EQ(many["algorithm"], "compressed");
  EXPECT_NE(many["storage_reason"].get<std::string>().find("within 100 products"), std::string::npos) << many;
  const json borrowed = get({"--repeat", "100", "--storage", "borrowed"});
  EXPECT_EQ(borrowed["storage"], "borrowed");
  EXPECT_EQ(borrowed["format"], "csr");
  EXPECT_EQ(get({"--repeat", "1", "--storage", "copied"})["storage"], "copied");
  EXPECT_EQ(get({"--repeat", "1", "--algorithm", "compressed"})["storage"], "copied");
  const json sell = get({"--repeat", "100", "--format", "sell"});
  EXPECT_EQ(sell["format"], "sell");
  EXPECT_EQ(sell["storage"], "borrowed");
  for (const json& got : {few, many, borrowed, sell}) EXPECT_EQ(got["verified"], true);
}

TEST(SpmvApp, SaysFormatStorageAndAlgorithmWithReasons) {
  const app_run run = run_app("spmv", {"--device", "cpu", "--repeat", "3", "gen:laplacian2d:n=60"});
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* row : {"format ", "storage ", "algorithm "}) {
    const auto at = run.out.find(row);
    ASSERT_NE(at, std::string::npos) << row << run.out;
    EXPECT_NE(run.out.substr(at, run.out.find('\n', at) - at).find(": "), std::string::npos) << run.out;
  }
  EXPECT_NE(run.out.find("3 products"), std::string::npos) << run.out;
}

TEST(SpmvApp, RefusesFlagsThatContradictEachOther) {
  const std::string m = "gen:laplacian2d:n=10";
  expect_failure(run_app("spmv", {"--storage", "moved", m}), "spmv", 2);
  expect_failure(run_app("spmv", {"--storage", "copied", "--format", "ell", m}), "spmv", 2, "csr");
  expect_failure(run_app("spmv", {"--storage", "copied", "--algorithm", "merge_path", m}), "spmv", 2, "merge_path");
  expect_failure(run_app("spmv", {"--storage", "borrowed", "--algorithm", "compressed", m}), "spmv", 2, "compressed");
}

TEST(SpmvApp, SaysAsAskedForWhereTheUserAsked) {
  const auto reason = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--json", "-", "--device", "cpu", "--repeat", "2", "gen:laplacian2d:n=20"});
    return run_app("spmv", more).json()["format_reason"].get<std::string>();
  };
  EXPECT_EQ(reason({"--format", "ell"}), "as asked for");
  EXPECT_EQ(reason({"--format", "all"}), "the fastest of those compared");
  EXPECT_EQ(reason({"--algorithm", "sell"}), "the format of --algorithm sell");
  EXPECT_NE(reason({}), "as asked for");
}

TEST(SpmvApp, AlgorithmsOfGpusAreAWrongCommandLineOnACpu) {
  for (const char* name : {"row_per_warp", "row_blocks", "column_passes", "blocked", "binned", "coo_atomic"}) {
    expect_failure(run_app("spmv", {"gen:laplacian2d:n=10", "--device", "cpu", "--algorithm", name}), "spmv", 2,
                   std::string("--algorithm ") + name + " runs on a GPU only");
  }
  for (const char* name : {"row_per_thread", "merge_path", "compressed", "ell", "sell", "coo_segmented"}) {
    const app_run run = run_app("spmv", {"gen:laplacian2d:n=10", "--device", "cpu", "--algorithm", name});
    EXPECT_EQ(run.code, 0) << run.err;
  }
}

TEST_F(SpmvFile, ElementsThatAreNotFiniteAreSaid) {
  const std::string header = "%%MatrixMarket matrix coordinate real general\n";
  for (const std::string text : {"3 2 3\n1 1 1e308\n1 2 1e308\n2 1 1\n", "3 2 2\n1 1 nan\n2 1 1\n"}) {
    const std::string file = folder_.write("inf.mtx", header + text);
    const app_run run = run_app("spmv", {file, "--device", "cpu"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("yes, but 1 of 3 elements of y is NaN or infinite"), std::string::npos) << run.out;
    EXPECT_NE(run.err.find("1 of 3 elements of y is NaN or infinite"), std::string::npos) << run.err;
    EXPECT_EQ(run_app("spmv", {file, "--device", "cpu", "--json", "-"}).json()["y"]["not_finite"], 1);
  }
  EXPECT_EQ(run_app("spmv", {matrix_, "--device", "cpu", "--json", "-"}).json()["y"]["not_finite"], 0);
  EXPECT_EQ(run_app("spmv", {matrix_, "--device", "cpu"}).out.find("NaN or infinite"), std::string::npos);
}

TEST_F(SpmvFile, ALetterSuggestsAFlagThatBeginsWithIt) {
  expect_failure(run_app("spmv", {matrix_, "-o", "y.mtx"}), "spmv", 2, "-o (did you mean --output?)");
  expect_failure(run_app("bfs", {matrix_, "-o", "y.mtx"}), "bfs", 2, "-o (did you mean --output?)");
  expect_failure(run_app("bfs", {matrix_, "-t", "2"}), "bfs", 2, "-t (did you mean --threads?)");
  expect_failure(run_app("bfs", {matrix_, "--toop", "2"}), "bfs", 2, "--toop (did you mean --top?)");
}

TEST(SpmvApp, TakesGeneratorsAndCompressedFiles) {
  const json got = run_app("spmv", {"--json", "-", "--device", "cpu", "gen:laplacian2d:n=50"}).json();
  EXPECT_EQ(got["rows"], 2500);
  EXPECT_EQ(got["nnz"], 12300);
  EXPECT_NEAR(got["y"]["sum"].get<double>(), 200.0, 1e-9);  // the missing neighbours: four sides of 50
}

}  // namespace
}  // namespace spargo::test
