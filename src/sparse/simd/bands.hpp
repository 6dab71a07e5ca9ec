// The inner loops over bands on the host, chosen once for the processor at hand.
//
// A band is a run of rows whose columns are the same seen from the diagonal: entry k of row r is in column
// r + shifts[k]. So neighbouring rows meet neighbouring elements of x: whole vectors of x are loaded where CSR
// gathers, and no index is read.
#pragma once

#include <spargo/core/types.hpp>

#include <vector>

namespace spargo::detail::spmv {

// Rows of a band whose values are stored entry by entry: 256 bytes of them, four of the widest registers.
template <class V>
inline constexpr std::int64_t band_block = 256 / static_cast<std::int64_t>(sizeof(V));

// Consecutive rows of a band.
template <class V>
struct band_job {
  std::int64_t width;          // entries per row
  const std::int64_t* shifts;  // column - row of each
  // Of block b, lane l, entry k: values[(b * width + k) * band_block<V> + l]. Null: every row has `repeated`.
  const V* values;
  const V* repeated;
  std::int64_t first;  // row
  std::int64_t rows;
  const V* x;
  V* y;  // of the first row
  V alpha;
  V beta;
};

template <class V>
struct band_loops {
  // y = alpha * A * x + beta * y on the job's rows; beta = 0 leaves y unread. Each row's entries are added in order.
  void (*rows)(const band_job<V>& job);
  const char* name;  // "AVX-512", "AVX2" or "16-byte vectors"
};

// All that this processor runs, the fastest last.
template <class V>
[[nodiscard]] std::vector<band_loops<V>> usable_band_loops();

}  // namespace spargo::detail::spmv
