// Host rows of a pull: a vertex's sum over its in-edges, and the vertices in chunks of about equal work. Shared by
// PageRank and the power iterations.
//
// Chunks do not depend on the thread count, so sums over them, added in order, are the same for any number of threads.
#pragma once

#include "core/bytes_of.hpp"
#include "core/parallel.hpp"
#include "core/search.hpp"
#include "sparse/simd/fetch.hpp"

#include <spargo/core/array.hpp>
#include <spargo/formats/csr.hpp>

namespace spargo::detail::ranks {

struct pull_tuning {
  static constexpr std::int64_t chunk = 1 << 15;  // edges plus vertices: some 50 us of gathers
  // Rows written together, so that a row need not wait for the store of the previous one, its neighbour in a grid. Zen
  // 5, one thread, grid 2000 x 2000, ms per sweep: 25; with 16: 15.5.
  static constexpr std::int64_t batch = 16;
  // Prefetch distance in indices: where gathers miss the L2 cache, the hardware does not prefetch enough. Zen 5, one
  // thread, sum of every row of a uniform graph of 2^20 vertices, fp64, ms: 36; with 128: 29, 512: 21, 1024: 21.
  static constexpr std::int64_t ahead = 512;
};

// Sums value(first) .. value(last - 1) in double with four accumulators: precise for hubs, and not bound by the latency
// of additions. fetch(e) prefetches what a later value needs.
template <class O, class Value, class Fetch>
double sum_row(O first, O last, Value value, Fetch fetch) {
  double sums[4] = {};
  O e = first;
  for (; e + 4 <= last; e += 4) {
    fetch(e);
    for (int k = 0; k < 4; ++k) sums[k] += value(e + k);
  }
  for (; e < last; ++e) sums[0] += value(e);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The sum of the values of v's neighbours.
template <class V, class I, class O>
double pull_equal(const csr_pattern_view<I, O, host>& rows, const V* values, std::int64_t v) {
  const I* const indices = rows.indices.data();
  return sum_row(
      rows.offsets[v], rows.offsets[v + 1], [=](O e) -> double { return values[indices[e]]; },
      [=](O e) { spmv::fetch(indices + e, pull_tuning::ahead); });
}
// The same, each times its edge's weight.
template <class V, class I, class O>
double pull_weighted(const csr_pattern_view<I, O, host>& rows, const V* weights, const V* values, std::int64_t v) {
  const I* const indices = rows.indices.data();
  return sum_row(
      rows.offsets[v], rows.offsets[v + 1],
      [=](O e) { return static_cast<double>(weights[e]) * static_cast<double>(values[indices[e]]); },
      [=](O e) {
        spmv::fetch(indices + e, pull_tuning::ahead);
        spmv::fetch(weights + e, pull_tuning::ahead);
      });
}

class row_chunks {
 public:
  template <class O>
  row_chunks(const context<host>& ctx, span<const O, host> offsets, std::int64_t rows, std::int64_t edges)
      : work_(rows + edges), firsts_(ctx, div_up(work_, pull_tuning::chunk) + 1) {
    for (std::int64_t c = 0; c < firsts_.size(); ++c) {
      firsts_[c] =
          first_where(std::int64_t{0}, rows, [&](std::int64_t v) { return offsets[v] + v >= c * pull_tuning::chunk; });
    }
  }

  [[nodiscard]] std::int64_t count() const { return firsts_.size() - 1; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(firsts_); }

  // body(chunk, first row, last row)
  template <class Body>
  void for_each(int threads, Body&& body) const {
    parallel_parts(useful_threads(threads, work_, pull_tuning::chunk), count(),
                   [&](std::int64_t c) { body(c, firsts_[c], firsts_[c + 1]); });
  }

 private:
  std::int64_t work_;
  array<std::int64_t, host> firsts_;  // chunk c has the rows firsts_[c] to firsts_[c + 1]
};

}  // namespace spargo::detail::ranks
