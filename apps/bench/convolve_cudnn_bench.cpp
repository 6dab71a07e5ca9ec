// cuDNN's convolution as a peer: one image and channel, its fastest forward algorithm in plain fp32 (no TF32).
#include "bench/convolve_device.hpp"

#include <cudnn.h>

namespace spargo::bench {

namespace {

void expect(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) throw std::runtime_error(cudnnGetErrorString(status));
}

class cudnn_convolution {
 public:
  cudnn_convolution(std::int64_t side, std::int64_t width) {
    const int n = static_cast<int>(side);
    const int k = static_cast<int>(width);
    expect(cudnnCreate(&handle_));
    expect(cudnnSetStream(handle_, static_cast<cudaStream_t>(device_context().stream())));
    expect(cudnnCreateTensorDescriptor(&image_));
    expect(cudnnSetTensor4dDescriptor(image_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, n, n));
    expect(cudnnCreateFilterDescriptor(&filter_));
    expect(cudnnSetFilter4dDescriptor(filter_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, k, k));
    expect(cudnnCreateConvolutionDescriptor(&convolution_));
    expect(cudnnSetConvolution2dDescriptor(convolution_, k / 2, k / 2, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                           CUDNN_DATA_FLOAT));
    expect(cudnnSetConvolutionMathType(convolution_, CUDNN_FMA_MATH));
  }
  cudnn_convolution(const cudnn_convolution&) = delete;
  cudnn_convolution& operator=(const cudnn_convolution&) = delete;
  ~cudnn_convolution() {
    cudnnDestroyConvolutionDescriptor(convolution_);
    cudnnDestroyFilterDescriptor(filter_);
    cudnnDestroyTensorDescriptor(image_);
    cudnnDestroy(handle_);
  }

  // The usable algorithms, fastest first by cuDNN's timing.
  std::vector<cudnnConvolutionFwdAlgoPerf_t> algorithms() {
    std::vector<cudnnConvolutionFwdAlgoPerf_t> found(CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    int count = 0;
    expect(cudnnFindConvolutionForwardAlgorithm(handle_, image_, filter_, convolution_, image_,
                                                static_cast<int>(found.size()), &count, found.data()));
    found.resize(static_cast<std::size_t>(count));
    std::erase_if(found,
                  [](const auto& a) { return a.status != CUDNN_STATUS_SUCCESS || a.mathType != CUDNN_FMA_MATH; });
    return found;
  }

  void run(const cudnnConvolutionFwdAlgoPerf_t& algorithm, const float* in, const float* taps, char* workspace,
           float* out) {
    const float one = 1;
    const float zero = 0;
    expect(cudnnConvolutionForward(handle_, &one, image_, in, filter_, taps, convolution_, algorithm.algo, workspace,
                                   algorithm.memory, &zero, image_, out));
  }

 private:
  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t image_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
};

// The better of cuDNN's two fastest counts. Results beyond a plain sum's bound (FFT, Winograd) are skipped.
double measure(benchmark::State& state, std::int64_t side, std::int64_t width) {
  const auto& ctx = device_context();
  const convolve_case<float> c{side, side, width, random_filter<float>(width, width)};
  auto& data = cached<convolve_data<float>>(side * side);
  const auto taps = to_device(ctx, span<const float, host>(c.filter));
  cudnn_convolution convolution(side, width);
  const auto found = convolution.algorithms();
  double best = 0;
  std::string why = "cuDNN found no algorithm";
  for (std::size_t k = 0; k < found.size() && k < 2; ++k) {
    array<char, device> workspace(ctx, static_cast<std::int64_t>(found[k].memory));
    try {
      const double seconds = measure_convolution(state, c, data, [&] {
        convolution.run(found[k], data.in.data(), taps.data(), workspace.data(), data.out.data());
      });
      if (best == 0 || seconds < best) best = seconds;
    } catch (const wrong_result& e) {
      why = e.what();
    }
  }
  if (best == 0) throw std::runtime_error(why);
  state.counters[gbytes_per_second] = c.bytes() / best * 1e-9;
  state.counters[gflops] = c.operations() / best * 1e-9;
  state.counters[fraction_of_limit] =
      convolve_limit(c.bytes(), c.operations(), device_copy_rate(), arithmetic_limit) / best;
  return best;
}

void add_all() {
  if (!current_settings().device) return;
  for (const std::int64_t width : {3, 5, 7, 11, 15}) {
    add_peer(convolve_group("float", 8192, 8192, width, "") + "cudnn",
             [=](benchmark::State& state) { return measure(state, 8192, width); });
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
