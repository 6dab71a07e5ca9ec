// `spargo plan`: its estimates agree with a run of the command, and it runs nothing.
#include "apps/all_commands.hpp"
#include "apps/run_app.hpp"

#include <spargo/core/context.hpp>
#include <spargo/io/output.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace spargo::test {
namespace {

using nlohmann::json;

json plan_of(std::vector<std::string> words) {
  words.insert(words.end(), {"--json", "-"});
  const app_run run = run_app("spargo", [&] {
    words.insert(words.begin(), "plan");
    return words;
  }());
  EXPECT_EQ(run.code, 0) << run.err;
  return run.json();
}

TEST(plan, is_of_every_command_on_graphs_and_spmv) {
  for (const std::string& command : computing_commands()) {
    if (command == "multiply") continue;  // the size of its result is not known before its pattern is
    const json plan = plan_of({command, "gen:rmat:scale=12,degree=8", "--device", "cpu"});
    EXPECT_EQ(plan.at("app"), "plan");
    EXPECT_EQ(plan.at("command"), command);
    EXPECT_EQ(plan.at("device"), "cpu");
    EXPECT_EQ(plan.at("device_reason"), "as asked for");
    EXPECT_EQ(plan.at("listed"), 32768);
    EXPECT_EQ(plan.at(plan.contains("vertices") ? "vertices" : "rows"), 4096);
    EXPECT_GT(plan.at("host_bytes"), 32768 * 8) << command;
    if (command == "eigs" || command == "reorder" || command == "solve" || command == "subgraph") {  // no GPU version
      EXPECT_TRUE(plan.at("device_bytes").is_null());
    } else {
      EXPECT_GT(plan.at("device_bytes"), 4096 * 4) << command;
    }
    EXPECT_GT(plan.at("expected_ms"), 0.0) << command;
    EXPECT_EQ(plan.at("ranks"), 1);
    EXPECT_EQ(plan.at("host_memory_bytes"), plan.at("host_bytes")) << command;
    EXPECT_GT(plan.at("host_running_bytes"), 32768 * 4) << command;
    if (command == "cores") {
      EXPECT_EQ(plan.at("algorithm"), "peel");
      EXPECT_EQ(plan.at("algorithm_reason"), "there is no other");
    } else if (plan.at("algorithm") == "auto") {
      EXPECT_EQ(plan.at("algorithm_reason"), "chosen once the input is read") << command;
    }
  }
  for (const char* command : {"info", "convert", "multiply", "help", "bench", "plan"}) {
    expect_failure(run_app("spargo", {"plan", command, "a.el"}), "plan", 2, std::string(command) + " has no plan");
  }
  expect_failure(run_app("spargo", {"plan", "bsf", "a.el"}), "plan", 2, "did you mean bfs?");
}

// Within a factor of the peak of the run's arrays, apart from a few MB.
TEST(plan, estimates_the_host_memory_of_the_run) {
  if (test::is_sanitized) GTEST_SKIP() << "it compares sizes, and takes 100 s under sanitizers";
  const scratch folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n20000 20000 400000\n";
  for (int k = 0; k < 400'000; ++k) {
    text += std::to_string(k % 20000 + 1) + " " + std::to_string(k * 7919LL % 20000 + 1) + " 1.5\n";
  }
  for (const std::string& input : {std::string("gen:rmat:scale=16,degree=16"), folder.write("a.mtx", text)}) {
    for (const std::string& command : computing_commands()) {
      if (command == "eigs" || command == "multiply") continue;  // symmetric matrices only; no plan
      const std::vector<std::string> flags = {input, "--device", "cpu", "--threads", "2"};
      std::vector<std::string> words = flags;
      words.insert(words.begin(), command);
      const json plan = plan_of(words);
      const auto said = plan.at("host_bytes").get<double>();
      words = flags;
      words.insert(words.end(), {"--json", "-", "--repeat", "1", command == "spmv" ? "--no-verify" : "--no-validate"});
      // Few repetitions of the work, in the same memory.
      if (command == "betweenness" || command == "closeness") words.insert(words.end(), {"--sources", "1"});
      if (command == "layout") words.insert(words.end(), {"--iterations", "1"});
      if (command == "solve") words.insert(words.end(), {"--max-iterations", "9", "--method", "bicgstab"});
      const auto took = run_app(command, words).json().at("host_memory_bytes").get<double>();
      EXPECT_LT(said, 1.5 * took) << command << " " << input;
      // A lower bound, without the copies sorted by degree and the contracted graphs.
      const bool copies = command == "triangles" || command == "communities" || command == "trusses";
      EXPECT_GT(said, took / (copies ? 7 : 4)) << command << " " << input;
      if (copies) {
        EXPECT_GE(plan.at("host_running_bytes").get<double>(), took) << input;
        // An upper bound: as if no entry were listed twice, while a.mtx lists each 20 times.
        const double large_pages = 1 << 24;
        EXPECT_LT(plan.at("host_running_bytes").get<double>(),
                  (input.starts_with("gen:") ? 3 : 60) * took + large_pages)
            << input;
      }
    }
  }
}

// The greatest resident memory of a run. A process begins with that of the one that started it: a small one here.
double resident_bytes_of(const std::string& command, const std::vector<std::string>& arguments) {
  std::string line =
      "python3 -c 'import os, sys; child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); _, status, used = "
      "os.wait4(child, 0); print(used.ru_maxrss if status == 0 else -1)'";
  for (const std::string& word : command_line(command, arguments)) line += " " + word;
  const app_run run = run_shell(line);
  EXPECT_EQ(run.code, 0) << run.err;
  return 1024 * std::strtod(run.out.c_str(), nullptr);
}

// A command's estimate is at most a few times what the system counts for its run, and never less.
void expect_process_bytes(const std::string& command, std::vector<std::string> flags,
                          const std::vector<std::string>& of_run = {}) {
  flags.insert(flags.end(), {"--device", "cpu", "--threads", "2"});
  std::vector<std::string> words = flags;
  words.insert(words.begin(), command);
  const auto said = plan_of(words).at("host_process_bytes").get<double>();
  flags.emplace_back("--quiet");
  flags.insert(flags.end(), of_run.begin(), of_run.end());
  const double took = resident_bytes_of(command, flags);
  EXPECT_GE(said, took) << command << " " << flags[0];
  EXPECT_LE(said, 4 * took) << command << " " << flags[0];
}

std::string packed(const std::string& path, const std::string& text) {
  output_file file(path);  // compressed by its name
  file.write(text);
  file.commit();
  return path;
}

// Ends of random edges among `vertices`.
std::pair<std::string, std::string> ends_of(int edge, int vertices) {
  const auto end = [&](std::uint64_t bits) {
    return std::to_string((bits ^ bits >> 29) * 0x9e3779b97f4a7c15U % vertices);
  };
  return {end(2 * edge), end(2 * edge + 1)};
}

TEST(plan, names_what_the_whole_process_takes) {
  if (test::is_sanitized) GTEST_SKIP() << "it compares sizes";
  if (run_shell("python3 -c pass").code != 0) GTEST_SKIP() << "no python3";
  const scratch folder;
  std::string list;
  for (int k = 0; k < 200'000; ++k) {
    const auto [from, to] = ends_of(k, 30'000);
    list += from + " " + to + "\n";
  }
  const std::string text = folder.write("a.el", list);
  for (const std::string& input : {std::string("gen:path:n=9"), std::string("gen:rmat:scale=15,degree=16"), text}) {
    for (const char* command : {"bfs", "components", "sssp", "triangles", "communities", "spmv", "layout", "forest"}) {
      if (input == text && command == std::string("spmv")) continue;
      const bool lays_out = command == std::string("layout");
      expect_process_bytes(command, {input},
                           lays_out ? std::vector<std::string>{"--iterations", "3"} : std::vector<std::string>());
    }
  }
  const app_run shown = run_app("spargo", {"plan", "bfs", "gen:path:n=9"});
  EXPECT_NE(shown.out.find("MB with the program; "), std::string::npos) << shown.out;
  EXPECT_TRUE(plan_of({"bfs", "gen:path:n=9", "--ranks", "2"}).at("host_process_bytes").is_null());
}

// What texts hold is seen only by reading them: names, compressed lists, short lines after long ones, documents.
TEST(plan, names_what_a_process_takes_that_reads_text) {
  if (test::is_sanitized) GTEST_SKIP() << "it compares sizes";
  if (run_shell("python3 -c pass").code != 0) GTEST_SKIP() << "no python3";
  const scratch folder;
  std::string names;
  std::string pairs = "source,target\n";
  std::string repeated;
  std::string shorter;
  std::string gml = "graph [\n";
  std::string graphml = "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"><graph edgedefault=\"directed\">\n";
  std::string triangle = "%%MatrixMarket matrix coordinate pattern symmetric\n30000 30000 200000\n";
  for (int k = 0; k < 10'000; ++k) {
    const std::string id = std::to_string(k);
    gml += "node [ id " + id + " label \"name" + id + "\" ]\n";
    graphml += "<node id=\"name" + id + "\"/>\n";
  }
  for (int k = 0; k < 200'000; ++k) {
    const auto [from, to] = ends_of(k, 60'000);
    const auto [few, fewer] = ends_of(k, 1'000);
    names += "user" + from + "@example.org user" + to + "@example.org\n";
    if (k < 150'000) pairs += "a" + std::to_string(k) + ",b" + std::to_string(k) + "\n";
    repeated += "1 2\n1 2\n1 2\n";
    shorter += k < 20'000 ? "10000000000000" + few + " 10000000000000" + fewer + "\n" : "1 2\n3 1\n";
    triangle += std::to_string(std::max(std::stoi(from) / 2, std::stoi(to) / 2) + 1) + " " +
                std::to_string(std::min(std::stoi(from) / 2, std::stoi(to) / 2) + 1) + "\n";
    if (k >= 60'000) continue;
    const auto [source, target] = ends_of(k, 10'000);
    gml += "edge [ source " + source + " target " + target + " ]\n";
    graphml += "<edge source=\"name" + source + "\" target=\"name" + target + "\"/>\n";
  }
  gml += "]\n";
  graphml += "</graph></graphml>\n";
  for (const std::string& input :
       {folder.write("names.el", names), folder.write("pairs.csv", pairs), folder.write("shorter.el", shorter),
        packed(folder / "repeated.el.gz", repeated), folder.write("a.gml", gml)}) {
    expect_process_bytes("components", {input});
    expect_process_bytes("sssp", {input});
  }
  expect_process_bytes("components", {packed(folder / "a.graphml.gz", graphml)});
  const std::string symmetric = folder.write("triangle.mtx", triangle);
  expect_process_bytes("communities", {symmetric});
  expect_process_bytes("communities", {symmetric, "--weights", "random"});
  expect_process_bytes("pagerank", {"gen:rmat:scale=15,degree=16", "--weights", "random"});
}

TEST(plan, goes_by_the_precision) {
  const auto bytes = [](const char* command, const char* precision, const char* key) {
    const json plan = plan_of({command, "gen:path:n=1000000", "--precision", precision});
    return plan.at(key).get<std::int64_t>();
  };
  for (const char* command : {"pagerank", "spmv"}) {
    for (const char* key : {"host_running_bytes", "device_bytes"}) {
      EXPECT_LT(bytes(command, "fp32", key), bytes(command, "fp64", key)) << command << " " << key;
    }
  }
}

// On several GPUs too, which take what the plan says.
TEST(plan, goes_by_the_precision_on_each_rank) {
  const auto bytes = [](const char* precision, const std::vector<std::string>& where) {
    std::vector<std::string> words{"spmv", "gen:path:n=1000000", "--precision", precision};
    words.insert(words.end(), where.begin(), where.end());
    return plan_of(words).at("device_bytes").get<std::int64_t>();
  };
  for (const std::vector<std::string>& where :
       {std::vector<std::string>{"--ranks", "2", "--device", "cuda"}, {"--devices", "2"}}) {
    EXPECT_LT(bytes("fp32", where), bytes("fp64", where));
    EXPECT_LT(bytes("fp32", where), bytes("fp32", {}));
  }
}

TEST(plan, says_what_a_system_takes_on_each_gpu) {
  const auto plan = [](const std::vector<std::string>& where) {
    std::vector<std::string> words{"solve", "gen:laplacian2d:n=1000", "--method", "cg"};
    words.insert(words.end(), where.begin(), where.end());
    return plan_of(words);
  };
  const double one = plan({"--device", "cuda"}).at("device_bytes");
  for (const std::vector<std::string>& where :
       {std::vector<std::string>{"--ranks", "4", "--device", "cuda"}, {"--devices", "4"}}) {
    const json four = plan(where);
    EXPECT_EQ(four.at("ranks"), 4);
    EXPECT_EQ(four.at("device_reason"), "as asked for");
    EXPECT_NEAR(four.at("device_bytes").get<double>(), one / 4, one / 20);
  }
  EXPECT_EQ(plan({"--ranks", "4"}).at("device"), "cpu");
  EXPECT_TRUE(plan({"--ranks", "4"}).at("device_bytes").is_null());
}

TEST(plan, goes_by_ranks) {
  const auto bytes = [](const std::string& ranks) {
    return plan_of({"bfs", "gen:rmat:scale=30", "--ranks", ranks}).at("host_bytes").get<double>();
  };
  EXPECT_NEAR(bytes("8") / bytes("64"), 8, 0.1);
  const json gpus = plan_of({"bfs", "gen:rmat:scale=30", "--devices", "8"});
  EXPECT_EQ(gpus.at("ranks"), 8);
  EXPECT_EQ(gpus.at("device"), "cuda:8");
  EXPECT_EQ(gpus.at("host_bytes"), 0) << "made on the GPUs";
  EXPECT_GT(gpus.at("device_bytes"), (std::int64_t{1} << 34) / 8 * 4);
}

// Several ranks have one algorithm; plan names it as the report of a run does.
TEST(plan, names_the_algorithm_of_several_ranks) {
  for (const auto& [command, algorithm] : {std::pair("bfs", "direction_optimizing"),
                                           std::pair("components", "afforest"), std::pair("pagerank", "jacobi")}) {
    const json plan = plan_of({command, "gen:rmat:scale=12,degree=8", "--ranks", "4"});
    EXPECT_EQ(plan.at("algorithm"), algorithm);
    EXPECT_EQ(plan_of({command, "gen:rmat:scale=12,degree=8"}).at("algorithm"), "auto");
  }
}

TEST(plan, takes_flags_before_the_input) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"pagerank", "--damping", "0.5", "gen:path:n=9"},
        {"pagerank", "gen:path:n=9", "--damping", "0.5"},
        {"pagerank", "--no-validate", "gen:path:n=9"}}) {
    const json plan = plan_of(words);
    EXPECT_EQ(plan.at("file"), "gen:path:n=9");
  }
  EXPECT_EQ(plan_of({"pagerank", "--ranks", "4", "gen:path:n=9"}).at("ranks"), 4);
}

TEST(plan, refuses_what_the_command_refuses) {
  const scratch folder;
  const std::string list = folder.write("a.el", "1 2\n");
  struct mistake {
    std::vector<std::string> words;
    std::string says;
  };
  for (const mistake& m :
       {mistake{{"sssp", list, "--ranks", "4"}, "sssp does not run on several processes (bfs, "},
        {{"pagerank", list, "--toleranse", "1"}, "--toleranse (did you mean --tolerance?)"},
        {{"pagerank", list, "--damping", "2"}, "--damping: 2"},
        {{"components", list, "--strong", "--ranks", "2"}, "--strong: not on several"},
        {{"pagerank", list, "--algorithm", "gauss_seidel", "--ranks", "2"}, "have jacobi only"},
        {{"bfs", list, "--max-depth", "2", "--ranks", "2"}, "--max-depth: not on several"},
        {{"spmv", "gen:path:n=9", "--ranks", "2", "--transpose"}, "--transpose: not on several"},
        {{"solve", "gen:path:n=9", "--ranks", "2", "--preconditioner", "ilu0"}, "(expected jacobi or none)"},
        {{"reorder", "gen:path:n=9", "--ranks", "2"}, "reorder does not run on several processes"},
        {{"bfs", list, "--ranks", "0"}, "--ranks"},
        {{"bfs"}, "FILE is required"},
        {{"sssp", list, "--devices", "2"}, "unknown flag: --devices (not on several GPUs; did you mean --device?)"}}) {
    std::vector<std::string> words = m.words;
    words.insert(words.begin(), "plan");
    const app_run run = run_app("spargo", words);
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(m.says), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
  const app_run none = run_app("spargo", {"plan", "bfs", folder / "none.el"});
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("none.el"), std::string::npos) << none.err;
}

TEST(plan, refuses_streams_whose_size_is_unknown) {
  const scratch folder;
  const std::string list = folder.write("a.el", "1 2\n");
  const std::string matrix = folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n");
  for (const std::string& line :
       {"cat '" + list + "' | $BIN/spargo plan bfs -", "$BIN/spargo plan bfs - < '" + list + "'",
        "cat '" + matrix + "' | $BIN/spargo plan spmv /dev/stdin"}) {
    const app_run run = run_shell(line);
    EXPECT_EQ(run.code, 1) << line << '\n' << run.out;
    EXPECT_NE(run.err.find("the size of a stream is not known"), std::string::npos) << run.err;
  }
  const app_run named = run_shell("$BIN/spargo plan spmv /dev/stdin < '" + matrix + "'");
  EXPECT_EQ(named.code, 0) << named.err;
}

TEST(plan, writes_no_output_and_says_why_a_device) {
  const scratch folder;
  const std::string list = folder.write("a.el", "1 2\n2 3\n");
  const app_run run = run_app("spargo", {"plan", "bfs", list, "--output", folder / "tree"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "tree"));
  for (const char* row : {"graph ", "host ", "device ", "time ", "algorithm "}) {
    EXPECT_NE(run.out.find(std::string("\n  ") + row), std::string::npos) << run.out;
  }
  EXPECT_NE(run.out.find("vertices not yet known, some 2 listed edges, directed"), std::string::npos) << run.out;
}

// The table and the job script of scaling.md, against the program.
TEST(scaling_page, says_what_the_plan_says) {
  std::istringstream lines(slurp(source_folder() + "/apps/docs/scaling.md"));
  std::size_t rows = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) inside = line == "## 10^11 edges";
    if (!inside || !line.starts_with("| `")) continue;
    ++rows;
    const std::size_t end = line.find('`', 3);
    std::istringstream command(line.substr(3, end - 3));
    std::vector<std::string> words;
    for (std::string word; command >> word;) words.push_back(word);
    std::string numbers = line.substr(end + 1);
    std::replace(numbers.begin(), numbers.end(), '|', ' ');
    std::istringstream said(numbers);
    double host_33 = 0, host_30 = 0, gpu_33 = 0, gpu_30 = 0;
    ASSERT_TRUE(said >> host_33 >> host_30 >> gpu_33 >> gpu_30) << line;
    const auto expect = [&](const std::string& graph, double host_bytes, double gpu_bytes) {
      std::vector<std::string> all = words;
      all.insert(all.begin() + 1, graph);
      all.insert(all.end(), {"--ranks", "128"});
      const json plan = plan_of(all);
      const double edges = plan.at("listed").get<double>() / 128;
      EXPECT_NEAR(plan.at("host_bytes").get<double>() / edges, host_bytes, 0.06) << line;
      EXPECT_NEAR(plan.at("device_bytes").get<double>() / edges, gpu_bytes, 0.06) << line;
    };
    expect("gen:rmat:scale=33,degree=12", host_33, gpu_33);
    expect("gen:rmat:scale=30,degree=96", host_30, gpu_30);
  }
  EXPECT_EQ(rows, 5U);
}

TEST(scaling_page, has_a_job_script_that_works) {
  const std::string page = slurp(source_folder() + "/apps/docs/scaling.md");
  const std::size_t begin = page.find("#!/bin/bash\n#SBATCH");
  ASSERT_NE(begin, std::string::npos);
  const scratch folder;
  const std::string script = folder.write("job", page.substr(begin, page.find("```", begin) - begin));
  // A scheduler with one task, which runs the given command.
  const std::string bin = folder / "bin";
  std::filesystem::create_directories(bin);
  spill(bin + "/srun", "#!/bin/sh\nexec \"$@\"\n");
  std::filesystem::permissions(bin + "/srun", std::filesystem::perms::owner_all);
  const auto submit = [&](const std::string& graph, const std::string& ranks) {
    return run_shell("cd '" + folder.path().string() + "' && PATH='" + bin + ":" + program_folder() +
                     "':$PATH SLURM_NTASKS=" + ranks + " SLURM_NTASKS_PER_NODE=1 SLURM_CPUS_PER_TASK=1 bash " + script +
                     " " + graph);
  };
  const app_run done = submit("gen:rmat:scale=8,degree=4", "4");
  EXPECT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_EQ(json::parse(slurp(folder / "bfs.json")).at("runs").at(0).at("valid"), true);
  const app_run refused = submit("gen:rmat:scale=36,degree=16", "2");
  EXPECT_EQ(refused.code, 1) << refused.out;
  EXPECT_NE(refused.err.find("ask for more hosts"), std::string::npos) << refused.err;
  if (std::system("command -v shellcheck > /dev/null") == 0) {
    const app_run check = run_shell("shellcheck '" + script + "'");
    EXPECT_EQ(check.code, 0) << check.out;
  }
}

}  // namespace
}  // namespace spargo::test
