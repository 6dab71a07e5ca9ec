#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/snapshot/hash.hpp"
#include "io/support/files.hpp"
#include "support/folders.hpp"
#include "support/resource.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace spargo {
namespace {

using detail::hash_kind;
using test::temporary_folder;

// Recomputes a header's hash for its version.
void sign(std::string& bytes) {
  const std::uint64_t sum = detail::hash_of(bytes[8] == 1 ? hash_kind::xxh64 : hash_kind::xxh3, bytes.data(), 120);
  std::memcpy(bytes.data() + 120, &sum, sizeof(sum));
}

template <class V, class I, class O>
struct sample {
  std::vector<O> offsets = {0, 2, 2, 3};
  std::vector<I> indices = {1, 3, 0};
  std::vector<V> values = is_pattern<V> ? std::vector<V>{} : std::vector<V>(3);

  [[nodiscard]] csr_view<const V, I, O, host> view() const { return {{3, 4, offsets, indices}, values}; }
};

template <class V, class I, class O>
void expect_round_trip(const std::string& path) {
  sample<V, I, O> s;
  if constexpr (!is_pattern<V>) s.values = {V(1), V(-2), V(0)};
  const std::vector<std::int64_t> ids = {3, 70, INT64_MAX};
  const context<host> ctx;
  const std::string notes = "from elsewhere\n";
  write_snapshot<V, I, O>(ctx, path, s.view(),
                          {.symmetry = symmetry_kind::hermitian, .directed = false, .ids = ids, .notes = notes});
  ASSERT_TRUE(is_snapshot(path));
  const snapshot got(ctx, path);
  EXPECT_EQ(got.header().rows, 3);
  EXPECT_EQ(got.header().cols, 4);
  EXPECT_EQ(got.header().nnz, 3);
  EXPECT_EQ(got.header().symmetry, symmetry_kind::hermitian);
  EXPECT_FALSE(got.header().directed);
  EXPECT_TRUE(std::equal(ids.begin(), ids.end(), got.ids().begin(), got.ids().end()));
  EXPECT_EQ(got.notes(), notes);
  const auto m = got.matrix<V, I, O>();
  EXPECT_TRUE(std::equal(s.offsets.begin(), s.offsets.end(), m.offsets.begin(), m.offsets.end()));
  EXPECT_TRUE(std::equal(s.indices.begin(), s.indices.end(), m.indices.begin(), m.indices.end()));
  EXPECT_TRUE(std::equal(s.values.begin(), s.values.end(), m.values.begin(), m.values.end()));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.values.data()) % 64, 0U);
}

TEST(Snapshot, RoundTripsEveryType) {
  const temporary_folder folder;
  const std::string path = folder.file("a.spg");
  expect_round_trip<pattern, std::int32_t, std::int32_t>(path);
  expect_round_trip<float, std::int32_t, std::int32_t>(path);
  expect_round_trip<double, std::int32_t, std::int64_t>(path);
  expect_round_trip<std::complex<float>, std::int64_t, std::int64_t>(path);
  expect_round_trip<std::complex<double>, std::int32_t, std::int32_t>(path);
}

TEST(Snapshot, RemembersWhatTheValuesWereAndWhereTheSourceBegan) {
  const temporary_folder folder;
  const std::string path = folder.file("a.spg");
  const context<host> ctx;
  for (const value_origin origin : {value_origin::numbers, value_origin::integers, value_origin::counts}) {
    for (const std::int64_t first : {-1, 0, 2}) {
      write_snapshot(ctx, path, sample<double, std::int32_t, std::int32_t>().view(),
                     {.origin = origin, .first_vertex = first});
      EXPECT_EQ(snapshot(ctx, path).header().origin, origin);
      EXPECT_EQ(snapshot(ctx, path).header().first_vertex, first);
    }
  }
  const sample<pattern, std::int32_t, std::int32_t> none;
  EXPECT_THROW(write_snapshot(ctx, path, none.view(), {.origin = value_origin::counts}), error);
  EXPECT_THROW(write_snapshot(ctx, path, none.view(), {.first_vertex = 3}), error);
  EXPECT_THROW(write_snapshot(ctx, path, none.view(), {.first_vertex = -2}), error);
}

// The corpus has version 1 files, written before snapshots stored origin and first vertex.
TEST(Snapshot, OlderFilesAreRead) {
  const context<host> ctx;
  for (const char* name : {"complex.spg", "no_rows.spg", "symmetric_pattern.spg", "weighted_graph_with_ids.spg"}) {
    const std::string path = test::source_folder() + "/tests/io/corpus/valid/" + name;
    ASSERT_EQ(test::read_file(path)[8], 1) << name;
    const snapshot got(ctx, path);
    EXPECT_EQ(got.header().origin, value_origin::numbers) << name;
    EXPECT_EQ(got.header().first_vertex, -1) << name;
  }
}

TEST(Snapshot, NewFilesAreOfTheSecondVersion) {
  const temporary_folder folder;
  const context<host> ctx;
  write_snapshot(ctx, folder.file("a.spg"), sample<double, std::int32_t, std::int32_t>().view());
  const std::string bytes = test::read_file(folder.file("a.spg"));
  EXPECT_EQ(bytes.substr(8, 4), std::string("\2\0\0\0", 4));
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + 120, sizeof(sum));
  EXPECT_EQ(sum, XXH3_64bits(bytes.data(), 120));
}

TEST(Snapshot, RefusesAnotherTypeThanItHolds) {
  const temporary_folder folder;
  const std::string path = folder.file("a.spg");
  const sample<double, std::int32_t, std::int32_t> s;
  const context<host> ctx;
  write_snapshot(ctx, path, s.view());
  const snapshot got(ctx, path);
  EXPECT_FALSE(got.header().has_ids);
  EXPECT_TRUE(got.notes().empty());
  EXPECT_THROW((void)(got.matrix<float, std::int32_t, std::int32_t>()), error);
  EXPECT_THROW((void)(got.matrix<double, std::int64_t, std::int64_t>()), error);
}

// Following the offsets stays within the arrays, whatever another process does to the file.
TEST(Snapshot, OffsetsStayAsTheyWereVerified) {
  const temporary_folder folder;
  const std::string path = folder.file("a.spg");
  const context<host> ctx;
  const sample<pattern, std::int32_t, std::int32_t> s;
  write_snapshot(ctx, path, s.view());
  const snapshot got(ctx, path);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << std::string(200, '\x7f');
  const auto m = got.matrix<pattern, std::int32_t, std::int32_t>();
  EXPECT_TRUE(std::equal(s.offsets.begin(), s.offsets.end(), m.offsets.begin(), m.offsets.end()));
}

TEST(Snapshot, IsReadFromAPipeOrUnpacked) {
  const temporary_folder folder;
  const context<host> ctx;
  const std::int64_t rows = 500'000;  // more than the initial capacity
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(rows) + 1);
  std::vector<std::int32_t> indices(static_cast<std::size_t>(rows));
  for (std::size_t k = 0; k < indices.size(); ++k) {
    offsets[k + 1] = static_cast<std::int32_t>(k + 1);
    indices[k] = static_cast<std::int32_t>(k * 7 % indices.size());
  }
  write_snapshot<pattern, std::int32_t, std::int32_t>(
      ctx, folder.file("a.spg"),
      {{static_cast<std::int32_t>(rows), static_cast<std::int32_t>(rows), offsets, indices}, {}});
  const std::string bytes = test::read_file(folder.file("a.spg"));
  const std::string packed = folder.write("a.spg.gz", test::gzip(bytes));
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& content : {std::string(), bytes, test::gzip(bytes)}) {
    std::thread writer([&] {
      if (!content.empty()) std::ofstream(pipe, std::ios::binary) << content;
    });
    const snapshot got(ctx, content.empty() ? packed : pipe);
    writer.join();
    const auto m = got.matrix<pattern, std::int32_t, std::int32_t>();
    EXPECT_TRUE(std::equal(offsets.begin(), offsets.end(), m.offsets.begin(), m.offsets.end()));
    EXPECT_TRUE(std::equal(indices.begin(), indices.end(), m.indices.begin(), m.indices.end()));
  }
  const std::string cut = folder.write("cut.gz", test::gzip(bytes.substr(0, bytes.size() - 64)));
  EXPECT_THROW(snapshot(ctx, cut), error);
  EXPECT_FALSE(is_snapshot(pipe)) << "a pipe is opened once";
}

class DamagedSnapshot : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::int64_t> ids = {0, 5, 6};
    write_snapshot(ctx_, path_, sample_.view(), {.ids = ids, .notes = "notes of some bytes"});
    good_ = test::read_file(path_);
  }

  // The message of opening these bytes; empty if they are accepted.
  std::string refusal(const std::string& bytes) {
    (void)folder_.write("a.spg", bytes);
    return refusal();
  }

  // The same for the file with one byte changed.
  std::string refusal_with(std::size_t at, char byte) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
    const std::string said = refusal();
    file.seekp(static_cast<std::streamoff>(at)).put(good_[at]).flush();
    return said;
  }

  void expect_every_flip_to_be_noticed() {
    EXPECT_EQ(refusal(good_), "");
    for (std::size_t at = 0; at < good_.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        EXPECT_NE(refusal_with(at, static_cast<char>(good_[at] ^ (1 << bit))), "") << "byte " << at << ", bit " << bit;
      }
      EXPECT_NE(refusal_with(at, static_cast<char>(~good_[at])), "") << "byte " << at;
    }
    EXPECT_EQ(refusal(), "") << "all put back";
  }

  std::string refusal() {
    try {
      const snapshot got(ctx_, path_);
    } catch (const error& e) {
      EXPECT_EQ(std::string(e.what()).rfind(path_ + ": ", 0), 0U) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      return e.what();
    }
    return {};
  }

  const context<host> ctx_{host_options{.threads = 2}};
  const temporary_folder folder_;
  const std::string path_ = folder_.file("a.spg");
  const sample<double, std::int32_t, std::int32_t> sample_;
  std::string good_;
};

TEST_F(DamagedSnapshot, EveryFlippedBitIsNoticed) {
  expect_every_flip_to_be_noticed();
  good_ = test::read_file(test::source_folder() + "/tests/io/corpus/valid/weighted_graph_with_ids.spg");
  expect_every_flip_to_be_noticed();
}

TEST_F(DamagedSnapshot, EveryTruncationIsNoticed) {
  for (std::size_t size = 0; size < good_.size(); ++size) EXPECT_NE(refusal(good_.substr(0, size)), "") << size;
  EXPECT_NE(refusal(good_ + '\0').find("after its end"), std::string::npos);
}

// Changes a count in the header and corrects the checksum.
std::string forge(std::string bytes, std::size_t at, std::int64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  sign(bytes);
  return bytes;
}

TEST_F(DamagedSnapshot, ForgedCountsAreNotTrusted) {
  const auto forged = [&](std::size_t at, std::int64_t value) { return refusal(forge(good_, at, value)); };
  for (const std::size_t at : {24, 32, 40}) {
    for (const std::int64_t value : {INT64_MAX, INT64_MAX / 8, std::int64_t{-1}, INT64_MIN, std::int64_t{1} << 40}) {
      EXPECT_NE(forged(at, value), "") << at << " " << value;
    }
  }
  EXPECT_NE(forged(32, 2).find("column"), std::string::npos) << "an index outside the columns: " << forged(32, 2);
}

TEST_F(DamagedSnapshot, ForgedOriginsAreNotTrusted) {
  EXPECT_EQ(refusal(forge(good_, 104, 3)), "");
  for (const std::int64_t first : {std::int64_t{-1}, std::int64_t{4}, INT64_MAX, INT64_MIN}) {
    EXPECT_NE(refusal(forge(good_, 104, first)).find("inconsistent"), std::string::npos) << first;
  }
  EXPECT_NE(refusal(forge(good_, 112, 1)).find("inconsistent"), std::string::npos);
  const auto with_origin = [&](char values, char origin) {
    std::string bytes = good_;
    bytes[16] = values;
    bytes[22] = origin;
    return refusal(forge(bytes, 112, 0));
  };
  EXPECT_EQ(with_origin(2, 1), "");
  EXPECT_EQ(with_origin(2, 2), "");
  EXPECT_NE(with_origin(2, 3).find("inconsistent"), std::string::npos);
  EXPECT_NE(with_origin(4, 1).find("inconsistent"), std::string::npos);
}

// Counts whose products with 8 are unchanged modulo 2^64.
TEST_F(DamagedSnapshot, CountsThatWrapAroundAreRefused) {
  const sample<double, std::int64_t, std::int64_t> wide;
  write_snapshot(ctx_, path_, wide.view());
  const std::string good = test::read_file(path_);
  ASSERT_EQ(refusal(forge(good, 24, 3)), "");
  EXPECT_NE(refusal(forge(good, 24, (std::int64_t{1} << 61) + 3)).find("inconsistent"), std::string::npos);
  EXPECT_NE(refusal(forge(good, 40, (std::int64_t{1} << 61) + 3)).find("inconsistent"), std::string::npos);
}

TEST_F(DamagedSnapshot, ForgedNotesAreNotTrusted) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{18}, std::int64_t{64}, std::int64_t{65},
                                   std::int64_t{-1}, INT64_MAX, INT64_MIN, INT64_MAX - 63}) {
    EXPECT_NE(refusal(forge(good_, 88, bytes)), "") << bytes;
  }
}

// Replaces a section's bytes and corrects both checksums, so that only the checks of the matrix remain.
TEST_F(DamagedSnapshot, ForgedArraysAreNotTrusted) {
  const auto forged = [&]<class T>(std::size_t section, std::size_t begin, const std::vector<T>& content) {
    std::string bytes = good_;
    std::memcpy(bytes.data() + begin, content.data(), content.size() * sizeof(T));
    const std::uint64_t sum = detail::chunked_hash(ctx_, hash_kind::xxh3, content.data(), content.size() * sizeof(T));
    return refusal(forge(bytes, 48 + 8 * section, static_cast<std::int64_t>(sum)));
  };
  using i32 = std::vector<std::int32_t>;
  EXPECT_EQ(forged(0, 128, i32{0, 2, 2, 3}), "") << "the sample's own offsets";
  for (const i32& offsets : {i32{0, 2, 2, 4}, i32{0, 2, 2, 2}, i32{1, 2, 2, 3}, i32{0, 2, 1, 3}, i32{0, -1, 2, 3},
                             i32{0, INT32_MAX, 2, 3}, i32{0, 2, 2, INT32_MIN}, i32{0, 100, 100, 3}}) {
    EXPECT_NE(forged(0, 128, offsets).find("offset"), std::string::npos) << forged(0, 128, offsets);
  }
  EXPECT_EQ(forged(1, 192, i32{1, 3, 0}), "") << "the sample's own indices";
  for (const i32& indices : {i32{1, 4, 0}, i32{1, 3, -1}, i32{INT32_MIN, 3, 0}}) {
    EXPECT_NE(forged(1, 192, indices), "");
  }
  using i64 = std::vector<std::int64_t>;
  EXPECT_EQ(forged(3, 320, i64{0, 5, 6}), "") << "the sample's own ids";
  for (const i64& ids : {i64{0, 6, 5}, i64{-1, 5, 6}, i64{5, 5, 6}}) {
    EXPECT_NE(forged(3, 320, ids).find("id"), std::string::npos);
  }
}

TEST_F(DamagedSnapshot, SaysWhatIsWrong) {
  const auto with = [&](std::size_t at, char byte) {
    std::string bad = good_;
    bad[at] = byte;
    return refusal(bad);
  };
  EXPECT_NE(with(0, 'X').find("not a snapshot"), std::string::npos);
  EXPECT_NE(with(8, 3).find("version 3 (expected 1 to 2)"), std::string::npos);
  EXPECT_NE(with(8, 0).find("version 0 (expected 1 to 2)"), std::string::npos);
  EXPECT_NE(with(8, 1).find("checksum differs"), std::string::npos) << "its hashes are not those of version 1";
  std::string swapped = good_;
  std::reverse(swapped.begin() + 12, swapped.begin() + 16);
  EXPECT_NE(refusal(swapped).find("byte order"), std::string::npos);
  EXPECT_NE(with(128, 1).find("offsets are damaged"), std::string::npos);
}

TEST(SnapshotFile, IsRecognisedByContent) {
  const temporary_folder folder;
  (void)folder.write("no", "SPARGO\n\n and more");
  EXPECT_FALSE(is_snapshot(folder.file("no")));
  EXPECT_FALSE(is_snapshot(folder.file("missing")));
  EXPECT_FALSE(is_snapshot(folder.path()));
}

TEST(SnapshotFile, BadMatricesAreNotWritten) {
  const temporary_folder folder;
  sample<double, std::int32_t, std::int32_t> s;
  s.indices[1] = 4;
  EXPECT_THROW(write_snapshot(context<host>(), folder.file("a.spg"), s.view()), error);
  EXPECT_EQ(folder.entries(), 0U);
  EXPECT_THROW(
      write_snapshot(context<host>(), folder.file("a.spg.gz"), sample<double, std::int32_t, std::int32_t>().view()),
      error);
}

// A file that readers would reject is not written.
TEST(SnapshotFile, BadIdsAreNotWritten) {
  const temporary_folder folder;
  const sample<double, std::int32_t, std::int32_t> s;
  const std::vector<std::vector<std::int64_t>> cases = {{3, 1, 2}, {-1, 0, 1}, {0, 1, 1}, {0, 1}};
  for (const auto& ids : cases) {
    EXPECT_THROW(write_snapshot(context<host>(), folder.file("a.spg"), s.view(), {.ids = ids}), error);
  }
  EXPECT_EQ(folder.entries(), 0U);
}

// Sections of several chunks: the same file from any number of threads, and damage anywhere is detected.
TEST(SnapshotFile, LargeOnesAreHashedInChunks) {
  const temporary_folder folder;
  const std::string path = folder.file("a.spg");
  constexpr std::int64_t n = 400'001;
  std::vector<std::int64_t> offsets(n + 1);
  std::vector<std::int32_t> indices(n);
  std::vector<double> values(n);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    offsets[at + 1] = k + 1;
    indices[at] = static_cast<std::int32_t>((k * 7) % n);
    values[at] = static_cast<double>(k) / 3;
  }
  const csr_view<const double, std::int32_t, std::int64_t, host> matrix{
      {static_cast<std::int32_t>(n), static_cast<std::int32_t>(n), offsets, indices}, values};
  write_snapshot(context<host>({.threads = 1}), path, matrix);
  const std::string good = test::read_file(path);
  for (const int threads : {2, 3, 8}) {
    const context<host> ctx({.threads = threads});
    write_snapshot(ctx, path, matrix);
    EXPECT_TRUE(test::read_file(path) == good) << threads << " threads";
    EXPECT_EQ(snapshot(ctx, path).header().nnz, n);
  }
  for (std::size_t at = 200; at < good.size(); at += 499'979) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    (void)folder.write("bad.spg", bad);
    EXPECT_THROW(snapshot(context<host>({.threads = 3}), folder.file("bad.spg")), error) << "byte " << at;
  }
}

// Chunks as defined in hash.hpp, hashed one by one by xxHash itself.
TEST(ChunkedHash, IsTheHashOfTheHashesOfChunks) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  XXH3_state_t* const state = XXH3_createState();
  const auto streamed = [&](const char* data, std::size_t bytes) {
    XXH3_64bits_reset(state);
    for (std::size_t at = 0; at < bytes; at += 1009)
      XXH3_64bits_update(state, data + at, std::min<std::size_t>(1009, bytes - at));
    return XXH3_64bits_digest(state);
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, chunk - 1, chunk, chunk + 1, 3 * chunk + 17}) {
    std::string data(size, '\0');
    for (std::size_t k = 0; k < size; ++k) data[k] = static_cast<char>(k * 31 + k / 251);
    std::vector<std::uint64_t> old_hashes, hashes;
    for (std::size_t k = 0; k < size; k += chunk) {
      old_hashes.push_back(XXH64(data.data() + k, std::min(chunk, size - k), 0));
      hashes.push_back(streamed(data.data() + k, std::min(chunk, size - k)));
    }
    const std::uint64_t old_one = XXH64(old_hashes.data(), old_hashes.size() * sizeof(std::uint64_t), 0);
    const std::uint64_t expected =
        streamed(reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(std::uint64_t));
    for (const int threads : {1, 2, 3}) {
      const context<host> ctx({.threads = threads});
      EXPECT_EQ(detail::chunked_hash(ctx, hash_kind::xxh64, data.data(), size), old_one) << size;
      EXPECT_EQ(detail::chunked_hash(ctx, hash_kind::xxh3, data.data(), size), expected) << size;
    }
  }
  XXH3_freeState(state);
}

TEST(SnapshotFile, EveryRefusedAllocationSurfaces) {
  const temporary_folder folder;
  const std::string path = folder.file("a.spg");
  const sample<float, std::int32_t, std::int32_t> s;
  EXPECT_GT(test::fail_every_allocation([&](const context<host>& ctx) {
              write_snapshot(ctx, path, s.view());
              const snapshot got(ctx, path);
            }),
            2);
}

// Published values for seed 0, and for no other variant of either hash.
TEST(Hash, IsTheOneThatTheFormatNames) {
  EXPECT_EQ(detail::hash_of(hash_kind::xxh64, "", 0), 0xef46db3751d8e999U);
  EXPECT_EQ(detail::hash_of(hash_kind::xxh64, "abc", 3), 0x44bc2cf5ad770999U);
  EXPECT_EQ(detail::hash_of(hash_kind::xxh3, "", 0), 0x2d06800538d394c2U);
  EXPECT_EQ(detail::hash_of(hash_kind::xxh3, "abc", 3), 0x78af5f94892f3950U);
}

}  // namespace
}  // namespace spargo
