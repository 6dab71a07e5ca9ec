// The Matrix Market reader and writers: types, rounding, hostile files, failures.
#include <spargo/io/matrix_market.hpp>

#include "io/matrix_market/detail.hpp"
#include "io/support/files.hpp"
#include "support/resource.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <random>

namespace spargo {
namespace {

using test::gzip;
using test::temporary_folder;

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

template <class Read>
error failure_of(Read&& read) {
  try {
    read();
  } catch (const error& e) {
    return e;
  }
  return {error_code::invalid_argument, "no error"};
}

// --- Types -----------------------------------------------------------------------------------------------------------

template <class T>
class MatrixMarketTypes : public testing::Test {};
template <class V, class I>
struct types {
  using value = V;
  using index = I;
};
using all_types = testing::Types<types<float, std::int32_t>, types<double, std::int32_t>,
                                 types<std::complex<float>, std::int32_t>, types<std::complex<double>, std::int32_t>,
                                 types<pattern, std::int32_t>, types<float, std::int64_t>, types<double, std::int64_t>,
                                 types<std::complex<double>, std::int64_t>, types<pattern, std::int64_t>>;
TYPED_TEST_SUITE(MatrixMarketTypes, all_types);

TYPED_TEST(MatrixMarketTypes, EveryRealFieldIsRead) {
  using V = typename TypeParam::value;
  const temporary_folder folder;
  const std::vector<std::pair<std::string, double>> files = {{"real general\n2 3 1\n2 3 1.25", 1.25},
                                                             {"integer general\n2 3 1\n2 3 -7", -7},
                                                             {"pattern general\n2 3 1\n2 3", 1}};
  for (const auto& [text, value] : files) {
    const std::string path = folder.write("a.mtx", "%%MatrixMarket matrix coordinate " + text);
    const auto a = read_matrix_market<V, typename TypeParam::index>(context<host>(), path);
    EXPECT_EQ(a.rows(), 2);
    EXPECT_EQ(a.cols(), 3);
    ASSERT_EQ(a.nnz(), 1);
    EXPECT_EQ(a.row_indices()[0], 1);
    EXPECT_EQ(a.col_indices()[0], 2);
    if constexpr (is_pattern<V>) {
      EXPECT_TRUE(a.values().empty());
    } else {
      EXPECT_EQ(a.values()[0], V(static_cast<float>(value)));
    }
  }
}

TYPED_TEST(MatrixMarketTypes, ComplexFilesNeedComplexValues) {
  using V = typename TypeParam::value;
  const temporary_folder folder;
  const std::string path =
      folder.write("a.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 5 0\n2 1 2 7\n");
  const auto read = [&] { return read_matrix_market<V, typename TypeParam::index>(context<host>(), path); };
  if constexpr (real_type<V>) {
    EXPECT_EQ(failure_of(read).code(), error_code::unsupported);
  } else {
    const auto a = read();
    ASSERT_EQ(a.nnz(), 3);
    EXPECT_EQ(a.row_indices()[2], 0);
    EXPECT_EQ(a.col_indices()[2], 1);
    if constexpr (complex_type<V>) {
      EXPECT_EQ(a.values()[2], V(2, -7));
    }
  }
}

TYPED_TEST(MatrixMarketTypes, WhatIsWrittenReadsBackToTheSameBits) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const temporary_folder folder;
  const context<host> ctx;
  std::mt19937_64 random(5);
  for (const std::int64_t count : {0, 1, 33, 40'000}) {
    coo_matrix<V, I, host> a(ctx, 1000, 77, count);
    for (std::int64_t k = 0; k < count; ++k) {
      a.row_indices()[k] = static_cast<I>(random() % 1000);
      a.col_indices()[k] = static_cast<I>(random() % 77);
      if constexpr (!is_pattern<V>) {
        const auto v = static_cast<double>(static_cast<std::int64_t>(random())) / 3.0;
        if constexpr (complex_type<V>) {
          a.values()[k] = V(static_cast<typename V::value_type>(v), static_cast<typename V::value_type>(1 / v));
        } else {
          a.values()[k] = static_cast<V>(v);
        }
      }
    }
    for (const char* name : {"a.mtx", "a.mtx.gz"}) {
      const std::string path = folder.file(name);
      write_matrix_market(path, a.view());
      const auto b = read_matrix_market<V, I>(ctx, path);
      EXPECT_EQ(b.rows(), 1000);
      EXPECT_EQ(b.cols(), 77);
      EXPECT_TRUE(
          std::equal(a.row_indices().begin(), a.row_indices().end(), b.row_indices().begin(), b.row_indices().end()));
      EXPECT_TRUE(
          std::equal(a.col_indices().begin(), a.col_indices().end(), b.col_indices().begin(), b.col_indices().end()));
      EXPECT_TRUE(std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end()));
      EXPECT_EQ(test::read_file(path)[0] == '%', std::string(name) == "a.mtx");
    }
  }
}

TEST(MatrixMarket, DimensionsBeyondTheIndexTypeAreUnsupported) {
  const temporary_folder folder;
  const std::string path = folder.write("a.mtx", banner + "3000000000 2 1\n2999999999 1 1\n");
  const error e = failure_of([&] { return read_matrix_market<double, std::int32_t>(context<host>(), path); });
  EXPECT_EQ(e.code(), error_code::unsupported);
  EXPECT_EQ((read_matrix_market<double, std::int64_t>(context<host>(), path).row_indices()[0]), 2999999998);
}

TEST(MatrixMarket, HeaderAloneReadsNoEntries) {
  const temporary_folder folder;
  const auto header = read_matrix_market_header(folder.write("a.mtx", banner + "% c\n\n 4 5 6\nnot an entry\n"));
  EXPECT_EQ(header.rows, 4);
  EXPECT_EQ(header.cols, 5);
  EXPECT_EQ(header.entries, 6);
}

// --- Rounding --------------------------------------------------------------------------------------------------------

TEST(MatrixMarket, RoundedIntegersAreCounted) {
  const temporary_folder folder;
  const std::string path =
      folder.write("a.mtx",
                   "%%MatrixMarket matrix coordinate integer general\n1 4 4\n"
                   "1 1 9007199254740993\n1 2 9007199254740992\n1 3 16777217\n1 4 -9223372036854775807\n");
  const auto rounded = [&]<class V>(V) {
    matrix_market_summary summary;
    (void)read_matrix_market<V, std::int32_t>(context<host>(), path, {}, &summary);
    return summary.rounded_integers;
  };
  EXPECT_EQ(rounded(double{}), 2);
  EXPECT_EQ(rounded(float{}), 3);
  EXPECT_EQ(rounded(std::complex<float>{}), 3);
  EXPECT_EQ(rounded(pattern{}), 0);
  EXPECT_EQ((read_matrix_market<double, std::int32_t>(context<host>(), path).values()[0]), 9007199254740992.0);
}

// 1 + 2^-24 + a little: above the tie for float, but its nearest double is the tie, which would round to even.
TEST(MatrixMarket, FloatsAreRoundedOnce) {
  const temporary_folder folder;
  const std::string path = folder.write("a.mtx", banner + "1 1 1\n1 1 1.00000005960464477539062500000000001\n");
  EXPECT_EQ((read_matrix_market<float, std::int32_t>(context<host>(), path).values()[0]), std::nextafter(1.0F, 2.0F));
}

TEST(MatrixMarket, BeyondFloatIsRefusedAsFloatOnly) {
  const temporary_folder folder;
  const std::string path = folder.write("a.mtx", banner + "1 1 1\n1 1 1e39\n");
  EXPECT_EQ((read_matrix_market<double, std::int32_t>(context<host>(), path).values()[0]), 1e39);
  EXPECT_EQ(failure_of([&] { return read_matrix_market<float, std::int32_t>(context<host>(), path); }).code(),
            error_code::parse);
}

TEST(MatrixMarket, SpecialValuesSurvive) {
  const temporary_folder folder;
  const std::string path = folder.file("a.mtx");
  std::vector<double> values = {std::nan(""), INFINITY, -INFINITY, -0.0, 5e-324, 1.7976931348623157e308};
  write_matrix_market(path, dense_view<const double, host>{6, 1, 1, span<const double, host>(values)});
  const auto a = read_matrix_market<double, std::int32_t>(context<host>(), path);
  ASSERT_EQ(a.nnz(), 6);
  EXPECT_TRUE(std::isnan(a.values()[0]));
  for (std::size_t k = 1; k < 6; ++k) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.values()[static_cast<std::int64_t>(k)]),
              std::bit_cast<std::uint64_t>(values[k]));
  }
}

// --- Arrays ----------------------------------------------------------------------------------------------------------

// Packed arrays of every size, against a loop over columns: places must not depend on where parts begin.
TEST(MatrixMarket, PackedArraysOfEverySize) {
  const temporary_folder folder;
  for (const std::string symmetry : {"general", "symmetric", "skew-symmetric", "hermitian"}) {
    for (const int n : {1, 2, 3, 31, 32, 33, 64}) {
      std::string text =
          "%%MatrixMarket matrix array complex " + symmetry + "\n" + std::to_string(n) + " " + std::to_string(n) + "\n";
      std::vector<std::pair<int, int>> places;
      for (int j = 0; j < n; ++j) {
        for (int i = symmetry == "general" ? 0 : symmetry == "skew-symmetric" ? j + 1 : j; i < n; ++i) {
          places.emplace_back(i, j);
          text += std::to_string(i * 1000 + j) + (i == j ? " 0\n" : " 7\n");
        }
      }
      for (const std::int64_t part : {1, 64, 1 << 20}) {
        matrix_market_summary summary;
        const auto a = detail::read_entries<std::complex<double>, std::int32_t>(
            context<host>({.threads = 2}), folder.write("a.mtx", text), {},
            {.input = {.block_bytes = 300}, .part_bytes = part}, detail::triangles::stored, summary);
        ASSERT_EQ(a.nnz(), static_cast<std::int64_t>(places.size()));
        EXPECT_EQ(summary.stored, a.nnz());
        EXPECT_EQ(summary.expanded, n * (symmetry == "skew-symmetric" ? n - 1 : n));
        for (std::int64_t k = 0; k < a.nnz(); ++k) {
          const auto [i, j] = places[static_cast<std::size_t>(k)];
          ASSERT_EQ(a.row_indices()[k], i);
          ASSERT_EQ(a.col_indices()[k], j);
          ASSERT_EQ(a.values()[k], std::complex<double>(i * 1000 + j, i == j ? 0 : 7));
        }
      }
    }
  }
}

TEST(MatrixMarket, StoredEntriesAreTheTriangleInTheFile) {
  const temporary_folder folder;
  const std::string head = "%%MatrixMarket matrix coordinate complex ";
  const std::string lower = "\n3 3 2\n2 1 1.5 2\n3 3 ";
  const std::vector<std::pair<std::string, std::complex<double>>> files = {
      {"symmetric", {1.5, 2}}, {"skew-symmetric", {-1.5, -2}}, {"hermitian", {1.5, -2}}, {"general", {0, 0}}};
  for (const auto& [symmetry, mirrored] : files) {
    const bool skew = symmetry == "skew-symmetric";
    const std::string path = folder.write(symmetry, head + symmetry + lower + (skew ? "0 0\n" : "4 0\n"));
    matrix_market_summary summary;
    const context<host> ctx;
    const auto stored = read_matrix_market_stored<std::complex<double>, std::int32_t>(ctx, path, {}, &summary);
    ASSERT_EQ(stored.nnz(), 2) << symmetry;
    EXPECT_EQ(summary.stored, 2);
    EXPECT_EQ(summary.expanded, symmetry == "general" ? 2 : 3);
    EXPECT_EQ(stored.row_indices()[0], 1);
    EXPECT_EQ(stored.col_indices()[0], 0);
    const auto csr = to_csr<std::int32_t>(ctx, stored.view(), {.symmetry = summary.header.symmetry});
    ASSERT_EQ(csr.nnz(), symmetry == "general" ? 2 : 3);
    if (symmetry == "general") continue;
    EXPECT_EQ(csr.offsets()[1], 1);
    EXPECT_EQ(csr.indices()[0], 1);
    EXPECT_EQ(csr.values()[0], mirrored) << symmetry;
    EXPECT_EQ(csr.values()[1], std::complex<double>(1.5, 2)) << symmetry;
  }
}

TEST(MatrixMarket, DenseMatricesAreWrittenColumnByColumn) {
  const temporary_folder folder;
  const std::string path = folder.file("a.mtx");
  const std::vector<double> data = {1, 2, 3, -1, 4, 5, 6, -1};  // 2 x 3, stride 4
  write_matrix_market(path, dense_view<const double, host>{2, 3, 4, span<const double, host>(data)});
  EXPECT_EQ(test::read_file(path), "%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n");
  write_matrix_market(path, dense_view<const double, host>{0, 3, 3, {}});
  EXPECT_EQ(test::read_file(path), "%%MatrixMarket matrix array real general\n0 3\n");
}

// --- A large file in parts ------------------------------------------------------------------------------------------

TEST(MatrixMarket, ALargeFileIsTheSameForAnyThreadCount) {
  const temporary_folder folder;
  const std::int64_t count = 300'000;
  std::string text = banner + "500000 500000 " + std::to_string(count) + "\n";
  for (std::int64_t k = 0; k < count; ++k) {
    text += std::to_string(k + 1) + " " + std::to_string(k * 7919 % 500'000 + 1) + " " + std::to_string(k) + ".5\n";
    if (k % 1000 == 0) text += "% a comment\n\n";
  }
  const std::string plain = folder.write("plain", text);
  const std::string packed = folder.write("packed", gzip(text));
  for (const std::string& path : {plain, packed}) {
    for (const int threads : {1, 2, 3, 8}) {
      const auto a = read_matrix_market<double, std::int32_t>(context<host>({.threads = threads}), path);
      ASSERT_EQ(a.nnz(), count);
      for (std::int64_t k = 0; k < count; ++k) {
        ASSERT_EQ(a.row_indices()[k], k);
        ASSERT_EQ(a.col_indices()[k], k * 7919 % 500'000);
        ASSERT_EQ(a.values()[k], static_cast<double>(k) + 0.5);
      }
    }
  }
}

TEST(MatrixMarket, TheFirstErrorOfALargeFileIsReported) {
  const temporary_folder folder;
  std::string text = banner + "9 9 300000\n";
  for (int k = 0; k < 300'000; ++k)
    text += k == 123'456 ? "1 1 one\n" : k > 123'456 && k % 100 == 0 ? "1 0 1\n" : "1 1 1\n";
  const std::string path = folder.write("a.mtx", text);
  for (const int threads : {1, 2, 8}) {
    const error e =
        failure_of([&] { return read_matrix_market<double, std::int32_t>(context<host>({.threads = threads}), path); });
    EXPECT_EQ(std::string(e.what()), path + ":123459:5: unexpected 'one' (expected a real number)");
  }
}

// --- Hostile files ---------------------------------------------------------------------------------------------------

// The error must come quickly, in bounded memory. Uses CPU time, robust on busy machines; quadratic takes hours.
error hostile(const std::string& path) {
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  error e = failure_of([&] { return read_matrix_market<double, std::int32_t>(context<host>({.threads = 2}), path); });
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  const auto seconds = [](const rusage& r) { return r.ru_utime.tv_sec + r.ru_stime.tv_sec; };
  EXPECT_LT(seconds(after) - seconds(before), 90) << path;
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200 * 1024) << "KiB for " << path;
  EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
  return e;
}

// `size` bytes of one character after a header, compressed chunk by chunk.
std::string bomb(const std::string& head, char filling, std::size_t size) {
  z_stream z{};
  if (deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("zlib");
  std::string packed;
  std::string chunk = head;
  for (std::size_t done = 0; done <= size; done += chunk.size()) {
    z.next_in = reinterpret_cast<Bytef*>(chunk.data());
    z.avail_in = static_cast<uInt>(chunk.size());
    const int flush = done + chunk.size() > size ? Z_FINISH : Z_NO_FLUSH;
    do {
      char out[1 << 16];
      z.next_out = reinterpret_cast<Bytef*>(out);
      z.avail_out = sizeof(out);
      deflate(&z, flush);
      packed.append(out, sizeof(out) - z.avail_out);
    } while (z.avail_out == 0);
    chunk.assign(std::size_t{1} << 20, filling);
  }
  deflateEnd(&z);
  return packed;
}

TEST(MatrixMarketHostile, ADeclaredCountAllocatesNothing) {
  const temporary_folder folder;
  const std::string size = "2147483647 2147483647 1000000000000000000\n";
  const std::string path = folder.write("a.mtx", banner + size + "1 1 1\n");
  EXPECT_EQ(std::string(hostile(path).what()),
            path + ":4:1: the file ends after 1 entry (expected 1000000000000000000)");
  const std::string packed = folder.write("a.mtx.gz", gzip(banner + size + "1 1 1\n"));
  EXPECT_EQ(hostile(packed).code(), error_code::parse);
  const std::string dense =
      folder.write("b.mtx", "%%MatrixMarket matrix array real general\n1000000000 1000000000\n1\n");
  EXPECT_EQ(hostile(dense).code(), error_code::parse);
}

TEST(MatrixMarketHostile, BombsOfBlanks) {
  const temporary_folder folder;
  const std::size_t size = std::size_t{test::is_sanitized ? 32 : 256} << 20;
  const std::string head = banner + "2 2 1\n";
  const std::string one_line = folder.write("blanks.gz", bomb(head, ' ', size));
  EXPECT_EQ(std::string(hostile(one_line).what()),
            one_line + ":3:1048577: the line is too long (expected at most 1048576 bytes)");
  const std::string many_lines = folder.write("newlines.gz", bomb(head, '\n', size));
  EXPECT_NE(std::string(hostile(many_lines).what()).find("the file ends after 0 entries"), std::string::npos);
  const std::string before_the_size = folder.write("early.gz", bomb(banner, '\n', size));
  EXPECT_NE(std::string(hostile(before_the_size).what()).find("before the size line"), std::string::npos);
  const std::string no_banner = folder.write("none.gz", bomb("", ' ', size));
  EXPECT_EQ(hostile(no_banner).code(), error_code::parse);
}

TEST(MatrixMarketHostile, ALineOfTenMegabytes) {
  const temporary_folder folder;
  const std::string expected = ":3:1048577: the line is too long (expected at most 1048576 bytes)";
  const std::size_t size = test::is_sanitized ? 3'000'000 : 10'000'000;
  for (const char filling : {' ', '7', 'x', '%', '\0'}) {
    const std::string text = banner + "9 9 2\n" + "1 1 1" + std::string(size, filling);
    for (const std::string& content : {text, text + "\n", text + "\n1 1 1\n"}) {
      const std::string plain = folder.write("plain", content);
      EXPECT_EQ(std::string(hostile(plain).what()), plain + expected);
      const std::string packed = folder.write("packed", gzip(content));
      EXPECT_EQ(std::string(hostile(packed).what()), packed + expected);
    }
  }
}

// Only the first MiB of a comment is examined, wherever the comment is.
TEST(MatrixMarketHostile, ACommentOfTenMegabytesIsNone) {
  const temporary_folder folder;
  const std::string comment = "%" + std::string(10'000'000, '1') + "\n";
  for (const std::string& text : {banner + comment + "9 9 1\n1 1 1\n", banner + "9 9 1\n" + comment + "1 1 1\n",
                                  banner + "9 9 1\n1 1 1\n" + comment, banner + "9 9 1\n1 1 1\n \t" + comment}) {
    for (const std::string& content : {text, gzip(text), text.substr(0, text.size() - 1)}) {
      EXPECT_EQ((read_matrix_market<double, std::int32_t>(context<host>(), folder.write("a", content)).nnz()), 1);
    }
    const std::string bad = folder.write("bad", text + "1 1 2\n");
    EXPECT_EQ(std::string(hostile(bad).what()), bad + ":5:1: an entry too many (expected 1)");
  }
  const std::string nul = folder.write("nul", banner + "%" + std::string(5'000'000, '\0') + "\n9 9 0\n");
  EXPECT_EQ(std::string(hostile(nul).what()), nul + ":2:2: unexpected NUL byte");
  const std::string title = folder.write("banner", banner.substr(0, banner.size() - 1) + comment);
  EXPECT_EQ(std::string(hostile(title).what()),
            title + ":1:1048577: the line is too long (expected at most 1048576 bytes)");
}

// The limit also holds inside a block, where nothing is cut.
TEST(MatrixMarketHostile, TheLimitOfALineIsExact) {
  const temporary_folder folder;
  const std::size_t limit = std::size_t{1} << 20;
  for (const std::string entry : {"1 1 1", ""}) {
    const std::string head = banner + "9 9 2\n" + (entry.size() == 5 ? "" : "1 1 1\n");
    for (const std::size_t size : {limit, limit + 1}) {
      const std::string content = head + entry + std::string(size - entry.size(), ' ') + "\n2 2 2\n";
      for (const std::string& path : {folder.write("plain", content), folder.write("packed", gzip(content))}) {
        const std::string line = std::to_string(std::count(head.begin(), head.end(), '\n') + 1);
        const error e = hostile(path);
        EXPECT_EQ(e.code() == error_code::parse, size > limit) << e.what();
        EXPECT_EQ(std::string(e.what()).rfind(path + ":" + line + ":1048577: the line is too long", 0) == 0,
                  size > limit);
      }
    }
  }
}

TEST(MatrixMarketHostile, ADirectoryAndAMissingFile) {
  const temporary_folder folder;
  EXPECT_EQ(std::string(hostile(folder.path()).what()), folder.path() + ": is a directory (expected a file)");
  EXPECT_EQ(hostile(folder.file("none")).code(), error_code::io);
}

TEST(MatrixMarketHostile, AGzipCutAnywhereIsRefused) {
  const temporary_folder folder;
  const std::string packed = gzip(banner + "3 3 3\n1 1 1\n2 2 2\n3 3 3\n");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const std::string path = folder.write("a.mtx.gz", packed.substr(0, size));
    const error e = failure_of([&] { return read_matrix_market<double, std::int32_t>(context<host>(), path); });
    EXPECT_TRUE(e.code() == error_code::io || (size < 2 && e.code() == error_code::parse)) << size << ": " << e.what();
    if (size >= 2) {
      EXPECT_GE(e.position().line, 1);
    }
  }
}

// A text file cut anywhere is rejected or (cut in the last number or at its end) read.
TEST(MatrixMarketHostile, ATextCutAnywhereIsRefused) {
  const temporary_folder folder;
  const std::string text = banner + "% c\n3 3 3\n1 1 1.5\n2 2 2.5\n3 3 3";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string path = folder.write("a.mtx", text.substr(0, size));
    EXPECT_EQ(failure_of([&] { return read_matrix_market<double, std::int32_t>(context<host>(), path); }).code(),
              error_code::parse)
        << size;
  }
}

// Replaces every byte of a small file by odd ones: no crash, no hang, no foreign exception.
TEST(MatrixMarketHostile, DamagedBytesDoNoHarm) {
  const temporary_folder folder;
  const std::string text = "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 3\n1 1 1.5\n2 1 2.5\n3 3 3e1\n";
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char odd : {'\0', '\n', '\r', ' ', '%', '-', '9', 'e', '\xff'}) {
      std::string damaged = text;
      damaged[at] = odd;
      const std::string path = folder.write("a.mtx", damaged);
      try {
        const auto a = read_matrix_market<double, std::int32_t>(context<host>({.threads = 1}), path);
        for (std::int64_t k = 0; k < a.nnz(); ++k) {
          EXPECT_TRUE(a.row_indices()[k] >= 0 && a.row_indices()[k] < a.rows());
          EXPECT_TRUE(a.col_indices()[k] >= 0 && a.col_indices()[k] < a.cols());
        }
      } catch (const error& e) {
        EXPECT_GE(e.position().line, 1) << e.what();
      }
    }
  }
}

// --- Failures --------------------------------------------------------------------------------------------------------

TEST(MatrixMarket, EveryAllocationMayFail) {
  const temporary_folder folder;
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n50 50 40\n";
  for (int k = 1; k <= 40; ++k) text += std::to_string(k + 1) + " " + std::to_string(k) + " 0.5\n";
  for (const std::string& path : {folder.write("plain", text), folder.write("packed", gzip(text))}) {
    const auto requests = test::fail_every_allocation([&](const context<host>& ctx) {
      matrix_market_summary summary;
      const auto a = detail::read_entries<double, std::int32_t>(
          ctx, path, {}, {.input = {.block_bytes = 64}, .part_bytes = 16}, detail::triangles::stored, summary);
      EXPECT_EQ(a.nnz(), 40);
    });
    EXPECT_GE(requests, 3);
    test::fail_every_allocation(
        [&](const context<host>& ctx) { EXPECT_EQ((read_matrix_market<float, std::int64_t>(ctx, path).nnz()), 80); });
  }
}

TEST(MatrixMarket, AFailedWriteLeavesTheOldFile) {
  const temporary_folder folder;
  const std::string path = folder.write("a.mtx", "old");
  const std::vector<double> data(10'000, 1.0 / 3);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit limit{4096, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const error e = failure_of([&] {
    write_matrix_market(path, dense_view<const double, host>{10'000, 1, 1, span<const double, host>(data)});
  });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(e.code(), error_code::io);
  EXPECT_EQ(test::read_file(path), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(MatrixMarket, AMatrixThatCannotBeReadBackIsNotWritten) {
  const temporary_folder folder;
  const std::string path = folder.write("a.mtx", "old");
  std::vector<std::int32_t> rows = {0, 2};
  const std::vector<std::int32_t> cols = {0, 1};
  const coo_view<const pattern, std::int32_t, host> a{{2, 2, rows, cols}, {}};
  EXPECT_EQ(failure_of([&] { write_matrix_market(path, a); }).code(), error_code::invalid_data);
  rows = {0, 1, 1};
  const coo_view<const pattern, std::int32_t, host> b{{2, 2, rows, cols}, {}};
  EXPECT_EQ(failure_of([&] { write_matrix_market(path, b); }).code(), error_code::invalid_argument);
  EXPECT_EQ(test::read_file(path), "old");
}

TEST(MatrixMarket, TrianglesAndIntegersAreWrittenAsSuch) {
  const temporary_folder folder;
  const std::string path = folder.file("a.mtx");
  const std::vector<std::int32_t> rows = {1, 2, 2};
  const std::vector<std::int32_t> cols = {0, 0, 2};
  const std::vector<double> values = {-5, 1e15, 0};
  const coo_view<const double, std::int32_t, host> a{{3, 3, rows, cols}, values};
  write_matrix_market(path, a, {symmetry_kind::skew_symmetric, matrix_market_numbers::integers});
  EXPECT_EQ(test::read_file(path),
            "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 3\n2 1 -5\n3 1 1000000000000000\n3 3 0\n");
  const auto back = read_matrix_market_stored<double, std::int32_t>(context<host>(), path);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), back.values().begin(), back.values().end()));
  const coo_view<const pattern, std::int32_t, host> p{{3, 3, rows, cols}, {}};
  write_matrix_market(path, p, {.symmetry = symmetry_kind::symmetric});
  EXPECT_EQ(test::read_file(path), "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 1\n3 3\n");
  const std::vector<std::complex<double>> numbers = {{1, 2}, {3, 0}, {4, 0}};
  const coo_view<const std::complex<double>, std::int32_t, host> h{{3, 3, rows, cols}, numbers};
  write_matrix_market(path, h, {.symmetry = symmetry_kind::hermitian});
  EXPECT_EQ(test::read_file(path),
            "%%MatrixMarket matrix coordinate complex hermitian\n3 3 3\n2 1 1 2\n3 1 3 0\n3 3 4 0\n");
}

TEST(MatrixMarket, WhatAKindOfMatrixCannotHoldIsNotWritten) {
  const temporary_folder folder;
  const std::string path = folder.write("a.mtx", "old");
  const std::vector<std::int32_t> rows = {1, 1};
  const std::vector<std::int32_t> cols = {0, 1};
  const auto refused = [&]<class V>(const std::vector<V>& values, std::int32_t width,
                                    const matrix_market_write_options& options) {
    const coo_view<const V, std::int32_t, host> a{{2, width, rows, cols}, values};
    return failure_of([&] { write_matrix_market(path, a, options); }).code();
  };
  using reals = std::vector<double>;
  using complexes = std::vector<std::complex<double>>;
  constexpr auto integers = matrix_market_numbers::integers;
  for (const double value : {0.5, 1e19, std::nan(""), -HUGE_VAL}) {
    EXPECT_EQ(refused(reals{1, value}, 2, {.numbers = integers}), error_code::invalid_data) << value;
  }
  EXPECT_EQ(refused(reals{1, 1}, 2, {.symmetry = symmetry_kind::skew_symmetric}), error_code::invalid_data);
  EXPECT_EQ(refused(complexes{1, {1, 1}}, 2, {.symmetry = symmetry_kind::hermitian}), error_code::invalid_data);
  EXPECT_EQ(refused(reals{1, 1}, 2, {.symmetry = symmetry_kind::hermitian}), error_code::invalid_argument);
  EXPECT_EQ(refused(reals{1, 1}, 3, {.symmetry = symmetry_kind::symmetric}), error_code::invalid_argument);
  EXPECT_EQ(refused(complexes{1, 1}, 2, {.numbers = integers}), error_code::invalid_argument);
  EXPECT_EQ(refused(std::vector<pattern>{}, 2, {.symmetry = symmetry_kind::skew_symmetric}),
            error_code::invalid_argument);
  EXPECT_EQ(test::read_file(path), "old");
}

TEST(MatrixMarket, ProgressIsReported) {
  const temporary_folder folder;
  const std::string text = banner + "2 2 2\n1 1 1\n2 2 2\n";
  std::int64_t last = -1;
  const read_options options{.progress = [&](const read_progress& p) { last = p.bytes_done; }};
  (void)read_matrix_market<double, std::int32_t>(context<host>(), folder.write("a.mtx", text), options);
  EXPECT_EQ(last, static_cast<std::int64_t>(text.size()));
}

}  // namespace
}  // namespace spargo
