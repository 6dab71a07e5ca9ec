// Errors and progress as seen on a terminal, which the test plays.
#include "apps/run_app.hpp"
#include "cli/progress.hpp"
#include "input/memory_limit.hpp"
#include "input/source_line.hpp"
#include "support/snapshots.hpp"

#include <spargo/graph/bfs.hpp>
#include <spargo/sparse/spmv.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <zlib.h>

#include <iterator>

namespace spargo::apps {
namespace {

using test::scratch;

// Standard output and error of a command whose terminal this is.
std::string on_a_terminal(const std::string& app, const std::string& argument) {
  std::vector<std::string> words = test::command_line(app, {argument});
  const std::vector<char*> argv = test::pointers_to(words);
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  return text;
}

// A report wraps at the width of the terminal (80 columns here); piped output does not wrap.
TEST(report, wraps_at_the_width_of_the_terminal) {
  const scratch folder;
  const std::string list = folder.write("a.el", "1 2\n2 3\n");
  ::setenv("COLUMNS", "60", 1);
  const std::string seen = on_a_terminal("bfs", list);
  const test::app_run piped = test::run_app("bfs", {list});
  ::unsetenv("COLUMNS");
  std::istringstream lines(seen);
  std::size_t indented = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.find("a.el") == std::string::npos) {
      EXPECT_LE(line.size(), 60U) << line;
    }
    indented += line.starts_with("        ") ? 1 : 0;
  }
  EXPECT_GT(indented, 0U) << seen;
  std::istringstream whole(piped.out);
  std::size_t longest = 0;
  for (std::string line; std::getline(whole, line);) longest = std::max(longest, line.size());
  EXPECT_GT(longest, 60U) << piped.out;
}

TEST(source_line, shows_the_line_and_a_caret) {
  const scratch folder;
  const std::string path = folder.write("a.el", "1 2\n3\tsix\r\n\x01\xffx y\n");
  EXPECT_EQ(source_line({path, 2, 3}), "2 | 3 six\n      ^\n");
  EXPECT_EQ(source_line({path, 2, 6}), "2 | 3 six\n         ^\n") << "one past the end";
  EXPECT_EQ(source_line({path, 3, 1}), "3 | ..x y\n    ^\n");
  for (const source_position& nowhere :
       {source_position{path, 0, 0}, source_position{path, 4, 1}, source_position{path, 2, 60},
        source_position{path + "x", 1, 1}, source_position{"/dev/zero", 1, 1}, source_position{"", 1, 1}}) {
    EXPECT_EQ(source_line(nowhere), "") << nowhere.line;
  }
}

TEST(source_line, of_a_long_line_is_a_part) {
  const scratch folder;
  const std::string path = folder.write("a", std::string(100'000, 'a') + "X" + std::string(100'000, 'b') + "\n");
  const std::string shown = source_line({path, 1, 100'001});
  const std::string line = shown.substr(0, shown.find('\n'));
  EXPECT_LT(line.size(), 80U);
  EXPECT_EQ(shown.substr(line.size() + 1).find('^'), line.find('X'));
}

TEST(source_line, of_a_compressed_file_is_its_text) {
  const scratch folder;
  const std::string path = folder / "a.gz";
  const gzFile file = ::gzopen(path.c_str(), "wb");
  ::gzputs(file, "1 2\nx 3\n");
  ::gzclose(file);
  EXPECT_EQ(source_line({path, 2, 1}), "2 | x 3\n    ^\n");
}

TEST(source_line, is_for_terminals_only) {
  const scratch folder;
  const std::string path = folder.write("bad.el", "1 2\n3 six\n");
  const std::string seen = on_a_terminal("info", path);
  EXPECT_NE(seen.find("bad.el:2:3: "), std::string::npos) << seen;
  EXPECT_NE(seen.find("2 | 3 six\r\n      ^\r\n"), std::string::npos) << seen;
  const test::app_run piped = test::run_app("info", {path});
  EXPECT_EQ(std::count(piped.err.begin(), piped.err.end(), '\n'), 1);
}

TEST(memory_limit, is_kept_and_given_back) {
  limited_resource memory(1000);
  void* const first = memory.allocate(600, nullptr);
  EXPECT_THROW((void)memory.allocate(401, nullptr), error);
  void* const second = memory.allocate(400, nullptr);
  memory.deallocate(first, 600, nullptr);
  memory.deallocate(memory.allocate(600, nullptr), 600, nullptr);
  EXPECT_THROW((void)memory.allocate(std::size_t{1} << 62, nullptr), error);
  memory.deallocate(second, 400, nullptr);
  memory.deallocate(memory.allocate(1000, nullptr), 1000, nullptr);
  memory.set_limit(10);
  EXPECT_THROW((void)memory.allocate(11, nullptr), error);
}

TEST(memory_limit, is_an_amount_with_a_unit) {
  std::int64_t bytes = 0;
  for (const auto& [text, expected] :
       {std::pair("1M", 1'000'000L), std::pair("2.5G", 2'500'000'000L), std::pair("1234567", 1'234'567L),
        std::pair("1T", 1'000'000'000'000L), std::pair("2GB", 2'000'000'000L), std::pair("2GiB", 2'147'483'648L),
        std::pair("2Gi", 2'147'483'648L), std::pair("1.5MiB", 1'572'864L), std::pair("4096K", 4'096'000L),
        std::pair("4096KiB", 4'194'304L), std::pair("1TB", 1'000'000'000'000L),
        std::pair("1TiB", 1'099'511'627'776L)}) {
    EXPECT_TRUE(parse_bytes(text, bytes)) << text;
    EXPECT_EQ(bytes, expected);
  }
  for (const char* text : {"", "G", "-1G", "1Q", "1Gb", "1GBs", "1GiBB", "1B", "1i", "1iB", "0", "10", "nan", "inf",
                           "1e9", "9999999999T", "1 G"}) {
    EXPECT_FALSE(parse_bytes(text, bytes)) << text;
  }
}

// 3 million entries take 48 MB of host memory, which exceeds the limit of 20 MB. (With a GPU, spmv would hold them
// there.)
TEST(memory_limit, ends_every_app_in_one_line) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  std::string text = "%%MatrixMarket matrix coordinate real general\n9 9 3000000\n";
  for (int k = 0; k < 3'000'000; ++k) text += "1 1 1\n";
  const std::string path = folder.write("a.mtx", text);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"info", path},
                                                  {"convert", path, folder / "b.spg"},
                                                  {"spmv", path, "--device", "cpu"},
                                                  {"bfs", path, "--device", "cpu"}}) {
    const std::string app = command[0];
    std::vector<std::string> arguments(command.begin() + 1, command.end());
    arguments.insert(arguments.end(), {"--max-memory", "20M"});
    test::expect_failure(test::run_app(app, arguments), app, 1, "--max-memory");
  }
  test::expect_failure(test::run_app("info", {path, "--max-memory", "lots"}), "info", 2, "amount of memory");
  EXPECT_EQ(test::run_app("info", {path, "--max-memory", "1G"}).code, 0);
}

TEST(remaining_time, is_what_the_rate_so_far_promises) {
  EXPECT_EQ(remaining_time({50, 100}, 7), "7 s left");
  EXPECT_EQ(remaining_time({1, 100}, 1), "1:39 min left");
  EXPECT_EQ(remaining_time({1, 7261}, 1), "2:01 h left");
  EXPECT_EQ(remaining_time({100, 100}, 7), "0 s left");
  EXPECT_EQ(remaining_time({300, 100}, 7), "0 s left");
  EXPECT_EQ(remaining_time({0, 100}, 7), "");
  EXPECT_EQ(remaining_time({100, 0}, 7), "");
}

// Users' mistakes, and a word that the message must contain.
struct mistake {
  std::vector<std::string> command;
  const char* says;
};

std::vector<mistake> mistakes(const scratch& folder) {
  const std::string list = folder.write("a.el", "1 2\n2 3\n");
  std::string text = "%%MatrixMarket matrix coordinate real general\n4000 4000 4000\n";
  for (int k = 1; k <= 4000; ++k) text += fmt::format("1 {} 1\n", k);
  const std::string matrix = folder.write("row.mtx", text);
  const std::string wide = folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  const std::string complex =
      folder.write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n");
  const std::string nowhere = folder / "none/out";
  return {
      {{"bfs", list, "--algorithm", "fastest"}, "(expected auto, sequential"},
      {{"bfs", list, "--algorithm", "automatic"}, "(expected auto, sequential"},
      {{"bfs", list, "--algorithm", "global_queue", "--device", "cpu"}, "global_queue"},
      {{"bfs", list, "--algorithm", "load_balanced", "--direction", "pull", "--device", "cpu"}, "only pushes"},
      {{"bfs", list, "--direction", "both"}, "(expected auto, push or pull)"},
      {{"bfs", list, "--source", "99"}, "--source 99"},
      {{"bfs", list, "--source", "x"}, "max-degree"},
      {{"bfs", list, "--sources", "0"}, "--sources"},
      {{"bfs", list, "--sources", "3", "--source", "2"}, "random:SEED"},
      {{"bfs", list, "--output", nowhere}, "cannot create"},
      {{"bfs", list, "--undirected", "--directed"}, "--directed"},
      {{"bfs", list, list}, "a.el"},
      {{"bfs", list, "--repeat"}, "--repeat"},
      {{"bfs", wide}, "2 x 3"},
      {{"bfs", folder / "none"}, "cannot open"},
      {{"bfs"}, "FILE"},
      {{"bfs", "gen:tree:n=3"}, "no generator 'tree'"},
      {{"bfs", "gen:rmat"}, "'scale' is missing"},
      {{"bfs", "gen:rmat:scale=99"}, "0 to 40"},
      {{"bfs", "gen:path:n=1", "--sources", "3"}, "no vertex has an edge"},
      {{"bfs", "gen:rmat:scale=16", "--max-memory", "1M"}, "--max-memory"},
      {{"spmv", list}, "not a Matrix Market file"},
      {{"spmv", matrix, "--format", "ell"}, "CSR has no padding"},
      {{"spmv", matrix, "--format", "sell"}, "CSR has no padding"},
      {{"spmv", matrix, "--format", "dia"}, "(expected auto, csr, coo, ell, sell or all)"},
      {{"spmv", matrix, "--algorithm", "fastest"}, "(expected auto, row_per_thread"},
      {{"spmv", matrix, "--algorithm", "automatic"}, "(expected auto, row_per_thread"},
      {{"spmv", matrix, "--algorithm", "row_per_warp", "--device", "cpu"}, "row_per_warp"},
      {{"spmv", matrix, "--algorithm", "coo_atomic", "--device", "cpu"}, "coo_atomic"},
      {{"spmv", matrix, "--algorithm", "merge_path", "--format", "coo"}, "--format coo"},
      {{"spmv", matrix, "--precision", "fp16"}, "(expected fp32 or fp64)"},
      {{"spmv", matrix, "--x", folder / "none"}, "cannot open"},
      {{"spmv", matrix, "--x", wide}, "4000 x 1"},
      {{"spmv", matrix, "--x", "random:"}, "seed"},
      {{"spmv", matrix, "--warmup", "-1"}, "--warmup"},
      {{"spmv", matrix, "--repeat", "1.5"}, "--repeat"},
      {{"spmv", matrix, "--parse", "there"}, "(expected auto, cpu or gpu)"},
      {{"spmv", matrix, "--output", nowhere}, "cannot create"},
      {{"spmv", matrix, "--device", "tpu"}, "tpu is not a device"},
      {{"spmv", matrix, "--threads", "0"}, "--threads"},
      {{"spmv", complex, "--precision", "fp32"}, "--precision fp32"},
      {{"spmv", "gen:laplacian2d:n=0"}, "n=0"},
      {{"pagerank", list, "--damping", "x"}, "--damping: x is not a number"},
      {{"convert", matrix, folder / "c.mtx", "--drop-below", "abc"}, "--drop-below: abc is not a number"},
      {{"convert", list, folder / "b.xyz"}, "expected .mtx"},
      {{"convert", list, folder / "b.spg.gz"}, "expected .spg"},
      {{"convert", complex, folder / "b.el"}, "complex"},
      {{"convert", wide, folder / "b.el"}, "2 x 3"},
      {{"convert", list}, "OUT"},
      {{"info", wide, "--distances", "3"}, "2 x 3"},
      {{"info", list, "--distances", "0"}, "--distances"},
      {{"info", list, "--check", "--cache"}, "--cache"},
      {{"info", list, "--spy", nowhere}, "cannot create"},
      {{"info", folder.path().string()}, "is a directory"},
      {{"info", "gen:banded:rows=10,degree=4"}, "odd"},
  };
}

TEST(mistakes, are_answered_in_the_words_of_the_command_line) {
  const scratch folder;
  for (const mistake& m : mistakes(folder)) {
    const std::string app = m.command[0];
    const test::app_run run = test::run_app(app, {m.command.begin() + 1, m.command.end()});
    SCOPED_TRACE(run.err);
    test::expect_failure(run, app, run.code == 2 ? 2 : 1, m.says);
    EXPECT_EQ(run.err.find(app + ": " + app + ": "), std::string::npos) << "the name is doubled";
    EXPECT_EQ(run.err.find(": " + app + ": "), std::string::npos) << "the name stands in the middle";
    EXPECT_EQ(run.err.find("max_padding_ratio"), std::string::npos) << "no flag of this app";
    if (run.err.find("automatic is not") == std::string::npos) {
      EXPECT_EQ(run.err.find("automatic"), std::string::npos) << "the flag says auto";
    }
  }
}

// CLI11 wraps negative numbers, saturates large ones and reads 010 as 8.
TEST(mistakes, in_numbers_are_not_taken_for_others) {
  for (const char* command : {"walks", "layout", "communities", "eigs", "closeness", "betweenness"}) {
    for (const char* seed : {"-1", "18446744073709551616", "010", "0x8", "+8", " 8", "1.5", ""}) {
      test::expect_failure(test::run_app(command, {"gen:path:n=3", std::string("--seed=") + seed}), command, 2,
                           "--seed");
    }
    EXPECT_EQ(test::run_app(command, {"gen:path:n=3", "--seed", "18446744073709551615"}).code, 0) << command;
  }
  for (const char* flag : {"--repeat", "--threads", "--max-iterations"}) {
    test::expect_failure(test::run_app("pagerank", {"gen:path:n=3", flag, "010"}), "pagerank", 2, "010");
  }
}

TEST(mistakes, in_negative_arguments_are_no_flags) {
  test::expect_failure(test::run_app("bfs", {"gen:path:n=3", "-1"}), "bfs", 2, "unexpected argument: -1");
}

// A file with the name of the app is named in full.
TEST(mistakes, in_a_file_called_as_the_app_name_it) {
  const scratch folder;
  const std::filesystem::path before = std::filesystem::current_path();
  (void)folder.write("info", "1 -2\n");
  std::filesystem::current_path(folder.path());
  const test::app_run run = test::run_app("info", {"info"});
  std::filesystem::current_path(before);
  EXPECT_TRUE(run.err.starts_with("spargo info: info:1:3: ")) << run.err;
  (void)folder.write("info", "");
  std::filesystem::current_path(folder.path());
  const test::app_run none = test::run_app("info", {"info"});
  std::filesystem::current_path(before);
  EXPECT_TRUE(none.err.starts_with("spargo info: info: the file is empty")) << none.err;
}

// --help lists every value that the library knows.
TEST(algorithms, of_the_library_are_those_of_the_flag) {
  const auto known = [](const auto& parse) {
    try {
      (void)parse("none");
    } catch (const error& e) {
      std::string text = e.what();
      text = text.substr(text.find('(') + 1);
      for (char& c : text) c = c == ',' || c == ')' || c == ':' ? ' ' : c;
      std::istringstream words(text);
      return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
    }
    return std::vector<std::string>{};
  };
  const auto expect_flags = [](const std::string& app, const std::vector<std::string>& names) {
    const std::string help = test::run_app("spargo", {"help", app}).out;
    const std::string refusal = test::run_app(app, {"x", "--algorithm", "none"}).err;
    EXPECT_GT(names.size(), 5U);
    for (const std::string& name : names) {
      if (name == "automatic" || name == "expected" || name == "one" || name == "of" || name == "known") continue;
      EXPECT_NE(help.find(name), std::string::npos) << app << " --help lacks " << name;
      EXPECT_NE(refusal.find(name), std::string::npos) << refusal << " lacks " << name;
    }
  };
  expect_flags("bfs", known([](const char* name) { return parse_bfs_algorithm(name); }));
  expect_flags("spmv", known([](const char* name) { return parse_spmv_algorithm(name); }));
}

}  // namespace
}  // namespace spargo::apps
