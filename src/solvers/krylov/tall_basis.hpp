// The basis of a restarted method: a tall, narrow matrix, and what the methods do with it. Results of sums are on the
// host. On the host any number of threads gives the same bits, on devices of one kind every run.
#pragma once

#include "solvers/krylov/rotation.hpp"
#include "solvers/krylov/tall.hpp"

#include <cstdint>
#include <vector>

namespace spargo::detail::krylov {

template <class V, class Space>
class tall_basis;

// `most` + 1 vectors of n elements.
template <class V>
class tall_basis<V, host> {
 public:
  tall_basis(const context<host>& ctx, std::int64_t n, std::int64_t most)
      : ctx_(ctx),
        passes_(ctx, n, 2 * most + 3),
        vectors_(ctx, n * (most + 1)),
        numbers_(static_cast<std::size_t>(most) + 1),
        again_(numbers_.size()) {}

  [[nodiscard]] std::int64_t size() const { return passes_.size(); }
  [[nodiscard]] V* vector(std::int64_t k) { return vectors_.data() + k * size(); }

  // Real numbers in [-1, 1).
  void randomize(std::int64_t k, std::uint64_t& seed) {
    V* const v = vector(k);
    for (std::int64_t i = 0; i < size(); ++i) v[i] = V(static_cast<real_of<V>>(random_number(seed)));
  }
  // Vector k becomes orthogonal to those before it; h gets their k coefficients. Returns its norm, and the one before
  // in `before`. first > 0: it is orthogonal to the vectors before that one, to rounding.
  double orthogonalise(std::int64_t k, sum_of<V>* h, double& before, std::int64_t first = 0) {
    return krylov::orthogonalise(passes_, vectors_.data(), k, vector(k), h, before, first, numbers_, again_);
  }
  void scale(std::int64_t k, double by) { krylov::scale(passes_, vector(k), by); }
  void copy(std::int64_t from, std::int64_t to) { std::copy_n(vector(from), size(), vector(to)); }
  // Vector `to` loses `by` times vector `from`; returns its norm.
  double subtract(std::int64_t from, double by, std::int64_t to) {
    const V minus = V(static_cast<real_of<V>>(-by));
    return std::sqrt(add_combination(passes_, vector(from), 1, &minus, vector(to)));
  }
  // These columns of V S replace the first vectors of the basis V, of s.n vectors.
  void rotate(const small_matrix& s, const std::vector<std::int64_t>& columns) {
    krylov::rotate(passes_, vectors_.data(), s, std::ssize(columns),
                   [&](std::int64_t k) { return columns[static_cast<std::size_t>(k)]; });
  }
  // The first vectors.
  [[nodiscard]] array<V, host> first(std::int64_t count) const {
    array<V, host> copied(ctx_, size() * count);
    std::copy_n(vectors_.data(), copied.size(), copied.data());
    return copied;
  }

 private:
  context<host> ctx_;
  block_passes passes_;
  array<V, host> vectors_;
  std::vector<V> numbers_;
  std::vector<sum_of<V>> again_;
};

// The same; vectors start at multiples of 64 elements, and the padding is 0. Every function that returns something
// synchronises the stream.
template <class V>
class tall_basis<V, device> {
 public:
  tall_basis(const context<device>& ctx, std::int64_t n, std::int64_t most);

  [[nodiscard]] std::int64_t size() const { return n_; }
  [[nodiscard]] V* vector(std::int64_t k) { return vectors_.data() + k * stride_; }

  void randomize(std::int64_t k, std::uint64_t& seed);
  double orthogonalise(std::int64_t k, sum_of<V>* h, double& before, std::int64_t first = 0);
  void scale(std::int64_t k, double by);
  void copy(std::int64_t from, std::int64_t to);
  double subtract(std::int64_t from, double by, std::int64_t to);
  void rotate(const small_matrix& s, const std::vector<std::int64_t>& columns);
  [[nodiscard]] array<V, host> first(std::int64_t count) const;

 private:
  static constexpr std::int64_t parts = doubles_of<sum_of<V>>;

  // Sums of three passes, most_ + 2 each: coefficients and, behind them, a square.
  [[nodiscard]] double* sums(int pass) { return numbers_.data() + pass * (most_ + 2) * parts; }
  void project(std::int64_t first, std::int64_t k, const V* w, double* to);
  void combine(std::int64_t first, std::int64_t k, const double* by, V* w);
  double norm(const V* w);

  context<device> ctx_;
  std::int64_t n_;
  std::int64_t stride_;
  std::int64_t most_;
  std::int64_t blocks_;
  array<V, device> vectors_;
  array<double, device> numbers_;  // of passes, then of blocks
};

}  // namespace spargo::detail::krylov
