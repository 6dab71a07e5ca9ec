// Checks counts independently of the algorithms. Vertices are ranked by descending number of entries, and an edge is
// stored in the list of its higher rank: each triangle is found once, at its highest rank, whose list has the others.
//
// The first ranks form the core, whose adjacency is a bitmap: the common core neighbours of v and its core neighbour u
// are counted a word at a time. Counting v with either of the other two vertices covers all three without enumerating
// them. Lists of other neighbours are looked up, entry by entry, in the marks of v's list.
//
// Cost: the sum over the stored edges of the list at the other end; in R-MAT graphs about half of it is in the core.
// Memory: 4 bytes per edge (I = int32), 28 per vertex, 5 MB, and at most 17 bytes per vertex and thread; for directed
// graphs one more byte per edge, and 5 MB.
#include <spargo/graph/triangles.hpp>

#include "core/common_bits.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace spargo {

namespace {

struct check_tuning {
  static constexpr std::int64_t part = 64;                            // vertices: some 100 us on R-MAT
  static constexpr std::int64_t most_counts = std::int64_t{1} << 27;  // all threads together: 1 GiB
  // Zen 5, one thread, R-MAT 20, s: 4.9 with 4096, 3.2 with 6144, 3.7 with 8192, whose rows leave the L2 cache.
  static constexpr std::int64_t core = 6144;
  static constexpr std::int64_t top_entries = std::int64_t{1} << 16;  // vertices with more entries rank in any order
  static constexpr int fetched_lines =
      12;  // cache lines prefetched of the next list; without, R-MAT 20's look-ups take 1.7 times as long
};

// The bitmap of the core: a row of neighbours per rank.
class core_rows {
 public:
  static constexpr std::int64_t block = 64 * detail::bit_block_words;

  core_rows() = default;
  explicit core_rows(std::int64_t size) : words_(words_of(size)), bits_(static_cast<std::size_t>(size * words_)) {}

  [[nodiscard]] static std::int64_t words_of(std::int64_t size) {
    return (size + block - 1) / block * detail::bit_block_words;
  }
  [[nodiscard]] const std::uint64_t* row(std::int64_t r) const { return bits_.data() + r * words_; }
  void join(std::int64_t a, std::int64_t b) {
    set(a, b);
    set(b, a);
  }

 private:
  void set(std::int64_t a, std::int64_t b) {
    bits_[static_cast<std::size_t>(a * words_ + b / 64)] |= std::uint64_t{1} << b % 64;
  }

  std::int64_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

template <class I, class O>
class triangle_checker {
 public:
  triangle_checker(const context<host>& ctx, const graph_view<I, O, host>& g, const triangles_claim<I>& claim)
      : ctx_(ctx),
        n_(g.vertices()),
        edges_(g.out),
        undirected_(g.direction == direction_kind::undirected),
        links_wanted_(!undirected_ && !claim.links.empty()),
        claim_(claim) {}

  std::string run() {
    for (const std::int64_t size : {claim_.per_vertex.size(), claim_.links.size(), claim_.degrees.size()}) {
      if (size != 0 && size != n_) return fmt::format("{} counts for {} vertices", size, n_);
    }
    if (n_ > 0) {
      rank_vertices();
      keep_edges();
      drop_duplicates();
      join_core();
      count();
    }
    return compare();
  }

 private:
  using word = std::uint64_t;
  [[nodiscard]] static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

  // By stored entries, duplicates included; any order is valid.
  void rank_vertices() {
    std::vector<std::int64_t> entries(at(n_));
    for (std::int64_t v = 0; v < n_; ++v) entries[at(v)] = std::int64_t{edges_.offsets[v + 1]} - edges_.offsets[v];
    if (!undirected_) {
      for (const I w : edges_.indices) ++entries[at(w)];
    }
    std::vector<std::int64_t> next(at(check_tuning::top_entries + 2));
    const auto bin = [&](std::int64_t v) {
      return at(check_tuning::top_entries - std::min(entries[at(v)], check_tuning::top_entries));
    };
    for (std::int64_t v = 0; v < n_; ++v) ++next[bin(v) + 1];
    for (std::size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
    rank_ = {ctx_, n_};
    for (std::int64_t v = 0; v < n_; ++v) rank_[v] = static_cast<I>(next[bin(v)]++);
  }

  // Calls f(owner, end, ways) per stored edge but loops, by ranks; an undirected one once. Ways: 1 from owner, 2 to it.
  template <class F>
  void for_each_kept(F&& f) const {
    for (std::int64_t v = 0; v < n_; ++v) {
      const I mine = rank_[v];
      for (O e = edges_.offsets[v]; e < edges_.offsets[v + 1]; ++e) {
        const I other = rank_[edges_.indices[e]];
        if (other < mine) f(mine, other, std::uint8_t{1});
        if (other > mine && !undirected_) f(other, mine, std::uint8_t{2});
      }
    }
  }

  void keep_edges() {
    first_.assign(at(n_ + 2), 0);
    for_each_kept([&](I owner, I, std::uint8_t) { ++first_[at(owner) + 2]; });
    for (std::size_t k = 2; k < first_.size(); ++k) first_[k] += first_[k - 1];
    ends_ = {ctx_, first_.back()};
    if (!undirected_) ways_ = {ctx_, first_.back()};
    for_each_kept([&](I owner, I end, std::uint8_t ways) {
      const std::int64_t slot = first_[at(owner) + 1]++;
      ends_[slot] = end;
      if (!undirected_) ways_[slot] = ways;
    });
  }

  // Keeps every end of a list once, core first; `ways` becomes 1 if an edge goes both ways, else 0.
  void drop_duplicates() {
    core_ = std::min(n_, check_tuning::core);
    kept_.resize(at(n_));
    in_core_.resize(at(n_));
    const detail::parts shares = detail::chunks_of(n_, detail::grain::rows);
    detail::on_threads(ctx_.threads(), shares.count, [&](detail::part_taker& mine) {
      std::vector<std::uint8_t> seen(at(n_));
      for (std::int64_t p; mine.take(p);) {
        for (std::int64_t r = shares.first(p); r < shares.last(p); ++r) drop_duplicates_of(r, seen);
      }
    });
  }

  void drop_duplicates_of(std::int64_t r, std::vector<std::uint8_t>& seen) {
    const std::int64_t first = first_[at(r)];
    I* const list = ends_.data() + first;
    I size = 0;
    for (std::int64_t slot = first; slot < first_[at(r + 1)]; ++slot) {
      const I end = ends_[slot];
      std::uint8_t& ways = seen[at(end)];
      if (ways == 0) list[size++] = end;
      ways |= undirected_ ? std::uint8_t{1} : ways_[slot];
    }
    in_core_[at(r)] = static_cast<I>(std::partition(list, list + size, [&](I end) { return end < core_; }) - list);
    kept_[at(r)] = size;
    for (I k = 0; k < size; ++k) {
      if (!undirected_) ways_[first + k] = seen[at(list[k])] == 3 ? 1 : 0;
      seen[at(list[k])] = 0;
    }
  }

  void join_core() {
    joined_ = core_rows(core_);
    if (links_wanted_) joined_both_ways_ = core_rows(core_);
    for (std::int64_t r = 0; r < core_; ++r) {
      for (std::int64_t slot = first_[at(r)]; slot < first_[at(r)] + kept_[at(r)]; ++slot) {
        joined_.join(r, ends_[slot]);
        if (links_wanted_ && ways_[slot] != 0) joined_both_ways_.join(r, ends_[slot]);
      }
    }
  }

  // Counts of one thread. Links count only the second directed edge of a pair.
  struct tally {
    std::int64_t total = 0;
    std::vector<std::int64_t> triangles;  // [rank]
    std::vector<std::int64_t> links;
    std::vector<std::uint8_t>
        marks;  // [rank] relative to the current vertex: 0: no neighbour; 1: neighbour; 2: joined both ways
    std::vector<word> core;  // neighbours in the core
    std::vector<word> core_both_ways;
    std::vector<std::int64_t> found;  // slots
  };

  [[nodiscard]] bool both_ways(std::int64_t slot) const { return links_wanted_ && ways_[slot] != 0; }

  // Common neighbours of rank r, whose list is marked, with its core neighbours. Each is counted from both of two
  // joined neighbours, hence twice; r's links too.
  [[nodiscard]] std::int64_t count_in_core(std::int64_t r, word blocks, tally& own) const {
    std::int64_t twice = 0;
    std::int64_t links_twice = 0;
    const std::int64_t first = first_[at(r)];
    for (std::int64_t slot = first; slot < first + in_core_[at(r)]; ++slot) {
      const I u = ends_[slot];
      const std::int64_t common = detail::common_bits(joined_.row(u), own.core.data(), blocks);
      twice += common;
      if (!own.triangles.empty()) own.triangles[at(u)] += common;
      if (!links_wanted_ || common == 0) continue;
      own.links[at(u)] += detail::common_bits(joined_.row(u), own.core_both_ways.data(), blocks);
      links_twice += detail::common_bits(joined_both_ways_.row(u), own.core.data(), blocks);
    }
    if (links_wanted_) own.links[at(r)] += links_twice / 2;
    return twice / 2;
  }

  // Always inlined, as in prefetch.hpp.
  [[gnu::always_inline]] void fetch_list(std::int64_t r) const {
    constexpr std::int64_t line = 64 / sizeof(I);
    const std::int64_t end = std::min<std::int64_t>(kept_[at(r)], check_tuning::fetched_lines * line);
    for (std::int64_t k = 0; k < end; k += line) __builtin_prefetch(ends_.data() + first_[at(r)] + k);
  }

  // Triangles with the non-core neighbour in this slot, by its list.
  [[nodiscard]] std::int64_t count_with(std::int64_t r, std::int64_t slot, tally& own) const {
    const I u = ends_[slot];
    const std::int64_t first = first_[at(u)];
    std::size_t found = 0;  // branch-free, since the branch would be mispredicted
    for (std::int64_t s = first; s < first + kept_[at(u)]; ++s) {
      own.found[found] = s;
      found += own.marks[at(ends_[s])] != 0 ? 1 : 0;
    }
    const auto common = static_cast<std::int64_t>(found);
    if (own.triangles.empty()) return common;
    own.triangles[at(u)] += common;
    for (std::size_t k = 0; k < found; ++k) ++own.triangles[at(ends_[own.found[k]])];
    if (!links_wanted_) return common;
    for (std::size_t k = 0; k < found; ++k) {
      const I w = ends_[own.found[k]];
      own.links[at(w)] += both_ways(slot) ? 1 : 0;
      own.links[at(u)] += own.marks[at(w)] == 2 ? 1 : 0;
      own.links[at(r)] += both_ways(own.found[k]) ? 1 : 0;
    }
    return common;
  }

  void count_at(std::int64_t r, tally& own) const {
    const std::int64_t first = first_[at(r)];
    const std::int64_t beyond = first + in_core_[at(r)];
    const std::int64_t last = first + kept_[at(r)];
    if (last - first < 2) return;
    word blocks = 0;
    for (std::int64_t slot = first; slot < last; ++slot) {
      const I u = ends_[slot];
      own.marks[at(u)] = both_ways(slot) ? 2 : 1;
      if (slot >= beyond) continue;
      blocks |= word{1} << u / core_rows::block;
      own.core[at(u / 64)] |= word{1} << u % 64;
      if (both_ways(slot)) own.core_both_ways[at(u / 64)] |= word{1} << u % 64;
    }
    std::int64_t triangles = count_in_core(r, blocks, own);
    for (std::int64_t slot = beyond; slot < last; ++slot) {
      if (slot + 1 < last) fetch_list(ends_[slot + 1]);
      triangles += count_with(r, slot, own);
    }
    own.total += triangles;
    if (!own.triangles.empty()) own.triangles[at(r)] += triangles;
    for (std::int64_t slot = first; slot < last; ++slot) own.marks[at(ends_[slot])] = 0;
    for (std::int64_t slot = first; slot < beyond; ++slot) {
      own.core[at(ends_[slot] / 64)] = 0;
      if (links_wanted_) own.core_both_ways[at(ends_[slot] / 64)] = 0;
    }
  }

  void count() {
    const bool per_vertex = !claim_.per_vertex.empty() || !claim_.links.empty();
    triangles_.assign(per_vertex ? at(n_) : 0, 0);
    links_.assign(links_wanted_ ? at(n_) : 0, 0);
    const I longest = *std::max_element(kept_.begin(), kept_.end());
    const int team = static_cast<int>(std::clamp<std::int64_t>(check_tuning::most_counts / n_, 1, ctx_.threads()));
    const detail::parts shares = detail::chunks_of(n_, check_tuning::part);
    std::mutex mutex;
    detail::on_threads(team, shares.count, [&](detail::part_taker& mine) {
      const std::size_t words = at(core_rows::words_of(core_));
      tally own{0,
                std::vector<std::int64_t>(triangles_.size()),
                std::vector<std::int64_t>(links_.size()),
                std::vector<std::uint8_t>(at(n_)),
                std::vector<word>(words),
                std::vector<word>(links_wanted_ ? words : 0),
                std::vector<std::int64_t>(at(longest) + 1)};
      for (std::int64_t p; mine.take(p);) {
        for (std::int64_t r = shares.first(p); r < shares.last(p); ++r) count_at(r, own);
      }
      const std::lock_guard lock(mutex);
      total_ += own.total;
      for (std::size_t r = 0; r < triangles_.size(); ++r) triangles_[r] += own.triangles[r];
      for (std::size_t r = 0; r < links_.size(); ++r) links_[r] += own.links[r];
    });
  }

  // A pair of neighbours is joined by one directed edge or two.
  [[nodiscard]] std::int64_t links_of(I r) const {
    return undirected_ ? 2 * triangles_[at(r)] : triangles_[at(r)] + links_[at(r)];
  }

  [[nodiscard]] std::string compare() const {
    if (!claim_.degrees.empty()) {
      std::vector<std::int64_t> degrees(at(n_));  // [rank]
      for (std::int64_t r = 0; r < n_; ++r) {
        degrees[at(r)] += kept_[at(r)];
        for (I k = 0; k < kept_[at(r)]; ++k) ++degrees[at(ends_[first_[at(r)] + k])];
      }
      for (std::int64_t v = 0; v < n_; ++v) {
        const std::int64_t right = degrees[at(rank_[v])];
        if (claim_.degrees[v] != right) {
          return fmt::format("vertex {} has {} neighbours (expected {})", v, claim_.degrees[v], right);
        }
      }
    }
    for (std::int64_t v = 0; v < claim_.per_vertex.size(); ++v) {
      const std::int64_t right = triangles_[at(rank_[v])];
      if (claim_.per_vertex[v] != right) {
        return fmt::format("vertex {} is in {} triangles (expected {})", v, claim_.per_vertex[v], right);
      }
    }
    for (std::int64_t v = 0; v < claim_.links.size(); ++v) {
      const std::int64_t right = links_of(rank_[v]);
      if (claim_.links[v] != right) {
        return fmt::format("{} edges join neighbours of vertex {} (expected {})", claim_.links[v], v, right);
      }
    }
    if (claim_.total != total_) return fmt::format("there are {} triangles (expected {})", claim_.total, total_);
    return {};
  }

  const context<host>& ctx_;
  std::int64_t n_;
  csr_pattern_view<I, O, host> edges_;
  bool undirected_;
  bool links_wanted_;  // and not derivable from the triangles
  triangles_claim<I> claim_;
  array<I, host> rank_;              // [vertex]
  std::vector<std::int64_t> first_;  // [rank] start in ends_
  array<I, host> ends_;              // ranks
  array<std::uint8_t, host> ways_;   // directed: the edge goes both ways
  std::vector<I> kept_;              // [rank] number of ends kept
  std::vector<I> in_core_;           // [rank] number of these in the core
  std::int64_t core_ = 0;            // ranks
  core_rows joined_;
  core_rows joined_both_ways_;
  std::int64_t total_ = 0;
  std::vector<std::int64_t> triangles_;  // [rank]
  std::vector<std::int64_t> links_;      // second edges of pairs only
};

}  // namespace

template <index_type I, index_type O>
std::string check_triangles(const context<host>& ctx, const graph_view<I, O, host>& g,
                            const std::type_identity_t<triangles_claim<I>>& claim) try {
  return triangle_checker<I, O>(ctx, g, claim).run();
} catch (...) {
  detail::rethrow("check_triangles");
}

#define INSTANTIATE(I, O)                                                                         \
  template std::string check_triangles<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                             const std::type_identity_t<triangles_claim<I>>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
