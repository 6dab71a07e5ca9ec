// The limits that apps/docs/commands.md states, at the limit and one beyond it: one line and code 1.
#include "apps/run_app.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

namespace spargo::apps {
namespace {

using test::expect_failure;
using test::run_app;
using test::scratch;
using test::slurp;

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
const std::string small = banner + "2 2 1\n1 2 3\n";

TEST(limits, a_line_has_a_mebibyte) {
  const scratch folder;
  constexpr std::size_t most = std::size_t{1} << 20;
  const auto with = [&](std::size_t bytes) {
    return folder.write("a.mtx", banner + "2 2 1" + std::string(bytes - 5, ' ') + "\n1 2 3\n");
  };
  EXPECT_EQ(run_app("info", {with(most)}).code, 0);
  expect_failure(run_app("info", {with(most + 1)}), "info", 1, "the line is too long (expected at most 1048576 bytes)");
  const auto edges = [&](std::size_t bytes) {
    return folder.write("a.el", "1 2 0.5 " + std::string(bytes - 8, 'c') + "\n");
  };
  EXPECT_EQ(run_app("info", {edges(most)}).code, 0);
  expect_failure(run_app("info", {edges(most + 1)}), "info", 1, "the line is too long");
}

std::string packed(const scratch& folder, const std::string& text);

// At any place in the file, with bounded memory.
TEST(limits, a_comment_has_any_length) {
  const scratch folder;
  const std::string comment(20'000'000, 'c');
  const std::string matrix = banner + "%" + comment + "\n2 2 2\n1 2 3\n  %" + comment + "\n2 1 4\n%" + comment;
  const std::string edges = "#" + comment + "\n1 2\n %" + comment + "\n2 1\n#" + comment + "\n";
  for (const std::string& path :
       {folder.write("a.mtx", matrix), folder.write("a.el", edges), folder.write("b.mtx", packed(folder, matrix)),
        folder.write("b.el.gz", packed(folder, edges))}) {
    const test::app_run ran = run_app("info", {path, "--json", "-", "--threads", "1", "--max-memory", "12M"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.json().at("stored"), 2) << path;
  }
  const std::string arcs = "c " + comment + "\np sp 2 2\n c" + comment + "\na 1 2 3\na 2 1 4\n";
  const std::string metis = "%" + comment + "\n2 1\n2\n %" + comment + "\n1\n";
  const std::string csv = "#" + comment + "\nsource,target\n1,2\n#" + comment + "\n2,1\n";
  for (const std::string& path : {folder.write("a.gr", arcs), folder.write("a", arcs), folder.write("a.graph", metis),
                                  folder.write("a.csv", csv), folder.write("b.gr", packed(folder, arcs))}) {
    const test::app_run ran = run_app("info", {path, "--json", "-", "--threads", "1"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.json().at("stored"), 2) << path;
  }
  expect_failure(run_app("info", {folder.write("c.gr", arcs + "a 1 x 2\n")}), "info", 1, "c.gr:6:1: more arcs");
  expect_failure(run_app("info", {folder.write("c.graph", metis + "1\n")}), "info", 1, "c.graph:6:1: a line after");
  expect_failure(run_app("info", {folder.write("c.mtx", matrix + "\n1 1 x\n")}), "info", 1, "c.mtx:8:1: an entry too");
  expect_failure(run_app("info", {folder.write("c.el", edges + "1 x\n")}), "info", 1, "c.el:6:3: 'x' is not a vertex");
}

TEST(limits, a_name_is_as_long_as_the_system_allows) {
  const scratch folder;
  const std::string longest = std::string(251, 'n') + ".mtx";
  const std::string in = folder.write("in.mtx", small);
  EXPECT_EQ(run_app("convert", {in, folder / longest}).code, 0);
  EXPECT_EQ(slurp(folder / longest), small);
  EXPECT_EQ(run_app("info", {folder / longest}).code, 0);
  expect_failure(run_app("convert", {in, folder / ("n" + longest)}), "convert", 1, "File name too long");
  expect_failure(run_app("info", {folder / ("n" + longest)}), "info", 1, "File name too long");
  const test::app_run cached = run_app("spmv", {folder / longest, "--cache", "--device", "cpu"});
  EXPECT_EQ(cached.code, 0) << "the cache's name is longer";
  EXPECT_NE(cached.err.find("no cache: "), std::string::npos) << cached.err;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST(limits, ids_and_dimensions_are_below_2_to_the_63) {
  const scratch folder;
  EXPECT_EQ(run_app("info", {folder.write("a.el", "0 9223372036854775807\n")}).code, 0);
  expect_failure(run_app("info", {folder.write("b.el", "0 9223372036854775808\n")}), "info", 1, "b.el:1:3: ");
  const std::string most = "9223372036854775807";
  expect_failure(run_app("info", {folder.write("a.mtx", banner + most + " " + most + " 1\n1 1 1\n")}), "info", 1,
                 "memory");
  expect_failure(run_app("info", {folder.write("b.mtx", banner + "9223372036854775808 1 1\n1 1 1\n")}), "info", 1,
                 "b.mtx:2:1: ");
}

std::string packed(const scratch& folder, const std::string& text) {
  const std::string path = folder / "packed.gz";
  const gzFile file = ::gzopen(path.c_str(), "wb");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  return slurp(path);
}

TEST(limits, a_gzip_file_has_any_number_of_members_but_is_unpacked_once) {
  const scratch folder;
  std::string members = packed(folder, "1 2\n");
  const std::string one = packed(folder, "3 4\n");
  for (int k = 0; k < 20'000; ++k) members += one;
  const test::app_run many = run_app("info", {folder.write("many.el.gz", members), "--json", "-"});
  ASSERT_EQ(many.code, 0) << many.err;
  EXPECT_EQ(many.json().at("stored"), 20'001);
  const std::string twice = packed(folder, packed(folder, "1 2\n"));
  expect_failure(run_app("info", {folder.write("twice.el.gz.gz", twice)}), "info", 1, "twice.el.gz.gz:1:1: ");
}

}  // namespace
}  // namespace spargo::apps
