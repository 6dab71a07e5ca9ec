// The counting loops, templated on an instruction set's look-ups.
//
// The lower-ranked neighbours of v are marked in a bitmap. A hub neighbour has its hub neighbours as a bitmap row; its
// common neighbours with v are the AND of that row and the marks, over the blocks of 512 bits that contain marks. The
// list of any other neighbour is looked up in the marks, entry by entry. Most neighbours have low ranks, so the first
// lines of the marks and the first hubs' rows stay in the caches.
//
// Counts per vertex need no enumeration of hub triangles either: with symmetric rows, the common bits of w's row and
// the marks are the triangles of v and w whose third vertex is a hub of any rank.
//
// Look-ups (`Set`): common(row, marks, blocks) counts common bits in those blocks; marked(marks, ids, count) counts
// marked ids; pick(marks, ids, count, to) writes them; count is at most pick_block, and `to` has slack.
#pragma once

#include "graph/triangles/simd/loops.hpp"

namespace spargo::detail::triangles {

struct loop_tuning {
  static constexpr std::int64_t pick_block = 256;  // ids: 1 KiB, so that the ids found stay in the L1 cache
  // Prefetch distances in vertices: to the one whose neighbours' lists are prefetched, and to the one whose lists'
  // positions are. Untuned: lists of about 16 entries take some 100 ns each, so memory has answered in time.
  static constexpr std::int64_t fetch_lists = 4;
  static constexpr std::int64_t fetch_places = 12;
};

template <class I>
struct picked_ids {
  std::make_unsigned_t<I> ids[loop_tuning::pick_block + 16];
};

[[gnu::always_inline]] inline void add_count(std::int64_t* own, std::int64_t own_limit, std::int64_t* shared,
                                             std::uint64_t r, std::int64_t count) {
  if (static_cast<std::int64_t>(r) < own_limit) {
    own[r] += count;
  } else {
    __atomic_fetch_add(shared + r, count, __ATOMIC_RELAXED);
  }
}

// Returns the hub blocks that have a mark.
template <class I>
[[gnu::always_inline]] inline std::uint64_t mark(std::uint64_t* marks, const std::make_unsigned_t<I>* ids,
                                                 const out_list<I>& list) {
  std::uint64_t blocks = 0;
  for (I k = 0; k < list.hubs; ++k) {
    marks[ids[k] / 64] |= std::uint64_t{1} << ids[k] % 64;
    blocks |= std::uint64_t{1} << ids[k] / hub_matrix::block;
  }
  for (I k = list.hubs; k < list.size; ++k) marks[ids[k] / 64] |= std::uint64_t{1} << ids[k] % 64;
  return blocks;
}
template <class I>
[[gnu::always_inline]] inline void unmark(std::uint64_t* marks, const std::make_unsigned_t<I>* ids, I count) {
  for (I k = 0; k < count; ++k) marks[ids[k] / 64] = 0;
}

// Prefetches the lists that vertices after v will look up.
template <class I>
[[gnu::always_inline]] inline void fetch_ahead(const count_job<I>& job, std::int64_t v) {
  const std::int64_t end = job.vertices;
  const out_list<I> far = job.lists[v + loop_tuning::fetch_places < end ? v + loop_tuning::fetch_places : end];
  for (I k = far.hubs; k < far.size; ++k) __builtin_prefetch(job.lists + job.ends[far.first + k]);
  const out_list<I> near = job.lists[v + loop_tuning::fetch_lists < end ? v + loop_tuning::fetch_lists : end];
  for (I k = near.hubs; k < near.size; ++k) {
    const out_list<I>& other = job.lists[job.ends[near.first + k]];
    __builtin_prefetch(job.ends + other.first);
    __builtin_prefetch(job.ends + other.first + 64 / sizeof(I));
  }
}

template <class Set, class I>
[[gnu::always_inline]] inline std::int64_t total_of_ranks(const count_job<I>& job, std::int64_t first,
                                                          std::int64_t last) {
  std::int64_t total = 0;
  for (std::int64_t v = first; v < last; ++v) {
    fetch_ahead(job, v);
    const out_list<I> list = job.lists[v];
    if (list.size < 2) continue;
    const auto* const ids = job.ends + list.first;
    const std::uint64_t blocks = mark<I>(job.marks, ids, list);
    for (I k = 0; k < list.hubs; ++k) {
      const auto hub = static_cast<std::int64_t>(ids[k]);
      total += Set::common(job.hubs.row(hub), job.marks, blocks & ~std::uint64_t{0} >> (63 - hub / hub_matrix::block));
    }
    for (I k = list.hubs; k < list.size; ++k) {
      const out_list<I> other = job.lists[ids[k]];
      total += Set::marked(job.marks, job.ends + other.first, other.size);
    }
    unmark<I>(job.marks, ids, list.size);
  }
  return total;
}

template <class Set, class I>
[[gnu::always_inline]] inline std::int64_t counts_of_ranks(const count_job<I>& job, std::int64_t first,
                                                           std::int64_t last) {
  picked_ids<I> picked;
  std::int64_t total = 0;
  for (std::int64_t v = first; v < last; ++v) {
    fetch_ahead(job, v);
    const out_list<I> list = job.lists[v];
    if (list.size < 2) continue;
    const auto* const ids = job.ends + list.first;
    const std::uint64_t blocks = mark<I>(job.marks, ids, list);
    std::int64_t twice = 0;  // triangles of v and two hubs, counted at both hubs
    for (I k = 0; k < list.hubs; ++k) {
      const std::int64_t common = Set::common(job.hubs.row(static_cast<std::int64_t>(ids[k])), job.marks, blocks);
      add_count(job.own_counts, job.own_limit, job.counts, ids[k], common);
      twice += common;
    }
    std::int64_t mine = twice / 2;
    for (I k = list.hubs; k < list.size; ++k) {
      const out_list<I> other = job.lists[ids[k]];
      std::int64_t common = 0;
      for (std::int64_t at = 0; at < other.size; at += loop_tuning::pick_block) {
        const std::int64_t rest = other.size - at;
        const std::int64_t found =
            Set::pick(job.marks, job.ends + other.first + at,
                      rest < loop_tuning::pick_block ? rest : loop_tuning::pick_block, picked.ids);
        for (std::int64_t i = 0; i < found; ++i) {
          add_count(job.own_counts, job.own_limit, job.counts, picked.ids[i], 1);
        }
        common += found;
      }
      if (common > 0) add_count(job.own_counts, job.own_limit, job.counts, ids[k], common);
      mine += common;
    }
    unmark<I>(job.marks, ids, list.size);
    using key = std::make_unsigned_t<I>;
    if (mine > 0) add_count(job.own_counts, job.own_limit, job.counts, static_cast<key>(v), mine);
    total += mine;
  }
  return total;
}

template <class I>
[[gnu::always_inline]] inline void add_links(const count_job<I>& job, std::make_unsigned_t<I> r, std::int64_t count,
                                             std::int64_t links) {
  add_count(job.own_counts, job.own_limit, job.counts, r, count);
  add_count(job.own_links, job.own_limit, job.links, r, links);
}

// Each triangle contributes 1 directed edge to the opposite vertex, 2 if the edge is mutual.
template <class Set, class I>
[[gnu::always_inline]] inline std::int64_t links_of_ranks(const count_job<I>& job, std::int64_t first,
                                                          std::int64_t last) {
  using key = std::make_unsigned_t<I>;
  std::int64_t total = 0;
  for (std::int64_t v = first; v < last; ++v) {
    fetch_ahead(job, v);
    const out_list<I> list = job.lists[v];
    if (list.size < 2) continue;
    const key* const ids = job.ends + list.first;
    const std::uint8_t* const mutual = job.mutual + list.first;
    const std::uint64_t blocks = mark<I>(job.marks, ids, list);
    for (I k = 0; k < list.size; ++k) {
      job.mutual_marks[ids[k] / 64] |= std::uint64_t{mutual[k]} << ids[k] % 64;
    }
    std::int64_t twice = 0;
    std::int64_t links_twice = 0;
    for (I k = 0; k < list.hubs; ++k) {
      const auto hub = static_cast<std::int64_t>(ids[k]);
      const std::int64_t common = Set::common(job.hubs.row(hub), job.marks, blocks);
      if (common == 0) continue;
      add_links(job, ids[k], common, common + Set::common(job.hubs.row(hub), job.mutual_marks, blocks));
      twice += common;
      links_twice += common + Set::common(job.mutual_hubs.row(hub), job.marks, blocks);
    }
    std::int64_t mine = twice / 2;
    std::int64_t my_links = links_twice / 2;
    for (I k = list.hubs; k < list.size; ++k) {
      const out_list<I> other = job.lists[ids[k]];
      std::int64_t common = 0;
      std::int64_t links = 0;
      for (std::int64_t slot = other.first; slot < other.first + other.size; ++slot) {
        const key w = job.ends[slot];
        if ((job.marks[w / 64] >> w % 64 & 1) == 0) continue;
        ++common;
        add_links(job, w, 1, 1 + mutual[k]);
        links += 1 + static_cast<std::int64_t>(job.mutual_marks[w / 64] >> w % 64 & 1);
        my_links += 1 + job.mutual[slot];
      }
      if (common > 0) add_links(job, ids[k], common, links);
      mine += common;
    }
    unmark<I>(job.marks, ids, list.size);
    unmark<I>(job.mutual_marks, ids, list.size);
    if (mine > 0) add_links(job, static_cast<key>(v), mine, my_links);
    total += mine;
  }
  return total;
}

// Moves [back, end) after [to, front).
template <class I>
[[gnu::always_inline]] inline kept_ends<I> join_ends(std::make_unsigned_t<I>* to, std::make_unsigned_t<I>* front,
                                                     std::make_unsigned_t<I>* back, std::make_unsigned_t<I>* end) {
  const auto hubs = static_cast<I>(front - to);
  const auto others = static_cast<I>(end - back);
  if (front != back) __builtin_memmove(front, back, static_cast<std::size_t>(others) * sizeof(*to));
  return {hubs, hubs + others};
}

// Portable look-ups.
template <class I>
struct plain_lookups {
  using key = std::make_unsigned_t<I>;
  // Hubs go to the front and others to the back, branch-free.
  [[gnu::always_inline]] static kept_ends<I> keep(const I* row, std::int64_t degree, const I* rank, key r, key hubs,
                                                  key* to) {
    const key limit = r < hubs ? r : hubs;
    key* front = to;
    key* back = to + degree;
    for (std::int64_t k = 0; k < degree; ++k) {
      const auto end = static_cast<key>(rank[row[k]]);
      const bool hub = end < limit;
      *(hub ? front : back - 1) = end;  // always free: no more were kept than read
      front += hub ? 1 : 0;
      back -= !hub && end < r ? 1 : 0;
    }
    return join_ends<I>(to, front, back, to + degree);
  }
  [[gnu::always_inline]] static std::int64_t common(const std::uint64_t* row, const std::uint64_t* marks,
                                                    std::uint64_t blocks) {
    std::int64_t sum = 0;
    for (; blocks != 0; blocks &= blocks - 1) {
      const std::int64_t first = __builtin_ctzll(blocks) * hub_matrix::block_words;
      for (std::int64_t k = first; k < first + hub_matrix::block_words; ++k) {
        sum += __builtin_popcountll(row[k] & marks[k]);
      }
    }
    return sum;
  }
  [[gnu::always_inline]] static std::int64_t marked(const std::uint64_t* marks, const key* ids, std::int64_t count) {
    std::uint64_t sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += marks[ids[k] / 64] >> ids[k] % 64 & 1;
    return static_cast<std::int64_t>(sum);
  }
  [[gnu::always_inline]] static std::int64_t pick(const std::uint64_t* marks, const key* ids, std::int64_t count,
                                                  key* to) {
    std::int64_t found = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      to[found] = ids[k];
      found += static_cast<std::int64_t>(marks[ids[k] / 64] >> ids[k] % 64 & 1);
    }
    return found;
  }
};

}  // namespace spargo::detail::triangles
