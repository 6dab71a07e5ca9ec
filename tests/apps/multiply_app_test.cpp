// `multiply`, and the structure operations of `convert` and `info`, end to end: every matrix of the data folder against
// truth_more.json (SciPy, NumPy), flags, errors.
#include "apps/graph_app.hpp"
#include "apps/run_here.hpp"
#include "support/device.hpp"
#include "support/snapshots.hpp"

#include <cmath>

namespace spargo::test {
namespace {

using nlohmann::json;

double gap(const json& a, const json& b) {
  if (a.is_array()) return std::hypot(a[0].get<double>() - b[0].get<double>(), a[1].get<double>() - b[1].get<double>());
  return std::abs(a.get<double>() - b.get<double>());
}

json multiply(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const app_run run = run_here("multiply", arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  return run.code == 0 ? run.json() : json::object();
}

TEST(MultiplyApp, AgreesWithTheTruth) {
  for_each_truth("spgemm", 30, [](const std::string&, const std::string& path, const json& expected, const json&) {
    if (expected["flops"] > 100'000'000) return;  // seconds
    const json got = multiply({path, "--threads", "2"});
    ASSERT_TRUE(got.contains("nnz"));
    EXPECT_EQ(got["rows"], expected["rows"]);
    EXPECT_EQ(got["cols"], expected["cols"]);
    EXPECT_EQ(got["nnz"], expected["nnz"]);
    EXPECT_EQ(got["products"], expected["flops"]);
    EXPECT_EQ(got["valid"], true);
    EXPECT_LE(gap(got["sum"], expected["sum"]), 1e-12 * expected["scale"].get<double>());
    const double frobenius = expected["frobenius"];
    EXPECT_NEAR(got["frobenius"].get<double>(), frobenius, 1e-9 * frobenius);
    for (std::size_t k = 0; k < expected["first5"].size(); ++k) {
      const json& entry = expected["first5"][k];
      EXPECT_EQ(got["first"][k][0], entry[0].get<std::int64_t>() + 1);
      EXPECT_EQ(got["first"][k][1], entry[1].get<std::int64_t>() + 1);
      EXPECT_LE(gap(got["first"][k][2], entry[2]), 1e-9 * frobenius);
    }
  });
}

TEST(MultiplyApp, SaysWhatIsMultiplied) {
  const scratch folder;
  const std::string wide =
      folder.write("w.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 2\n2 3 4\n");
  const std::string square =
      folder.write("s.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 2\n2 3 4\n");
  const auto product = [](const std::vector<std::string>& words) {
    std::vector<std::string> all{"--json", "-"};
    all.insert(all.end(), words.begin(), words.end());
    return run_here("multiply", all).json()["product"].get<std::string>();
  };
  EXPECT_EQ(product({wide}), "A A^T");
  EXPECT_EQ(product({square}), "A A");
  EXPECT_EQ(product({wide, "--transpose", "a"}), "A^T A");
  EXPECT_EQ(product({square, "--transpose", "b"}), "A A^T");
  EXPECT_EQ(product({wide, square}), "A B");
  EXPECT_EQ(product({square, wide, "--transpose", "b"}), "A B^T");
  EXPECT_EQ(product({wide, wide, "--transpose", "a"}), "A^T B");
}

TEST(MultiplyApp, SymmetricSumsAgreeWithTheTruth) {
  const scratch folder;
  for_each_truth(
      "add_transpose", 25, [&](const std::string&, const std::string& path, const json& expected, const json&) {
        if (expected["nnz"] > 2'000'000) return;
        for (const char* out : {"sum.mtx", "sum.spg"}) {
          if (!can_write(out)) continue;
          const app_run run = run_here("convert", {path, folder / out, "--symmetrize", "--force"});
          ASSERT_EQ(run.code, 0) << run.err;
          const json got = run_here("spmv", {folder / out, "--json", "-", "--device", "cpu", "--repeat", "1"}).json();
          EXPECT_EQ(got["nnz"], expected["nnz"]) << out;
          EXPECT_EQ(got["symmetry"], "symmetric") << out;
          EXPECT_LE(gap(got["y"]["sum"], expected["sum"]), 1e-9 * expected["frobenius"].get<double>() * 1e3) << out;
          EXPECT_EQ(got["verified"], true);
        }
      });
}

TEST(MultiplyApp, TransposeChecksumsAgreeWithTheTruth) {
  const scratch folder;
  for_each_truth(
      "transpose_checksum", 30,
      [&](const std::string&, const std::string& path, const json& expected, const json& facts) {
        const double bound = 1e-12 * facts["transpose_checksum_scale"].get<double>();
        const app_run run = run_here("info", {path, "--transpose-checksum", "--json", "-"});
        ASSERT_EQ(run.code, 0) << run.err;
        EXPECT_LE(gap(run.json()["transpose_checksum"], expected), bound);
        if (facts["transpose_checksum_scale"] > 1e14) return;
        // The transpose of the transpose is the matrix.
        SPARGO_NEEDS_SNAPSHOTS();
        ASSERT_EQ(run_here("convert", {path, folder / "t.spg", "--transpose", "--force"}).code, 0);
        ASSERT_EQ(run_here("convert", {folder / "t.spg", folder / "tt.spg", "--transpose", "--force"}).code, 0);
        const json twice = run_here("info", {folder / "tt.spg", "--transpose-checksum", "--json", "-"}).json();
        EXPECT_LE(gap(twice["transpose_checksum"], expected), bound);
      });
}

// A pattern's entry listed twice is 2 in the matrix that convert writes, so it is in the checksum.
TEST(MultiplyApp, TransposeChecksumsCountRepeatedEntriesOfAPattern) {
  const scratch folder;
  const auto checksum = [](const std::string& file) {
    const json report = run_here("info", {file, "--transpose-checksum", "--json", "-"}).json();
    return std::pair(report.at("transpose_checksum").get<double>(),
                     report.at("transpose_checksum_scale").get<double>());
  };
  const std::string banner = "%%MatrixMarket matrix coordinate pattern ";
  // Transposed (2, 1) twice and (1, 2): 2 (1 + 1) (0 + 2) + (0 + 1) (1 + 2).
  const std::string general = folder.write("g.mtx", banner + "general\n2 2 3\n1 2\n1 2\n2 1\n");
  EXPECT_EQ(checksum(general), std::pair(11.0, 11.0));
  // Twice (2, 1) and (1, 2), and (3, 3) once.
  const std::string symmetric = folder.write("s.mtx", banner + "symmetric\n3 3 3\n2 1\n2 1\n3 3\n");
  EXPECT_EQ(checksum(symmetric), std::pair(2 * 4.0 + 2 * 3.0 + 12.0, 26.0));
  SPARGO_NEEDS_SNAPSHOTS();
  for (const std::string& file : {general, symmetric}) {
    ASSERT_EQ(run_here("convert", {file, folder / "o.spg", "--transpose", "--force"}).code, 0);
    ASSERT_EQ(run_here("convert", {folder / "o.spg", folder / "o.mtx", "--transpose", "--force"}).code, 0);
    EXPECT_EQ(checksum(folder / "o.mtx"), checksum(file));
    expect_failure(run_here("info", {file, "--transpose-checksum", "--cache"}), "info", 2, "--transpose-checksum");
  }
  EXPECT_EQ(checksum(folder.write("once.mtx", banner + "general\n2 2 2\n1 2\n2 1\n")), std::pair(7.0, 7.0));
}

const char* const small = "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 2\n1 4 -1\n2 2 .5\n3 1 4\n3 3 1\n";
const char* const square = "%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 2 5\n2 3 -7\n3 1 2\n3 3 1\n";

// The file that convert writes, without its first lines.
std::string converted(const scratch& folder, const char* from, const std::vector<std::string>& flags) {
  spill(folder / "in.mtx", from);
  std::vector<std::string> arguments{folder / "in.mtx", folder / "out.mtx", "--force"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const app_run run = run_here("convert", arguments);
  if (run.code != 0) return run.err;
  const std::string text = slurp(folder / "out.mtx");
  return text.substr(text.find('\n') + 1);
}

TEST(MultiplyApp, ConvertSlicesPermutesAndDrops) {
  const scratch folder;
  EXPECT_EQ(converted(folder, small, {"--rows", "2:3"}), "2 4 3\n1 2 0.5\n2 1 4\n2 3 1\n");
  EXPECT_EQ(converted(folder, small, {"--rows", ":1", "--columns", "2:"}), "1 3 1\n1 3 -1\n");
  EXPECT_EQ(converted(folder, small, {"--columns", "4:4"}), "3 1 1\n1 1 -1\n");
  EXPECT_EQ(converted(folder, small, {"--drop-below", "2"}), "3 4 2\n1 1 2\n3 1 4\n");
  EXPECT_EQ(converted(folder, small, {"--transpose"}), "4 3 5\n1 1 2\n1 3 4\n2 2 0.5\n3 3 1\n4 1 -1\n");
  spill(folder / "order.txt", "# new order\n3\n1\n2\n");
  const std::string order = folder / "order.txt";
  EXPECT_EQ(converted(folder, square, {"--permute", order}), "3 3 4\n1 1 1\n1 2 2\n2 3 5\n3 1 -7\n");
  EXPECT_EQ(converted(folder, square, {"--symmetrize"}), "3 3 4\n2 1 5\n3 1 2\n3 2 -7\n3 3 2\n");
  for (const auto& [flags, message] : std::vector<std::pair<std::vector<std::string>, const char*>>{
           {{"--rows", "2:9"}, "--rows 2:9: outside the matrix (expected a range within 1:3)"},
           {{"--rows", "3:1"}, "--rows 3:1: outside the matrix"},
           {{"--rows", "two"}, "--rows: two is no range (expected A:B, such as 1:100)"},
           {{"--symmetrize"}, "--symmetrize: a 3 x 4 matrix (expected a square one)"},
           {{"--permute", order}, "--permute: a 3 x 4 matrix (expected a square one)"}}) {
    EXPECT_NE(converted(folder, small, flags).find(message), std::string::npos) << converted(folder, small, flags);
  }
  spill(folder / "order.txt", "3\n1\n");
  EXPECT_NE(converted(folder, square, {"--permute", order}).find("2 rows listed"), std::string::npos);
  spill(folder / "order.txt", "3\n1\n4\n");
  EXPECT_NE(converted(folder, square, {"--permute", order}).find("order.txt:3:1: 4 is no row of the matrix"),
            std::string::npos);
  spill(folder / "order.txt", "3\n1\n3\n");
  EXPECT_NE(converted(folder, square, {"--permute", order}).find("occurs again"), std::string::npos);
  spill(folder / "edges.el", "0 1\n1 2\n");
  expect_failure(run_here("convert", {folder / "edges.el", folder / "out.mtx", "--transpose"}), "convert", 1);
}

// A pattern's entry listed twice counts 2 in a product, and so in the matrix made from it.
TEST(MultiplyApp, ConvertCountsRepeatedEntriesOfAPattern) {
  const scratch folder;
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  const std::string repeated = banner + "2 2 3\n1 2\n1 2\n2 1\n";
  const std::string once = banner + "2 2 2\n1 2\n2 2\n";
  spill(folder / "order.txt", "2\n1\n");
  const char* const twice = repeated.c_str();
  EXPECT_EQ(converted(folder, twice, {"--transpose"}), "2 2 2\n1 2 1\n2 1 2\n");
  EXPECT_EQ(converted(folder, twice, {"--rows", "1:1"}), "1 2 1\n1 2 2\n");
  EXPECT_EQ(converted(folder, twice, {"--permute", folder / "order.txt"}), "2 2 2\n1 2 1\n2 1 2\n");
  EXPECT_EQ(converted(folder, twice, {"--symmetrize"}), "2 2 1\n2 1 3\n");
  EXPECT_EQ(converted(folder, once.c_str(), {"--transpose"}), "2 2 2\n2 1\n2 2\n");
  EXPECT_EQ(slurp(folder / "out.mtx").rfind(banner, 0), 0U);
  EXPECT_EQ(converted(folder, once.c_str(), {"--symmetrize"}), "2 2 2\n2 1 1\n2 2 2\n");
  EXPECT_NE(converted(folder, twice, {"--drop-below", "1"}).find("--drop-below: the matrix has no values"),
            std::string::npos);
}

TEST(MultiplyApp, FactorsMasksBlocksAndOutput) {
  const scratch folder;
  const std::string a = folder / "a.mtx";
  const std::string b = folder / "b.mtx";
  const std::string c = folder / "c.mtx";
  spill(a, small);
  spill(b, square);
  // A^T A, A A^T, B A.
  EXPECT_EQ(multiply({a, "--transpose", "a"})["rows"], 4);
  EXPECT_EQ(multiply({a})["rows"], 3);
  EXPECT_EQ(multiply({a, "--transpose", "b"})["first"], multiply({a})["first"]);
  EXPECT_EQ(multiply({b, a, "--output", c})["nnz"], 6);
  const std::string text = slurp(c);
  EXPECT_EQ(text.substr(text.find('\n') + 1), "3 4 6\n1 2 2.5\n2 1 -28\n2 3 -7\n3 1 8\n3 3 1\n3 4 -2\n");
  // Only where the mask has entries.
  spill(folder / "mask.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 3\n2 1\n3 2\n3 4\n");
  const json masked = multiply({b, a, "--mask", folder / "mask.mtx"});
  EXPECT_EQ(masked["first"], json::parse("[[2,1,-28.0],[3,4,-2.0]]"));
  EXPECT_EQ(masked["valid"], true);
  // Blocks of rows give the same.
  const std::string random = "gen:rmat:scale=10,degree=8";
  const json whole = multiply({random});
  const json blocks = multiply({random, "--max-workspace", "1000000"});
  EXPECT_GT(blocks["blocks"], 1);
  for (const char* key : {"nnz", "products", "first"}) EXPECT_EQ(whole[key], blocks[key]) << key;
  EXPECT_EQ(multiply({random, "--threads", "1"})["sum"], multiply({random, "--threads", "8"})["sum"]);
  expect_keys(whole, {"rows", "cols", "nnz", "products", "sum", "frobenius", "first", "plan_ms", "time_ms",
                      "peak_bytes", "valid", "device", "threads"});
}

TEST(MultiplyApp, OnAGpuAsOnTheCpu) {
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  const auto both = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--device", "cpu"});
    const json cpu = multiply(arguments);
    arguments.back() = "cuda";
    const json gpu = multiply(arguments);
    EXPECT_EQ(gpu["device"], "cuda:0");
    EXPECT_EQ(gpu["valid"], true);
    EXPECT_GT(gpu["device_bytes"], 0);
    for (const char* key : {"rows", "cols", "nnz", "products", "sum", "frobenius", "first", "blocks"}) {
      EXPECT_EQ(gpu[key], cpu[key]) << key << " of " << arguments[0];
    }
  };
  const std::string random = "gen:rmat:scale=11,degree=8";
  both({random});
  both({random, "--transpose", "b", "--repeat", "3"});
  both({random, "--max-workspace", "1000000"});
  both({random, "--mask", random});
  both({random, "gen:uniform:rows=2048,cols=500,degree=3"});
  for_each_truth("spgemm", 30, [&](const std::string&, const std::string& path, const json& expected, const json&) {
    if (expected["flops"] < 20'000'000) both({path});
  });
}

TEST(MultiplyApp, WhatCannotBeIsRefused) {
  const scratch folder;
  const std::string a = folder / "a.mtx";
  spill(a, small);
  const auto refused = [](const std::vector<std::string>& arguments, int code, const char* message) {
    const app_run run = run_here("multiply", arguments);
    expect_failure(run, "multiply", code);
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  };
  refused({a, a}, 1, "A is 3 x 4 and B 3 x 4");
  refused({a, "--mask", a}, 1, "the mask is 3 x 4 and the result 3 x 3");
  refused({"gen:rmat:scale=10,degree=8", "--max-workspace", "1000000", "--output", folder / "c.mtx"}, 1,
          "--output needs all of it");
  EXPECT_FALSE(std::filesystem::exists(folder / "c.mtx"));
  // In its own process, since the limit stays set.
  const app_run limited = run_app("multiply", {"gen:rmat:scale=14,degree=16", "--max-memory", "60M"});
  expect_failure(limited, "multiply", 1);
  EXPECT_NE(limited.err.find("entries and takes"), std::string::npos) << limited.err;
  EXPECT_NE(limited.err.find("--max-workspace multiplies in blocks of rows"), std::string::npos) << limited.err;
}

}  // namespace
}  // namespace spargo::test
