// Host products give the same bits, by the same algorithm, for any number of threads.
#include "sparse/spmv_cases.hpp"

#include <spargo/sparse/spmm.hpp>

#include <cstring>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

constexpr auto thread_counts = {1, 2, 3, 7, 16};

// Shapes whose long rows are shared by threads, whole or cut anywhere.
template <class V>
std::vector<triplets<V>> shared_rows() {
  auto all = adversarial<V>();
  std::erase_if(all, [](const auto& m) { return m.entries.size() < 5000; });  // too small to share
  all.push_back(random_rows<V>("one dense row", 20'000, 20'000, [](i64 r) { return r == 7'777 ? 20'000 : r % 3; }));
  all.push_back(random_rows<V>("the first row dense", 3000, 900, [](i64 r) { return r == 0 ? 30'000 : 2; }));
  all.push_back(random_rows<V>("the last row dense", 3000, 900, [](i64 r) { return r == 2999 ? 30'000 : 2; }));
  all.push_back(random_rows<V>("rows around a tile", 40, 5000, [](i64 r) { return 4076 + r; }));
  all.push_back(random_rows<V>("long rows amid empty ones", 9000, 700, [](i64 r) { return r % 900 == 5 ? 9001 : 0; }));
  all.push_back(random_rows<V>("rows in every share", 6000, 3000, [](i64 r) { return r % 1000 == 3 ? 5000 : r % 9; }));
  triplets<V> bands{"bands", 3000, 3000, {}};
  for (i64 r = 0; r < bands.rows; ++r) {
    for (const i64 shift : {-40, -1, 0, 1, 40}) {
      const i64 c = r + shift;
      if (c >= 0 && c < bands.cols && r % 700 != 3) {
        bands.entries.push_back({r, c, number<V>(0.1 * static_cast<double>(1 + (r + shift) % 17), 0.3)});
      }
    }
  }
  all.push_back(bands);
  return all;
}

template <class V>
i64 longest_row(const triplets<V>& m) {
  std::vector<i64> lengths(static_cast<std::size_t>(m.rows));
  for (const auto& e : m.entries) ++lengths[static_cast<std::size_t>(e.row)];
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

template <class V>
struct outcome {
  std::string how;
  std::vector<V> y;
};

template <class V>
void expect_same(const std::vector<outcome<V>>& got, const std::vector<outcome<V>>& first, const std::string& where) {
  ASSERT_EQ(got.size(), first.size()) << where;
  for (std::size_t k = 0; k < got.size(); ++k) {
    EXPECT_EQ(got[k].how, first[k].how) << where;
    ASSERT_EQ(got[k].y.size(), first[k].y.size());
    const bool same =
        got[k].y.empty() || std::memcmp(got[k].y.data(), first[k].y.data(), got[k].y.size() * sizeof(V)) == 0;
    EXPECT_TRUE(same) << where << ", " << got[k].how;
  }
}

// Every format and algorithm, and the copies.
template <class V>
std::vector<outcome<V>> products(const context<host>& ctx, const triplets<V>& m, const triplets<V>& shuffled) {
  std::vector<outcome<V>> all;
  const auto x = random_vector<V>(m.cols, 21);
  const auto old = random_vector<V>(m.rows, 22);
  const auto record = [&](const spmv_plan<V, i32, i32, host>& plan, std::string_view format) {
    const std::string how = std::string(format) + " " + std::string(to_string(plan.algorithm())) + ": " + plan.reason();
    auto y = old;
    plan.run(number<V>(1.25, 1), span<const V, host>(x), number<V>(-0.75, 2), span<V, host>(y));
    all.push_back({how, std::move(y)});
  };
  const auto csr = as_csr<V, i32, i32>(ctx, m);
  for (const auto algorithm : {spmv_algorithm::automatic, spmv_algorithm::row_per_thread, spmv_algorithm::merge_path}) {
    record({ctx, csr.view(), {.algorithm = algorithm}}, "csr");
  }
  record({ctx, csr.view(), {.storage = spmv_storage::copied}}, "csr");
  const auto coo = as_coo<V, i32>(ctx, m);
  record({ctx, coo.view()}, "coo");
  const auto unsorted = as_coo<V, i32>(ctx, shuffled);
  record({ctx, unsorted.view()}, "unsorted coo");
  if (m.rows * longest_row(m) <= 4'000'000) {
    const auto ell = as_ell<V, i32>(ctx, m);
    record({ctx, ell.view()}, "ell");
    for (const std::size_t height : {8, 300}) {
      const auto sell = as_sell<V, i32, i32>(ctx, m, height);
      record({ctx, sell.view()}, "sell");
    }
  }
  return all;
}

template <class V>
std::vector<outcome<V>> multi_products(const context<host>& ctx, const triplets<V>& m) {
  std::vector<outcome<V>> all;
  const auto csr = as_csr<V, i32, i32>(ctx, m);
  for (const i64 columns : {1, 5, 16}) {
    const auto x = random_vector<V>(m.cols * columns, 23);
    for (const auto algorithm : {spmm_algorithm::automatic, spmm_algorithm::row_groups, spmm_algorithm::merge_path}) {
      const spmm_plan<V, i32, i32, host> plan(ctx, csr.view(), columns, {.algorithm = algorithm});
      auto y = random_vector<V>(m.rows * columns, 24);
      plan.run(number<V>(1.25, 1), dense_view<const V, host>{m.cols, columns, columns, x}, number<V>(-0.75, 2),
               dense_view<V, host>{m.rows, columns, columns, y});
      all.push_back({std::string(to_string(plan.algorithm())) + ": " + plan.reason(), std::move(y)});
    }
  }
  return all;
}

template <class V>
class AnyThreads : public testing::Test {};
using value_types = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(AnyThreads, value_types);

TYPED_TEST(AnyThreads, GiveTheSameBitsOfEveryProduct) {
  using V = TypeParam;
  for (const auto& m : shared_rows<V>()) {
    auto shuffled = m;
    std::shuffle(shuffled.entries.begin(), shuffled.entries.end(), std::mt19937_64(3));
    std::vector<outcome<V>> first;
    for (const int threads : thread_counts) {
      auto got = products<V>(context<host>({.threads = threads}), m, shuffled);
      if (first.empty()) first = got;
      expect_same(got, first, m.name + ", " + std::to_string(threads) + " threads");
    }
  }
}

TYPED_TEST(AnyThreads, GiveTheSameBitsOfMultiVectors) {
  using V = TypeParam;
  for (const auto& m : shared_rows<V>()) {
    std::vector<outcome<V>> first;
    for (const int threads : thread_counts) {
      auto got = multi_products<V>(context<host>({.threads = threads}), m);
      if (first.empty()) first = got;
      expect_same(got, first, m.name + ", " + std::to_string(threads) + " threads");
    }
  }
}

// The number of tiles depends on the threads; whether tiles are allowed depends on the matrix only.
TEST(AnyThreadsCopies, AreRefusedAlike) {
  const auto m = random_rows<double>("wide", 65'536, 1, [](i64 r) { return r < 100 ? 1 : 0; });
  std::vector<std::string> outcomes;
  for (const int threads : thread_counts) {
    const context<host> ctx({.threads = threads});
    const auto csr = as_csr<double, i32, i32>(ctx, m);
    auto wide = csr.view();
    wide.cols = 65'536 * 12'000;
    try {
      outcomes.push_back(
          spmv_plan<double, i32, i32, host>(ctx, wide, {.algorithm = spmv_algorithm::compressed}).reason());
    } catch (const error& e) {
      outcomes.emplace_back(e.what());
    }
    EXPECT_EQ(outcomes.back().substr(0, 20), outcomes.front().substr(0, 20)) << threads << " threads";
  }
}

}  // namespace
}  // namespace spargo::test
