// Device products of matrices with more than 2^31 stored entries: every position and count must have 64 bits. Values
// and x are small integers, so that each row's sum is exact in any order; the oracle is integer arithmetic on the
// matrix's formula. Needs 60 GB of device memory.
#include "core/cuda.cuh"
#include "sparse/spmv_cases.hpp"
#include "support/device.hpp"

namespace spargo::test {
namespace {

constexpr std::int64_t rows = std::int64_t{1} << 20;
constexpr std::int32_t cols = 1'000'003;
constexpr std::int64_t needed_bytes = 60'000'000'000;
constexpr int block = 256;

// irregular: every fourth row is empty, one has 4 million entries. regular: can be compressed.
enum class shape { regular, irregular };

std::int64_t length(std::int64_t r, shape rows_are) {
  if (rows_are == shape::regular) return 2060 + r % 5;
  return r == 777'778 ? 1 << 22 : (r % 4 == 3 ? 0 : 2800 + r % 5);
}

__host__ __device__ std::int32_t column(std::int64_t e) {
  return static_cast<std::int32_t>((static_cast<std::uint64_t>(e) * 0x9e3779b97f4a7c15ULL >> 33) % cols);
}
__host__ __device__ int value(std::int64_t e) { return 1 + static_cast<int>(e / 3 % 2); }
__host__ __device__ int x_of(std::int64_t col) { return static_cast<int>(col % 3 == 1); }

__global__ void fill_kernel(std::int64_t nnz, std::int32_t* indices, float* values) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t e = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; e < nnz; e += stride) {
    indices[e] = column(e);
    values[e] = static_cast<float>(value(e));
  }
}

__global__ void fill_rows_kernel(const std::int64_t* offsets, std::int32_t* row_of) {
  for (std::int64_t e = offsets[blockIdx.x] + threadIdx.x; e < offsets[blockIdx.x + 1]; e += blockDim.x)
    row_of[e] = static_cast<std::int32_t>(blockIdx.x);
}

__global__ void fill_x_kernel(float* x) {
  const std::int64_t col = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (col < cols) x[col] = static_cast<float>(x_of(col));
}

// Counts in `wrong` the rows of y that differ from the formula.
__global__ void check_kernel(const std::int64_t* offsets, const float* y, unsigned long long* wrong) {
  __shared__ unsigned long long sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  unsigned long long mine = 0;
  for (std::int64_t e = offsets[blockIdx.x] + threadIdx.x; e < offsets[blockIdx.x + 1]; e += blockDim.x)
    mine += static_cast<unsigned long long>(value(e) * x_of(column(e)));
  atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0 && static_cast<double>(y[blockIdx.x]) != static_cast<double>(sum)) atomicAdd(wrong, 1ULL);
}

class SpmvHuge : public testing::Test {
 protected:
  using plan_type = spmv_plan<float, std::int32_t, std::int64_t, device>;

  void SetUp() override {
    SPARGO_TEST_NEEDS_GPU();
    ctx_.emplace();
    if (ctx_->memory().free_bytes < needed_bytes) GTEST_SKIP() << "60 GB of device memory are needed";
  }

  void make(shape rows_are) {
    std::vector<std::int64_t> offsets(1, 0);
    for (std::int64_t r = 0; r < rows; ++r) offsets.push_back(offsets.back() + length(r, rows_are));
    nnz_ = offsets.back();
    ASSERT_GT(nnz_, std::int64_t{1} << 31);
    offsets_ = to_device(*ctx_, span<const std::int64_t, host>(offsets));
    indices_ = {*ctx_, nnz_};
    values_ = {*ctx_, nnz_};
    x_ = {*ctx_, cols};
    y_ = {*ctx_, rows};
    fill_kernel<<<4096, block, 0, ctx_->stream()>>>(nnz_, indices_.data(), values_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    fill_x_kernel<<<cols / block + 1, block, 0, ctx_->stream()>>>(x_.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
  }

  // Number of wrong rows of y = A * x.
  std::uint64_t wrong_rows(const plan_type& plan) {
    array<unsigned long long, device> wrong(*ctx_, 1);
    fill_zero(*ctx_, wrong.view());
    fill_zero(*ctx_, y_.view());
    plan.run(1.0F, std::as_const(x_).view(), 0.0F, y_.view());
    check_kernel<<<rows, block, 0, ctx_->stream()>>>(offsets_.data(), y_.data(), wrong.data());
    SPARGO_CUDA_TRY(cudaGetLastError());
    return to_host(*ctx_, std::as_const(wrong).view())[0];
  }

  csr_view<const float, std::int32_t, std::int64_t, device> csr() const {
    return {rows, cols, offsets_.view(), indices_.view(), values_.view()};
  }

  std::optional<context<device>> ctx_;
  std::int64_t nnz_ = 0;
  array<std::int64_t, device> offsets_;
  array<std::int32_t, device> indices_;
  array<float, device> values_, x_, y_;
};

TEST_F(SpmvHuge, Csr) {
  make(shape::irregular);
  for (const auto algorithm : {spmv_algorithm::automatic, spmv_algorithm::row_per_thread, spmv_algorithm::row_per_warp,
                               spmv_algorithm::row_blocks, spmv_algorithm::merge_path, spmv_algorithm::column_passes}) {
    EXPECT_EQ(wrong_rows(plan_type(*ctx_, csr(), {.algorithm = algorithm})), 0U) << to_string(algorithm);
  }
}

TEST_F(SpmvHuge, Copies) {
  make(shape::regular);
  for (const auto algorithm : {spmv_algorithm::blocked, spmv_algorithm::compressed}) {
    const plan_type plan(*ctx_, csr(), {.algorithm = algorithm, .storage = spmv_storage::copied});
    EXPECT_EQ(wrong_rows(plan), 0U) << to_string(algorithm);
  }
}

TEST_F(SpmvHuge, Coo) {
  make(shape::irregular);
  array<std::int32_t, device> row_of(*ctx_, nnz_);
  fill_rows_kernel<<<rows, block, 0, ctx_->stream()>>>(offsets_.data(), row_of.data());
  SPARGO_CUDA_TRY(cudaGetLastError());
  const coo_view<const float, std::int32_t, device> coo{rows, cols, std::as_const(row_of).view(), indices_.view(),
                                                        values_.view()};
  for (const auto algorithm : {spmv_algorithm::automatic, spmv_algorithm::coo_atomic, spmv_algorithm::coo_segmented}) {
    EXPECT_EQ(wrong_rows(plan_type(*ctx_, coo, {.algorithm = algorithm})), 0U) << to_string(algorithm);
  }
}

}  // namespace
}  // namespace spargo::test
