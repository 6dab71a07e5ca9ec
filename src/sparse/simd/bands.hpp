// The host's inner loops over bands, chosen once for the processor.
//
// A band is a run of rows with the same columns relative to the diagonal: entry k of row r is in column r + shifts[k].
// Neighbouring rows thus use neighbouring elements of x: whole vectors of x are loaded where CSR gathers, and no index
// is read.
#pragma once

#include <spargo/core/types.hpp>

#include <vector>

namespace spargo::detail::spmv {

// Rows per block of a band with stored values: 256 bytes of values, four of the widest registers.
template <class V>
inline constexpr std::int64_t band_block = 256 / static_cast<std::int64_t>(sizeof(V));

template <class V>
struct band_job {
  std::int64_t width;          // entries per row
  const std::int64_t* shifts;  // column - row, per entry
  // Block b, lane l, entry k: values[(b * width + k) * band_block<V> + l]. Null: every row has the values `repeated`.
  const V* values;
  const V* repeated;
  std::int64_t first;  // first row
  std::int64_t rows;
  const V* x;
  V* y;  // y of the first row
  V alpha;
  V beta;
};

template <class V>
struct band_loops {
  // y = alpha * A * x + beta * y for the job's rows; beta = 0 does not read y. Each row's entries are added in order.
  void (*rows)(const band_job<V>& job);
  const char* name;  // "AVX-512", "AVX2" or "16-byte vectors"
};

// All that this processor supports, fastest last.
template <class V>
[[nodiscard]] std::vector<band_loops<V>> usable_band_loops();

}  // namespace spargo::detail::spmv
