// Compressed copies on the host: each form against the reference, new values, the same bits for any number of threads,
// refusals, and the plan's choice of form.
#include "sparse/simd/bands.hpp"
#include "sparse/simd/tiles.hpp"
#include "sparse/spmv/copies/compressed/compressed_host.hpp"
#include "sparse/spmv_cases.hpp"
#include "sparse/spmv_copied_types.hpp"
#include "support/resource.hpp"

#include <tuple>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using detail::spmv::copy_demand;

template <class Types>
class SpmvCompressedHost : public testing::Test {};

TYPED_TEST_SUITE(SpmvCompressedHost, copied_types);

enum class fill { repeated, distinct };

// Entry k of row r is in column r + shifts[k] if that exists; every `skip`-th row lacks its first entry.
template <class V>
triplets<V> diagonals(i64 rows, i64 cols, const std::vector<i64>& shifts, fill how, i64 skip) {
  std::mt19937_64 random(static_cast<unsigned>(rows + cols));
  triplets<V> m{"diagonals", rows, cols, {}};
  for (i64 r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < shifts.size(); ++k) {
      const i64 c = r + shifts[k];
      if (c < 0 || c >= cols || (k == 0 && r % skip == skip - 1)) continue;
      const V value = how == fill::repeated ? number<V>(static_cast<double>(k) - 1.25, 0.5) : random_number<V>(random);
      m.entries.push_back({r, c, value});
    }
  }
  return m;
}

template <class V>
std::vector<triplets<V>> banded() {
  std::vector<triplets<V>> all;
  for (const fill how : {fill::repeated, fill::distinct}) {
    for (const i64 rows : {64, 65, 95, 96, 127, 128, 129, 131, 1000}) {
      all.push_back(diagonals<V>(rows, rows + 9, {0, 2, 9}, how, 100'000));
    }
    all.push_back(diagonals<V>(900, 700, {-40, -1, 0, 1, 40}, how, 300));
    all.push_back(diagonals<V>(700, 900, {-3, -2, -1, 0, 1, 2, 3, 150}, how, 97));
    all.push_back(diagonals<V>(3000, 3000, {5}, how, 100'000));
    all.push_back(diagonals<V>(400, 400, {7, -7, 0, 0, 3}, how, 100'000));  // columns out of order, a duplicate
  }
  auto mixed = diagonals<V>(600, 600, {-1, 0, 1}, fill::repeated, 100'000);  // one band repeats, one does not
  for (auto& e : mixed.entries) {
    if (e.row == 200) e.col = e.col < 300 ? e.col + 300 : e.col;  // cuts the band in two
    if (e.row == 450 && e.col == 450) e.value = number<V>(77, 0);
  }
  all.push_back(mixed);
  return all;
}

template <class V>
void expect_product(const detail::spmv::executor<V>& product, const triplets<V>& m) {
  const auto x = random_vector<V>(m.cols, 11);
  const auto old = random_vector<V>(m.rows, 12);
  const V nan = number<V>(std::nan(""), std::nan(""));
  const V mark = number<V>(-77, 7);
  for (const auto& [alpha, beta] :
       {std::pair(number<V>(1, 0), V{}), std::pair(number<V>(-1.5, 2), number<V>(0.5, 1))}) {
    auto before = beta == V{} ? std::vector<V>(old.size(), nan) : old;
    const auto expected = reference<V>(m, alpha, x, beta, before);
    before.insert(before.begin(), mark);
    before.push_back(mark);
    product.run(alpha, x.data(), beta, before.data() + 1);
    for (std::size_t r = 0; r < expected.size(); ++r) {
      const std::complex<long double> value(std::real(before[r + 1]), std::imag(before[r + 1]));
      ASSERT_LE(std::abs(value - expected[r].value), expected[r].bound) << m.name << ", row " << r;
    }
    ASSERT_EQ(before.front(), mark) << "written before y";
    ASSERT_EQ(before.back(), mark) << "written after y";
  }
}

TYPED_TEST(SpmvCompressedHost, BandsAgreeWithTheReference) {
  SPMV_TYPES;
  for (const auto& m : banded<V>()) {
    SCOPED_TRACE(std::to_string(m.rows) + " x " + std::to_string(m.cols));
    for (const int threads : {1, 3}) {
      const context<host> ctx({.threads = threads});
      const auto csr = as_csr<V, I, O>(ctx, m);
      const auto made = detail::spmv::compress_bands<V, I, O>(ctx, csr.view(), copy_demand::by_name);
      ASSERT_NE(made.executor, nullptr) << made.reason;
      EXPECT_EQ(made.executor->storage(), spmv_storage::copied);
      expect_product<V>(*made.executor, m);
    }
  }
}

// Infinite and NaN elements of x affect exactly the rows with an entry there.
TYPED_TEST(SpmvCompressedHost, BandsReadNothingElse) {
  SPMV_TYPES;
  const context<host> ctx({.threads = 2});
  for (const fill how : {fill::repeated, fill::distinct}) {
    const auto m = diagonals<V>(205, 205, {-5, 0, 2}, how, 100'000);
    const auto csr = as_csr<V, I, O>(ctx, m);
    const auto made = detail::spmv::compress_bands<V, I, O>(ctx, csr.view(), copy_demand::by_name);
    for (const i64 spoiled : {0, 70, 204}) {
      auto x = random_vector<V>(m.cols, 3);
      x[static_cast<std::size_t>(spoiled)] = number<V>(std::numeric_limits<double>::infinity(), 0);
      std::vector<V> y(205);
      made.executor->run(number<V>(1, 0), x.data(), V{}, y.data());
      std::vector<bool> meets(205, false);
      for (const auto& e : m.entries) {
        if (e.col == spoiled) meets[static_cast<std::size_t>(e.row)] = true;
      }
      for (std::size_t r = 0; r < y.size(); ++r) {
        EXPECT_EQ(std::isfinite(std::real(y[r])), !meets[r]) << "row " << r << ", column " << spoiled;
      }
    }
  }
}

TYPED_TEST(SpmvCompressedHost, BandsTakeOtherValues) {
  SPMV_TYPES;
  const context<host> ctx({.threads = 2});
  const auto with = [](fill how) { return diagonals<V>(500, 500, {-3, 0, 4}, how, 171); };
  const auto first = as_csr<V, I, O>(ctx, with(fill::repeated));
  const auto made = detail::spmv::compress_bands<V, I, O>(ctx, first.view(), copy_demand::by_name);
  for (const fill how : {fill::distinct, fill::repeated, fill::distinct, fill::distinct, fill::repeated}) {
    auto m = with(how);
    m.entries[7].value = number<V>(3, 1);
    made.executor->update_values(as_csr<V, I, O>(ctx, m).values().data());
    expect_product<V>(*made.executor, m);
  }
}

// Minus zero differs from zero: values are compared by their bytes.
TEST(SpmvCompressedBands, KeepTheSignOfZero) {
  const context<host> ctx({.threads = 1});
  auto m = diagonals<double>(200, 200, {0}, fill::repeated, 100'000);
  for (auto& e : m.entries) e.value = e.row == 100 ? -0.0 : 0.0;
  const auto csr = as_csr<double, i32, i32>(ctx, m);
  const auto made = detail::spmv::compress_bands<double, i32, i32>(ctx, csr.view(), copy_demand::by_name);
  EXPECT_EQ(made.reason.find("which 0 values"), std::string::npos) << made.reason;
}

TEST(SpmvCompressedBands, StoreRepeatedValuesOnce) {
  const context<host> ctx({.threads = 1});
  const auto bytes = [&](fill how) {
    const auto csr = as_csr<double, i32, i32>(ctx, diagonals<double>(100'000, 100'000, {-1, 0, 1}, how, 1'000'000));
    return detail::spmv::compress_bands<double, i32, i32>(ctx, csr.view(), copy_demand::if_it_pays)
        .executor->workspace_bytes();
  };
  EXPECT_LT(bytes(fill::repeated), 8'000);
  EXPECT_GT(bytes(fill::distinct), 2'400'000);
  EXPECT_LT(bytes(fill::distinct), 2'420'000);
}

// Every instruction set of this processor, for every number of rows in a block and its neighbours.
TEST(SpmvCompressedBands, EveryInstructionSetAgrees) {
  for (const auto& loops : detail::spmv::usable_band_loops<float>()) {
    for (i64 rows = 0; rows < 140; ++rows) {
      constexpr i64 block = detail::spmv::band_block<float>;
      const std::vector<i64> shifts{-2, 0, 5};
      const auto values = random_vector<float>(3 * block * 3, 1);
      const auto x = random_vector<float>(200, 2);
      for (const bool repeated : {false, true}) {
        std::vector<float> y(150, -9.0F);
        loops.rows({.width = 3,
                    .shifts = shifts.data(),
                    .values = repeated ? nullptr : values.data(),
                    .repeated = values.data(),
                    .first = 2,
                    .rows = rows,
                    .x = x.data(),
                    .y = y.data(),
                    .alpha = 2.0F,
                    .beta = 0.5F});
        for (i64 r = 0; r < rows; ++r) {
          long double sum = -4.5L;
          for (i64 k = 0; k < 3; ++k) {
            const float value =
                values[static_cast<std::size_t>(repeated ? k : (r / block * 3 + k) * block + r % block)];
            sum += 2.0L * value * x[static_cast<std::size_t>(2 + r + shifts[static_cast<std::size_t>(k)])];
          }
          ASSERT_NEAR(static_cast<double>(y[static_cast<std::size_t>(r)]), static_cast<double>(sum), 4e-6)
              << loops.name << ", row " << r << " of " << rows;
        }
        ASSERT_EQ(y[static_cast<std::size_t>(rows)], -9.0F) << loops.name << ", " << rows << " rows";
      }
    }
  }
}

// Tiles beyond the usual shapes: several in each direction, segments of every length, unsorted columns, a dense row.
template <class V>
std::vector<triplets<V>> scattered() {
  std::vector<triplets<V>> all;
  all.push_back(random_rows<V>("one dense row", 300, 1000, [](i64 r) { return r == 150 ? 7000 : 3; }));
  all.push_back(random_rows<V>("tall", 66'000, 70'000, [](i64 r) { return r % 1000 == 3 ? r % 23 : r % 2; }));
  all.push_back(random_rows<V>("wide", 40, 300'000, [](i64 r) { return 60 * r; }));
  auto grouped = triplets<V>{"grouped", 300, 200'000, {}};
  for (i64 r = 0; r < 300; ++r) {
    for (i64 k = 0; k < r % 41; ++k) {
      for (const i64 corner : {131'071, 65'535, 0, 65'536}) {
        grouped.entries.push_back({r, corner + k, number<V>(static_cast<double>((r + k) % 7) - 2.5, 1)});
      }
    }
  }
  all.push_back(grouped);
  auto runs = grouped;  // the same by columns: runs as long as a row has entries there
  std::stable_sort(runs.entries.begin(), runs.entries.end(),
                   [](const auto& a, const auto& b) { return std::tie(a.row, a.col) < std::tie(b.row, b.col); });
  all.push_back(runs);
  return all;
}

TYPED_TEST(SpmvCompressedHost, TilesAgreeWithTheReference) {
  SPMV_TYPES;
  for (const auto& m : scattered<V>()) {
    for (const int threads : {1, 3}) {
      const context<host> ctx({.threads = threads});
      const auto csr = as_csr<V, I, O>(ctx, m);
      const auto made = detail::spmv::compress_tiles<V, I, O>(ctx, csr.view(), copy_demand::by_name);
      ASSERT_NE(made.executor, nullptr) << m.name << made.reason;
      EXPECT_EQ(made.executor->storage(), spmv_storage::copied);
      expect_product<V>(*made.executor, m);
    }
  }
}

TYPED_TEST(SpmvCompressedHost, TilesTakeOtherValues) {
  SPMV_TYPES;
  const context<host> ctx({.threads = 2});
  for (auto m : scattered<V>()) {
    const auto csr = as_csr<V, I, O>(ctx, m);
    const auto made = detail::spmv::compress_tiles<V, I, O>(ctx, csr.view(), copy_demand::by_name);
    for (auto& e : m.entries) e.value = e.value * number<V>(3, 0) + number<V>(1, 1);
    made.executor->update_values(as_csr<V, I, O>(ctx, m).values().data());
    expect_product<V>(*made.executor, m);
  }
}

TYPED_TEST(SpmvCompressedHost, GivesTheSameBitsForAnyThreadCount) {
  SPMV_TYPES;
  for (const auto& m : {random_rows<V>("", 70'000, 90'000, [](i64 r) { return r % 500 == 0 ? 200 : r % 9; }),
                        diagonals<V>(50'000, 50'000, {-300, -1, 0, 1, 300}, fill::distinct, 1000)}) {
    const auto x = random_vector<V>(m.cols, 5);
    std::vector<V> first;
    for (const int threads : {1, 2, 3, 7, 16}) {
      const context<host> ctx({.threads = threads});
      const auto csr = as_csr<V, I, O>(ctx, m);
      const spmv_plan<V, I, O, host> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
      std::vector<V> y(static_cast<std::size_t>(m.rows));
      for (int again = 0; again < 2; ++again) {
        plan.run(number<V>(1.5, 1), span<const V, host>(x), V{}, span<V, host>(y));
        if (first.empty()) first = y;
        ASSERT_EQ(y, first) << threads << " threads";
      }
    }
  }
}

// Requested by name, every matrix of usual size is accepted; the plan holds all it needs.
TYPED_TEST(SpmvCompressedHost, PlansOutliveTheMatrix) {
  SPMV_TYPES;
  const context<host> ctx({.threads = 2});
  auto all = scattered<V>();
  for (auto& m : banded<V>()) all.push_back(std::move(m));
  for (const auto& m : all) {
    auto csr = as_csr<V, I, O>(ctx, m);
    const spmv_plan<V, I, O, host> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
    EXPECT_EQ(plan.algorithm(), spmv_algorithm::compressed);
    EXPECT_EQ(plan.storage(), spmv_storage::copied);
    EXPECT_GT(plan.workspace_bytes(), 0);
    fill_zero(ctx, csr.values().view());
    csr = {};
    const auto x = random_vector<V>(m.cols, 1);
    std::vector<V> y(static_cast<std::size_t>(m.rows), number<V>(std::nan(""), 0));
    plan.run(number<V>(1, 0), span<const V, host>(x), V{}, span<V, host>(y));
    const auto expected = reference<V>(m, number<V>(1, 0), x, V{}, y);
    for (std::size_t r = 0; r < y.size(); ++r) {
      const std::complex<long double> value(std::real(y[r]), std::imag(y[r]));
      ASSERT_LE(std::abs(value - expected[r].value), expected[r].bound) << m.name << ", row " << r;
    }
  }
}

// The algorithm that a plan chooses, and its reason.
template <class V>
std::pair<spmv_algorithm, std::string> chosen(const triplets<V>& m, spmv_storage storage) {
  const context<host> ctx({.threads = 2});
  const auto csr = as_csr<V, i32, i32>(ctx, m);
  const spmv_plan<V, i32, i32, host> plan(ctx, csr.view(), {.storage = storage});
  return {plan.algorithm(), plan.reason()};
}

TEST(SpmvCompressedChoice, TakesBandsWhereACopyIsAllowed) {
  const auto band = diagonals<double>(5000, 5000, {-1, 0, 1}, fill::distinct, 1000);
  const auto [algorithm, reason] = chosen(band, spmv_storage::copied);
  EXPECT_EQ(algorithm, spmv_algorithm::compressed);
  EXPECT_NE(reason.find("bands"), std::string::npos) << reason;
  EXPECT_EQ(chosen(band, spmv_storage::borrowed).first, spmv_algorithm::row_per_thread);
}

TEST(SpmvCompressedChoice, TakesTilesWhereTheyPay) {
  const auto wide = random_rows<float>("wide", 65'536, 600'000, [](i64) { return 4; });
  const auto [algorithm, reason] = chosen(wide, spmv_storage::copied);
  if (reason.find("L2 cache") != std::string::npos) GTEST_SKIP() << reason;
  EXPECT_EQ(algorithm, spmv_algorithm::compressed);
  EXPECT_NE(reason.find("tiles"), std::string::npos) << reason;
  const auto refusal = [&](const triplets<float>& m) {
    const auto [other, why] = chosen(m, spmv_storage::copied);
    EXPECT_EQ(other, spmv_algorithm::row_per_thread) << m.name;
    return why;
  };
  EXPECT_NE(refusal(random_rows<float>("x in cache", 65'536, 400'000, [](i64) { return 4; })).find("fits the caches"),
            std::string::npos);
  EXPECT_NE(refusal(random_rows<float>("few entries", 65'536, 600'000, [](i64) { return 1; })).find("only 6553 ent"),
            std::string::npos);
  auto local = random_rows<float>("local", 600'000, 600'000, [](i64) { return 3; });
  for (auto& e : local.entries) e.col = std::min<i64>(e.row + e.col % 100, 599'999);
  EXPECT_NE(refusal(local).find("ranges"), std::string::npos);
}

TEST(SpmvCompressedChoice, RefusesMoreTilesThanEntries) {
  const context<host> ctx({.threads = 1});
  const auto m = random_rows<double>("", 3, i64{1} << 40, [](i64) { return 2; });
  const auto csr = as_csr<double, i64, i64>(ctx, m);
  try {
    (void)spmv_plan<double, i64, i64, host>(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
    FAIL() << "taken";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
    EXPECT_NE(std::string(e.what()).find("tiles"), std::string::npos) << e.what();
  }
}

TEST(SpmvCompressedTiles, EveryInstructionSetAgrees) {
  const auto x = random_vector<double>(70'000, 1);
  for (const auto& loops : detail::spmv::usable_tile_loops<double>()) {
    for (std::uint32_t length = 0; length < 70; ++length) {
      const std::vector<detail::spmv::tile_segment> segments{{3, length}, {65'535, 9}};
      std::vector<std::uint16_t> columns(length + 9);
      std::vector<std::uint32_t> places(length);
      for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = static_cast<std::uint16_t>(65'535 - 977 * k);
      for (std::size_t k = 0; k < places.size(); ++k) {
        places[k] = static_cast<std::uint32_t>((k % 2 == 0 ? 65'534 : 3) << 16 | (65'535 - k * 131));
      }
      const auto values = random_vector<double>(80, length);
      std::vector<double> sums(65'536, 1.0);
      loops.add({segments.data(), 2, columns.data(), values.data(), places.data(), values.data(), length, x.data(),
                 sums.data()});
      std::vector<long double> expected(65'536, 1.0L);
      for (std::size_t k = 0; k < columns.size(); ++k) {
        expected[k < length ? 3 : 65'535] += static_cast<long double>(values[k]) * x[columns[k]];
      }
      for (std::size_t k = 0; k < places.size(); ++k) {
        expected[places[k] >> 16] += static_cast<long double>(values[k]) * x[places[k] & 0xffff];
      }
      for (std::size_t r = 0; r < sums.size(); ++r) {
        ASSERT_NEAR(sums[r], static_cast<double>(expected[r]), 1e-13) << loops.name << ", " << length << ", row " << r;
      }
    }
  }
}

TEST(SpmvCompressedHostMemory, SurvivesEveryRefusedAllocation) {
  for (const auto& m : {random_rows<double>("tiles", 900, 800, [](i64 r) { return r % 30; }),
                        diagonals<double>(900, 900, {-1, 0, 1}, fill::distinct, 100)}) {
    const auto csr = as_csr<double, i32, i32>(context<host>({.threads = 2}), m);
    const auto requests = fail_every_allocation([&](const context<host>& ctx) {
      (void)spmv_plan<double, i32, i32, host>(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
    });
    EXPECT_GE(requests, 8);
  }
}

}  // namespace
}  // namespace spargo::test
