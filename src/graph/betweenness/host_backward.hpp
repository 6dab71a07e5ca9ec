// Dependencies, from the last level to the first: each vertex sums over its out-neighbours in the next level.
//
// With sigma the number of shortest paths, the dependency of a source on u is sigma(u) times the sum of (1 +
// dependency(v)) / sigma(v) over its successors v. These quotients replace the counts of a finished level: an edge
// costs one gathered term. The value of an edge is sigma(u) times its term and takes a second traversal, with the
// sources' rows. Sums follow row order and a vertex adds its levels in order: no result depends on the thread count.
#pragma once

#include "graph/betweenness/host_search.hpp"

#include <type_traits>

namespace spargo::detail::betweenness {

template <class I, class O, int L>
class host_backward {
 public:
  // own: contribution of a path to its last vertex. edges: null if edge values are not wanted.
  host_backward(host_search<I, O, L>& s, double own, double* values, double* edges = nullptr)
      : s_(s), own_(own), values_(values), edges_(edges) {}

  // Adds the dependencies to the values. The members of all levels are clear before and after.
  void run(std::int64_t levels) {
    for (std::int64_t depth = levels - 1; depth > 0; --depth) {
      if (depth + 1 < levels && s_.is_wide(depth + 1)) {
        step<wide>(depth, levels);
      } else {
        step<plain>(depth, levels);
      }
    }
    if (edges_ != nullptr && levels > 1) {
      for (std::int64_t j = s_.begin(0); j < s_.begin(1); ++j) add_row(0, j);
    }
    for (std::int64_t depth = 1; depth < std::min<std::int64_t>(levels, 3); ++depth) {
      clear(depth, s_.begin(depth), s_.begin(depth + 1));
    }
  }

 private:
  using plain = plain_sums<L>;
  using wide = wide_sums<L>;

  void clear(std::int64_t depth, std::int64_t first, std::int64_t last) {
    lane_set* const members = s_.members(depth);
    for (std::int64_t j = first; j < last; ++j) members[s_.vertices()[j]] = 0;
  }

  template <class Sums>
  void step(std::int64_t depth, std::int64_t levels) {
    const std::int64_t first = s_.begin(depth);
    const std::int64_t last = s_.begin(depth + 1);
    const bool ends = depth + 1 == levels;
    // No thread reads the level after the next any more.
    const std::int64_t done = depth + 2 < levels ? s_.begin(depth + 2) : 0;
    const std::int64_t done_end = depth + 2 < levels ? s_.begin(depth + 3) : 0;
    const parts shares = chunks_of(last - first, host_tuning::chunk);
    const parts cleared = chunks_of(done_end - done, host_tuning::pulled_chunk);
    parallel_parts(
        threads_for(first, last), shares.count + cleared.count,
        [&](std::int64_t p) {
          if (p >= shares.count) {
            const std::int64_t q = p - shares.count;
            clear(depth + 2, done + cleared.first(q), done + cleared.last(q));
            return;
          }
          for (std::int64_t j = first + shares.first(p); j < first + shares.last(p); ++j) {
            s_.prefetch(s_.out, j, last);
            if (edges_ != nullptr && !ends) add_row(depth, j);
            take(depth, j, ends ? plain().sums : sum_row<Sums>(depth, s_.vertices()[j], s_.lanes()[j]));
          }
        },
        waking::unless_busy);
  }

  // Threads for entries [first, last), by their number if that suffices, else by their edges.
  [[nodiscard]] int threads_for(std::int64_t first, std::int64_t last) {
    std::int64_t edges = last - first;
    for (std::int64_t j = first; j < last && s_.threads_for(edges) < s_.threads; ++j) {
      edges += s_.degree(s_.out, s_.vertices()[j]);
    }
    return s_.threads_for(edges);
  }

  // Sums the quotients of u's successors, relative to u's own exponent.
  template <class Sums>
  [[nodiscard]] std::array<double, L> sum_row(std::int64_t depth, std::int64_t u, unsigned carried) {
    const lane_set* const members = s_.members(depth + 1);
    const double* const quotients = s_.factors(depth + 1);
    const I* const indices = s_.out.indices.data();
    const O last = s_.out.offsets[u + 1];
    plain sums;
    for (O e = s_.out.offsets[u]; e < last; ++e) {
      const std::int64_t v = indices[e];
      const unsigned set = members[v] & carried;
      if (set == 0) continue;
      if constexpr (std::is_same_v<Sums, wide>) {
        add_wide(depth, u, v, set, sums);
      } else {
        sums.add(quotients + v * L, set);
      }
    }
    return sums.sums;
  }

  // A successor's exponent is at least u's; if it is higher by two, the quotient is below 2^-900 times the vertices.
  void add_wide(std::int64_t depth, std::int64_t u, std::int64_t v, unsigned set, plain& sums) {
    for_each_lane(set, [&](int lane) {
      const std::int32_t own = s_.is_wide(depth) ? s_.exponents(depth)[u * L + lane] : 0;
      const std::int32_t up = s_.exponents(depth + 1)[v * L + lane] - own;
      const double term = s_.factors(depth + 1)[v * L + lane];
      sums.sums[static_cast<std::size_t>(lane)] += up == 0 ? term : up == 1 ? term * number_range::down : 0;
    });
  }

  // Adds to the values of the edges out of an entry's vertex, whose counts are still stored.
  void add_row(std::int64_t depth, std::int64_t entry) {
    const std::int64_t u = s_.vertices()[entry];
    const unsigned carried = s_.lanes()[entry];
    const lane_set* const members = s_.members(depth + 1);
    const double* const factors = s_.factors(depth) + u * L;
    for (O e = s_.out.offsets[u]; e < s_.out.offsets[u + 1]; ++e) {
      const std::int64_t v = s_.out.indices[e];
      const unsigned set = members[v] & carried;
      if (set == 0) continue;
      plain terms;
      if (s_.is_wide(depth + 1)) {
        add_wide(depth, u, v, set, terms);
      } else {
        terms.add(s_.factors(depth + 1) + v * L, set);
      }
      for_each_lane(set, [&](int lane) { edges_[e] += factors[lane] * terms.sums[static_cast<std::size_t>(lane)]; });
    }
  }

  void take(std::int64_t depth, std::int64_t entry, const std::array<double, L>& sums) {
    const std::int64_t u = s_.vertices()[entry];
    double* const factors = s_.factors(depth) + u * L;
    const unsigned set = s_.lanes()[entry];
    double total = 0;
    for_each_lane(set, [&](int lane) {
      const double dependency = factors[lane] * sums[static_cast<std::size_t>(lane)];
      total += dependency + own_;
      factors[lane] = (1 + dependency) / factors[lane];
    });
    values_[u] += total;
    s_.members(depth)[u] = static_cast<lane_set>(set);
  }

  host_search<I, O, L>& s_;
  double own_;
  double* values_;
  double* edges_;
};

}  // namespace spargo::detail::betweenness
