// Passes over vectors with sums in a fixed order.
//
// Idea: a pass takes blocks of at most 4,096 elements, which stay in the L1 or L2 cache; each block writes its sums to
// a table, and the table is summed in order of the blocks. So the result depends on the size alone, not on threads.
#pragma once

#include "core/function_ref.hpp"
#include "core/parallel.hpp"
#include "solvers/krylov/collective.hpp"
#include "sparse/arithmetic.hpp"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <complex>
#include <cstdint>

namespace spargo::detail::krylov {

template <class V>
struct scalar_traits {
  using real = V;
  using sum = double;  // of products
};
template <class R>
struct scalar_traits<std::complex<R>> {
  using real = R;
  using sum = std::complex<double>;
};
template <class V>
using real_of = typename scalar_traits<V>::real;
template <class V>
using sum_of = typename scalar_traits<V>::sum;

template <class V>
[[nodiscard]] inline V conjugated(V v) {
  if constexpr (complex_type<V>) {
    return std::conj(v);
  } else {
    return v;
  }
}
// conj(a) * b in double.
template <real_type V>
[[nodiscard]] inline double inner(V a, V b) {
  return static_cast<double>(a) * static_cast<double>(b);
}
template <class R>
[[nodiscard]] inline std::complex<double> inner(std::complex<R> a, std::complex<R> b) {
  const double ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
  return {ar * br + ai * bi, ar * bi - ai * br};
}
// |a|^2 and Re(conj(a) * b).
template <class V>
[[nodiscard]] inline double square(V a) {
  return std::real(inner(a, a));
}
template <class V>
[[nodiscard]] inline double real_inner(V a, V b) {
  return std::real(inner(a, b));
}

// The sum of term(i) over [first, last), in eight interleaved sums, which vectorise.
template <class S, class Term>
[[nodiscard]] inline S sum_terms(std::int64_t first, std::int64_t last, const Term& term) {
  constexpr int lanes = 8;
  S sums[lanes] = {};
  std::int64_t i = first;
  for (; i + lanes <= last; i += lanes) {
    for (int l = 0; l < lanes; ++l) sums[l] += term(i + l);
  }
  for (int l = 0; i < last; ++i, ++l) sums[l] += term(i);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

class block_passes {
 public:
  block_passes() = default;
  // For passes of up to `most_sums` sums.
  block_passes(const context<host>& ctx, std::int64_t size, std::int64_t most_sums)
      : threads_(ctx.threads()),
        size_(size),
        length_(length_of(size)),
        stride_(size),
        table_(ctx, blocks_of(size) * most_sums) {}
  // Over the elements of several ranks, whose vectors begin every `stride` elements.
  void distribute(const collective* ranks, std::int64_t stride) {
    ranks_ = ranks;
    stride_ = stride;
  }

  // Some 16 blocks, or of at least 1,024 elements, so that two threads get the same work.
  [[nodiscard]] static constexpr std::int64_t length_of(std::int64_t size) {
    return size <= 4096 ? 4096 : std::clamp<std::int64_t>(div_up(size, 1024) * 64, 1024, 4096);
  }
  [[nodiscard]] static constexpr std::int64_t blocks_of(std::int64_t size) {
    return std::max<std::int64_t>(1, div_up(size, length_of(size)));
  }

  // body(first, last) for each block; it reads some `vectors` vectors.
  void each(function_ref<void(std::int64_t, std::int64_t)> body, std::int64_t vectors = 1) const {
    const auto block = [&](std::int64_t k) { body(k * length_, std::min(size_, (k + 1) * length_)); };
    const int threads = useful_threads(threads_, size_ * vectors, std::int64_t{1} << 14);
    parallel_parts(threads, div_up(size_, length_), block, waking::unless_busy);
  }

  // body(first, last, sums) writes `count` sums of each block; `totals` gets those of all.
  void sum(std::int64_t count, function_ref<void(std::int64_t, std::int64_t, double*)> body, double* totals,
           std::int64_t vectors = 1) const {
    each([&](std::int64_t first, std::int64_t last) { body(first, last, table_.data() + first / length_ * count); },
         vectors);
    std::fill_n(totals, count, 0.0);
    const std::int64_t blocks = div_up(size_, length_);
    for (std::int64_t k = 0; k < blocks; ++k) {
      for (std::int64_t s = 0; s < count; ++s) totals[s] += table_[k * count + s];
    }
    if (ranks_ != nullptr) ranks_->sum(totals, count);
  }

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t stride() const noexcept { return stride_; }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return table_.size() * static_cast<std::int64_t>(sizeof(double));
  }

 private:
  int threads_ = 1;
  std::int64_t size_ = 0;
  std::int64_t length_ = 4096;
  std::int64_t stride_ = 0;
  const collective* ranks_ = nullptr;
  mutable array<double, host> table_;
};

inline void store(double value, double* to) { *to = value; }
inline void store(std::complex<double> value, double* to) {
  to[0] = value.real();
  to[1] = value.imag();
}
template <class S>
[[nodiscard]] inline S load(const double* from) {
  if constexpr (std::same_as<S, double>) {
    return *from;
  } else {
    return {from[0], from[1]};
  }
}
template <class S>
inline constexpr std::int64_t doubles_of = static_cast<std::int64_t>(sizeof(S) / sizeof(double));

}  // namespace spargo::detail::krylov
