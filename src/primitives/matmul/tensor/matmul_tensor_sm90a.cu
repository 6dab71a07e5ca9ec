// The product on Hopper's tensor cores: kernel shapes, tensor maps, launches.
//
// One kernel (kernel.cuh) serves the four orders of bfloat16 operands and TF32. Tensor maps have the operands' true
// sizes, so that the copy engine fills the outside with zeros. Source: CUDA driver API, "Tensor map object management";
// the runtime finds the driver's encoder, so the library does not link the driver.
#include "core/cuda.cuh"
#include "primitives/matmul/tensor/kernel.cuh"

#include <algorithm>

namespace spargo::detail::matmul::tensor {

namespace {

// H200, 8192 x 8192 x 8192, bfloat16 (A K-major, B MN-major), median and fastest of 25; variants and cuBLAS alternate
// because the chip slows down at its power limit. cuBLAS: 1.664 and 1.366 ms.
struct tuning {
  static constexpr int cluster = 2;  // 1.622 and 1.359 ms; 1: 1.640 and 1.445; 4: 2.8, as not all are resident
  static constexpr int stages = 4;   // what shared memory holds; 3 is 6 percent slower (with costlier barriers)
  static constexpr int band = 8;     // rows of clusters; 4: 1.630 and 1.370, 16: 1.641 and 1.366
};

template <precision Precision, major A, major B>
using tuned = shape<Precision, A, B, tuning::cluster, tuning::stages, tuning::band>;

decltype(&cuTensorMapEncodeTiled) map_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  SPARGO_CUDA_TRY(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess || function == nullptr) {
    throw error(error_code::unsupported, "matmul_tensor: tensor cores need a driver of CUDA 12.0 or later");
  }
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

// Boxes of box_x x box_y elements, 128 bytes wide, of a row-major matrix of `rows` x `columns`.
CUtensorMap make_map(precision inputs, const operand<void>& from, std::int64_t columns, std::int64_t rows, int box_x,
                     int box_y) {
  const bool narrow = inputs == precision::bf16;
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t stride[1] = {static_cast<cuuint64_t>(from.stride) * (narrow ? 2 : 4)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_x), static_cast<cuuint32_t>(box_y)};
  const cuuint32_t steps[2] = {1, 1};
  CUtensorMap map;
  static const auto encode = map_encoder();
  const CUresult status =
      encode(&map, narrow ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
             const_cast<void*>(from.data), sizes, stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw error(error_code::device_failure, "matmul_tensor: cuTensorMapEncodeTiled failed with status " +
                                                std::to_string(static_cast<int>(status)) + " on " +
                                                std::to_string(rows) + " rows of " + std::to_string(columns));
  }
  return map;
}

template <class Shape>
void launch(const context<device>& ctx, const operand<void>& a, const operand<void>& b, const product& p) {
  const auto map = [&](const operand<void>& from, std::int64_t mn, int box_x, int box_y) {
    return from.order == major::k ? make_map(Shape::inputs, from, p.k, mn, box_x, box_y)
                                  : make_map(Shape::inputs, from, mn, p.k, box_x, box_y);
  };
  const CUtensorMap a_map = map(a, p.m, Shape::a_box_x, Shape::a_box_y);
  const CUtensorMap b_map = map(b, p.n, Shape::b_box_x, Shape::b_box_y);
  const auto kernel = &multiply_kernel<Shape>;
  SPARGO_CUDA_TRY(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(Shape::shared_bytes)));

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Shape::cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(Shape::cluster);
  config.blockDim = dim3(Shape::threads);
  config.dynamicSmemBytes = Shape::shared_bytes;
  config.stream = ctx.stream();
  config.attrs = &cluster;
  config.numAttrs = 1;
  // Not SMs / cluster: a cluster stays within one GPC, which may have an odd number of SMs.
  int resident = 0;
  SPARGO_CUDA_TRY(cudaOccupancyMaxActiveClusters(&resident, kernel, &config));
  const std::int64_t tiles =
      div_up<std::int64_t>(p.m, Shape::rows * Shape::cluster) * div_up<std::int64_t>(p.n, Shape::columns);
  config.gridDim.x = static_cast<unsigned>(std::min<std::int64_t>(tiles, std::max(resident, 1)) * Shape::cluster);
  SPARGO_CUDA_TRY(cudaLaunchKernelEx(&config, kernel, a_map, b_map, p));
  SPARGO_CUDA_TRY(cudaGetLastError());
}

}  // namespace

bool has_tensor_cores(const context<device>& ctx) {
  return ctx.properties().compute_capability_major == 9 && ctx.properties().compute_capability_minor == 0;
}

void multiply(const context<device>& ctx, precision inputs, const operand<void>& a, const operand<void>& b,
              const product& p) {
  const device_guard guard(ctx);
  if (inputs == precision::tf32) return launch<tuned<precision::tf32, major::k, major::k>>(ctx, a, b, p);
  if (a.order == major::k) {
    if (b.order == major::k) return launch<tuned<precision::bf16, major::k, major::k>>(ctx, a, b, p);
    return launch<tuned<precision::bf16, major::k, major::mn>>(ctx, a, b, p);
  }
  if (b.order == major::k) return launch<tuned<precision::bf16, major::mn, major::k>>(ctx, a, b, p);
  return launch<tuned<precision::bf16, major::mn, major::mn>>(ctx, a, b, p);
}

}  // namespace spargo::detail::matmul::tensor
