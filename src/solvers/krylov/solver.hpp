// A system with its vectors, and the loop around a method that decides by the true residual. Defined in krylov.cpp.
#pragma once

#include "solvers/krylov/device_system.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace spargo::detail::krylov {

// Values within 2^64 of 1 leave squares in range: then no pass to scale products.
[[nodiscard]] inline int exponent_of(double largest) {
  int exponent = 0;
  (void)std::frexp(largest, &exponent);
  return exponent;
}
[[nodiscard]] inline int scaling_exponent(double largest) {
  constexpr int least = 64;
  const int exponent = exponent_of(largest);
  return std::abs(exponent) > least ? exponent : 0;
}

// 1 / d for the scaled matrix; for methods of Hermitian matrices of |d|, which keeps M positive definite.
template <class V>
[[nodiscard]] array<V, host> inverted(const system<V>& of, array<V, host> diagonal, bool by_magnitude) {
  for (V& d : diagonal) {
    const V scaled = times_power(d, -of.exponent);
    d = by_magnitude ? V(1 / std::abs(scaled)) : V(1) / scaled;
  }
  return diagonal;
}

template <value_type V, class Space>
struct solver {
  using system_type = krylov::system<V, Space>;

  system_type system;
  krylov_options options;
  krylov_preconditioner preconditioner;
  bool is_hermitian = false;     // known to be
  bool knows_exponent = false;   // else a product shows it
  std::int64_t other_bytes = 0;  // of the product and the preconditioner
  array<V, Space> vectors;       // b, r, best x, x, then the method's
  array<V, Space> more;          // of the method that `automatic` changed to

  solver(system_type of, const krylov_options& o, krylov_method method, krylov_preconditioner m);

  // Over ranks: collective; b and x are this rank's elements.
  krylov_result solve(krylov_method method, span<const V, Space> b, span<V, Space> x);

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept {
    return (vectors.size() + more.size()) * static_cast<std::int64_t>(sizeof(V)) + system.bytes() + other_bytes;
  }

 private:
  // Vectors; on a device the elements behind them must be 0.
  [[nodiscard]] array<V, Space> zeros(std::int64_t count) const;
  [[nodiscard]] V* vector(std::int64_t k) { return vectors.data() + k * system.stride(); }
  [[nodiscard]] span<V, Space> whole(V* v) const { return {v, system.n()}; }
  void copy_vector(const V* from, V* to);
  void look_at(const V* b, V* scratch);
  krylov_outcome improve(krylov_method method, iteration<V, Space>& run, V* best);
};

// For layers above: also a device's, where there is one.
template <value_type V, class Space>
[[nodiscard]] std::unique_ptr<solver<V, Space>> make_solver(system<V, Space> of, const krylov_options& options,
                                                            krylov_method method, krylov_preconditioner by);
template <value_type V, class Space>
[[nodiscard]] krylov_result solve_with(solver<V, Space>& of, krylov_method method, span<const V, Space> b,
                                       span<V, Space> x);

}  // namespace spargo::detail::krylov
