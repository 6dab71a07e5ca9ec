// What the benchmarks of products on tensor cores share: the sizes, operands of random values, and a check of results.
#pragma once

#include "bench/device_timing.hpp"

#include <spargo/primitives/matmul_tensor.hpp>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace spargo::bench {

inline constexpr std::int64_t tensor_sizes[] = {4096, 8192};

// Operations a second of the tensor cores without sparsity, from the H200's data sheet: what `of_limit` refers to.
inline double tensor_limit(tensor_inputs inputs) { return inputs == tensor_inputs::bf16 ? 989.4e12 : 494.7e12; }

// Square operands of values in [-1, 1), as float and as bfloat16, and C.
struct tensor_problem {
  const context<device>& ctx = device_context();
  std::int64_t n;
  std::vector<float> a_here;
  std::vector<float> b_here;
  array<float, device> a;
  array<float, device> b;
  array<bfloat16, device> a_narrow;
  array<bfloat16, device> b_narrow;
  array<float, device> c;

  explicit tensor_problem(std::int64_t size)
      : n(size),
        a_here(values(1)),
        b_here(values(2)),
        a(to_device(ctx, span<const float, host>(a_here))),
        b(to_device(ctx, span<const float, host>(b_here))),
        a_narrow(narrowed(a_here)),
        b_narrow(narrowed(b_here)),
        c(ctx, n * n) {}

  // The last one is kept.
  static tensor_problem& of(std::int64_t size) {
    static std::unique_ptr<tensor_problem> kept;
    if (kept == nullptr || kept->n != size) {
      kept.reset();
      kept = std::make_unique<tensor_problem>(size);
    }
    return *kept;
  }

  template <class T>
  [[nodiscard]] dense_view<const T, device> square(const array<T, device>& of) const {
    return {n, n, n, of.view()};
  }

  // Throws unless elements of C all over agree with sums in double to the rounding of the inputs.
  void check(tensor_inputs inputs, transpose_kind op_b) {
    const auto got = to_host(ctx, std::as_const(c).view());
    const double rounding = inputs == tensor_inputs::bf16 ? 0x1p-8 : 0x1p-11;
    for (std::int64_t sample = 0; sample < 64; ++sample) {
      const std::int64_t i = (sample * 2654435761) % n;
      const std::int64_t j = (sample * 40503 + 77) % n;
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t l = 0; l < n; ++l) {
        const double term =
            double{at(a_here, i, l)} * double{op_b == transpose_kind::none ? at(b_here, l, j) : at(b_here, j, l)};
        sum += term;
        magnitude += std::abs(term);
      }
      const double allowed = (2.01 * rounding + static_cast<double>(n) * 0x1p-22) * magnitude;
      if (!(std::abs(static_cast<double>(got[i * n + j]) - sum) <= allowed)) {
        throw wrong_result("wrong result at " + std::to_string(i) + ", " + std::to_string(j));
      }
    }
  }

 private:
  [[nodiscard]] float at(const std::vector<float>& x, std::int64_t i, std::int64_t j) const {
    return x[static_cast<std::size_t>(i * n + j)];
  }

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

// Times `run`, which leaves A * op(B) in p.c; checks it and reports its rates.
template <class Run>
double measure_tensor(benchmark::State& state, tensor_problem& p, tensor_inputs inputs, transpose_kind op_b,
                      Run&& run) {
  const double seconds = device_seconds(p.ctx, run, 15);
  p.check(inputs, op_b);
  const double operations = 2 * std::pow(static_cast<double>(p.n), 3);
  state.counters[gflops] = operations / seconds * 1e-9;
  state.counters[fraction_of_limit] = operations / seconds / tensor_limit(inputs);
  return seconds;
}

}  // namespace spargo::bench
