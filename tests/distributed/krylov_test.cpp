// Krylov methods over ranks, on hosts and devices: against naive residuals and known solutions, and what one process
// says of the same system.
#include "distributed/spaces.hpp"

#include <spargo/distributed/krylov.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace spargo {
namespace {

using test::on_spaces;
using testing::HasSubstr;

template <class V>
inline constexpr bool is_complex = !std::is_floating_point_v<V>;
template <class V>
using real_of = decltype(std::abs(V{}));

template <class V>
struct entry {
  std::int64_t row, col;
  V value;
};
template <class V>
struct matrix {
  std::int64_t n = 0;
  std::vector<entry<V>> entries{};

  void add(std::int64_t i, std::int64_t j, V v) { entries.push_back({i, j, v}); }
  // And the conjugate at (j, i).
  void add_both(std::int64_t i, std::int64_t j, V v) {
    add(i, j, v);
    if constexpr (is_complex<V>) {
      add(j, i, std::conj(v));
    } else {
      add(j, i, v);
    }
  }
  [[nodiscard]] coo_matrix<V, std::int64_t, host> part(std::int64_t first, std::int64_t last) const {
    coo_matrix<V, std::int64_t, host> made(context<host>({.threads = 1}), n, n, last - first);
    for (std::int64_t k = first; k < last; ++k) {
      const entry<V>& e = entries[static_cast<std::size_t>(k)];
      made.row_indices()[k - first] = e.row;
      made.col_indices()[k - first] = e.col;
      made.values()[k - first] = e.value;
    }
    return made;
  }
  [[nodiscard]] coo_matrix<V, std::int64_t, host> share(const communicator& comm) const {
    const auto size = std::ssize(entries);
    return part(size * comm.rank() / comm.size(), size * (comm.rank() + 1) / comm.size());
  }
};

template <class V>
V phase(std::int64_t k) {
  if constexpr (is_complex<V>) return {static_cast<real_of<V>>(0.6), static_cast<real_of<V>>(k % 2 == 0 ? 0.8 : -0.8)};
  return V{1};
}

// A Hermitian band and couplings of rows far apart. `shift` on the diagonal: from 7 on it is positive definite.
template <class V>
matrix<V> hermitian(std::int64_t n, real_of<V> shift) {
  matrix<V> a{n};
  for (std::int64_t i = 0; i < n; ++i) {
    a.add(i, i, V(shift + static_cast<real_of<V>>(i % 5)));
    if (i > 0) a.add_both(i, i - 1, -phase<V>(i));
    if (i >= 150) a.add_both(i, i - 150, V(static_cast<real_of<V>>(0.5)) * phase<V>(i / 3));
    if (i > n / 2 && i != n - 1 - i) a.add_both(i, n - 1 - i, V(static_cast<real_of<V>>(0.25)));
  }
  return a;
}
template <class V>
matrix<V> indefinite(std::int64_t n) {
  matrix<V> a = hermitian<V>(n, 7);
  for (entry<V>& e : a.entries) {
    if (e.row == e.col && e.row % 3 == 0) e.value = -e.value;
  }
  return a;
}
template <class V>
matrix<V> nonsymmetric(std::int64_t n) {
  matrix<V> a = hermitian<V>(n, 7);
  for (entry<V>& e : a.entries) {
    if (e.row > e.col) e.value *= static_cast<real_of<V>>(0.3);
  }
  return a;
}

template <class V>
V solution_of(std::int64_t i) {
  const auto part = static_cast<real_of<V>>((i * 37 % 101) - 50) / real_of<V>{32};
  if constexpr (is_complex<V>) return {part, static_cast<real_of<V>>(i % 7) / real_of<V>{8}};
  return part;
}

using wide = std::complex<long double>;
template <class V>
wide widened(V v) {
  return {static_cast<long double>(std::real(v)), static_cast<long double>(std::imag(v))};
}

template <class V>
std::vector<wide> times(const matrix<V>& a, const std::vector<V>& x) {
  std::vector<wide> y(x.size());
  for (const entry<V>& e : a.entries) {
    y[static_cast<std::size_t>(e.row)] += widened(e.value) * widened(x[static_cast<std::size_t>(e.col)]);
  }
  return y;
}
template <class V>
std::vector<V> right_side(const matrix<V>& a) {
  std::vector<V> x;
  for (std::int64_t i = 0; i < a.n; ++i) x.push_back(solution_of<V>(i));
  std::vector<V> b;
  for (const wide& v : times(a, x)) {
    if constexpr (is_complex<V>) {
      b.emplace_back(static_cast<real_of<V>>(v.real()), static_cast<real_of<V>>(v.imag()));
    } else {
      b.push_back(static_cast<V>(v.real()));
    }
  }
  return b;
}
template <class V>
long double residual_of(const matrix<V>& a, const std::vector<V>& b, const std::vector<V>& x) {
  const std::vector<wide> product = times(a, x);
  long double sum = 0;
  long double scale = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    sum += std::norm(widened(b[i]) - product[i]);
    scale += std::norm(widened(b[i]));
  }
  return std::sqrt(sum / scale);
}

// Of all ranks, on each.
template <class V>
struct solved {
  krylov_result result;
  std::vector<V> x;
  krylov_method method;
  std::string reason;
  krylov_preconditioner preconditioner;
};
template <class V>
array<V, host> placed(const context<host>& ctx, const std::vector<V>& values) {
  return clone(ctx, values);
}
template <class V>
array<V, device> placed(const context<device>& ctx, const std::vector<V>& values) {
  return to_device(ctx, values);
}
template <class V, class Space>
solved<V> solve(const communicator& comm, const context<Space>& ctx, const exchange_options& links, const matrix<V>& a,
                const std::vector<V>& b, const krylov_options& options, V guess = V{}) {
  const distributed_matrix<V> mine(comm, test::context_of(comm), a.share(comm).view());
  const distributed_krylov_plan<V, Space> plan(comm, ctx, mine, options, links);
  const std::int64_t first = mine.row_parts().first(comm.rank());
  const std::int64_t count = mine.own().rows;
  auto x = placed(ctx, std::vector<V>(static_cast<std::size_t>(count), guess));
  const auto own = placed(ctx, std::vector<V>(b.begin() + first, b.begin() + first + count));
  solved<V> all{plan.run(own.view(), x.view()), {}, plan.method(), plan.reason(), plan.preconditioner()};
  all.x = comm.all_gather(span<const V, host>(test::fetched(ctx, std::as_const(x).view())));
  return all;
}
template <class V>
solved<V> solve(const matrix<V>& a, const std::vector<V>& b, const krylov_options& options) {
  const context<host> ctx({.threads = 1});
  const auto whole = to_csr<std::int64_t>(ctx, a.part(0, std::ssize(a.entries)).view());
  const krylov_plan<V, host> plan(ctx, whole.view(), options);
  std::vector<V> x(b.size());
  solved<V> all{plan.run(b, x), {}, plan.method(), plan.reason(), plan.preconditioner()};
  all.x = x;
  return all;
}

std::string message_of(const std::function<void()>& does) {
  try {
    does();
    return "no error";
  } catch (const error& e) {
    return e.what();
  }
}

// Processes exchange messages more slowly than threads: there fp32 solves systems, and nothing else.
template <class V>
[[nodiscard]] bool is_brief() {
  return sizeof(real_of<V>) == 4 && test::is_launched();
}

template <class V, class S>
struct solved_in {
  using value = V;
  using space = S;
};
template <class Kind>
class DistributedKrylov : public testing::Test {
  void SetUp() override {
    if constexpr (std::same_as<typename Kind::space, device>) SPARGO_TEST_NEEDS_GPU();
  }
};
using kinds = testing::Types<solved_in<float, host>, solved_in<double, host>, solved_in<std::complex<float>, host>,
                             solved_in<std::complex<double>, host>, solved_in<float, device>, solved_in<double, device>,
                             solved_in<std::complex<float>, device>, solved_in<std::complex<double>, device>>;
TYPED_TEST_SUITE(DistributedKrylov, kinds, );

TYPED_TEST(DistributedKrylov, SolvesAsOneProcess) {
  using V = typename TypeParam::value;
  using Space = typename TypeParam::space;
  const double tolerance = sizeof(real_of<V>) == 4 ? 1e-5 : 1e-10;
  struct problem {
    matrix<V> a;
    krylov_options options;
  };
  std::vector<problem> problems;
  for (const auto& [n, by] : {std::pair(3, krylov_preconditioner::none), std::pair(300, krylov_preconditioner::none),
                              std::pair(600, krylov_preconditioner::jacobi)}) {
    if (is_brief<V>() && n != 300) continue;
    problems.push_back({hermitian<V>(n, 7), {.method = krylov_method::cg, .preconditioner = by}});
    problems.push_back({indefinite<V>(n), {.method = krylov_method::minres, .preconditioner = by}});
    problems.push_back({nonsymmetric<V>(n), {.method = krylov_method::bicgstab, .preconditioner = by}});
    problems.push_back({nonsymmetric<V>(n), {.method = krylov_method::gmres, .preconditioner = by, .restart = 6}});
  }
  for (problem& each : problems) {
    each.options.tolerance = tolerance;
    SCOPED_TRACE(testing::Message() << to_string(each.options.method) << " of " << each.a.n << " rows by "
                                    << to_string(each.options.preconditioner));
    const std::vector<V> b = right_side(each.a);
    const solved<V> one = solve(each.a, b, each.options);
    ASSERT_TRUE(one.result.converged) << one.result.reason;
    on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
      const solved<V> many = solve(comm, ctx, links, each.a, b, each.options);
      EXPECT_TRUE(many.result.converged) << many.result.reason;
      EXPECT_EQ(many.reason, one.reason);
      EXPECT_EQ(many.result.method, each.options.method);
      EXPECT_NEAR(static_cast<double>(many.result.iterations), static_cast<double>(one.result.iterations),
                  2 + static_cast<double>(one.result.iterations) / 8);
      const auto residual = static_cast<double>(residual_of(each.a, b, many.x));
      EXPECT_LE(residual, tolerance * 1.1);
      EXPECT_NEAR(many.result.relative_residual, residual, 0.05 * tolerance);
      for (std::size_t i = 0; i < b.size(); ++i) {
        ASSERT_LE(std::abs(many.x[i] - solution_of<V>(static_cast<std::int64_t>(i))), 200 * tolerance) << i;
      }
      // The same on every rank, and again.
      EXPECT_EQ(std::ssize(many.result.history), many.result.iterations + 1);
      for (const double last : comm.all_gather(many.result.history.back())) {
        EXPECT_EQ(last, many.result.history.back());
      }
      if (each.a.n != 300) return;
      const solved<V> again = solve(comm, ctx, links, each.a, b, each.options);
      EXPECT_EQ(again.result.history, many.result.history);
      EXPECT_EQ(again.x, many.x);
    });
  }
}

// The ranks' blocks have nothing to do with each other, and b is 0 in all but the last: what a rank alone takes for
// converged is not.
TYPED_TEST(DistributedKrylov, ConvergesOnAllRanksAtOnce) {
  using V = typename TypeParam::value;
  using Space = typename TypeParam::space;
  if (is_brief<V>()) return;
  matrix<V> a{1100};
  for (std::int64_t i = 0; i < a.n; ++i) {
    a.add(i, i, V(static_cast<real_of<V>>(3)));
    if (i % 10 != 0) a.add_both(i, i - 1, phase<V>(i));
  }
  std::vector<V> b = right_side(a);
  std::fill(b.begin(), b.begin() + 1000, V{});
  for (const krylov_method method :
       {krylov_method::cg, krylov_method::minres, krylov_method::bicgstab, krylov_method::gmres}) {
    SCOPED_TRACE(to_string(method));
    const krylov_options options{.method = method, .preconditioner = krylov_preconditioner::none, .tolerance = 1e-5};
    const std::int64_t iterations = solve(a, b, options).result.iterations;
    on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
      const solved<V> many = solve(comm, ctx, links, a, b, options);
      EXPECT_TRUE(many.result.converged) << many.result.reason;
      EXPECT_NEAR(static_cast<double>(many.result.iterations), static_cast<double>(iterations), 1);
      EXPECT_LE(static_cast<double>(residual_of(a, b, many.x)), 1.1e-5);
    });
  }
}

// Changed in one place, seen by one rank or by two.
TYPED_TEST(DistributedKrylov, ChoosesAsOneProcess) {
  using V = typename TypeParam::value;
  using Space = typename TypeParam::space;
  if (is_brief<V>()) return;
  using R = real_of<V>;
  std::vector<std::pair<std::string, matrix<V>>> all{
      {"definite", hermitian<V>(700, 7)}, {"nonsymmetric", nonsymmetric<V>(700)}, {"one row", hermitian<V>(1, 7)}};
  const auto change = [&](const std::string& name, const std::function<void(matrix<V>&)>& how) {
    all.emplace_back(name, hermitian<V>(700, 7));
    how(all.back().second);
  };
  change("negative at the end", [](matrix<V>& a) { a.add(699, 699, V{-100}); });
  change("negative twice", [](matrix<V>& a) {
    a.add(650, 650, V{-100});
    a.add(300, 300, V{-50});
  });
  change("zero on the diagonal", [](matrix<V>& a) { a.add(400, 400, V{-7}); });
  change("an entry without partner", [](matrix<V>& a) { a.add(3, 690, V{1}); });
  change("nor the other way", [](matrix<V>& a) { a.add(690, 3, V{1}); });
  change("two that differ", [](matrix<V>& a) {
    a.add(3, 690, V{1});
    a.add(690, 3, V{2});
  });
  change("two that differ by rounding", [](matrix<V>& a) {
    a.add(3, 690, V{1});
    a.add(690, 3, V(1 + 8 * std::numeric_limits<R>::epsilon()));
  });
  change("no inverse", [](matrix<V>& a) {
    for (entry<V>& e : a.entries) {
      if (e.row == 500 && e.col == 500) e.value = V(std::numeric_limits<R>::denorm_min());
    }
  });
  if constexpr (is_complex<V>) {
    change("not conjugated", [](matrix<V>& a) {
      a.add(3, 690, V{0, 1});
      a.add(690, 3, V{0, 1});
    });
    change("an imaginary diagonal", [](matrix<V>& a) { a.add(690, 690, V{0, 1}); });
  }
  const std::vector<krylov_options> asked{
      {.max_iterations = 0},
      {.method = krylov_method::cg, .max_iterations = 0},
      {.method = krylov_method::gmres, .preconditioner = krylov_preconditioner::jacobi, .max_iterations = 0}};
  for (const auto& [name, a] : all) {
    SCOPED_TRACE(name);
    const std::vector<V> b = right_side(a);
    const bool is_refused = name.find("zero") == 0 || name.find("negative") == 0 || name == "no inverse";
    for (const krylov_options& options : asked) {
      if (options.method != krylov_method::automatic && !is_refused) continue;
      solved<V> one{};
      const std::string expected = message_of([&] { one = solve(a, b, options); });
      on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
        solved<V> many{};
        EXPECT_EQ(message_of([&] { many = solve(comm, ctx, links, a, b, options); }), expected);
        EXPECT_EQ(many.method, one.method);
        EXPECT_EQ(many.reason, one.reason);
        EXPECT_EQ(many.preconditioner, one.preconditioner);
        EXPECT_EQ(many.result.reason, one.result.reason);
      });
    }
  }
}

TYPED_TEST(DistributedKrylov, RefusesAsOneProcess) {
  using V = typename TypeParam::value;
  using Space = typename TypeParam::space;
  if (is_brief<V>()) return;
  const matrix<V> good = hermitian<V>(700, 7);
  const std::vector<V> b = right_side(good);
  matrix<V> bad = good;
  bad.add(600, 2, V(std::numeric_limits<real_of<V>>::infinity()));
  std::vector<V> bad_b = b;
  bad_b[650] = V(std::numeric_limits<real_of<V>>::quiet_NaN());
  const std::string of_matrix = message_of([&] { (void)solve(bad, b, {}); });
  const std::string of_b = message_of([&] { (void)solve(good, bad_b, {}); });
  EXPECT_THAT(of_matrix, HasSubstr("row 600 "));
  EXPECT_THAT(of_b, HasSubstr("row 650 "));
  on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
    EXPECT_EQ(message_of([&] { (void)solve(comm, ctx, links, bad, b, {}); }), of_matrix);
    EXPECT_EQ(message_of([&] { (void)solve(comm, ctx, links, good, bad_b, {}); }), of_b);
    for (const krylov_preconditioner by :
         {krylov_preconditioner::block_jacobi, krylov_preconditioner::ilu0, krylov_preconditioner::ic0}) {
      EXPECT_EQ(message_of([&] { (void)solve(comm, ctx, links, good, b, {.preconditioner = by}); }),
                "solve: " + std::string(to_string(by)) + " does not run over ranks (expected jacobi or none)");
    }
    const context<host> cpu = test::context_of(comm);
    const distributed_matrix<V> broad(comm, cpu, coo_matrix<V, std::int64_t, host>(cpu, 3, 4, 0).view());
    EXPECT_THROW((distributed_krylov_plan<V, Space>(comm, ctx, broad)), agreed_error);
    const distributed_matrix<V> mine(comm, cpu, good.share(comm).view());
    const distributed_krylov_plan<V, Space> plan(comm, ctx, mine, {.tolerance = 1e-5}, links);
    const auto n = static_cast<std::size_t>(mine.own().rows);
    auto x = placed(ctx, std::vector<V>(n));
    const auto wrong = placed(ctx, std::vector<V>(n + (comm.rank() == comm.size() - 1 ? 1 : 0)));  // on one rank
    EXPECT_THROW((void)plan.run(wrong.view(), x.view()), agreed_error);
    const auto ones = placed(ctx, std::vector<V>(n, V{1}));
    EXPECT_TRUE(plan.run(ones.view(), x.view()).converged);  // the plan goes on
  });
}

TYPED_TEST(DistributedKrylov, EndsAsOneProcess) {
  using V = typename TypeParam::value;
  using Space = typename TypeParam::space;
  if (is_brief<V>()) return;
  matrix<V> hidden = hermitian<V>(700, 2);  // indefinite with a positive diagonal
  for (entry<V>& e : hidden.entries) {
    if (e.row != e.col) e.value *= static_cast<real_of<V>>(4);
  }
  matrix<V> singular = hermitian<V>(700, 7);  // rows 0 and 690 are empty, and b is not 0 there
  std::erase_if(singular.entries,
                [](const entry<V>& e) { return e.row == 0 || e.col == 0 || e.row == 690 || e.col == 690; });
  const matrix<V> good = hermitian<V>(700, 7);
  const std::vector<V> ones(700, V{1});
  struct run {
    const matrix<V>& a;
    std::vector<V> b;
    krylov_options options;
    krylov_outcome outcome;
  };
  const std::vector<run> runs{
      {hidden, right_side(hidden), {.method = krylov_method::cg}, krylov_outcome::not_positive_definite},
      {good, right_side(good), {.max_iterations = 3}, krylov_outcome::iteration_limit},
      {good, std::vector<V>(700), {}, krylov_outcome::converged},
      {hidden, right_side(hidden), {.max_iterations = 40}, krylov_outcome::iteration_limit}};
  for (const run& each : runs) {
    SCOPED_TRACE(to_string(each.outcome));
    const solved<V> one = solve(each.a, each.b, each.options);
    EXPECT_EQ(one.result.outcome, each.outcome) << one.result.reason;
    on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
      const solved<V> many = solve(comm, ctx, links, each.a, each.b, each.options);
      EXPECT_EQ(many.result.outcome, one.result.outcome) << many.result.reason;
      EXPECT_EQ(many.result.method, one.result.method);  // also where `automatic` went on with another
      if (each.outcome != krylov_outcome::converged) {
        EXPECT_EQ(many.result.iterations, one.result.iterations);
      }
    });
  }
  on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
    for (const krylov_method method :
         {krylov_method::cg, krylov_method::minres, krylov_method::bicgstab, krylov_method::gmres}) {
      if (method == krylov_method::cg) {
        EXPECT_THROW((void)solve(comm, ctx, links, singular, ones, {.method = method}), agreed_error);
        continue;
      }
      const solved<V> many = solve(comm, ctx, links, singular, ones, {.method = method, .max_iterations = 12});
      EXPECT_FALSE(many.result.converged) << to_string(method);
      EXPECT_GE(static_cast<double>(residual_of(singular, ones, many.x)), 0.05);  // two of 700 ones remain
    }
  });
  // A guess that is the solution.
  const std::vector<V> sums = [&] {
    std::vector<V> made(700);
    for (const entry<V>& e : good.entries) made[static_cast<std::size_t>(e.row)] += e.value;
    return made;
  }();
  on_spaces<Space>([&](const communicator& comm, const context<Space>& ctx, const exchange_options& links) {
    const solved<V> many = solve(comm, ctx, links, good, sums, {.tolerance = 1e-5}, V{1});
    EXPECT_EQ(many.result.iterations, 0);
    EXPECT_TRUE(many.result.converged);
  });
}

}  // namespace
}  // namespace spargo
