// Sums on a device against those on the host, whose code shares nothing with the device's and is tested against lists
// of triples: the same entries with the same bits.
#include "formats/reference.hpp"
#include "sparse/same_matrix.hpp"
#include "support/message.hpp"
#include "support/resource.hpp"

#include <spargo/sparse/algebra.hpp>

#include <cmath>
#include <limits>

namespace spargo::test {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;

template <class Case>
class AlgebraDevice : public testing::Test {};
using cases =
    testing::Types<format_case<float, i32, i32, device>, format_case<double, i32, i64, device>,
                   format_case<std::complex<double>, i64, i64, device>, format_case<pattern, i32, i32, device>>;
TYPED_TEST_SUITE(AlgebraDevice, cases);

#define ALGEBRA_TYPES                   \
  using V = typename TypeParam::value;  \
  using I = typename TypeParam::index;  \
  using O = typename TypeParam::offset; \
  SPARGO_TEST_NEEDS_GPU();              \
  const context<device> ctx;            \
  const context<host> cpu

// Unsorted, with duplicates, an empty row and a dense one.
template <class V, class I, class O>
csr_matrix<V, I, O, host> random_csr(std::int64_t rows, std::int64_t cols, std::int64_t nnz, unsigned seed) {
  auto m = random_triples<V>("random", rows, cols, nnz, seed);
  if (rows > 3) {
    std::erase_if(m.entries, [](const auto& e) { return e.row == 1; });
    for (std::int64_t c = cols; c-- > 0;) m.add(3, c);
  }
  std::stable_sort(m.entries.begin(), m.entries.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  return make_csr<I, O>(m);
}

struct sum_shape {
  std::int64_t rows, cols, of_a, of_b;
};
const std::vector<sum_shape> shapes{
    {0, 3, 0, 0},      {3, 0, 0, 0},          {1, 1, 1, 1},          {5, 4, 0, 9},        {7, 9, 30, 0},
    {33, 8, 100, 100}, {400, 300, 900, 5000}, {9, 5000, 20000, 300}, {5000, 7, 9, 30000}, {1, 3000, 2000, 2500}};

TYPED_TEST(AlgebraDevice, Sums) {
  ALGEBRA_TYPES;
  for (const auto& s : shapes) {
    const auto a = random_csr<V, I, O>(s.rows, s.cols, s.of_a, 1);
    const auto b = random_csr<V, I, O>(s.rows, s.cols, s.of_b, 2);
    const auto x = to_device(ctx, a.view());
    const auto y = to_device(ctx, b.view());
    const std::string what = std::to_string(s.rows) + " x " + std::to_string(s.cols);
    const csr_pattern_view<I, O, device> pattern_of_x = x.view();
    const csr_pattern_view<I, O, host> pattern_of_a = a.view();
    EXPECT_EQ((is_canonical<I, O>(ctx, pattern_of_x)), (is_canonical<I, O>(cpu, pattern_of_a))) << what;
    const auto c = canonical(ctx, x.view());
    expect_same(to_host(ctx, c.view()), canonical(cpu, a.view()), what + ", canonical");
    const csr_pattern_view<I, O, device> pattern_of_c = c.view();
    EXPECT_TRUE((is_canonical<I, O>(ctx, pattern_of_c))) << what;
    expect_same(to_host(ctx, add(ctx, x.view(), y.view()).view()), add(cpu, a.view(), b.view()), what);
    expect_same(to_host(ctx, add(ctx, c.view(), y.view()).view()), add(cpu, a.view(), b.view()), what + ", sorted");
    if constexpr (!is_pattern<V>) {
      for (const auto& [alpha, beta] : std::vector<std::pair<V, V>>{{V(1), V(-3)}, {V(0.3), V(1)}, {V(0), V(7)}}) {
        expect_same(to_host(ctx, add(ctx, alpha, x.view(), beta, y.view()).view()),
                    add(cpu, alpha, a.view(), beta, b.view()), what + ", scaled");
      }
    }
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(AlgebraDevice, SymmetricSums) {
  ALGEBRA_TYPES;
  for (const std::int64_t n : {0, 1, 5, 300}) {
    const auto a = random_csr<V, I, O>(n, n, n == 0 ? 0 : 4 * n, 3);
    const auto x = to_device(ctx, a.view());
    expect_same(to_host(ctx, symmetrize(ctx, x.view()).view()), symmetrize(cpu, a.view()), std::to_string(n));
  }
  const auto wide = to_device(ctx, random_csr<V, I, O>(3, 4, 5, 4).view());
  EXPECT_NE(
      message_of(error_code::invalid_argument, [&] { (void)symmetrize(ctx, wide.view()); }).find("a 3 x 4 matrix"),
      std::string::npos);
  const auto tall = to_device(ctx, random_csr<V, I, O>(4, 3, 5, 4).view());
  EXPECT_NE(message_of(error_code::invalid_argument, [&] { (void)add(ctx, wide.view(), tall.view()); })
                .find("A is 3 x 4 and B 4 x 3"),
            std::string::npos);
}

TYPED_TEST(AlgebraDevice, EveryAllocationMayFail) {
  ALGEBRA_TYPES;
  const auto x = to_device(ctx, random_csr<V, I, O>(300, 300, 3000, 5).view());
  const std::int64_t requests =
      fail_every_device_allocation([&](const context<device>& failing) { (void)symmetrize(failing, x.view()); });
  EXPECT_GT(requests, 8);
}

TEST(AlgebraDeviceValues, NonFiniteValuesStay) {
  SPARGO_TEST_NEEDS_GPU();
  using V = std::complex<double>;
  const context<device> ctx;
  const context<host> cpu;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto a = random_csr<V, i32, i32>(50, 50, 300, 6);
  const V odd[] = {{infinity, 0}, {0, -infinity}, {-0.0, 0.0}, {std::nan(""), 1}};
  for (std::int64_t k = 0; k < a.nnz(); k += 3) a.values()[k] = odd[static_cast<std::size_t>(k / 3) % std::size(odd)];
  const auto b = random_csr<V, i32, i32>(50, 50, 200, 7);
  const auto x = to_device(ctx, a.view());
  const auto y = to_device(ctx, b.view());
  expect_same(to_host(ctx, add(ctx, V(1), x.view(), V(2), y.view()).view()), add(cpu, V(1), a.view(), V(2), b.view()),
              "one");
  expect_same(to_host(ctx, add(ctx, V(2), x.view(), V(1), y.view()).view()), add(cpu, V(2), a.view(), V(1), b.view()),
              "two");
}

}  // namespace
}  // namespace spargo::test
