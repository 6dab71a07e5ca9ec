// `spargo COMMAND`: the command that runs, its name, and the error for an unknown one.
#include "apps/all_commands.hpp"
#include "apps/run_here.hpp"
#include "commands/table.hpp"

#include <spargo/core/config.hpp>

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <set>

namespace spargo {
namespace {

using test::app_run;
using test::expect_failure;
using test::run_app;
using test::run_here;
using test::scratch;

TEST(dispatch, runs_the_command_as_its_own_program_does) {
  const scratch folder;
  const std::string edges = folder.write("a.el", "1 2\n2 3\n");
  for (const std::string command : {"bfs", "spmv"}) {
    const std::string file = command == "bfs" ? edges : "gen:path:n=3";
    const app_run alone = run_app(command, {file, "--device", "cpu", "--json", "-"});
    const app_run together = run_app("spargo", {command, file, "--device", "cpu", "--json", "-"});
    EXPECT_EQ(together.code, 0) << together.err;
    EXPECT_EQ(together.json().at("app"), command);
    for (const char* key : {"app", "file", "device", "algorithm"}) EXPECT_EQ(together.json()[key], alone.json()[key]);
  }
  for (const std::string command : {"info", "convert"}) {
    std::vector<std::string> arguments = {command, edges, "--json", "-"};
    if (command == "convert") arguments.push_back(folder / "b.mtx");
    EXPECT_EQ(run_app("spargo", arguments).json().at("app"), command);
  }
}

TEST(dispatch, names_errors_after_what_was_called) {
  const scratch folder;
  const std::string bad = folder.write("bad.el", "1 2\n3 six\n");
  for (const char* command : {"bfs", "info"}) {
    const app_run run = run_app("spargo", {command, bad});
    EXPECT_EQ(run.code, 1);
    EXPECT_TRUE(run.err.starts_with("spargo " + std::string(command) + ": " + bad + ":2:3: ")) << run.err;
  }
  EXPECT_TRUE(run_app("bfs", {bad}).err.starts_with(test::called("bfs") + ": " + bad + ":2:3: "));
  const app_run wrong = run_app("spargo", {"spmv", "--no-such-flag"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(wrong.err.starts_with("spargo spmv: ")) << wrong.err;
  EXPECT_NE(wrong.err.find("(see spargo spmv --help)"), std::string::npos) << wrong.err;
}

TEST(dispatch, names_warnings_after_what_was_called) {
  const scratch folder;
  const std::string weights = folder.write("w.graph", "2 1 011\n5 2 1\n6 1 1\n");
  EXPECT_TRUE(run_app("spargo", {"bfs", weights, "--device", "cpu"}).err.starts_with("spargo bfs: warning: "));
  EXPECT_TRUE(run_app("bfs", {weights, "--device", "cpu"}).err.starts_with(test::called("bfs") + ": warning: "));
}

// The library's errors also begin with "bfs", which must not appear twice.
TEST(dispatch, does_not_double_the_name) {
  const app_run run = run_app("spargo", {"bfs", "gen:path:n=3", "--algorithm", "global_queue", "--device", "cpu"});
  EXPECT_NE(run.code, 0);
  EXPECT_EQ(run.err.find("bfs: bfs: "), std::string::npos) << run.err;
}

TEST(unknown_command, is_answered_with_the_nearest_one) {
  for (const auto& [word, guess] : {std::pair("bsf", "bfs"), std::pair("bf", "bfs"), std::pair("smpv", "spmv"),
                                    std::pair("SPMV", ""), std::pair("inf", "info"), std::pair("covnert", "convert"),
                                    std::pair("xyzzy", ""), std::pair("graph.mtx", "")}) {
    const std::string see =
        *guess == '\0' ? "(see spargo --help)\n" : "(did you mean " + std::string(guess) + "? see spargo --help)\n";
    expect_failure(run_app("spargo", {word}), "spargo", 2, "no command '" + std::string(word) + "' " + see);
    expect_failure(run_app("spargo", {"help", word}), "help", 2, "no command '" + std::string(word) + "' " + see);
  }
  expect_failure(run_app("spargo", {""}), "spargo", 2, "no command ''");
  expect_failure(run_app("spargo", {std::string(100'000, 'b')}), "spargo", 2, "(see spargo --help)");
  expect_failure(run_app("spargo", {"--device", "cpu"}), "spargo", 2, "--device");
}

TEST(version, is_that_of_the_library) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--version"}, {"bfs", "--version"}}) {
    const app_run run = run_app("spargo", words);
    EXPECT_EQ(run.code, 0);
    EXPECT_TRUE(run.out.starts_with(words.size() == 1 ? "spargo " : "spargo bfs ")) << run.out;
    EXPECT_NE(run.out.find(SPARGO_VERSION_STRING), std::string::npos) << run.out;
    for (const char* library : {"CUDA", "MPI", "Cairo", "xxHash"}) {
      EXPECT_NE(run.out.find(library), std::string::npos) << run.out;
    }
    EXPECT_EQ(run.out.find("without CUDA") == std::string::npos, config::has_cuda) << run.out;
  }
}

TEST(unknown_flags, are_named_in_order_with_the_nearest) {
  for (const auto& [words, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--toleranse", "1e-3"},
            "unknown flag: --toleranse (did you mean --tolerance?) (see spargo pagerank --help)"},
           {{"--toleranse=1e-3"}, "unknown flag: --toleranse (did you mean --tolerance?)"},
           {{"--format", "csv"}, "unknown flag: --format (did you mean --print?)"},
           {{"--zeta", "20", "--dampin", ".5"}, "unknown flag: --zeta, --dampin (did you mean --damping?)"},
           {{"--png", "a.png"}, "unknown flag: --png (did you mean --report?)"},
           {{"-x"}, "unknown flag: -x "},
           {{"--top"}, "--top takes a value, K, and none follows (see"},
           {{"--ranks", "2"}, "unknown flag: --ranks (of spargo plan; mpirun -n P runs P processes)"},
           {{"b.el", "c.el"}, "unexpected argument: b.el, c.el"},
           {{"--weights", "--output", "o.csv"}, "--weights takes a value, and --output follows (see spargo pagerank "},
           {{"--weights", "--quiet"}, "--weights takes a value, and --quiet follows"},
           {{"--output", "--threads=2"}, "--output takes a value, and --threads=2 follows"},
           {{"--output", "--quiet"}, "--output takes a value, and --quiet follows"}}) {
    std::vector<std::string> all = {"pagerank", "a.el"};
    all.insert(all.end(), words.begin(), words.end());
    expect_failure(run_app("spargo", all), "pagerank", 2, says);
  }
  expect_failure(run_app("spargo", {"pagerank", "--toleranse", "1"}), "pagerank", 2, "unknown flag: --toleranse");
  expect_failure(run_app("spargo", {"pagerank", "--zeta"}), "pagerank", 2, "unknown flag: --zeta");
  for (const auto& [command, flag] :
       {std::pair("layout", "image"), std::pair("solve", "plot"), std::pair("info", "spy")}) {
    expect_failure(run_app("spargo", {command, "a.el", "--picture", "a.png"}), command, 2,
                   std::string("unknown flag: --picture (did you mean --") + flag + "?)");
  }
  expect_failure(run_app("spargo", {"sssp", "a.el", "--ranks", "2"}), "sssp", 2,
                 "unknown flag: --ranks (not on several processes) (see");
  expect_failure(run_app("spargo", {"cores", "a.el", "--ranks", "2"}), "cores", 2, "--ranks (of spargo plan; mpirun");
}

// Every flag of every command, without its fourth letter. Nothing is near a name of one letter (--k).
TEST(unknown_flags, are_guessed_for_every_command) {
  std::size_t tried = 0;
  for (const apps::command* each : apps::all_commands()) {
    if (each->helper != nullptr) continue;
    const std::string name = each->name;
    const apps::declared_command declared = apps::declare_command(*each, "spargo " + name);
    for (const CLI::Option* option : declared.app->get_options()) {
      if (option->get_lnames().empty() || option->get_group().empty()) continue;
      const std::string flag = option->get_lnames().front();
      if (flag.size() == 1) continue;
      const std::string wrong = "--" + (flag.size() < 5 ? flag + "x" : std::string(flag).erase(3, 1));
      SCOPED_TRACE(name);
      const auto words =
          name == "plan" ? std::vector<std::string>{"bfs", "a.el", wrong} : std::vector<std::string>{"a.el", wrong};
      const app_run run = run_here(name, words);
      EXPECT_EQ(run.code, 2);
      EXPECT_NE(run.err.find(wrong + " (did you mean --" + flag + "?)"), std::string::npos) << run.err;
      ++tried;
    }
  }
  EXPECT_GE(tried, 600U);
}

// JSON records the origin of a result; its command line can be pasted into a shell.
TEST(json, says_where_it_comes_from) {
  const scratch folder;
  const std::string list = folder.write("a b's.el", "1 2\n");
  const nlohmann::json report = run_app("spargo", {"bfs", list, "--device", "cpu", "--json", "-"}).json();
  EXPECT_EQ(report.at("version"), SPARGO_VERSION_STRING);
  EXPECT_FALSE(report.at("cpu").get<std::string>().empty());
  EXPECT_FALSE(report.contains("gpu"));
  const std::string date = report.at("date");
  ASSERT_EQ(date.size(), 20U) << date;
  for (const auto& [at, c] : {std::pair(4, '-'), std::pair(7, '-'), std::pair(10, 'T'), std::pair(13, ':'),
                              std::pair(16, ':'), std::pair(19, 'Z')}) {
    EXPECT_EQ(date[static_cast<std::size_t>(at)], c) << date;
  }
  const std::string line = report.at("command_line");
  EXPECT_TRUE(line.starts_with("spargo bfs '")) << line;
  const test::app_run again = test::run_shell("set -- " + line + "; printf '%s\\n' \"$3\"");
  EXPECT_EQ(again.out, list + "\n");
}

// The time of the independent check, of every command that checks.
TEST(check, has_its_time_in_the_report) {
  for (const std::string& command : test::computing_commands()) {
    if (command == "eigs") continue;  // takes symmetric matrices only: eigs_app_test
    const std::vector<std::string> words = {command, "gen:rmat:scale=8,degree=4", "--device", "cpu"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), words.begin(), words.end());
      return run_app("spargo", more);
    };
    EXPECT_NE(with({}).out.find("\n  check "), std::string::npos) << command;
    EXPECT_GT(with({"--json", "-"}).json().at("validate_ms"), 0.0) << command;
    if (test::is_sanitized) continue;  // the same code again
    const std::string off = command == "spmv" ? "--no-verify" : "--no-validate";
    EXPECT_TRUE(with({"--json", "-", off}).json().at("validate_ms").is_null()) << command;
    EXPECT_EQ(with({off}).out.find("\n  check "), std::string::npos) << command;
  }
}

TEST(help, that_cannot_be_written_is_a_failure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const app_run run = test::run_shell("$BIN/spargo > /dev/full");
  expect_failure(run, "spargo", 1, "No space left");
}

// `spargo` alone in a folder, and beside a helper that prints its arguments.
TEST(bench, is_a_program_beside_spargo) {
  const scratch folder;
  const std::string bin = folder / "bin";
  std::filesystem::create_directories(bin);
  const std::string program = bin + "/spargo";
  std::filesystem::copy_file(test::words_before("spargo").front(), program);
  const std::string library = std::filesystem::path(test::program_folder()).parent_path() / "lib";
  const auto bench = [&] {
    return test::run_shell("LD_LIBRARY_PATH='" + library + "' '" + program + "' bench a 'b c'");
  };
  expect_failure(bench(), "bench", 1,
                 "not built (expected `cmake -B build -DSPARGO_BENCH=ON && cmake --build build --target spargo_bench`");

  const auto put_helper = [](const std::filesystem::path& path, const std::string& says) {
    std::filesystem::create_directories(path.parent_path());
    test::spill(path, "#!/bin/sh\necho " + says + " \"$1,$2,$#\"\nexit 3\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  };
  put_helper(folder.path() / "bin" / apps::helpers_from_programs / "spargo-bench", "installed");
  EXPECT_EQ(bench().out, "installed a,b c,2\n");
  put_helper(bin + "/spargo-bench", "beside");
  EXPECT_EQ(bench().out, "beside a,b c,2\n");
  EXPECT_EQ(bench().code, 3);
  test::spill(bin + "/spargo-bench", "neither a program nor a script");
  expect_failure(bench(), "bench", 1, "spargo-bench: cannot run: ");
}

TEST(table, is_of_commands_that_can_be_found_and_declared) {
  std::set<std::string> names;
  for (const apps::command* each : apps::all_commands()) {
    EXPECT_TRUE(names.insert(each->name).second) << each->name;
    EXPECT_EQ(apps::find_command(each->name), each);
    EXPECT_LE(std::string(each->summary).size(), 69U) << "one line of 80 columns";
    const apps::declared_command declared = apps::declare_command(*each, "called so");
    EXPECT_EQ(declared.app->get_name(), "called so");
    EXPECT_FALSE(declared.app->get_description().empty());
    EXPECT_TRUE(static_cast<bool>(declared.body.run));
  }
  EXPECT_GE(names.size(), 6U);
  EXPECT_EQ(apps::find_command(""), nullptr);
}

}  // namespace
}  // namespace spargo
