// Synthetic matrices: every entry is a pure function of spec and position, so threads and parts are independent.
//
// Sorted kinds (grids, Laplacians, bands, paths, ...) compute a row's entries; chunks of rows are counted, scanned and
// filled. Random kinds have entries at known positions. O(entries) time, 8 bytes per chunk (powerlaw: per row).
#include <spargo/formats/convert.hpp>
#include <spargo/io/generate.hpp>

#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "io/generate/device.hpp"
#include "io/generate/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace spargo {

namespace {

using detail::counter_random;
using detail::generator_kind;
using detail::generator_spec;
using detail::random_permutation;
using detail::stream_imaginary;
using detail::stream_order;
using detail::stream_structure;
using detail::stream_values;

constexpr std::int64_t chunk_rows = 4096;  // large enough to hide the loop, small enough to distribute 2^20 rows

// Entries [first, last) of all; positions are global.
template <class V, class I>
struct sink {
  coo_matrix<V, I, host> entries;
  std::int64_t first = 0;
  std::int64_t last = 0;
  I* rows = nullptr;
  I* cols = nullptr;
  V* values = nullptr;  // null for a pattern

  sink(const context<host>& ctx, const generator_spec& s, std::int64_t from, std::int64_t to)
      : entries(ctx, static_cast<I>(s.rows), static_cast<I>(s.cols), to - from),
        first(from),
        last(to),
        rows(entries.row_indices().data()),
        cols(entries.col_indices().data()),
        values(entries.values().data()) {}

  void put(std::int64_t at, std::int64_t i, std::int64_t j) const {
    rows[at - first] = static_cast<I>(i);
    cols[at - first] = static_cast<I>(j);
  }
  void value(std::int64_t at, double x) const {
    if constexpr (!is_pattern<V>) values[at - first] = V(static_cast<decltype(std::abs(V{}))>(x));
  }
  void random_value(std::int64_t at, const counter_random& re, const counter_random& im) const {
    const auto counter = static_cast<std::uint64_t>(at);
    if constexpr (complex_type<V>) {
      using real = typename V::value_type;
      values[at - first] = V(static_cast<real>(re.unit(counter)), static_cast<real>(im.unit(counter)));
    } else if constexpr (!is_pattern<V>) {
      values[at - first] = static_cast<V>(re.unit(counter));
    }
  }
};

// --- Kinds with computed rows ---------------------------------------------------------------------------------------

// Each calls emit(row, column, value) in ascending order.
template <class Emit>
void laplacian27_row(const generator_spec& s, std::int64_t row, Emit emit) {
  const std::int64_t x = row % s.k;
  const std::int64_t y = row / s.k % s.m;
  const std::int64_t z = row / s.k / s.m;
  for (std::int64_t dz = -1; dz <= 1; ++dz) {
    if (z + dz < 0 || z + dz >= s.n) continue;
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      if (y + dy < 0 || y + dy >= s.m) continue;
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        if (x + dx < 0 || x + dx >= s.k) continue;
        const std::int64_t column = row + (dz * s.m + dy) * s.k + dx;
        emit(row, column, column == row ? 26.0 : -1.0);
      }
    }
  }
}

// Neighbours along each axis, and the diagonal for a Laplacian (2 x dimensions); `off`: value of the neighbours.
template <class Emit>
void grid_row(const generator_spec& s, double diagonal, double off, std::int64_t row, Emit emit) {
  const std::int64_t x = row % s.k;
  const std::int64_t y = row / s.k % s.m;
  const std::int64_t z = row / s.k / s.m;
  if (z > 0) emit(row, row - s.m * s.k, off);
  if (y > 0) emit(row, row - s.k, off);
  if (x > 0) emit(row, row - 1, off);
  if (diagonal != 0.0) emit(row, row, diagonal);
  if (x + 1 < s.k) emit(row, row + 1, off);
  if (y + 1 < s.m) emit(row, row + s.k, off);
  if (z + 1 < s.n) emit(row, row + s.m * s.k, off);
}

template <class Emit>
void known_row(const generator_spec& s, std::int64_t row, Emit emit) {
  switch (s.kind) {
    case generator_kind::grid2d:
    case generator_kind::grid3d:
      return grid_row(s, 0.0, 1.0, row, emit);
    case generator_kind::laplacian2d:
      return grid_row(s, 4.0, -1.0, row, emit);
    case generator_kind::laplacian3d:
      if (s.points == 27) return laplacian27_row(s, row, emit);
      return grid_row(s, 6.0, -1.0, row, emit);
    case generator_kind::banded:
      for (std::int64_t j = std::max<std::int64_t>(0, row - s.degree / 2);
           j <= std::min(s.cols - 1, row + s.degree / 2); ++j) {
        emit(row, j, 0.0);
      }
      return;
    case generator_kind::path:
      if (row > 0) emit(row, row - 1, 1.0);
      if (row + 1 < s.n) emit(row, row + 1, 1.0);
      return;
    case generator_kind::star:
      if (row > 0) return emit(row, std::int64_t{0}, 1.0);
      for (std::int64_t j = 1; j < s.n; ++j) emit(row, j, 1.0);
      return;
    case generator_kind::complete:
      for (std::int64_t j = 0; j < s.n; ++j) {
        if (j != row) emit(row, j, 1.0);
      }
      return;
    default:
      return;
  }
}

template <class Emit>
void known_rows(const generator_spec& s, std::int64_t chunk, const Emit& emit) {
  const std::int64_t last = std::min(s.rows, (chunk + 1) * chunk_rows);
  for (std::int64_t row = chunk * chunk_rows; row < last; ++row) known_row(s, row, emit);
}

// Exclusive prefix sum of the chunks' entries, with the total.
array<std::int64_t, host> known_starts(const context<host>& ctx, const generator_spec& s) {
  const std::int64_t chunks = div_up(s.rows, chunk_rows);
  array<std::int64_t, host> starts(ctx, chunks + 1);
  starts[0] = 0;
  detail::parallel_parts(ctx.threads(), chunks, [&](std::int64_t chunk) {
    std::int64_t count = 0;
    known_rows(s, chunk, [&](std::int64_t, std::int64_t, double) { ++count; });
    starts[chunk + 1] = count;
  });
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) starts[chunk + 1] += starts[chunk];
  return starts;
}

template <class V, class I>
coo_matrix<V, I, host> make_known_rows(const context<host>& ctx, const generator_spec& s, std::int64_t part,
                                       std::int64_t count_of_parts) {
  const array<std::int64_t, host> starts = known_starts(ctx, s);
  const detail::parts shares{starts.size() - 1, count_of_parts};
  const counter_random re(s.seed, stream_values);
  const counter_random im(s.seed, stream_imaginary);
  const bool random = s.kind == generator_kind::banded;
  const std::int64_t first = shares.first(part);
  sink<V, I> to(ctx, s, starts[first], starts[shares.last(part)]);
  detail::parallel_parts(ctx.threads(), shares.last(part) - first, [&](std::int64_t p) {
    const std::int64_t chunk = first + p;
    std::int64_t at = starts[chunk];
    known_rows(s, chunk, [&](std::int64_t i, std::int64_t j, double value) {
      to.put(at, i, j);
      if (random) {
        to.random_value(at, re, im);
      } else {
        to.value(at, value);
      }
      ++at;
    });
  });
  return std::move(to.entries);
}

// --- Random kinds ------------------------------------------------------------

// `Places`: a class of entries.hpp.
template <class Places, class V, class I>
void fill_placed(const context<host>& ctx, const generator_spec& s, const sink<V, I>& to) {
  const Places place(s);
  const counter_random re(s.seed, stream_values);
  const counter_random im(s.seed, stream_imaginary);
  detail::parallel_for(ctx.threads(), to.last - to.first, detail::grain::rows, [&](std::int64_t k) {
    const std::int64_t e = to.first + k;
    const auto [row, col] = place(e);
    to.put(e, row, col);
    to.random_value(e, re, im);
  });
}

// x^(quarters / 4) by multiplications and square roots, which round identically everywhere (unlike `pow`).
double power(double x, int quarters) {
  double result = 1.0;
  for (int q = 0; q < quarters / 4; ++q) result *= x;
  if (quarters % 4 >= 2) result *= std::sqrt(x);
  if (quarters % 2 == 1) result *= std::sqrt(std::sqrt(x));
  return result;
}

// Row lengths by rank: length(r) = min(longest, floor(c / (r + 1)^alpha)). Rank 0 has exactly `longest`; c is the
// largest integer for which the lengths sum to at most rows * degree; the missing entries go to the ranks one by one.
void powerlaw_lengths(const context<host>& ctx, const generator_spec& s, span<std::int64_t, host> lengths) {
  const auto length = [&](std::int64_t rank, std::int64_t c) {
    const double share = static_cast<double>(c) / power(static_cast<double>(rank + 1), s.quarter_alpha);
    return rank == 0 ? s.longest : std::min(s.longest, static_cast<std::int64_t>(share));
  };
  const auto total = [&](std::int64_t c) {
    return detail::parallel_reduce(
        ctx.threads(), s.rows, detail::grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t sum = 0;
          for (std::int64_t rank = first; rank < last; ++rank) sum += length(rank, c);
          return sum;
        },
        std::plus<>{});
  };
  std::int64_t least = 0;
  std::int64_t most = std::int64_t{1} << 52;
  while (most - least > 1) {
    const std::int64_t middle = least + (most - least) / 2;
    (total(middle) <= s.entries ? least : most) = middle;
  }
  std::int64_t missing = s.entries - total(least);
  for (std::int64_t rank = 0; rank < s.rows; ++rank) lengths[rank] = length(rank, least);
  while (missing > 0) {
    const std::int64_t before = missing;
    for (std::int64_t rank = 1; rank < s.rows && missing > 0; ++rank) {
      if (lengths[rank] >= s.longest) continue;
      ++lengths[rank];
      --missing;
    }
    if (missing == before) break;  // every row is full: rows * longest == entries was the maximum
  }
}

template <class V, class I>
coo_matrix<V, I, host> make_powerlaw(const context<host>& ctx, const generator_spec& s, std::int64_t part,
                                     std::int64_t count_of_parts) {
  const random_permutation place(s.rows, detail::mix_bits(s.seed ^ stream_order));
  array<std::int64_t, host> starts(ctx, s.rows + 1);
  {
    array<std::int64_t, host> lengths(ctx, s.rows);
    powerlaw_lengths(ctx, s, lengths);
    starts[0] = 0;
    for (std::int64_t row = 0; row < s.rows; ++row) starts[row + 1] = starts[row] + lengths[place(row)];
  }
  const counter_random draws(s.seed, stream_structure);
  const counter_random re(s.seed, stream_values);
  const counter_random im(s.seed, stream_imaginary);
  const detail::parts shares{s.rows, count_of_parts};
  const std::int64_t first = shares.first(part);
  sink<V, I> to(ctx, s, starts[first], starts[shares.last(part)]);
  const detail::parts chunks = detail::chunks_of(shares.last(part) - first, chunk_rows);
  detail::parallel_parts(ctx.threads(), chunks.count, [&](std::int64_t p) {
    for (std::int64_t row = first + chunks.first(p); row < first + chunks.last(p); ++row) {
      for (std::int64_t e = starts[row]; e < starts[row + 1]; ++e) {
        to.put(e, row, draws.below(static_cast<std::uint64_t>(e), s.cols));
        to.random_value(e, re, im);
      }
    }
  });
  return std::move(to.entries);
}

// Random kinds have entries at known positions.
template <class V, class I, class Fill>
coo_matrix<V, I, host> make_placed(const context<host>& ctx, const generator_spec& s, std::int64_t part,
                                   std::int64_t count_of_parts, const Fill& fill) {
  const detail::parts shares{s.entries, count_of_parts};
  sink<V, I> to(ctx, s, shares.first(part), shares.last(part));
  fill(ctx, s, to);
  return std::move(to.entries);
}

// Parses a spec whose dimensions must fit I.
template <class I>
generator_spec parse_for(std::string_view spec) {
  const generator_spec s = detail::parse_generator_spec(spec);
  if (std::max(s.rows, s.cols) > std::numeric_limits<I>::max()) {
    throw error(error_code::unsupported,
                fmt::format("{}: {} x {} does not fit {}-bit indices", spec, s.rows, s.cols, 8 * sizeof(I)));
  }
  return s;
}

}  // namespace

template <entry_type V, index_type I>
coo_matrix<V, I, host> generate_part(const context<host>& ctx, std::string_view spec, std::int64_t part,
                                     std::int64_t count) try {
  SPARGO_EXPECTS(part >= 0 && part < count, fmt::format("generate: part {} of {}", part, count));
  const generator_spec s = parse_for<I>(spec);
  switch (s.kind) {
    case generator_kind::rmat:
      return make_placed<V, I>(ctx, s, part, count, fill_placed<detail::rmat_entries, V, I>);
    case generator_kind::uniform:
      return make_placed<V, I>(ctx, s, part, count, fill_placed<detail::uniform_entries, V, I>);
    case generator_kind::powerlaw:
      return make_powerlaw<V, I>(ctx, s, part, count);
    default:
      return make_known_rows<V, I>(ctx, s, part, count);
  }
} catch (...) {
  detail::rethrow("generate");
}

template <entry_type V, index_type I>
coo_matrix<V, I, host> generate(const context<host>& ctx, std::string_view spec) {
  return generate_part<V, I>(ctx, spec, 0, 1);
}

template <entry_type V, index_type I>
coo_matrix<V, I, device> generate(const context<device>& ctx, const context<host>& making, std::string_view spec) try {
  if constexpr (detail::is_built<device>) {
    const generator_spec s = parse_for<I>(spec);
    if (detail::is_made_on_device(s.kind)) return detail::generate_on_device<V, I>(ctx, s);
    const auto made = generate<V, I>(making, spec);
    return to_device<V, I>(ctx, made.view());
  } else {
    detail::no_device("generate");
  }
} catch (...) {
  detail::rethrow("generate");
}

#define INSTANTIATE(V, I)                                                                                           \
  template coo_matrix<V, I, host> generate<V, I>(const context<host>&, std::string_view);                           \
  template coo_matrix<V, I, device> generate<V, I>(const context<device>&, const context<host>&, std::string_view); \
  template coo_matrix<V, I, host> generate_part<V, I>(const context<host>&, std::string_view, std::int64_t,         \
                                                      std::int64_t);
SPARGO_FOR_EACH_ENTRY_INDEX(INSTANTIATE)

}  // namespace spargo
