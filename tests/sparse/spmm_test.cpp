// SpMM on every backend against a long double reference, column by column.
#include "sparse/simd/spmm.hpp"
#include "sparse/sparse_suite.hpp"
#include "support/resource.hpp"

#include <spargo/sparse/spmm.hpp>

namespace spargo::test {
namespace {

constexpr auto all_algorithms = {spmm_algorithm::automatic, spmm_algorithm::row_groups, spmm_algorithm::merge_path};
constexpr auto all_widths = {0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 100};

// Layout of X and Y: k columns, extra elements per row (gaps), and elements before the first.
struct layout {
  i64 columns = 1;
  i64 x_gap = 0;
  i64 y_gap = 0;
  i64 x_shift = 0;
  i64 y_shift = 0;
};

template <class V>
V nan_number() {
  return number<V>(std::nan(""), std::nan(""));
}

// X, the old Y, and the expected result, column by column.
template <class V>
struct expectation {
  std::vector<std::vector<V>> x;
  std::vector<std::vector<V>> y;
  std::vector<std::vector<reference_row<V>>> wanted;

  expectation(const triplets<V>& m, i64 columns, V alpha, V beta, unsigned seed = 1) {
    for (i64 j = 0; j < columns; ++j) {
      x.push_back(random_vector<V>(m.cols, seed + 2 * static_cast<unsigned>(j)));
      y.push_back(random_vector<V>(m.rows, seed + 2 * static_cast<unsigned>(j) + 1));
      wanted.push_back(reference(m, alpha, x.back(), beta, y.back()));
    }
  }
};

// Columns as a row-major matrix with gaps of `gap` values.
template <class V>
std::vector<V> interleave(const std::vector<std::vector<V>>& columns, i64 rows, i64 gap, i64 shift, V between) {
  const i64 stride = static_cast<i64>(columns.size()) + gap;
  std::vector<V> all(static_cast<std::size_t>(shift + rows * stride + 3), between);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (i64 i = 0; i < rows; ++i) {
      all[static_cast<std::size_t>(shift + i * stride) + j] = columns[j][static_cast<std::size_t>(i)];
    }
  }
  return all;
}

// A view that ends with the matrix's last element, so that reads beyond it are out of bounds.
template <class V, class Space>
dense_view<V, Space> view_of(span<V, Space> memory, i64 rows, const layout& l, i64 gap, i64 shift) {
  const i64 stride = l.columns + gap;
  const i64 size = rows == 0 || l.columns == 0 ? 0 : (rows - 1) * stride + l.columns;
  return {rows, l.columns, stride, memory.subspan(shift, size)};
}

// Y starts as NaN if beta is 0. Gaps of X are NaN, those of Y hold a mark that must stay.
template <class V, class I, class O, class Space>
void check_product(const context<Space>& ctx, const spmm_plan<V, I, O, Space>& plan, const triplets<V>& m,
                   const expectation<V>& e, V alpha, V beta, const layout& l) {
  const V mark = number<V>(-77, 77);
  auto old = e.y;
  if (beta == V{}) {
    for (auto& column : old) std::fill(column.begin(), column.end(), nan_number<V>());
  }
  const auto x = upload(ctx, interleave(e.x, m.cols, l.x_gap, l.x_shift, nan_number<V>()));
  auto y = upload(ctx, interleave(old, m.rows, l.y_gap, l.y_shift, mark));
  plan.run(alpha, view_of(x.view(), m.cols, l, l.x_gap, l.x_shift), beta,
           view_of(y.view(), m.rows, l, l.y_gap, l.y_shift));
  const std::vector<V> result = download<V>(ctx, std::as_const(y).view());

  const i64 stride = l.columns + l.y_gap;
  const std::string where = m.name + ", " + std::string(to_string(plan.algorithm())) + ", " +
                            std::to_string(l.columns) + " columns, gaps " + std::to_string(l.x_gap) + " and " +
                            std::to_string(l.y_gap) + ", shifts " + std::to_string(l.x_shift) + " and " +
                            std::to_string(l.y_shift);
  for (std::size_t at = 0; at < result.size(); ++at) {
    const i64 from_first = static_cast<i64>(at) - l.y_shift;
    const bool inside = from_first >= 0 && from_first < m.rows * stride && from_first % stride < l.columns;
    if (!inside) {
      ASSERT_EQ(result[at], mark) << where << ": written outside of Y, at " << from_first;
      continue;
    }
    const i64 row = from_first / stride;
    const i64 column = from_first % stride;
    const auto& want = e.wanted[static_cast<std::size_t>(column)][static_cast<std::size_t>(row)];
    const std::complex<long double> got(std::real(result[at]), std::imag(result[at]));
    ASSERT_LE(std::abs(got - want.value), want.bound)
        << where << ": (" << row << ", " << column << ") is " << result[at] << ", expected " << want.value.real()
        << " alpha " << alpha << " beta " << beta;
  }
}

template <class Case>
class Spmm : public product_suite<Case> {};

TYPED_TEST_SUITE(Spmm, all_product_cases);

TYPED_TEST(Spmm, AgreesWithTheReferenceOnEveryShape) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const V one = number<V>(1, 0);
  for (const auto& m : adversarial<V>()) {
    const auto csr = as_csr<V, I, O>(ctx, m);
    for (const i64 k : {4, 7}) {
      const expectation<V> expected(m, k, one, V{});
      for (const auto algorithm : all_algorithms) {
        const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), k, {.algorithm = algorithm});
        check_product(ctx, plan, m, expected, one, V{}, {.columns = k});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Spmm, TakesAnyNumberOfColumnsAnywhere) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const V one = number<V>(1, 0);
  const V two = number<V>(2, 0);
  const auto m = random_rows<V>("some long", 150, 130, [](i64 r) { return r == 77 ? 900 : r % 23; });
  const auto csr = as_csr<V, I, O>(ctx, m);
  for (const auto algorithm : all_algorithms) {
    const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), 100, {.algorithm = algorithm});
    for (const i64 k : all_widths) {
      const expectation<V> expected(m, k, one, two);
      for (const layout& l : {layout{.columns = k}, layout{.columns = k, .x_gap = 1, .y_gap = 3},
                              layout{.columns = k, .x_gap = 4, .y_gap = 8},
                              layout{.columns = k, .x_shift = 1, .y_shift = 0}, layout{.columns = k, .y_shift = 2}}) {
        check_product(ctx, plan, m, expected, one, two, l);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// A few types suffice for what does not depend on types.
template <class Config>
class SpmmPlan : public Spmm<Config> {};
using few_configs = suite_types<product_case<float, i32, i32, host>, product_case<double, i32, i64, host>,
                                product_case<cdouble, i64, i64, host>, product_case<float, i32, i32, device>,
                                product_case<double, i32, i64, device>, product_case<cfloat, i32, i32, device>,
                                product_case<cdouble, i64, i64, device>>;
TYPED_TEST_SUITE(SpmmPlan, few_configs);

TYPED_TEST(SpmmPlan, ScalesByAlphaAndBeta) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("up to 40 per row", 333, 222, [](i64 r) { return r % 41; });
  const auto csr = as_csr<V, I, O>(ctx, m);
  std::vector<std::pair<V, V>> scales{{number<V>(0.5, -2), number<V>(-1, 3)}};
  for (const double alpha : {0.0, 1.0, -1.0, 2.5}) {
    for (const double beta : {0.0, 1.0, -1.0, 2.5}) scales.emplace_back(number<V>(alpha, 0), number<V>(beta, 0));
  }
  for (const auto& [alpha, beta] : scales) {
    for (const i64 k : {3, 4, 8}) {
      const expectation<V> expected(m, k, alpha, beta);
      for (const auto algorithm : all_algorithms) {
        const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), k, {.algorithm = algorithm});
        check_product(ctx, plan, m, expected, alpha, beta, {.columns = k, .y_gap = 1});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(SpmmPlan, SplitsAVeryLongRow) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const V one = number<V>(1, 0);
  for (const i64 length : {5000, 100'000}) {
    const auto m = random_rows<V>("a long row", 1000, 5000, [&](i64 r) { return r == 501 ? length : r % 3; });
    const auto csr = as_csr<V, I, O>(ctx, m);
    for (const i64 k : {1, 2, 8, 33}) {
      const expectation<V> expected(m, k, one, one);
      for (const auto algorithm : all_algorithms) {
        const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), k, {.algorithm = algorithm});
        check_product(ctx, plan, m, expected, one, one, {.columns = k});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Mean lengths at which a row gets one, two and more groups of lanes.
TYPED_TEST(SpmmPlan, TakesRegularRowsOfAnyLength) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const V one = number<V>(1, 0);
  for (const i64 length : {1, 5, 16, 27, 63, 100, 400, 900}) {
    auto m = random_rows<V>(std::to_string(length) + " a row", 70, 5000, [&](i64) { return length; });
    for (const bool banded : {false, true}) {
      if (banded) {  // neighbouring rows use the same rows of X
        m.name += ", banded";
        for (std::size_t k = 0; k < m.entries.size(); ++k) {
          m.entries[k].col = m.entries[k].row + static_cast<i64>(k) % length;
        }
      }
      const auto csr = as_csr<V, I, O>(ctx, m);
      for (const i64 k : {1, 3, 4, 8, 32}) {
        const expectation<V> expected(m, k, one, V{});
        for (const auto algorithm : all_algorithms) {
          const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), k, {.algorithm = algorithm});
          check_product(ctx, plan, m, expected, one, V{}, {.columns = k});
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(SpmmPlan, KeepsInfinitiesToTheirRows) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  // No row has column 0, so an infinite first row of X must not affect Y.
  auto m = random_rows<V>("away from column 0", 100, 50, [](i64 r) { return r % 13; });
  for (auto& entry : m.entries) entry.col = 1 + entry.col % 49;
  const auto csr = as_csr<V, I, O>(ctx, m);
  const V one = number<V>(1, 0);
  for (const i64 k : {3, 4}) {
    expectation<V> expected(m, k, one, V{});
    for (auto& column : expected.x) column[0] = number<V>(std::numeric_limits<double>::infinity(), 0);
    for (const auto algorithm : all_algorithms) {
      const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), k, {.algorithm = algorithm});
      check_product(ctx, plan, m, expected, one, V{}, {.columns = k});
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(SpmmPlan, AlphaZeroReadsNeitherMatrixNorX) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const triplets<V> m{"NaN", 2, 2, {{0, 0, nan_number<V>()}, {1, 1, nan_number<V>()}}};
  const auto csr = as_csr<V, I, O>(ctx, m);
  for (const auto algorithm : all_algorithms) {
    const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), 2, {.algorithm = algorithm});
    const auto x = upload(ctx, std::vector<V>(4, nan_number<V>()));
    auto y = upload(
        ctx, std::vector<V>{number<V>(1, 0), number<V>(2, 0), number<V>(9, 0), number<V>(3, 0), number<V>(4, 0)});
    plan.run(V{}, dense_view<const V, Space>{2, 2, 2, x.view()}, number<V>(3, 0),
             dense_view<V, Space>{2, 2, 3, y.view()});
    const std::vector<V> wanted{number<V>(3, 0), number<V>(6, 0), number<V>(9, 0), number<V>(9, 0), number<V>(12, 0)};
    EXPECT_EQ(download<V>(ctx, std::as_const(y).view()), wanted);
  }
}

TYPED_TEST(SpmmPlan, SeesValuesThatChange) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const V one = number<V>(1, 0);
  auto m = random_rows<V>("changing", 200, 90, [](i64 r) { return r % 6; });
  auto csr = as_csr<V, I, O>(ctx, m);
  std::vector<spmm_plan<V, I, O, Space>> plans;
  for (const auto a : all_algorithms) plans.emplace_back(ctx, csr.view(), 5, spmm_options{.algorithm = a});
  for (const auto& plan : plans) check_product(ctx, plan, m, expectation<V>(m, 5, one, V{}), one, V{}, {.columns = 5});
  for (auto& entry : m.entries) entry.value = entry.value * number<V>(-3, 0);
  copy<V>(ctx, as_csr<V, I, O>(ctx, m).values().view(), csr.values().view());
  ctx.synchronize();
  for (const auto& plan : plans) check_product(ctx, plan, m, expectation<V>(m, 4, one, V{}), one, V{}, {.columns = 4});
}

TYPED_TEST(SpmmPlan, GivesTheSameBitsTwice) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("uneven", 700, 3000, [](i64 r) { return r % 250 == 3 ? 7000 : r % 9; });
  const auto csr = as_csr<V, I, O>(ctx, m);
  const auto x = upload(ctx, random_vector<V>(m.cols * 8, 4));
  for (const auto algorithm : all_algorithms) {
    const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), 8, {.algorithm = algorithm});
    std::vector<V> first;
    for (int repeat = 0; repeat < 3; ++repeat) {
      dense_matrix<V, Space> y(ctx, m.rows, 8);
      plan.run(number<V>(1, 0), dense_view<const V, Space>{m.cols, 8, 8, x.view()}, V{}, y.view());
      const auto result = download<V>(ctx, std::as_const(y).view().data);
      if (repeat == 0) first = result;
      ASSERT_EQ(first, result) << to_string(plan.algorithm());
    }
  }
}

template <class Call>
error_code code_of(Call&& call) {
  try {
    call();
  } catch (const error& e) {
    return e.code();
  }
  return error_code::io;  // nothing was thrown
}

TYPED_TEST(SpmmPlan, RefusesWrongSizesAndOverlap) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto csr = as_csr<V, I, O>(ctx, random_rows<V>("4 x 6", 4, 6, [](i64) { return 2; }));
  const spmm_plan<V, I, O, Space> plan(ctx, csr.view(), 3);
  array<V, Space> memory(ctx, 100);
  fill_zero(ctx, memory.view());
  const auto x_of = [&](i64 rows, i64 cols, i64 stride, i64 first, i64 size) {
    return dense_view<const V, Space>{rows, cols, stride, memory.view().subspan(first, size)};
  };
  const auto y_of = [&](i64 rows, i64 cols, i64 stride, i64 first, i64 size) {
    return dense_view<V, Space>{rows, cols, stride, memory.view().subspan(first, size)};
  };
  const auto result = [&](const dense_view<const V, Space>& x, const dense_view<V, Space>& y) {
    return code_of([&] { plan.run(number<V>(1, 0), x, V{}, y); });
  };
  const auto bad = error_code::invalid_argument;
  const auto x = x_of(6, 3, 4, 0, 23);
  const auto y = y_of(4, 3, 4, 23, 15);
  EXPECT_EQ(result(x, y), error_code::io) << "the good ones";
  EXPECT_EQ(result(x_of(5, 3, 4, 0, 23), y), bad) << "rows of X";
  EXPECT_EQ(result(x, y_of(5, 3, 4, 23, 30)), bad) << "rows of Y";
  EXPECT_EQ(result(x, y_of(4, 2, 4, 23, 15)), bad) << "columns of Y";
  EXPECT_EQ(result(x_of(6, 4, 4, 0, 24), y_of(4, 4, 4, 40, 20)), bad) << "more columns than planned";
  EXPECT_EQ(result(x_of(6, 3, 2, 0, 23), y), bad) << "stride of X";
  EXPECT_EQ(result(x, y_of(4, 3, 2, 23, 15)), bad) << "stride of Y";
  EXPECT_EQ(result(x_of(6, 3, 4, 0, 22), y), bad) << "too little of X";
  EXPECT_EQ(result(x, y_of(4, 3, 4, 23, 14)), bad) << "too little of Y";
  EXPECT_EQ(result(x_of(6, 3, INT64_MAX / 2, 0, 23), y), bad) << "a stride that overflows";
  EXPECT_EQ(result(x, y_of(4, 3, 4, 22, 15)), bad) << "Y begins in X";
  EXPECT_EQ(result(x_of(6, 3, 4, 14, 23), y_of(4, 3, 4, 0, 15)), bad) << "X begins in Y";
  EXPECT_EQ(result(x_of(6, 3, 4, 15, 23), y_of(4, 3, 4, 0, 15)), error_code::io) << "side by side";

  EXPECT_EQ(code_of([&] { spmm_plan<V, I, O, Space>(ctx, csr.view(), -1); }), bad);
  auto view = csr.view();
  view.offsets = view.offsets.subspan(0, 4);
  EXPECT_EQ(code_of([&] { spmm_plan<V, I, O, Space>(ctx, view, 3); }), bad);
  view = csr.view();
  view.values = view.values.subspan(0, 3);
  EXPECT_EQ(code_of([&] { spmm_plan<V, I, O, Space>(ctx, view, 3); }), bad);
}

TYPED_TEST(SpmmPlan, OneCallFormAgrees) {
  SPARGO_PRODUCT_TYPES;
  const context<Space> ctx;
  const auto m = random_rows<V>("one call", 120, 80, [](i64 r) { return r % 7; });
  const auto csr = as_csr<V, I, O>(ctx, m);
  const V one = number<V>(1, 0);
  const expectation<V> expected(m, 6, one, V{});
  const auto x = upload(ctx, interleave(expected.x, m.cols, 0, 0, V{}));
  dense_matrix<V, Space> y(ctx, m.rows, 6);
  spmm<V>(ctx, one, csr.view(), dense_view<const V, Space>{m.cols, 6, 6, x.view()}, V{}, y.view());
  const auto result = download<V>(ctx, std::as_const(y).view().data);
  for (std::size_t at = 0; at < result.size(); ++at) {
    const std::complex<long double> got(std::real(result[at]), std::imag(result[at]));
    const auto& want = expected.wanted[at % 6][at / 6];
    ASSERT_LE(std::abs(got - want.value), want.bound) << "element " << at;
  }
}

TEST(SpmmHost, GivesTheSameBitsForAnyThreadCount) {
  const auto m = random_rows<double>("uneven", 20'000, 3000, [](i64 r) { return r % 5000 == 3 ? 30'000 : r % 9; });
  const auto x = random_vector<double>(m.cols * 5, 4);
  for (const auto algorithm : {spmm_algorithm::row_groups, spmm_algorithm::merge_path}) {
    std::vector<double> first;
    for (const int threads : {1, 2, 3, 7}) {
      const context<host> ctx({.threads = threads});
      const auto csr = as_csr<double, i32, i32>(ctx, m);
      std::vector<double> y(20'000 * 5);
      spmm<double>(ctx, 1.0, csr.view(), dense_view<const double, host>{m.cols, 5, 5, x}, 0.0,
                   dense_view<double, host>{m.rows, 5, 5, y}, {.algorithm = algorithm});
      if (first.empty()) first = y;
      EXPECT_EQ(first, y) << threads << " threads";
    }
  }
}

// Every instruction set that this processor has, not only the one the library chooses.
template <class V>
void check_loops() {
  const context<host> ctx;
  const auto m = random_rows<V>("every length", 60, 77, [](i64 r) { return r; });
  const auto csr = as_csr<V, i32, i64>(ctx, m);
  const V alpha = number<V>(2, -1);
  const V beta = number<V>(-1, 3);
  const auto all = detail::spmm::usable_loops<V, i32, i64>();
  ASSERT_FALSE(all.empty());
  for (const auto& loops : all) {
    for (const i64 k : all_widths) {
      if (k == 0) continue;
      const expectation<V> expected(m, k, alpha, beta);
      const expectation<V> plain(m, k, number<V>(1, 0), V{});
      const auto x = interleave(expected.x, m.cols, 1, 1, nan_number<V>());
      auto y = interleave(expected.y, m.rows, 2, 0, V{});
      const detail::spmm::product_job<V, i32, i64> job{csr.offsets().data(),
                                                       csr.indices().data(),
                                                       csr.values().data(),
                                                       x.data() + 1,
                                                       k + 1,
                                                       y.data(),
                                                       k + 2,
                                                       k,
                                                       alpha,
                                                       beta};
      loops.rows(job, 0, 60);
      std::vector<V> sums(static_cast<std::size_t>(k));
      for (i64 r = 0; r < 60; ++r) {
        const i64 begin = csr.offsets()[r];
        loops.sum(job.values + begin, job.indices + begin, csr.offsets()[r + 1] - begin, job.x, job.x_stride, k,
                  sums.data());
        for (i64 j = 0; j < k; ++j) {
          const auto column = static_cast<std::size_t>(j);
          const auto row = static_cast<std::size_t>(r);
          const auto expect_near = [&](V got, const reference_row<V>& want, const char* what) {
            const std::complex<long double> wide(std::real(got), std::imag(got));
            ASSERT_LE(std::abs(wide - want.value), want.bound)
                << loops.name << ' ' << what << ", " << k << " columns: (" << r << ", " << j << ')';
          };
          expect_near(y[static_cast<std::size_t>(r * (k + 2) + j)], expected.wanted[column][row], "rows");
          expect_near(sums[column], plain.wanted[column][row], "part");
        }
      }
    }
  }
}

TEST(SpmmHost, LoopsOfEveryInstructionSetAgree) {
  check_loops<float>();
  check_loops<double>();
  check_loops<cfloat>();
  check_loops<cdouble>();
}

TEST(SpmmHost, RunNeverAllocatesAndRefusedAllocationsAreErrors) {
  const context<host> plain({.threads = 2});
  const auto m = random_rows<double>("few", 400, 400, [](i64 r) { return r == 3 ? 9000 : r % 6; });
  const auto csr = as_csr<double, i32, i32>(plain, m);
  const std::vector<double> x(400 * 3, 1.0);
  std::vector<double> y(400 * 3);
  const dense_view<const double, host> in{400, 3, 3, x};
  const dense_view<double, host> out{400, 3, 3, y};
  const auto requests = fail_every_allocation([&](const context<host>& ctx) {
    spmm<double>(ctx, 1.0, csr.view(), in, 0.0, out, {.algorithm = spmm_algorithm::row_groups});
    spmm<double>(ctx, 1.0, csr.view(), in, 0.0, out, {.algorithm = spmm_algorithm::merge_path});
  });
  EXPECT_GE(requests, 3);
  counting_resource<host> resource(default_host_resource());
  const context<host> ctx({.threads = 2, .resource = &resource});
  for (const auto algorithm : all_algorithms) {
    const spmm_plan<double, i32, i32, host> plan(ctx, csr.view(), 3, {.algorithm = algorithm});
    const auto before = resource.requests();
    plan.run(1.0, in, 0.0, out);
    EXPECT_EQ(resource.requests(), before) << to_string(algorithm);
    EXPECT_GT(plan.workspace_bytes(), 0) << to_string(algorithm);
  }
}

template <class Space>
void expect_choices(const context<Space>& ctx) {
  const auto even = as_csr<double, i32, i32>(ctx, random_rows<double>("", 1000, 1000, [](i64) { return 5; }));
  const auto uneven =
      as_csr<double, i32, i32>(ctx, random_rows<double>("", 1000, 1000, [](i64 r) { return r == 4 ? 5000 : 1; }));
  const spmm_plan<double, i32, i32, Space> a(ctx, even.view(), 4);
  const spmm_plan<double, i32, i32, Space> b(ctx, uneven.view(), 4);
  EXPECT_EQ(a.algorithm(), spmm_algorithm::row_groups) << a.reason();
  EXPECT_EQ(b.algorithm(), spmm_algorithm::merge_path) << b.reason();
  EXPECT_NE(b.reason().find("5000"), std::string::npos) << b.reason();
}

TEST(SpmmChoice, FollowsTheRowProfile) { expect_choices(context<host>({.threads = 4})); }

TEST(SpmmChoice, OnTheDeviceFollowsTheRowProfile) {
  SPARGO_TEST_NEEDS_GPU();
  expect_choices(context<device>());
}

}  // namespace
}  // namespace spargo::test
