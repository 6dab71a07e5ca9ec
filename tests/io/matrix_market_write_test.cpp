// Input of the Matrix Market writers besides the library's matrices: exact integers, triangles of arrays, comments.
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/stream.hpp>
#include <spargo/io/system_error.hpp>

#include "io/support/files.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <limits>
#include <random>

namespace spargo {
namespace {

using test::temporary_folder;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

error_code code_of(const std::function<void()>& write) {
  try {
    write();
  } catch (const error& e) {
    return e.code();
  }
  return error_code::device_failure;
}

TEST(MatrixMarketWriters, IntegersAreExact) {
  const temporary_folder folder;
  const std::string path = folder.file("a.mtx");
  const std::vector<std::int32_t> rows = {0, 1, 1};
  const std::vector<std::int32_t> cols = {1, 0, 2};
  const coo_pattern_view<std::int32_t, host> places{2, 3, rows, cols};
  const std::vector<std::int64_t> whole = {least, (std::int64_t{1} << 53) + 1, 7};
  write_matrix_market<std::int64_t>(path, places, span<const std::int64_t, host>(whole));
  EXPECT_EQ(
      test::read_file(path),
      "%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 2 -9223372036854775808\n2 1 9007199254740993\n2 "
      "3 7\n");
  const std::vector<std::uint64_t> large = {most, 1, 0};
  write_matrix_market<std::uint64_t>(path, places, span<const std::uint64_t, host>(large));
  EXPECT_EQ(
      test::read_file(path),
      "%%MatrixMarket matrix coordinate unsigned-integer general\n2 3 3\n1 2 18446744073709551615\n2 1 1\n2 3 0\n");
  const std::vector<std::uint64_t> small = {1, 2, 3};
  write_matrix_market(path, dense_view<const std::uint64_t, host>{3, 1, 1, small}, {.comment = "one\n\ntwo\n"});
  EXPECT_EQ(test::read_file(path),
            "%%MatrixMarket matrix array unsigned-integer general\n%one\n%\n%two\n3 1\n1\n2\n3\n");
}

TEST(MatrixMarketWriters, UnsignedFilesAreRead) {
  const temporary_folder folder;
  const context<host> ctx;
  const std::string banner = "%%MatrixMarket matrix coordinate Unsigned-Integer general\n1 4 4\n";
  const std::string path = folder.write(
      "a.mtx", banner + "1 1 18446744073709551615\n1 2 +9223372036854775808\n1 3 18446744073709549568\n1 4 3\n");
  EXPECT_TRUE(read_matrix_market_header(path).is_unsigned);
  EXPECT_EQ(read_matrix_market_header(path).field, matrix_market_field::integer);
  matrix_market_summary summary;
  const auto a = read_matrix_market<double, std::int32_t>(ctx, path, {}, &summary);
  EXPECT_EQ(a.values()[0], 18446744073709551616.0);
  EXPECT_EQ(a.values()[1], 9223372036854775808.0);
  EXPECT_EQ(a.values()[2], 18446744073709549568.0);
  EXPECT_EQ(a.values()[3], 3);
  EXPECT_EQ(summary.rounded_integers, 1);
  for (const char* const bad : {"18446744073709551616", "-9223372036854775809", "1.5", "1e3"}) {
    EXPECT_EQ(code_of([&] {
                const std::string text = banner + "1 1 1\n1 2 1\n1 3 1\n1 4 " + bad + "\n";
                (void)read_matrix_market<double, std::int32_t>(ctx, folder.write("b.mtx", text));
              }),
              error_code::parse)
        << bad;
  }
  // Streaming keeps the numbers.
  ASSERT_TRUE(stream_matrix_market(ctx, path, folder.file("b.mtx"), {.to = text_format::matrix_market}));
  EXPECT_EQ(test::read_file(folder.file("b.mtx")),
            "%%MatrixMarket matrix coordinate unsigned-integer general\n1 4 4\n1 1 18446744073709551615\n1 2 "
            "9223372036854775808\n1 3 18446744073709549568\n1 4 3\n");
  const std::string skew = "%%MatrixMarket matrix coordinate unsigned-integer skew-symmetric\n1 1 0\n";
  EXPECT_EQ(code_of([&] { (void)read_matrix_market_header(folder.write("c.mtx", skew)); }), error_code::parse);
}

// Against a loop over columns.
TEST(MatrixMarketWriters, TrianglesOfArrays) {
  const temporary_folder folder;
  const std::string path = folder.file("a.mtx");
  std::mt19937_64 random(3);
  for (const symmetry_kind symmetry :
       {symmetry_kind::general, symmetry_kind::symmetric, symmetry_kind::skew_symmetric}) {
    for (const std::int64_t n : {0, 1, 2, 3, 7, 150}) {
      const bool skew = symmetry == symmetry_kind::skew_symmetric;
      const std::int64_t rows = symmetry == symmetry_kind::general ? n / 2 : n;
      std::vector<std::int64_t> data(static_cast<std::size_t>(rows * n));
      for (auto& v : data) v = static_cast<std::int64_t>(random() % 1000);
      if (skew) {
        for (std::int64_t i = 0; i < n; ++i) data[static_cast<std::size_t>(i * n + i)] = 0;
      }
      const char* const names[] = {"general", "symmetric", "skew-symmetric"};
      std::string want = std::string("%%MatrixMarket matrix array integer ") + names[static_cast<int>(symmetry)] +
                         "\n" + std::to_string(rows) + " " + std::to_string(n) + "\n";
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = symmetry == symmetry_kind::general ? 0 : (skew ? j + 1 : j); i < rows; ++i) {
          want += std::to_string(data[static_cast<std::size_t>(i * n + j)]) + "\n";
        }
      }
      write_matrix_market(path, dense_view<const std::int64_t, host>{rows, n, n, data}, {.symmetry = symmetry});
      EXPECT_EQ(test::read_file(path), want) << n;
    }
  }
}

TEST(MatrixMarketWriters, WhatCannotBeIsRefused) {
  const temporary_folder folder;
  const std::string path = folder.write("a.mtx", "old");
  const std::vector<std::uint64_t> large = {0, most, 1, 0};
  const std::vector<double> full = {1, 2, 3, 4};
  const auto refused = [&]<class V>(const std::vector<V>& values, std::int64_t rows,
                                    const matrix_market_write_options& options) {
    const dense_view<const V, host> a{rows, 4 / rows, 4 / rows, values};
    return code_of([&] { write_matrix_market(path, a, options); });
  };
  EXPECT_EQ(refused(large, 2, {.symmetry = symmetry_kind::skew_symmetric}), error_code::invalid_argument);
  EXPECT_EQ(refused(full, 2, {.symmetry = symmetry_kind::skew_symmetric}), error_code::invalid_data);
  EXPECT_EQ(refused(full, 1, {.symmetry = symmetry_kind::symmetric}), error_code::invalid_argument);
  EXPECT_EQ(refused(full, 2, {.symmetry = symmetry_kind::hermitian}), error_code::invalid_argument);
  EXPECT_EQ(refused(full, 2, {.numbers = matrix_market_numbers::integers}), error_code::invalid_argument);
  EXPECT_EQ(test::read_file(path), "old");
}

TEST(MatrixMarketWriters, TheSystemsNumberIsInTheError) {
  const temporary_folder folder;
  try {
    (void)read_matrix_market_header(folder.file("none.mtx"));
    FAIL();
  } catch (const system_error& e) {
    EXPECT_EQ(e.number(), ENOENT);
    EXPECT_EQ(e.position().file, folder.file("none.mtx"));
  }
}

}  // namespace
}  // namespace spargo
