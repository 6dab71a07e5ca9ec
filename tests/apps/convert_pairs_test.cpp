// Every command gives the same answer on a converted file as on the original, for every pair of formats: over the
// smaller files of the data folder, and over files with duplicates, loops, gaps and symmetries. What a format cannot
// hold is refused, or named by a warning; only that may differ then.
#include "apps/run_here.hpp"
#include "support/data.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace spargo::apps {
namespace {

using nlohmann::json;
using test::app_run;
using test::run_app;
using test::run_here;
using test::scratch;
using test::slurp;

const std::vector<std::string> formats = {"mtx", "el", "wel", "csv", "spg", "metis"};

std::optional<json> answer(const std::string& app, const std::string& path, std::vector<std::string> flags) {
  flags.insert(flags.end(), {path, "--json", "-", "--threads", "1"});
  const app_run run = run_here(app, flags);
  if (run.code != 0) {
    test::expect_failure(run, app, 1);
    return std::nullopt;
  }
  return run.json();
}

json only(const json& all, const std::vector<std::string>& keys) {
  json some;
  for (const std::string& key : keys) some[key] = all.contains(key) ? all.at(key) : json();
  return some;
}

std::optional<json> product(const std::string& path) {
  const auto report = answer("spmv", path, {"--device", "cpu", "--x", "random:3", "--repeat", "1", "--warmup", "0"});
  if (!report.has_value()) return std::nullopt;
  EXPECT_EQ(report->at("verified"), true);
  return only(*report, {"rows", "cols", "nnz", "field", "symmetry", "y"});
}

std::optional<json> search(const std::string& path, std::vector<std::string> flags = {}) {
  flags.insert(flags.end(), {"--device", "cpu", "--repeat", "1"});
  const auto report = answer("bfs", path, flags);
  if (!report.has_value()) return std::nullopt;
  json some = only(*report, {"vertices", "edges", "directed"});
  some["run"] = only(report->at("runs").at(0), {"source", "reached", "depth", "levels"});
  return some;
}

// With the file's weights: reached vertices and their distances.
std::optional<json> paths(const std::string& path, std::vector<std::string> flags) {
  flags.insert(flags.end(), {"--device", "cpu", "--repeat", "1"});
  const auto report = answer("sssp", path, flags);
  if (!report.has_value()) return std::nullopt;
  return only(report->at("runs").at(0), {"source", "reached", "max_distance", "sum_distance", "first"});
}

// The subjects of the warnings.
struct losses {
  explicit losses(const std::string& said)
      : direction(said.find("undirected") != std::string::npos),
        isolated(said.find("without edges") != std::string::npos),
        ids(said.find("row numbers from 1") != std::string::npos),
        first(said.find("the first vertex is") != std::string::npos),
        values(said.find("are omitted: weights in METIS") != std::string::npos ||
               said.find("they are omitted (") != std::string::npos),
        loops(said.find("omitted: METIS does not allow loops") != std::string::npos),
        duplicates(said.find("given before") != std::string::npos ||
                   said.find("listed more than once") != std::string::npos),
        lightest(said.find("with the lightest of their weights") != std::string::npos) {}
  bool direction, isolated, ids, first, values, loops, duplicates, lightest;
};

class ConvertedFile {
 public:
  ConvertedFile(const scratch& folder, std::string from) : folder_(folder), from_(std::move(from)) {
    product_ = product(from_);
    search_ = search(from_);
    undirected_ = search(from_, {"--undirected"});
    shape_ = answer("info", from_, {});
  }

  // Converts and compares; whether the format could be written.
  bool expect_same_answers(const std::string& to, const std::string& format) const {
    SCOPED_TRACE(std::filesystem::path(from_).filename().string() + " to " + format);
    const app_run run = run_here("convert", {from_, to, "--to", format, "--threads", "1"});
    if (run.code != 0) {
      test::expect_failure(run, "convert", 1, ": ");
      EXPECT_FALSE(std::filesystem::exists(to));
      return false;
    }
    const losses lost(run.err);
    compare_products(to, format, lost);
    compare_searches(to, lost);
    compare_paths(to, lost);
    compare_shapes(to, format, lost);
    return true;
  }

 private:
  // For products, a graph as text is first converted to a matrix.
  void compare_products(const std::string& to, const std::string& format, const losses& lost) const {
    if (!product_.has_value() || lost.isolated || lost.values || lost.loops || lost.duplicates) return;
    if (format == "mtx" || format == "spg") {
      json expected = *product_;
      json got = product(to).value_or(json());
      if (lost.direction || generated_) {
        expected.erase("symmetry");
        got.erase("symmetry");
      }
      EXPECT_EQ(got, expected);
    } else if (format != "el" || product_->at("field") == "pattern") {
      const std::string back = folder_ / "back.mtx";
      ASSERT_EQ(run_here("convert", {to, back, "--threads", "1"}).code, 0);
      const json got = product(back).value_or(json());
      EXPECT_EQ(only(got, {"rows", "cols", "nnz", "y"}), only(*product_, {"rows", "cols", "nnz", "y"}));
    }
  }

  void compare_searches(const std::string& to, const losses& lost) const {
    if (!search_.has_value()) return;
    if (lost.ids) {
      const json got = search(to, {"--undirected"}).value_or(json());
      EXPECT_EQ(only(got, {"vertices", "edges"}), only(*undirected_, {"vertices", "edges"}));
      return;
    }
    std::vector<std::string> flags;
    if (lost.first) flags = {"--source", search_->at("run").at("source").dump()};
    if (lost.direction) flags.emplace_back("--undirected");
    if (lost.isolated && search_->at("edges") == 0) return;  // of an edge list without edges nothing is left
    json got = search(to, flags).value_or(json());
    json expected = lost.direction ? *undirected_ : *search_;
    if (lost.isolated) got["vertices"] = expected.at("vertices");
    EXPECT_EQ(got, expected);
  }

  // A generated matrix has weights 1 by default, a file its own.
  void compare_paths(const std::string& to, const losses& lost) const {
    if (generated_ || !search_.has_value() || search_->at("edges") == 0 || lost.ids || lost.values) return;
    if (lost.duplicates && !lost.lightest) return;
    std::vector<std::string> flags = {"--source", search_->at("run").at("source").dump()};
    if (lost.direction) flags.emplace_back("--undirected");
    const auto [found, fresh] = paths_.try_emplace(flags);  // the same for most formats
    if (fresh) found->second = paths(from_, flags);
    EXPECT_EQ(paths(to, flags), found->second);
  }

  void compare_shapes(const std::string& to, const std::string& format, const losses& lost) const {
    if (!shape_.has_value() || lost.isolated || lost.loops) return;
    const json got = answer("info", to, {}).value_or(json());
    std::vector<std::string> keys = {"rows",
                                     "cols",
                                     "nnz",
                                     "diagonal",
                                     "row_length",
                                     "bandwidth",
                                     "components",
                                     "largest_component",
                                     "structurally_symmetric"};
    if (!lost.direction) keys.emplace_back("directed");
    if (format == "mtx" || format == "spg") {
      keys.insert(keys.end(), {"field", "explicit_zeros", "not_finite", "magnitude"});
      if (!lost.direction && !generated_) keys.emplace_back("symmetry");
    }
    EXPECT_EQ(only(got, keys), only(*shape_, keys));
  }

  const scratch& folder_;
  const std::string from_;
  const bool generated_ = from_.starts_with("gen:");  // and has no banner to say what it is
  std::optional<json> product_, search_, undirected_, shape_;
  mutable std::map<std::vector<std::string>, std::optional<json>> paths_;  // by flags
};

std::string random_entries(int entries, int size, bool lower, unsigned seed) {
  std::string text;
  for (int k = 0; k < entries; ++k) {
    seed = seed * 1664525U + 1013904223U;
    int row = 1 + static_cast<int>(seed >> 8) % size;
    seed = seed * 1664525U + 1013904223U;
    int col = 1 + static_cast<int>(seed >> 8) % size;
    if (lower && row < col) std::swap(row, col);
    text += std::to_string(row) + " " + std::to_string(col);
    text += k % 3 == 0 ? " -7.25\n" : " " + std::to_string(k + 1) + "\n";
  }
  return text;
}

const std::string general = "%%MatrixMarket matrix coordinate ";

std::vector<std::string> write_inputs(const scratch& folder) {
  return {
      folder.write("duplicates.mtx", general + "pattern general\n2 2 3\n1 1\n1 1\n2 2\n"),
      folder.write("sums.mtx", general + "real general\n9 9 60\n" + random_entries(60, 9, false, 1)),
      folder.write("lower.mtx", general + "real symmetric\n9 9 60\n" + random_entries(60, 9, true, 2)),
      folder.write("upper.mtx", general + "integer symmetric\n4 4 3\n2 3 5\n1 4 -2\n1 4 9007199254740992\n"),
      folder.write("both.mtx", general + "pattern symmetric\n5 5 4\n2 3\n5 1\n2 3\n4 4\n"),
      folder.write("large.mtx",
                   general + "integer general\n2 2 2\n2 1 9223372036854775807\n1 2 -9223372036854775808\n"),
      folder.write("skew.mtx", general + "real skew-symmetric\n4 4 3\n2 1 .1\n4 1 1e300\n4 1 .3\n"),
      folder.write("weighted.mtx", general + "integer symmetric\n4 4 4\n2 1 3\n3 2 4\n4 3 1\n4 1 9\n"),
      folder.write("twice.mtx", general + "integer symmetric\n3 3 4\n2 1 3\n2 1 3\n3 2 7\n3 2 5\n"),
      folder.write("odd.mtx", general + "real general\n3 3 4\n3 1 inf\n1 2 nan\n2 3 -0\n1 3 4.9e-324\n"),
      folder.write("list.el", "7 3\n3 900000000000\n7 3\n7 7\n"),
      folder.write("rows.el", "# ids as rows\n3 1\n1 2\n2 3\n3 1\n"),
      folder.write("list.wel", "10 20 0.1\n20 10 0.1\n10 30 2\n30 10 2\n"),
      folder.write("rows.wel", "2 1 1.5\n1 3 -2\n1 3 .25\n"),
      folder.write("parallel.wel", "1 2 5\n1 2 3\n2 3 4\n1 3 9\n3 3 2\n3 3 1\n3 4 6\n3 4 6\n"),
      folder.write("parallel.mtx", general + "real symmetric\n4 4 6\n2 1 5\n1 2 2.5\n3 2 4\n3 1 9\n3 3 2\n3 3 1\n"),
      folder.write("named.csv", "\"from\",\"to\",\"weight\"\n2,1,5\n1,2,5\n2,3,1\n3,2,1\n"),
      folder.write("networkx.edgelist", "1 2 {'weight': 3.5}\n2 3 {'weight': 1}\n"),
      folder.write("k5.graph", slurp(test::source_folder() + "/tests/io/corpus/valid/metis_k5.graph")),
      folder.write("gaps.graph",
                   slurp(test::source_folder() + "/tests/io/corpus/valid/metis_vertices_without_neighbours.graph")),
      folder.write("roads.gr", slurp(test::source_folder() + "/tests/io/corpus/valid/dimacs_roads.gr")),
      folder.write("colours.col", slurp(test::source_folder() + "/tests/io/corpus/valid/dimacs_colouring.col")),
      folder.write("both_ends.col", slurp(test::source_folder() + "/tests/io/corpus/valid/dimacs_both_ends.col")),
      "gen:grid2d:n=4",
      "gen:laplacian2d:n=3",
      "gen:rmat:scale=5,degree=4",
      "gen:banded:rows=12,degree=3",
  };
}

TEST(convert, of_what_formats_differ_in_keeps_every_answer) {
  const scratch folder;
  for (const std::string& from : write_inputs(folder)) {
    const ConvertedFile file(folder, from);
    for (const std::string& format : formats) {
      file.expect_same_answers(folder / "out", format);
      std::filesystem::remove(folder / "out");
    }
  }
}

// From each format to each other, always from the file just written.
TEST(convert, between_all_pairs_of_formats_keeps_every_answer) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  std::set<std::pair<std::string, std::string>> written;
  for (const std::string& from : write_inputs(folder)) {
    const std::string name = std::filesystem::path(from).filename().string();
    if (name != "duplicates.mtx" && name != "weighted.mtx" && name != "named.csv" && name != "upper.mtx" &&
        name != "parallel.wel" && name != "twice.mtx")
      continue;
    const ConvertedFile original(folder, from);
    for (const std::string& first : formats) {
      const std::string between = folder / ("between." + first);
      if (!original.expect_same_answers(between, first)) continue;
      const ConvertedFile file(folder, between);
      for (const std::string& second : formats) {
        if (file.expect_same_answers(folder / "out", second)) written.emplace(first, second);
        std::filesystem::remove(folder / "out");
      }
      std::filesystem::remove(between);
    }
  }
  EXPECT_EQ(written.size(), formats.size() * formats.size());
}

TEST(convert, of_real_files_keeps_every_answer) {
  SPARGO_TEST_NEEDS_DATA();
  constexpr std::uintmax_t most_bytes = test::is_sanitized ? 40'000 : 100'000;
  const scratch folder;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_directory())) {
    const std::string name = entry.path().filename().string();
    const bool read = name.ends_with(".mtx") || name.ends_with(".el") || name.ends_with(".wel") ||
                      name.ends_with(".txt") || name.ends_with(".csv") || name.ends_with(".csv.gz");
    if (!read || (entry.file_size() > most_bytes && !name.starts_with("bcsstk13") && !name.ends_with(".csv.gz")))
      continue;
    if (test::is_left_out(name)) continue;
    const ConvertedFile file(folder, entry.path().string());
    for (const std::string& format : formats) {
      file.expect_same_answers(folder / "out", format);
      std::filesystem::remove(folder / "out");
    }
    ++files;
  }
  EXPECT_GE(files, test::used_inputs(20));
}

TEST(convert, keeps_the_file_where_the_format_is_the_same) {
  SPARGO_NEEDS_SNAPSHOTS();
  const scratch folder;
  for (const char* banner : {"integer symmetric", "real skew-symmetric", "pattern symmetric", "integer general"}) {
    const bool pattern = std::string(banner).starts_with("pattern");
    const std::string text = general + banner + (pattern ? "\n3 3 2\n3 1\n2 1\n" : "\n3 3 2\n3 1 -5\n2 1 7\n");
    const std::string from = folder.write("in.mtx", text);
    ASSERT_EQ(run_app("convert", {from, folder / "out.mtx"}).code, 0);
    EXPECT_EQ(slurp(folder / "out.mtx"), text);
    ASSERT_EQ(run_app("convert", {from, folder / "out.spg"}).code, 0);
    ASSERT_EQ(run_app("convert", {folder / "out.spg", folder / "back.mtx"}).code, 0);
    EXPECT_EQ(slurp(folder / "back.mtx").substr(0, text.find('\n')), text.substr(0, text.find('\n')));
  }
  const std::string hermitian = folder.write("h.mtx", general + "complex hermitian\n2 2 2\n2 1 1 -5\n2 2 7 0\n");
  ASSERT_EQ(run_app("convert", {hermitian, folder / "out.spg"}).code, 0);
  ASSERT_EQ(run_app("convert", {folder / "out.spg", folder / "back.mtx"}).code, 0);
  EXPECT_EQ(slurp(folder / "back.mtx"), slurp(hermitian));
}

TEST(convert, writes_csv_with_commas_and_names) {
  const scratch folder;
  const std::string from = folder.write("in.wel", "1 2 0.5\n2 3 4\n");
  const auto converted = [&](const std::string& source, const std::string& to, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {source, to, "--quiet"});
    EXPECT_EQ(run_app("convert", flags).code, 0);
    return slurp(to);
  };
  EXPECT_EQ(converted(from, folder / "out.csv", {}), "source,target,weight\n1,2,0.5\n2,3,4\n");
  EXPECT_EQ(converted(from, folder / "out", {"--to", "csv"}), "source,target,weight\n1,2,0.5\n2,3,4\n");
  EXPECT_EQ(converted(folder / "out.csv", folder / "back.wel", {}), "# source\ttarget\tweight\n1\t2\t0.5\n2\t3\t4\n");
  EXPECT_EQ(converted(from, folder / "out.csv", {"--to", "el"}), "# source\ttarget\n1\t2\n2\t3\n");
  const std::string bare = folder.write("in.el", "1 2\n");
  EXPECT_EQ(converted(bare, folder / "out.csv", {}), "source,target\n1,2\n");
  test::expect_failure(run_app("convert", {bare, folder / "out.csv", "--to", "xls"}), "convert", 2, "--to");
  test::expect_failure(run_app("convert", {bare, folder / "out"}), "convert", 2, "--to");
}

TEST(convert, to_metis_says_what_it_cannot_hold) {
  const scratch folder;
  const auto said = [&](const std::string& text) {
    const std::string to = folder / "out.graph";
    std::filesystem::remove(to);
    const app_run run = run_app("convert", {folder.write("in.mtx", text), to});
    EXPECT_EQ(run.code == 0, std::filesystem::exists(to));
    return run.err;
  };
  EXPECT_EQ(said(general + "integer symmetric\n3 3 2\n2 1 3\n3 1 4\n").find("omitted"), std::string::npos);
  EXPECT_NE(said(general + "real symmetric\n3 3 2\n2 1 .5\n3 1 4\n").find("the values are omitted"), std::string::npos);
  EXPECT_NE(said(general + "real symmetric\n3 3 2\n2 1 5\n3 3 4\n").find("1 self-loop omitted"), std::string::npos);
  EXPECT_NE(said(general + "pattern general\n3 3 2\n2 1\n3 3\n").find("undirected (expected"), std::string::npos);
  EXPECT_NE(said(general + "pattern general\n3 3 2\n2 1\n1 2\n").find("a METIS graph is undirected"),
            std::string::npos);
  EXPECT_NE(said(general + "pattern general\n3 4 1\n2 1\n").find("3 x 4"), std::string::npos);
  // Paths use the smallest of several weights: from the text, and from a snapshot, which has sums.
  const std::string twice = folder.write("twice.mtx", general + "integer symmetric\n2 2 2\n2 1 3\n2 1 4\n");
  for (const std::string& from : {twice, folder / "twice.spg"}) {
    if (!test::can_write(from)) continue;
    if (from.ends_with(".spg")) {
      ASSERT_EQ(run_app("convert", {twice, from}).code, 0);
    }
    const app_run run = run_app("convert", {from, folder / "twice.graph"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.err.find("with the lightest of their weights"), std::string::npos) << run.err;
    EXPECT_EQ(run_app("sssp", {folder / "twice.graph", "--json", "-"}).json()["runs"][0]["max_distance"], 3) << from;
  }
  EXPECT_EQ(slurp(folder / "out.graph"), "");
}

}  // namespace
}  // namespace spargo::apps
