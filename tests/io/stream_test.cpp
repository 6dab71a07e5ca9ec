// Streaming against reading and writing the whole: same bytes or error, for the corpus and files of several parts.
#include <spargo/io/stream.hpp>

#include "io/support/files.hpp"
#include "support/folders.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace spargo {
namespace {

using test::read_file;

struct outcome {
  std::string error;  // without the file's name
  std::string written;
  bool rewritten = true;  // false: a triangle on both sides of the diagonal
};

template <class Run>
outcome outcome_of(const std::string& from, const std::string& to, const Run& run) {
  std::filesystem::remove(to);
  outcome result;
  try {
    result.rewritten = run();
  } catch (const error& e) {
    result.error = e.what();
    if (result.error.starts_with(from)) result.error = result.error.substr(from.size());
  }
  EXPECT_EQ(std::filesystem::exists(to), result.error.empty() && result.rewritten);
  if (std::filesystem::exists(to)) result.written = read_file(to);
  return result;
}

// Entries as listed; for an edge list each entry of a triangle is followed by its mirrored entry.
template <class V>
void write_whole(const context<host>& ctx, const std::string& from, const std::string& to, text_format format) {
  matrix_market_summary summary;
  const auto read = read_matrix_market_stored<V, std::int64_t>(ctx, from, {}, &summary);
  const symmetry_kind symmetry = summary.header.symmetry;
  if (format == text_format::matrix_market) {
    const bool integers = summary.header.field == matrix_market_field::integer;
    return write_matrix_market<V, std::int64_t>(
        to, read.view(),
        {.symmetry = symmetry,
         .numbers = integers ? matrix_market_numbers::integers : matrix_market_numbers::of_the_type});
  }
  std::vector<std::int64_t> rows, cols;
  std::vector<V> values;
  const auto put = [&](std::int64_t row, std::int64_t col, const V& value) {
    rows.push_back(row);
    cols.push_back(col);
    if constexpr (!is_pattern<V>) values.push_back(value);
  };
  for (std::int64_t k = 0; k < read.nnz(); ++k) {
    V value{};
    if constexpr (!is_pattern<V>) value = read.values()[k];
    const std::int64_t row = read.row_indices()[k];
    const std::int64_t col = read.col_indices()[k];
    put(row, col, value);
    if (symmetry == symmetry_kind::general || row == col) continue;
    if constexpr (!is_pattern<V>) value = symmetry == symmetry_kind::skew_symmetric ? -value : value;
    put(col, row, value);
  }
  std::vector<std::int64_t> ids(static_cast<std::size_t>(read.rows()));
  for (std::size_t v = 0; v < ids.size(); ++v) ids[v] = static_cast<std::int64_t>(v) + 1;
  write_edge_list<V, std::int64_t>(to, {{read.rows(), read.cols(), rows, cols}, values}, ids);
}

outcome whole(const context<host>& ctx, const std::string& from, const std::string& to, text_format format) {
  return outcome_of(from, to, [&] {
    const matrix_market_header header = read_matrix_market_header(from);
    if (header.field == matrix_market_field::complex) {
      write_whole<std::complex<double>>(ctx, from, to, format);
    } else if (header.field == matrix_market_field::pattern) {
      write_whole<pattern>(ctx, from, to, format);
    } else {
      write_whole<double>(ctx, from, to, format);
    }
    return true;
  });
}

outcome streamed(const context<host>& ctx, const std::string& from, const std::string& to, text_format format) {
  return outcome_of(from, to, [&] { return stream_matrix_market(ctx, from, to, {.to = format}).has_value(); });
}

std::vector<std::string> corpus(const std::string& suffix) {
  std::vector<std::string> files;
  for (const char* folder : {"valid", "invalid", "overflow"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(test::source_folder() + "/tests/io/corpus/" + folder)) {
      if (entry.path().extension() == suffix) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool can_be_streamed(const std::string& path) {
  try {
    const matrix_market_header header = read_matrix_market_header(path);
    return header.layout == matrix_market_layout::coordinate && header.entries < 1'000'000;
  } catch (const error&) {
    return true;  // both report the same
  }
}

TEST(Stream, MatricesOfTheCorpus) {
  const test::temporary_folder folder;
  const context<host> ctx({.threads = 2});
  for (const text_format format : {text_format::matrix_market, text_format::edge_list}) {
    int written = 0;
    int refused = 0;
    int both_triangles = 0;
    for (const std::string& from : corpus(".mtx")) {
      if (!can_be_streamed(from)) continue;
      SCOPED_TRACE(from);
      const outcome got = streamed(ctx, from, folder.file("b"), format);
      if (!got.rewritten) {
        ++both_triangles;
        continue;
      }
      ++(got.error.empty() ? written : refused);
      if (got.error.find("(expected a square one for an edge list)") != std::string::npos ||
          got.error.find("do not fit an edge list") != std::string::npos) {
        continue;
      }
      const outcome expected = whole(ctx, from, folder.file("a"), format);
      EXPECT_EQ(got.error, expected.error);
      EXPECT_EQ(got.written, expected.written);
    }
    EXPECT_GT(written, 10);
    EXPECT_GT(refused, 40);
    EXPECT_GT(both_triangles, 1);
  }
}

TEST(Stream, EdgesOfTheCorpus) {
  const test::temporary_folder folder;
  const context<host> ctx({.threads = 2});
  for (const std::string& from : corpus(".el")) {
    SCOPED_TRACE(from);
    const outcome expected = outcome_of(from, folder.file("a"), [&] {
      const edge_list<std::int64_t> list = read_edge_list<std::int64_t>(ctx, from);
      if (list.weighted) {
        write_edge_list<double, std::int64_t>(folder.file("a"), list.edges.view(), list.ids);
      } else {
        write_edge_list<pattern, std::int64_t>(
            folder.file("a"),
            {{list.edges.rows(), list.edges.rows(), list.edges.view().row_indices, list.edges.view().col_indices}, {}},
            list.ids);
      }
      return true;
    });
    const outcome got = outcome_of(from, folder.file("b"), [&] {
      (void)stream_edge_list(ctx, from, folder.file("b"), {});
      return true;
    });
    EXPECT_EQ(got.error, expected.error);
    EXPECT_EQ(got.written, expected.written);
  }
}

// Lines of every length with comments between them, several parts and blocks; `last` is appended.
std::string many(std::int64_t rows, std::int64_t step, const std::string& field, const std::string& last = {}) {
  std::string lines;
  std::int64_t count = 0;
  for (std::int64_t row = 1; row <= rows; ++row) {
    for (std::int64_t col = 1 + row % 5; col <= rows; col += step + row % 3) {
      lines += fmt::format("{} {}", row, col);
      if (field != "pattern") lines += fmt::format(" {}", static_cast<double>(row * col % 1009) / 7);
      if (field == "complex") lines += " -0.5";
      lines += "\n";
      if (++count % 1001 == 0) lines += "% a comment\n\n";
    }
  }
  return fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field, rows, rows,
                     count + (last.empty() ? 0 : 1)) +
         lines + last;
}

TEST(Stream, LargeMatricesForAnyNumberOfThreads) {
  const test::temporary_folder folder;
  for (const char* field : {"real", "pattern", "complex"}) {
    const std::string text = many(3000, 30, field);
    ASSERT_GT(text.size(), std::size_t{2'500'000});
    const std::string from = folder.write("in.mtx", text);
    const std::string packed = folder.write("in.gz", test::gzip(text));
    for (const text_format format : {text_format::matrix_market, text_format::edge_list}) {
      if (format == text_format::edge_list && field == std::string("complex")) continue;
      const outcome expected = whole(context<host>(), from, folder.file("a"), format);
      ASSERT_EQ(expected.error, "");
      for (const int threads : {1, 2, 3}) {
        const context<host> ctx({.threads = threads});
        for (const std::string& path : {from, packed}) {
          const outcome got = streamed(ctx, path, folder.file("b"), format);
          EXPECT_TRUE(got.rewritten);
          EXPECT_EQ(got.error, "");
          EXPECT_TRUE(got.written == expected.written) << field << ", " << threads << " threads";
        }
      }
    }
  }
}

// The last line is one too many, missing, or wrong; the old output remains.
TEST(Stream, WhatIsWrongAtTheEndIsNoticed) {
  const test::temporary_folder folder;
  const std::string to = folder.write("out.mtx", "old");
  const context<host> ctx({.threads = 2});
  const std::string good = many(2000, 20, "real", "2000 2000 1\n");
  const auto run = [&](const std::string& text) -> std::string {
    const std::string from = folder.write("in.mtx", text);
    try {
      const bool done = stream_matrix_market(ctx, from, to, {.to = text_format::matrix_market}).has_value();
      return done ? "done" : "both triangles";
    } catch (const error& e) {
      try {
        (void)read_matrix_market<double, std::int32_t>(ctx, from);
      } catch (const error& other) {
        EXPECT_STREQ(e.what(), other.what());
      }
      return e.what();
    }
  };
  EXPECT_NE(run(good + "2000 2000 1\n").find("an entry too many"), std::string::npos);
  EXPECT_NE(run(many(2000, 20, "real", "% no entry\n")).find("the file ends after"), std::string::npos);
  EXPECT_NE(run(many(2000, 20, "real", "2000 2001 1\n")).find("outside the matrix"), std::string::npos);
  EXPECT_NE(run(many(2000, 20, "real", "2000 2000 x\n")).find("unexpected 'x'"), std::string::npos);
  EXPECT_EQ(read_file(to), "old");
  EXPECT_EQ(folder.entries(), 2U);
  EXPECT_EQ(run(good), "done");
}

TEST(Stream, LargeEdgeListsForAnyNumberOfThreads) {
  const test::temporary_folder folder;
  for (const bool weighted : {false, true}) {
    std::string text;
    std::string expected = weighted ? "# source\ttarget\tweight\n" : "# source\ttarget\n";
    for (std::int64_t k = 0; k < 120'000; ++k) {
      const std::int64_t source = k * 7919 % 100'003 * (k % 11 == 0 ? 900'000'007 : 1);
      text += fmt::format("{}{}{}{}\n", source, k % 2 == 0 ? "  " : ",", k, weighted ? " 0.5" : "");
      expected += fmt::format("{}\t{}{}\n", source, k, weighted ? "\t0.5" : "");
      if (k % 1000 == 0) text += "# a comment\n";
    }
    const std::string from = folder.write("in.el", text);
    for (const int threads : {1, 2, 3}) {
      const stream_result result =
          stream_edge_list(context<host>({.threads = threads}), from, folder.file("out.el"), {});
      EXPECT_EQ(result.entries, 120'000);
      EXPECT_EQ(result.weighted, weighted);
      EXPECT_TRUE(read_file(folder.file("out.el")) == expected) << threads << " threads";
    }
    const std::string uneven = folder.write("uneven.el", text + (weighted ? "1 2\n" : "1 2 0.5\n"));
    try {
      (void)stream_edge_list(context<host>({.threads = 2}), uneven, folder.file("none.el"), {});
      FAIL() << "uneven weights went through";
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("as on the first edge"), std::string::npos) << e.what();
    }
    EXPECT_FALSE(std::filesystem::exists(folder.file("none.el")));
  }
}

// As the reader and the writer would have it, whatever the names hold; errors at the same place.
TEST(Stream, NamedVertices) {
  const test::temporary_folder folder;
  const std::string to = folder.file("out.el");
  const std::string bodies[] = {"alice,bob\nbob,carol\n", "\"a, b\",\"say \"\"x\"\"\"\n#c,d e\n%f,{g\n",
                                "source,target,weight\nB;c,\"\",0.25\n1,two,7\n", "source;target;weight\nZoë;b;0,5\n"};
  std::string many = "source,target,weight\n";
  for (int k = 0; k < 60'000; ++k) {
    many += fmt::format("{}{}{},name {},{}\n", k % 3 == 0 ? "\"x,\"\"" : "", k * 7919 % 100'003, k % 3 == 0 ? "\"" : "",
                        k % 1013, k % 7 == 0 ? "0.1" : "3");
  }
  std::vector<std::string> texts(std::begin(bodies), std::end(bodies));
  texts.push_back(many);
  for (const std::string& text : texts) {
    const std::string from = folder.write("in.csv", text);
    const context<host> ctx({.threads = 2});
    for (const edge_list_style style : {edge_list_style::tabs, edge_list_style::commas}) {
      const auto read = read_edge_list<std::int64_t>(ctx, from);
      ASSERT_FALSE(read.names.empty()) << text.substr(0, 40);
      if (read.weighted) {
        write_edge_list<double, std::int64_t>(to, read.edges.view(), read.names, style);
      } else {
        const coo_view<const pattern, std::int64_t, host> pairs{read.edges.view(), {}};
        write_edge_list<pattern, std::int64_t>(to, pairs, read.names, style);
      }
      const std::string expected = read_file(to);
      for (const int threads : {1, 3}) {
        const stream_result result = stream_edge_list(context<host>({.threads = threads}), from, to, {.style = style});
        EXPECT_EQ(result.entries, read.edges.nnz());
        EXPECT_TRUE(read_file(to) == expected) << read_file(to).substr(0, 200) << expected.substr(0, 200);
      }
    }
    for (const char* wrong : {"x\n", "x,y,1,\"\n", ",y,1\n", "\"x,y\n", "x,y,z\n"}) {
      const std::string broken = folder.write("broken.csv", text + wrong);
      std::string read_error = "none", stream_error = "none";
      try {
        (void)read_edge_list<std::int64_t>(ctx, broken);
      } catch (const error& e) {
        read_error = e.what();
      }
      try {
        (void)stream_edge_list(ctx, broken, folder.file("none.el"), {});
      } catch (const error& e) {
        stream_error = e.what();
      }
      EXPECT_EQ(stream_error, read_error) << text.substr(0, 40);
    }
  }
}

// Two parts of the same size, each of them valid.
TEST(Stream, WhatIsWrongBetweenPartsIsNoticed) {
  const test::temporary_folder folder;
  const context<host> ctx({.threads = 2});
  constexpr int lines = 8'000;  // of 16 bytes each, per part
  std::string matrix =
      fmt::format("%%MatrixMarket matrix coordinate pattern symmetric\n99999999 99999999 {}\n", 2 * lines);
  std::string edges;
  for (const int half : {0, 1}) {
    for (int k = 0; k < lines; ++k) {
      matrix += half == 0 ? fmt::format("{:07} {:07}\n", 9999, 1 + k) : fmt::format("{:07} {:07}\n", 1 + k, 9998);
      edges += half == 0 ? fmt::format("{:07} {:07}\n", k, k + 1) : fmt::format("{:07} {:05} 5\n", k, k + 1);
    }
  }
  EXPECT_FALSE(
      stream_matrix_market(ctx, folder.write("in.mtx", matrix), folder.file("out"), {.to = text_format::matrix_market})
          .has_value());
  try {
    (void)stream_edge_list(ctx, folder.write("in.el", edges), folder.file("out"), {});
    FAIL() << "uneven weights went through";
  } catch (const error& e) {
    EXPECT_EQ(e.position().line, lines + 1) << e.what();
  }
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(Stream, WeightsAsAskedFor) {
  const test::temporary_folder folder;
  const context<host> ctx;
  const std::string plain = folder.write("plain.el", "1 2\n3 4\n");
  const std::string weighted = folder.write("weighted.el", "1 2 0.5\n3 4 7\n");
  const std::string none = folder.write("none.el", "# nothing\n");
  const std::string pattern_file =
      folder.write("p.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 3\n");
  const std::string to = folder.file("out");
  const auto edges = [&](const std::string& from, edge_weights weights) {
    (void)stream_edge_list(ctx, from, to, {.weights = weights});
    return read_file(to);
  };
  EXPECT_EQ(edges(plain, edge_weights::as_read), "# source\ttarget\n1\t2\n3\t4\n");
  EXPECT_EQ(edges(plain, edge_weights::ones_if_none), "# source\ttarget\tweight\n1\t2\t1\n3\t4\t1\n");
  EXPECT_EQ(edges(weighted, edge_weights::ones_if_none), "# source\ttarget\tweight\n1\t2\t0.5\n3\t4\t7\n");
  EXPECT_EQ(edges(weighted, edge_weights::left_out), "# source\ttarget\n1\t2\n3\t4\n");
  EXPECT_EQ(edges(none, edge_weights::as_read), "# source\ttarget\n");
  EXPECT_EQ(edges(none, edge_weights::ones_if_none), "# source\ttarget\tweight\n");
  (void)stream_edge_list(ctx, weighted, to, {.style = edge_list_style::commas});
  EXPECT_EQ(read_file(to), "source,target,weight\n1,2,0.5\n3,4,7\n");
  (void)stream_edge_list(ctx, none, to, {.style = edge_list_style::commas});
  EXPECT_EQ(read_file(to), "source,target\n");
  (void)stream_matrix_market(ctx, pattern_file, to, {.style = edge_list_style::commas});
  EXPECT_EQ(read_file(to), "source,target\n1,3\n");
  const auto result = stream_matrix_market(ctx, pattern_file, to, {.weights = edge_weights::ones_if_none});
  EXPECT_EQ(read_file(to), "# source\ttarget\tweight\n1\t3\t1\n");
  EXPECT_EQ(result->isolated, 1);
}

TEST(Stream, SymmetryAndIntegersAreKept) {
  const test::temporary_folder folder;
  const context<host> ctx;
  const std::string to = folder.file("out");
  const auto rewritten = [&](const std::string& text, text_format format) {
    const auto result = stream_matrix_market(ctx, folder.write("in", text), to, {.to = format});
    EXPECT_TRUE(result.has_value());
    return read_file(to);
  };
  const std::string skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 3\n2 1 -5\n3 3 0\n3 2 7\n";
  EXPECT_EQ(rewritten(skew, text_format::matrix_market), skew);
  EXPECT_EQ(rewritten(skew, text_format::edge_list),
            "# source\ttarget\tweight\n2\t1\t-5\n1\t2\t5\n3\t3\t0\n3\t2\t7\n2\t3\t-7\n");
  const std::string symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 3\n2 2\n";
  EXPECT_EQ(rewritten(symmetric, text_format::matrix_market), symmetric);
  EXPECT_EQ(rewritten(symmetric, text_format::edge_list), "# source\ttarget\n1\t3\n3\t1\n2\t2\n");
  const std::string large =
      "%%MatrixMarket matrix coordinate integer general\n1 3 3\n1 1 9223372036854775807\n1 2 -9223372036854775808\n"
      "1 3 1000000000000000000\n";
  EXPECT_EQ(rewritten(large, text_format::matrix_market), large);
}

TEST(Stream, WhatCannotBeIsUnsupported) {
  const test::temporary_folder folder;
  const context<host> ctx;
  for (const char* text : {"%%MatrixMarket matrix array real general\n1 1\n1\n",
                           "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 1\n",
                           "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n"}) {
    try {
      (void)stream_matrix_market(ctx, folder.write("in", text), folder.file("out"), {.to = text_format::edge_list});
      FAIL() << text;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::unsupported) << e.what();
    }
  }
  EXPECT_THROW((void)stream_edge_list(ctx, folder.file("in"), folder.file("out"), {.to = text_format::matrix_market}),
               error);
  EXPECT_EQ(folder.entries(), 1U);
}

}  // namespace
}  // namespace spargo
