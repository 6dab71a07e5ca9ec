// A linear system on a device, and what its methods share: products and passes over vectors whose sums stay there.
//
// A method enqueues its iterations in chunks, as a CUDA graph, and the device decides on convergence: kernels do
// nothing once the state's `stop` is set (a product still runs). The host reads the state once a chunk, while the next
// chunk runs: after 4 to 64 iterations, as many as the residual's decrease so far suggests are left. Over ranks every
// device adds the sums of all in the same order, so that states, and what the hosts enqueue, are the same on each.
#pragma once

#include "solvers/krylov/iteration.hpp"

#include <memory>
#include <type_traits>

namespace spargo::detail::krylov {

class device_workspace;

// A whole small system in one kernel; null where it does not fit.
template <class V>
class small_system;

template <class V>
struct system<V, device> {
  context<device> ctx;
  linear_operator<V, device> a{};
  int exponent = 0;
  array<V, device> inverse{};               // of the diagonal, of stride() elements, if M is one
  linear_operator<V, device> inverse_of{};  // M^-1 where passes cannot apply it; no function otherwise
  bool captures = false;                    // whether a product may be captured in a graph
  const collective* ranks = nullptr;
  std::shared_ptr<small_system<V>> small{};
  std::shared_ptr<device_workspace> work{};

  [[nodiscard]] std::int64_t n() const { return a.size; }
  [[nodiscard]] std::int64_t all_rows() const { return ranks == nullptr ? n() : ranks->rows(); }
  // Vectors start at multiples of 256 bytes; the padding behind them stays 0.
  [[nodiscard]] std::int64_t stride() const { return div_up(n(), std::int64_t{64}) * 64; }
  [[nodiscard]] bool is_plain() const { return inverse.empty() && !inverse_of.run; }
  [[nodiscard]] bool applies() const { return inverse_of.run != nullptr; }
  // Of the workspace, where it is needed before the system is prepared.
  void make_work();
  // Whether an iteration runs, in device memory: 0 once the device has stopped.
  [[nodiscard]] const int* active() const;
  void prepare(krylov_method method, std::int64_t restart);
  [[nodiscard]] std::int64_t bytes() const noexcept;

  void product(const V* x, V* y) const;
  // z = M^-1 r, if applies(). Not in place.
  void apply(const V* r, V* z) const { inverse_of.run(span<const V, device>(r, n()), span<V, device>(z, n())); }
  // As on the host. Functions that return a number synchronise the stream.
  void scale(const V* from, int by, V* to) const;
  double largest(const char* what, span<const V, device> v) const;
  // The first element that is not finite in `bad`, -1: none.
  double largest(span<const V, device> v, std::int64_t& bad) const;
  double norm(const V* v) const;
  double residual(const V* b, const V* x, V* r) const;
};

// For what the matrix's index types decide. `diagonal`: of the matrix.
template <class V>
[[nodiscard]] array<V, device> inverted(const system<V, device>& of, const array<V, device>& diagonal,
                                        bool by_magnitude);
template <class V, class I, class O>
[[nodiscard]] std::shared_ptr<small_system<V>> make_small(const system<V, device>& of,
                                                          const csr_view<const V, I, O, device>& matrix);

template <class V>
[[nodiscard]] krylov_outcome cg(iteration<V, device>& run);
template <class V>
[[nodiscard]] krylov_outcome minres(iteration<V, device>& run);
template <class V>
[[nodiscard]] krylov_outcome bicgstab(iteration<V, device>& run);
template <class V>
[[nodiscard]] krylov_outcome gmres(iteration<V, device>& run);

// Numbers of gmres beside its vectors: O(restart^2), and restart for each block of its sums. In the workspace; a run
// that does without this call makes room itself.
template <class V>
void reserve_gmres(const context<device>& ctx, device_workspace& work, std::int64_t restart);
// At most, for any device of today.
[[nodiscard]] constexpr std::int64_t gmres_bytes(std::int64_t restart) {
  constexpr std::int64_t most_blocks = 512;
  return 8 * (2 * (restart * restart + (restart + 1) * (4 + most_blocks)) + restart);
}

}  // namespace spargo::detail::krylov
