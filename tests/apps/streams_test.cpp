// Inputs that are read once: pipes, FIFOs, process substitution and standard input, for every format and command.
#include "apps/run_app.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>

namespace spargo::apps {
namespace {

using test::scratch;
using test::slurp;
using json = nlohmann::json;

// Runs a line in bash, in which @NAME is the command NAME. A timeout ends a hanging command.
test::app_run in_bash(const std::string& line) {
  const scratch folder;
  const std::string script = folder.write("script", test::with_programs(line, "@"));
  const int status = std::system(
      ("timeout -s KILL 60 bash " + script + " > " + (folder / "out") + " 2> " + (folder / "err") + " < /dev/null")
          .c_str());
  return {WEXITSTATUS(status), slurp(folder / "out"), slurp(folder / "err")};
}

std::string compressed(const std::string& path) {
  const gzFile file = ::gzopen((path + ".gz").c_str(), "wb");
  const std::string bytes = slurp(path);
  ::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  ::gzclose(file);
  return path + ".gz";
}

// A ring in DIMACS format, which convert cannot write.
std::string arcs(int vertices) {
  std::string text = "c a ring\np sp " + std::to_string(vertices) + " " + std::to_string(vertices) + "\n";
  for (int v = 1; v <= vertices; ++v) {
    text += "a " + std::to_string(v) + " " + std::to_string(v % vertices + 1) + " " + std::to_string(v % 7) + "\n";
  }
  return text;
}

// A graph in every format, more than a pipe holds.
std::vector<std::string> files_in(const scratch& folder) {
  const std::string directed = "gen:rmat:scale=12,degree=8,seed=3";
  const std::string undirected = "gen:grid2d:n=100";
  const std::pair<const char*, const std::string&> written[] = {
      {"a.mtx", directed}, {"a.el", directed}, {"a.csv", directed}, {"a.spg", directed}, {"a.graph", undirected}};
  std::vector<std::string> files = {folder.write("a.gr", arcs(9000))};
  for (const auto& [name, from] : written) {
    files.push_back(folder / name);
    EXPECT_EQ(test::run_app("convert", {from, files.back(), "--quiet"}).code, 0);
  }
  const std::size_t plain = files.size();
  for (std::size_t k = 0; k < plain; ++k) files.push_back(compressed(files[k]));
  return files;
}

// A report without values that differ between runs.
json facts(const test::app_run& ran) {
  EXPECT_EQ(ran.code, 0) << ran.err;
  json keys = ran.json();
  json kept;
  for (const char* key : {"rows", "cols", "nnz", "stored", "kind", "vertices", "edges", "y", "from", "entries"}) {
    if (keys.contains(key)) kept[key] = keys[key];
  }
  if (keys.contains("runs")) kept["levels"] = keys["runs"][0]["levels"];
  EXPECT_FALSE(kept.empty());
  return kept;
}

constexpr const char* flags = " --device cpu --json -";

TEST(streams, of_every_kind_and_format_are_read_as_files) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  const std::string fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  int number = 0;
  for (const std::string& file : files_in(folder)) {
    const json expected = facts(test::run_app("info", {file, "--device", "cpu", "--json", "-"}));
    for (const std::string& line :
         {"cat " + file + " | @info -", "cat " + file + " | @info /dev/stdin", "@info - < " + file,
          "@info /dev/stdin < " + file, "@info <(cat " + file + ")", "cat " + file + " > " + fifo + " & @info " + fifo,
          "(head -c 1 " + file + "; sleep 0.1; tail -c +2 " + file + ") | @info -"}) {
      if (test::is_sanitized && number++ % 3 != 0) continue;  // 7 kinds of 12 files: each kind for some files
      EXPECT_EQ(facts(in_bash(line + flags)), expected) << line;
    }
  }
}

TEST(streams, serve_every_command) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  int number = 0;
  for (const std::string& file : files_in(folder)) {
    const bool matrix = file.find(".mtx") != std::string::npos || file.find(".spg") != std::string::npos;
    for (const std::string app : {"bfs", "spmv"}) {
      if (app == "spmv" && !matrix) continue;
      const json expected = facts(test::run_app(app, {file, "--device", "cpu", "--json", "-"}));
      EXPECT_EQ(facts(in_bash("cat " + file + " | @" + app + " -" + flags)), expected) << app << " " << file;
      EXPECT_EQ(facts(in_bash("@" + app + " <(cat " + file + ")" + flags)), expected) << app << " " << file;
    }
    for (const std::string to : {"out.mtx", "out.el", "out.csv", "out.spg"}) {
      if (test::is_sanitized && number++ % 3 != 0) continue;
      ASSERT_EQ(test::run_app("convert", {file, folder / ("1" + to), "--quiet"}).code, 0);
      ASSERT_EQ(in_bash("cat " + file + " | @convert - " + (folder / ("2" + to)) + " --quiet").code, 0);
      EXPECT_TRUE(slurp(folder / ("1" + to)) == slurp(folder / ("2" + to))) << file << " to " << to;
    }
  }
}

TEST(streams, have_positions_and_no_lines_to_look_up) {
  const scratch folder;
  const std::string bad = folder.write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n");
  test::expect_failure(in_bash("cat " + bad + " | @spmv -"), "spmv", 1, "<stdin>:3:3: unexpected 'x'");
  const std::string twice =
      folder.write("twice.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n");
  test::expect_failure(in_bash("cat " + twice + " | @spmv -"), "spmv", 1, "<stdin>: entries (2, 1) and (1, 2)");
  const test::app_run checked = in_bash("printf '1 2\\n1 2\\n' | @info - --check --json -");
  EXPECT_EQ(checked.json().at("check").at("duplicates").at("count"), 1);
  EXPECT_TRUE(checked.json().at("check").at("duplicates").at("line").is_null());
}

TEST(streams, are_not_cached_and_say_so) {
  const scratch folder;
  const std::string file = folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n");
  for (const std::string app : {"spmv", "bfs", "info"}) {
    const test::app_run ran = in_bash("cat " + file + " | @" + app + " - --cache" + flags);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.json().at("cache"), "off");
    EXPECT_EQ(ran.err, test::called(app) + ": warning: <stdin>: a stream cannot be cached (expected a file)\n");
  }
}

TEST(streams, that_end_early_are_refused) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  (void)files_in(folder);
  const std::string packed = folder / "a.mtx.gz";
  test::expect_failure(in_bash("head -c 5000 " + packed + " | @info -"), "info", 1, "the gzip stream is truncated");
  const std::string snapshot = folder / "a.spg";
  test::expect_failure(in_bash("head -c 5000 " + snapshot + " | @info -"), "info", 1, "<stdin>: ");
  test::expect_failure(in_bash("@spmv - < /dev/null"), "spmv", 1, "<stdin>: the file is empty");
  test::expect_failure(in_bash("@info - <&-"), "info", 1, "<stdin>: cannot open");
}

}  // namespace
}  // namespace spargo::apps
