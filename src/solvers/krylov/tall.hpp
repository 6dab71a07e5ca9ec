// Products of a tall, narrow matrix with a vector: the vectors v_0 .. v_{k-1}, one after the other in memory, n each
// and what lies between them (block_passes::stride).
#pragma once

#include "solvers/krylov/iteration.hpp"

#include <array>
#include <cstring>
#include <vector>

namespace spargo::detail::krylov {

// (w, w) of one vector; of two (w0, w0), Re(w0, w1), (w1, w1) and Im(w0, w1); of more nothing.
template <int R, class V>
using gram_of = std::array<double, R == 1   ? 1
                                   : R == 2 ? 4
                                            : 0>;

template <int R, class V>
void store_gram(std::int64_t first, std::int64_t last, const std::array<V*, R>& w, double* out) {
  if constexpr (R <= 2) out[0] = sum_terms<double>(first, last, [&](std::int64_t i) { return square(w[0][i]); });
  if constexpr (R == 2) {
    double both[2] = {};
    store(sum_terms<sum_of<V>>(first, last, [&](std::int64_t i) { return inner(w[0][i], w[1][i]); }), both);
    out[1] = both[0];
    out[2] = sum_terms<double>(first, last, [&](std::int64_t i) { return square(w[1][i]); });
    out[3] = both[1];
  }
}

using two_doubles [[gnu::vector_size(16)]] = double;
template <class R>
[[nodiscard]] inline two_doubles load_two(const R* from) {
  return two_doubles{static_cast<double>(from[0]), static_cast<double>(from[1])};
}

// The sums of B vectors, n elements apart, with R others: out[r * stride + b]. Four interleaved sums each.
template <int B, int R, real_type V>
void store_inner(std::int64_t first, std::int64_t last, const V* v, std::int64_t n, const std::array<V*, R>& w,
                 std::int64_t stride, double* out) {
  two_doubles sums[B][R][2] = {};
  std::int64_t i = first;
  for (; i + 4 <= last; i += 4) {
    for (int half = 0; half < 2; ++half) {
      two_doubles of_w[R];
      for (int r = 0; r < R; ++r) of_w[r] = load_two(w[r] + i + 2 * half);
      for (int b = 0; b < B; ++b) {
        const two_doubles of_v = load_two(v + b * n + i + 2 * half);
        for (int r = 0; r < R; ++r) sums[b][r][half] += of_v * of_w[r];
      }
    }
  }
  for (int b = 0; b < B; ++b) {
    for (int r = 0; r < R; ++r) {
      const two_doubles both = sums[b][r][0] + sums[b][r][1];
      double sum = both[0] + both[1];
      for (std::int64_t rest = i; rest < last; ++rest) sum += inner(v[b * n + rest], w[r][rest]);
      out[r * stride + b] = sum;
    }
  }
}
template <int B, int R, complex_type V>
void store_inner(std::int64_t first, std::int64_t last, const V* v, std::int64_t n, const std::array<V*, R>& w,
                 std::int64_t stride, double* out) {
  for (int b = 0; b < B; ++b) {
    for (int r = 0; r < R; ++r) {
      const auto term = [&](std::int64_t i) { return inner(v[b * n + i], w[r][i]); };
      store(sum_terms<sum_of<V>>(first, last, term), out + 2 * (r * stride + b));
    }
  }
}

// h[r * k + j] = (v_j, w_r); returns the products of the w.
template <int R, class V>
gram_of<R, V> project(const block_passes& passes, const V* basis, std::int64_t k, const std::array<V*, R>& w,
                      sum_of<V>* h) {
  using S = sum_of<V>;
  constexpr std::int64_t d = doubles_of<S>;
  const std::int64_t n = passes.stride();
  const std::int64_t count = R * k * d;
  gram_of<R, V> gram{};
  std::vector<double> sums(static_cast<std::size_t>(count) + gram.size());
  passes.sum(
      std::ssize(sums),
      [&](std::int64_t first, std::int64_t last, double* out) {
        std::int64_t j = 0;
        constexpr int together = 4 / R;
        for (; j + together <= k; j += together) {
          store_inner<together, R, V>(first, last, basis + j * n, n, w, k, out + j * d);
        }
        for (; j < k; ++j) store_inner<1, R, V>(first, last, basis + j * n, n, w, k, out + j * d);
        store_gram<R, V>(first, last, w, out + count);
      },
      sums.data(), k + R);
  for (std::int64_t j = 0; j < R * k; ++j) h[j] = load<S>(sums.data() + j * d);
  std::copy_n(sums.data() + count, gram.size(), gram.begin());
  return gram;
}

// w_r += the sum of c[r * k + b] v_b, for B vectors, n elements apart.
template <int B, int R, class V>
void add_some(std::int64_t first, std::int64_t last, const V* v, std::int64_t n, const V* c, std::int64_t k,
              const std::array<V*, R>& w) {
  std::int64_t i = first;
  if constexpr (real_type<V>) {
    using pack [[gnu::vector_size(16)]] = V;
    constexpr std::int64_t lanes = 16 / sizeof(V);
    V by[R][B];
    for (int r = 0; r < R; ++r) std::copy_n(c + r * k, B, by[r]);
    for (; i + lanes <= last; i += lanes) {
      pack sums[R];
      for (int r = 0; r < R; ++r) std::memcpy(&sums[r], w[r] + i, sizeof(pack));
      for (int b = 0; b < B; ++b) {
        pack of_v;
        std::memcpy(&of_v, v + b * n + i, sizeof(pack));
        for (int r = 0; r < R; ++r) sums[r] += by[r][b] * of_v;
      }
      for (int r = 0; r < R; ++r) std::memcpy(w[r] + i, &sums[r], sizeof(pack));
    }
  }
  for (; i < last; ++i) {
    for (int r = 0; r < R; ++r) {
      V sum = w[r][i];
      for (int b = 0; b < B; ++b) sum += multiply(c[r * k + b], v[b * n + i]);
      w[r][i] = sum;
    }
  }
}

// w_r += the sum of c[r * k + j] v_j; returns the products of the w.
template <int R, class V>
gram_of<R, V> add_combinations(const block_passes& passes, const V* basis, std::int64_t k, const V* c,
                               const std::array<V*, R>& w) {
  constexpr std::int64_t tile = 512;
  const std::int64_t n = passes.stride();
  gram_of<R, V> gram{};
  passes.sum(
      std::ssize(gram),
      [&](std::int64_t begin, std::int64_t end, double* out) {
        for (std::int64_t first = begin; first < end; first += tile) {
          const std::int64_t last = std::min(end, first + tile);
          std::int64_t j = 0;
          for (; j + 4 <= k; j += 4) add_some<4, R, V>(first, last, basis + j * n, n, c + j, k, w);
          for (; j < k; ++j) add_some<1, R, V>(first, last, basis + j * n, n, c + j, k, w);
        }
        store_gram<R, V>(begin, end, w, out);
      },
      gram.data(), k + R);
  return gram;
}

// h = V^H w; returns (w, w). h has k sums.
template <class V>
double project(const block_passes& passes, const V* basis, std::int64_t k, V* w, sum_of<V>* h) {
  return project<1, V>(passes, basis, k, {w}, h)[0];
}

// w += V c; returns (w, w). c has k numbers.
template <class V>
double add_combination(const block_passes& passes, const V* basis, std::int64_t k, const V* c, V* w) {
  return add_combinations<1, V>(passes, basis, k, c, {w})[0];
}

// Orthogonalises w against the basis by classical Gram-Schmidt: first against the vectors from `first` on, then against
// all of them if `first` > 0 or if |w|^2 halved ("twice is enough": Giraud, Langou, Rozloznik, Numer. Math. 101, 2005),
// and a third time if the second pass halved it again. h gets the coefficients; returns |w|, and |w| before in
// `before`. `minus` has room for k numbers, `again` for k sums.
template <class V>
double orthogonalise(const block_passes& passes, const V* basis, std::int64_t k, V* w, sum_of<V>* h, double& before,
                     std::int64_t first, std::vector<V>& minus, std::vector<sum_of<V>>& again) {
  using R = real_of<V>;
  const auto subtract = [&](std::int64_t from, const sum_of<V>* by) {
    for (std::int64_t j = from; j < k; ++j) {
      if constexpr (complex_type<V>) {
        minus[static_cast<std::size_t>(j)] = {static_cast<R>(-by[j].real()), static_cast<R>(-by[j].imag())};
      } else {
        minus[static_cast<std::size_t>(j)] = static_cast<R>(-by[j]);
      }
    }
    return add_combination(passes, basis + from * passes.stride(), k - from, minus.data() + from, w);
  };
  std::fill_n(h, first, sum_of<V>{});
  double all = project(passes, basis + first * passes.stride(), k - first, w, h + first);
  before = std::sqrt(all);
  double ww = subtract(first, h);
  const int most = first > 0 ? 2 : 1;
  for (int pass = 0; pass < most && ((first > 0 && pass == 0) || ww < 0.5 * all); ++pass) {
    all = project(passes, basis, k, w, again.data());
    ww = subtract(0, again.data());
    for (std::int64_t j = 0; j < k; ++j) h[j] += again[static_cast<std::size_t>(j)];
  }
  return std::sqrt(ww);
}

}  // namespace spargo::detail::krylov
