// `bench` as a user runs it, on cases that take milliseconds, and the pictures it draws.
#include "apps/run_app.hpp"
#include "bench/outcome.hpp"
#include "bench/plot.hpp"

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

using bench::measured_case;
using nlohmann::json;

const char* const quick = "^pipeline/scale/.*host/(whole|automatic)$";

#define SPARGO_TEST_NEEDS_BENCH()                                                  \
  do {                                                                             \
    if (!std::filesystem::exists(std::string(SPARGO_BIN_DIR) + "/spargo-bench")) { \
      GTEST_SKIP() << "the benchmarks were not built";                             \
    }                                                                              \
  } while (false)

// A reader of the little XML that pictures are made of: every tag closed in its turn, attributes quoted, no stray < or
// &. Gives the attributes of each element by its name and class.
struct element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string content;

  [[nodiscard]] double number(const std::string& key) const { return std::stod(attributes.at(key)); }
};

std::string unescape(std::string text) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

std::vector<element> parse_xml(const std::string& text) {
  static const std::regex tag(R"re(<(/?)([A-Za-z]+)((?:\s+[A-Za-z0-9:-]+="[^"<]*")*)\s*(/?)>)re");
  static const std::regex attribute(R"re(([A-Za-z0-9:-]+)="([^"]*)")re");
  static const std::regex stray(R"(<|&(?!(lt|gt|quot|amp);))");
  std::vector<element> found;
  std::vector<std::size_t> open;
  auto at = text.cbegin();
  std::smatch match;
  while (std::regex_search(at, text.cend(), match, tag)) {
    const std::string between = match.prefix();
    EXPECT_FALSE(std::regex_search(between, stray)) << "stray markup in: " << between;
    if (!open.empty()) found[open.back()].content += unescape(between);
    if (match[1].length() != 0) {
      if (open.empty() || found[open.back()].name != match[2]) {
        ADD_FAILURE() << "</" << match[2] << "> closes nothing";
        return found;
      }
      open.pop_back();
    } else {
      element e;
      e.name = match[2];
      const std::string list = match[3];
      for (std::sregex_iterator a(list.begin(), list.end(), attribute), end; a != end; ++a) {
        EXPECT_TRUE(e.attributes.emplace((*a)[1], unescape((*a)[2])).second) << "twice: " << *a->begin();
      }
      found.push_back(e);
      if (match[4].length() == 0) open.push_back(found.size() - 1);
    }
    at = match.suffix().first;
  }
  EXPECT_TRUE(open.empty()) << "an element is not closed";
  const std::string rest(at, text.cend());
  EXPECT_EQ(rest.find_first_not_of(" \n"), std::string::npos) << rest;
  return found;
}

std::vector<element> of_class(const std::vector<element>& all, const std::string& name) {
  std::vector<element> some;
  for (const element& e : all) {
    const auto at = e.attributes.find("class");
    if (at != e.attributes.end() && at->second == name) some.push_back(e);
  }
  return some;
}

bool has_text(const std::vector<element>& all, const std::string& says) {
  return std::any_of(all.begin(), all.end(),
                     [&](const element& e) { return e.name == "text" && e.content.find(says) != std::string::npos; });
}

const std::vector<measured_case>& ladder() {
  static const std::vector<measured_case> cases{
      {.group = "reduce/a", .rung = "automatic", .milliseconds = 0.25, .fraction = 0.8, .ceiling = "read"},
      {.group = "reduce/a", .rung = "cub", .milliseconds = 0.4, .peer = true},
      {.group = "reduce/a", .rung = "slow <&\"> one", .milliseconds = 5, .fraction = 0.04, .ceiling = "read"},
      {.group = "reduce/b", .rung = "automatic", .failed = "skipped: no <device>"},
      {.group = "reduce/b", .rung = "fast", .milliseconds = 2},
      {.group = "reduce/b", .rung = "half", .milliseconds = 4},
  };
  return cases;
}

TEST(BenchPlot, BarsAreTheRates) {
  const std::vector<element> all = parse_xml(bench::plot_ladder(ladder(), "a machine"));
  const std::vector<element> bars = of_class(all, "bar");
  std::vector<std::string> rungs;
  for (const element& bar : bars) rungs.push_back(bar.attributes.at("data-rung"));
  EXPECT_EQ(rungs, (std::vector<std::string>{"automatic", "slow <&\"> one", "cub", "fast", "half"}));
  ASSERT_EQ(bars.size(), 5U);
  // Within a group, length times time is the same.
  const auto work = [&](std::size_t k) { return bars[k].number("width") * bars[k].number("data-ms"); };
  EXPECT_NEAR(work(1) / work(0), 1, 1e-3);
  EXPECT_NEAR(work(2) / work(0), 1, 1e-3);
  EXPECT_NEAR(work(4) / work(3), 1, 1e-3);
  EXPECT_EQ(bars[0].number("data-ms"), 0.25);
  EXPECT_EQ(bars[2].number("data-ms"), 0.4);
  EXPECT_GT(bars[3].number("width"), 100);
  EXPECT_NE(bars[2].attributes.at("fill"), bars[1].attributes.at("fill"));
}

TEST(BenchPlot, TheCeilingIsWhereItsOwnBarWouldEnd) {
  const std::vector<element> all = parse_xml(bench::plot_ladder(ladder(), "a machine"));
  const std::vector<element> lines = of_class(all, "ceiling");
  ASSERT_EQ(lines.size(), 1U);
  const element bar = of_class(all, "bar").front();
  EXPECT_NEAR(lines[0].number("x1"), bar.number("x") + bar.number("width") / 0.8, 0.1);
  EXPECT_EQ(lines[0].number("x1"), lines[0].number("x2"));
  EXPECT_TRUE(has_text(all, "100 % of read: 200 \u00b5s"));
  EXPECT_TRUE(has_text(all, "250 \u00b5s \u00b7 80 %"));
  EXPECT_TRUE(has_text(all, "5.00 ms \u00b7 4.0 %"));
}

TEST(BenchPlot, SkippedCasesSayWhy) {
  const std::string picture = bench::plot_ladder(ladder(), "a machine");
  EXPECT_TRUE(has_text(parse_xml(picture), "skipped: no <device>"));
  EXPECT_TRUE(has_text(parse_xml(picture), "a machine"));
}

// No number of the picture is NaN, infinite or outside of it, whatever the times are.
TEST(BenchPlot, HoldsUpUnderOddNumbers) {
  const double nan = std::nan("");
  std::vector<measured_case> cases = ladder();
  for (const double ms : {0.0, -1.0, nan, HUGE_VAL, 1e-9, 1e12}) {
    for (const double fraction : {0.0, nan, HUGE_VAL, 1e-12, 3.0}) {
      cases.push_back({.group = "odd", .rung = "r", .milliseconds = ms, .fraction = fraction, .ceiling = "copy"});
    }
  }
  const std::string picture = bench::plot_ladder(cases, "");
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(picture.find("inf"), std::string::npos);
  const std::vector<element> all = parse_xml(picture);
  for (const element& bar : of_class(all, "bar")) {
    EXPECT_GE(bar.number("width"), 0);
    EXPECT_LE(bar.number("x") + bar.number("width"), 900);
    EXPECT_LE(bar.number("y") + bar.number("height"), all.front().number("height"));
  }
  EXPECT_EQ(parse_xml(bench::plot_ladder({}, "")).front().name, "svg");
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
  expect_failure(run_app("bench", {"--plot", folder / "no/such.svg", quick}), "bench", 1, "no/such.svg");
  if (!gpu().usable()) expect_failure(run_app("bench", {"--device", "cuda", quick}), "bench", 1, gpu().reason);
}

// Runs `bench` until its output or the folder is as wanted, and sends it a signal then: the signal that ended it, or
// minus the exit code. TMPDIR is `temporary`.
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
    const int how =
        interrupted({"--device", "cpu", "--threads", "1", "--json", results, "--plot", folder / "r.svg",
                     "^(pipeline/scale|reduce|scan)/"},
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
  const app_run run = run_app("bench", {"--repetitions", "3", "--threads", "1", "--json", results, "--plot", picture,
                                        "--device", "cpu", quick});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("median ms"), std::string::npos);

  const json got = json::parse(slurp(results), nullptr, false);
  ASSERT_FALSE(got.is_discarded());
  const json& context = got["context"];
  EXPECT_FALSE(context.contains("library_build_type")) << "how another library was built";
  EXPECT_EQ(context["executable"], "spargo bench");
  EXPECT_EQ(context["host_threads"], "1");
  const std::string command = context["command_line"];
  EXPECT_TRUE(command.starts_with("spargo bench --repetitions 3 --threads 1 --json")) << command;
  EXPECT_TRUE(command.ends_with("'" + std::string(quick) + "'")) << command;

  // Every repetition, and the medians that the table and the picture show.
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
  const std::vector<element> bars = of_class(parse_xml(slurp(picture)), "bar");
  ASSERT_EQ(bars.size(), 2U);
  for (const element& bar : bars) {
    const std::string rung = bar.attributes.at("data-rung");
    std::vector<double>& all = times.at(rung);
    ASSERT_EQ(all.size(), 3U);
    std::sort(all.begin(), all.end());
    EXPECT_DOUBLE_EQ(medians.at(rung), all[1]);
    EXPECT_NEAR(bar.number("data-ms") / all[1], 1, 1e-6);
  }
  // Nothing but what was asked for lies about.
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 2U);
}

// The best peer is named with its threads, and so is what was left out; nothing is said of how another library was
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

// A line a kernel of the library: plausible numbers, and another library's kernels left out.
TEST(Bench, OccupancyListsTheKernels) {
  SPARGO_TEST_NEEDS_BENCH();
  SPARGO_TEST_NEEDS_GPU();
  const app_run run = run_app("bench", {"occupancy/reduce_tiles|merge_path"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("multiprocessors"), std::string::npos);
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
