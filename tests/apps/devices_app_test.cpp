// Commands with --devices: the results of one device, the ranks in the report, and one line for errors. A GPU that is
// named twice serves two ranks.
#include "apps/run_app.hpp"
#include "support/device.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace spargo::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string datasets = source_folder() + "/datasets/";

app_run run_line(const std::string& line) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  return run_app(command, arguments);
}

void expect_refusal(const std::string& line, int code, const std::string& what) {
  const app_run run = run_line(line);
  EXPECT_EQ(run.code, code) << line;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(what));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

TEST(Devices, AreRefusedInOneLine) {
  const std::string karate = "bfs " + datasets + "karate.el ";
  for (const char* text : {"0", "-1", "65", "x", "0,", ",0", "0,x", "1,-1", "2147483648,0"}) {
    expect_refusal(karate + "--devices " + text, 2,
                   "is not a list of devices (expected a count, 1 to 64, or device numbers");
  }
  expect_refusal(karate + "--devices 2 --device cpu", 2, "--device cpu: not beside --devices");
  expect_refusal(karate + "--devices 2 --algorithm sequential", 2, "several GPUs have direction_optimizing only");
  expect_refusal(karate + "--devices 2 --deterministic", 2, "--deterministic: not on several GPUs");
  expect_refusal("components " + datasets + "karate.el --devices 2 --strong", 2, "--strong: not on several processes");
  expect_refusal("pagerank " + datasets + "karate.el --devices 2 --precision fp32", 2,
                 "--precision fp32: not on several processes");
  expect_refusal("pagerank " + datasets + "karate.el --devices 2 --personalize 1", 2, "--personalize: not on several");
  expect_refusal("spmv gen:path:n=9 --devices 2 --algorithm sell", 2, "several GPUs multiply by --format csr");
  expect_refusal("solve gen:path:n=9 --devices 2 --preconditioner ic0", 2,
                 "--preconditioner ic0: not on several processes or GPUs (expected jacobi or none)");
  for (const char* command : {"bfs ", "components ", "pagerank "}) {
    expect_refusal(command + datasets + "karate.el --devices 2 --parse gpu", 2,
                   "--parse gpu: several processes or GPUs parse on the CPU");
  }
  expect_refusal("spmv gen:path:n=9 --devices 2 --parse gpu", 2, "--parse gpu: several processes or GPUs parse on");
  expect_refusal("sssp " + datasets + "karate.el --devices 2", 2, "--devices");
  expect_refusal(karate + "--devices 64", 1,
                 gpu().usable() ? "--devices 64: " + std::to_string(gpu().count) + " GPU"
                                : "--devices 64: no usable GPU: " + gpu().reason);
  expect_refusal(
      karate + "--devices 0,977", 1,
      gpu().usable() ? "--devices 0,977: no usable GPU 977 (expected 0" : "--devices 0,977: no usable GPU: ");
}

// One GPU per rank if there are enough, otherwise one for all.
std::vector<std::string> device_lists() {
  std::vector<std::string> lists{"1", "0,0", "0,0,0"};
  if (gpu().count > 1) lists.push_back(std::to_string(gpu().count));
  return lists;
}

void expect_same(const std::string& line, const std::vector<std::string>& keys) {
  SCOPED_TRACE(line);
  const app_run alone = run_line(line + " --device cpu --repeat 1 --json -");
  const auto expected = alone.json();
  for (const std::string& devices : device_lists()) {
    const app_run run = run_line(line + " --repeat 2 --json - --devices " + devices);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, alone.err);
    const auto found = run.json();
    for (const std::string& key : keys)
      EXPECT_EQ(found.value(key, json()), expected.value(key, json())) << key << " of " << devices;
    for (std::size_t k = 0; line.starts_with("bfs") && k < expected["runs"].size(); ++k) {
      for (const char* key : {"source", "reached", "depth", "levels", "valid"}) {
        EXPECT_EQ(found["runs"][k][key], expected["runs"][k][key]) << key << " of " << devices;
      }
    }
    const auto ranks = found["ranks"].get<std::size_t>();
    EXPECT_EQ(found["devices"].size(), ranks);
    EXPECT_EQ(found["device"].get<std::string>().substr(0, 6), "cuda:0");
    EXPECT_THAT(found["links"].get<std::string>(),
                testing::AnyOf(HasSubstr("peer stores"), HasSubstr("NCCL"), HasSubstr("host memory")));
    EXPECT_EQ(ranks, devices == "0,0" ? 2U : devices == "0,0,0" ? 3U : std::stoul(devices));
    EXPECT_GE(found["exchanged_bytes"], 0);
  }
}

TEST(Devices, AnswerAsTheCpuDoes) {
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  expect_same("spmv " + datasets + "laplacian10.mtx --x reciprocal", {"rows", "nnz", "stored", "verified"});
  expect_same("spmv gen:rmat:scale=11,degree=8", {"rows", "nnz", "verified"});
  expect_same("spmv gen:rmat:scale=11,degree=8 --precision fp32", {"rows", "nnz", "precision", "verified"});
  const std::string hermitian = folder.write("h.mtx",
                                             "%%MatrixMarket matrix coordinate complex hermitian\n3 3 4\n"
                                             "1 1 2 0\n2 1 1 3\n2 2 1 0\n3 3 -1 0\n");
  expect_same("spmv " + hermitian, {"rows", "nnz", "field", "y", "verified"});
  expect_same("components " + datasets + "integers.el",
              {"vertices", "edges", "directed", "components", "largest", "sizes", "valid"});
  expect_same("components gen:uniform:rows=3000,degree=1", {"components", "largest", "sizes", "valid"});
  expect_same("pagerank " + datasets + "karate.el --undirected --iterations 9", {"vertices", "iterations", "valid"});
  expect_same("bfs " + datasets + "karate.el --undirected --source 33", {"vertices", "edges", "directed"});
  expect_same("bfs " + datasets + "hypercube8.txt.gz", {"vertices", "edges"});
  expect_same("bfs gen:rmat:scale=12,degree=8 --undirected --sources 3", {"vertices", "edges"});
  expect_same("bfs gen:rmat:scale=11,degree=5,seed=3 --source random:4", {"vertices", "edges", "directed", "stored"});
  expect_same("bfs gen:uniform:rows=3000,degree=3 --source max-degree", {"vertices", "edges", "directed", "stored"});
  expect_same("bfs gen:grid2d:n=30", {"vertices", "edges", "directed"});
  for (const char* file : {"empty.el", "loop.el"}) {
    const std::string path = folder.write(file, file == std::string("empty.el") ? "# nobody\n" : "4 4\n");
    for (const char* command : {"pagerank ", "components "}) expect_same(command + path, {"vertices", "valid"});
  }
}

TEST(Devices, SolveAsTheCpuDoes) {
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  const std::string hermitian = folder.write("h.mtx",
                                             "%%MatrixMarket matrix coordinate complex hermitian\n3 3 4\n"
                                             "1 1 4 0\n2 1 1 1\n2 2 5 0\n3 3 3 0\n");
  for (const std::string& line :
       {std::string("gen:laplacian2d:n=40"), std::string("gen:laplacian2d:n=40 --method minres --preconditioner none"),
        std::string("gen:laplacian2d:n=30 --method gmres --restart 20"), hermitian}) {
    expect_same("solve " + line, {"rows", "nnz", "method", "method_reason", "preconditioner", "converged", "outcome",
                                  "outcome_reason", "valid"});
  }
}

TEST(Devices, WriteWhatOneDoes) {
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  const std::string one = folder / "one";
  const std::string three = folder / "three";
  for (const std::string line :
       {"spmv gen:banded:rows=3000,degree=5 --x random:3 --algorithm row_per_thread --format csr",
        "components gen:uniform:rows=800,degree=1"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(run_line(line + " --device cuda --output " + one).code, 0);
    EXPECT_EQ(run_line(line + " --devices 0,0,0 --output " + three).code, 0);
    EXPECT_EQ(slurp(three), slurp(one));
    EXPECT_GT(slurp(one).size(), 1000U);
  }
}

TEST(Devices, KeepToTheMemoryAllowed) {
  SPARGO_TEST_NEEDS_GPU();
  for (const char* command : {"bfs ", "components ", "pagerank "}) {
    SCOPED_TRACE(command);
    const std::string line = command + std::string("gen:rmat:scale=15,degree=8 --undirected --devices 0,0 ");
    expect_refusal(line + "--max-device-memory 2M", 1, " on one GPU (expected at most 2 MB: --max-device-memory)");
    EXPECT_EQ(run_line(line + "--max-device-memory 64M").code, 0);
  }
}

TEST(Devices, MakeTheGraphsTheySearch) {
  SPARGO_TEST_NEEDS_GPU();
  const auto places = [](const std::string& line) {
    const auto found = run_line("bfs " + line + " --devices 0,0 --json -").json();
    return found["parsed_on"].get<std::string>() + " " + found["built_on"].get<std::string>();
  };
  EXPECT_EQ(places("gen:rmat:scale=11,degree=8"), "gpu gpu");
  EXPECT_EQ(places("gen:uniform:rows=900,degree=8 --undirected"), "gpu gpu");
  EXPECT_EQ(places("gen:rmat:scale=11,degree=8 --max-device-memory 64M"), "cpu cpu");
  EXPECT_EQ(places("gen:grid2d:n=30"), "cpu cpu");
  const scratch folder;
  const std::string line = "bfs gen:rmat:scale=10,degree=8 --undirected --source 5 --output ";
  EXPECT_EQ(run_line(line + (folder / "made") + " --devices 0,0").code, 0);
  EXPECT_EQ(run_line(line + (folder / "copied") + " --device cpu").code, 0);
  const auto levels_of = [](const std::string& text) {  // parents are any
    std::istringstream lines(text);
    std::vector<std::string> levels;
    for (std::string id, level, parent; lines >> id >> level >> parent;) levels.push_back(id + " " + level);
    return levels;
  };
  EXPECT_EQ(levels_of(slurp(folder / "made")), levels_of(slurp(folder / "copied")));
  EXPECT_EQ(levels_of(slurp(folder / "made")).size(), 1024U);
}

TEST(Devices, MeetABadLineOnce) {
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  std::string text;
  for (int k = 0; k < 1000; ++k) text += std::to_string(k) + " " + std::to_string(k * 7 % 1000) + "\n";
  const std::string file = folder.write("bad.el", text + "1 x\n");
  const app_run one = run_line("bfs " + file + " --device cpu");
  const app_run three = run_line("bfs " + file + " --devices 0,0,0");
  EXPECT_EQ(three.code, 1);
  EXPECT_EQ(three.out, "");
  EXPECT_EQ(three.err, one.err);
  EXPECT_THAT(three.err, HasSubstr("bad.el:1001"));
}

}  // namespace
}  // namespace spargo::test
