// Shared by the tensor core benchmarks: sizes, random operands, and the check of results.
#pragma once

#include "bench/cached.hpp"
#include "bench/check_device.hpp"

#include <spargo/primitives/matmul_tensor.hpp>

#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace spargo::bench {

inline constexpr std::int64_t tensor_sizes[] = {4096, 8192};

// Tensor core operations per second without sparsity, from the H200's data sheet; the base of `of_limit`.
inline double tensor_limit(tensor_inputs inputs) { return inputs == tensor_inputs::bf16 ? 989.4e12 : 494.7e12; }

// Square operands with values in [-1, 1), as float and bfloat16, and C.
struct tensor_problem {
  const context<device>& ctx = device_context();
  std::int64_t n;
  array<float, device> a;
  array<float, device> b;
  array<bfloat16, device> a_narrow;
  array<bfloat16, device> b_narrow;
  array<float, device> c;

  explicit tensor_problem(std::int64_t size)
      : n(size),
        a(to_device(ctx, span<const float, host>(values(1)))),
        b(to_device(ctx, span<const float, host>(values(2)))),
        a_narrow(narrowed(values(1))),
        b_narrow(narrowed(values(2))),
        c(ctx, n * n) {}

  template <class T>
  [[nodiscard]] dense_view<const T, device> square(const array<T, device>& of) const {
    return {n, n, n, of.view()};
  }

  // Throws unless C agrees with sums in double within the rounding of the two inputs of each product.
  void check(tensor_inputs inputs, transpose_kind op_b) {
    const double rounding = inputs == tensor_inputs::bf16 ? 0x1p-8 : 0x1p-11;
    expect_product_on_device<float>({n, n, n, op_b == transpose_kind::transpose, 2.01 * rounding},
                                    std::as_const(a).view(), std::as_const(b).view(), std::as_const(c).view());
  }

 private:
  [[nodiscard]] std::vector<float> values(std::uint32_t seed) const {
    std::minstd_rand random(seed);
    std::vector<float> result(static_cast<std::size_t>(n * n));
    for (float& v : result) v = static_cast<float>(random()) * (2.0F / 2147483648.0F) - 1.0F;
    return result;
  }

  [[nodiscard]] array<bfloat16, device> narrowed(const std::vector<float>& wide) const {
    std::vector<bfloat16> result;
    result.reserve(wide.size());
    for (const float v : wide) result.push_back(bfloat16(v));
    return to_device(ctx, span<const bfloat16, host>(result));
  }
};

inline std::string tensor_group(tensor_inputs inputs, transpose_kind op_b, std::int64_t n) {
  return "matmul_tensor/" + std::string(to_string(inputs)) + (op_b == transpose_kind::none ? "/" : "_transposed_b/") +
         std::to_string(n) + "/cuda/";
}

// Times `run`, which computes p.c = A * op(B); checks it and reports rates.
template <class Run>
double measure_tensor(benchmark::State& state, tensor_problem& p, tensor_inputs inputs, transpose_kind op_b,
                      Run&& run) {
  poison(p.ctx, p.c.view());
  const double seconds = device_seconds(p.ctx, run, 15);
  p.check(inputs, op_b);
  const double operations = 2 * std::pow(static_cast<double>(p.n), 3);
  state.counters[gflops] = operations / seconds * 1e-9;
  state.counters[fraction_of_limit] = operations / seconds / tensor_limit(inputs);
  return seconds;
}

}  // namespace spargo::bench
