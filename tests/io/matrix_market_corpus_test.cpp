// The corpus in tests/io/corpus/valid and invalid: small files named after what they test.
//
// A valid file's comment `% expect: N SUM` gives the number of entries after expansion and their sum (re im if
// complex), by hand. An invalid file's name ends in `@LINE_COLUMN.mtx`, its error's position. Every file is read with
// several thread counts, blocks and parts, uncompressed and compressed: the result, or whole message, must be the same.
#include "io/matrix_market/detail.hpp"
#include "io/support/files.hpp"
#include "support/folders.hpp"

#include <spargo/io/matrix_market.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace spargo {
namespace {

using value = std::complex<double>;

std::vector<std::filesystem::path> corpus(const std::string& kind) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(test::source_folder()) / "tests/io/corpus" / kind)) {
    if (entry.path().extension() == ".mtx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct outcome {
  std::string error;  // without the file name; empty for success
  std::vector<std::int64_t> places;
  std::vector<value> values;
  bool operator==(const outcome&) const = default;
};

outcome read(const std::string& path, int threads, const detail::matrix_market_tuning& tuning) {
  outcome result;
  try {
    matrix_market_summary summary;
    const auto a = detail::read_entries<value, std::int64_t>(context<host>({.threads = threads}), path, {}, tuning,
                                                             detail::triangles::stored, summary);
    for (std::int64_t k = 0; k < a.nnz(); ++k) {
      result.places.push_back(a.row_indices()[k]);
      result.places.push_back(a.col_indices()[k]);
      result.values.push_back(a.values()[k]);
    }
  } catch (const error& e) {
    result.error = std::string(e.what()).substr(path.size());
  }
  return result;
}

// NaNs compare unequal; no file compared here has any.
void expect_the_same_however_read(const std::string& content, const outcome& expected) {
  const test::temporary_folder folder;
  for (const std::string& path : {folder.write("plain", content), folder.write("packed", test::gzip(content))}) {
    for (const int threads : {1, 2, 3, 8}) {
      for (const std::int64_t block : {1, 7, 64, 0}) {
        if (threads == 8 && block < 64) continue;  // many threads for few bytes: slow on a small machine
        for (const std::int64_t part : {1, 20, 1 << 16}) {
          const outcome ours = read(path, threads, {.input = {.block_bytes = block}, .part_bytes = part});
          ASSERT_EQ(ours.error, expected.error) << threads << " threads, blocks of " << block << ", parts of " << part;
          ASSERT_TRUE(ours == expected) << threads << " threads, blocks of " << block << ", parts of " << part;
        }
      }
    }
  }
}

TEST(MatrixMarketCorpus, ValidFilesAreRead) {
  const auto files = corpus("valid");
  EXPECT_GE(files.size(), 25U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    const std::string content = test::read_file(path.string());
    const std::string mark = "% expect: ";
    ASSERT_NE(content.find(mark), std::string::npos);
    std::istringstream line(content.substr(content.find(mark) + mark.size()));
    std::int64_t entries = 0;
    std::string real;
    ASSERT_TRUE(line >> entries >> real);
    std::string rest;
    std::getline(line, rest);
    const double imaginary = rest.find_first_of("0123456789") == std::string::npos ? 0 : std::stod(rest);
    const auto a = read_matrix_market<value, std::int32_t>(context<host>(), path.string());
    value sum = 0;
    for (const value v : a.values()) sum += v;
    EXPECT_EQ(a.nnz(), entries);
    EXPECT_EQ(sum.real(), std::stod(real));
    EXPECT_EQ(sum.imag(), imaginary);
    const outcome whole = read(path.string(), 1, {});
    EXPECT_EQ(whole.error, "");
    expect_the_same_however_read(content, whole);
  }
}

TEST(MatrixMarketCorpus, InvalidFilesAreRefusedWhereTheyAreWrong) {
  auto files = corpus("invalid");
  EXPECT_GE(files.size(), 50U);
  for (const auto& path : corpus("overflow")) files.push_back(path);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    const std::string name = path.stem().string();
    std::string place = name.substr(name.find('@') + 1);
    ASSERT_NE(place.find('_'), std::string::npos);
    place = ":" + place.replace(place.find('_'), 1, ":") + ": ";
    const outcome whole = read(path.string(), 1, {});
    EXPECT_EQ(whole.error.substr(0, place.size()), place) << whole.error;
    EXPECT_GT(whole.error.size(), place.size() + 10) << "no explanation: " << whole.error;
    EXPECT_EQ(whole.error.find('\n'), std::string::npos) << "more than one line";
    expect_the_same_however_read(test::read_file(path.string()), whole);
  }
}

}  // namespace
}  // namespace spargo
