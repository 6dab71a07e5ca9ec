// Device memory fails at every request in turn, in conversions, plans and searches: an error, no leak, a usable device.
#include <spargo/formats/convert.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/sssp.hpp>
#include <spargo/graph/triangles.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gtest/gtest.h>

#include "support/device.hpp"
#include "support/resource.hpp"

namespace spargo {
namespace {

using I = std::int32_t;

class DeviceMemory : public testing::Test {
 protected:
  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }

  const context<host> cpu_;
  const coo_matrix<double, I, host> matrix_ = generate<double, I>(cpu_, "gen:rmat:scale=8,degree=8");
};

TEST_F(DeviceMemory, Conversions) {
  const std::int64_t requests = test::fail_every_device_allocation([&](const context<device>& gpu) {
    const auto coo = to_device(gpu, matrix_.view());
    const auto csr = to_csr<I>(gpu, coo.view());
    const auto ell = to_ell(gpu, csr.view(), {.max_padding_ratio = 1e9});
    const auto sell = to_sell(gpu, csr.view(), {.max_padding_ratio = 1e9});
    const auto turned = transpose(gpu, csr.view());
    const auto again = to_coo(gpu, turned.view());
    gpu.synchronize();
  });
  EXPECT_GT(requests, 15);
}

TEST_F(DeviceMemory, Products) {
  for (const auto algorithm : {spmv_algorithm::automatic, spmv_algorithm::merge_path, spmv_algorithm::row_blocks}) {
    const std::int64_t requests = test::fail_every_device_allocation([&](const context<device>& gpu) {
      const auto csr = to_csr<I>(gpu, to_device(gpu, matrix_.view()).view());
      array<double, device> x(gpu, csr.cols());
      array<double, device> y(gpu, csr.rows());
      fill_zero(gpu, x.view());
      const spmv_plan<double, I, I, device> plan(gpu, csr.view(), {.algorithm = algorithm});
      plan.run(1.0, std::as_const(x).view(), 0.0, y.view());
      gpu.synchronize();
    });
    EXPECT_GT(requests, 5);
  }
}

TEST_F(DeviceMemory, Searches) {
  const std::int64_t requests = test::fail_every_device_allocation([&](const context<device>& gpu) {
    const auto edges = to_device(gpu, matrix_.view());
    const coo_pattern_view<I, device> pairs = edges.view();
    const auto g = build_graph<I>(gpu, pairs, {.direction = direction_kind::directed, .in_edges = true});
    bfs_plan<I, I, device> plan(gpu, g.view());
    plan.run(1);
  });
  EXPECT_GT(requests, 10);
}

TEST_F(DeviceMemory, Triangles) {
  for (const auto algorithm : {triangles_algorithm::merge, triangles_algorithm::bitmap}) {
    const std::int64_t requests = test::fail_every_device_allocation([&](const context<device>& gpu) {
      const auto edges = to_device(gpu, matrix_.view());
      const coo_pattern_view<I, device> pairs = edges.view();
      const auto g = build_graph<I>(gpu, pairs, {.direction = direction_kind::directed});
      triangles_plan<I, I, device> plan(gpu, g.view(), {.output = triangles_output::links, .algorithm = algorithm});
      plan.run();
      EXPECT_GT(plan.total(), 0);
    });
    EXPECT_GT(requests, 20);
  }
}

TEST_F(DeviceMemory, ShortestPaths) {
  std::vector<int> weights(static_cast<std::size_t>(matrix_.nnz()));
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = static_cast<int>(k % 7);  // not equal, so rows are sorted
  const std::int64_t requests = test::fail_every_device_allocation([&](const context<device>& gpu) {
    const auto edges = to_device(gpu, matrix_.view());
    const auto lengths = to_device(gpu, span<const int, host>(weights));
    const coo_pattern_view<I, device> pairs = edges.view();
    const auto g = build_weighted_graph<I>(gpu, pairs, lengths, {.direction = direction_kind::undirected});
    sssp_plan<int, I, I, device> plan(gpu, g.view());
    plan.run(1);
    EXPECT_GT(plan.reached(), 1);
  });
  EXPECT_GT(requests, 10);
}

TEST_F(DeviceMemory, UndirectedBuilds) {
  const std::int64_t requests = test::fail_every_device_allocation([&](const context<device>& gpu) {
    const auto edges = to_device(gpu, matrix_.view());
    const coo_pattern_view<I, device> pairs = edges.view();
    const auto g = build_graph<I>(gpu, pairs, {.direction = direction_kind::undirected});
    EXPECT_GT(g.edges(), 0);
  });
  EXPECT_GT(requests, 10);
}

// Forwards requests and records the peak of live bytes.
class peak_resource final : public memory_resource<device> {
 public:
  explicit peak_resource(memory_resource<device>& upstream) : upstream_(upstream) {}
  void* allocate(std::size_t bytes, stream_handle stream) override {
    void* const pointer = upstream_.allocate(bytes, stream);
    live_ += static_cast<std::int64_t>(bytes);
    peak_ = std::max(peak_, live_);
    return pointer;
  }
  void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept override {
    live_ -= static_cast<std::int64_t>(bytes);
    upstream_.deallocate(pointer, bytes, stream);
  }
  [[nodiscard]] std::int64_t live() const { return live_; }
  [[nodiscard]] std::int64_t peak() const { return peak_; }

 private:
  memory_resource<device>& upstream_;
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
};

TEST_F(DeviceMemory, BuildingTakes24BytesAPair) {
  const auto many = generate<pattern, I>(cpu_, "gen:rmat:scale=14,degree=32");
  const context<device> upstream;
  peak_resource resource(upstream.resource());
  const context<device> gpu(device_options{.resource = &resource});
  const auto edges = to_device(gpu, many.view());
  const coo_pattern_view<I, device> pairs = edges.view();
  const std::int64_t before = resource.live();
  const auto g = build_graph<I>(gpu, pairs, {.direction = direction_kind::undirected});
  const std::int64_t used = resource.peak() - before;
  const std::int64_t vertices = std::int64_t{3} * 4 * (pairs.rows + 1);
  EXPECT_LE(used, 24 * pairs.nnz() + vertices + (1 << 20));  // 1 MiB: counters of the sort and of the tiles
  EXPECT_GT(used, 15 * pairs.nnz());
  EXPECT_GT(g.edges(), 0);
}

// A plan allocates when it is built, never when it runs.
TEST_F(DeviceMemory, RunsNeverAllocate) {
  const context<device> upstream;
  test::counting_resource<device> resource(upstream.resource());
  const context<device> gpu(device_options{.resource = &resource});
  const auto csr = to_csr<I>(gpu, to_device(gpu, matrix_.view()).view());
  array<double, device> x(gpu, csr.cols());
  array<double, device> y(gpu, csr.rows());
  fill_zero(gpu, x.view());
  const spmv_plan<double, I, I, device> product(gpu, csr.view());
  const coo_matrix<double, I, device> edges = to_coo(gpu, csr.view());
  const coo_pattern_view<I, device> pairs = edges.view();
  const auto g = build_graph<I>(gpu, pairs, {.direction = direction_kind::undirected});
  bfs_plan<I, I, device> search(gpu, g.view());
  const std::int64_t before = resource.requests();
  product.run(1.0, std::as_const(x).view(), 0.0, y.view());
  search.run(0);
  gpu.synchronize();
  EXPECT_EQ(resource.requests(), before);
}

}  // namespace
}  // namespace spargo
