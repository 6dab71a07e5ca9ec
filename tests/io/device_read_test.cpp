// Reading into device memory against the host readers; every test states whether the device must have parsed.
#include "io/device/tuning.hpp"
#include "io/support/files.hpp"
#include "support/data.hpp"
#include "support/device.hpp"
#include "support/resource.hpp"

#include <spargo/formats/convert.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <thread>

namespace spargo {
namespace {

using algorithm = device_read_algorithm;
using detail::device_read_tuning;

const device_read_options on_device{{}, algorithm::on_device};

struct way {
  int threads;
  device_read_tuning tuning;
};

// Chunks so small that lines cross them, more threads than slots, and the default.
std::vector<way> ways() {
  return {{1, {.chunk_bytes = 64, .slots = 1}},    {3, {.chunk_bytes = 1000, .slots = 2}},
          {4, {.chunk_bytes = 8191, .slots = 3}},  {2, {.chunk_bytes = 8192, .slots = 8}},
          {5, {.chunk_bytes = 65536, .slots = 4}}, {4, {}}};
}

template <class T>
std::string bytes_of(const array<T, host>& a) {
  return {reinterpret_cast<const char*>(a.data()), static_cast<std::size_t>(a.size()) * sizeof(T)};
}

struct outcome {
  std::string error;  // empty for success
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stored = 0;
  std::int64_t expanded = 0;
  std::int64_t rounded = 0;
  std::string row_indices;
  std::string col_indices;
  std::string values;
  std::vector<std::int64_t> ids;
  bool weighted = false;
  std::int64_t first_vertex = -1;
  bool operator==(const outcome&) const = default;
};

template <class V, class I>
void note(outcome& result, const coo_matrix<V, I, host>& a) {
  result.rows = static_cast<std::int64_t>(a.rows());
  result.cols = static_cast<std::int64_t>(a.cols());
  result.row_indices = bytes_of(a.row_indices());
  result.col_indices = bytes_of(a.col_indices());
  result.values = bytes_of(a.values());
}

template <class Read>
outcome outcome_of(const Read& read) {
  outcome result;
  try {
    read(result);
  } catch (const error& e) {
    result = {};
    result.error = e.what();
  }
  return result;
}

template <class V, class I>
outcome matrix_by_host(const std::string& path) {
  return outcome_of([&](outcome& result) {
    matrix_market_summary summary;
    note(result, read_matrix_market<V, I>(context<host>({.threads = 2}), path, {}, &summary));
    result.stored = summary.stored;
    result.expanded = summary.expanded;
    result.rounded = summary.rounded_integers;
  });
}

template <class V, class I>
outcome matrix_by_device(const context<device>& ctx, const std::string& path, const way& how,
                         device_read_summary& summary) {
  return outcome_of([&](outcome& result) {
    const context<host> reading({.threads = how.threads});
    const auto read = detail::read_matrix_market_with<V, I>(ctx, reading, path, on_device, how.tuning, summary);
    note(result, to_host<V, I>(ctx, read.view()));
    result.stored = summary.stored;
    result.expanded = summary.expanded;
    result.rounded = summary.rounded_integers;
  });
}

outcome edges_by_host(const std::string& path) {
  return outcome_of([&](outcome& result) {
    edge_list<std::int32_t> list = read_edge_list<std::int32_t>(context<host>({.threads = 2}), path);
    note(result, list.edges);
    result.ids = list.ids;
    result.weighted = list.weighted;
    result.rounded = list.rounded_integers;
    result.first_vertex = list.first_vertex;
  });
}

outcome edges_by_device(const context<device>& ctx, const std::string& path, const way& how, algorithm& parsed) {
  return outcome_of([&](outcome& result) {
    const context<host> reading({.threads = how.threads});
    auto list = detail::read_edge_list_with<std::int32_t>(ctx, reading, path, on_device, how.tuning);
    note(result, to_host<double, std::int32_t>(ctx, list.edges.view()));
    result.ids = list.ids;
    result.weighted = list.weighted;
    result.rounded = list.rounded_integers;
    result.first_vertex = list.first_vertex;
    parsed = list.parsed;
  });
}

// Returns the number of ways in which the device parsed the text.
template <class V, class I>
int expect_same_matrix(const context<device>& ctx, const std::string& path) {
  const outcome expected = matrix_by_host<V, I>(path);
  int parsed = 0;
  for (const way& how : ways()) {
    device_read_summary summary;
    const outcome ours = matrix_by_device<V, I>(ctx, path, how, summary);
    EXPECT_EQ(ours.error, expected.error) << "chunks of " << how.tuning.chunk_bytes;
    EXPECT_TRUE(ours == expected) << path << ": chunks of " << how.tuning.chunk_bytes;
    parsed += ours.error.empty() && summary.parsed == algorithm::on_device;
  }
  return parsed;
}

int expect_same_edges(const context<device>& ctx, const std::string& path) {
  const outcome expected = edges_by_host(path);
  int parsed = 0;
  for (const way& how : ways()) {
    auto where = algorithm::on_host;
    const outcome ours = edges_by_device(ctx, path, how, where);
    EXPECT_EQ(ours.error, expected.error) << "chunks of " << how.tuning.chunk_bytes;
    EXPECT_TRUE(ours == expected) << path << ": chunks of " << how.tuning.chunk_bytes;
    parsed += ours.error.empty() && where == algorithm::on_device;
  }
  return parsed;
}

int all_ways() { return static_cast<int>(ways().size()); }

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder, const std::string& extensions) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (!extension.empty() && extensions.find(extension + ' ') != std::string::npos) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::filesystem::path corpus() { return std::filesystem::path(test::source_folder()) / "tests/io/corpus"; }

// --- Files -----------------------------------------------------------------------------------------------------------

TEST(DeviceRead, TheCorpusIsReadAsOnTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  int files = 0;
  int parsed = 0;
  for (const char* kind : {"valid", "invalid", "overflow"}) {
    for (const auto& path : files_of(corpus() / kind, ".mtx ")) {
      SCOPED_TRACE(path.filename().string());
      parsed += expect_same_matrix<double, std::int32_t>(ctx, path.string()) > 0;
      (void)expect_same_matrix<float, std::int64_t>(ctx, path.string());
      (void)expect_same_matrix<pattern, std::int32_t>(ctx, path.string());
      (void)expect_same_matrix<std::complex<double>, std::int32_t>(ctx, path.string());
      ++files;
    }
    for (const auto& path : files_of(corpus() / kind, ".el ")) {
      SCOPED_TRACE(path.filename().string());
      parsed += expect_same_edges(ctx, path.string()) > 0;
      ++files;
    }
  }
  EXPECT_GE(files, 150);
  EXPECT_GE(parsed, 15);
}

TEST(DeviceRead, RealFilesAreReadAsOnTheHost) {
  SPARGO_TEST_NEEDS_GPU();
  SPARGO_TEST_NEEDS_DATA();
  const context<device> ctx;
  int parsed = 0;
  for (const auto& path : files_of(test::data_directory(), ".mtx ")) {
    SCOPED_TRACE(path.filename().string());
    parsed += expect_same_matrix<double, std::int32_t>(ctx, path.string()) == all_ways();
  }
  for (const auto& path : files_of(test::data_directory(), ".el .wel .txt .csv ")) {
    SCOPED_TRACE(path.filename().string());
    parsed += expect_same_edges(ctx, path.string()) == all_ways();
  }
  EXPECT_GE(parsed, 10);
}

// --- Generated matrices ----------------------------------------------------------------------------------------------

enum class numbers { real, integer, none };

std::string random_matrix(numbers kind, const char* symmetry, int entries, unsigned seed) {
  std::mt19937_64 random(seed);
  const char* const field = kind == numbers::real ? "real" : kind == numbers::integer ? "integer" : "pattern";
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate {} {}\n% one comment\n70000 70000 {}\n", field, symmetry, entries);
  for (int k = 0; k < entries; ++k) {
    const auto row = 2 + random() % 69999;
    const auto col = symmetry[0] == 'g' ? 1 + random() % 70000 : 1 + random() % (row - 1);
    text += fmt::format("{} {}", row, col);
    const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -60);
    if (kind == numbers::real) text += k % 3 == 0 ? fmt::format(" {:.2f}", value) : fmt::format(" {:.17g}", value);
    if (kind == numbers::integer)
      text += fmt::format(" {}", static_cast<std::int64_t>(random()) >> (8 + random() % 55));
    text += k % 50 == 7 ? " \r\n" : "\n";
  }
  return text;
}

TEST(DeviceRead, EveryKindOfMatrix) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  for (const numbers kind : {numbers::real, numbers::integer, numbers::none}) {
    for (const char* symmetry : {"general", "symmetric", "skew-symmetric"}) {
      if (kind == numbers::none && symmetry[1] == 'k') continue;
      for (const int entries : {1, 2, 31, 257, 20'000}) {
        SCOPED_TRACE(fmt::format("{} {} {}", static_cast<int>(kind), symmetry, entries));
        const std::string path = folder.write("a.mtx", random_matrix(kind, symmetry, entries, 5));
        EXPECT_EQ((expect_same_matrix<double, std::int32_t>(ctx, path)), all_ways());
        EXPECT_EQ((expect_same_matrix<float, std::int64_t>(ctx, path)), all_ways());
        EXPECT_EQ((expect_same_matrix<pattern, std::int32_t>(ctx, path)), all_ways());
        EXPECT_EQ((expect_same_matrix<std::complex<float>, std::int32_t>(ctx, path)), 0);
      }
    }
  }
}

// All lines have the same length, so that line ends fall on every position of a tile, a vector and a word.
TEST(DeviceRead, LineEndsEverywhere) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  for (int blanks = 0; blanks < 40; ++blanks) {
    std::string text = "%%MatrixMarket matrix coordinate pattern general\n9999 9999 3000\n";
    for (int k = 0; k < 3000; ++k) text += fmt::format("{:>{}} {}\n", 1000 + k, 4 + blanks, 5000 - k);
    EXPECT_EQ((expect_same_matrix<pattern, std::int32_t>(ctx, folder.write("a.mtx", text))), all_ways()) << blanks;
  }
}

TEST(DeviceRead, UnusualLinesAreTheHosts) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  std::string text = random_matrix(numbers::real, "general", 3000, 6);
  text.replace(text.find(" 3000\n"), 6, " 3008\n");
  text +=
      "1 1 inf\n2 2 nan\n3 3 1d-5\n4 4 1e-310\n5 5 1.00000000000000000000000000000000001\n6 6 -1e300\n#7 7 1\n"
      "8 8 123456789012345678901234567890";
  const std::string path = folder.write("a.mtx", text);
  // "#7" is an error, "+7" is unusual.
  EXPECT_EQ((expect_same_matrix<double, std::int32_t>(ctx, path)), 0);
  text.replace(text.find("#7"), 2, "+7");
  const std::string good = folder.write("b.mtx", text);
  EXPECT_EQ((expect_same_matrix<double, std::int32_t>(ctx, good)), all_ways());
  device_read_summary summary;
  EXPECT_EQ((matrix_by_device<double, std::int32_t>(ctx, good, ways().back(), summary).error), "");
  EXPECT_EQ(summary.lines_on_host, 8);
  EXPECT_EQ((matrix_by_device<double, std::int32_t>(ctx, good, {2, {.most_unusual = 8}}, summary).error), "");
  EXPECT_EQ(summary.parsed, algorithm::on_device);
  const outcome few = matrix_by_device<double, std::int32_t>(ctx, good, {2, {.most_unusual = 7}}, summary);
  EXPECT_EQ(summary.parsed, algorithm::on_host);
  EXPECT_TRUE(few == (matrix_by_host<double, std::int32_t>(good)));
  EXPECT_EQ((expect_same_matrix<float, std::int32_t>(ctx, good)), 0);  // -1e300 is beyond float32
}

TEST(DeviceRead, WhatTheHostMustReadItDoes) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  const std::string plain = random_matrix(numbers::real, "general", 500, 7);
  const std::size_t middle = plain.find('\n', plain.size() / 2) + 1;
  const std::string head = plain.substr(0, middle);
  const std::string tail = plain.substr(middle);
  const auto same = [&](const std::string& text) {
    return expect_same_matrix<double, std::int32_t>(ctx, folder.write("a.mtx", text));
  };
  EXPECT_EQ(same(plain), all_ways());
  EXPECT_EQ(same(plain.substr(0, plain.size() - 1)), all_ways());
  EXPECT_EQ(same(plain + "\n \t\r\n\n"), all_ways());
  EXPECT_EQ(same(test::gzip(plain)), 0);
  EXPECT_EQ(same(head + "% a comment\n" + tail), 0);
  EXPECT_EQ(same(head + "\n" + tail), 0);
  EXPECT_EQ(same(plain + "% a comment\n"), 0);
  EXPECT_EQ(same(plain + "1 1 1\n"), 0);
  EXPECT_EQ(same(head), 0);
  EXPECT_EQ(same(head + std::string(5000, ' ') + tail), 0);  // longer than the margin on the device
  EXPECT_EQ(same(head + "1 1 x\n" + tail), 0);
  EXPECT_EQ(same(head + "70001 1 1\n" + tail), 0);
  EXPECT_EQ(same("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 5\n2 3 6\n"), 0);
  EXPECT_EQ(same("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 5\n1 2 6\n"), 0);
  EXPECT_EQ(same("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5\n2 2 6\n"), 0);
  EXPECT_EQ(same("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5\n2 2 0\n"), all_ways());
  EXPECT_EQ(same("%%MatrixMarket matrix coordinate real general\n3 3 0\n"), 0);
  EXPECT_EQ(same("%%MatrixMarket matrix coordinate real general\n3 3 1000000000000000\n1 1 1\n"), 0);
  EXPECT_EQ(same("%%MatrixMarket matrix coordinate real general\n3000000000 3 1\n1 1 1\n"), 0);
  EXPECT_EQ(same(""), 0);
  EXPECT_NE((matrix_by_host<double, std::int32_t>(folder.file("nothing"))).error, "");
  EXPECT_EQ((expect_same_matrix<double, std::int32_t>(ctx, folder.file("nothing"))), 0);
}

TEST(DeviceRead, APipeIsOpenedOnce) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  const std::string text = random_matrix(numbers::real, "general", 500, 8);
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << text; });
  device_read_summary summary;
  const outcome ours = matrix_by_device<double, std::int32_t>(ctx, pipe, ways().back(), summary);
  writer.join();
  EXPECT_TRUE(ours == (matrix_by_host<double, std::int32_t>(folder.write("plain", text))));
}

TEST(DeviceRead, SmallFilesAreTheHostsUnlessAskedFor) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const context<host> reading({.threads = 2});
  const test::temporary_folder folder;
  const std::string path = folder.write("a.mtx", random_matrix(numbers::real, "general", 500, 9));
  const auto where = [&](algorithm wanted, const device_read_tuning& tuning) {
    device_read_summary summary;
    (void)detail::read_matrix_market_with<double, std::int32_t>(ctx, reading, path, {{}, wanted}, tuning, summary);
    return summary.parsed;
  };
  EXPECT_EQ(where(algorithm::automatic, {}), algorithm::on_host);
  EXPECT_EQ(where(algorithm::automatic, {.least_bytes = 1000}), algorithm::on_device);
  EXPECT_EQ(where(algorithm::on_device, {}), algorithm::on_device);
  EXPECT_EQ(where(algorithm::on_host, {.least_bytes = 1000}), algorithm::on_host);
  EXPECT_EQ(to_string(algorithm::automatic), "automatic");
  EXPECT_EQ(to_string(algorithm::on_host), "on_host");
  EXPECT_EQ(to_string(algorithm::on_device), "on_device");
}

TEST(DeviceRead, ProgressAscendsToTheEnd) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  const std::string text = random_matrix(numbers::integer, "general", 5000, 10);
  const std::string path = folder.write("a.mtx", text);
  std::int64_t last = 0;
  int calls = 0;
  device_read_options options{{}, algorithm::on_device};
  options.progress = [&](const read_progress& now) {
    EXPECT_GT(now.bytes_done, last);
    EXPECT_EQ(now.bytes_total, static_cast<std::int64_t>(text.size()));
    last = now.bytes_done;
    ++calls;
  };
  device_read_summary summary;
  (void)detail::read_matrix_market_with<double, std::int32_t>(ctx, context<host>({.threads = 4}), path, options,
                                                              {.chunk_bytes = 10'000, .slots = 4}, summary);
  EXPECT_EQ(last, static_cast<std::int64_t>(text.size()));
  EXPECT_GT(calls, 4);
}

TEST(DeviceRead, CsrIsTheHosts) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const context<host> reading({.threads = 2});
  const test::temporary_folder folder;
  const std::string path = folder.write("a.mtx", random_matrix(numbers::real, "symmetric", 20'000, 11));
  const auto read = read_matrix_market<double, std::int32_t>(ctx, reading, path, on_device);
  const auto ours = to_host<double, std::int32_t, std::int32_t>(ctx, to_csr<std::int32_t>(ctx, read.view()).view());
  const auto theirs = to_csr<std::int32_t>(reading, read_matrix_market<double, std::int32_t>(reading, path).view());
  EXPECT_EQ(bytes_of(ours.offsets()), bytes_of(theirs.offsets()));
  EXPECT_EQ(bytes_of(ours.indices()), bytes_of(theirs.indices()));
  EXPECT_EQ(bytes_of(ours.values()), bytes_of(theirs.values()));
}

TEST(DeviceRead, EveryFailedAllocationIsAnError) {
  SPARGO_TEST_NEEDS_GPU();
  const test::temporary_folder folder;
  const std::string path = folder.write("a.mtx", random_matrix(numbers::real, "symmetric", 500, 12));
  EXPECT_GE(test::fail_every_device_allocation([&](const context<device>& ctx) {
              (void)read_matrix_market<double, std::int32_t>(ctx, context<host>({.threads = 2}), path, on_device);
            }),
            5);
}

// --- Edge lists ------------------------------------------------------------------------------------------------------

std::string random_edges(int edges, std::int64_t step, int weights, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string text = "# a header\n# of two lines\n\n";
  for (int k = 0; k < edges; ++k) {
    text += fmt::format("{}\t{}", step * static_cast<std::int64_t>(random() % 3000),
                        step * static_cast<std::int64_t>(random() % 3000));
    if (weights > 0) text += fmt::format("\t{:.6g}", static_cast<double>(random() % 100'000) / 7);
    text += '\n';
  }
  return text;
}

// Lists with every delimiter and one damaged line, near the beginning or beyond the first lines that decide about it.
TEST(DeviceRead, EdgeListsWithOddBytes) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  std::mt19937_64 random(21);
  const std::string alphabet = std::string("0123456789 \t\r\n.+-eE,;:#%{}'\"x") + '\0';
  int parsed = 0;
  for (int round = 0; round < 160; ++round) {
    const char delimiter = " ,;\t"[round % 4];
    const bool weighted = round % 3 != 0;
    std::string text = fmt::format("{1}{0}{2}{3}\n", delimiter, "source", "target",
                                   weighted ? std::string(1, delimiter) + "weight" : "");
    if (delimiter == ' ') text.clear();
    const std::size_t rows = random() % 2 == 0 ? 50 : 12'000;
    const std::size_t odd = random() % rows;
    for (std::size_t k = 0; k < rows; ++k) {
      std::string line = fmt::format("{1}{0}{2}", delimiter, random() % 4000, random() % 4000);
      if (weighted) line += fmt::format("{}{:.6g}", delimiter, static_cast<double>(random() % 100'000) / 7);
      for (int changes = k == odd ? 1 + round % 3 : 0; changes > 0; --changes) {
        line.insert(random() % (line.size() + 1), 1, alphabet[random() % alphabet.size()]);
      }
      text += line + '\n';
    }
    SCOPED_TRACE(fmt::format("round {}", round));
    parsed += expect_same_edges(ctx, folder.write("a.csv", text)) > 0;
  }
  EXPECT_GT(parsed, 30);
  std::string split = "source,target,weight\n";
  for (int k = 0; k < 20'000; ++k) split += fmt::format("{},{},0.5\n", k % 999, k % 777);
  EXPECT_EQ(expect_same_edges(ctx, folder.write("b.csv", split + "1 000,2,3\n")), 0);
  EXPECT_NE(edges_by_host(folder.file("b.csv")).error.find(":20002:1: blanks within the number"), std::string::npos);
}

TEST(DeviceRead, EveryKindOfEdgeList) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  for (const int weights : {0, 1}) {
    for (const int edges : {1, 2, 33, 257, 40'000}) {
      for (const std::int64_t step : {1, 3}) {
        const std::string text = random_edges(edges, step, weights, 13);
        EXPECT_EQ(expect_same_edges(ctx, folder.write("a.el", text)), all_ways()) << edges << " times " << step;
      }
    }
  }
}

TEST(DeviceRead, EdgesTheHostMustRead) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  const std::string plain = random_edges(1000, 1, 0, 14);
  const auto same = [&](const std::string& text) { return expect_same_edges(ctx, folder.write("a.el", text)); };
  EXPECT_EQ(same(plain), all_ways());
  EXPECT_EQ(same(plain + "1 2"), all_ways());
  EXPECT_EQ(same(plain + "1 2 \r\n\n\n"), all_ways());
  EXPECT_EQ(same(plain + "1 2 ,\n"), all_ways());                    // parsed by the host
  EXPECT_EQ(same(plain + "000000000000000000001 2\n"), all_ways());  // parsed by the host
  EXPECT_EQ(same(plain + "1 2 {}\n"), all_ways());                   // parsed by the host
  EXPECT_EQ(same("0 1 {'weight': 3}\n3 4 5\n"), all_ways());         // parsed by the host
  EXPECT_EQ(same("# names\nfrom\tto\n" + plain), all_ways());
  EXPECT_EQ(same("from,to\nfrom,to\n" + plain), 0);
  EXPECT_EQ(same(plain + "from,to\n"), 0);
  EXPECT_EQ(same(plain + "1 2 {'weight': 3}\n"), 0);
  EXPECT_EQ(same(plain + "# a comment\n1 2\n"), 0);
  EXPECT_EQ(same(plain + "1 2 3\n"), 0);
  EXPECT_EQ(same(plain + "1 x\n"), 0);
  EXPECT_EQ(same(plain + "1 99999999999\n"), 0);
  EXPECT_EQ(same(plain + "1 2000000000\n"), 0);
  EXPECT_EQ(same("1 2 0.5 x\n3 4 1e-99 y\n5 6 7.8\n"), all_ways());
  EXPECT_EQ(same("1 2 0.5 x\n3 4 1e-99 y\n5 6 7,8\n"), 0);  // a decimal comma
  EXPECT_EQ(same("1 2 0.5\n3 4\n"), 0);
  EXPECT_EQ(same("1 2 0.5\n3 4 x\n"), 0);
  EXPECT_EQ(same("# nothing\n"), 0);
  EXPECT_EQ(same("\n\n"), 0);
  EXPECT_EQ(same("%%MatrixMarket matrix coordinate real general\n1 1 1\n"), 0);
  EXPECT_EQ(same(test::gzip(plain)), 0);
}

TEST(DeviceRead, IntegerWeightsBeyondDoublesAreTheHosts) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  std::string text;
  for (const char* weight :
       {"9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "123456789012345678",
        "9223372036854775807", "18446744073709551617", "9007199254740993.0"}) {
    text += fmt::format("{} {} {}\n", text.size() % 7, 1 + text.size() % 5, weight);
  }
  const std::string path = folder.write("a.wel", text);
  EXPECT_EQ(edges_by_host(path).rounded, 5);
  EXPECT_EQ(expect_same_edges(ctx, path), all_ways());
  auto parsed = algorithm::on_device;
  EXPECT_TRUE(edges_by_device(ctx, path, {2, {.most_unusual = 3}}, parsed) == edges_by_host(path));
  EXPECT_EQ(parsed, algorithm::on_host);
}

TEST(DeviceRead, ErrorsOfEdgesHaveTheHostsLineAndColumn) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  const std::string edges = random_edges(1000, 1, 0, 15);
  const std::string weighted = random_edges(1000, 1, 1, 15);
  const auto said = [&](const std::string& text) {
    const std::string path = folder.write("a.csv", text);
    EXPECT_EQ(expect_same_edges(ctx, path), 0) << "of bad text";
    const std::string error = edges_by_host(path).error;
    return error.substr(std::min(error.size(), path.size() + 1));
  };
  EXPECT_EQ(said(edges + "7 x\n").rfind("1004:3: 'x' is not a vertex id", 0), 0U);
  EXPECT_EQ(said(weighted + "7 8 x\n").rfind("1004:5: 'x' is not a weight", 0), 0U);
  EXPECT_EQ(said(edges + "7\n" + edges).rfind("1004:2: the target vertex is missing", 0), 0U);
  EXPECT_EQ(said(edges + "1 2\r3 4\n").rfind("1004:3: ", 0), 0U);
  EXPECT_EQ(said("1 2\r2 3\r").rfind("1:4: a line ends in a carriage return alone", 0), 0U);
  EXPECT_EQ(said("sep=;\n1;2;0,5\n2;3;x\n").rfind("3:5: 'x' is not a weight", 0), 0U);
  const std::string excel = folder.write("e.csv", "sep=;\nsource;target;weight\n1;2;0,5\n2;3;1\n");
  EXPECT_EQ(expect_same_edges(ctx, excel), 0) << "read by the host";
  EXPECT_EQ(edges_by_host(excel).error, "");
}

// More edges than estimated from the first MiB: the text is parsed twice.
TEST(DeviceRead, EdgesThatBecomeShorter) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const test::temporary_folder folder;
  std::string text;
  while (text.size() < (1 << 20)) text += "1000                                                         1001\n";
  for (int k = 0; k < 300'000; ++k) text += "1 2\n";
  auto parsed = algorithm::on_host;
  const std::string path = folder.write("a.el", text);
  const outcome ours = edges_by_device(ctx, path, {4, {}}, parsed);
  EXPECT_TRUE(ours == edges_by_host(path));
  EXPECT_EQ(parsed, algorithm::on_device);
}

}  // namespace
}  // namespace spargo
