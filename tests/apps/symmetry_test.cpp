// A file with one triangle of a symmetric matrix gives the same results, bit by bit, as a general file with all
// entries.
#include "apps/run_app.hpp"
#include "support/snapshots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <random>

namespace spargo::apps {
namespace {

using nlohmann::json;
using test::run_app;
using test::scratch;
using test::slurp;

struct entry {
  int row = 0;
  int col = 0;
  std::complex<double> value;
};

struct sample {
  std::string field;     // real, integer, complex, pattern
  std::string symmetry;  // symmetric, skew-symmetric, hermitian
  std::string order;     // columns, rows, random, upper, both (triangles)
};

constexpr int size = 37;

// With duplicates, zeros and a diagonal, unless the symmetry forbids them.
std::vector<entry> make_triangle(const sample& s) {
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(s.field + s.symmetry + s.order)));
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  const auto value = [&] {
    if (below(8) == 0) return 0.0;
    return s.field == "integer" ? double(below(2000) - 1000) : (below(2000) - 1000) / 1017.0;
  };
  std::vector<entry> entries;
  for (int k = 0; k < 400; ++k) {
    entry e{below(size), below(size), {value(), s.field == "complex" ? value() : 0.0}};
    if (e.row < e.col) std::swap(e.row, e.col);
    // Each place is listed in one of the two triangles only.
    if (s.order == "upper" || (s.order == "both" && (e.row + e.col) % 2 == 0)) std::swap(e.row, e.col);
    if (e.row == e.col && s.symmetry == "skew-symmetric") e.value = 0;
    if (e.row == e.col && s.symmetry == "hermitian") e.value = e.value.real();
    entries.push_back(e);
  }
  const auto by = [&](const auto& key) {
    std::stable_sort(entries.begin(), entries.end(), [&](const entry& a, const entry& b) { return key(a) < key(b); });
  };
  if (s.order == "columns" || s.order == "upper") by([](const entry& e) { return std::pair(e.col, e.row); });
  if (s.order == "rows") by([](const entry& e) { return std::pair(e.row, e.col); });
  return entries;
}

std::vector<entry> with_mirrored(std::vector<entry> entries, const std::string& symmetry) {
  const std::size_t stored = entries.size();
  for (std::size_t k = 0; k < stored; ++k) {
    entry e = entries[k];
    if (e.row == e.col) continue;
    std::swap(e.row, e.col);
    if (symmetry == "skew-symmetric") e.value = -e.value;
    if (symmetry == "hermitian") e.value = std::conj(e.value);
    entries.push_back(e);
  }
  return entries;
}

std::string text_of(const std::vector<entry>& entries, const std::string& field, const std::string& symmetry) {
  std::string text = "%%MatrixMarket matrix coordinate " + field + " " + symmetry + "\n" + std::to_string(size) + " " +
                     std::to_string(size) + " " + std::to_string(entries.size()) + "\n";
  char number[64];
  for (const entry& e : entries) {
    text += std::to_string(e.row + 1) + " " + std::to_string(e.col + 1);
    if (field == "integer") std::snprintf(number, sizeof number, " %.0f", e.value.real());
    if (field == "real") std::snprintf(number, sizeof number, " %.17g", e.value.real());
    if (field == "complex") std::snprintf(number, sizeof number, " %.17g %.17g", e.value.real(), e.value.imag());
    text += field == "pattern" ? "\n" : number + std::string("\n");
  }
  return text;
}

class SymmetricFile : public testing::Test {
 protected:
  // The files: the triangle, and the whole matrix.
  std::pair<std::string, std::string> write(const sample& s) const {
    const std::vector<entry> triangle = make_triangle(s);
    return {folder_.write("triangle.mtx", text_of(triangle, s.field, s.symmetry)),
            folder_.write("all.mtx", text_of(with_mirrored(triangle, s.symmetry), s.field, "general"))};
  }

  // The output file of `app`, and its report.
  std::pair<std::string, json> output_of(const std::string& app, const std::string& path,
                                         std::vector<std::string> flags) const {
    const std::string to = folder_ / "out.mtx";
    std::filesystem::remove(to);
    flags.push_back(path);
    if (app != "convert") flags.emplace_back("--output");
    flags.push_back(to);
    for (const char* flag : {"--json", "-", "--quiet"}) flags.emplace_back(flag);
    const test::app_run ran = run_app(app, flags);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return {slurp(to), ran.json()};
  }

  const scratch folder_;
};

const std::vector<sample> samples = {
    {"real", "symmetric", "columns"},    {"real", "symmetric", "rows"},       {"real", "symmetric", "random"},
    {"real", "symmetric", "upper"},      {"real", "symmetric", "both"},       {"integer", "symmetric", "columns"},
    {"pattern", "symmetric", "columns"}, {"pattern", "symmetric", "both"},    {"real", "skew-symmetric", "random"},
    {"complex", "symmetric", "random"},  {"complex", "hermitian", "columns"}, {"complex", "hermitian", "both"}};

// Converted to Matrix Market it stays the same triangle; through a snapshot it becomes the lower one; an edge list has
// all entries.
TEST_F(SymmetricFile, IsConvertedAsTheTriangleOfTheWholeMatrix) {
  SPARGO_NEEDS_SNAPSHOTS();
  const std::vector<std::string> flags = {"--x", "random:5", "--device", "cpu", "--format", "csr", "--repeat", "1"};
  for (const sample& s : samples) {
    SCOPED_TRACE(s.field + " " + s.symmetry + " " + s.order);
    const auto [triangle, all] = write(s);
    const auto [text, report] = output_of("convert", triangle, {});
    EXPECT_EQ(text.substr(0, text.find('\n')), "%%MatrixMarket matrix coordinate " + s.field + " " + s.symmetry);
    EXPECT_EQ(report.at("entries"), 400);
    const std::string converted = folder_.write("converted.mtx", text);
    const std::string snapshot = folder_ / "converted.spg";
    ASSERT_EQ(run_app("convert", {triangle, snapshot}).code, 0);
    const auto [back, back_told] = output_of("convert", snapshot, {});
    EXPECT_EQ(back.substr(0, back.find('\n')), text.substr(0, text.find('\n')));
    const auto expected = output_of("spmv", all, flags).first;
    for (const std::string& path : {converted, snapshot, folder_.write("back.mtx", back)}) {
      EXPECT_EQ(output_of("spmv", path, flags).first, expected) << path;
    }
  }
}

TEST_F(SymmetricFile, IsMultipliedAsTheWholeMatrix) {
  for (const sample& s : samples) {
    if (s.order == "rows" || s.order == "upper") continue;
    SCOPED_TRACE(s.field + " " + s.symmetry + " " + s.order);
    const auto [triangle, all] = write(s);
    const std::vector<std::string> flags = {"--x", "random:5", "--device", "cpu", "--format", "csr", "--repeat", "1"};
    const auto [y, report] = output_of("spmv", triangle, flags);
    const auto [expected, expected_report] = output_of("spmv", all, flags);
    EXPECT_EQ(y, expected);
    EXPECT_EQ(report.at("nnz"), expected_report.at("nnz"));
    EXPECT_EQ(report.at("verified"), true);
    EXPECT_EQ(report.at("stored"), 400);
  }
}

TEST_F(SymmetricFile, IsSearchedAsTheWholeMatrix) {
  for (const sample& s : {sample{"pattern", "symmetric", "columns"},
                          {"real", "symmetric", "both"},
                          {"real", "skew-symmetric", "random"}}) {
    SCOPED_TRACE(s.field + " " + s.symmetry + " " + s.order);
    const auto [triangle, all] = write(s);
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--directed"}, {"--directed", "--direction", "push"}}) {
      std::vector<std::string> flags = more;
      flags.insert(flags.end(), {"--device", "cpu", "--deterministic", "--source", "5"});
      const auto [tree, report] = output_of("bfs", triangle, flags);
      if (more.empty()) flags.insert(flags.begin(), "--undirected");
      const auto [expected, expected_report] = output_of("bfs", all, flags);
      EXPECT_EQ(tree, expected);
      for (const char* key : {"vertices", "edges", "directed"})
        EXPECT_EQ(report.at(key), expected_report.at(key)) << key;
    }
  }
}

TEST_F(SymmetricFile, IsDescribedAsTheWholeMatrix) {
  for (const sample& s : {samples[0], samples[6], samples[8], samples[11]}) {
    SCOPED_TRACE(s.field + " " + s.symmetry + " " + s.order);
    const auto [triangle, all] = write(s);
    const auto report_of = [](const std::string& path, std::vector<std::string> flags) {
      flags.insert(flags.begin(), {path, "--json", "-"});
      json keys = run_app("info", flags).json();
      for (const char* key :
           {"file", "stored", "symmetry", "directed", "field", "check", "host_memory_bytes", "command_line", "date"})
        keys.erase(key);
      return keys;
    };
    const json expected = report_of(all, {});
    EXPECT_GT(expected.at("duplicates"), 0);
    EXPECT_EQ(report_of(triangle, {}), expected);
    EXPECT_EQ(report_of(triangle, {"--check"}), expected);
  }
}

}  // namespace
}  // namespace spargo::apps
