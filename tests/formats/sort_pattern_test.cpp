// The row order that plans of COO products keep, against std::stable_sort.
#include "formats/convert/backend.hpp"
#include "formats/reference.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace spargo::test {
namespace {

template <class Case>
class SortPattern : public test::space_suite<typename Case::space> {};

using cases = suite_types<
    format_case<pattern, std::int32_t, std::int32_t, host>, format_case<pattern, std::int64_t, std::int64_t, host>,
    format_case<pattern, std::int32_t, std::int32_t, device>, format_case<pattern, std::int64_t, std::int64_t, device>>;
TYPED_TEST_SUITE(SortPattern, cases);

template <class Space, class I>
void check(const triples<pattern>& m) {
  const runner<Space> run;
  const auto entries = run.in(make_coo<I>(m));
  const auto sorted = detail::sort_pattern<I, Space>("sorting", run.ctx, entries.view());
  const context<host> ctx;
  const auto to_vector = [&]<class T>(const array<T, Space>& from) {
    array<T, host> to(ctx, from.size());
    copy<T>(run.ctx, from.view(), to.view());
    run.ctx.synchronize();
    return std::vector<std::int64_t>(to.begin(), to.end());
  };
  std::vector<std::int64_t> order(m.entries.size());
  std::iota(order.begin(), order.end(), 0);
  const auto entry = [&](std::int64_t k) -> const auto& { return m.entries[static_cast<std::size_t>(k)]; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return coordinates_less(entry(a), entry(b)); });
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> cols;
  for (const std::int64_t k : order) {
    rows.push_back(entry(k).row);
    cols.push_back(entry(k).col);
  }
  EXPECT_EQ(to_vector(sorted.order), order) << m.name;
  EXPECT_EQ(to_vector(sorted.row_indices), rows) << m.name;
  EXPECT_EQ(to_vector(sorted.col_indices), cols) << m.name;
}

TYPED_TEST(SortPattern, IsStable) {
  for (const auto& m : all_shapes<pattern>()) check<typename TypeParam::space, typename TypeParam::index>(m);
}

TYPED_TEST(SortPattern, OfFarMoreRowsThanEntries) {
  check<typename TypeParam::space, typename TypeParam::index>(
      random_triples<pattern>("hypersparse", 2000000000, 3, 500, 1));
}

TYPED_TEST(SortPattern, OfColumnsThatFillNoKey) {
  if constexpr (sizeof(typename TypeParam::index) == 8) {
    check<typename TypeParam::space, std::int64_t>(
        random_triples<pattern>("wide", 60000, std::int64_t{1} << 62, 70000, 1));
  } else {
    check<typename TypeParam::space, std::int32_t>(random_triples<pattern>("wide", 60000, INT32_MAX, 70000, 1));
  }
}

TYPED_TEST(SortPattern, NamesTheEntryOutside) {
  using I = typename TypeParam::index;
  const runner<typename TypeParam::space> run;
  triples<pattern> m{"outside", 4, 4, {}};
  m.add(3, 0);
  m.add(0, 4);
  const auto entries = run.in(make_coo<I>(m));
  try {
    (void)detail::sort_pattern<I, typename TypeParam::space>("sorting", run.ctx, entries.view());
    ADD_FAILURE() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::invalid_data);
    EXPECT_THAT(e.what(), testing::HasSubstr("sorting: entry 1: (0, 4) is outside the 4 x 4 matrix"));
  }
}

}  // namespace
}  // namespace spargo::test
