// Device memory exhausted by plain cudaMalloc: every operation that allocates fails with out_of_memory and the number
// of bytes, the others work, and once memory is freed the same context succeeds with the same results. A program of its
// own, since it takes all memory of the GPU.
#include <spargo/formats/convert.hpp>
#include <spargo/formats/validate.hpp>
#include <spargo/graph/bfs.hpp>
#include <spargo/graph/components.hpp>
#include <spargo/graph/graph.hpp>
#include <spargo/graph/multi_bfs.hpp>
#include <spargo/graph/pagerank.hpp>
#include <spargo/io/device_read.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/primitives/histogram.hpp>
#include <spargo/primitives/jacobi.hpp>
#include <spargo/primitives/matmul.hpp>
#include <spargo/primitives/matmul_tensor.hpp>
#include <spargo/primitives/pipeline.hpp>
#include <spargo/primitives/reduce.hpp>
#include <spargo/primitives/scan.hpp>
#include <spargo/primitives/sliding_max.hpp>
#include <spargo/primitives/stencil.hpp>
#include <spargo/sparse/spmm.hpp>
#include <spargo/sparse/spmv.hpp>

#include <gtest/gtest.h>

#include "support/device.hpp"
#include "support/resource.hpp"

#include <cuda_runtime.h>

#include <unistd.h>
#include <cstdio>
#include <functional>
#include <optional>

namespace spargo {
namespace {

using I = std::int32_t;

// All device memory that cudaMalloc returns, down to blocks of 64 KiB.
class memory_hog {
 public:
  memory_hog() {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    (void)cudaMemGetInfo(&free_bytes, &total_bytes);
    constexpr std::size_t least = std::size_t{64} << 10;
    for (std::size_t size = free_bytes; size >= least;) {
      void* pointer = nullptr;
      if (cudaMalloc(&pointer, size) == cudaSuccess) {
        blocks_.push_back(pointer);
      } else {
        (void)cudaGetLastError();
        size = size / 2;
      }
    }
  }
  memory_hog(const memory_hog&) = delete;
  memory_hog& operator=(const memory_hog&) = delete;
  ~memory_hog() {
    for (void* block : blocks_) (void)cudaFree(block);
  }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

 private:
  std::vector<void*> blocks_;
};

// cudaMalloc and cudaFree: no pool that keeps freed memory.
class plain_resource final : public memory_resource<device> {
 public:
  void* allocate(std::size_t bytes, stream_handle) override {
    void* pointer = nullptr;
    if (cudaMalloc(&pointer, bytes) != cudaSuccess) {
      (void)cudaGetLastError();
      throw error(error_code::out_of_memory, std::to_string(bytes) + " bytes");
    }
    return pointer;
  }
  void deallocate(void* pointer, std::size_t, stream_handle stream) noexcept override {
    (void)cudaStreamSynchronize(stream);
    (void)cudaFree(pointer);
  }
};

// Checksum of an operation's result.
template <class T>
double sum_of(const context<device>& ctx, span<const T, device> values) {
  const auto on_host = to_host(ctx, values);
  double sum = 0;
  for (std::int64_t i = 0; i < on_host.size(); ++i) sum += static_cast<double>(on_host[i]);
  return sum;
}

struct operation_case {
  std::string name;
  std::function<double(const context<device>&)> run;  // the same result for every context
};

// Inputs and outputs, from a context whose pool holds them before memory is exhausted.
struct problem {
  static constexpr std::int64_t elements = std::int64_t{1} << 20;
  static constexpr std::int64_t side = 1024;
  static constexpr I matmul_side = 500;  // not a multiple of a tile: operands are copied with padding

  plain_resource memory;
  context<host> cpu;
  context<device> ctx{device_options{.resource = &memory}};
  coo_matrix<double, I, host> on_host = generate<double, I>(cpu, "gen:rmat:scale=12,degree=8");
  coo_matrix<double, I, device> coo = to_device(ctx, on_host.view());
  csr_matrix<double, I, I, device> csr = to_csr<I>(ctx, std::as_const(coo).view());
  graph<I, I, device> undirected = build_graph<I>(ctx, pairs(), {.direction = direction_kind::undirected});
  array<double, device> x = filled<double>(csr.cols());
  array<double, device> y = filled<double>(csr.rows());
  array<float, device> floats = filled<float>(elements);
  array<float, device> others = filled<float>(elements);
  array<float, device> results = filled<float>(elements);
  array<I, device> keys = filled<I>(elements);
  array<std::int64_t, device> counts = filled<std::int64_t>(1000);
  dense_matrix<double, device> panel{ctx, csr.cols(), 8};
  dense_matrix<double, device> product{ctx, csr.rows(), 8};
  dense_matrix<float, device> a{ctx, matmul_side, matmul_side};
  dense_matrix<float, device> b{ctx, matmul_side, matmul_side};
  dense_matrix<float, device> c{ctx, matmul_side, matmul_side};
  std::vector<float> filter = std::vector<float>(25, 0.04F);

  problem() {
    for (auto view : {a.view(), b.view(), c.view()}) fill_zero(ctx, view.data);
    for (auto view : {panel.view(), product.view()}) fill_zero(ctx, view.data);
    ctx.synchronize();
  }

  [[nodiscard]] coo_pattern_view<I, device> pairs() const { return coo.view(); }
  [[nodiscard]] image_view<const float, device> image() const { return {side, side, side, floats.view()}; }
  [[nodiscard]] image_view<float, device> image_out() { return {side, side, side, results.view()}; }

  template <class T>
  [[nodiscard]] array<T, device> filled(std::int64_t size) const {
    array<T, host> values(cpu, size);
    for (std::int64_t i = 0; i < size; ++i) values[i] = static_cast<T>(i % 7);
    return to_device(ctx, std::as_const(values).view());
  }
};

void add_conversions(std::vector<operation_case>& cases, problem& p) {
  cases.push_back({"array", [](const context<device>& ctx) {
                     const array<double, device> a(ctx, 1000);
                     return static_cast<double>(a.size());
                   }});
  cases.push_back({"to_device", [&p](const context<device>& ctx) {
                     return static_cast<double>(to_device(ctx, p.on_host.view()).nnz());
                   }});
  cases.push_back({"to_csr", [&p](const context<device>& ctx) {
                     return static_cast<double>(to_csr<I>(ctx, std::as_const(p.coo).view()).nnz());
                   }});
  cases.push_back({"to_coo", [&p](const context<device>& ctx) {
                     return static_cast<double>(to_coo(ctx, std::as_const(p.csr).view()).nnz());
                   }});
  cases.push_back({"to_ell", [&p](const context<device>& ctx) {
                     return static_cast<double>(
                         to_ell(ctx, std::as_const(p.csr).view(), {.max_padding_ratio = 1e9}).nnz());
                   }});
  cases.push_back({"to_sell", [&p](const context<device>& ctx) {
                     return static_cast<double>(
                         to_sell(ctx, std::as_const(p.csr).view(), {.max_padding_ratio = 1e9}).nnz());
                   }});
  cases.push_back({"transpose", [&p](const context<device>& ctx) {
                     return static_cast<double>(transpose(ctx, std::as_const(p.csr).view()).nnz());
                   }});
  cases.push_back({"validate", [&p](const context<device>& ctx) {
                     validate(ctx, std::as_const(p.csr).view());
                     return 0.0;
                   }});
}

void add_products(std::vector<operation_case>& cases, problem& p) {
  using enum spmv_algorithm;
  for (const auto algorithm :
       {automatic, row_per_thread, row_per_warp, row_blocks, merge_path, column_passes, compressed, blocked, binned}) {
    for (const auto storage : {spmv_storage::borrowed, spmv_storage::copied}) {
      if (storage == spmv_storage::copied && algorithm != automatic) continue;
      const std::string name =
          "spmv " + std::string(to_string(algorithm)) + (storage == spmv_storage::copied ? ", copied" : "");
      cases.push_back({name, [&p, algorithm, storage](const context<device>& ctx) {
                         const spmv_plan<double, I, I, device> plan(ctx, std::as_const(p.csr).view(),
                                                                    {.algorithm = algorithm, .storage = storage});
                         plan.run(1.0, std::as_const(p.x).view(), 0.0, p.y.view());
                         return sum_of<double>(ctx, p.y.view());
                       }});
    }
  }
  cases.push_back({"spmv coo_segmented", [&p](const context<device>& ctx) {
                     spmv(ctx, 1.0, coo_view<const double, I, device>(std::as_const(p.coo).view()),
                          std::as_const(p.x).view(), 0.0, p.y.view(), {.algorithm = coo_segmented});
                     return sum_of<double>(ctx, p.y.view());
                   }});
  for (const auto algorithm : {spmm_algorithm::automatic, spmm_algorithm::row_groups, spmm_algorithm::merge_path}) {
    cases.push_back({"spmm " + std::string(to_string(algorithm)), [&p, algorithm](const context<device>& ctx) {
                       const spmm_plan<double, I, I, device> plan(ctx, std::as_const(p.csr).view(), 8,
                                                                  {.algorithm = algorithm});
                       plan.run(1.0, std::as_const(p.panel).view(), 0.0, p.product.view());
                       return sum_of<double>(ctx, p.product.view().data);
                     }});
  }
}

void add_searches(std::vector<operation_case>& cases, problem& p) {
  for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
    cases.push_back({"build_graph", [&p, direction](const context<device>& ctx) {
                       return static_cast<double>(build_graph<I>(ctx, p.pairs(), {.direction = direction}).edges());
                     }});
  }
  using enum bfs_algorithm;
  for (const auto algorithm : {automatic, global_queue, block_queue}) {
    cases.push_back({"bfs " + std::string(to_string(algorithm)), [&p, algorithm](const context<device>& ctx) {
                       bfs_plan<I, I, device> plan(ctx, p.undirected.view(), {.algorithm = algorithm});
                       plan.run(1);
                       return sum_of<std::int32_t>(ctx, plan.levels());
                     }});
  }
  cases.push_back({"multi_bfs", [&p](const context<device>& ctx) {
                     const std::vector<I> sources = {1, 2, 3, 5, 8};
                     multi_bfs_plan<I, I, device> plan(ctx, p.undirected.view(), 5);
                     plan.run({sources.data(), 5});
                     return sum_of<std::int32_t>(ctx, plan.levels());
                   }});
}

void add_rankings(std::vector<operation_case>& cases, problem& p) {
  using enum pagerank_copy;
  for (const auto copy : {none, blocked, binned}) {
    cases.push_back({"pagerank " + std::string(to_string(copy)), [&p, copy](const context<device>& ctx) {
                       pagerank_plan<double, I, I, device> plan(ctx, p.undirected.view(),
                                                                {.iterations = 5, .copy = copy});
                       plan.run();
                       return sum_of<double>(ctx, plan.ranks());
                     }});
  }
  for (const auto direction : {direction_kind::undirected, direction_kind::directed}) {
    cases.push_back({"components", [&p, direction](const context<device>& ctx) {
                       auto g = p.undirected.view();
                       g.direction = direction;
                       if (direction == direction_kind::directed) g.in = {};
                       components_plan<I, I, device> plan(ctx, g, {.labels = components_labels::dense});
                       plan.run();
                       return sum_of<I>(ctx, plan.labels());
                     }});
  }
}

void add_folds(std::vector<operation_case>& cases, problem& p) {
  {
    using enum reduce_algorithm;
    for (const auto algorithm :
         {automatic, interleaved_divergent, sequential, coarsened, warp_shuffle, deterministic, single_pass}) {
      cases.push_back({"reduce " + std::string(to_string(algorithm)), [&p, algorithm](const context<device>& ctx) {
                         return static_cast<double>(
                             reduce<float>(ctx, p.floats.view(), operation::sum, {.algorithm = algorithm}));
                       }});
    }
  }
  cases.push_back({"dot", [&p](const context<device>& ctx) {
                     return static_cast<double>(dot<float>(ctx, p.floats.view(), p.others.view()));
                   }});
  {
    using enum scan_algorithm;
    for (const auto algorithm : {automatic, kogge_stone, brent_kung, decoupled_lookback}) {
      cases.push_back({"scan " + std::string(to_string(algorithm)), [&p, algorithm](const context<device>& ctx) {
                         inclusive_scan<float>(ctx, p.floats.view(), p.results.view(), operation::max,
                                               {.algorithm = algorithm});
                         return sum_of<float>(ctx, p.results.view());
                       }});
    }
  }
  cases.push_back({"histogram", [&p](const context<device>& ctx) {
                     histogram(ctx, std::as_const(p.keys).view(), p.counts.view());
                     return sum_of<std::int64_t>(ctx, p.counts.view());
                   }});
}

void add_dense(std::vector<operation_case>& cases, problem& p) {
  using enum matmul_algorithm;
  for (const auto algorithm : {automatic, tiled, register_tiled, split_k}) {
    cases.push_back({"matmul " + std::string(to_string(algorithm)), [&p, algorithm](const context<device>& ctx) {
                       matmul<float>(ctx, 1.0F, std::as_const(p.a).view(), std::as_const(p.b).view(), 0.0F, p.c.view(),
                                     {.algorithm = algorithm});
                       return sum_of<float>(ctx, p.c.view().data);
                     }});
  }
  cases.push_back({"matmul_tensor", [&p](const context<device>& ctx) {
                     matmul_tensor(ctx, 1.0F, std::as_const(p.a).view(), std::as_const(p.b).view(), 0.0F, p.c.view());
                     return sum_of<float>(ctx, p.c.view().data);
                   }});
  for (const auto algorithm : {convolve_algorithm::register_tiled, convolve_algorithm::separable}) {
    cases.push_back({"convolve " + std::string(to_string(algorithm)), [&p, algorithm](const context<device>& ctx) {
                       convolve<float>(ctx, p.image(), span<const float, host>(p.filter.data(), 25), p.image_out(),
                                       {.algorithm = algorithm});
                       return sum_of<float>(ctx, p.results.view());
                     }});
  }
  cases.push_back({"five_point_average", [&p](const context<device>& ctx) {
                     five_point_average<float>(ctx, p.image(), p.image_out());
                     return sum_of<float>(ctx, p.results.view());
                   }});
  cases.push_back({"window_average", [&p](const context<device>& ctx) {
                     window_average<float>(ctx, p.floats.view(), 300, p.results.view());
                     return sum_of<float>(ctx, p.results.view());
                   }});
  cases.push_back({"sliding_max", [&p](const context<device>& ctx) {
                     sliding_max<float>(ctx, p.floats.view(), {64, 128, 128}, {3, 9, 9}, p.results.view());
                     return sum_of<float>(ctx, p.results.view());
                   }});
  cases.push_back({"jacobi", [&p](const context<device>& ctx) {
                     copy<float>(ctx, p.floats.view(), p.results.view());
                     return jacobi<float>(ctx, p.image_out(), {.tolerance = 0, .max_iterations = 40}).residual;
                   }});
  cases.push_back({"pipeline", [](const context<device>& ctx) {
                     const std::vector<float> in(100'000, 2);
                     std::vector<float> out(in.size());
                     pipeline_plan<float, float, device> plan(ctx, {.chunk = 30'000, .streams = 2});
                     plan.run({in.data(), 100'000},
                              [](const context<device>& c, span<const float, device> from, span<float, device> to) {
                                copy<float>(c, from, to);
                              },
                              {out.data(), 100'000});
                     return static_cast<double>(out.back());
                   }});
}

// A Matrix Market file that the destructor removes.
class written_file {
 public:
  explicit written_file(const coo_matrix<double, I, host>& matrix)
      : path_(testing::TempDir() + "exhausted_" + std::to_string(::getpid()) + ".mtx") {
    write_matrix_market(path_, coo_view<const double, I, host>(matrix.view()));
  }
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;
  ~written_file() { (void)std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class ExhaustedMemory : public testing::Test {
 protected:
  void SetUp() override { SPARGO_TEST_NEEDS_GPU(); }
};

// No kernel of this program is loaded yet, so the launch itself may fail. Then the context works.
TEST_F(ExhaustedMemory, AFirstLaunchMayFindNoRoom) {
  const context<device> ctx;
  const array<double, device> in = to_device(ctx, array<double, host>(context<host>(), 4096).view());
  array<double, device> out(ctx, 4096);
  const auto launch = [&] { sliding_max<double>(ctx, in.view(), 40, out.view()); };
  ctx.synchronize();
  {
    const memory_hog hog;
    try {
      launch();
      ctx.synchronize();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
    }
  }
  EXPECT_NO_THROW(launch());
  EXPECT_NO_THROW(ctx.synchronize());
}

TEST_F(ExhaustedMemory, AContextIsRefusedOrWorks) {
  const memory_hog hog;
  EXPECT_GT(hog.blocks(), 0U);
  try {
    const context<device> ctx;
    const array<double, device> a(ctx, std::int64_t{1} << 24);
    FAIL() << "128 MiB where all memory is taken";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::out_of_memory) << e.what();
    EXPECT_NE(std::string(e.what()).find("bytes"), std::string::npos) << e.what();
  }
}

TEST_F(ExhaustedMemory, EveryOperationSaysSoAndRunsLater) {
  problem p;
  const written_file file(p.on_host);
  std::vector<operation_case> cases;
  add_conversions(cases, p);
  add_products(cases, p);
  add_searches(cases, p);
  add_rankings(cases, p);
  add_folds(cases, p);
  add_dense(cases, p);
  cases.push_back({"read_matrix_market", [&](const context<device>& ctx) {
                     device_read_options how;
                     how.algorithm = device_read_algorithm::on_device;
                     return static_cast<double>(read_matrix_market<double, I>(ctx, p.cpu, file.path(), how).nnz());
                   }});

  // Expected result, whether it allocates; loads its kernels.
  struct expectation {
    double result = 0;
    bool allocates = false;
    bool unsupported = false;  // by this device
  };
  std::vector<expectation> expected;
  for (const operation_case& c : cases) {
    test::counting_resource<device> counted(p.ctx.resource());
    const context<device> ctx(device_options{.resource = &counted});
    expectation e;
    try {
      e.result = c.run(ctx);
    } catch (const error& refusal) {
      ASSERT_EQ(refusal.code(), error_code::unsupported) << c.name << ": " << refusal.what();
      e.unsupported = true;
    }
    e.allocates = counted.requests() > 0;
    expected.push_back(e);
  }

  const context<device> fresh;  // its pool holds nothing
  std::optional<memory_hog> hog(std::in_place);
  std::size_t refused = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (expected[k].unsupported) continue;
    try {
      const double result = cases[k].run(fresh);
      EXPECT_FALSE(expected[k].allocates) << cases[k].name << " found memory where there is none";
      EXPECT_EQ(result, expected[k].result) << cases[k].name;
    } catch (const error& e) {
      ++refused;
      EXPECT_TRUE(expected[k].allocates) << cases[k].name << ": " << e.what();
      EXPECT_EQ(e.code(), error_code::out_of_memory) << cases[k].name << ": " << e.what();
      EXPECT_NE(std::string(e.what()).find("bytes"), std::string::npos) << cases[k].name << ": " << e.what();
    }
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << cases[k].name << " leaves an error behind";
    EXPECT_NO_THROW(fresh.synchronize()) << cases[k].name;
  }
  EXPECT_GT(refused, 20U);

  hog.reset();
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (expected[k].unsupported) continue;
    double result = 0;
    EXPECT_NO_THROW(result = cases[k].run(fresh)) << cases[k].name;
    EXPECT_EQ(result, expected[k].result) << cases[k].name;
  }
}

}  // namespace
}  // namespace spargo
