// Compressed copies: refusals, results against the reference and row_per_thread's bits, new values.
#include "sparse/spmv/copies/compressed/compressed.hpp"

#include "sparse/spmv_cases.hpp"
#include "sparse/spmv_copied_types.hpp"
#include "support/device.hpp"
#include "support/suites.hpp"

#include <cstring>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using detail::spmv::copy_demand;
using detail::spmv::reason_against_compressing;

TEST(SpmvCompression, RefusesWhatCannotBeStored) {
  constexpr auto by_name = copy_demand::by_name;
  const i64 many = i64{1} << 32;
  EXPECT_EQ(reason_against_compressing({1000, many, 5000, 5000, 5}, by_name), "");
  EXPECT_NE(reason_against_compressing({1000, many + 1, 5000, 5000, 5}, by_name), "");
  EXPECT_EQ(reason_against_compressing({1, 70'000, 65'535, 65'535, 65'535}, by_name), "");
  EXPECT_NE(reason_against_compressing({1, 70'000, 65'536, 65'536, 65'536}, by_name).find("65536"), std::string::npos);
}

TEST(SpmvCompression, RefusesPadding) {
  constexpr auto automatic = copy_demand::if_it_pays;
  constexpr auto by_name = copy_demand::by_name;
  EXPECT_EQ(reason_against_compressing({1 << 20, 1 << 20, 4'000'000, 5'000'000, 20}, automatic), "");
  const std::string why = reason_against_compressing({1 << 20, 1 << 20, 4'000'000, 5'200'000, 20}, automatic);
  EXPECT_NE(why.find("1.30"), std::string::npos) << why;
  // Requested by name, a small matrix may have any padding, a large one not.
  EXPECT_NE(reason_against_compressing({300, 1000, 8000, 70'000, 7000}, automatic), "");
  EXPECT_EQ(reason_against_compressing({300, 1000, 8000, 70'000, 7000}, by_name), "");
  EXPECT_NE(reason_against_compressing({1 << 20, 1 << 20, 4'000'000, 7'200'000, 20}, by_name), "");
}

TEST(SpmvCompression, RefusesFewRows) {
  constexpr auto automatic = copy_demand::if_it_pays;
  EXPECT_NE(reason_against_compressing({99'999, 1000, 2'700'000, 2'700'000, 10}, automatic).find("99999"),
            std::string::npos);
  EXPECT_EQ(reason_against_compressing({100'000, 1000, 2'700'000, 2'700'000, 10}, automatic), "");
  EXPECT_EQ(reason_against_compressing({1000, 1000, 10'000, 10'000, 10}, copy_demand::by_name), "");
}

TEST(SpmvCompression, RefusesToSaveNothing) {
  constexpr i64 mega = 1'000'000;
  constexpr i64 many = 270'336;
  EXPECT_EQ(reason_against_compressing({many, 100 * mega, 90 * mega}), "");
  EXPECT_NE(reason_against_compressing({many, 100 * mega, 91 * mega}), "");
  // With fewer rows, or in cache, more must be saved.
  for (const auto& [rows, bytes] : {std::pair(many - 1, 100 * mega), std::pair(many, 48 * mega - 10)}) {
    EXPECT_EQ(reason_against_compressing({rows, bytes, bytes / 2}), "");
    EXPECT_NE(reason_against_compressing({rows, bytes, bytes / 2 + 1}).find("this small"), std::string::npos);
  }
  EXPECT_EQ(reason_against_compressing({many, 48 * mega, 43 * mega}), "");
  EXPECT_EQ(reason_against_compressing({many, 24 * mega, 1000}), "");
  EXPECT_NE(reason_against_compressing({many, 24 * mega - 100'000, 1000}).find("23.9 MB"), std::string::npos);
}

template <class Types>
class SpmvCompressed : public test::device_suite {};

TYPED_TEST_SUITE(SpmvCompressed, copied_types);

// How an entry's value depends on its row and column.
enum class fill { constant, few, distinct, just_few, just_too_many };

template <class V>
V value_of(fill how, i64 row, i64 col, std::mt19937_64& random) {
  if (how == fill::constant) return number<V>(row == col ? 4 : -1, row == col ? 0 : 0.5);
  if (how == fill::just_few || how == fill::just_too_many) {  // 256 values, 257
    return number<V>(static_cast<double>((31 * row + col) % (how == fill::just_few ? 256 : 257)) + 1, 0);
  }
  if (how == fill::few) return number<V>(static_cast<double>(random() % 200) - 100.5, 0.25);
  return random_number<V>(random);
}

// A band of half width `half`, cut at the edges; every `skip`-th row is one entry short.
template <class V>
triplets<V> band(i64 rows, i64 cols, i64 half, fill how, i64 skip) {
  std::mt19937_64 random(static_cast<unsigned>(rows + half));
  triplets<V> m{"band of " + std::to_string(half), rows, cols, {}};
  for (i64 r = 0; r < rows; ++r) {
    for (i64 c = std::max<i64>(0, r - half); c <= std::min(cols - 1, r + half); ++c) {
      if (r % skip == 0 && c == r) continue;
      m.entries.push_back({r, c, value_of<V>(how, r, c, random)});
    }
  }
  return m;
}

// `width` entries per row, the first and last `range` columns apart.
template <class V>
triplets<V> spread(i64 rows, i64 width, i64 range, fill how) {
  std::mt19937_64 random(static_cast<unsigned>(rows + range));
  triplets<V> m{"range " + std::to_string(range), rows, range + 8, {}};
  for (i64 r = 0; r < rows; ++r) {
    for (i64 k = 0; k < width; ++k) {
      const i64 inside = static_cast<i64>(random() % static_cast<std::uint64_t>(range));
      const i64 c = 7 + (k == 0 ? 0 : k + 1 == width ? range : inside);
      m.entries.push_back({r, c, value_of<V>(how, r, c, random)});
    }
  }
  return m;
}

template <class V>
std::vector<triplets<V>> structured() {
  std::vector<triplets<V>> all;
  for (const fill how : {fill::constant, fill::few, fill::distinct, fill::just_few, fill::just_too_many}) {
    for (const i64 rows : {31, 32, 33, 1000}) all.push_back(band<V>(rows, rows, 3, how, 1000));
    all.push_back(band<V>(700, 300, 7, how, 5));
    all.push_back(band<V>(300, 700, 40, how, 3));
    all.push_back(band<V>(600, 600, 126, how, 50));  // 253 values of column - row
    all.push_back(band<V>(600, 600, 127, how, 50));  // 255
    all.push_back(band<V>(600, 600, 128, how, 50));  // 257
    for (const i64 range : {254, 255, 256, 65'534, 65'535, 65'536, 100'000}) {
      for (const i64 width : {2, 4, 7}) all.push_back(spread<V>(100, width, range, how));
    }
  }
  return all;
}

// Slots in slices of 32 rows padded to their longest row.
template <class V>
i64 slots_of(const triplets<V>& m) {
  const auto rows = by_row(m);
  i64 slots = 0;
  for (std::size_t first = 0; first < rows.size(); first += 32) {
    std::size_t longest = 0;
    for (std::size_t r = first; r < std::min(first + 32, rows.size()); ++r) longest = std::max(longest, rows[r].size());
    slots += static_cast<i64>(32 * longest);
  }
  return slots;
}

template <class V, class I, class O>
std::vector<V> product(const context<device>& ctx, const spmv_plan<V, I, O, device>& plan, const std::vector<V>& x,
                       V alpha, V beta, const std::vector<V>& y) {
  const auto dx = upload(ctx, x);
  auto dy = upload(ctx, y);
  plan.run(alpha, dx.view(), beta, dy.view());
  return download<V>(ctx, std::as_const(dy).view());
}

// Against the reference, and bit by bit against row_per_thread.
template <class V, class I, class O>
void expect_products(const context<device>& ctx, const spmv_plan<V, I, O, device>& plan, const triplets<V>& m) {
  const auto x = random_vector<V>(m.cols, 11);
  const auto old = random_vector<V>(m.rows, 12);
  const auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_plan<V, I, O, device> same(ctx, csr.view(), {.algorithm = spmv_algorithm::row_per_thread});
  const V nan = number<V>(std::nan(""), std::nan(""));
  for (const auto& [alpha, beta] :
       {std::pair(number<V>(1, 0), V{}), std::pair(number<V>(-1.5, 2), number<V>(0.5, 1))}) {
    const auto before = beta == V{} ? std::vector<V>(old.size(), nan) : old;
    const auto got = product(ctx, plan, x, alpha, beta, before);
    const auto expected = reference<V>(m, alpha, x, beta, before);
    for (std::size_t r = 0; r < got.size(); ++r) {
      const std::complex<long double> value(std::real(got[r]), std::imag(got[r]));
      ASSERT_LE(std::abs(value - expected[r].value), expected[r].bound) << m.name << ", row " << r;
    }
    ASSERT_EQ(got, product(ctx, same, x, alpha, beta, before)) << m.name;
  }
}

TYPED_TEST(SpmvCompressed, EqualsRowPerThread) {
  SPMV_TYPES;
  const context<device> ctx;
  auto all = adversarial<V>();
  for (auto& m : structured<V>()) all.push_back(std::move(m));
  for (const auto& m : all) {
    SCOPED_TRACE(m.name + ", " + std::to_string(m.rows) + " rows");
    const auto csr = as_csr<V, I, O>(ctx, m);
    const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
    EXPECT_EQ(plan.algorithm(), spmv_algorithm::compressed);
    expect_products(ctx, plan, m);
  }
}

TYPED_TEST(SpmvCompressed, PaddingMeetsNoInfinity) {
  SPMV_TYPES;
  const context<device> ctx;
  for (const fill how : {fill::constant, fill::few, fill::distinct}) {
    const auto m = band<V>(200, 200, 5, how, 3);
    const auto csr = as_csr<V, I, O>(ctx, m);
    const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
    for (const i64 spoiled : {0, 70, 199}) {
      auto x = random_vector<V>(m.cols, 3);
      x[static_cast<std::size_t>(spoiled)] = number<V>(std::numeric_limits<double>::infinity(), 0);
      const auto y = product(ctx, plan, x, number<V>(1, 0), V{}, std::vector<V>(200));
      std::vector<bool> meets(200, false);
      for (const auto& e : m.entries) {
        if (e.col == spoiled) meets[static_cast<std::size_t>(e.row)] = true;
      }
      for (std::size_t r = 0; r < y.size(); ++r) {
        EXPECT_EQ(std::isfinite(std::real(y[r])), !meets[r]) << "row " << r << ", column " << spoiled;
      }
    }
  }
}

TYPED_TEST(SpmvCompressed, TakesOtherValues) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto with = [](fill how) { return band<V>(900, 900, 6, how, 7); };
  const auto first = as_csr<V, I, O>(ctx, with(fill::constant));
  spmv_plan<V, I, O, device> plan(ctx, first.view(), {.algorithm = spmv_algorithm::compressed});
  for (const fill how : {fill::constant, fill::few, fill::constant, fill::distinct, fill::few, fill::distinct,
                         fill::constant, fill::constant}) {
    const auto m = with(how);
    const auto csr = as_csr<V, I, O>(ctx, m);
    plan.update_values(csr.view());
    expect_products(ctx, plan, m);
  }
}

// `diagonals` entries per row from the diagonal on, and `count` values on each diagonal.
template <class V>
triplets<V> diagonals_of(i64 rows, i64 diagonals, i64 count) {
  triplets<V> m{std::to_string(diagonals * count) + " pairs", rows, rows + diagonals, {}};
  for (i64 r = 0; r < rows; ++r) {
    for (i64 d = 0; d < diagonals; ++d)
      m.entries.push_back({r, r + d, number<V>(static_cast<double>(r % count) - 9, 0)});
  }
  return m;
}

TYPED_TEST(SpmvCompressed, StoresAsLittleAsMayBe) {
  SPMV_TYPES;
  const context<device> ctx;
  const bool nameable = sizeof(V) <= 8;
  const auto expect_stored = [&](const triplets<V>& m, const std::string& how, i64 most_bytes) {
    const auto csr = as_csr<V, I, O>(ctx, m);
    const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
    EXPECT_NE(plan.reason().find(how), std::string::npos) << m.name << ": " << plan.reason();
    // 16 + 8 bytes per slice, 2 per row, the tables
    EXPECT_LE(plan.workspace_bytes(), most_bytes * slots_of(m) + 3 * m.rows + 24 + 30'000) << m.name;
    expect_products(ctx, plan, m);
  };
  const i64 size = sizeof(V);
  expect_stored(band<V>(3000, 3000, 7, fill::constant, 3000), nameable ? "16 pairs" : "offsets of 1.00",
                nameable ? 1 : 17);
  expect_stored(diagonals_of<V>(3001, 4, 64), nameable ? "256 pairs" : "offsets of 1.00", nameable ? 1 : 17);
  expect_stored(diagonals_of<V>(3001, 4, 65),
                nameable ? "4 distances from the row; values of one byte each: 65" : "offsets", nameable ? 2 : 17);
  expect_stored(band<V>(3000, 3000, 8, fill::distinct, 3000), "offsets of 1.00", 1 + size);
  expect_stored(band<V>(3000, 3000, 8, fill::few, 3000), nameable ? "columns of one byte each: 17 distances" : "1.00",
                nameable ? 2 : 17);
  expect_stored(band<V>(3000, 3000, 127, fill::distinct, 3000), "columns of one byte each: 255 distances", 1 + size);
  expect_stored(band<V>(3000, 3000, 128, fill::distinct, 3000), "offsets of 1.9", 2 + size);
  expect_stored(spread<V>(3000, 8, 200, fill::few), nameable ? "values of one byte each: 200" : "1.00",
                nameable ? 2 : 17);
  expect_stored(spread<V>(3000, 8, 60'000, fill::just_few), nameable ? "values of one byte each: 256" : "2.00",
                nameable ? 3 : 18);
  expect_stored(spread<V>(3000, 8, 60'000, fill::just_too_many), "values unchanged", 2 + size);
  expect_stored(spread<V>(3000, 8, 100'000, fill::distinct), "offsets of 4.00", 4 + size);
}

TYPED_TEST(SpmvCompressed, TakesEveryNaN) {
  SPMV_TYPES;
  using R = real_t<V>;
  const context<device> ctx;
  // A NaN with all bits set, which marks an empty slot of the dictionary.
  V ones;
  std::memset(static_cast<void*>(&ones), 0xff, sizeof(V));
  ASSERT_TRUE(std::isnan(std::real(ones)));
  const triplets<V> nans{"NaN", 40, 40, {{3, 3, ones}, {4, 4, number<V>(2, 0)}}};
  const auto z = product(
      ctx,
      spmv_plan<V, I, O, device>(ctx, as_csr<V, I, O>(ctx, nans).view(), {.algorithm = spmv_algorithm::compressed}),
      std::vector<V>(40, number<V>(1, 0)), number<V>(1, 0), V{}, std::vector<V>(40));
  EXPECT_TRUE(std::isnan(std::real(z[3])));
  EXPECT_EQ(std::real(z[4]), R{2});
  EXPECT_EQ(std::real(z[5]), R{0});
}

TYPED_TEST(SpmvCompressed, OutlivesTheMatrix) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto m = band<V>(500, 500, 4, fill::distinct, 9);
  auto csr = as_csr<V, I, O>(ctx, m);
  const spmv_plan<V, I, O, device> plan(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
  EXPECT_EQ(plan.storage(), spmv_storage::copied);
  fill_zero(ctx, csr.values().view());
  expect_products(ctx, plan, m);
}

TYPED_TEST(SpmvCompressed, IsChosenWhereItPays) {
  SPMV_TYPES;
  const context<device> ctx;
  const auto plan_of = [&](const triplets<V>& m, spmv_storage storage) {
    return spmv_plan<V, I, O, device>(ctx, as_csr<V, I, O>(ctx, m).view(), {.storage = storage});
  };
  const auto regular = band<V>(271'000, 271'000, 7, fill::constant, 271'000);
  EXPECT_EQ(plan_of(regular, spmv_storage::copied).algorithm(), spmv_algorithm::compressed);
  EXPECT_NE(plan_of(regular, spmv_storage::borrowed).algorithm(), spmv_algorithm::compressed);
  const auto uneven = random_rows<V>("uneven", 271'000, 900, [](i64 r) { return r % 32 == 0 ? 40 : 1; });
  const auto refused = plan_of(uneven, spmv_storage::copied);
  EXPECT_NE(refused.algorithm(), spmv_algorithm::compressed);
  EXPECT_NE(refused.reason().find("not compressed"), std::string::npos) << refused.reason();
  EXPECT_EQ(refused.storage(), spmv_storage::borrowed);
  const auto scattered = plan_of(spread<V>(271'000, 12, 100'000, fill::distinct), spmv_storage::copied);
  if (sizeof(I) == 4) {  // of which columns take another half
    EXPECT_NE(scattered.algorithm(), spmv_algorithm::compressed);
  } else if (sizeof(V) <= 8) {
    EXPECT_EQ(scattered.algorithm(), spmv_algorithm::compressed);
  }
}

TEST(SpmvCompressedDevice, RefusesMuchPaddingByName) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  const auto m = random_rows<float>("", 200'000, 500, [](i64 r) { return r % 32 == 0 ? 40 : 1; });
  const auto csr = as_csr<float, i32, i32>(ctx, m);
  try {
    (void)spmv_plan<float, i32, i32, device>(ctx, csr.view(), {.algorithm = spmv_algorithm::compressed});
    FAIL() << "taken";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
    EXPECT_NE(std::string(e.what()).find("slots per entry"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace spargo::test
