// Compressed copies on the host, for stencils and bands.
//
// Consecutive rows with the same columns relative to the diagonal form a band, whose columns are stored once. If all
// rows of a band also have the same values, these are stored once; a 5-point Laplacian then reads only x. Otherwise
// values are stored in blocks of rows, entry by entry, so that vectors of values are multiplied by vectors of x (as in
// the diagonal format, DIA, but per run of rows: only a band's last block is padded). Rows outside long runs stay CSR.
//
// One thread sums each row in the order of its entries: same bits for any thread count. Products read the values that
// differ and x, and write y; O(rows + nnz) without reading indices in bands. Values are compared byte by byte, so
// signed zeros and NaN are preserved.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/simd/bands.hpp"
#include "sparse/simd/kernels.hpp"
#include "sparse/spmv/copies/compressed/compressed_host.hpp"
#include "sparse/spmv/copies/copy_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // Least rows of a band: with fewer, its last, partly filled block costs too much.
  static constexpr std::int64_t shortest_band = 64;
  // Entries per chunk, the unit of work: 512 KiB of doubles, far above scheduling costs; 64 chunks for 4M entries.
  static constexpr std::int64_t chunk_entries = 1 << 16;
  // Least share of entries in bands for which a copy pays off: CSR costs at best half as much again as a band.
  static constexpr double least_share = 0.8;
};

struct band {
  std::int64_t first = 0;  // first row
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t shifts = 0;  // start of its shifts and repeated values
  std::int64_t values = 0;  // start of its values; -1: they repeat
  std::int64_t entry = 0;   // its first entry in the CSR matrix
};

struct chunk {
  std::int64_t band = 0;
  std::int64_t first = 0;  // row of the band, a multiple of its block size
  std::int64_t rows = 0;
};

template <class V>
std::int64_t chunk_rows(std::int64_t width) {
  return std::max<std::int64_t>(1, tuning::chunk_entries / std::max<std::int64_t>(1, width) / band_block<V>) *
         band_block<V>;
}

template <class I, class O>
bool continues(const csr_pattern_view<I, O, host>& a, std::int64_t row) {
  const std::int64_t begin = a.offsets[row];
  const std::int64_t length = a.offsets[row + 1] - begin;
  const std::int64_t before = a.offsets[row - 1];
  if (begin - before != length) return false;
  for (std::int64_t k = 0; k < length; ++k) {
    if (static_cast<std::int64_t>(a.indices[begin + k]) != static_cast<std::int64_t>(a.indices[before + k]) + 1) {
      return false;
    }
  }
  return true;
}

// Whether a row and the next one, of the same pattern, have the same values, byte by byte.
template <class V, class I, class O>
bool repeats(const csr_view<const V, I, O, host>& a, std::int64_t row) {
  const std::int64_t begin = a.offsets[row];
  const std::int64_t next = a.offsets[row + 1];
  const auto bytes = static_cast<std::size_t>(next - begin) * sizeof(V);
  return bytes == 0 || std::memcmp(a.values.data() + begin, a.values.data() + next, bytes) == 0;
}

// Calls body(first, count) for each run of rows with the same pattern, in order.
template <class Body>
void for_each_run(const array<std::uint8_t, host>& same, Body body) {
  for (std::int64_t first = 0; first < same.size();) {
    std::int64_t last = first + 1;
    while (last < same.size() && same[last] != 0) ++last;
    body(first, last - first);
    first = last;
  }
}

struct extent {
  std::int64_t bands = 0;
  std::int64_t chunks = 0;
  std::int64_t shifts = 0;
  std::int64_t entries = 0;   // in bands
  std::int64_t repeated = 0;  // those in bands whose first two rows have the same values
  std::int64_t rest_rows = 0;
};

template <class V, class I, class O>
class bands_executor final : public executor<V> {
 public:
  bands_executor(const context<host>& ctx, const csr_view<const V, I, O, host>& a,
                 const array<std::uint8_t, host>& same, const extent& e)
      : ctx_(ctx),
        loops_(usable_band_loops<V>().back()),
        kernels_(best_host_kernels<V, I, O>()),
        bands_(ctx, e.bands),
        chunks_(ctx, e.chunks),
        shifts_(ctx, e.shifts),
        repeated_(ctx, e.shifts),
        rest_(ctx, e.rest_rows),
        rest_sources_(ctx, e.rest_rows),
        rest_offsets_(ctx, e.rest_rows + 1),
        rest_indices_(ctx, a.nnz() - e.entries),
        rest_values_(ctx, a.nnz() - e.entries) {
    copy_pattern(a, same);
    copy_values(a.values.data());
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    const std::int64_t chunks = chunks_.size();
    const std::int64_t rest = rest_.size();
    parallel_parts(ctx_.threads(), chunks, [&](std::int64_t p) { run_chunk(chunks_[p], alpha, x, beta, y); });
    parallel_for(ctx_.threads(), rest, grain::rows, [&](std::int64_t r) {
      const std::int64_t begin = rest_offsets_[r];
      const V sum =
          kernels_.dot(rest_values_.data() + begin, rest_indices_.data() + begin, rest_offsets_[r + 1] - begin, x);
      update(y[rest_[r]], alpha, sum, beta);
    });
  }

  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override { copy_values(values); }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    constexpr auto value_bytes = static_cast<std::int64_t>(sizeof(V));
    return bands_.size() * static_cast<std::int64_t>(sizeof(band)) +
           chunks_.size() * static_cast<std::int64_t>(sizeof(chunk)) + shifts_.size() * (8 + value_bytes) +
           values_.size() * value_bytes + rest_.size() * 24 + 8 +
           rest_indices_.size() * (static_cast<std::int64_t>(sizeof(I)) + value_bytes);
  }

  [[nodiscard]] std::int64_t stored_values() const { return values_.size(); }

 private:
  void run_chunk(const chunk& p, V alpha, const V* x, V beta, V* y) const {
    const band& b = bands_[p.band];
    const std::int64_t row = b.first + p.first;
    loops_.rows({.width = b.width,
                 .shifts = shifts_.data() + b.shifts,
                 .values = b.values < 0 ? nullptr : values_.data() + b.values + p.first * b.width,
                 .repeated = repeated_.data() + b.shifts,
                 .first = row,
                 .rows = p.rows,
                 .x = x,
                 .y = y + row,
                 .alpha = alpha,
                 .beta = beta});
  }

  void copy_pattern(const csr_pattern_view<I, O, host>& a, const array<std::uint8_t, host>& same) {
    extent at;
    rest_offsets_[0] = 0;
    for_each_run(same, [&](std::int64_t first, std::int64_t count) {
      const std::int64_t entry = a.offsets[first];
      const std::int64_t width = a.offsets[first + 1] - entry;
      if (count >= tuning::shortest_band) {
        bands_[at.bands] = {first, count, width, at.shifts, -1, entry};
        for (std::int64_t k = 0; k < width; ++k) shifts_[at.shifts++] = a.indices[entry + k] - first;
        const std::int64_t step = chunk_rows<V>(width);
        for (std::int64_t r = 0; r < count; r += step) {
          chunks_[at.chunks++] = {at.bands, r, std::min(step, count - r)};
        }
        ++at.bands;
        return;
      }
      for (std::int64_t row = first; row < first + count; ++row) {
        const std::int64_t to = rest_offsets_[at.rest_rows];
        rest_[at.rest_rows] = row;
        rest_sources_[at.rest_rows] = a.offsets[row];
        std::copy_n(a.indices.data() + a.offsets[row], width, rest_indices_.data() + to);
        rest_offsets_[++at.rest_rows] = to + width;
      }
    });
  }

  // Repeated values are stored once. Memory for bands that change is allocated before anything is overwritten.
  void copy_values(const V* values) {
    const std::int64_t chunks = chunks_.size();
    array<std::uint8_t, host> differ(ctx_, bands_.size());
    std::fill(differ.begin(), differ.end(), std::uint8_t{0});
    parallel_parts(ctx_.threads(), chunks, [&](std::int64_t p) {
      if (repeats(chunks_[p], values)) return;
      std::atomic_ref(differ[chunks_[p].band]).store(1, std::memory_order_relaxed);
    });
    std::int64_t needed = 0;
    for (std::int64_t b = 0; b < bands_.size(); ++b) {
      const std::int64_t blocks = div_up(bands_[b].rows, band_block<V>);
      needed += differ[b] != 0 ? blocks * band_block<V> * bands_[b].width : 0;
    }
    if (needed != values_.size()) values_ = {ctx_, needed};
    place_values(differ, values);
    parallel_parts(ctx_.threads(), chunks, [&](std::int64_t p) { copy_chunk(chunks_[p], values); });
    for (std::int64_t r = 0; r < rest_.size(); ++r) {
      std::copy_n(values + rest_sources_[r], rest_offsets_[r + 1] - rest_offsets_[r],
                  rest_values_.data() + rest_offsets_[r]);
    }
  }

  void place_values(const array<std::uint8_t, host>& differ, const V* values) {
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < bands_.size(); ++i) {
      band& b = bands_[i];
      std::copy_n(values + b.entry, b.width, repeated_.data() + b.shifts);
      b.values = differ[i] != 0 ? at : -1;
      if (differ[i] != 0) at += div_up(b.rows, band_block<V>) * band_block<V> * b.width;
    }
  }

  // Whether every row of a chunk has the values of its band's first row, byte by byte.
  [[nodiscard]] bool repeats(const chunk& p, const V* values) const {
    const band& b = bands_[p.band];
    for (std::int64_t row = p.first; row < p.first + p.rows; ++row) {
      const auto bytes = static_cast<std::size_t>(b.width) * sizeof(V);
      if (bytes != 0 && std::memcmp(values + b.entry + row * b.width, values + b.entry, bytes) != 0) return false;
    }
    return true;
  }

  void copy_chunk(const chunk& p, const V* values) {
    const band& b = bands_[p.band];
    if (b.values < 0) return;
    constexpr std::int64_t block = band_block<V>;
    for (std::int64_t row = p.first; row < p.first + p.rows; ++row) {
      const V* const from = values + b.entry + row * b.width;
      V* const to = values_.data() + b.values + row / block * block * b.width + row % block;
      for (std::int64_t k = 0; k < b.width; ++k) to[k * block] = from[k];
    }
  }

  context<host> ctx_;
  band_loops<V> loops_;
  const host_kernels<V, I, O>& kernels_;
  array<band, host> bands_;
  array<chunk, host> chunks_;
  array<std::int64_t, host> shifts_;
  array<V, host> repeated_;         // values of each band's first row
  array<V, host> values_;           // values of bands whose rows differ
  array<std::int64_t, host> rest_;  // rows outside bands
  array<std::int64_t, host> rest_sources_;
  array<std::int64_t, host> rest_offsets_;
  array<I, host> rest_indices_;
  array<V, host> rest_values_;
};

}  // namespace

template <class V, class I, class O>
copy_attempt<V> compress_bands(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                               copy_demand demand, std::int64_t products) {
  const std::int64_t rows = matrix.rows;
  array<std::uint8_t, host> same(ctx, rows);
  same[0] = 0;
  parallel_for(ctx.threads(), rows - 1, grain::rows,
               [&](std::int64_t r) { same[r + 1] = continues<I, O>(matrix, r + 1) ? 1 : 0; });
  extent e;
  for_each_run(same, [&](std::int64_t first, std::int64_t count) {
    if (count < tuning::shortest_band) {
      e.rest_rows += count;
      return;
    }
    const std::int64_t width = matrix.offsets[first + 1] - matrix.offsets[first];
    e.bands += 1;
    e.chunks += div_up(count, chunk_rows<V>(width));
    e.shifts += width;
    e.entries += width * count;
    if (repeats<V, I, O>(matrix, first)) e.repeated += width * count;
  });
  const double share = static_cast<double>(e.entries) / static_cast<double>(matrix.nnz());
  if (e.bands == 0 || (demand == copy_demand::if_it_pays && share < tuning::least_share)) {
    return {nullptr, fmt::format("{:.0f} % of the entries are in runs of rows that repeat a pattern", 100 * share)};
  }
  const bool alike = static_cast<double>(e.repeated) >= tuning::least_share * static_cast<double>(matrix.nnz());
  std::string too_few = reason_against_copy(alike ? copy_kind::repeated_bands : copy_kind::bands, sizeof(V), products);
  if (!too_few.empty()) return {nullptr, "in bands " + too_few};
  auto made = std::make_unique<bands_executor<V, I, O>>(ctx, matrix, same, e);
  std::string reason =
      fmt::format("{} bands of rows that repeat a pattern, {:.1f} % of the entries, of which {} values are stored",
                  e.bands, 100 * share, made->stored_values());
  return {std::move(made), std::move(reason)};
}

#define INSTANTIATE(V, I, O)                                                                                       \
  template copy_attempt<V> compress_bands(const context<host>&, const csr_view<const V, I, O, host>&, copy_demand, \
                                          std::int64_t);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
