// The edge lists in tests/io/corpus: valid ones against a naive reader, invalid ones with the error's line and column
// in their names. All are read in blocks and parts of any size, by one or several threads.
#include "io/edge_list/read.hpp"
#include "io/support/files.hpp"
#include "support/folders.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace spargo {
namespace {

std::vector<std::filesystem::path> corpus(const std::string& kind) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(test::source_folder()) / "tests/io/corpus" / kind)) {
    if (entry.path().extension() == ".el") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// One "source target weight" per line, or the error without the file name.
std::string read(const std::string& path, int threads, std::int64_t block, std::int64_t part) {
  detail::edge_list_tuning tuning;
  tuning.input.block_bytes = block;
  tuning.part_bytes = part;
  try {
    const auto list = detail::read_edge_list_with<std::int32_t>(context<host>({.threads = threads}), path, {}, tuning);
    std::string text;
    const auto id = [&](std::int32_t vertex) { return list.ids[static_cast<std::size_t>(vertex)]; };
    for (std::int64_t k = 0; k < list.edges.nnz(); ++k) {
      text += fmt::format("{} {} {}\n", id(list.edges.row_indices()[k]), id(list.edges.col_indices()[k]),
                          list.edges.values()[k]);
    }
    return text;
  } catch (const error& e) {
    return std::string(e.what()).substr(path.size());
  }
}

double weight_among(const std::string& attributes) {
  const std::size_t name = attributes.find("weight");
  if (name == std::string::npos) return 1;
  std::string value = attributes.substr(attributes.find(':', name) + 1);
  if (const std::size_t call = value.find("np.float64("); call != std::string::npos) value = value.substr(call + 11);
  return std::stod(value);
}

std::string read_naively(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    const std::string attributes = line.substr(std::min(line.find('{'), line.size()));
    line.resize(line.size() - attributes.size());
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
    std::istringstream tokens(line);
    std::string source, target;
    double weight = 1;
    if (!(tokens >> source >> target) || source[0] == '#' || source[0] == '%') continue;
    if (std::exchange(first, false) && !std::isdigit(static_cast<unsigned char>(source[0]))) continue;  // column names
    tokens >> weight;
    if (tokens.fail()) weight = weight_among(attributes);
    result += fmt::format("{} {} {}\n", std::stoll(source), std::stoll(target), weight);
  }
  return result;
}

void expect_however_read(const std::filesystem::path& file, const std::string& expected) {
  const test::temporary_folder folder;
  const std::string packed = folder.write("packed", test::gzip(test::read_file(file.string())));
  for (const std::string& path : {file.string(), packed}) {
    for (const int threads : {1, 3}) {
      for (const std::int64_t block : {1, 7, 64, 0}) {
        for (const std::int64_t part : {1, 20, 1 << 17}) {
          ASSERT_EQ(read(path, threads, block, part), expected) << threads << " threads, blocks of " << block;
        }
      }
    }
  }
}

TEST(EdgeListCorpus, ValidFilesAreRead) {
  const auto files = corpus("valid");
  EXPECT_GE(files.size(), 19U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    expect_however_read(path, read_naively(test::read_file(path.string())));
  }
}

TEST(EdgeListCorpus, OthersAreRefusedWhereTheyAreWrong) {
  auto files = corpus("invalid");
  for (const auto& path : corpus("overflow")) files.push_back(path);
  EXPECT_GE(files.size(), 32U);
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    const std::string name = path.stem().string();
    std::string place = name.substr(name.find('@') + 1);
    ASSERT_NE(place.find('_'), std::string::npos);
    place = ":" + place.replace(place.find('_'), 1, ":") + ": ";
    const std::string message = read(path.string(), 1, 0, 1 << 17);
    EXPECT_EQ(message.substr(0, place.size()), place) << message;
    EXPECT_GT(message.size(), place.size() + 10) << "no explanation";
    expect_however_read(path, message);
  }
}

}  // namespace
}  // namespace spargo
