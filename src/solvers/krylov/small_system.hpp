// Conjugate gradients of a small system in one kernel.
#pragma once

#include "solvers/krylov/device_system.hpp"

#include <array>

namespace spargo::detail::krylov {

struct device_state;

// A copy of the matrix, its rows divided among the blocks of one cluster.
template <class V>
class small_system {
 public:
  static constexpr int most_blocks = 16;

  struct vectors {
    V* x;
    V* r;
    V* p;
    const V* inverse;  // of the diagonal; null without M
  };

  small_system(array<std::int32_t, device> offsets, array<std::int32_t, device> indices, array<V, device> values,
               int blocks, const std::array<int, most_blocks + 1>& first_rows, std::size_t shared_bytes);

  // Up to `iterations` from the state that the vectors have, as cg_cuda.cu begins them.
  void enqueue(const context<device>& ctx, const vectors& of, int iterations, device_state* state) const;
  [[nodiscard]] std::int64_t bytes() const noexcept;
  [[nodiscard]] int blocks() const noexcept { return blocks_; }

 private:
  array<std::int32_t, device> offsets_;
  array<std::int32_t, device> indices_;
  array<V, device> values_;  // times 2^-exponent
  int blocks_;
  std::array<int, most_blocks + 1> first_rows_;
  std::size_t shared_bytes_;
};

}  // namespace spargo::detail::krylov
