// Commands under mpirun: the results of one process, one line for errors, and an end soon after a failure.
//
// Own program: forks to start mpirun, and sets the environment for it.
#include "apps/run_app.hpp"
#include "support/device.hpp"
#include "support/snapshots.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace spargo::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string datasets = source_folder() + "/datasets/";

class Ranks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const char* name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"}) {
      ::setenv(name, "1", 1);
    }
    ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    ::setenv("OMPI_MCA_pml", "ob1", 1);  // not looking for network cards halves the time of a start
  }
  void SetUp() override {
    if (!std::filesystem::exists(program_folder() + "/../lib/libspargo_mpi.so"))
      GTEST_SKIP() << "no MPI: no plugin was built";
    if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "no MPI: no mpirun";
  }

  // Runs in a shell. The exit code is mpirun's: that of the first rank that fails.
  static app_run on_ranks(int ranks, const std::string& line) {
    const scratch folder;
    const std::string spargo = program_folder() + "/spargo ";
    const std::string start = ranks == 1 ? "" : "mpirun -n " + std::to_string(ranks) + " ";
    const int status =
        std::system((start + spargo + line + " < /dev/null > " + folder / "out" + " 2> " + folder / "err").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(folder / "out"),
            slurp(folder / "err")};
  }

  // Spargo's lines, without mpirun's.
  static std::vector<std::string> own_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
      if (line.starts_with("spargo")) lines.push_back(line);
    }
    return lines;
  }

  static void expect_same(const std::string& line, const std::vector<std::string>& keys) {
    SCOPED_TRACE(line);
    const auto expected = on_ranks(1, line + " --device cpu --threads 1 --repeat 1 --json -").json();
    for (const int ranks : {2, 3}) {
      const app_run run = on_ranks(ranks, line + " --repeat 1 --json -");
      EXPECT_EQ(run.code, 0) << run.err;
      const auto found = run.json();
      for (const std::string& key : keys) EXPECT_EQ(found[key], expected[key]) << key << " of " << ranks;
      EXPECT_EQ(found["ranks"], ranks);
      EXPECT_GE(found["exchanged_bytes"], line.starts_with("spmv") ? 0 : 1);  // a small matrix is one rank's
      EXPECT_GT(found["exchange_ms"], 0);
    }
  }

  // False for a zombie.
  static bool is_running(pid_t process) {
    const std::string stat = slurp("/proc/" + std::to_string(process) + "/stat");
    const std::size_t name_end = stat.rfind(") ");
    return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
  }

  static double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

TEST_F(Ranks, SearchAnyInput) {
  for (const std::string input : {"karate.el --undirected --source 33", "tree_sparse_ids.csv --source max-degree",
                                  "town.gr", "hypercube8.txt.gz", "divisors.mtx --undirected"}) {
    const std::string line = "bfs " + datasets + input;
    expect_same(line, {"vertices", "edges", "directed"});
    const auto expected = on_ranks(1, line + " --device cpu --json -").json();
    const auto found = on_ranks(2, line + " --json -").json();
    for (const char* key : {"source", "reached", "depth", "levels", "valid"})
      EXPECT_EQ(found["runs"][0][key], expected["runs"][0][key]) << key;
  }
}

TEST_F(Ranks, TakeUndirectedListsAsDirectedGraphs) {
  const scratch folder;
  const std::string list = folder.write("u.el", "# Undirected graph: a\n1 2\n2 3\n4 3\n");
  expect_same("bfs " + list + " --directed --source 4", {"vertices", "edges", "directed"});
  EXPECT_EQ(on_ranks(2, "bfs " + list + " --directed --source 4 --json -").json().at("runs").at(0).at("reached"), 4);
}

TEST_F(Ranks, SearchASnapshot) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  ASSERT_EQ(run_app("convert", {datasets + "tree_sparse_ids.csv", folder / "tree.spg"}).code, 0);
  expect_same("bfs " + folder / "tree.spg", {"vertices", "edges"});
}

TEST_F(Ranks, RunTheAlgorithmThatThePlanNames) {
  for (const std::string command : {"bfs", "components", "pagerank"}) {
    const std::string line = command + " gen:rmat:scale=8,degree=8 --json -";
    const auto planned = on_ranks(1, "plan " + line + " --ranks 2").json();
    EXPECT_EQ(planned["algorithm"], on_ranks(2, line).json()["algorithm"]) << command;
  }
}

// PageRank counts self-loops and reports their number.
TEST_F(Ranks, CountSelfLoops) {
  const scratch folder;
  const std::string list = folder.write("loops.el", "1 1\n1 2\n2 3\n3 3\n3 3\n4 2\n");
  for (const std::string direction : {"--directed", "--undirected"}) {
    expect_same("pagerank " + list + " " + direction, {"vertices", "edges", "self_loops"});
    EXPECT_EQ(on_ranks(3, "pagerank " + list + " " + direction + " --json -").json()["self_loops"], 2) << direction;
  }
}

// An id with leading zeros, in the first 64 KiB or not, in a rank's part or in a file that rank 0 reads, is reported
// once.
TEST_F(Ranks, WarnOfLeadingZeros) {
  const scratch folder;
  std::string text;
  for (int k = 1; k < 12'000; ++k) text += std::to_string(k) + " 1 007\n";
  for (const char* name : {"z.el", "z.el.gz"}) {
    const std::string list = folder.write("z.el", text + "1 007 1\n2 08 1\n");
    const std::string file = folder / name;
    if (file != list) {
      ASSERT_EQ(std::system(("gzip -k " + list).c_str()), 0);
    }
    for (const int ranks : {1, 2, 3}) {
      const app_run run = on_ranks(ranks, "bfs " + file);
      ASSERT_EQ(run.code, 0) << run.err;
      const std::vector<std::string> reported = own_lines(run.err);
      ASSERT_EQ(reported.size(), 1U) << run.err;
      EXPECT_NE(reported[0].find(file + ": line 12000: vertex id 007 is read as 7"), std::string::npos) << reported[0];
    }
  }
  const std::string names = folder.write("names.csv", "source,target\nann,007\nbob,7\n");
  EXPECT_TRUE(own_lines(on_ranks(2, "bfs " + names).err).empty());
}

// One process and three write the same files.
TEST_F(Ranks, VerticesKeepTheirNames) {
  const scratch folder;
  std::string text = "\"Doe, Jane\",Roe\n";
  for (int k = 0; k < 300; ++k)
    text += "n" + std::to_string(k * 7 % 40) + ",Roe\nRoe,n" + std::to_string(k % 23) + "\n";
  const std::string file = folder.write("names.csv", text);
  const std::string one = folder / "one";
  const std::string three = folder / "three";
  const std::string document = folder.write("names.gml",
                                            "graph [ node [ id 5 label \"Doe, Jane\" ] node [ id 2 label \"Roe\" ]\n"
                                            "node [ id 9 label \"n\" ] edge [ source 9 target 5 ] ]\n");
  for (const std::string& line :
       {"bfs " + file + " --source 'Doe, Jane' --deterministic", "components " + file, "components " + document}) {
    EXPECT_EQ(on_ranks(1, line + " --device cpu --output " + one).code, 0);
    EXPECT_EQ(on_ranks(3, line + " --output " + three).code, 0);
    EXPECT_EQ(slurp(three), slurp(one)) << line;
    EXPECT_EQ(slurp(three).substr(0, 12), "\"Doe, Jane\" ") << line;
  }
  EXPECT_EQ(on_ranks(3, "bfs " + file + " --source nobody").code, 1);
  const auto found = on_ranks(3, "bfs " + file + " --source Roe --json -").json();
  EXPECT_EQ(found["runs"][0]["source"], "Roe");
  EXPECT_EQ(found["ids"], "names");
}

TEST_F(Ranks, WriteWhatOneProcessWrites) {
  const scratch folder;
  const std::string one = folder / "one";
  const std::string three = folder / "three";
  for (const std::string line :
       {"bfs gen:rmat:scale=10,degree=6 --undirected --deterministic",
        "spmv gen:banded:rows=3000,degree=5 --x random:3 --algorithm row_per_thread",
        "spmv gen:rmat:scale=9,degree=5 --x random:3 --precision fp32", "components gen:uniform:rows=800,degree=1",
        "cores gen:rmat:scale=10,degree=6", "communities gen:rmat:scale=10,degree=6 --method cdlp"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(on_ranks(1, line + " --device cpu --output " + one).code, 0);
    EXPECT_EQ(on_ranks(3, line + " --output " + three).code, 0);
    EXPECT_EQ(slurp(three), slurp(one));
    EXPECT_GT(slurp(one).size(), 1000U);
  }
}

// In the format of the name, sorted and truncated; and the path to a target.
TEST_F(Ranks, WriteTablesAsOneProcess) {
  const scratch folder;
  for (const std::string line : {"bfs gen:rmat:scale=8,degree=6 --undirected --deterministic --sort",
                                 "components gen:uniform:rows=800,degree=1 --sort"}) {
    for (const std::string ending : {".csv", ".tsv", ".json"}) {
      SCOPED_TRACE(line + ending);
      EXPECT_EQ(on_ranks(1, line + " --device cpu --output " + folder / ("one" + ending)).code, 0);
      EXPECT_EQ(on_ranks(3, line + " --output " + folder / ("three" + ending)).code, 0);
      EXPECT_EQ(slurp(folder / ("three" + ending)), slurp(folder / ("one" + ending)));
      EXPECT_GT(slurp(folder / ("one" + ending)).size(), 1000U);
    }
  }
  EXPECT_EQ(on_ranks(3, "pagerank " + datasets + "karate.el --undirected --top 4 --output " + folder / "r.csv").code,
            0);
  const std::string ranks = slurp(folder / "r.csv");
  EXPECT_TRUE(ranks.starts_with("id,rank\n")) << ranks;
  EXPECT_EQ(std::count(ranks.begin(), ranks.end(), '\n'), 5) << ranks;
  const std::string path = "bfs " + datasets + "karate.el --undirected --deterministic --target 17 --json - ";
  const auto expected = on_ranks(1, path + "--device cpu").json()["runs"][0];
  EXPECT_EQ(on_ranks(3, path).json()["runs"][0]["path"], expected["path"]);
  EXPECT_GT(expected["path"].size(), 1U);
}

TEST_F(Ranks, MayBeMoreThanEight) {
  const scratch folder;
  const std::string line =
      "bfs gen:rmat:scale=10,degree=6 --undirected --source max-degree --repeat 1 --deterministic ";
  const auto expected = on_ranks(1, line + "--device cpu --json - --output " + folder / "one").json()["runs"][0];
  const app_run run = on_ranks(9, line + "--json - --output " + folder / "nine");
  EXPECT_EQ(run.code, 0) << run.err;
  const auto found = run.json()["runs"][0];
  for (const char* key : {"source", "reached", "depth", "levels", "valid"}) EXPECT_EQ(found[key], expected[key]) << key;
  EXPECT_EQ(slurp(folder / "nine"), slurp(folder / "one"));
}

TEST_F(Ranks, MultiplyRankAndLabel) {
  expect_same("spmv " + datasets + "laplacian10.mtx --x reciprocal",
              {"rows", "nnz", "stored", "y", "verified", "max_error"});
  expect_same("spmv gen:rmat:scale=9,degree=5", {"rows", "nnz", "y", "verified"});
  expect_same("spmv " + datasets + "laplacian10.mtx --x random:3 --precision fp32",
              {"rows", "nnz", "precision", "y", "verified", "max_error"});
  expect_same("components " + datasets + "integers.el",
              {"vertices", "edges", "directed", "components", "largest", "sizes", "valid"});
  expect_same("pagerank " + datasets + "karate.el --undirected --iterations 9", {"vertices", "iterations", "valid"});
  const std::vector<std::string> labelled{"vertices",  "edges",     "directed",    "method",  "iterations", "rounds",
                                          "label_sum", "algorithm", "communities", "largest", "sizes",      "valid"};
  expect_same("communities " + datasets + "integers.el --method cdlp", labelled);
  const std::vector<std::string> peeled{"vertices", "edges", "directed", "max_core", "histogram", "valid"};
  expect_same("cores " + datasets + "integers.el", peeled);
  expect_same("cores gen:rmat:scale=10,degree=6 --undirected", peeled);
  expect_same("communities gen:rmat:scale=10,degree=6 --undirected --method cdlp --iterations 30", labelled);
}

// A triangle of a Hermitian matrix, in more rows than a rank's smallest part.
TEST_F(Ranks, MultiplyComplexMatrices) {
  const scratch folder;
  std::string lines;
  for (int i = 1; i <= 400; ++i) {
    lines += std::to_string(i) + " " + std::to_string(i) + " 4 0\n";
    if (i > 150) lines += std::to_string(i) + " " + std::to_string(i - 150) + " 0.5 -" + std::to_string(i % 9) + "\n";
  }
  const std::string file =
      folder.write("h.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n400 400 650\n" + lines);
  expect_same("spmv " + file + " --x random:5", {"rows", "nnz", "stored", "field", "symmetry", "y", "verified"});
  const app_run run = on_ranks(2, "spmv " + file + " --precision fp32");
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(own_lines(run.err), std::vector<std::string>{"spargo spmv: " + file +
                                                         ": complex matrices work in fp64 complex only (expected no "
                                                         "--precision fp32)"});
  EXPECT_THAT(on_ranks(2, "spmv gen:path:n=9 --algorithm merge_path --device cuda").err,
              HasSubstr("several GPUs multiply by --format csr --algorithm row_per_thread only, or auto"));
}

TEST_F(Ranks, SolveSystems) {
  const std::string line = "solve gen:laplacian2d:n=30 --rhs random:3 --tolerance 1e-10 ";
  const scratch folder;
  const auto expected = on_ranks(1, line + "--json -").json();
  const app_run run = on_ranks(3, line + "--json - --output " + folder / "x.mtx");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto found = run.json();
  for (const char* key : {"rows", "nnz", "method", "method_reason", "preconditioner", "converged", "outcome", "valid"})
    EXPECT_EQ(found[key], expected[key]) << key;
  EXPECT_EQ(found["ranks"], 3);
  EXPECT_GT(found["exchanged_bytes"], 0);
  EXPECT_LE(found["relative_residual"], 1e-10);
  EXPECT_NEAR(found["iterations"].get<double>(), expected["iterations"].get<double>(), 2);
  EXPECT_EQ(std::ssize(found["history"]), found["iterations"].get<std::int64_t>() + 1);
  EXPECT_NEAR(found["x"]["sum"].get<double>(), expected["x"]["sum"].get<double>(), 1e-5);
  const std::string x = slurp(folder / "x.mtx");
  EXPECT_EQ(std::count(x.begin(), x.end(), '\n'), 902);
}

TEST_F(Ranks, RefuseSystemsOnce) {
  const scratch folder;
  const std::string file = folder.write("s.mtx",
                                        "%%MatrixMarket matrix coordinate complex hermitian\n3 3 4\n"
                                        "1 1 2 0\n2 1 1 3\n2 2 1 0\n3 3 -1 0\n");
  const auto refused = [](const std::string& flags, int code) {
    const app_run run = on_ranks(2, "solve " + flags);
    EXPECT_EQ(run.code, code) << run.err;
    const std::vector<std::string> lines = own_lines(run.err);
    EXPECT_EQ(lines.size(), 1U) << run.err;
    return lines.empty() ? std::string() : lines.front();
  };
  EXPECT_EQ(refused(file + " --preconditioner ilu0", 2),
            "spargo solve: --preconditioner ilu0: not on several processes or GPUs (expected jacobi or none)");
  EXPECT_EQ(refused(file + " --method cg", 1),
            "spargo solve: " + file + ": the matrix is not positive definite: row 3 has -1 + 0i on the diagonal " +
                "(expected another method than cg)");
  EXPECT_THAT(refused(file + " --max-iterations 1 --rhs ones", 3),
              HasSubstr("not converged: the limit of 1 iteration"));
}

TEST_F(Ranks, CountLoopsForRanksAlone) {
  const scratch folder;
  const std::string file = folder.write("loop.el", "1 2\n2 2\n2 3\n3 1\n");
  expect_same("components " + file, {"vertices", "edges", "sizes", "valid"});
  for (const std::string flags : {"", " --undirected"}) {
    const std::string line = "pagerank " + file + flags + " --tolerance 1e-12";
    expect_same(line, {"vertices", "edges", "valid"});
    const auto one = on_ranks(1, line + " --device cpu --json -").json();
    const auto two = on_ranks(2, line + " --json -").json();
    ASSERT_EQ(one["top"].size(), two["top"].size());
    EXPECT_EQ(one["edges"], 3);
    for (std::size_t k = 0; k < one["top"].size(); ++k) {
      EXPECT_EQ(one["top"][k][0], two["top"][k][0]);
      EXPECT_NEAR(one["top"][k][1].get<double>(), two["top"][k][1].get<double>(), 1e-10);
    }
  }
}

TEST_F(Ranks, AreManyForGraphsWithoutVerticesOrEdges) {
  const scratch folder;
  for (const std::string& file : {folder.write("empty.el", "# nobody\n"), folder.write("loop.el", "4 4\n")}) {
    for (const char* command : {"pagerank ", "components ", "cores ", "communities --method cdlp "}) {
      const app_run run = on_ranks(3, command + file + " --json -");
      EXPECT_EQ(run.code, 0) << command << file << run.err;
      EXPECT_EQ(run.json()["valid"], true);
    }
  }
}

TEST_F(Ranks, AreRefusedByOtherCommands) {
  const app_run run = on_ranks(2, "info " + datasets + "karate.el");
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.out, "");
  ASSERT_EQ(own_lines(run.err).size(), 1U) << run.err;
  EXPECT_THAT(
      run.err,
      HasSubstr("spargo: info does not run on several processes (bfs, communities, components, cores, pagerank, "
                "solve and spmv do)"));
  EXPECT_THAT(on_ranks(2, "sssp " + datasets + "karate.el").err, HasSubstr("sssp does not run on several processes"));
  EXPECT_THAT(on_ranks(2, "sssp --help").out, HasSubstr("Usage: spargo sssp"));
  EXPECT_THAT(on_ranks(2, "components " + datasets + "karate.el --strong").err,
              HasSubstr("--strong: not on several processes"));
  const app_run leiden = on_ranks(2, "communities " + datasets + "karate.el --weights random");
  EXPECT_EQ(leiden.code, 2);
  EXPECT_EQ(own_lines(leiden.err), std::vector<std::string>{"spargo communities: --method leiden: not on several "
                                                            "processes or GPUs (expected --method cdlp)"});
  EXPECT_THAT(on_ranks(2, "cores " + datasets + "karate.el --device cuda").err,
              HasSubstr("spargo cores: --device cuda: several processes run cores on CPUs (expected auto or cpu)"));
  EXPECT_THAT(on_ranks(2, "cores " + datasets + "karate.el --k 2").err, HasSubstr("--k: not on several processes"));
  EXPECT_THAT(on_ranks(1, "help cores").out, AllOf(HasSubstr("mpirun"), Not(HasSubstr("--devices"))));
  EXPECT_THAT(on_ranks(1, "help pagerank").out, HasSubstr("Started by mpirun or srun, the processes share the work"));
  EXPECT_THAT(on_ranks(1, "help sssp").out, Not(HasSubstr("mpirun")));
  EXPECT_EQ(own_lines(on_ranks(2, "components --help").out + on_ranks(2, "components --version").out).size(), 1U);
}

TEST_F(Ranks, AreToldHowManyWouldDo) {
  const app_run made = on_ranks(2, "bfs gen:rmat:scale=24 --max-memory 1G");
  EXPECT_EQ(made.code, 1);
  ASSERT_EQ(own_lines(made.err).size(), 1U) << made.err;
  EXPECT_THAT(made.err, HasSubstr("in each of 2 processes, for 268,435,456 entries"));
  EXPECT_THAT(made.err, HasSubstr("500 MB are available to each process, 2 on a host; 5 hosts would suffice"));
  const app_run built = on_ranks(2, "bfs gen:rmat:scale=20 --max-memory 300M");
  EXPECT_EQ(built.code, 1);
  EXPECT_THAT(built.err, HasSubstr("per process, 2 on a host; "));
}

// The estimates of `plan` for a rank, and the memory of a rank.
TEST_F(Ranks, TakeWhatThePlanSays) {
  for (const std::string command : {"bfs", "pagerank", "components", "communities", "cores", "spmv", "solve"}) {
    const char* const input =
        command == "solve" ? " gen:laplacian2d:n=700 --tolerance 0.5" : " gen:rmat:scale=17,degree=16";
    const std::string line =
        command + input + " --json - --device cpu" + (command == "communities" ? " --method cdlp" : "");
    const app_run plan = on_ranks(1, "plan " + line + " --ranks 2");
    ASSERT_EQ(plan.code, 0) << plan.err;
    const app_run run = on_ranks(2, line + " --repeat 1");
    ASSERT_EQ(run.code, 0) << run.err;
    const auto took = run.json().at("host_memory_bytes").get<double>();
    const auto said = plan.json().at("host_bytes").get<double>();
    EXPECT_LT(said, 1.4 * took) << command;
    EXPECT_GT(said, took / 2) << command;
  }
}

TEST_F(Ranks, TakeGpusInTurn) {
  EXPECT_THAT(on_ranks(2, "bfs " + datasets + "karate.el --device cpu --devices 2").err,
              HasSubstr("--device cpu: not beside --devices"));
  EXPECT_THAT(on_ranks(2, "spmv gen:path:n=9 --device cuda --parse gpu").err, HasSubstr("--parse gpu: several"));
  EXPECT_THAT(on_ranks(2, "bfs " + datasets + "karate.el --device cuda --deterministic").err,
              HasSubstr("--deterministic: not on several GPUs"));
  if (!gpu().usable()) {
    for (const std::string flag : {"--device cuda", "--devices 1"}) {
      const app_run run = on_ranks(3, "components " + datasets + "karate.el " + flag);
      EXPECT_EQ(run.code, 1);
      EXPECT_EQ(run.out, "");
      ASSERT_EQ(own_lines(run.err).size(), 1U) << run.err;
      EXPECT_THAT(run.err, HasSubstr(flag + ": no usable GPU: " + gpu().reason));
    }
    GTEST_SKIP() << gpu().reason;
  }
  for (const std::string flag : {"--device cuda", "--devices 1"}) {
    for (const std::string line :
         {"spmv gen:rmat:scale=9,degree=5", "components gen:uniform:rows=3000,degree=1",
          "pagerank gen:rmat:scale=9,degree=5 --iterations 9", "communities gen:rmat:scale=9,degree=5 --method cdlp",
          "bfs gen:rmat:scale=11,degree=8 --undirected"}) {
      SCOPED_TRACE(line);
      const app_run run = on_ranks(3, line + " --json - " + flag);
      ASSERT_EQ(run.code, 0) << run.err;
      const auto found = run.json();
      EXPECT_EQ(found["devices"].size(), 3U);
      EXPECT_THAT(found["device"].get<std::string>(), testing::StartsWith("cuda:"));
      const auto& result = line.starts_with("bfs") ? found["runs"][0] : found;
      EXPECT_EQ(result.value(line.starts_with("spmv") ? "verified" : "valid", false), true);
      EXPECT_THAT(found["links"].get<std::string>(), testing::AnyOf(HasSubstr("NCCL"), HasSubstr("host memory")));
    }
  }
}

// Under an unknown launcher the command must not run in several copies.
TEST_F(Ranks, AreRefusedWhereMpiKnowsOfFewer) {
  ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  const app_run run = on_ranks(1, "bfs " + datasets + "karate.el");
  ::unsetenv("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("2 processes were started (SLURM_STEP_NUM_TASKS), but MPI knows of 1"));
}

TEST_F(Ranks, SayOnceWhatIsWrongAndEnd) {
  const scratch folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n900 900 9000\n";
  for (int k = 0; k < 9000; ++k)
    text += std::to_string(1 + k % 900) + " " + std::to_string(1 + k / 10) + (k == 8990 ? " one\n" : " 1\n");
  const std::string bad = folder.write("bad.mtx", text);
  for (const std::string& line :
       {"spmv " + bad, "spmv " + folder / "none.mtx", "bfs " + datasets + "karate.el --source 99",
        "bfs " + datasets + "karate.el --output /dev/full", "pagerank " + datasets + "karate.el --json /dev/full",
        std::string("bfs gen:rmat:scale=21,degree=16 --max-memory 64M")}) {
    SCOPED_TRACE(line);
    const auto start = std::chrono::steady_clock::now();
    const app_run run = on_ranks(3, line);
    EXPECT_LT(seconds_since(start), 5);
    EXPECT_EQ(run.code, 1);
    ASSERT_EQ(own_lines(run.err).size(), 1U) << run.err;
    if (line.find("--max-memory") == std::string::npos) {
      EXPECT_EQ(own_lines(run.err), own_lines(on_ranks(1, line + " --device cpu").err));
    } else {
      EXPECT_THAT(run.err, HasSubstr("memory"));
    }
  }
  EXPECT_THAT(on_ranks(3, "spmv " + bad).err, HasSubstr(bad + ":8993:"));
}

// A program over the library in which one rank fails alone.
TEST_F(Ranks, AllEndWhenOneExits) {
  const std::string program = program_folder() + "/tests/dist_test";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "no dist_test";
  const auto start = std::chrono::steady_clock::now();
  const int status =
      std::system(("LD_LIBRARY_PATH=" + program_folder() + "/../lib mpirun -n 3 " + program +
                   " --gtest_also_run_disabled_tests --gtest_filter='*WaitForOneThatExits' > /dev/null 2>&1")
                      .c_str());
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST_F(Ranks, AllEndWhenOneIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c",
            ("exec mpirun -n 3 " + program_folder() + "/spargo bfs gen:grid2d:n=500 --repeat 100000 > /dev/null 2>&1")
                .c_str(),
            nullptr);
    ::_exit(127);
  }
  const auto children = [&] {
    std::ifstream file("/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children");
    std::vector<pid_t> found;
    for (pid_t each = 0; file >> each;) found.push_back(each);
    return found;
  };
  std::vector<pid_t> ranks;
  for (int k = 0; k < 200 && (ranks = children()).size() < 3; ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(ranks.size(), 3U);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const auto start = std::chrono::steady_clock::now();
  ::kill(ranks[1], SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (const pid_t each : ranks) {
    while (is_running(each) && seconds_since(start) < 5) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(is_running(each));
  }
}

}  // namespace
}  // namespace spargo::test
