// Distributed products in every type of values, on hosts and devices: within rounding of naive sums, on hosts with the
// bits of one process.
#include "distributed/spaces.hpp"

#include <spargo/distributed/spmv.hpp>
#include <spargo/sparse/spmv.hpp>

#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

namespace spargo {
namespace {

template <class V>
inline constexpr bool is_complex = !std::is_floating_point_v<V>;

// Numbers of 7 bits, so that every type holds them.
template <class V>
V number_of(std::int64_t k) {
  using real = decltype(std::abs(V{}));
  const auto part = [](std::int64_t i) { return static_cast<real>(i * 37 % 127 - 63) / real{16}; };
  if constexpr (is_complex<V>) {
    return {part(k), part(k + 5)};
  } else {
    return part(k);
  }
}

struct shape {
  std::int64_t rows, cols, entries;
  symmetry_kind symmetry;
};

// One triangle for symmetries. Rows 5 to 9 of each 17 have no entries of their own.
template <class V>
coo_matrix<V, std::int64_t, host> entries_of(const shape& of, std::int64_t first, std::int64_t last) {
  const context<host> one({.threads = 1});
  coo_matrix<V, std::int64_t, host> made(one, of.rows, of.cols, last - first);
  for (std::int64_t k = first; k < last; ++k) {
    std::int64_t row = (k * 29 + k / 7) % of.rows;
    std::int64_t col = (k * k + 3 * k) % of.cols;
    if (row % 17 >= 5 && row % 17 < 10) row = (row + 5) % of.rows;
    V value = number_of<V>(k);
    if (of.symmetry != symmetry_kind::general && row < col) std::swap(row, col);
    if (row == col && of.symmetry == symmetry_kind::skew_symmetric) value = V{};
    if (row == col && of.symmetry == symmetry_kind::hermitian) value = V(std::real(value));
    made.row_indices()[k - first] = row;
    made.col_indices()[k - first] = col;
    made.values()[k - first] = value;
  }
  return made;
}

template <class V, class S>
struct valued_in {
  using value = V;
  using space = S;
};

template <class Kind>
class DistributedValues : public testing::Test {
 protected:
  using value = typename Kind::value;
  using space = typename Kind::space;
  using wide = std::complex<long double>;

  static wide widened(value v) {
    return {static_cast<long double>(std::real(v)), static_cast<long double>(std::imag(v))};
  }

  // A x from the triangle alone, and per row the number of terms and the sum of their sizes.
  struct sums {
    std::vector<wide> y;
    std::vector<long double> sizes;
    std::vector<int> terms;
  };
  static sums naive(const shape& of, const coo_matrix<value, std::int64_t, host>& all) {
    const auto n = static_cast<std::size_t>(of.rows);
    sums made{std::vector<wide>(n), std::vector<long double>(n), std::vector<int>(n)};
    const auto add = [&](std::int64_t i, std::int64_t j, wide a) {
      const wide term = a * widened(number_of<value>(j + 3));
      made.y[static_cast<std::size_t>(i)] += term;
      made.sizes[static_cast<std::size_t>(i)] += std::abs(term);
      ++made.terms[static_cast<std::size_t>(i)];
    };
    for (std::int64_t k = 0; k < all.nnz(); ++k) {
      const std::int64_t i = all.row_indices()[k];
      const std::int64_t j = all.col_indices()[k];
      const wide a = widened(all.values()[k]);
      add(i, j, a);
      if (i == j || of.symmetry == symmetry_kind::general) continue;
      add(j, i,
          of.symmetry == symmetry_kind::hermitian   ? std::conj(a)
          : of.symmetry == symmetry_kind::symmetric ? a
                                                    : -a);
    }
    return made;
  }

  static array<value, host> placed(const context<host>& ctx, const std::vector<value>& values) {
    return clone(ctx, values);
  }
  static array<value, device> placed(const context<device>& ctx, const std::vector<value>& values) {
    return to_device(ctx, values);
  }

  static std::vector<value> multiplied(const communicator& comm, const context<space>& ctx,
                                       const exchange_options& options, const shape& of, product_split split) {
    const auto share =
        entries_of<value>(of, of.entries * comm.rank() / comm.size(), of.entries * (comm.rank() + 1) / comm.size());
    const distributed_matrix<value> a(comm, test::context_of(comm), share.view(), of.symmetry);
    const distributed_spmv_plan<value, space> plan(comm, ctx, a, options, split);
    std::vector<value> numbers(static_cast<std::size_t>(plan.local_columns()), value{std::nanf("")});
    for (std::int64_t i = 0; i < plan.own_columns(); ++i) {
      numbers[static_cast<std::size_t>(i)] = number_of<value>(a.column_parts().first(comm.rank()) + i + 3);
    }
    auto x = placed(ctx, numbers);
    auto y = placed(ctx, std::vector<value>(static_cast<std::size_t>(plan.own_rows()), value{std::nanf("")}));
    for (int k = 0; k < 2; ++k) plan.run(value{2}, x.view(), value{}, y.view());
    if constexpr (std::same_as<space, device>) {  // with ghosts elsewhere, and none behind x
      const auto own = placed(ctx, {numbers.begin(), numbers.begin() + plan.own_columns()});
      array<value, device> ghosts(ctx, plan.ghosts());
      plan.run(value{-1}, own.view(), ghosts.view(), value{1}, y.view());
    } else {
      plan.run(value{-1}, x.view(), value{1}, y.view());
    }
    return comm.all_gather(span<const value, host>(test::fetched(ctx, std::as_const(y).view())));
  }

  static std::vector<value> of_one_process(const shape& of, const coo_matrix<value, std::int64_t, host>& all) {
    const context<host> ctx({.threads = 1});
    const auto a = to_csr<std::int64_t>(ctx, all.view(), {.symmetry = of.symmetry});
    const spmv_plan<value, std::int64_t, std::int64_t, host> plan(ctx, a.view(),
                                                                  {.algorithm = spmv_algorithm::row_per_thread});
    std::vector<value> x;
    for (std::int64_t j = 0; j < of.cols; ++j) x.push_back(number_of<value>(j + 3));
    std::vector<value> y(static_cast<std::size_t>(of.rows));
    plan.run(value{2}, x, value{}, y);
    plan.run(value{-1}, x, value{1}, y);
    return y;
  }
};

using kinds = testing::Types<valued_in<float, host>, valued_in<double, host>, valued_in<std::complex<float>, host>,
                             valued_in<std::complex<double>, host>, valued_in<float, device>, valued_in<double, device>,
                             valued_in<std::complex<float>, device>, valued_in<std::complex<double>, device>>;
TYPED_TEST_SUITE(DistributedValues, kinds, );

TYPED_TEST(DistributedValues, AreMultipliedAsByOneProcess) {
  using V = typename TypeParam::value;
  using Space = typename TypeParam::space;
  if constexpr (std::same_as<Space, device>) SPARGO_TEST_NEEDS_GPU();
  using real = decltype(std::abs(V{}));
  std::vector<shape> shapes{
      {1, 1, 1, symmetry_kind::general},          {3, 3, 7, symmetry_kind::general},
      {700, 700, 4000, symmetry_kind::general},   {900, 130, 2000, symmetry_kind::general},
      {130, 1500, 900, symmetry_kind::general},   {260, 260, 0, symmetry_kind::general},
      {700, 700, 3000, symmetry_kind::symmetric}, {700, 700, 3000, symmetry_kind::skew_symmetric}};
  if constexpr (is_complex<V>) shapes.push_back({700, 700, 3000, symmetry_kind::hermitian});
  for (const shape& of : shapes) {
    SCOPED_TRACE(testing::Message() << of.rows << " x " << of.cols << ", symmetry " << static_cast<int>(of.symmetry));
    const auto all = entries_of<V>(of, 0, of.entries);
    const auto expected = this->naive(of, all);
    const std::vector<V> bits = this->of_one_process(of, all);
    test::on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& options) {
      if constexpr (std::same_as<Space, host>) {
        EXPECT_EQ(this->multiplied(comm, ctx, options, of, product_split::automatic), bits);
      }
      for (const product_split split : {product_split::automatic, product_split::rows, product_split::columns}) {
        const std::vector<V> y = this->multiplied(comm, ctx, options, of, split);
        ASSERT_EQ(std::ssize(y), of.rows);
        for (std::size_t i = 0; i < y.size(); ++i) {
          const long double bound = 4 * std::numeric_limits<real>::epsilon() *
                                    static_cast<long double>(expected.terms[i] + 4) * 3 * expected.sizes[i];
          ASSERT_LE(std::abs(this->widened(y[i]) - expected.y[i]), bound) << "row " << i;
        }
      }
    });
  }
}

}  // namespace
}  // namespace spargo
