// Dense matrix product on the host.
#include "bench/matmul_cases.hpp"

#include "primitives/matmul/algorithms.hpp"

namespace spargo::bench {

namespace {

template <class V>
void add_type() {
  constexpr std::int64_t n = matmul_side;
  for (const auto algorithm : detail::algorithms_on<host>(detail::matmul::algorithms)) {
    add_case(matmul_group<V>() + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      const context<host> ctx({.threads = current_settings().threads});
      return measure_matmul<V>(state, [&](const V* a, const V* b, V* c) {
        matmul<V, host>(ctx, V(1), {n, n, n, {a, n * n}}, {n, n, n, {b, n * n}}, V(0),
                        dense_view<V, host>{n, n, n, {c, n * n}}, {.algorithm = algorithm});
      });
    });
  }
}

void add_all() {
  if (!current_settings().host) return;
  add_type<float>();
  add_type<double>();
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
