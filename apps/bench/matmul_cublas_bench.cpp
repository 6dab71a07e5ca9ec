// All dense product algorithms on the device, beside cuBLAS (float: CUBLAS_PEDANTIC_MATH, which does not round inputs).
#include "bench/cached.hpp"
#include "bench/check_device.hpp"

#include "primitives/matmul/algorithms.hpp"

#include <spargo/primitives/matmul.hpp>

#include <cublas_v2.h>

#include <random>

namespace spargo::bench {

namespace {

void expect(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

struct shape {
  std::int64_t m, n, k;
  transpose_kind op_b;
  friend bool operator==(const shape&, const shape&) = default;
};

template <class V>
struct problem {
  shape size{};
  array<V, device> a, b, c;

  explicit problem(const shape& s) : size(s) {
    const auto& ctx = device_context();
    std::mt19937 random(1);
    std::uniform_real_distribution<float> draw(-1, 1);
    const auto fill = [&](std::int64_t count) {
      std::vector<V> values(static_cast<std::size_t>(count));
      for (V& v : values) v = static_cast<V>(draw(random));
      return values;
    };
    const auto left = fill(s.m * s.k);
    const auto right = fill(s.k * s.n);
    a = to_device(ctx, span<const V, host>(left));
    b = to_device(ctx, span<const V, host>(right));
    c = {ctx, s.m * s.n};
    ctx.synchronize();
  }

  void check() const {
    expect_product_on_device<V>({size.m, size.n, size.k, size.op_b == transpose_kind::transpose}, a.view(), b.view(),
                                c.view());
  }
};

template <class V, class Run>
double measure(benchmark::State& state, problem<V>& p, Run&& run) {
  poison(device_context(), p.c.view());
  run();
  device_context().synchronize();
  const double flops =
      2.0 * static_cast<double>(p.size.m) * static_cast<double>(p.size.n) * static_cast<double>(p.size.k);
  const double once = device_seconds(device_context(), run, 1, 1);
  const double seconds = once > 0.05 ? once : device_seconds(device_context(), run, 21, 3);
  p.check();
  state.counters[gflops] = flops / seconds * 1e-9;
  return seconds;
}

template <class V>
double measure_cublas(benchmark::State& state, problem<V>& p, cublasMath_t mode) {
  cublasHandle_t handle = nullptr;
  expect(cublasCreate(&handle));
  expect(cublasSetStream(handle, device_context().stream()));
  expect(cublasSetMathMode(handle, mode));
  const V one = 1;
  const V zero = 0;
  const auto m = static_cast<int>(p.size.m);
  const auto n = static_cast<int>(p.size.n);
  const auto k = static_cast<int>(p.size.k);
  const bool transposed = p.size.op_b == transpose_kind::transpose;
  const double seconds = measure(state, p, [&] {  // column-major: C^T = op(B)^T A^T
    const auto op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    if constexpr (std::same_as<V, float>) {
      expect(cublasSgemm(handle, op, CUBLAS_OP_N, n, m, k, &one, p.b.data(), transposed ? k : n, p.a.data(), k, &zero,
                         p.c.data(), n));
    } else {
      expect(cublasDgemm(handle, op, CUBLAS_OP_N, n, m, k, &one, p.b.data(), transposed ? k : n, p.a.data(), k, &zero,
                         p.c.data(), n));
    }
  });
  expect(cublasDestroy(handle));
  return seconds;
}

template <class V>
void add_shape(const std::string& type, const std::string& name, const shape& s,
               const std::vector<matmul_algorithm>& algorithms) {
  const std::string group = "matmul/" + type + "/" + name + "/cuda/";
  for (const auto algorithm : algorithms) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& p = cached<problem<V>>(s);
      const std::int64_t rows_b = s.op_b == transpose_kind::none ? s.k : s.n;
      const std::int64_t cols_b = s.op_b == transpose_kind::none ? s.n : s.k;
      return measure(state, p, [&] {
        matmul<V, device>(device_context(), V(1), {s.m, s.k, s.k, std::as_const(p.a).view()},
                          {rows_b, cols_b, cols_b, std::as_const(p.b).view()}, V(0),
                          dense_view<V, device>{s.m, s.n, s.n, p.c.view()}, {.algorithm = algorithm, .op_b = s.op_b});
      });
    });
  }
  // The default math mode uses tensor cores for doubles; pedantic floats are comparable.
  const auto mode = std::same_as<V, float> ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH;
  add_peer(group + "cublas",
           [=](benchmark::State& state) { return measure_cublas(state, cached<problem<V>>(s), mode); });
}

void add_all() {
  if (!current_settings().device) return;
  using enum matmul_algorithm;
  const std::vector<matmul_algorithm> doubles = detail::algorithms_on<device>(detail::matmul::algorithms);
  std::vector<matmul_algorithm> floats = doubles;
  std::erase(floats, tensor_core);
  const auto none = transpose_kind::none;
  const auto transpose = transpose_kind::transpose;
  add_shape<float>("float", "4096", {4096, 4096, 4096, none}, floats);
  add_shape<float>("float", "8192", {8192, 8192, 8192, none}, {register_tiled, automatic});
  add_shape<float>("float", "4096_bt", {4096, 4096, 4096, transpose}, {naive, tiled, register_tiled, automatic});
  add_shape<float>("float", "4095x4097x1023", {4095, 4097, 1023, none}, {tiled, register_tiled, automatic});
  add_shape<float>("float", "256x256x65536", {256, 256, 65536, none}, {tiled, split_k, register_tiled, automatic});
  add_shape<double>("double", "4096", {4096, 4096, 4096, none}, doubles);
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
