// --cache: the second run gives the first one's results without reading the text, and a cache of another file is never
// used.
#include "apps/run_app.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace spargo::apps {
namespace {

using nlohmann::json;
using test::scratch;
using test::slurp;

json run(const std::string& app, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "-"});
  if (app == "spmv" || app == "bfs") arguments.insert(arguments.end(), {"--device", "cpu"});
  const test::app_run ran = test::run_app(app, arguments);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  return ran.json();
}

// The report without times and without how the matrix was read. `device_reason` names the entries estimated from the
// size of the text or of the snapshot.
json results_of(json report) {
  for (const char* key : {"cache", "load_ms", "convert_ms", "plan_ms", "build_ms", "time_ms", "gflops", "gbytes_per_s",
                          "bandwidth_fraction", "copy_gbytes_per_s", "mteps_harmonic_mean", "file", "total_ms",
                          "host_memory_bytes", "validate_ms", "date", "command_line", "device_reason",
                          "listed_magnitude"}) {  // a snapshot has the sums of duplicates
    report.erase(key);
  }
  if (report.contains("runs")) {
    for (json& one : report["runs"]) {
      one.erase("time_ms");
      one.erase("mteps");
    }
  }
  return report;
}

const std::string matrix =
    "%%MatrixMarket matrix coordinate real symmetric\n5 5 6\n1 1 4\n2 1 -1.5\n3 2 0.1\n3 2 0.2\n5 5 1e-300\n4 1 7\n";
const std::string edges = "# some\n70 3\n3 900000000000\n70 900000000000\n5 70\n70 3\n";
const std::string weights = "70 3 0.1\n3 900000000000 2\n70 3 0.2\n70 3 1e-17\n5 5 0\n";

std::string cache_of(const std::string& path, const std::string& values) { return path + "." + values + ".cache.spg"; }

TEST(cache, says_the_same_as_the_text) {
  const scratch folder;
  const std::string mtx = folder.write("a.mtx", matrix);
  const std::string list = folder.write("b.el", edges);
  const std::string integers =
      folder.write("c.mtx", "%%MatrixMarket matrix coordinate integer general\n2 3 2\n2 3 9007199254740993\n1 1 2\n");
  const std::string complex =
      folder.write("d.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 -1\n");
  const std::string weighted = folder.write("w.wel", weights);
  const std::string empty = folder.write("e.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 0\n");
  struct one {
    std::string app, path, values;
    std::vector<std::string> more;
  };
  for (const one& c :
       {one{"spmv", mtx, "fp64", {}}, one{"spmv", mtx, "fp32", {"--precision", "fp32"}},
        one{"bfs", mtx, "pattern", {"--source", "2"}}, one{"bfs", list, "pattern", {}},
        one{"bfs", list, "pattern", {"--source", "900000000000", "--undirected"}},
        one{"spmv", integers, "fp64", {"--quiet"}}, one{"spmv", complex, "complex-fp64", {}},
        one{"sssp", weighted, "weights", {"--source", "70"}}, one{"sssp", list, "weights", {}},
        one{"sssp", weighted, "weights", {"--undirected"}}, one{"sssp", list, "pattern", {"--weights", "random:3"}},
        one{"spmv", empty, "fp64", {}}, one{"info", mtx, "fp64", {}}, one{"info", list, "pattern", {}},
        one{"info", weighted, "fp64", {}}, one{"info", integers, "fp64", {}}, one{"info", complex, "complex-fp64", {}},
        one{"info", empty, "pattern", {"--distances", "2"}}}) {
    SCOPED_TRACE(c.app + " " + c.path + " " + c.values);
    const std::string cache = cache_of(c.path, c.values);
    std::filesystem::remove(cache);
    std::vector<std::string> arguments = c.more;
    arguments.insert(arguments.begin(), c.path);
    const json text = run(c.app, arguments);
    EXPECT_EQ(text.at("cache"), "off");
    EXPECT_FALSE(std::filesystem::exists(cache));
    arguments.push_back("--cache");
    const json first = run(c.app, arguments);
    EXPECT_EQ(first.at("cache"), "written");
    EXPECT_TRUE(std::filesystem::exists(cache));
    const json second = run(c.app, arguments);
    EXPECT_EQ(second.at("cache"), "used");
    EXPECT_EQ(results_of(first), results_of(text));
    EXPECT_EQ(results_of(second), results_of(text));
  }
}

// Output files are the same when a cache is written, read, or off.
TEST(cache, converts_to_the_same_file) {
  const scratch folder;
  const std::string mtx = folder.write("a.mtx", matrix);
  const std::string list = folder.write("b.el", edges);
  const std::string weighted = folder.write("w.wel", weights);
  const std::string wide = folder.write("c.mtx", "%%MatrixMarket matrix coordinate integer general\n2 3 1\n2 3 5\n");
  const std::string counts =
      folder.write("d.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 1\n2 2\n1 1\n");
  struct one {
    std::string from, to, values;
  };
  for (const one& c : {one{mtx, "1.spg", "fp64"}, one{list, "1.spg", "pattern"}, one{weighted, "1.spg", "fp64"},
                       one{wide, "1.spg", "fp64"}, one{counts, "1.spg", "pattern"}}) {
    SCOPED_TRACE(c.from + " " + c.to);
    const std::string cache = cache_of(c.from, c.values);
    std::filesystem::remove(cache);
    const std::string to = folder / c.to;
    const auto converted = [&](std::vector<std::string> more, const char* expected) {
      std::filesystem::remove(to);
      more.insert(more.begin(), {c.from, to, "--quiet"});
      const json report = run("convert", more);
      EXPECT_EQ(report.at("cache"), expected);
      return std::pair(results_of(report), slurp(to));
    };
    const auto text = converted({}, "off");
    EXPECT_FALSE(std::filesystem::exists(cache));
    EXPECT_EQ(converted({"--cache"}, "written"), text);
    EXPECT_TRUE(std::filesystem::exists(cache));
    EXPECT_EQ(converted({"--cache"}, "used"), text);
  }
}

// Converting text to text keeps the order of lines, which a cache would have sorted.
TEST(cache, is_not_for_text_from_text) {
  const scratch folder;
  const std::string list = folder.write("b.el", edges);
  EXPECT_EQ(run("convert", {list, folder / "1.el", "--cache"}).at("cache"), "off");
  EXPECT_EQ(slurp(folder / "1.el").find("70\t3\n3\t900000000000\n"), 16U) << slurp(folder / "1.el");
  EXPECT_EQ(run("convert", {folder.write("a.mtx", matrix), folder / "1.mtx", "--cache"}).at("cache"), "off");
}

TEST(cache, is_shared_by_the_apps) {
  const scratch folder;
  const std::string mtx = folder.write("a.mtx", matrix);
  const std::string list = folder.write("b.el", edges);
  EXPECT_EQ(run("spmv", {mtx, "--cache"}).at("cache"), "written");
  EXPECT_EQ(run("info", {mtx, "--cache"}).at("cache"), "used");
  EXPECT_EQ(run("convert", {mtx, folder / "1.spg", "--cache"}).at("cache"), "used");
  EXPECT_EQ(results_of(run("info", {mtx, "--cache"})), results_of(run("info", {mtx})));
  EXPECT_EQ(run("convert", {list, folder / "1.spg", "--cache"}).at("cache"), "written");
  EXPECT_EQ(run("bfs", {list, "--cache"}).at("cache"), "used");
  EXPECT_EQ(results_of(run("info", {list, "--cache"})), results_of(run("info", {list})));
}

// The cache of a search in a weighted edge list has no weights: commands that need them read the text.
TEST(cache, without_weights_is_not_taken_for_one_with_them) {
  const scratch folder;
  const std::string list = folder.write("w.wel", weights);
  EXPECT_EQ(run("bfs", {list, "--cache"}).at("cache"), "written");
  EXPECT_TRUE(std::filesystem::exists(cache_of(list, "pattern")));
  const json text = run("info", {list});
  const json first = run("info", {list, "--cache"});
  EXPECT_EQ(first.at("cache"), "written");
  EXPECT_TRUE(std::filesystem::exists(cache_of(list, "fp64")));
  const json second = run("info", {list, "--cache"});
  EXPECT_EQ(second.at("cache"), "used");
  EXPECT_EQ(results_of(first), results_of(text));
  EXPECT_EQ(results_of(second), results_of(text));
}

// Only the text shows irregularities.
TEST(cache, goes_with_no_check) {
  const scratch folder;
  const std::string path = folder.write("a.mtx", matrix);
  const test::app_run ran = test::run_app("info", {path, "--cache", "--check"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err.find("spargo info: --c"), 0U) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
  EXPECT_EQ(run("info", {path, "--check"}).at("cache"), "off");
}

TEST(cache, is_a_snapshot_like_any) {
  const scratch folder;
  const std::string path = folder.write("b.el", edges);
  (void)run("bfs", {path, "--cache"});
  EXPECT_EQ(run("bfs", {cache_of(path, "pattern"), "--source", "70"}).at("vertices"), 4);
}

void set_time(const std::string& path, timespec time) {
  const timespec both[2] = {time, time};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), both, 0), 0);
}

timespec time_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mtim;
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

TEST(cache, through_a_link_at_its_name_overwrites_nothing) {
  const scratch folder;
  const std::string path = folder.write("a.mtx", matrix);
  const std::string cache = cache_of(path, "fp64");
  const std::string profile = folder.write("profile", "precious");
  for (const char* target : {"profile", "not-yet-there"}) {
    std::filesystem::remove(cache);
    std::filesystem::create_symlink(target, cache);
    EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "written");
    EXPECT_EQ(slurp(profile), "precious");
    EXPECT_FALSE(std::filesystem::exists(folder / "not-yet-there"));
    EXPECT_FALSE(std::filesystem::is_symlink(cache));
    EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "used");
  }
}

// In a folder like /tmp, where users cannot replace each other's entries, the link stays and no cache is written.
TEST(cache, through_the_link_of_another_user_is_a_warning) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as two users";
  const std::string user = "setpriv --reuid 12345 --regid 12345 --clear-groups ";
  if (test::run_shell(user + "$BIN/info --version").code != 0) GTEST_SKIP() << "another user cannot run the apps";
  const scratch folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 01777), 0);
  const std::string path = folder.write("a.mtx", matrix);
  const std::string profile = folder.write("profile", "precious");
  ASSERT_EQ(::chown(profile.c_str(), 12345, 12345), 0);
  std::filesystem::create_symlink("profile", cache_of(path, "fp64"));
  const test::app_run ran = test::run_shell(user + "$BIN/spmv --device cpu --cache '" + path + "'");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("no cache: "), std::string::npos) << ran.err;
  EXPECT_EQ(slurp(profile), "precious");
}

TEST(cache, is_readable_by_nobody_who_may_not_read_the_input) {
  const mode_t old = ::umask(022);
  const scratch folder;
  const std::string path = folder.write("a.mtx", matrix);
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "written");
  EXPECT_EQ(mode_of(cache_of(path, "fp64")), 0644U);
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "written") << "over one that everybody may read";
  EXPECT_EQ(mode_of(cache_of(path, "fp64")), 0600U);
  EXPECT_EQ(run("bfs", {path, "--cache"}).at("cache"), "written");
  EXPECT_EQ(mode_of(cache_of(path, "pattern")), 0600U);
  ::umask(old);
}

// Like `cp -p`, rsync and tar: another file with the same size and time.
TEST(cache, of_another_file_of_equal_size_and_time_is_not_used) {
  const scratch folder;
  const std::string path = folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 5\n");
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("y").at("sum"), 5);
  const timespec time = time_of(path);
  test::spill(path, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 6\n");  // in place
  set_time(path, time);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("y").at("sum"), 6);
  const std::string other = folder.write("b", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n");
  set_time(other, time);
  std::filesystem::rename(other, path);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("y").at("sum"), 7);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "used");
}

// Each change makes the cache unusable: the file is read again, the result is right, and the cache is replaced.
TEST(cache, of_a_changed_file_is_not_used) {
  const scratch folder;
  const std::string path = folder / "a.mtx";
  const std::string cache = cache_of(path, "fp64");
  const std::string line = "%%MatrixMarket matrix coordinate real general\n";
  const auto sum = [&](const char* expected_cache) {
    const json report = run("spmv", {path, "--cache"});
    EXPECT_EQ(report.at("cache"), expected_cache);
    return report.at("y").at("sum").get<double>();
  };
  test::spill(path, line + "1 1 1\n1 1 5\n");
  EXPECT_EQ(sum("written"), 5);
  EXPECT_EQ(sum("used"), 5);
  const timespec old = time_of(path);
  test::spill(path, line + "1 1 1\n1 1 6\n");  // the same size
  EXPECT_EQ(sum("written"), 6);
  EXPECT_EQ(sum("used"), 6);
  timespec next = time_of(path);
  next.tv_nsec = next.tv_nsec == 0 ? 1 : next.tv_nsec - 1;  // a nanosecond
  set_time(path, next);
  EXPECT_EQ(sum("written"), 6);
  test::spill(path, line + "1 1 1\n1 1 77\n");  // the same time
  set_time(path, next);
  EXPECT_EQ(sum("written"), 77);
  EXPECT_EQ(sum("used"), 77);
  set_time(path, {old.tv_sec + 1'000'000, 0});  // from the future: it may change without its time
  EXPECT_EQ(sum("off"), 77);
}

TEST(cache, that_is_damaged_or_foreign_is_not_used) {
  const scratch folder;
  const std::string path = folder.write("a.mtx", matrix);
  const std::string cache = cache_of(path, "fp64");
  (void)run("spmv", {path, "--cache"});
  const std::string good = slurp(cache);
  const json right = results_of(run("spmv", {path, "--cache"}));
  const std::string other = folder.write("other.mtx", "%%MatrixMarket matrix coordinate real general\n5 5 1\n1 1 3\n");
  (void)run("spmv", {other, "--cache"});
  ASSERT_EQ(test::run_app("convert", {path, folder / "plain.spg"}).code, 0);
  (void)run("spmv", {path, "--cache", "--precision", "fp32"});
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  for (const std::string& bad :
       {std::string(), std::string("text"), good.substr(0, good.size() - 64), flipped, slurp(cache_of(other, "fp64")),
        slurp(folder / "plain.spg"), slurp(cache_of(path, "fp32"))}) {
    test::spill(cache, bad);
    const json report = run("spmv", {path, "--cache"});
    EXPECT_EQ(report.at("cache"), "written");
    EXPECT_EQ(results_of(report), right);
    EXPECT_EQ(slurp(cache), good);
  }
  std::filesystem::rename(cache, folder / "elsewhere.spg");
  std::filesystem::create_symlink(folder / "elsewhere.spg", cache);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "written") << "through a link";
}

TEST(cache, of_another_user_is_not_used) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const scratch folder;
  const std::string path = folder.write("a.mtx", matrix);
  const std::string cache = cache_of(path, "fp64");
  (void)run("spmv", {path, "--cache"});
  ASSERT_EQ(::chown(cache.c_str(), 12345, 12345), 0);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "written");
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "written") << "the input was changed";
  ASSERT_EQ(::chown(cache.c_str(), 12345, 12345), 0);
  EXPECT_EQ(run("spmv", {path, "--cache"}).at("cache"), "used") << "that of the input's owner";
}

// A folder in the place of the cache cannot be replaced, not even by root: stands for a read-only folder.
TEST(cache, that_cannot_be_written_is_a_warning) {
  const scratch folder;
  const std::string path = folder.write("a.mtx", matrix);
  std::filesystem::create_directory(cache_of(path, "fp64"));
  const test::app_run ran = test::run_app("spmv", {path, "--cache", "--device", "cpu", "--json", folder / "report"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err.find("spmv: warning: no cache: " + cache_of(path, "fp64") + ": cannot write"), 0U) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
  EXPECT_EQ(json::parse(slurp(folder / "report")).at("cache"), "off");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3);
}

TEST(cache, is_not_for_what_has_no_text) {
  const scratch folder;
  EXPECT_EQ(run("spmv", {"gen:laplacian2d:n=4", "--cache"}).at("cache"), "off");
  ASSERT_EQ(test::run_app("convert", {"gen:laplacian2d:n=4", folder / "a.spg"}).code, 0);
  EXPECT_EQ(run("spmv", {folder / "a.spg", "--cache"}).at("cache"), "off");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace spargo::apps
