// The check of counts, which shares nothing with the algorithms: vertices keep their own numbers, every edge is kept at
// its end of lower degree, and the neighbours that v keeps are marked in an array of bytes for those that they keep in
// turn to be looked up, one by one. So every triangle is met once, at its vertex of lowest degree.
//
// Cost: the sum over the kept edges of the length of the list at the other end. Memory: 8 bytes an edge (I = int32),
// 28 per vertex, and for each thread 17 bytes per vertex at most.
#include <spargo/graph/triangles.hpp>

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
  static constexpr std::int64_t most_counts = std::int64_t{1} << 27;  // of all threads together: 1 GiB
};

// An end of an edge, and in which directions the edge is stored: 1 from the list's vertex, 2 to it.
template <class I>
struct kept_end {
  I vertex;
  std::uint8_t directions;
};

template <class I, class O>
class triangle_checker {
 public:
  triangle_checker(const context<host>& ctx, const graph_view<I, O, host>& g, const triangles_claim<I>& claim)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        edges_(g.out),
        undirected_(g.direction == direction_kind::undirected),
        claim_(claim) {}

  std::string run() {
    for (const std::int64_t size : {claim_.per_vertex.size(), claim_.links.size(), claim_.degrees.size()}) {
      if (size != 0 && size != n_) return fmt::format("{} counts for {} vertices", size, n_);
    }
    if (n_ > 0) {
      find_degrees();
      keep_edges();
      count();
    }
    return compare();
  }

 private:
  [[nodiscard]] static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }
  [[nodiscard]] bool is_below(I a, I b) const {
    return stored_[at(a)] < stored_[at(b)] || (stored_[at(a)] == stored_[at(b)] && a < b);
  }

  // As stored, duplicates included: any order will do.
  void find_degrees() {
    stored_.assign(at(n_), 0);
    for (std::int64_t v = 0; v < n_; ++v) {
      stored_[at(v)] += std::int64_t{edges_.offsets[v + 1]} - edges_.offsets[v];
      if (undirected_) continue;
      for (O e = edges_.offsets[v]; e < edges_.offsets[v + 1]; ++e) ++stored_[at(edges_.indices[e])];
    }
  }

  // f(owner, end) for every edge stored that is to be kept, a loop never; an undirected one is met from its lower end.
  template <class F>
  void for_each_kept(F&& f) const {
    for (std::int64_t k = 0; k < n_; ++k) {
      const auto v = static_cast<I>(k);
      for (O e = edges_.offsets[k]; e < edges_.offsets[k + 1]; ++e) {
        const I w = edges_.indices[e];
        if (w == v) continue;
        if (is_below(v, w)) {
          f(v, kept_end<I>{w, static_cast<std::uint8_t>(undirected_ ? 3 : 1)});
        } else if (!undirected_) {
          f(w, kept_end<I>{v, 2});
        }
      }
    }
  }

  void keep_edges() {
    first_.assign(at(n_ + 2), 0);
    for_each_kept([&](I owner, const kept_end<I>&) { ++first_[at(owner) + 2]; });
    for (std::size_t k = 2; k < first_.size(); ++k) first_[k] += first_[k - 1];
    ends_.resize(at(first_.back()));
    for_each_kept([&](I owner, const kept_end<I>& end) { ends_[at(first_[at(owner) + 1]++)] = end; });
    kept_.resize(at(n_));
    detail::parallel_for(threads_, n_, detail::grain::rows, [&](std::int64_t v) {
      const auto begin = ends_.begin() + first_[at(v)];
      const auto end = ends_.begin() + first_[at(v + 1)];
      std::sort(begin, end, [](const kept_end<I>& a, const kept_end<I>& b) { return a.vertex < b.vertex; });
      auto last = begin;  // of those that are there once
      for (auto next = begin; next != end; ++next) {
        if (last != begin && (last - 1)->vertex == next->vertex) {
          (last - 1)->directions |= next->directions;
        } else {
          *last++ = *next;
        }
      }
      kept_[at(v)] = static_cast<I>(last - begin);
    });
  }

  // One thread's.
  struct tally {
    std::int64_t total = 0;
    std::vector<std::int64_t> triangles;
    std::vector<std::int64_t> links;
    std::vector<std::uint8_t> marks;  // directions of the edge from the vertex at hand; 0: none
  };

  static std::int64_t directed_edges(std::uint8_t directions) { return directions == 3 ? 2 : 1; }

  void count_at(std::int64_t v, tally& own) const {
    const kept_end<I>* const mine = ends_.data() + first_[at(v)];
    for (I k = 0; k < kept_[at(v)]; ++k) own.marks[at(mine[k].vertex)] = mine[k].directions;
    for (I k = 0; k < kept_[at(v)]; ++k) {
      const I u = mine[k].vertex;
      const kept_end<I>* const theirs = ends_.data() + first_[at(u)];
      std::int64_t common = 0;
      std::int64_t links = 0;  // of u
      for (I j = 0; j < kept_[at(u)]; ++j) {
        const I w = theirs[j].vertex;
        const std::uint8_t mark = own.marks[at(w)];
        if (mark == 0) continue;
        ++common;
        if (!own.triangles.empty()) ++own.triangles[at(w)];
        if (own.links.empty()) continue;
        own.links[at(v)] += directed_edges(theirs[j].directions);
        own.links[at(w)] += directed_edges(mine[k].directions);
        links += directed_edges(mark);
      }
      own.total += common;
      if (!own.triangles.empty()) own.triangles[at(u)] += common;
      if (!own.triangles.empty()) own.triangles[at(v)] += common;
      if (!own.links.empty()) own.links[at(u)] += links;
    }
    for (I k = 0; k < kept_[at(v)]; ++k) own.marks[at(mine[k].vertex)] = 0;
  }

  void count() {
    triangles_.assign(at(claim_.per_vertex.size()), 0);
    links_.assign(at(claim_.links.size()), 0);
    const int team = static_cast<int>(std::clamp<std::int64_t>(check_tuning::most_counts / n_, 1, threads_));
    const detail::parts shares = detail::chunks_of(n_, check_tuning::part);
    std::mutex mutex;
    detail::on_threads(team, shares.count, [&](detail::part_taker& mine) {
      tally own{0, std::vector<std::int64_t>(triangles_.size()), std::vector<std::int64_t>(links_.size()),
                std::vector<std::uint8_t>(at(n_))};
      for (std::int64_t p; mine.take(p);) {
        for (std::int64_t v = shares.first(p); v < shares.last(p); ++v) count_at(v, own);
      }
      const std::lock_guard lock(mutex);
      total_ += own.total;
      for (std::size_t v = 0; v < triangles_.size(); ++v) triangles_[v] += own.triangles[v];
      for (std::size_t v = 0; v < links_.size(); ++v) links_[v] += own.links[v];
    });
  }

  [[nodiscard]] std::string compare() const {
    if (!claim_.degrees.empty()) {
      std::vector<std::int64_t> degrees(at(n_));
      for (std::int64_t v = 0; v < n_; ++v) {
        degrees[at(v)] += kept_[at(v)];
        for (I k = 0; k < kept_[at(v)]; ++k) ++degrees[at(ends_[at(first_[at(v)] + k)].vertex)];
      }
      for (std::int64_t v = 0; v < n_; ++v) {
        if (claim_.degrees[v] != degrees[at(v)]) {
          return fmt::format("vertex {} has {} neighbours (expected {})", v, claim_.degrees[v], degrees[at(v)]);
        }
      }
    }
    for (std::int64_t v = 0; v < claim_.per_vertex.size(); ++v) {
      if (claim_.per_vertex[v] != triangles_[at(v)]) {
        return fmt::format("vertex {} is in {} triangles (expected {})", v, claim_.per_vertex[v], triangles_[at(v)]);
      }
    }
    for (std::int64_t v = 0; v < claim_.links.size(); ++v) {
      if (claim_.links[v] != links_[at(v)]) {
        return fmt::format("{} edges join neighbours of vertex {} (expected {})", claim_.links[v], v, links_[at(v)]);
      }
    }
    if (claim_.total != total_) return fmt::format("there are {} triangles (expected {})", claim_.total, total_);
    return {};
  }

  int threads_;
  std::int64_t n_;
  csr_pattern_view<I, O, host> edges_;
  bool undirected_;
  triangles_claim<I> claim_;
  std::vector<std::int64_t> stored_;  // [vertex] entries
  std::vector<std::int64_t> first_;   // [vertex] in ends_
  std::vector<kept_end<I>> ends_;
  std::vector<I> kept_;  // [vertex] how many ends it keeps
  std::int64_t total_ = 0;
  std::vector<std::int64_t> triangles_;
  std::vector<std::int64_t> links_;
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
