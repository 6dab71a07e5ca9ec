// Orders of rows, and the envelope of a matrix under one.
//
// Reverse Cuthill-McKee in parallel: the serial search visits the new neighbours of each vertex in turn by ascending
// degree. So a level is the set of new vertices sorted by (position of the first neighbour in the level before, degree,
// number). A parallel level finds that neighbour by an atomic minimum, groups the new vertices by it, and sorts each
// group; small levels are done serially. Both give the same order.
#include <spargo/graph/reorder.hpp>

#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"
#include "graph/structure/reorder_device.hpp"
#include "primitives/element.hpp"

#include <spargo/core/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace spargo {

namespace {

constexpr enum_row<reorder_method> method_rows[] = {
    {reorder_method::rcm, "rcm"},
    {reorder_method::degree, "degree"},
    {reorder_method::rabbit, "rabbit"},
    {reorder_method::random, "random"},
};

struct tuning {
  // Edges of a level that all threads share; a smaller one takes less than waking them (some 0.3 ms).
  static constexpr std::int64_t parallel_edges = std::int64_t{1} << 17;
};

template <class I>
void lower(I& to, I value) {
  std::atomic_ref<I> at(to);
  I now = at.load(std::memory_order_relaxed);
  while (value < now && !at.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
}

// Breadth-first searches that visit vertices in Cuthill and McKee's order.
template <class I, class O>
class ordered_search {
 public:
  ordered_search(const context<host>& ctx, const csr_pattern_view<I, O, host>& out)
      : threads_(ctx.threads()), out_(out), seen_(ctx, out.rows), parent_(ctx, out.rows), children_(ctx, out.rows + 1) {
    std::fill(seen_.begin(), seen_.end(), stamp{0});
    std::fill(parent_.begin(), parent_.end(), none);
  }

  [[nodiscard]] bool is_seen(I v) const { return seen_[v] != 0; }
  [[nodiscard]] O degree(I v) const { return out_.offsets[std::int64_t{v} + 1] - out_.offsets[v]; }
  [[nodiscard]] std::int64_t levels() const { return levels_; }

  // The vertices of the component in `order` from 0 on; returns their number. Visits vertices of earlier searches anew.
  std::int64_t run(I start, I* order) {
    ++stamp_;
    seen_[start] = stamp_;
    order[0] = start;
    std::int64_t first = 0, last = 1;
    std::int64_t edges = degree(start);
    levels_ = 0;
    while (first < last) {
      interruption::look();
      last_level_ = first;
      ++levels_;
      const bool is_large = threads_ > 1 && edges >= tuning::parallel_edges;
      const std::int64_t next = is_large ? expand_in_parallel(order, first, last) : expand(order, first, last);
      first = last;
      last = next;
      edges = 0;
      for (std::int64_t k = first; k < last; ++k) edges += degree(order[k]);
    }
    return last;
  }

  // Of the last level of the last search: the vertex of least degree, then least number.
  [[nodiscard]] I farthest(const I* order, std::int64_t size) const {
    return *std::min_element(order + last_level_, order + size, [&](I v, I w) { return precedes(v, w); });
  }

  // max |position - position| over the component's edges; `positions` is scratch.
  [[nodiscard]] std::int64_t bandwidth(const I* order, std::int64_t size, I* positions) const {
    for (std::int64_t k = 0; k < size; ++k) positions[order[k]] = static_cast<I>(k);
    const auto widest = [&](std::int64_t first, std::int64_t last) {
      std::int64_t width = 0;
      for (std::int64_t k = first; k < last; ++k) {
        const I v = order[k];
        for (O e = out_.offsets[v]; e < out_.offsets[std::int64_t{v} + 1]; ++e) {
          width = std::max<std::int64_t>(width, k - positions[out_.indices[e]]);
        }
      }
      return width;
    };
    return detail::parallel_reduce<std::int64_t>(threads_, size, detail::grain::rows, 0, widest,
                                                 [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }

 private:
  using stamp = std::make_unsigned_t<I>;  // some five searches for a component of three vertices or more fit
  static constexpr I none = std::numeric_limits<I>::max();

  [[nodiscard]] bool precedes(I v, I w) const { return degree(v) != degree(w) ? degree(v) < degree(w) : v < w; }
  void sort(I* first, I* last) const {
    if (last - first > 1) std::sort(first, last, [&](I v, I w) { return precedes(v, w); });
  }

  // Returns the end of the next level.
  std::int64_t expand(I* order, std::int64_t first, std::int64_t last) {
    std::int64_t found = last;
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t begin = found;
      for (O e = out_.offsets[order[k]]; e < out_.offsets[std::int64_t{order[k]} + 1]; ++e) {
        const I v = out_.indices[e];
        if (seen_[v] == stamp_) continue;
        seen_[v] = stamp_;
        order[found++] = v;
      }
      sort(order + begin, order + found);
    }
    return found;
  }

  std::int64_t expand_in_parallel(I* order, std::int64_t first, std::int64_t last) {
    const std::int64_t width = last - first;
    const std::int64_t shares = std::min<std::int64_t>(width, std::int64_t{16} * threads_);
    const detail::parts parts{width, shares};
    lists_.resize(static_cast<std::size_t>(shares));
    // 1. The first parent of each new vertex; whoever lowers it from `none` lists the vertex.
    detail::parallel_parts(threads_, shares, [&](std::int64_t p) {
      std::vector<I>& mine = lists_[static_cast<std::size_t>(p)];
      mine.clear();
      for (std::int64_t k = parts.first(p); k < parts.last(p); ++k) {
        const I u = order[first + k];
        for (O e = out_.offsets[u]; e < out_.offsets[std::int64_t{u} + 1]; ++e) {
          const I v = out_.indices[e];
          if (seen_[v] == stamp_) continue;
          I expected = none;
          if (std::atomic_ref<I>(parent_[v]).compare_exchange_strong(expected, static_cast<I>(k))) {
            mine.push_back(v);
          } else {
            lower(parent_[v], static_cast<I>(k));
          }
        }
      }
    });
    // 2. Places by parent.
    std::fill_n(children_.begin(), width + 1, O{0});
    for_listed(shares, [&](I v) { std::atomic_ref<O>(children_[std::int64_t{parent_[v]} + 1]).fetch_add(1); });
    for (std::int64_t k = 0; k < width; ++k) children_[k + 1] += children_[k];
    const std::int64_t found = last + children_[width];
    for_listed(shares, [&](I v) {
      const O place = std::atomic_ref<O>(children_[parent_[v]]).fetch_add(1);
      order[last + place] = v;
    });
    // 3. Each group by degree; children_[k] is now its end.
    detail::parallel_parts(threads_, shares, [&](std::int64_t p) {
      for (std::int64_t k = parts.first(p); k < parts.last(p); ++k) {
        sort(order + last + (k > 0 ? children_[k - 1] : O{0}), order + last + children_[k]);
      }
    });
    for_listed(shares, [&](I v) {
      seen_[v] = stamp_;
      parent_[v] = none;
    });
    return found;
  }

  template <class F>
  void for_listed(std::int64_t shares, const F& f) {
    detail::parallel_parts(threads_, shares, [&](std::int64_t p) {
      for (const I v : lists_[static_cast<std::size_t>(p)]) f(v);
    });
  }

  int threads_;
  csr_pattern_view<I, O, host> out_;
  array<stamp, host> seen_;  // [vertex] number of the last search that visited it
  array<I, host> parent_;    // [vertex] position in the level of its first neighbour there, during a level
  array<O, host> children_;  // [position] places of its new neighbours
  std::vector<std::vector<I>> lists_;
  stamp stamp_ = 0;
  std::int64_t levels_ = 0;
  std::int64_t last_level_ = 0;
};

void expect_undirected(direction_kind direction) {
  SPARGO_EXPECTS(direction == direction_kind::undirected, "reverse_cuthill_mckee: expected an undirected graph");
}

void expect_square(std::int64_t rows, std::int64_t cols) {
  SPARGO_EXPECTS(rows == cols, fmt::format("envelope: a matrix of {} x {} (expected a square one)", rows, cols));
}

void expect_order_of(std::int64_t rows, std::int64_t size) {
  SPARGO_EXPECTS(size == rows, fmt::format("envelope: an order of {} rows for a matrix of {}", size, rows));
}

[[noreturn]] void refuse_order(std::int64_t row, std::int64_t position) {
  throw error(error_code::invalid_argument,
              fmt::format("envelope: the order has {} at position {} (expected each row once)", row, position));
}

// Of an operation on a device.
void expect_supported_size(const char* operation, std::int64_t rows) {
  if (rows <= detail::reorder::most_rows) return;
  throw error(error_code::unsupported, fmt::format("{}: {} rows on a device (expected at most {})", operation, rows,
                                                   detail::reorder::most_rows));
}

// One component in Cuthill and McKee's order, at `order`; returns its size. other: scratch of the same size.
template <class I, class O>
std::int64_t order_component(ordered_search<I, O>& search, I start, I* order, I* other, I* positions) {
  const std::int64_t size = search.run(start, order);
  if (size <= 2) return size;
  std::int64_t levels = search.levels();
  I now = search.farthest(order, size);
  if (now == start) return size;
  std::int64_t deepest = 0;
  while (true) {  // George and Liu: on to the far end while that is farther
    (void)search.run(now, other);
    deepest = search.levels();
    if (deepest <= levels) break;
    levels = deepest;
    now = search.farthest(other, size);
  }
  if (search.bandwidth(other, size, positions) < search.bandwidth(order, size, positions)) {
    std::copy_n(other, size, order);
  }
  return size;
}

}  // namespace

template <>
enum_table<reorder_method> enum_rows() noexcept {
  return {method_rows, std::ssize(method_rows)};
}

template <index_type I, index_type O>
array<I, host> degree_order(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  const auto& out = g.out;
  array<I, host> order(ctx, out.rows);
  std::iota(order.begin(), order.end(), I{0});
  const auto degree = [&](I v) { return out.offsets[std::int64_t{v} + 1] - out.offsets[v]; };
  std::stable_sort(order.begin(), order.end(), [&](I v, I w) { return degree(v) > degree(w); });
  return order;
} catch (...) {
  detail::rethrow("degree_order");
}

template <index_type I, index_type O>
array<I, host> reverse_cuthill_mckee(const context<host>& ctx, const graph_view<I, O, host>& g) try {
  expect_undirected(g.direction);
  const array<I, host> by_degree = degree_order(ctx, g);  // falling; starts are taken from its end
  ordered_search<I, O> search(ctx, g.out);
  const std::int64_t n = g.out.rows;
  array<I, host> order(ctx, n), other(ctx, n), positions(ctx, n);
  std::int64_t found = 0;
  // Ascending degree, ties by number: runs of one degree backwards, each forwards.
  for (std::int64_t end = n; end > 0;) {
    std::int64_t begin = end - 1;
    while (begin > 0 && search.degree(by_degree[begin - 1]) == search.degree(by_degree[end - 1])) --begin;
    for (std::int64_t k = begin; k < end; ++k) {
      if (search.is_seen(by_degree[k])) continue;
      found += order_component<I, O>(search, by_degree[k], order.data() + found, other.data(), positions.data());
    }
    end = begin;
  }
  std::reverse(order.begin(), order.end());
  return order;
} catch (...) {
  detail::rethrow("reverse_cuthill_mckee");
}

template <index_type I>
array<I, host> random_order(const context<host>& ctx, std::int64_t size, std::uint64_t seed) try {
  SPARGO_EXPECTS(size >= 0 && size <= std::numeric_limits<I>::max(),
                 fmt::format("random_order: {} elements are out of range", size));
  array<I, host> order(ctx, size);
  std::iota(order.begin(), order.end(), I{0});
  for (std::int64_t k = size - 1; k > 0; --k) {
    seed += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    std::swap(order[k], order[static_cast<std::int64_t>(z % (static_cast<std::uint64_t>(k) + 1))]);
  }
  return order;
} catch (...) {
  detail::rethrow("random_order");
}

template <index_type I, index_type O>
matrix_envelope envelope(const context<host>& ctx, const csr_pattern_view<I, O, host>& m,
                         std::type_identity_t<span<const I, host>> order) try {
  expect_square(m.rows, m.cols);
  const bool is_permuted = !order.empty() || m.rows == 0;
  array<I, host> position(ctx, m.rows);
  if (is_permuted) {
    expect_order_of(m.rows, order.size());
    std::fill(position.begin(), position.end(), I{-1});
    for (std::int64_t k = 0; k < m.rows; ++k) {
      const I row = order[k];
      if (row < 0 || row >= m.rows || position[row] >= 0) refuse_order(row, k);
      position[row] = static_cast<I>(k);
    }
  } else {
    std::iota(position.begin(), position.end(), I{0});
  }
  array<I, host> least(ctx, m.rows);
  std::iota(least.begin(), least.end(), I{0});
  matrix_envelope found;
  for (std::int64_t row = 0; row < m.rows; ++row) {
    const I i = position[row];
    for (O e = m.offsets[row]; e < m.offsets[row + 1]; ++e) {
      const I j = position[m.indices[e]];
      found.bandwidth = std::max<std::int64_t>(found.bandwidth, i < j ? j - i : i - j);
      I& lowest = least[std::max(i, j)];
      lowest = std::min(lowest, std::min(i, j));
    }
  }
  for (std::int64_t i = 0; i < m.rows; ++i) found.profile += i - least[i];
  return found;
} catch (...) {
  detail::rethrow("envelope");
}

template <index_type I, index_type O>
array<I, device> reverse_cuthill_mckee(const context<device>& ctx, const graph_view<I, O, device>& g) try {
  expect_undirected(g.direction);
  expect_supported_size("reverse_cuthill_mckee", g.out.rows);
  if constexpr (detail::is_built<device>) {
    return detail::reorder::reverse_cuthill_mckee(ctx, g);
  } else {
    detail::no_device("reverse_cuthill_mckee");
  }
} catch (...) {
  detail::rethrow("reverse_cuthill_mckee");
}

template <index_type I, index_type O>
array<I, device> degree_order(const context<device>& ctx, const graph_view<I, O, device>& g) try {
  expect_supported_size("degree_order", g.out.rows);
  if constexpr (detail::is_built<device>) {
    using detail::reorder::length_order;
    return detail::reorder::as_indices<I>(ctx, detail::reorder::by_length(ctx, g.out, length_order::descending));
  } else {
    detail::no_device("degree_order");
  }
} catch (...) {
  detail::rethrow("degree_order");
}

template <index_type I>
array<I, device> random_order(const context<device>& ctx, std::int64_t size, std::uint64_t seed) {
  return to_device(ctx, random_order<I>(context<host>({.threads = 1}), size, seed));
}

template <index_type I, index_type O>
matrix_envelope envelope(const context<device>& ctx, const csr_pattern_view<I, O, device>& m,
                         std::type_identity_t<span<const I, device>> order) try {
  expect_square(m.rows, m.cols);
  expect_supported_size("envelope", m.rows);
  if constexpr (detail::is_built<device>) {
    if (!order.empty()) {
      expect_order_of(m.rows, order.size());
      const std::int64_t fault = detail::reorder::first_fault<I>(ctx, order);
      if (fault >= 0) refuse_order(detail::element<I>(ctx, order, fault), fault);
    }
    return detail::reorder::envelope<I, O>(ctx, m, order);
  } else {
    detail::no_device("envelope");
  }
} catch (...) {
  detail::rethrow("envelope");
}

#define INSTANTIATE(I, O)                                                                                         \
  template array<I, host> reverse_cuthill_mckee<I, O>(const context<host>&, const graph_view<I, O, host>&);       \
  template array<I, device> reverse_cuthill_mckee<I, O>(const context<device>&, const graph_view<I, O, device>&); \
  template array<I, host> degree_order<I, O>(const context<host>&, const graph_view<I, O, host>&);                \
  template array<I, device> degree_order<I, O>(const context<device>&, const graph_view<I, O, device>&);          \
  template matrix_envelope envelope<I, O>(const context<host>&, const csr_pattern_view<I, O, host>&,              \
                                          std::type_identity_t<span<const I, host>>);                             \
  template matrix_envelope envelope<I, O>(const context<device>&, const csr_pattern_view<I, O, device>&,          \
                                          std::type_identity_t<span<const I, device>>);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#define INSTANTIATE_INDEX(I)                                                                  \
  template array<I, host> random_order<I>(const context<host>&, std::int64_t, std::uint64_t); \
  template array<I, device> random_order<I>(const context<device>&, std::int64_t, std::uint64_t);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_INDEX)

}  // namespace spargo
