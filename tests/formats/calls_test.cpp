// Calls as users write them: matrices and views of mutable values, without template arguments.
#include <spargo/formats/convert.hpp>
#include <spargo/formats/validate.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace spargo {
namespace {

const context<host> ctx({.threads = 2});

coo_matrix<double, std::int32_t, host> triangle() {
  return {2, 2, clone(ctx, std::vector<std::int32_t>{0, 1}), clone(ctx, std::vector<std::int32_t>{0, 0}),
          clone(ctx, std::vector<double>{4, 5})};
}

TEST(Calls, ConversionsOfOwners) {
  const auto coo = triangle();
  const auto a = to_csr(ctx, coo);
  static_assert(std::same_as<decltype(a.view())::const_view, csr_view<const double, std::int32_t, std::int64_t, host>>);
  EXPECT_EQ(to_csr(ctx, coo.view()).nnz(), 2);
  EXPECT_EQ(to_csr(ctx, coo, {.symmetry = symmetry_kind::symmetric}).nnz(), 3);
  EXPECT_EQ(to_csr<std::int32_t>(ctx, coo).offsets()[2], 2);
  EXPECT_EQ(expand_symmetry(ctx, coo, symmetry_kind::symmetric).nnz(), 3);
  const auto ell = to_ell(ctx, a);
  const auto sell = to_sell(ctx, a, {.slice_height = 2});
  EXPECT_EQ(to_coo(ctx, a).nnz(), 2);
  EXPECT_EQ(to_csr(ctx, ell).nnz(), 2);
  EXPECT_EQ(to_csr<std::int32_t>(ctx, ell).nnz(), 2);
  EXPECT_EQ(to_csr(ctx, sell).nnz(), 2);
  EXPECT_EQ(transpose(ctx, a).indices()[1], 1);
  validate(ctx, coo);
  validate(ctx, a);
  validate(ctx, a, column_order::ascending_distinct);
  validate(ctx, ell);
  validate(ctx, sell);
  EXPECT_FALSE(suggest_format<host>(ctx, a).reason.empty());
}

TEST(Calls, ViewsWhoseValuesMayChange) {
  auto coo = triangle();
  auto a = to_csr(ctx, coo);
  const coo_view<double, std::int32_t, host> entries{{2, 2, coo.row_indices(), coo.col_indices()}, coo.values()};
  const csr_view<double, std::int32_t, std::int64_t, host> rows{{2, 2, a.offsets(), a.indices()}, a.values()};
  EXPECT_EQ(to_csr(ctx, entries).nnz(), 2);
  EXPECT_EQ(to_coo(ctx, rows).nnz(), 2);
  EXPECT_EQ(transpose(ctx, rows).nnz(), 2);
  auto ell = to_ell(ctx, rows);
  const ell_view<double, std::int32_t, host> padded{2, 2, 1, 2, ell.row_lengths(), ell.indices(), ell.values()};
  EXPECT_EQ(to_csr(ctx, padded).nnz(), 2);
  validate(ctx, entries);
  validate(ctx, rows);
  a.values().truncate(1);  // checks the values too, not only the pattern
  EXPECT_THROW(validate(ctx, csr_view<double, std::int32_t, std::int64_t, host>{rows, a.values()}), error);
}

// Only compiled and linked: without a GPU there is no context to call it with.
[[maybe_unused]] void copies_to_a_device(const context<device>& gpu) {
  const auto a = to_device(gpu, to_csr(ctx, triangle()));
  validate(gpu, a);
  (void)to_host(gpu, transpose(gpu, a));
  (void)to_host(gpu, to_device(gpu, triangle()));
  (void)to_host(gpu, to_ell(gpu, a));
  (void)to_host(gpu, to_sell(gpu, a));
}

}  // namespace
}  // namespace spargo
