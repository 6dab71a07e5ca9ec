// `bench` from the command line, on cases that take milliseconds.
#include "apps/bench_app.hpp"
#include "bench/page.hpp"
#include "cli/picture.hpp"

#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

namespace spargo::test {
namespace {

using nlohmann::json;

const char* const quick = "^pipeline/scale/.*host/(whole|automatic)$";

// The flag for a picture, if Cairo is available.
std::vector<std::string> with_plot(const std::string& path, std::vector<std::string> arguments) {
  if (apps::can_draw()) arguments.insert(arguments.begin(), {"--plot", path});
  return arguments;
}

TEST(BenchOutcome, IsWhatTheExceptionMeans) {
  using bench::outcome;
  EXPECT_EQ(bench::outcome_of(bench::wrong_result("a sum")), outcome::wrong);
  EXPECT_EQ(bench::outcome_of(std::runtime_error("a call")), outcome::failed);
  EXPECT_EQ(bench::outcome_of(error(error_code::device_failure, "a launch")), outcome::failed);
  EXPECT_EQ(bench::outcome_of(error(error_code::unsupported, "padding")), outcome::good);
  EXPECT_EQ(bench::outcome_of(error(error_code::out_of_memory, "a large case")), outcome::good);
  EXPECT_GT(outcome::wrong, outcome::failed);
}

TEST(Bench, ListsItsCases) {
  SPARGO_TEST_NEEDS_BENCH();
  const app_run run = run_app("bench", {"--list", quick});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("pipeline/scale/float/2^24/host/whole"), std::string::npos) << run.out;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 2) << run.out;
}

TEST(Bench, MistakesAreOneLine) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  expect_failure(run_app("bench", {"no_such_case"}), "bench", 2, "no_such_case");
  expect_failure(run_app("bench", {"--list", "no_such_case"}), "bench", 2, "no_such_case");
  expect_failure(run_app("bench", {""}), "bench", 2, "empty");
  expect_failure(run_app("bench", {"a("}), "bench", 2, "a(");
  expect_failure(run_app("bench", {"--no-such-flag"}), "bench", 2, "--no-such-flag");
  expect_failure(run_app("bench", {"--repetitions", "0", quick}), "bench", 2, "repetitions");
  expect_failure(run_app("bench", {"--device", "tpu"}), "bench", 2, "tpu");
  expect_failure(run_app("bench", {"--json", folder / "no/such.json", quick}), "bench", 1, "no/such.json");
  expect_failure(run_app("bench", {"--plot", folder / "r.jpg", quick}), "bench", 2, "expected .png, .svg or .pdf");
  expect_failure(run_app("bench", {"--plot", folder / "no/such.svg", quick}), "bench", 1,
                 apps::can_draw() ? "no/such.svg" : "--plot: this build has no Cairo");
  if (!gpu().usable()) expect_failure(run_app("bench", {"--device", "cuda", quick}), "bench", 1, gpu().reason);
}

// Runs `bench` until its output or the folder satisfies the condition, then sends a signal. Returns the signal that
// ended it, or minus the exit code. TMPDIR is `temporary`.
int interrupted(const std::vector<std::string>& arguments, const std::string& out, const std::string& temporary,
                int signal, const std::function<bool()>& wanted) {
  std::vector<std::string> words = command_line("bench", arguments);
  const std::vector<char*> argv = pointers_to(words);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("TMPDIR", temporary.c_str(), 1);
    const int file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, 1);
    ::dup2(file, 2);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  while (!wanted()) {
    if (::waitpid(child, &status, WNOHANG) != 0) return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(child, signal);
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

TEST(Bench, KeepsWhatWasMeasuredBeforeAnInterrupt) {
  SPARGO_TEST_NEEDS_BENCH();
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) {
    const scratch folder;
    const scratch others;
    const std::string results = folder.write("r.json", "old");
    const std::string out = others / "out";
    const int how = interrupted(
        with_plot(folder / "r.svg",
                  {"--device", "cpu", "--threads", "1", "--json", results, "^(pipeline/scale|reduce|scan)/"}),
        out, folder.path().string(), signal, [&] { return slurp(out).find(" ms\n") != std::string::npos; });
    EXPECT_EQ(how, signal) << slurp(out);
    const json got = json::parse(slurp(results), nullptr, false);
    ASSERT_FALSE(got.is_discarded()) << slurp(results);
    EXPECT_GE(got["benchmarks"].size(), 1U);
    EXPECT_EQ(got["context"]["interrupted_by"], ::strsignal(signal));
    EXPECT_EQ(got["context"]["host_threads"], "1");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "something is left";
  }
}

// The report is on standard error here, the lines on standard output: with as many lines as finished cases.
TEST(Bench, PrintsWhatWasMeasuredBeforeAnInterrupt) {
  SPARGO_TEST_NEEDS_BENCH();
  for (const std::string form : {"csv", "json", "table"}) {
    const scratch others;
    const std::string out = others / "out";
    const int how =
        interrupted({"--device", "cpu", "--threads", "1", "--print", form, "^(pipeline/scale|reduce|scan)/"}, out,
                    others.path().string(), SIGINT, [&] { return slurp(out).find(" ms\n") != std::string::npos; });
    EXPECT_EQ(how, SIGINT) << slurp(out);
    const std::string text = slurp(out);
    const std::size_t lines = text.rfind(form == "json" ? "[" : "group");
    ASSERT_NE(lines, std::string::npos) << text;
    const std::string printed = text.substr(lines);
    EXPECT_NE(printed.find("pipeline/scale"), std::string::npos) << text;
    if (form == "json") {
      EXPECT_FALSE(json::parse(printed, nullptr, false).is_discarded()) << printed;
    }
  }
}

TEST(Bench, LeavesNoTextBehindAnInterrupt) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const scratch others;
  const auto begun = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      std::error_code gone;
      if (std::filesystem::file_size(entry.path(), gone) > 0 && !gone) return true;
    }
    return false;
  };
  const int how =
      interrupted({"--device", "cpu", "^read/edges/"}, others / "out", folder.path().string(), SIGINT, begun);
  EXPECT_EQ(how, SIGINT) << slurp(others / "out");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 0) << "something is left";
}

TEST(Bench, WritesResultsAloneToStandardOutput) {
  SPARGO_TEST_NEEDS_BENCH();
  const app_run run = run_app("bench", {"--device", "cpu", "--threads", "1", "--json", "-", quick});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["benchmarks"].size(), 2U);
  EXPECT_NE(run.err.find("median ms"), std::string::npos);
}

TEST(Bench, WritesResultsAndPicture) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const std::string results = folder.write("r.json", "old");
  const std::string picture = folder / "r.svg";
  const app_run run = run_app("bench", with_plot(picture, {"--repetitions", "3", "--threads", "1", "--json", results,
                                                           "--device", "cpu", quick}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("median ms"), std::string::npos);

  const json got = json::parse(slurp(results), nullptr, false);
  ASSERT_FALSE(got.is_discarded());
  const json& context = got["context"];
  EXPECT_FALSE(context.contains("library_build_type")) << "how another library was built";
  EXPECT_EQ(context["executable"], "spargo bench");
  EXPECT_EQ(context["host_threads"], "1");
  const std::string command = context["command_line"];
  EXPECT_TRUE(command.starts_with("spargo bench ")) << command;
  EXPECT_NE(command.find(" --repetitions 3 --threads 1 --json "), std::string::npos) << command;
  EXPECT_TRUE(command.ends_with("'" + std::string(quick) + "'")) << command;

  // Every repetition, and the medians of the table.
  std::map<std::string, std::vector<double>> times;
  std::map<std::string, double> medians;
  for (const json& row : got["benchmarks"]) {
    const std::string rung = row["run_name"];
    EXPECT_TRUE(rung.ends_with("/host/whole") || rung.ends_with("/host/automatic")) << rung;
    EXPECT_TRUE(row["name"].get<std::string>().starts_with(rung)) << row["name"];
    EXPECT_EQ(row["name"].get<std::string>().find_first_of(":"), std::string::npos) << row["name"];
    if (row.value("aggregate_name", "median") == "median") {
      EXPECT_EQ(row["host_threads"].get<double>(), 1);
    }
    if (row["run_type"] == "iteration") times[rung.substr(rung.rfind('/') + 1)].push_back(row["real_time"]);
    if (row.value("aggregate_name", "") == "median") medians[rung.substr(rung.rfind('/') + 1)] = row["real_time"];
  }
  ASSERT_EQ(times.size(), 2U);
  ASSERT_EQ(medians.size(), 2U);
  for (auto& [rung, all] : times) {
    ASSERT_EQ(all.size(), 3U);
    std::sort(all.begin(), all.end());
    EXPECT_DOUBLE_EQ(medians.at(rung), all[1]);
  }
  if (apps::can_draw()) {
    EXPECT_TRUE(slurp(picture).starts_with("<?xml")) << slurp(picture).substr(0, 100);
  }
  // No other files remain.
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, apps::can_draw() ? 2U : 1U);
}

TEST(Bench, WritesAPage) {
  SPARGO_TEST_NEEDS_BENCH();
  const scratch folder;
  const app_run run = run_app(
      "bench", {"--repetitions", "2", "--threads", "1", "--device", "cpu", "--report", folder / "r.html", quick});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string page = slurp(folder / "r.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n")) << page.substr(0, 100);
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* part : {"prefers-color-scheme:dark", "name=\"viewport\"", "To repeat it",
                           "spargo bench --repetitions 2", "<svg", "<title>automatic: ", ">1 thread<",
                           "<p class=\"verdict good\"><bdi>valid: no result was wrong</bdi></p>", "<dt>GPU</dt>"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  // Processor and date, as on every command's page.
  const std::regex origin("<footer>Spargo [0-9.]+, 20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ, ([^<]+)</footer>");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(page, found, origin)) << page.substr(page.size() - 300);
  EXPECT_NE(page.find("<dt>processor</dt><dd><bdi>" + found[1].str() + "</bdi></dd>"), std::string::npos);
  for (const char* part : {"<script", "http:", "https:", "url(", "@import"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
}

TEST(Bench, ThePageSaysWhatWentWrong) {
  std::vector<bench::measured_case> cases{{.group = "scan", .rung = "fast", .milliseconds = 2},
                                          {.group = "scan", .rung = "no", .failed = "skipped: padding"}};
  const auto page = [&](bench::outcome how, bool choices_are_good) {
    bench::worst_outcome() = how;
    const std::string html = bench::page_of(cases, "1 thread", "none", choices_are_good);
    bench::worst_outcome() = bench::outcome::good;
    const std::size_t at = html.find("<p class=\"verdict");
    return html.substr(at, html.find("</bdi>", at) - at);
  };
  EXPECT_EQ(page(bench::outcome::good, true),
            "<p class=\"verdict good\"><bdi>valid: no result was wrong (1 case skipped)");
  EXPECT_NE(page(bench::outcome::good, false).find("wrong\"><bdi>automatic is slower"), std::string::npos);
  cases.push_back({.group = "scan", .rung = "bad", .failed = "WRONG: element 3"});
  cases.push_back({.group = "scan", .rung = "dead", .failed = "FAILED: a launch"});
  EXPECT_EQ(page(bench::outcome::wrong, true), "<p class=\"verdict wrong\"><bdi>WRONG: 1 result (1 case skipped)");
  cases.erase(cases.begin() + 2);
  EXPECT_EQ(page(bench::outcome::failed, true), "<p class=\"verdict wrong\"><bdi>FAILED: 1 case (1 case skipped)");
  cases.erase(cases.begin());
  cases.pop_back();
  EXPECT_EQ(page(bench::outcome::good, true), "<p class=\"verdict\"><bdi>nothing was measured");
}

TEST(Bench, SaysThatStandardOutputIsFull) {
  SPARGO_TEST_NEEDS_BENCH();
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const char* arguments : {"--list", "spmv gen:path:n=9 --device cpu --threads 1"}) {
    expect_failure(run_shell(std::string("$BIN/bench ") + arguments + " > /dev/full"), "bench", 1,
                   "cannot write to standard output");
  }
}

TEST(Bench, PrintsALinePerCase) {
  SPARGO_TEST_NEEDS_BENCH();
  const auto printed = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--device", "cpu", "--threads", "1"});
    return run_app("bench", arguments);
  };
  const app_run csv = printed({"--print", "csv", quick});
  EXPECT_EQ(csv.code, 0) << csv.err;
  EXPECT_TRUE(std::regex_match(
      csv.out, std::regex("group,algorithm,peer,median_ms,threads,gbytes_per_s,gflops,mteps,ceiling_fraction,ceiling,"
                          "times_best_peer,not_measured\n(pipeline/scale/float/2\\^24/host,(whole|automatic),false,"
                          "[0-9.]+,1,[0-9.]+,[^\n]*\n){2}")))
      << csv.out;
  EXPECT_NE(csv.err.find("median ms"), std::string::npos) << "the report goes to standard error";

  const scratch folder;
  const std::string results = folder / "r.json";
  const app_run objects =
      printed({"--print", "json", "--json", results, "^bfs/.*(boost|optimizing)", "gen:rmat:scale=8,degree=8"});
  ASSERT_EQ(objects.code, 0) << objects.err;
  const json lines = objects.json();
  const json full = json::parse(slurp(results))["benchmarks"];
  ASSERT_EQ(lines.size(), full.size());
  EXPECT_EQ(json::parse(slurp(results))["context"]["command_line"].get<std::string>().find("spargo bench --print"), 0U);
  bool has_peer = false;
  for (const json& line : lines) {
    const std::string name = line["group"].get<std::string>() + "/" + line["algorithm"].get<std::string>();
    const auto same = std::find_if(full.begin(), full.end(), [&](const json& row) { return row["run_name"] == name; });
    ASSERT_NE(same, full.end()) << name;
    EXPECT_EQ(line["median_ms"], (*same)["real_time"]) << name;
    EXPECT_EQ(line["not_measured"], nullptr) << name;
    has_peer = has_peer || line["peer"] == true;
    EXPECT_EQ(line["peer"] == true, line["algorithm"].get<std::string>().starts_with("boost")) << name;
  }
  EXPECT_TRUE(has_peer);
  const app_run table = printed({"--print", "table", quick});
  EXPECT_TRUE(table.out.starts_with("group ")) << table.out;

  expect_failure(run_app("bench", {"--print", "xml", quick}), "bench", 2, "xml is not a form");
  expect_failure(run_app("bench", {"--print", "csv", "--json", "-", quick}), "bench", 2, "the same output");
  expect_failure(run_app("bench", {"--print", "csv", "--list", quick}), "bench", 2, "--list");
}

// The report names the best peer with its threads, and skipped peers; it says nothing about how another library was
// built.
TEST(Bench, NamesTheBestPeerAndTheThreadsOfEachSide) {
  SPARGO_TEST_NEEDS_BENCH();
  const std::string graph = "gen:rmat:scale=8,degree=8";
  const app_run all = run_app("bench", {"^bfs/.*(boost|optimizing)", graph, "--device", "cpu", "--threads", "2"});
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ((all.out + all.err).find("DEBUG"), std::string::npos) << all.out << all.err;
  EXPECT_NE(all.out.find("/cpu: best peer boost+parents, 1 thread\n"), std::string::npos) << all.out;
  std::istringstream lines(all.out.substr(all.out.find("best peer")));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string rung, star;
    double milliseconds = 0, threads = 0;
    words >> rung;
    if (rung.starts_with("boost")) words >> star;
    if (!rung.starts_with("boost") && !rung.starts_with("direction_optimizing")) continue;
    words >> milliseconds >> threads;
    EXPECT_EQ(threads, rung.starts_with("boost") ? 1 : 2) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 3) << all.out;

  const app_run ours = run_app("bench", {"^bfs/.*optimizing$", graph, "--device", "cpu"});
  ASSERT_EQ(ours.code, 0) << ours.err;
  EXPECT_NE(ours.out.find("/cpu: peers not run: boost+parents\n"), std::string::npos) << ours.out;
}

TEST(Bench, OccupancyNeedsADevice) {
  SPARGO_TEST_NEEDS_BENCH();
  if (!gpu().usable()) expect_failure(run_app("bench", {"occupancy"}), "bench", 1, "occupancy: " + gpu().reason);
}

// One line per kernel of this library, with plausible numbers, and none for kernels of other libraries.
TEST(Bench, OccupancyListsTheKernels) {
  SPARGO_TEST_NEEDS_BENCH();
  SPARGO_TEST_NEEDS_GPU();
  const app_run run = run_app("bench", {"occupancy/reduce_tiles|merge_path"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find(" SMs of "), std::string::npos);
  std::istringstream lines(run.out);
  int kernels = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("reduce_tiles") == std::string::npos && line.find("merge_path") == std::string::npos) continue;
    std::istringstream words(line);
    int registers = 0;
    long shared = 0;
    long local = 0;
    int threads = 0;
    int blocks = 0;
    words >> registers >> shared >> local >> threads >> blocks;
    EXPECT_TRUE(words) << line;
    EXPECT_TRUE(registers > 0 && registers <= 255 && threads > 0 && threads <= 1024 && blocks > 0) << line;
    ++kernels;
  }
  EXPECT_GT(kernels, 20);
  expect_failure(run_app("bench", {"occupancy/no_such_kernel"}), "bench", 1, "no_such_kernel");
}

TEST(Bench, ResultsNameTheDevice) {
  SPARGO_TEST_NEEDS_BENCH();
  SPARGO_TEST_NEEDS_GPU();
  const scratch folder;
  const std::string results = folder / "r.json";
  const app_run run = run_app("bench", {"--json", results, "^access/offset/.*/offset_1$"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json context = json::parse(slurp(results))["context"];
  EXPECT_EQ(context["device"], gpu().reason);
  EXPECT_GT(std::stod(context["ceiling_device_copy_bytes_per_second"].get<std::string>()), 1e9);
  for (const char* key : {"cuda_driver", "cuda_runtime", "device_multiprocessors"}) EXPECT_TRUE(context.contains(key));
}

}  // namespace
}  // namespace spargo::test
