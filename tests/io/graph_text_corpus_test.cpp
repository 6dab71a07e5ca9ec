// METIS and DIMACS graphs in tests/io/corpus: valid ones against a naive reader, invalid ones with the error's line and
// column in their names; uncompressed and compressed, with both index widths.
#include "io/support/files.hpp"
#include "support/folders.hpp"

#include <spargo/core/error.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/io/dimacs.hpp>
#include <spargo/io/metis.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace spargo {
namespace {

std::vector<std::filesystem::path> corpus(const std::string& kind, const std::string& extension) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(test::source_folder()) / "tests/io/corpus" / kind)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The size, then "row col weight" of every entry, from 1, in ascending order.
std::string text_of(std::int64_t size, std::vector<std::tuple<std::int64_t, std::int64_t, double>> entries) {
  std::sort(entries.begin(), entries.end());
  std::string text = fmt::format("{}\n", size);
  for (const auto& [row, col, weight] : entries) text += fmt::format("{} {} {}\n", row, col, weight);
  return text;
}

template <class I>
std::string text_of(const coo_matrix<double, I, host>& m) {
  std::vector<std::tuple<std::int64_t, std::int64_t, double>> entries;
  for (std::int64_t k = 0; k < m.nnz(); ++k) {
    entries.emplace_back(m.row_indices()[k] + 1, m.col_indices()[k] + 1, m.values()[k]);
  }
  EXPECT_EQ(m.rows(), m.cols());
  return text_of(m.rows(), entries);
}

template <class I>
std::string read(const std::string& path, const std::string& extension) {
  const context<host> ctx({.threads = 2});
  try {
    return extension == ".graph" ? text_of(read_metis<I>(ctx, path).triangle)
                                 : text_of(read_dimacs<I>(ctx, path).entries);
  } catch (const error& e) {
    return std::string(e.what()).substr(path.size());
  }
}

std::string read_metis_naively(const std::string& text) {
  std::istringstream lines(text);
  std::string line, format;
  while (std::getline(lines, line) && line[0] == '%') continue;
  std::istringstream header(line);
  std::int64_t vertices = 0, edges = 0, weights = 0;
  header >> vertices >> edges >> format;
  if (!(header >> weights)) weights = 1;
  format = std::string(3 - format.size(), '0') + format;
  std::vector<std::tuple<std::int64_t, std::int64_t, double>> entries;
  for (std::int64_t v = 1; v <= vertices; ++v) {
    while (std::getline(lines, line) && line[0] == '%') continue;
    std::istringstream tokens(line);
    double skipped = 0, weight = 1;
    for (std::int64_t k = (format[0] == '1') + (format[1] == '1' ? weights : 0); k > 0; --k) tokens >> skipped;
    for (std::int64_t neighbour = 0; tokens >> neighbour;) {
      if (format[2] == '1') tokens >> weight;
      if (neighbour < v) entries.emplace_back(v, neighbour, weight);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(entries.size()), edges);
  return text_of(vertices, entries);
}

std::string read_dimacs_naively(const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::tuple<std::int64_t, std::int64_t, double>> entries;
  std::int64_t vertices = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream tokens(line);
    std::string kind;
    std::int64_t a = 0, b = 0;
    double weight = 1;
    tokens >> kind;
    if (kind == "p") tokens >> kind >> vertices;
    if (kind == "a" && tokens >> a >> b >> weight) entries.emplace_back(a, b, weight);
    if (kind == "e" && tokens >> a >> b) entries.emplace_back(std::max(a, b), std::min(a, b), 1);
  }
  return text_of(vertices, entries);
}

void expect_however_read(const std::filesystem::path& file, const std::string& expected) {
  const test::temporary_folder folder;
  const std::string extension = file.extension().string();
  const std::string packed = folder.write("packed", test::gzip(test::read_file(file.string())));
  for (const std::string& path : {file.string(), packed}) {
    if (file.string().find("overflow") == std::string::npos) {
      EXPECT_EQ(read<std::int32_t>(path, extension), expected);
    }
    EXPECT_EQ(read<std::int64_t>(path, extension), expected);
  }
}

TEST(GraphTextCorpus, ValidFilesAreRead) {
  std::size_t files = 0;
  for (const char* extension : {".graph", ".gr", ".col"}) {
    for (const auto& path : corpus("valid", extension)) {
      SCOPED_TRACE(path.filename().string());
      const std::string text = test::read_file(path.string());
      expect_however_read(path,
                          extension == std::string(".graph") ? read_metis_naively(text) : read_dimacs_naively(text));
      ++files;
    }
  }
  EXPECT_GE(files, 16U);
}

TEST(GraphTextCorpus, OthersAreRefusedWhereTheyAreWrong) {
  std::size_t count = 0;
  for (const char* extension : {".graph", ".gr", ".col"}) {
    auto files = corpus("invalid", extension);
    for (const auto& path : corpus("overflow", extension)) files.push_back(path);
    for (const auto& path : files) {
      SCOPED_TRACE(path.filename().string());
      const std::string name = path.stem().string();
      std::string place = name.substr(name.find('@') + 1);
      place = ":" + place.replace(place.find('_'), 1, ":") + ": ";
      const std::string message = read<std::int64_t>(path.string(), extension);
      EXPECT_EQ(message.substr(0, place.size()), place) << message;
      EXPECT_GT(message.size(), place.size() + 10) << "no explanation";
      expect_however_read(path, message);
      ++count;
    }
  }
  EXPECT_GE(count, 40U);
}

TEST(Metis, TellsWhatElseThereIs) {
  const context<host> ctx;
  const std::string folder = test::source_folder() + "/tests/io/corpus/valid/";
  const auto k5 = read_metis<std::int32_t>(ctx, folder + "metis_k5.graph");
  EXPECT_TRUE(k5.weighted);
  EXPECT_FALSE(k5.has_vertex_data);
  EXPECT_EQ(k5.first_vertex, 0);
  const auto weights = read_metis<std::int32_t>(ctx, folder + "metis_weights.graph");
  EXPECT_FALSE(weights.weighted);
  EXPECT_TRUE(weights.has_vertex_data);
  EXPECT_TRUE(read_metis<std::int32_t>(ctx, folder + "metis_sizes.graph").has_vertex_data);
  EXPECT_EQ(read_metis<std::int32_t>(ctx, folder + "metis_vertices_without_neighbours.graph").first_vertex, 1);
  EXPECT_EQ(read_metis<std::int32_t>(ctx, folder + "metis_no_edges.graph").first_vertex, -1);
}

TEST(Metis, MoreVerticesThanIndicesIsUnsupported) {
  const test::temporary_folder folder;
  const std::string path = folder.write("a.graph", "3000000000 1\n2\n1\n");
  try {
    (void)read_metis<std::int32_t>(context<host>(), path);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
  }
}

TEST(Dimacs, MoreVerticesThanIndicesIsUnsupported) {
  const test::temporary_folder folder;
  const std::string path = folder.write("a.gr", "p sp 3000000000 1\na 1 2 1\n");
  try {
    (void)read_dimacs<std::int32_t>(context<host>(), path);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
  }
}

// A hub's line is longer than other formats allow.
TEST(Metis, LinesMayBeLong) {
  const test::temporary_folder folder;
  constexpr int leaves = 400'000;
  std::string text = fmt::format("{} {}\n", leaves + 1, leaves);
  for (int v = 2; v <= leaves + 1; ++v) text += fmt::format("{} ", v);
  text += '\n';
  for (int v = 0; v < leaves; ++v) text += "1\n";
  const auto star = read_metis<std::int32_t>(context<host>(), folder.write("a.graph", text));
  EXPECT_EQ(star.triangle.nnz(), leaves);
}

TEST(Metis, IsReadAsItWasWritten) {
  const test::temporary_folder folder;
  const context<host> ctx;
  const std::string path = folder.file("out.graph");
  for (const auto& file : corpus("valid", ".graph")) {
    SCOPED_TRACE(file.filename().string());
    const auto graph = read_metis<std::int32_t>(ctx, file.string());
    if (graph.weighted && file.string().find("crlf") != std::string::npos) continue;  // a weight of 0.5
    const auto csr = to_csr<std::int64_t>(ctx, graph.triangle.view(), {.symmetry = symmetry_kind::symmetric});
    if (graph.weighted) {
      write_metis(ctx, path, csr.view());
    } else {
      write_metis(ctx, path, csr_view<const pattern, std::int32_t, std::int64_t, host>{csr.view(), {}});
    }
    const auto again = read_metis<std::int32_t>(ctx, path);
    EXPECT_EQ(text_of(again.triangle), text_of(graph.triangle));
    EXPECT_EQ(again.weighted, graph.weighted);
  }
}

TEST(Metis, WhatItCannotHoldIsRefused) {
  const test::temporary_folder folder;
  const context<host> ctx;
  const std::string path = folder.file("out.graph");
  const auto refusal = [&](std::vector<std::int32_t> rows, std::vector<std::int32_t> cols, std::vector<double> values) {
    const coo_view<const double, std::int32_t, host> entries{{3, 3, rows, cols}, values};
    const auto csr = to_csr<std::int32_t>(ctx, entries);
    try {
      write_metis(ctx, path, csr.view());
      return std::string("written");
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_data);
      return std::string(e.what());
    }
  };
  EXPECT_EQ(refusal({0, 1}, {1, 0}, {2, 2}), "written");
  std::filesystem::remove(path);
  EXPECT_NE(refusal({0, 1}, {1, 0}, {2, 3}).find("differs"), std::string::npos);
  EXPECT_NE(refusal({0, 1}, {1, 0}, {0.5, 0.5}).find("is 0.5 (expected an integer above 0)"), std::string::npos);
  EXPECT_NE(refusal({0, 1}, {1, 0}, {-1, -1}).find("expected an integer above 0"), std::string::npos);
  EXPECT_NE(refusal({0}, {1}, {1}).find("no mirrored entry"), std::string::npos);
  EXPECT_NE(refusal({0, 1}, {1, 2}, {1, 1}).find("no mirrored entry"), std::string::npos);
  EXPECT_NE(refusal({2}, {2}, {1}).find("self-loop"), std::string::npos);
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace spargo
