// Contraction: the groups of a level become the nodes of the next one. Their masses are added, and the weights of edges
// between two groups; edges inside a group are dropped, since masses hold all that gains need.
//
// The members of every group are listed, then threads sum whole groups by hash table. O(nodes + entries) time; memory
// besides the result: an index per node, and the new entries once more. Where summing would merge little, a large level
// keeps its entries as they are, with neighbours renamed (moving_tuning::stay_apart).
#pragma once

#include "graph/communities/levels.hpp"
#include "graph/communities/local_moving.hpp"

#include <numeric>

namespace spargo::detail::communities {

// Renames every group to its smallest member. Deterministic, as groups are compared by members alone.
template <class I>
void name_by_smallest(const context<host>& ctx, span<I, host> group) {
  const std::int64_t n = group.size();
  array<I, host> smallest(ctx, n);
  parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) { smallest[v] = static_cast<I>(n); });
  parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) {
    std::atomic_ref<I> least(smallest[group[v]]);
    I now = least.load(std::memory_order_relaxed);
    while (v < now && !least.compare_exchange_weak(now, static_cast<I>(v), std::memory_order_relaxed)) {
    }
  });
  parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) { group[v] = smallest[group[v]]; });
}

// number[v]: the position of v's group among the groups, which are named by their smallest members; -1 if v is
// finished. community: named by smallest members too.
template <class I, class O>
group_count number_groups(const context<host>& ctx, const level_graph<I, O>& g, span<const I, host> community,
                          span<const I, host> group, span<I, host> number) {
  const std::int64_t n = g.nodes;
  const auto has_entries = [&](std::int64_t v) { return g.offsets[v] < g.offsets[v + 1]; };
  // The nodes that others are named by get 0.
  parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) { number[v] = -1; });
  parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) {
    for (const I name : {group[v], community[v]}) {
      if (name != v || has_entries(v)) std::atomic_ref<I>(number[name]).store(0, std::memory_order_relaxed);
    }
  });
  const auto is_group = [&](std::int64_t v) { return group[v] == v && number[v] >= 0; };
  const parts shares = split_loop(ctx.threads(), n, grain::elements);
  std::vector<std::int64_t> before(static_cast<std::size_t>(shares.count));
  std::atomic<std::int64_t> finished{0};
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t part) {
    std::int64_t own = 0;
    std::int64_t own_finished = 0;
    for (std::int64_t v = shares.first(part); v < shares.last(part); ++v) {
      if (group[v] != v) continue;
      ++(is_group(v) ? own : own_finished);
    }
    before[static_cast<std::size_t>(part)] = own;
    finished += own_finished;
  });
  std::int64_t count = 0;
  for (auto& own : before) count += std::exchange(own, count);
  parallel_parts(ctx.threads(), shares.count, [&](std::int64_t part) {
    auto next = static_cast<I>(before[static_cast<std::size_t>(part)]);
    for (std::int64_t v = shares.first(part); v < shares.last(part); ++v) {
      if (is_group(v)) number[v] = next++;
    }
  });
  parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) {
    if (group[v] != v) number[v] = number[group[v]];
  });
  return {count, finished};
}

// The members of groups 0 to count - 1, in any order. number: -1 for members of none.
template <class I>
struct member_lists {
  array<I, host> begin;  // [group], and the end
  array<I, host> members;

  member_lists(const context<host>& ctx, span<const I, host> number, std::int64_t count)
      : begin(ctx, count + 1), members(ctx, number.size()) {
    array<I, host> next(ctx, count + 1);
    std::fill(next.begin(), next.end(), I{0});
    parallel_for(ctx.threads(), number.size(), grain::elements, [&](std::int64_t v) {
      if (number[v] >= 0) std::atomic_ref<I>(next[number[v]]).fetch_add(1, std::memory_order_relaxed);
    });
    std::exclusive_scan(next.begin(), next.end(), begin.begin(), I{0});
    std::copy(begin.begin(), begin.end(), next.begin());
    parallel_for(ctx.threads(), number.size(), grain::elements, [&](std::int64_t v) {
      if (number[v] >= 0)
        members[std::atomic_ref<I>(next[number[v]]).fetch_add(1, std::memory_order_relaxed)] = static_cast<I>(v);
    });
  }
};

// Sums the masses of groups into next.mass and next.in_mass.
template <class I, class O>
void sum_masses(const context<host>& ctx, const level_graph<I, O>& g, const member_lists<I>& lists,
                level_arrays<I, O>& next) {
  const std::int64_t count = lists.begin.size() - 1;
  next.mass = {ctx, count};
  if (g.in_mass != nullptr) next.in_mass = {ctx, count};
  parallel_for(ctx.threads(), count, grain::rows, [&](std::int64_t c) {
    masses all;
    for (std::int64_t k = lists.begin[c]; k < lists.begin[c + 1]; ++k) {
      const I v = lists.members[k];
      all.out += g.mass[v];
      if (g.in_mass != nullptr) all.in += g.in_mass[v];
    }
    next.mass[c] = all.out;
    if (g.in_mass != nullptr) next.in_mass[c] = all.in;
  });
}

// The rows of groups without summing: those of their members, neighbours renamed. Entries inside become loops.
template <class I, class O>
void gather_rows(const context<host>& ctx, const level_graph<I, O>& g, span<const I, host> number,
                 const member_lists<I>& lists, level_arrays<I, O>& next) {
  const std::int64_t count = lists.begin.size() - 1;
  next.offsets = {ctx, count + 1};
  next.offsets[0] = 0;
  parallel_for(ctx.threads(), count, grain::rows, [&](std::int64_t c) {
    O size = 0;
    for (std::int64_t k = lists.begin[c]; k < lists.begin[c + 1]; ++k) {
      const I v = lists.members[k];
      size += g.offsets[v + 1] - g.offsets[v];
    }
    next.offsets[c + 1] = size;
  });
  std::inclusive_scan(next.offsets.begin(), next.offsets.end(), next.offsets.begin());
  next.neighbours = {ctx, g.entries()};
  if (g.weights != nullptr) next.weights = {ctx, g.entries()};
  parallel_for(ctx.threads(), count, grain::rows / 8, [&](std::int64_t c) {
    std::int64_t at = next.offsets[c];
    for (std::int64_t k = lists.begin[c]; k < lists.begin[c + 1]; ++k) {
      const I v = lists.members[k];
      for (std::int64_t e = g.offsets[v]; e < g.offsets[v + 1]; ++e, ++at) {
        next.neighbours[at] = number[g.neighbours[e]];
        if (g.weights != nullptr) next.weights[at] = g.weights[e];
      }
    }
  });
}

template <class I, class O>
[[nodiscard]] std::int64_t entries_inside(const context<host>& ctx, const level_graph<I, O>& g,
                                          span<const I, host> number) {
  return parallel_reduce(
      ctx.threads(), g.nodes, grain::rows / 8, std::int64_t{0},
      [&](std::int64_t first, std::int64_t last) {
        std::int64_t inside = 0;
        for (std::int64_t v = first; v < last; ++v) {
          for (std::int64_t e = g.offsets[v]; e < g.offsets[v + 1]; ++e) inside += number[g.neighbours[e]] == number[v];
        }
        return inside;
      },
      std::plus<>());
}

// number: [node] its group, 0 to count - 1, or -1.
template <class I, class O>
[[nodiscard]] level_arrays<I, O> contract(const context<host>& ctx, const level_graph<I, O>& g,
                                          span<const I, host> number, std::int64_t count, weight_tables<I>& tables) {
  const member_lists<I> lists(ctx, number, count);
  level_arrays<I, O> next;
  sum_masses<I, O>(ctx, g, lists, next);
  if (moving_tuning::may_stay_apart(g.nodes, g.entries(), count) &&
      moving_tuning::stay_apart(g.entries(), entries_inside<I, O>(ctx, g, number))) {
    gather_rows<I, O>(ctx, g, number, lists, next);
    return next;
  }
  next.offsets = {ctx, count + 1};
  // The rows that a thread has summed, chunk after chunk.
  struct buffer {
    std::vector<I> neighbours;
    std::vector<std::int64_t> weights;
  };
  struct place {
    std::size_t slot;
    std::size_t first;
  };
  const parts chunks = chunks_of(count, moving_tuning::chunk);
  std::vector<place> places(static_cast<std::size_t>(chunks.count));
  std::vector<buffer> buffers(tables.size());
  next.offsets[0] = 0;
  on_threads(ctx.threads(), chunks.count, [&](part_taker& mine) {
    const auto slot = static_cast<std::size_t>(mine.slot());
    buffer& own = buffers[slot];
    weight_table<I>& sums = tables[slot];
    own.neighbours.reserve(static_cast<std::size_t>(g.entries()) / buffers.size());
    own.weights.reserve(own.neighbours.capacity());
    for (std::int64_t part; mine.take(part);) {
      interruption::look();
      places[static_cast<std::size_t>(part)] = {slot, own.weights.size()};
      for (std::int64_t c = chunks.first(part); c < chunks.last(part); ++c) {
        std::int64_t most = 0;
        for (std::int64_t k = lists.begin[c]; k < lists.begin[c + 1]; ++k) {
          const I v = lists.members[k];
          most += g.offsets[v + 1] - g.offsets[v];
        }
        sums.begin(std::min(most, count), count);
        for (std::int64_t k = lists.begin[c]; k < lists.begin[c + 1]; ++k) {
          for_kept_entries(
              g, lists.members[k], [&](I u) { return number[u] != c; },
              [&](I u, std::int64_t weight) { sums.add(number[u], weight); });
        }
        const std::size_t first = own.weights.size();
        const std::int64_t size = sums.size();
        own.neighbours.resize(first + static_cast<std::size_t>(size));
        own.weights.resize(first + static_cast<std::size_t>(size));
        for (std::int64_t k = 0; k < size; ++k) {
          const auto [neighbour, weight] = sums[k];
          own.neighbours.data()[first + static_cast<std::size_t>(k)] = neighbour;
          own.weights.data()[first + static_cast<std::size_t>(k)] = weight;
        }
        next.offsets[c + 1] = static_cast<O>(size);
      }
    }
  });
  std::inclusive_scan(next.offsets.begin(), next.offsets.end(), next.offsets.begin());
  next.neighbours = {ctx, std::int64_t{next.offsets[count]}};
  next.weights = {ctx, std::int64_t{next.offsets[count]}};
  parallel_parts(ctx.threads(), chunks.count, [&](std::int64_t part) {
    const auto [slot, first] = places[static_cast<std::size_t>(part)];
    const std::int64_t to = next.offsets[chunks.first(part)];
    const std::int64_t size = next.offsets[chunks.last(part)] - to;
    std::copy_n(buffers[slot].neighbours.data() + first, size, next.neighbours.data() + to);
    std::copy_n(buffers[slot].weights.data() + first, size, next.weights.data() + to);
  });
  if (moving_tuning::is_small(count, next.neighbours.size())) sort_rows(next);
  return next;
}

}  // namespace spargo::detail::communities
