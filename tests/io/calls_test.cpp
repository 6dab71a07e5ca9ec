// Calls as users write them: matrices are passed to writers directly.
#include "io/support/files.hpp"
#include "support/snapshots.hpp"

#include <spargo/io/edge_list.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>

namespace spargo {
namespace {

TEST(Calls, WritersTakeOwners) {
  SPARGO_NEEDS_SNAPSHOTS();
  const context<host> ctx({.threads = 2});
  const test::temporary_folder folder;
  auto entries = generate<double, std::int32_t>(ctx, "gen:path:n=3");
  write_matrix_market(folder.file("a.mtx"), entries);
  EXPECT_EQ((read_matrix_market<double, std::int32_t>(ctx, folder.file("a.mtx")).nnz()), entries.nnz());
  EXPECT_EQ(read_matrix_market(ctx, folder.file("a.mtx")).nnz(), entries.nnz());
  write_edge_list(folder.file("a.el"), entries);
  write_edge_list(folder.file("b.el"), entries.view(), std::vector<std::int64_t>{5, 6, 7});
  EXPECT_EQ(read_edge_list<std::int32_t>(ctx, folder.file("b.el")).ids[0], 5);
  write_snapshot(ctx, folder.file("a.spg"), to_csr(ctx, entries), {.notes = "some"});
  const snapshot read(ctx, folder.file("a.spg"));
  EXPECT_EQ((read.matrix<double, std::int32_t, std::int64_t>().nnz()), entries.nnz());
  dense_matrix<double, host> m(ctx, 1, 2);
  m(0, 0) = m(0, 1) = 1;
  write_matrix_market(folder.file("d.mtx"), m);
  const coo_view<double, std::int32_t, host> view{{3, 3, entries.row_indices(), entries.col_indices()},
                                                  entries.values()};
  write_matrix_market(folder.file("c.mtx"), view);
  EXPECT_EQ(test::read_file(folder.file("c.mtx")), test::read_file(folder.file("a.mtx")));
}

}  // namespace
}  // namespace spargo
