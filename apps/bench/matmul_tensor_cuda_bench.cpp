// Products on tensor cores: bfloat16 inputs, and floats rounded during the product. Times are the median of 15 by CUDA
// events around one call with a flushed L2 cache; each case checks its result.
#include "bench/matmul_tensor_cases.hpp"

namespace spargo::bench {

namespace {

template <class T>
void add(const std::string& rung, tensor_inputs inputs, transpose_kind op_b, std::int64_t n) {
  add_case(tensor_group(inputs, op_b, n) + rung, [=](benchmark::State& state) {
    auto& p = cached<tensor_problem>(n);
    return measure_tensor(state, p, inputs, op_b, [&] {
      const matmul_tensor_options options{.inputs = inputs, .op_b = op_b};
      const dense_view<float, device> c{n, n, n, p.c.view()};
      if constexpr (std::same_as<T, float>) {
        matmul_tensor(p.ctx, 1, p.square(p.a), p.square(p.b), 0, c, options);
      } else {
        matmul_tensor(p.ctx, 1, p.square(p.a_narrow), p.square(p.b_narrow), 0, c, options);
      }
    });
  });
}

void add_all() {
  if (!current_settings().device) return;
  for (const std::int64_t n : tensor_sizes) {
    for (const auto op_b : {transpose_kind::none, transpose_kind::transpose}) {
      add<bfloat16>("tensor_core", tensor_inputs::bf16, op_b, n);
      add<float>("tensor_core:float_inputs", tensor_inputs::bf16, op_b, n);
      add<float>("tensor_core", tensor_inputs::tf32, op_b, n);
    }
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
