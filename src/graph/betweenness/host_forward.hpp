// Forward searches from up to L sources, level by level: the vertices found, their lanes, and their path counts.
//
// A vertex's counts are sums over its in-neighbours in the previous level, in row order: independent of which thread
// found it when. A level is found in one of three ways. Pull: every vertex that some source lacks sums over its row;
// there is no early exit, but all lanes share the row. Push together: the frontier's rows are traversed to mark the
// targets, then each target sums over its row. Push alone: one thread adds to the targets directly; below 2^53 such
// sums are exact, hence identical, and otherwise they are recomputed.
#pragma once

#include "graph/betweenness/host_search.hpp"

#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>

namespace spargo::detail::betweenness {

enum class step_kind { alone, together, pull };

struct step_facts {
  int threads = 1;
  bool exact = true;      // all counts of the frontier are exact
  double edges = 0;       // out-edges of the frontier
  double open = 0;        // in-edges of vertices that some source lacks
  double next_edges = 0;  // estimated in-edges of the vertices it will find
};

struct step_tuning {
  // Cost of an edge relative to one in a pull: estimated from the data touched, not measured separately.
  static constexpr double alone = 4;
  static constexpr double mark = 2;
  static constexpr double sum = 1;
};

// The cheapest step; the choice does not change the counts.
[[nodiscard]] inline step_kind choose_step(const step_facts& f) {
  using cost = step_tuning;
  const double team = f.threads;
  const double pull = f.open * cost::sum / team;
  const double together = (f.edges * cost::mark + std::min(f.open, f.next_edges) * cost::sum) / team;
  const double alone = f.edges * cost::alone;
  if (f.exact && alone < together && alone < pull) return step_kind::alone;
  return pull < together ? step_kind::pull : step_kind::together;
}

template <class I, class O, int L>
class host_forward {
 public:
  // only: use this kind of step wherever possible, for tests.
  explicit host_forward(host_search<I, O, L>& s, std::optional<step_kind> only = {}) : s_(s), only_(only) {}

  // Returns the number of levels, including the sources'. Clears the members of all levels.
  std::int64_t run(span<const I, host> sources) {
    start(sources);
    std::int64_t depth = 0;
    for (; facts_.size > 0; ++depth) step(depth);
    clear(depth - 1);
    return depth;
  }

 private:
  using plain = plain_sums<L>;
  using wide = wide_sums<L>;

  void start(span<const I, host> sources) {
    lane_set* const seen = s_.seen();
    parallel_ranges(s_.threads, s_.n(), grain::elements, [&](std::int64_t first, std::int64_t last) {
      std::memset(seen + first, 0, static_cast<std::size_t>(last - first));
    });
    facts_ = {};
    for (std::int64_t k = 0; k < sources.size(); ++k) {
      const I v = sources[k];
      if (seen[v] == 0) s_.vertices()[facts_.size++] = v;
      seen[v] = static_cast<lane_set>(seen[v] | 1U << k);
      s_.factors(0)[std::int64_t{v} * L + k] = 1;
    }
    full_ = (1U << sources.size()) - 1;
    for (std::int64_t j = 0; j < facts_.size; ++j) {
      const I v = s_.vertices()[j];
      s_.lanes()[j] = s_.members(0)[v] = seen[v];
      facts_.edges += s_.degree(s_.out, v);
      if (seen[v] == full_) facts_.finished += s_.degree(s_.in, v);
    }
    facts_.found = full_;
    facts_.largest = 1;
    open_ = s_.in.nnz() - facts_.finished;
    growth_ = 1;
    s_.begin(0) = 0;
    s_.begin(1) = facts_.size;
    s_.set_wide(0, false);
  }

  void step(std::int64_t depth) {
    const bool exact = !s_.is_wide(depth) && facts_.largest < number_range::exact;
    const double degree = static_cast<double>(s_.in.nnz()) / static_cast<double>(s_.n());
    const auto edges = static_cast<double>(facts_.edges);
    step_kind kind = only_.value_or(choose_step({.threads = s_.threads,
                                                 .exact = exact,
                                                 .edges = edges,
                                                 .open = static_cast<double>(open_),
                                                 .next_edges = edges * growth_ * degree}));
    if (kind == step_kind::alone && !exact) kind = step_kind::together;
    const level_facts before = facts_;
    alive_ = facts_.found;
    if (s_.is_wide(depth)) {
      expand<wide>(depth, kind);
    } else {
      expand<plain>(depth, kind);
      if (facts_.largest >= number_range::end) give_exponents(depth + 1);
    }
    s_.begin(depth + 2) = s_.begin(depth + 1) + facts_.size;
    s_.set_wide(depth + 1, facts_.exponent > 0);
    if (kind != step_kind::pull) open_ -= facts_.finished;
    growth_ = static_cast<double>(facts_.size) / std::max(1.0, static_cast<double>(before.edges));
  }

  template <class Sums>
  void expand(std::int64_t depth, step_kind kind) {
    if (kind == step_kind::pull) {
      pull<Sums>(depth);
      return;
    }
    const int team = s_.threads_for(facts_.edges);
    if (kind == step_kind::alone) {
      clear(depth - 1);
      push_alone(depth);
      if (facts_.largest >= number_range::exact) sum_entries<plain>(depth, team);
      return;
    }
    mark(depth, team);
    sum_entries<Sums>(depth, team);
  }

  void clear(std::int64_t depth) {
    if (depth < 0) return;
    lane_set* const members = s_.members(depth);
    for (std::int64_t j = s_.begin(depth); j < s_.begin(depth + 1); ++j) members[s_.vertices()[j]] = 0;
  }

  // --- One vertex ----------------------------------------------------------------------------------------------

  // Sums the counts of v over its in-neighbours at this depth; returns the lanes found, a subset of `wanted`.
  template <class Sums>
  [[nodiscard]] unsigned sum_row(std::int64_t depth, std::int64_t v, unsigned wanted, Sums& sums) {
    const lane_set* const members = s_.members(depth);
    const double* const factors = s_.factors(depth);
    const std::int32_t* const exponents = s_.exponents(depth);
    const I* const indices = s_.in.indices.data();
    const O last = s_.in.offsets[v + 1];
    unsigned found = 0;
    for (O e = s_.in.offsets[v]; e < last; ++e) {
      const std::int64_t u = indices[e];
      const unsigned set = members[u] & wanted;
      if (set == 0) continue;
      found |= set;
      if constexpr (std::is_same_v<Sums, wide>) {
        sums.add(factors + u * L, exponents + u * L, set);
      } else {
        sums.add(factors + u * L, set);
      }
    }
    return found;
  }

  // Leaves the counts of lanes that v has at other levels.
  template <class Sums>
  void store(std::int64_t depth, std::int64_t v, unsigned set, const Sums& sums) {
    for_each_lane(set, [&](int lane) {
      const auto k = static_cast<std::size_t>(lane);
      s_.factors(depth)[v * L + lane] = sums.sums[k];
      if constexpr (std::is_same_v<Sums, wide>) s_.exponents(depth)[v * L + lane] = sums.exponents[k];
    });
  }

  template <class Sums>
  void take(std::int64_t depth, std::int64_t v, unsigned set, const Sums& sums, level_facts& facts) {
    s_.seen()[v] = static_cast<lane_set>(s_.seen()[v] | set);
    s_.members(depth)[v] = static_cast<lane_set>(set);
    ++facts.size;
    facts.edges += s_.degree(s_.out, v);
    if (s_.seen()[v] == full_) facts.finished += s_.degree(s_.in, v);
    facts.found |= set;
    for (const double sum : sums.sums) facts.largest = std::max(facts.largest, sum);
    if constexpr (std::is_same_v<Sums, wide>) {
      for (const std::int32_t exponent : sums.exponents) facts.exponent = std::max(facts.exponent, exponent);
    }
  }

  template <class Sums>
  [[nodiscard]] unsigned sum_and_take(std::int64_t depth, std::int64_t v, unsigned wanted, level_facts& facts) {
    Sums sums;
    const unsigned set = sum_row(depth, v, wanted, sums);
    if (set == 0) return 0;
    if constexpr (std::is_same_v<Sums, wide>) sums.normalize();
    store(depth + 1, v, set, sums);
    take(depth + 1, v, set, sums, facts);
    return set;
  }

  // --- Pull ----------------------------------------------------------------------------------------------------

  template <class Sums>
  void pull(std::int64_t depth) {
    const std::int64_t n = s_.n();
    constexpr std::int64_t chunk = host_tuning::pulled_chunk;
    std::int64_t tail = s_.begin(depth + 1);
    level_facts all;
    std::int64_t open = 0;
    std::mutex mutex;
    on_threads(s_.threads, div_up(n, chunk), [&](part_taker& mine) {
      level_facts facts;
      std::int64_t left = 0;
      for (std::int64_t p; mine.take(p);)
        pull_chunk<Sums>(depth, p * chunk, std::min((p + 1) * chunk, n), tail, facts, left);
      const std::lock_guard lock(mutex);
      all.add(facts);
      open += left;
    });
    facts_ = all;
    open_ = open;
  }

  template <class Sums>
  void pull_chunk(std::int64_t depth, std::int64_t first, std::int64_t last, std::int64_t& tail, level_facts& facts,
                  std::int64_t& open) {
    constexpr auto most = static_cast<std::size_t>(host_tuning::pulled_chunk);
    std::array<I, most> list;
    std::array<lane_set, most> sets;
    std::int64_t size = 0;
    for (std::int64_t v = first; v < last; ++v) {
      list[static_cast<std::size_t>(size)] = static_cast<I>(v);
      size += (alive_ & ~unsigned{s_.seen()[v]}) != 0 ? 1 : 0;
    }
    if (depth > 0) std::memset(s_.members(depth - 1) + first, 0, static_cast<std::size_t>(last - first));
    std::size_t found = 0;
    for (std::int64_t j = 0; j < size; ++j) {
      if (j + host_tuning::ahead < size) {
        const I next = list[static_cast<std::size_t>(j + host_tuning::ahead)];
        __builtin_prefetch(s_.in.indices.data() + s_.in.offsets[next]);
      }
      const I v = list[static_cast<std::size_t>(j)];
      const unsigned wanted = alive_ & ~unsigned{s_.seen()[v]};
      const unsigned set = sum_and_take<Sums>(depth, v, wanted, facts);
      if (set != wanted) open += s_.degree(s_.in, v);
      list[found] = v;
      sets[found] = static_cast<lane_set>(set);
      found += set != 0 ? 1 : 0;
    }
    const std::int64_t at =
        std::atomic_ref<std::int64_t>(tail).fetch_add(static_cast<std::int64_t>(found), std::memory_order_relaxed);
    std::copy_n(list.data(), found, s_.vertices() + at);
    std::copy_n(sets.data(), found, s_.lanes() + at);
  }

  // --- Push ----------------------------------------------------------------------------------------------------

  // Sums for the vertices of the level after `depth`, whose members are known.
  template <class Sums>
  void sum_entries(std::int64_t depth, int team) {
    const std::int64_t first = s_.begin(depth + 1);
    const std::int64_t last = first + facts_.size;
    const parts shares = chunks_of(facts_.size, host_tuning::chunk);
    level_facts all;
    std::mutex mutex;
    on_threads(
        team, shares.count,
        [&](part_taker& mine) {
          level_facts facts;
          for (std::int64_t p; mine.take(p);) {
            for (std::int64_t j = first + shares.first(p); j < first + shares.last(p); ++j) {
              s_.prefetch(s_.in, j, last);
              const I v = s_.vertices()[j];
              const unsigned set = s_.members(depth + 1)[v];
              s_.lanes()[j] = static_cast<lane_set>(set);
              (void)sum_and_take<Sums>(depth, v, set, facts);
            }
          }
          const std::lock_guard lock(mutex);
          all.add(facts);
        },
        waking::unless_busy);
    facts_ = all;
  }

  // Finds the vertices of the next level and lists them. Clears the members of the previous level.
  void mark(std::int64_t depth, int team) {
    const std::int64_t first = s_.begin(depth);
    const std::int64_t before = depth > 0 ? s_.begin(depth - 1) : first;
    const parts shares = chunks_of(facts_.size, host_tuning::chunk);
    const parts cleared = chunks_of(first - before, host_tuning::pulled_chunk);
    const std::int64_t begin = s_.begin(depth + 1);
    std::int64_t tail = begin;
    on_threads(
        team, shares.count + cleared.count,
        [&](part_taker& mine) {
          found_vertices<I> buffer(s_.vertices(), tail);
          for (std::int64_t p; mine.take(p);) {
            if (p >= shares.count) {
              const std::int64_t q = p - shares.count;
              lane_set* const members = s_.members(depth - 1);
              for (std::int64_t j = before + cleared.first(q); j < before + cleared.last(q); ++j) {
                members[s_.vertices()[j]] = 0;
              }
              continue;
            }
            for (std::int64_t j = first + shares.first(p); j < first + shares.last(p); ++j) {
              s_.prefetch(s_.out, j, first + shares.size);
              if (team > 1) {
                mark_row<true>(depth, j, buffer);
              } else {
                mark_row<false>(depth, j, buffer);
              }
            }
          }
          buffer.flush();
        },
        waking::unless_busy);
    facts_ = {};
    facts_.size = tail - begin;
  }

  template <bool Shared>
  void mark_row(std::int64_t depth, std::int64_t entry, found_vertices<I>& buffer) {
    const I u = s_.vertices()[entry];
    const unsigned carried = s_.lanes()[entry];
    const lane_set* const seen = s_.seen();
    lane_set* const members = s_.members(depth + 1);
    const O last = s_.out.offsets[u + 1];
    for (O e = s_.out.offsets[u]; e < last; ++e) {
      const I v = s_.out.indices[e];
      const auto fresh = static_cast<lane_set>(carried & ~unsigned{seen[v]});
      if (fresh == 0) continue;
      lane_set old;
      if constexpr (Shared) {
        const std::atomic_ref<lane_set> set(members[v]);
        old = set.load(std::memory_order_relaxed);
        if ((fresh & ~old) != 0) old = set.fetch_or(fresh, std::memory_order_relaxed);
      } else {
        old = members[v];
        members[v] = static_cast<lane_set>(old | fresh);
      }
      if (old == 0) buffer.push(v);
    }
  }

  // Push by this thread, which adds counts without exponents to its targets.
  void push_alone(std::int64_t depth) {
    const std::int64_t begin = s_.begin(depth + 1);
    std::int64_t tail = begin;
    for (std::int64_t j = s_.begin(depth); j < begin; ++j) {
      s_.prefetch(s_.out, j, begin);
      tail = add_row(depth, j, tail);
    }
    facts_ = {};
    for (std::int64_t j = begin; j < tail; ++j) {
      const std::int64_t v = s_.vertices()[j];
      const unsigned set = s_.members(depth + 1)[v];
      s_.lanes()[j] = static_cast<lane_set>(set);
      plain sums;
      sums.add(s_.factors(depth + 1) + v * L, set);
      take(depth + 1, v, set, sums, facts_);
    }
  }

  [[nodiscard]] std::int64_t add_row(std::int64_t depth, std::int64_t entry, std::int64_t tail) {
    const std::int64_t u = s_.vertices()[entry];
    const unsigned carried = s_.lanes()[entry];
    const double* const from = s_.factors(depth) + u * L;
    double* const factors = s_.factors(depth + 1);
    lane_set* const members = s_.members(depth + 1);
    const lane_set* const seen = s_.seen();
    const I* const indices = s_.out.indices.data();
    const O last = s_.out.offsets[u + 1];
    for (O e = s_.out.offsets[u]; e < last; ++e) {
      const I v = indices[e];
      const unsigned fresh = carried & ~unsigned{seen[v]};
      if (fresh == 0) continue;
      const unsigned old = members[v];
      if (old == 0) s_.vertices()[tail++] = v;
      members[v] = static_cast<lane_set>(old | fresh);
      double* const to = factors + std::int64_t{v} * L;
      for_each_lane(fresh, [&](int k) { to[k] = (old >> k & 1) != 0 ? to[k] + from[k] : from[k]; });
    }
    return tail;
  }

  // Converts a level summed without exponents.
  void give_exponents(std::int64_t depth) {
    const std::int64_t first = s_.begin(depth);
    s_.for_each_entry(first, first + facts_.size, s_.threads_for(facts_.edges), [&](std::int64_t j) {
      for_each_lane(s_.lanes()[j], [&](int lane) {
        const std::int64_t at = std::int64_t{s_.vertices()[j]} * L + lane;
        const bool large = s_.factors(depth)[at] >= number_range::end;
        s_.exponents(depth)[at] = large ? 1 : 0;
        if (large) s_.factors(depth)[at] *= number_range::down;
      });
    });
    facts_.exponent = 1;
  }

  host_search<I, O, L>& s_;
  std::optional<step_kind> only_;
  level_facts facts_;      // of the last level found
  unsigned full_ = 0;      // all lanes in use
  unsigned alive_ = 0;     // lanes of the frontier
  std::int64_t open_ = 0;  // in-edges of vertices that some source lacks
  double growth_ = 1;      // vertices found per edge in the previous step
};

}  // namespace spargo::detail::betweenness
