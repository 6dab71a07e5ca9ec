// Memory of the programs: within --max-memory and the limit of a control group; work that cannot fit is refused before
// it begins, and work that fits is done.
#include "input/memory_limit.hpp"
#include "input/memory_need.hpp"

#include "apps/all_commands.hpp"
#include "apps/run_app.hpp"
#include "support/cgroup.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <zlib.h>

#include <chrono>
#include <map>

namespace spargo::apps {
namespace {

using test::app_run;
using test::expect_failure;
using test::run_app;
using test::run_shell;
using test::scratch;
using test::slurp;

// An app's exit code and its peak resident memory in bytes.
struct measured_run {
  int code = -1;
  std::int64_t peak = 0;
};

measured_run measure(const std::string& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = test::command_line(app, arguments);
  const std::vector<char*> argv = test::pointers_to(words);
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), std::int64_t{used.ru_maxrss} * 1024};
}

// A search of a path of 5 million vertices has 5 million levels, whose sizes take 40 MB.
TEST(max_memory, counts_the_levels_of_a_path) {
  constexpr std::int64_t limit = 300'000'000;
  constexpr std::int64_t besides = 40'000'000;  // the program, its stacks, and what a search cuts into chunks
  const scratch folder;
  std::vector<std::string> arguments = {"gen:path:n=5000000", "--device", "cpu", "--repeat", "1", "--threads", "2"};
  arguments.insert(arguments.end(), {"--max-memory", std::to_string(limit), "--quiet", "--json", folder / "report"});
  const measured_run run = measure("bfs", arguments);
  EXPECT_EQ(run.code, 0);
  EXPECT_LT(run.peak, limit + besides);
  const nlohmann::json report = nlohmann::json::parse(slurp(folder / "report"));
  EXPECT_EQ(report.at("runs").at(0).at("levels").size(), 5'000'000U);
}

// 48 MB of text, 128 MB as a matrix and its entries: in 64 MB it can only be rewritten line by line.
TEST(control_group, that_is_too_small_for_the_matrix_leaves_streaming) {
  const test::control_group group("memory", "memory.limit_in_bytes", "memory.max");
  if (!group.exists()) GTEST_SKIP() << "no control group of memory can be made here";
  const scratch folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n1 4000000 4000000\n";
  for (int k = 1; k <= 4'000'000; ++k) text += "1 " + std::to_string(k) + " 1\n";
  const std::string from = folder.write("a.mtx", text);
  const std::string to = folder / "b.mtx";
  ASSERT_TRUE(group.set(group.is_version_two() ? "memory.max" : "memory.limit_in_bytes", "67108864"));
  const std::string enter = "echo 0 > '" + group.procs() + "' && exec $BIN/";
  const app_run streamed = run_shell(enter + "convert --threads 2 --json - '" + from + "' '" + to + "'");
  ASSERT_EQ(streamed.code, 0) << streamed.err;
  EXPECT_EQ(streamed.json().at("streamed"), true);
  EXPECT_TRUE(slurp(to) == text);
  expect_failure(run_shell(enter + "info --threads 2 '" + from + "'"), "info", 1, "it takes at least 1");
}

// --- Before the work

constexpr const char* refused = "it takes at least ";

// The number of bytes in the refusal, rounded to three digits.
double bytes_refused(const app_run& run) {
  const std::size_t at = run.err.find(refused);
  if (run.code != 1 || at == std::string::npos) {
    ADD_FAILURE() << run.code << ": " << run.err;
    return 0;
  }
  std::istringstream text(run.err.substr(at + std::string(refused).size()));
  double number = 0;
  std::string unit;
  text >> number >> unit;
  const std::map<std::string, double> units = {{"bytes", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
  return units.count(unit) > 0 ? number * units.at(unit) : 0;
}

struct sized_work {
  std::string command;
  std::vector<std::string> arguments;
  double share;  // least ratio of the estimate to the memory used
};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// The estimate is at most the memory used, both by arrays and resident, and at least a share of it.
void expect_foreseen(const sized_work& work) {
  const std::string what = work.command + " " + testing::PrintToString(work.arguments);
  const std::vector<std::string> arguments =
      with(work.arguments, {"--device", "cpu", "--threads", "2", "--quiet", "--repeat", "1"});
  const std::vector<std::string> limited =
      work.command == "info" ? with(work.arguments, {"--threads", "2"}) : arguments;
  const double least = bytes_refused(run_app(work.command, with(limited, {"--max-memory", "3M"})));
  const scratch folder;
  const measured_run whole = measure(work.command, with(limited, {"--json", folder / "report"}));
  ASSERT_EQ(whole.code, 0) << what;
  const auto most = nlohmann::json::parse(slurp(folder / "report")).at("host_memory_bytes").get<std::int64_t>();
  std::printf("%-60s at least %6.1f MB, %6.1f taken, %.2f\n", what.c_str(), least / 1e6,
              static_cast<double>(most) / 1e6, least / static_cast<double>(most));
  EXPECT_LE(least, 1.005 * static_cast<double>(most)) << what;
  EXPECT_GE(least, work.share * static_cast<double>(most)) << what;
  const app_run within = run_app(work.command, with(limited, {"--max-memory", std::to_string(most)}));
  EXPECT_EQ(within.code, 0) << what << " in the " << most << " bytes that it took: " << within.err;
  EXPECT_LE(least, static_cast<double>(whole.peak)) << what << ", resident";
}

TEST(memory_foreseen, is_no_more_than_generated_graphs_take) {
  for (const sized_work& work : std::vector<sized_work>{
           {"bfs", {"gen:rmat:scale=18,degree=16"}, 0.7},
           {"bfs", {"gen:rmat:scale=18,degree=16", "--undirected"}, 0.8},
           {"bfs", {"gen:path:n=2000000"}, 0.7},
           {"bfs", {"gen:star:n=2000000", "--directed"}, 0.5},
           {"bfs", {"gen:uniform:rows=4000000,degree=1", "--source", "max-degree"}, 0.6},
           {"sssp", {"gen:grid2d:n=1000", "--weights", "random:1"}, 0.9},
           {"sssp", {"gen:rmat:scale=18,degree=16", "--weights", "random:1"}, 0.9},
           {"components", {"gen:uniform:rows=1000000,degree=4"}, 0.8},
           {"components", {"gen:uniform:rows=1000000,degree=4", "--strong"}, 0.6},
           {"pagerank", {"gen:uniform:rows=1000000,degree=8"}, 0.7},
           {"pagerank", {"gen:grid3d:n=100", "--iterations", "2"}, 0.9},
           {"betweenness", {"gen:grid2d:n=700", "--sources", "1"}, 0.35},
           {"triangles", {"gen:banded:rows=300000,degree=21", "--undirected"}, 0.9},
           {"triangles", {"gen:banded:rows=300000,degree=21", "--directed"}, 0.4},
           {"communities", {"gen:laplacian3d:n=90", "--method", "cdlp", "--iterations", "2"}, 0.9},
       }) {
    expect_foreseen(work);
  }
}

TEST(memory_foreseen, is_no_more_than_matrices_take) {
  for (const sized_work& work : std::vector<sized_work>{
           {"spmv", {"gen:uniform:rows=500000,degree=16"}, 0.9},
           {"spmv", {"gen:uniform:rows=500000,degree=16", "--precision", "fp32"}, 0.9},
           {"spmv", {"gen:laplacian3d:n=100"}, 0.9},
           {"spmv", {"gen:powerlaw:rows=300000,degree=16"}, 0.7},
           {"info", {"gen:powerlaw:rows=300000,degree=16"}, 0.8},
           {"info", {"gen:rmat:scale=17,degree=16"}, 0.9},
       }) {
    expect_foreseen(work);
  }
}

// 2^18 vertices, each joined to the `degree` preceding ones, in every text format.
std::string matrix_market(const std::string& symmetry, std::int64_t degree) {
  constexpr std::int64_t n = 1 << 18;
  std::string text;
  std::int64_t entries = 0;
  for (std::int64_t v = 1; v <= n; ++v) {
    for (std::int64_t u = std::max<std::int64_t>(1, v - degree); u < v; ++u, ++entries) {
      text += std::to_string(v) + " " + std::to_string(u) + " 2\n";
    }
  }
  const std::string sizes = std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(entries) + "\n";
  return "%%MatrixMarket matrix coordinate integer " + symmetry + "\n" + sizes + text;
}

std::string lines_of(const std::string& matrix, const std::string& before) {
  std::string text;
  std::istringstream lines(matrix);
  std::string line;
  for (int k = 0; std::getline(lines, line); ++k) {
    if (k > 1) text += before + line + "\n";
  }
  return text;
}

std::string metis_of(std::int64_t degree) {
  constexpr std::int64_t n = 1 << 17;
  std::string text;
  std::int64_t ends = 0;
  for (std::int64_t v = 1; v <= n; ++v) {
    for (std::int64_t u = std::max<std::int64_t>(1, v - degree); u <= std::min(n, v + degree); ++u) {
      if (u == v) continue;
      text += std::to_string(u) + " ";
      ++ends;
    }
    text += "\n";
  }
  return std::to_string(n) + " " + std::to_string(ends / 2) + "\n" + text;
}

std::string packed(const scratch& folder, const std::string& name, const std::string& text) {
  const gzFile file = ::gzopen((folder / name).c_str(), "wb");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  return folder / name;
}

TEST(memory_foreseen, is_no_more_than_files_take) {
  const scratch folder;
  const std::string general = matrix_market("general", 6);
  const std::string symmetric = matrix_market("symmetric", 6);
  const std::string list = lines_of(general, "");
  const std::string a = folder.write("a.mtx", general);
  const std::string b = folder.write("b.mtx", symmetric);
  const std::string el = folder.write("c.el", "# edges\n" + list);
  const std::string gr =
      folder.write("d.gr", "c arcs\np sp 262144 " + std::to_string(std::count(list.begin(), list.end(), '\n')) + "\n" +
                               lines_of(general, "a "));
  const std::string metis = folder.write("e.graph", "% METIS\n" + metis_of(4));
  const std::string gz = packed(folder, "g.mtx.gz", symmetric);
  std::string same = "%%MatrixMarket matrix coordinate pattern symmetric\n9 9 1500000\n";
  for (int k = 0; k < 1'500'000; ++k) same += k % 500 < 250 ? "7 7\n" : "7 3\n";
  const std::string loops = folder.write("h.mtx", same);
  for (const sized_work& work : std::vector<sized_work>{
           {"bfs", {a}, 0.5},
           {"bfs", {a, "--undirected"}, 0.7},
           {"bfs", {b}, 0.7},
           {"bfs", {b, "--directed"}, 0.3},
           {"bfs", {gz}, 0.3},
           {"bfs", {loops}, 0.3},
           {"bfs", {loops, "--directed"}, 0.4},
           {"spmv", {loops}, 0.3},
           {"bfs", {el}, 0.4},
           {"bfs", {gr}, 0.4},
           {"bfs", {metis}, 0.1},
           {"sssp", {a}, 0.8},
           {"sssp", {el}, 0.2},
           {"sssp", {gr}, 0.7},
           {"spmv", {a}, 0.7},
           {"spmv", {b}, 0.7},
           {"spmv", {gz}, 0.4},
           {"info", {a}, 0.9},
           {"info", {metis}, 0.1},
       }) {
    expect_foreseen(work);
  }
}

TEST(memory_foreseen, is_no_more_than_snapshots_take) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const std::string spg = folder / "f.spg";
  ASSERT_EQ(run_app("convert", {folder.write("a.mtx", matrix_market("general", 6)), spg, "--quiet"}).code, 0);
  expect_foreseen({"bfs", {spg}, 0.6});
  expect_foreseen({"spmv", {spg}, 0.05});
}

TEST(memory_foreseen, ends_what_cannot_fit_at_once) {
  std::vector<std::string> commands = test::computing_commands();
  commands.emplace_back("info");
  for (const std::string& command : commands) {
    const auto start = std::chrono::steady_clock::now();
    expect_failure(run_app(command, {"gen:rmat:scale=38,degree=16", "--device", "cpu"}), command, 1,
                   "gen:rmat:scale=38,degree=16: it takes at least 1");
    // 67 MB of entries with a limit of 100 MB.
    expect_failure(run_app(command, {"gen:rmat:scale=19,degree=16", "--device", "cpu", "--max-memory", "100M"}),
                   command, 1,
                   " of host memory, for 8,388,608 entries and 524,288 rows; 100 MB are available (see --max-memory)");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << command;
  }
}

// Missing entries are an error in the file, which the reader reports.
TEST(memory_foreseen, does_not_take_a_headers_word) {
  const scratch folder;
  const std::string matrix = "%%MatrixMarket matrix coordinate pattern general\n9 9 900000000000\n1 2\n3 4\n";
  const std::string limit = "12M";
  for (const std::string& path : {folder.write("a.mtx", matrix), packed(folder, "b.mtx.gz", matrix)}) {
    for (const char* command : {"bfs", "spmv", "info"}) {
      expect_failure(run_app(command, {path, "--max-memory", limit, "--threads", "1"}), command, 1,
                     "the file ends after 2 entries");
    }
  }
  expect_failure(run_app("bfs", {folder.write("a.gr", "p sp 9 900000000000\na 1 2 3\n"), "--max-memory", limit}), "bfs",
                 1, "the file ends after 1 arc (expected");
  const std::string room = "300M";  // METIS takes some for any text
  expect_failure(run_app("bfs", {folder.write("a.graph", "900000000 900000000000\n2\n1\n"), "--max-memory", room}),
                 "bfs", 1, "the file ends after 2 vertices");
  const app_run piped = run_shell("printf '2 1\\n2\\n1\\n' | $BIN/bfs - --threads 1 --device cpu --max-memory " + room);
  EXPECT_EQ(piped.code, 0) << piped.err;
}

TEST(memory_foreseen, samples_of_a_list_are_no_promise_where_it_is_thin) {
  const scratch folder;
  std::string text;
  std::int64_t lines = 0;
  for (; text.size() < 3'000'000; ++lines) text += std::to_string(lines) + " " + std::to_string(7 * lines) + "\n";
  const text_sample whole = sample_text(folder.write("a.el", text));
  EXPECT_LE(whole.edges, lines);
  EXPECT_GE(whole.edges, lines * 7 / 10);
  EXPECT_GT(whole.off_diagonal, 0.9);
  EXPECT_LT(whole.off_diagonal, 1);
  std::string loops;
  for (int k = 0; loops.size() < 400'000; ++k) loops += std::to_string(k) + " " + std::to_string(k) + "\n";
  EXPECT_EQ(sample_text(folder.write("e.el", text + loops)).off_diagonal, 0);
  EXPECT_GT(sample_text(folder.write("e.el", text + loops)).edges, lines * 7 / 10);
  EXPECT_EQ(sample_text(folder.write("b.el", text + std::string(400'000, '#') + "\n" + text)).edges, 0);
  EXPECT_EQ(sample_text(folder.write("c.el", text.substr(0, 900'000))).edges, 0);
  EXPECT_EQ(sample_text(packed(folder, "d.el.gz", text + text + text)).edges, 0);
  EXPECT_EQ(sample_text(folder / "none").edges, 0);
}

TEST(memory_foreseen, on_a_device_is_the_graph_and_its_results) {
  const context<host> ctx({.threads = 1});
  const input_description grid = describe_input(ctx, "gen:grid2d:n=1000");
  const input_size size = least_size(grid);
  constexpr std::int64_t rows = 3'996'000 * 4 + 1'000'001 * 4;
  const graph_need bfs{direction_kind::undirected, false, true, 0, {4, 1}};
  EXPECT_EQ(least_device_graph_bytes(size, bfs), rows + 8'000'000);
  const graph_need directed{direction_kind::directed, false, true, 4, {8, 0}};
  EXPECT_EQ(least_device_graph_bytes(size, directed), 2 * rows + 4 * 3'996'000 + 8'000'000);
  EXPECT_EQ(least_device_matrix_bytes(grid, size, 8), rows + 8 * 3'996'000 + 16'000'000);
  constexpr std::int64_t n = 3'000'000'000;
  const input_description path = describe_input(ctx, "gen:path:n=3000000000");
  EXPECT_EQ(least_device_graph_bytes(least_size(path), bfs), 8 * 2 * (n - 1) + 8 * (n + 1) + n * (4 + 8));
}

TEST(available_memory, is_what_the_system_says_and_swap) {
  const scratch folder;
  const std::string meminfo = "MemTotal:       9000 kB\nMemFree:   10 kB\nMemAvailable:    3000 kB\nSwapTotal: 99 kB\n";
  EXPECT_EQ(available_memory(folder.write("a", meminfo)), 3000 * 1024);
  EXPECT_EQ(available_memory(folder.write("b", meminfo + "SwapFree:        50 kB\n")), 3050 * 1024);
  EXPECT_EQ(available_memory(folder.write("c", "MemTotal: 9000 kB\n")), std::nullopt);
  EXPECT_EQ(available_memory(folder / "none"), std::nullopt);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(ulimit, is_known_before_the_work) {
  const std::string bfs = "$BIN/bfs gen:rmat:scale=24,degree=16 --device cpu --threads 2";
  expect_failure(run_shell("ulimit -v 3500000; " + bfs), "bfs", 1, "it takes at least 4.39 GB of host memory, for ");
  expect_failure(run_shell("ulimit -d 3000000; " + bfs), "bfs", 1, " rows; 3.0");
  const app_run small = run_shell("ulimit -v 3500000; $BIN/bfs gen:rmat:scale=12,degree=16 --device cpu --threads 2");
  EXPECT_EQ(small.code, 0) << small.err;
}
#endif

}  // namespace
}  // namespace spargo::apps
