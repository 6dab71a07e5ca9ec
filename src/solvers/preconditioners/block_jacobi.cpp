// Block Jacobi: the inverses of the diagonal blocks, dense.
//
// Blocks of `block_size` consecutive rows, the last one smaller. Inverted by Gauss-Jordan elimination in double with
// partial pivoting or, where M must be positive definite, without, so that the pivots are those of Cholesky's factors
// and show whether it is. O(n block_size^2) to build, n * block_size values kept and read by each application.
#include "core/instantiate.hpp"
#include "core/rows_from_one.hpp"
#include "solvers/krylov/iteration.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

namespace spargo::detail::krylov {

namespace {

// Inverts a of size x size, stored by rows. False at a pivot of 0 or, if needs_definite, one that is not positive.
template <class S>
[[nodiscard]] bool invert(std::vector<S>& a, std::size_t size, bool needs_definite) {
  std::vector<std::size_t> from(size);
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < size && !needs_definite; ++i) {
      if (std::abs(a[i * size + k]) > std::abs(a[best * size + k])) best = i;
    }
    from[k] = best;
    if (best != k) std::swap_ranges(&a[k * size], &a[k * size] + size, &a[best * size]);
    const S pivot = a[k * size + k];
    const bool is_positive = std::real(pivot) > 0 && std::abs(std::imag(pivot)) <= 1e-8 * std::real(pivot);
    if (pivot == S{} || !std::isfinite(std::abs(pivot)) || (needs_definite && !is_positive)) return false;
    a[k * size + k] = S{1};
    for (std::size_t j = 0; j < size; ++j) a[k * size + j] /= pivot;
    for (std::size_t i = 0; i < size; ++i) {
      if (i == k) continue;
      const S factor = a[i * size + k];
      if (factor == S{}) continue;
      a[i * size + k] = S{};
      for (std::size_t j = 0; j < size; ++j) a[i * size + j] -= factor * a[k * size + j];
    }
  }
  for (std::size_t k = size; k-- > 0;) {
    if (from[k] == k) continue;
    for (std::size_t i = 0; i < size; ++i) std::swap(a[i * size + k], a[i * size + from[k]]);
  }
  return true;
}

}  // namespace

void refuse_block(std::int64_t first, std::int64_t last, bool needs_definite) {
  throw error(error_code::invalid_data,
              fmt::format("solve: block-jacobi: the block of rows {} to {}{} is {} (expected {})", shown_row(first),
                          shown_row(last - 1), counted_from(), needs_definite ? "not positive definite" : "singular",
                          needs_definite ? "jacobi, or bicgstab or gmres" : "another block size"));
}

template <class V, class I, class O>
built_preconditioner<V> block_jacobi(const context<host>& ctx, const csr_view<const V, I, O, host>& m,
                                     const preconditioner_request& wanted) {
  using S = sum_of<V>;
  const std::int64_t n = m.rows;
  const std::int64_t most = std::max<std::int64_t>(1, std::min(wanted.block_size, n));
  auto inverses = std::make_shared<array<V, host>>(ctx, static_cast<std::int64_t>(checked_bytes(n, 1)) * most);
  const std::int64_t blocks = div_up(n, most);
  const int threads = useful_threads(ctx.threads(), n * most, std::int64_t{1} << 14);
  std::atomic<std::int64_t> bad{blocks};
  parallel_for(threads, blocks, 1, [&](std::int64_t block) {
    const std::int64_t first = block * most;
    const std::int64_t size = std::min(most, n - first);
    std::vector<S> a(static_cast<std::size_t>(size * size));
    for (std::int64_t i = 0; i < size; ++i) {
      for (O k = m.offsets[first + i]; k < m.offsets[first + i + 1]; ++k) {
        const std::int64_t j = m.indices[k] - first;
        if (j < 0 || j >= size) continue;
        a[static_cast<std::size_t>(i * size + j)] += static_cast<S>(times_power(m.values[k], -wanted.exponent));
      }
    }
    if (!invert(a, static_cast<std::size_t>(size), wanted.needs_definite)) lower_to(bad, block);
    for (std::int64_t k = 0; k < size * size; ++k) {
      (*inverses)[first * most + k] = static_cast<V>(a[static_cast<std::size_t>(k)]);
    }
  });
  if (bad < blocks) refuse_block(bad * most, std::min((bad + 1) * most, n), wanted.needs_definite);
  // z may be r: a block is read before it is written.
  return {{n,
           [inverses, threads, n, most](span<const V, host> r, span<V, host> z) {
             parallel_ranges(threads, div_up(n, most), 1, [&](std::int64_t begin, std::int64_t end) {
               V right[most_block_size];
               for (std::int64_t block = begin; block < end; ++block) {
                 const std::int64_t first = block * most;
                 const std::int64_t size = std::min(most, n - first);
                 std::copy_n(r.data() + first, size, right);
                 const V* const inverse = inverses->data() + first * most;
                 for (std::int64_t i = 0; i < size; ++i) {
                   V sum{};
                   for (std::int64_t j = 0; j < size; ++j) {
                     sum += multiply(inverse[i * size + j], right[j]);
                   }
                   z[first + i] = sum;
                 }
               }
             });
           }},
          inverses->size() * static_cast<std::int64_t>(sizeof(V))};
}

#define INSTANTIATE(V, I, O)                                                                                \
  template built_preconditioner<V> block_jacobi(const context<host>&, const csr_view<const V, I, O, host>&, \
                                                const preconditioner_request&);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::krylov
