// Outputs: open descriptors are written to, the input is not overwritten, and an output that cannot be written is
// refused before the work.
#include "apps/run_app.hpp"
#include "cli/picture.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace spargo::apps {
namespace {

using test::app_run;
using test::expect_failure;
using test::run_app;
using test::run_shell;
using test::scratch;
using test::slurp;

const std::string edges = "1 2\n2 3\n";
const std::string tree = "1 0 1\n2 1 1\n3 2 2\n";
const std::string matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 1 4\n";
const std::string product = "%%MatrixMarket matrix array real general\n2 1\n3\n4\n";

class outputs : public testing::Test {
 protected:
  const scratch folder_;
  const std::string edges_ = folder_.write("a.el", edges);
  const std::string matrix_ = folder_.write("a.mtx", matrix);
};

TEST_F(outputs, behind_a_redirection_are_appended) {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/fd/../fd/1"}) {
    SCOPED_TRACE(name);
    const std::string log = folder_.write("log", "precious\n");
    const app_run run =
        run_shell("exec $BIN/bfs '" + edges_ + "' --quiet --device cpu --output " + name + " >> '" + log + "'");
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(slurp(log), "precious\n" + tree);
    const app_run reported = run_shell("exec $BIN/info '" + edges_ + "' --quiet --json " + name + " >> '" + log + "'");
    EXPECT_EQ(reported.code, 0) << reported.err;
    EXPECT_TRUE(slurp(log).starts_with("precious\n" + tree + "{")) << slurp(log);
  }
}

TEST_F(outputs, go_where_the_descriptor_stands) {
  const std::string log = folder_ / "log";
  const app_run run = run_shell("{ echo before; $BIN/bfs '" + edges_ +
                                "' --device cpu --output /dev/stdout; echo after; } > '" + log + "'");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(slurp(log), "before\n" + tree + "after\n");
  std::filesystem::create_symlink("/dev/stdout", folder_ / "link");
  const app_run linked = run_shell("cd '" + folder_.path().string() + "' && $BIN/bfs a.el --device cpu --output link");
  EXPECT_EQ(linked.out, tree) << linked.err;
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
}

TEST_F(outputs, go_to_other_descriptors) {
  const std::string log = folder_.write("log", "precious\n");
  const app_run third =
      run_shell("$BIN/bfs '" + edges_ + "' --device cpu --quiet --output /dev/fd/3 3>> '" + log + "'");
  EXPECT_EQ(third.code, 0) << third.err;
  EXPECT_EQ(slurp(log), "precious\n" + tree);
  const app_run error = run_app("bfs", {edges_, "--device", "cpu", "--quiet", "--output", "/dev/stderr"});
  EXPECT_EQ(error.code, 0);
  EXPECT_EQ(error.err, tree);
  expect_failure(run_app("bfs", {edges_, "--output", "/dev/fd/77"}), "bfs", 1, "/dev/fd/77: cannot open for writing");
  expect_failure(run_shell("exec $BIN/bfs '" + edges_ + "' --output /dev/fd/3 3< /dev/null"), "bfs", 1,
                 "/dev/fd/3: cannot open for writing: Bad file descriptor");
}

TEST_F(outputs, go_into_pipes) {
  const app_run piped = run_shell("$BIN/bfs '" + edges_ + "' --device cpu --output /dev/stdout | cat");
  EXPECT_EQ(piped.out, tree) << piped.err;
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const app_run named =
      run_shell("cat '" + fifo + "' & $BIN/bfs '" + edges_ + "' --device cpu --quiet --output '" + fifo + "'; wait");
  EXPECT_EQ(named.out, tree) << named.err;
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

// Every output of every command, and nothing else.
TEST_F(outputs, on_standard_output_are_alone) {
  SPARGO_NEEDS_SNAPSHOTS();
  const std::string coordinates = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n";
  for (const std::string name : {"-", "/dev/stdout"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(run_app("spmv", {matrix_, "--device", "cpu", "--output", name}).out, product);
    EXPECT_EQ(run_app("bfs", {edges_, "--device", "cpu", "--output", name}).out, tree);
    const app_run converted = run_app("convert", {edges_, name, "--to", "mtx"});
    EXPECT_EQ(converted.out, coordinates) << converted.err;
    ASSERT_EQ(run_app("convert", {edges_, folder_ / "a.spg"}).code, 0);
    EXPECT_EQ(run_app("convert", {edges_, name, "--to", "spg"}).out, slurp(folder_ / "a.spg"));
    if (can_draw()) {
      ASSERT_EQ(run_app("info", {matrix_, "--spy", folder_ / "a.png", "--degrees", folder_ / "b.png"}).code, 0);
      EXPECT_EQ(run_app("info", {matrix_, "--spy", name}).out, slurp(folder_ / "a.png"));
      EXPECT_EQ(run_app("info", {matrix_, "--degrees", name}).out, slurp(folder_ / "b.png"));
    }
    for (const char* app : {"spmv", "bfs", "info"}) {
      EXPECT_EQ(run_app(app, {matrix_, "--json", name}).json().at("app"), app);
    }
    EXPECT_EQ(run_app("convert", {matrix_, folder_ / "b.mtx", "--json", name}).json().at("app"), "convert");
  }
  const app_run both = run_app("spmv", {matrix_, "--device", "cpu", "--output", "-", "--json", folder_ / "report"});
  EXPECT_EQ(both.out, product);
  EXPECT_EQ(nlohmann::json::parse(slurp(folder_ / "report")).at("app"), "spmv");
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST_F(outputs, of_a_name_without_a_format_ask_for_it) {
  expect_failure(run_app("convert", {edges_, "-"}), "convert", 2, "--to");
  EXPECT_EQ(run_app("convert", {edges_, folder_ / "plain", "--to", "wel", "--quiet"}).code, 0);
  EXPECT_EQ(run_app("info", {folder_ / "plain", "--json", "-"}).json().at("kind"), "edge list");
  expect_failure(run_app("convert", {edges_, folder_ / "a.mtx.gz", "--to", "spg"}), "convert", 2, "not compressed");
}

TEST_F(outputs, at_the_same_place_are_refused) {
  expect_failure(run_app("spmv", {matrix_, "--output", "-", "--json", "/dev/stdout"}), "spmv", 2,
                 "--output - and --json /dev/stdout: the same output");
  const std::string one = folder_ / "one";
  expect_failure(run_app("info", {matrix_, "--spy", one, "--degrees", folder_ / "./one"}), "info", 2,
                 "--spy " + one + " and --degrees ");
  EXPECT_FALSE(std::filesystem::exists(one));
}

TEST_F(outputs, that_are_the_input_are_refused) {
  std::filesystem::create_hard_link(matrix_, folder_ / "hard");
  std::filesystem::create_symlink(matrix_, folder_ / "soft");
  std::filesystem::create_hard_link(matrix_, folder_ / "hard.mtx");
  for (const std::string& name :
       {matrix_, folder_ / "hard", folder_ / "soft", folder_ / "../" + folder_.path().filename().string() + "/a.mtx"}) {
    SCOPED_TRACE(name);
    for (const std::vector<std::string>& command : {std::vector<std::string>{"spmv", "--output"},
                                                    {"bfs", "--output"},
                                                    {"info", "--spy"},
                                                    {"info", "--degrees"},
                                                    {"spmv", "--json"},
                                                    {"bfs", "--json"},
                                                    {"info", "--json"}}) {
      expect_failure(run_app(command[0], {matrix_, command[1], name}), command[0], 2,
                     command[1] + " " + name + ": this is the input");
      EXPECT_EQ(slurp(matrix_), matrix);
    }
  }
  expect_failure(run_app("convert", {matrix_, matrix_}), "convert", 2, "--force");
  expect_failure(run_app("convert", {matrix_, folder_ / "hard.mtx"}), "convert", 2, "--force");
  expect_failure(run_shell("exec $BIN/spmv '" + matrix_ + "' --output - >> '" + matrix_ + "'"), "spmv", 2, "--force");
  const std::string x = folder_.write("x.mtx", product);
  expect_failure(run_app("spmv", {matrix_, "--x", x, "--output", x}), "spmv", 2, "this is the input " + x);
  EXPECT_EQ(slurp(x), product);
  EXPECT_EQ(slurp(matrix_), matrix);
}

TEST_F(outputs, that_are_other_inputs_are_refused) {
  const std::string pairs = folder_.write("pairs.el", "1 3\n"), ids = folder_.write("ids.el", "1\n3\n");
  for (const char* flag : {"--output", "--json"}) {
    expect_failure(run_app("similarity", {edges_, "--pairs", pairs, flag, pairs}), "similarity", 2,
                   flag + (" " + pairs + ": this is the input " + pairs));
    expect_failure(run_app("subgraph", {edges_, "--ids", ids, flag, ids}), "subgraph", 2,
                   flag + (" " + ids + ": this is the input " + ids));
  }
  EXPECT_EQ(slurp(pairs), "1 3\n");
  EXPECT_EQ(slurp(ids), "1\n3\n");
}

TEST_F(outputs, that_are_the_input_are_written_by_force) {
  EXPECT_EQ(run_app("spmv", {matrix_, "--device", "cpu", "--output", matrix_, "--force"}).code, 0);
  EXPECT_EQ(slurp(matrix_), product);
  EXPECT_EQ(run_app("convert", {edges_, edges_, "--to", "mtx", "--force"}).code, 0);
  EXPECT_EQ(slurp(edges_), "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n");
}

// The generator would take minutes, or all memory.
TEST_F(outputs, that_cannot_be_written_are_found_before_the_work) {
  const std::string huge = "gen:path:n=2000000000000";
  const std::string none = folder_ / "none/file";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"spmv", "--output"},
                                                  {"bfs", "--output"},
                                                  {"info", "--spy"},
                                                  {"info", "--degrees"},
                                                  {"spmv", "--json"},
                                                  {"bfs", "--json"},
                                                  {"info", "--json"}}) {
    SCOPED_TRACE(command[0] + command[1]);
    expect_failure(run_app(command[0], {huge, command[1], none}), command[0], 1, none + ": cannot create: No such");
    expect_failure(run_app(command[0], {huge, command[1], folder_.path().string()}), command[0], 1, "Is a directory");
    const std::string long_name = folder_ / std::string(300, 'n');
    expect_failure(run_app(command[0], {huge, command[1], long_name}), command[0], 1, "File name too long");
  }
  expect_failure(run_app("convert", {huge, none + ".mtx"}), "convert", 1, none + ".mtx: cannot create: No such");
  expect_failure(run_app("convert", {huge, folder_ / "b.mtx", "--json", none}), "convert", 1, none);
}

// A limit on the size of files stands for a full disk.
TEST_F(outputs, that_break_off_leave_nothing) {
  const scratch folder;
  const std::string graph = "gen:rmat:scale=9,degree=8";
  for (const std::string line :
       {"multiply gen:laplacian2d:n=30 --output c.mtx", "multiply gen:laplacian2d:n=30 --report c.html",
        "solve gen:laplacian2d:n=30 --output x.mtx", "solve gen:laplacian2d:n=30 --output x.mtx.gz",
        "reorder gen:laplacian2d:n=30 --output r.mtx", "reorder gen:laplacian2d:n=30 --permutation p.txt",
        "eigs gen:laplacian2d:n=12 --report e.html", "subgraph G --component largest --output s.el",
        "subgraph G --component largest --output s.csv.gz",
        "subgraph G --component largest --undirected --output s.graph", "similarity G --output s.csv",
        "trusses G --output t.json", "forest G --output f.txt", "closeness G --sources 4 --report c.html",
        "hits G --output h.csv", "plan bfs G --report p.html", "convert G o.mtx --transpose"}) {
    SCOPED_TRACE(line);
    std::string command = line;
    if (const std::size_t at = command.find(" G"); at != std::string::npos) command.replace(at + 1, 1, graph);
    const app_run run =
        run_shell("cd '" + folder.path().string() + "' && ulimit -f 1 && exec $BIN/spargo " + command + " --quiet");
    const std::string name = command.substr(0, command.find(' '));
    expect_failure(run, name == "plan" ? "plan bfs" : name, 1, "cannot write: File too large");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

// Root may write anywhere, so the test gives up root's rights.
TEST_F(outputs, that_may_not_be_written_are_found_before_the_work) {
  const std::string kept = folder_.write("kept", "old");
  std::filesystem::permissions(kept, std::filesystem::perms(0444));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  const std::string user = ::geteuid() == 0 ? "setpriv --reuid 12345 --regid 12345 --clear-groups " : "";
  if (!user.empty() && run_shell(user + "true").code != 0) GTEST_SKIP() << "no setpriv to act as another user";
  if (run_shell(user + "$BIN/info --version").code != 0) GTEST_SKIP() << "another user may not run the apps";
  const std::string huge = "gen:path:n=2000000000000";
  expect_failure(run_shell(user + "$BIN/bfs " + huge + " --output '" + kept + "'"), "bfs", 1,
                 kept + ": cannot open for writing: Permission denied");
  if (user.empty()) std::filesystem::permissions(folder_.path(), std::filesystem::perms(0555));
  expect_failure(run_shell(user + "$BIN/bfs " + huge + " --json '" + (folder_ / "new") + "'"), "bfs", 1,
                 (folder_ / "new") + ": cannot create: Permission denied");
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
}

TEST_F(outputs, are_not_touched_by_the_look_at_them) {
  const std::string old = folder_.write("old", "old");
  expect_failure(run_app("bfs", {folder_ / "missing.el", "--output", old, "--json", folder_ / "new"}), "bfs", 1,
                 "missing.el");
  EXPECT_EQ(slurp(old), "old");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

TEST_F(outputs, are_readable_by_nobody_who_may_not_read_the_input) {
  SPARGO_NEEDS_SNAPSHOTS();
  const mode_t old = ::umask(022);
  for (const auto& [input, expected] : {std::pair(0600U, 0600U), std::pair(0640U, 0640U), std::pair(0644U, 0644U),
                                        std::pair(0444U, 0644U), std::pair(0604U, 0604U), std::pair(0400U, 0600U)}) {
    SCOPED_TRACE(input);
    ASSERT_EQ(::chmod(matrix_.c_str(), input), 0);
    for (const char* name : {"b.mtx", "b.spg", "b.wel.gz"}) {
      std::filesystem::remove(folder_ / name);
      ASSERT_EQ(run_app("convert", {matrix_, folder_ / name, "--quiet"}).code, 0);
      EXPECT_EQ(mode_of(folder_ / name), expected) << name;
    }
    const std::string y = folder_ / "y.mtx", report = folder_ / "report";
    std::filesystem::remove(y);
    std::filesystem::remove(report);
    ASSERT_EQ(run_app("spmv", {matrix_, "--device", "cpu", "--output", y, "--json", report}).code, 0);
    EXPECT_EQ(mode_of(y), expected);
    EXPECT_EQ(mode_of(report), expected);
  }
  ::umask(077);
  std::filesystem::remove(folder_ / "b.mtx");
  ASSERT_EQ(::chmod(matrix_.c_str(), 0644), 0);
  ASSERT_EQ(run_app("convert", {matrix_, folder_ / "b.mtx", "--quiet"}).code, 0);
  EXPECT_EQ(mode_of(folder_ / "b.mtx"), 0600U);
  ::umask(old);
}

TEST_F(outputs, of_an_input_of_another_group_are_not_for_ones_own) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const mode_t old = ::umask(002);
  ASSERT_EQ(::chown(matrix_.c_str(), 0, 12345), 0);
  ASSERT_EQ(::chmod(matrix_.c_str(), 0640), 0);
  ASSERT_EQ(run_app("convert", {matrix_, folder_ / "b.mtx", "--quiet"}).code, 0);
  EXPECT_EQ(mode_of(folder_ / "b.mtx"), 0600U);
  ASSERT_EQ(::chmod(matrix_.c_str(), 0644), 0);
  ASSERT_EQ(run_app("convert", {matrix_, folder_ / "c.mtx", "--quiet"}).code, 0);
  EXPECT_EQ(mode_of(folder_ / "c.mtx"), 0664U);
  ::umask(old);
}

}  // namespace
}  // namespace spargo::apps
