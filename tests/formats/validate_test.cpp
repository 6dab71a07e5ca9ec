// One broken invariant at a time; the message must name its position.
#include "formats/reference.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <spargo/formats/validate.hpp>

#include <gmock/gmock.h>

namespace spargo::test {
namespace {

template <class Case>
class Validate : public test::space_suite<typename Case::space> {};

using cases = suite_types<
    format_case<double, std::int32_t, std::int32_t, host>, format_case<pattern, std::int32_t, std::int64_t, host>,
    format_case<std::complex<float>, std::int64_t, std::int64_t, host>,
    format_case<double, std::int32_t, std::int32_t, device>, format_case<pattern, std::int32_t, std::int64_t, device>,
    format_case<std::complex<float>, std::int64_t, std::int64_t, device>>;

struct case_name {
  template <class Case>
  static std::string GetName(int i) {
    return std::string(std::same_as<typename Case::space, host> ? "host" : "device") + std::to_string(i);
  }
};

TYPED_TEST_SUITE(Validate, cases, case_name);

#define CASE_TYPES                                       \
  using V = typename TypeParam::value;                   \
  using I = typename TypeParam::index;                   \
  using O [[maybe_unused]] = typename TypeParam::offset; \
  const runner<typename TypeParam::space> run;

template <class Check>
void expect_invalid(const Check& check, const std::string& message) {
  try {
    check();
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::invalid_data);
    EXPECT_THAT(e.what(), testing::HasSubstr(message));
  }
}

// 2000 rows of 40 entries at columns r + 3 j: large enough for several shares.
template <class V>
triples<V> banded() {
  triples<V> m{"banded", 2000, 3000, {}};
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t j = 0; j < 40; ++j) m.add(r, r / 2 + 3 * j);
  }
  return m;
}

TYPED_TEST(Validate, AcceptsEveryShape) {
  CASE_TYPES
  for (auto& m : small_shapes<V>()) {
    const auto coo = run.in(make_coo<I>(m));
    EXPECT_NO_THROW(validate<V>(run.ctx, coo.view())) << m.name;
    m.entries = summed(m.entries);
    const auto csr = run.in(make_csr<I, O>(m));
    EXPECT_NO_THROW(validate<V>(run.ctx, csr.view(), column_order::ascending_distinct)) << m.name;
    const auto ell = to_ell(run.ctx, csr.view());
    EXPECT_NO_THROW(validate<V>(run.ctx, ell.view())) << m.name;
    const auto sell = to_sell(run.ctx, csr.view(), {.slice_height = 4, .sorting_window = 8});
    EXPECT_NO_THROW(validate<V>(run.ctx, sell.view())) << m.name;
  }
}

TYPED_TEST(Validate, CsrNamesRowAndEntry) {
  CASE_TYPES
  const auto broken = [&](auto&& breakage, const std::string& message) {
    auto m = make_csr<I, O>(banded<V>());
    breakage(m);
    const auto there = run.in(std::move(m));
    expect_invalid([&] { validate<V>(run.ctx, there.view(), column_order::ascending_distinct); }, message);
  };
  broken([](auto& m) { m.offsets()[0] = 1; }, "csr: offsets start at 1 (expected 0)");
  broken([](auto& m) { m.offsets()[18] = 600; }, "csr: row 17: offsets decrease from 680 to 600");
  broken([](auto& m) { m.offsets()[2000] = 80001; },
         "csr: offsets end at 80001 (expected the number of entries, 80000)");
  broken([](auto& m) { m.indices()[79999] = m.indices()[703] = 3000; },
         "csr: row 17, entry 703: column 3000 outside 0..2999");
  broken([](auto& m) { m.indices()[703] = -1; }, "csr: row 17, entry 703: column -1 outside 0..2999");
  broken([](auto& m) { m.indices()[70003] = m.indices()[70002]; },
         "csr: row 1750, entry 70003: column 881 after column 881 (expected ascending, distinct columns)");
  broken([](auto& m) { m.offsets().truncate(2000); }, "csr: 2000 offsets (expected 2001)");
  if constexpr (!is_pattern<V>) {
    broken([](auto& m) { m.values().truncate(79999); }, "csr: 79999 values (expected 80000)");
  }

  auto unsorted = make_csr<I, O>(banded<V>());
  std::swap(unsorted.indices()[1], unsorted.indices()[2]);
  const auto there = run.in(std::move(unsorted));
  EXPECT_NO_THROW(validate<V>(run.ctx, there.view()));
}

TYPED_TEST(Validate, CsrWithoutColumns) {
  CASE_TYPES
  auto m = make_csr<I, O>(triples<V>{"", 2, 1, {{1, 0, V{}}}});
  const auto there = run.in(std::move(m));
  auto view = there.view();
  view.cols = 0;
  expect_invalid([&] { validate<V>(run.ctx, view); }, "csr: row 1, entry 0: column 0 (expected none)");
}

TYPED_TEST(Validate, CooNamesTheEntry) {
  CASE_TYPES
  const auto broken = [&](auto&& breakage, const std::string& message) {
    auto m = make_coo<I>(banded<V>());
    breakage(m);
    const auto there = run.in(std::move(m));
    expect_invalid([&] { validate<V>(run.ctx, there.view()); }, message);
  };
  broken([](auto& m) { m.row_indices()[70000] = 2000; }, "coo: entry 70000: row 2000 outside 0..1999");
  broken([](auto& m) { m.row_indices()[7] = -5; }, "coo: entry 7: row -5 outside 0..1999");
  broken([](auto& m) { m.col_indices()[703] = 3000; }, "coo: row 17, entry 703: column 3000 outside 0..2999");
  broken(
      [](auto& m) {
        m.row_indices()[9] = -5;
        m.col_indices()[8] = -6;
      },
      "coo: row 0, entry 8: column -6 outside 0..2999");
  broken([](auto& m) { m.col_indices().truncate(3); }, "coo: 3 column indices (expected 80000)");
}

TYPED_TEST(Validate, EllNamesRowAndEntry) {
  CASE_TYPES
  const auto broken = [&](auto&& breakage, const std::string& message) {
    const context<host> ctx;
    const auto csr = make_csr<I, O>(banded<V>());
    const auto good = to_ell(ctx, csr.view());
    auto lengths = clone(ctx, good.row_lengths().view());
    auto indices = clone(ctx, good.indices().view());
    breakage(lengths, indices);
    const auto there = run.in(ell_matrix<V, I, host>(2000, 3000, 40, 80000, std::move(lengths), std::move(indices),
                                                     clone(ctx, good.view().values)));
    expect_invalid([&] { validate<V>(run.ctx, there.view()); }, message);
  };
  broken([](auto& lengths, auto&) { lengths[17] = 41; }, "ell: row 17: length 41 outside 0..40");
  broken([](auto& lengths, auto&) { lengths[1999] = -1; }, "ell: row 1999: length -1 outside 0..40");
  broken([](auto& lengths, auto&) { lengths[3] = 39; }, "ell: 79999 entries in the rows (expected 80000)");
  broken([](auto&, auto& indices) { indices[5 * 2000 + 17] = 3000; },
         "ell: row 17, entry 5: column 3000 outside 0..2999");
  broken([](auto& lengths, auto&) { lengths.truncate(1999); }, "ell: 1999 row lengths (expected 2000)");
}

TYPED_TEST(Validate, SellNamesSlotRowAndEntry) {
  CASE_TYPES
  const auto broken = [&](auto&& breakage, const std::string& message) {
    const context<host> ctx;
    const auto csr = make_csr<I, O>(banded<V>());
    const auto good = to_sell(ctx, csr.view(), {.slice_height = 32, .sorting_window = 1});
    auto offsets = clone(ctx, good.slice_offsets().view());
    auto permutation = clone(ctx, good.permutation().view());
    auto lengths = clone(ctx, good.row_lengths().view());
    auto indices = clone(ctx, good.indices().view());
    breakage(offsets, permutation, lengths, indices);
    const auto there =
        run.in(sell_matrix<V, I, O, host>(2000, 3000, 32, 80000, std::move(offsets), std::move(permutation),
                                          std::move(lengths), std::move(indices), clone(ctx, good.view().values)));
    expect_invalid([&] { validate<V>(run.ctx, there.view()); }, message);
  };
  using offsets = array<O, host>;
  using rows = array<I, host>;
  broken([](offsets& o, rows&, rows&, rows&) { o[3] += 5; },
         "sell: slice 2: 1285 entries (expected a multiple of the height, 32)");
  broken([](offsets& o, rows&, rows&, rows&) { o[3] = 0; }, "sell: slice 2: offsets decrease from 2560 to 0");
  broken([](offsets&, rows& p, rows&, rows&) { p[70] = 2000; }, "sell: slot 70: row 2000 outside -1..1999");
  broken([](offsets&, rows& p, rows&, rows&) { p[70] = p[1500] = 69; }, "sell: slot 70: row 69 is in slot 69 already");
  broken([](offsets&, rows& p, rows&, rows&) { p[70] = -1; }, "sell: row 70 is in no slot");
  broken([](offsets&, rows&, rows& l, rows&) { l[70] = 41; }, "sell: slot 70 (row 70): length 41 outside 0..40");
  broken([](offsets&, rows&, rows& l, rows&) { l[2001] = 1; }, "sell: slot 2001 (row -1): length 1 outside 0..0");
  broken([](offsets&, rows&, rows& l, rows&) { l[70] = 7; }, "sell: 79967 entries in the rows (expected 80000)");
  broken([](offsets&, rows&, rows&, rows& i) { i[2560 + 5 * 32 + 6] = -2; },
         "sell: row 70, entry 5: column -2 outside 0..2999");
}

}  // namespace
}  // namespace spargo::test
