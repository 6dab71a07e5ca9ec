// Compressed copies on the host, for scattered columns.
//
// Gathers from an x larger than L2 wait for L3 or memory, however many are in flight. So the matrix is cut into tiles
// of 65536 columns: a tile's x and row sums stay in L2 while its entries are processed (cache blocking; Nishtala,
// Vuduc, Demmel, Yelick, AAECC 2007). Within a tile rows and columns have 16 bits, so an entry takes no more memory
// than in CSR. Eight or more neighbouring entries of a row form a segment with one sum; others are single entries,
// added without branches.
//
// One thread processes a block of rows, tile by tile from left to right; the order of a row's sum does not depend on
// the height of the blocks. Same bits for any number of threads. O(rows + nnz + rows * cols / 2^32). Four bytes per
// entry record its place in the CSR matrix; only value updates read them.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "sparse/arithmetic.hpp"
#include "sparse/host_cache.hpp"
#include "sparse/simd/tiles.hpp"
#include "sparse/spmv/copies/compressed/compressed_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace spargo::detail::spmv {

namespace {

struct tuning {
  // R-MAT 20 symmetric, two threads of a Xeon with 2 MiB of L2, fp64, ms: 17.7 with segments from 8 entries on (19.1
  // from 4, 18.4 from 16), 24.8 without. Compared with CSR rows with prefetch, two threads of a busier Xeon, fp32 and
  // fp64: 20.3 and 24.3, CSR 25.1 and 33.4; uniform 1M x 20 12.4 and 20.4, CSR 28.0 and 32.0.
  static constexpr std::int64_t shortest_segment = 8;
  // Rows per block: as many as 16 bits address (the same matrix: 32768 rows 19.8, 65536 rows 19.1 ms). Fewer if there
  // would be less than four blocks per thread, but not so few that loading x does not pay off.
  static constexpr std::int64_t smallest_block = 8192;
  static constexpr std::int64_t blocks_per_thread = 4;
  // A tile's x and row sums may each take this part of L2; values, columns and places stream through the rest. With 1
  // MiB (Zen 5) 8-byte x alone fills half of it, and tiles are slower than CSR (uniform 1M x 20, fp64, two threads, ms:
  // 9.0 against 7.9); in fp32 they are as fast (7.2 and 7.4), and R-MAT 20 takes 12.2 and 11.2.
  static constexpr std::int64_t cache_parts = 4;
  // Below, x fits L2 and so do CSR's gathers.
  static constexpr std::int64_t least_x_bytes = std::int64_t{2} << 20;
  // Least entries per tile of 65536 x 65536 on average: the lines of 8 doubles that x has are loaded per tile anyway,
  // and half of them must be used twice.
  static constexpr std::int64_t least_entries = 16384;
  // Least non-empty tiles per block of 65536 rows on average: with fewer, x of a block fits L2 without tiles.
  static constexpr std::int64_t least_scatter = 4;
};

// Start of a tile's data; it ends where the next one starts.
struct tile {
  std::int64_t entries = 0;      // in the values: first those of segments, then single ones
  std::int64_t in_segments = 0;  // in the columns of segments
  std::int64_t segments = 0;
};

// Calls body(tile column, first entry, count) for each run of a row's entries in one tile.
template <class I, class O, class Body>
void for_each_run(const csr_pattern_view<I, O, host>& a, std::int64_t row, Body body) {
  const std::int64_t end = a.offsets[row + 1];
  for (std::int64_t k = a.offsets[row]; k < end;) {
    const std::int64_t column = a.indices[k] / tile_side;
    std::int64_t last = k + 1;
    while (last < end && a.indices[last] / tile_side == column) ++last;
    body(column, k, last - k);
    k = last;
  }
}

struct shape {
  std::int64_t block_rows;
  std::int64_t blocks;
  std::int64_t columns;  // columns per tile
};

shape shape_of(std::int64_t rows, std::int64_t cols, int threads, std::int64_t value_bytes) {
  const std::int64_t cached = host_l2_bytes() / tuning::cache_parts / value_bytes;
  const std::int64_t wanted = std::min(cached, div_up(rows, tuning::blocks_per_thread * threads));
  const std::int64_t block_rows = std::clamp(wanted, tuning::smallest_block, tile_side);
  return {block_rows, div_up(rows, block_rows), div_up(cols, tile_side)};
}

// A matrix's pattern by tiles, and each value's place in the CSR matrix.
class tile_pattern {
 public:
  template <class I, class O>
  tile_pattern(const context<host>& ctx, const csr_pattern_view<I, O, host>& a, const shape& s)
      : ctx_(ctx),
        rows_(a.rows),
        shape_(s),
        tiles_(ctx, s.blocks * s.columns + 1),
        block_entries_(ctx, s.blocks),
        sources_(ctx, a.nnz()) {
    count(a);
    segments_ = {ctx, tiles_[tiles_.size() - 1].segments};
    segment_columns_ = {ctx, tiles_[tiles_.size() - 1].in_segments};
    places_ = {ctx, a.nnz() - segment_columns_.size()};
    array<tile, host> cursors(ctx, tiles_.size());
    array<std::int64_t, host> singles(ctx, tiles_.size());
    parallel_parts(ctx_.threads(), shape_.blocks, [&](std::int64_t b) { fill_block(a, b, cursors, singles); });
  }

  [[nodiscard]] const context<host>& ctx() const { return ctx_; }
  [[nodiscard]] std::int64_t blocks() const { return shape_.blocks; }
  [[nodiscard]] std::int64_t columns() const { return shape_.columns; }
  [[nodiscard]] std::int64_t block_rows() const { return shape_.block_rows; }
  [[nodiscard]] std::int64_t first_row(std::int64_t block) const { return block * shape_.block_rows; }
  [[nodiscard]] std::int64_t last_row(std::int64_t block) const {
    return std::min(rows_, (block + 1) * shape_.block_rows);
  }

  // The products of one tile, added to the sums of its block's rows.
  template <class V>
  [[nodiscard]] tile_job<V> job(std::int64_t block, std::int64_t column, const V* values, const V* x, V* sums) const {
    const tile& from = tiles_[block * shape_.columns + column];
    const tile& to = tiles_[block * shape_.columns + column + 1];
    const std::int64_t in_segments = to.in_segments - from.in_segments;
    return {.segments = segments_.data() + from.segments,
            .segment_count = to.segments - from.segments,
            .segment_columns = segment_columns_.data() + from.in_segments,
            .segment_values = values + from.entries,
            .places = places_.data() + (from.entries - from.in_segments),
            .values = values + from.entries + in_segments,
            .count = to.entries - from.entries - in_segments,
            .x = x + column * tile_side,
            .sums = sums};
  }

  template <class V>
  void copy_values(const V* from, V* to) const {
    parallel_parts(ctx_.threads(), shape_.blocks, [&](std::int64_t b) {
      const std::int64_t last = tiles_[(b + 1) * shape_.columns].entries;
      for (std::int64_t k = tiles_[b * shape_.columns].entries; k < last; ++k) {
        to[k] = from[block_entries_[b] + sources_[k]];
      }
    });
  }

  [[nodiscard]] std::int64_t bytes() const {
    return tiles_.size() * static_cast<std::int64_t>(sizeof(tile)) + block_entries_.size() * 8 + sources_.size() * 4 +
           segments_.size() * 8 + segment_columns_.size() * 2 + places_.size() * 4;
  }

 private:
  template <class I, class O>
  void count(const csr_pattern_view<I, O, host>& a) {
    std::fill(tiles_.begin(), tiles_.end(), tile{});
    parallel_parts(ctx_.threads(), shape_.blocks, [&](std::int64_t b) {
      block_entries_[b] = a.offsets[first_row(b)];
      for (std::int64_t row = first_row(b); row < last_row(b); ++row) {
        for_each_run(a, row, [&](std::int64_t column, std::int64_t, std::int64_t length) {
          tile& t = tiles_[b * shape_.columns + column];
          t.entries += length;
          if (length < tuning::shortest_segment) return;
          t.in_segments += length;
          t.segments += 1;
        });
      }
    });
    tile at;
    for (std::int64_t t = 0; t < tiles_.size(); ++t) {
      const tile size = tiles_[t];
      tiles_[t] = at;
      at.entries += size.entries;
      at.in_segments += size.in_segments;
      at.segments += size.segments;
    }
  }

  template <class I, class O>
  void fill_block(const csr_pattern_view<I, O, host>& a, std::int64_t block, array<tile, host>& cursors,
                  array<std::int64_t, host>& singles) {
    const std::int64_t base = block * shape_.columns;
    for (std::int64_t t = base; t < base + shape_.columns; ++t) {
      cursors[t] = tiles_[t];
      singles[t] = tiles_[t].entries + tiles_[t + 1].in_segments - tiles_[t].in_segments;
    }
    for (std::int64_t row = first_row(block); row < last_row(block); ++row) {
      const auto local = static_cast<std::uint32_t>(row - first_row(block));
      for_each_run(a, row, [&](std::int64_t column, std::int64_t entry, std::int64_t length) {
        tile& at = cursors[base + column];
        const auto source = static_cast<std::uint32_t>(entry - block_entries_[block]);
        const auto local_column = [&](std::int64_t k) {
          return static_cast<std::uint32_t>(a.indices[entry + k] - column * tile_side);
        };
        if (length < tuning::shortest_segment) {
          std::int64_t& to = singles[base + column];
          const std::int64_t before = tiles_[base + column + 1].in_segments;  // entries without a place
          for (std::int64_t k = 0; k < length; ++k, ++to) {
            places_[to - before] = local << 16 | local_column(k);
            sources_[to] = source + static_cast<std::uint32_t>(k);
          }
          return;
        }
        segments_[at.segments++] = {local, static_cast<std::uint32_t>(length)};
        for (std::int64_t k = 0; k < length; ++k) {
          segment_columns_[at.in_segments++] = static_cast<std::uint16_t>(local_column(k));
          sources_[at.entries++] = source + static_cast<std::uint32_t>(k);
        }
      });
    }
  }

  context<host> ctx_;
  std::int64_t rows_;
  shape shape_;
  array<tile, host> tiles_;                  // by blocks of rows, then by columns
  array<std::int64_t, host> block_entries_;  // first CSR entry of each block
  array<std::uint32_t, host> sources_;       // per value: its entry within the block
  array<tile_segment, host> segments_;
  array<std::uint16_t, host> segment_columns_;
  array<std::uint32_t, host> places_;  // per single entry
};

template <class V>
class tiles_executor final : public executor<V> {
 public:
  tiles_executor(tile_pattern tiles, const span<const V, host>& values)
      : tiles_(std::move(tiles)),
        loops_(usable_tile_loops<V>().back()),
        values_(tiles_.ctx(), values.size()),
        sums_(tiles_.ctx(), tiles_.block_rows() * tiles_.ctx().threads()) {
    tiles_.copy_values(values.data(), values_.data());
  }

  void run(V alpha, const V* x, V beta, V* y) const override {
    V* const scratch = sums_.data();
    on_threads(tiles_.ctx().threads(), tiles_.blocks(), [&](part_taker& mine) {
      V* const sums = scratch + mine.slot() * tiles_.block_rows();
      for (std::int64_t b; mine.take(b);) run_block(b, alpha, x, beta, y, sums);
    });
  }

  [[nodiscard]] spmv_storage storage() const noexcept override { return spmv_storage::copied; }
  void update_values(const V* values) override { tiles_.copy_values(values, values_.data()); }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return tiles_.bytes() + (values_.size() + sums_.size()) * static_cast<std::int64_t>(sizeof(V));
  }

 private:
  void run_block(std::int64_t block, V alpha, const V* x, V beta, V* y, V* sums) const {
    const std::int64_t first = tiles_.first_row(block);
    const std::int64_t rows = tiles_.last_row(block) - first;
    std::fill_n(sums, rows, V{});
    for (std::int64_t column = 0; column < tiles_.columns(); ++column) {
      loops_.add(tiles_.job(block, column, values_.data(), x, sums));
    }
    for (std::int64_t r = 0; r < rows; ++r) update(y[first + r], alpha, sums[r], beta);
  }

  tile_pattern tiles_;
  tile_loops<V> loops_;
  array<V, host> values_;
  mutable array<V, host> sums_;  // written by each run: one block per thread
};

// Non-empty tiles per block of 65536 rows, estimated from every 64th row.
template <class I, class O>
double scatter(const context<host>& ctx, const csr_pattern_view<I, O, host>& a) {
  const std::int64_t columns = div_up(static_cast<std::int64_t>(a.cols), tile_side);
  const std::int64_t blocks = div_up(static_cast<std::int64_t>(a.rows), tile_side);
  array<std::int64_t, host> seen(ctx, columns);  // the last block with an entry in that tile column
  std::fill(seen.begin(), seen.end(), std::int64_t{-1});
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < a.rows; row += 64) {
    for_each_run(a, row, [&](std::int64_t column, std::int64_t, std::int64_t) {
      if (seen[column] == row / tile_side) return;
      seen[column] = row / tile_side;
      ++count;
    });
  }
  return static_cast<double>(count) / static_cast<double>(blocks);
}

// Depends on the matrix only, not on the height of blocks: a plan's choice must not depend on the number of threads.
template <class I, class O>
std::string reason_against_tiles(const context<host>& ctx, const csr_pattern_view<I, O, host>& a,
                                 std::int64_t value_bytes, copy_demand demand) {
  constexpr std::int64_t most_entries = std::int64_t{1} << 32;
  const std::int64_t rows = a.rows;
  for (std::int64_t first = 0; first < rows; first += tile_side) {
    const std::int64_t last = std::min(rows, first + tile_side);
    if (a.offsets[last] - static_cast<std::int64_t>(a.offsets[first]) > most_entries) {
      return fmt::format("{} rows hold more than 2^32 entries", tile_side);
    }
  }
  constexpr std::int64_t free_tiles = 1 << 16;
  const std::int64_t columns = div_up(static_cast<std::int64_t>(a.cols), tile_side);
  const std::int64_t blocks = div_up(rows, tuning::smallest_block);
  if (columns > (free_tiles + a.nnz()) / blocks) {
    return fmt::format("{} x {} tiles for {} entries", blocks, columns, a.nnz());
  }
  if (demand == copy_demand::by_name) return {};
  const std::int64_t tile_bytes = tile_side * value_bytes;
  if (tile_bytes > host_l2_bytes() / tuning::cache_parts) {
    return fmt::format("a tile's x of {} bytes is too large for an L2 cache of {} bytes", tile_bytes, host_l2_bytes());
  }
  const std::int64_t x_bytes = static_cast<std::int64_t>(a.cols) * value_bytes;
  if (x_bytes < tuning::least_x_bytes) return fmt::format("x of {} bytes fits the caches", x_bytes);
  const std::int64_t squares = div_up(rows, tile_side) * columns;
  if (a.nnz() / squares < tuning::least_entries) {
    return fmt::format("only {} entries per 65536 x 65536 tile", a.nnz() / squares);
  }
  const double tiles = scatter(ctx, a);
  if (tiles < static_cast<double>(tuning::least_scatter)) {
    return fmt::format("65536 rows have entries in only {:.1f} ranges of 65536 columns", tiles);
  }
  return {};
}

}  // namespace

template <class V, class I, class O>
copy_attempt<V> compress_tiles(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix,
                               copy_demand demand) {
  constexpr std::int64_t value_bytes = sizeof(V);
  std::string why_not = reason_against_tiles<I, O>(ctx, matrix, value_bytes, demand);
  if (!why_not.empty()) return {nullptr, std::move(why_not)};
  const shape s = shape_of(matrix.rows, matrix.cols, ctx.threads(), value_bytes);
  return {std::make_unique<tiles_executor<V>>(tile_pattern(ctx, matrix, s), matrix.values),
          fmt::format("scattered columns, in {} x {} tiles whose part of x fits the caches", s.blocks, s.columns)};
}

#define INSTANTIATE(V, I, O) \
  template copy_attempt<V> compress_tiles(const context<host>&, const csr_view<const V, I, O, host>&, copy_demand);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
