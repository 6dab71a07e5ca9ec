// A product captured in a CUDA graph: run() neither allocates nor synchronises, and replays use new values.
#include "core/cuda.cuh"
#include "sparse/spmv_cases.hpp"
#include "support/device.hpp"

namespace spargo::test {
namespace {

using csr_plan = spmv_plan<double, std::int32_t, std::int32_t, device>;

// y = A * x by a replayed graph equals y of a direct run, before and after x changes.
void expect_replays(const context<device>& ctx, const csr_plan& plan, std::int64_t size) {
  auto x = upload(ctx, random_vector<double>(size, 1));
  array<double, device> direct(ctx, size);
  array<double, device> replayed(ctx, size);
  ctx.synchronize();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  SPARGO_CUDA_TRY(cudaStreamBeginCapture(ctx.stream(), cudaStreamCaptureModeThreadLocal));
  plan.run(2.0, std::as_const(x).view(), 0.0, replayed.view());
  SPARGO_CUDA_TRY(cudaStreamEndCapture(ctx.stream(), &graph));
  SPARGO_CUDA_TRY(cudaGraphInstantiate(&executable, graph, 0));
  for (const unsigned seed : {2U, 3U}) {
    const auto fresh = random_vector<double>(size, seed);
    copy<double>(ctx, span<const double, host>(fresh), x.view());
    plan.run(2.0, std::as_const(x).view(), 0.0, direct.view());
    SPARGO_CUDA_TRY(cudaGraphLaunch(executable, ctx.stream()));
    const auto a = download<double>(ctx, std::as_const(direct).view());
    const auto b = download<double>(ctx, std::as_const(replayed).view());
    EXPECT_EQ(a, b) << to_string(plan.algorithm());
  }
  SPARGO_CUDA_TRY(cudaGraphExecDestroy(executable));
  SPARGO_CUDA_TRY(cudaGraphDestroy(graph));
}

TEST(SpmvGraph, ProductsCanBeCapturedAndReplayed) {
  SPARGO_TEST_NEEDS_GPU();
  const context<device> ctx;
  auto m = random_rows<double>("uneven", 900, 900, [](std::int64_t r) { return r == 5 ? 9000 : r % 9; });
  const auto csr = as_csr<double, std::int32_t, std::int32_t>(ctx, m);
  for (const auto algorithm : {spmv_algorithm::row_per_thread, spmv_algorithm::row_per_warp, spmv_algorithm::row_blocks,
                               spmv_algorithm::merge_path, spmv_algorithm::column_passes}) {
    expect_replays(ctx, csr_plan(ctx, csr.view(), {.algorithm = algorithm}), 900);
  }
  const auto ell = as_ell<double, std::int32_t>(ctx, m);
  expect_replays(ctx, csr_plan(ctx, ell.view()), 900);
  const auto sell = as_sell<double, std::int32_t, std::int32_t>(ctx, m, 32);
  expect_replays(ctx, csr_plan(ctx, sell.view()), 900);
  std::shuffle(m.entries.begin(), m.entries.end(), std::mt19937_64(5));
  const auto coo = as_coo<double, std::int32_t>(ctx, m);
  expect_replays(ctx, csr_plan(ctx, coo.view()), 900);
}

}  // namespace
}  // namespace spargo::test
