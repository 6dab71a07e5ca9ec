// Whether numbers are truss numbers: proofs from below and from above.
//
// From below: if every edge of number t is in t - 2 triangles or more whose other edges have number t or more, the
// edges of number k or more are a subgraph that the k-truss contains, so no number is too high. From above: if the
// edges can be put into an order by ascending number in which each forms at most t - 2 triangles with edges behind it,
// no number is too low, since the first edge of any k-truss in that order has k - 2 triangles behind it. Edges of lower
// number are before an edge and those of higher number behind it, so only the order of edges of one number has to be
// found: by a queue for each number. Each thread takes one number at a time.
//
// That edges are a k-truss is the same question for numbers k inside and k - 1 outside, from below for those inside and
// from above for those outside.
//
// Every triangle is found once, at its vertex of middle degree, for the proof from below; again from each of its edges
// of least number for the other.
#include <spargo/core/interruption.hpp>
#include <spargo/graph/trusses.hpp>

#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

namespace spargo {

namespace {

template <class I, class O>
class truss_proof {
 public:
  truss_proof(const context<host>& ctx, const graph_view<I, O, host>& g, const trusses_claim<I>& claim)
      : ctx_(ctx), threads_(ctx.threads()), n_(g.vertices()), claim_(claim) {
    list_edges(g.out);
  }

  [[nodiscard]] std::string fault() {
    std::string wrong = claim_.k == 0 ? take_numbers() : take_truss();
    if (!wrong.empty() || edges_ == 0) return wrong;
    join();
    count();
    const I truss = static_cast<I>(claim_.k);
    if (const std::int64_t e = first_that(
            [&](std::int64_t x) { return behind_[x] < number_[x] - 2 && (claim_.k == 0 || number_[x] == truss); });
        e < edges_) {
      return claim_.k == 0 ? fmt::format("edge {} has truss number {} but {} triangles of edges of that number or more",
                                         name(e), number_[e], behind_[e])
                           : fmt::format("edge {} is in {} triangles of the {}-truss (expected {} or more)", name(e),
                                         behind_[e], claim_.k, claim_.k - 2);
    }
    order_all();
    if (const std::int64_t e =
            first_that([&](std::int64_t x) { return behind_[x] >= 0 && (claim_.k == 0 || number_[x] < truss); });
        e < edges_) {
      return claim_.k == 0 ? fmt::format("edge {} has truss number {} (expected {} or more)", name(e), number_[e],
                                         number_[e] + I{1})
                           : fmt::format("edge {} is missing from the {}-truss", name(e), claim_.k);
    }
    return {};
  }

 private:
  [[nodiscard]] std::string name(std::int64_t e) const { return fmt::format("({}, {})", from_[e], to_[e]); }

  // The first edge for which `is` holds; edges_ if there is none.
  template <class Predicate>
  [[nodiscard]] std::int64_t first_that(Predicate&& is) const {
    std::atomic<std::int64_t> first{edges_};
    detail::parallel_for(threads_, edges_, detail::grain::elements, [&](std::int64_t e) {
      if (is(e)) detail::lower_to(first, e);
    });
    return first;
  }

  // All edges, ascending by their ends, the smaller first.
  void list_edges(const csr_pattern_view<I, O, host>& rows) {
    std::int64_t most = 0;
    for (std::int64_t v = 0; v < n_; ++v) {
      for (O e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) most += rows.indices[e] > v ? 1 : 0;
    }
    from_ = {ctx_, most};
    to_ = {ctx_, most};
    for (std::int64_t v = 0; v < n_; ++v) {
      I* const begin = to_.data() + edges_;
      I* end = begin;
      for (O e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
        if (rows.indices[e] > v) *end++ = rows.indices[e];
      }
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
      end = std::unique(begin, end);
      std::fill(from_.data() + edges_, from_.data() + (end - to_.data()), static_cast<I>(v));
      edges_ = end - to_.data();
    }
    number_ = {ctx_, edges_};
  }

  [[nodiscard]] std::string take_numbers() {
    if (claim_.sources.size() != edges_ || claim_.targets.size() != edges_ || claim_.numbers.size() != edges_) {
      return fmt::format("{} sources, {} targets and {} truss numbers of {} edges", claim_.sources.size(),
                         claim_.targets.size(), claim_.numbers.size(), edges_);
    }
    for (std::int64_t e = 0; e < edges_; ++e) {
      if (claim_.sources[e] != from_[e] || claim_.targets[e] != to_[e]) {
        return fmt::format("edge {} is ({}, {}) (expected {})", e, claim_.sources[e], claim_.targets[e], name(e));
      }
      number_[e] = claim_.numbers[e];
      if (number_[e] < 2 || number_[e] > n_) {
        return fmt::format("edge {} has truss number {} (expected 2 to {})", name(e), number_[e], n_);
      }
    }
    return {};
  }

  [[nodiscard]] std::string take_truss() {
    const std::int64_t size = claim_.sources.size();
    if (claim_.k < 2) return fmt::format("a {}-truss (expected 2 or more)", claim_.k);
    if (claim_.targets.size() != size || !claim_.numbers.empty()) {
      return fmt::format("{} sources, {} targets and {} truss numbers of a {}-truss", size, claim_.targets.size(),
                         claim_.numbers.size(), claim_.k);
    }
    if (size > 0 && claim_.k > n_) return fmt::format("a {}-truss of {} vertices", claim_.k, n_);
    // Of a k beyond the number of vertices nothing is inside, and numbers as large are outside as well.
    claim_.k = std::min<std::int64_t>(claim_.k, n_ + 1);
    std::int64_t next = 0;
    for (std::int64_t e = 0; e < edges_; ++e) {
      const bool inside = next < size && claim_.sources[next] == from_[e] && claim_.targets[next] == to_[e];
      number_[e] = static_cast<I>(claim_.k - (inside ? 0 : 1));
      next += inside ? 1 : 0;
    }
    if (next == size) return {};
    return fmt::format("({}, {}) is no edge of the graph, or out of order", claim_.sources[next], claim_.targets[next]);
  }

  [[nodiscard]] bool is_before(I a, I b) const {
    return degree_[a] < degree_[b] || (degree_[a] == degree_[b] && a < b);
  }

  // Rows of neighbours with their edges: first those behind the vertex by degree, then those before it; both ascend.
  void join() {
    degree_ = {ctx_, n_};
    std::fill(degree_.begin(), degree_.end(), I{0});
    for (std::int64_t e = 0; e < edges_; ++e) {
      ++degree_[from_[e]];
      ++degree_[to_[e]];
    }
    begin_ = {ctx_, n_ + 1};
    middle_ = {ctx_, n_};
    begin_[0] = 0;
    for (std::int64_t v = 0; v < n_; ++v) {
      begin_[v + 1] = static_cast<O>(begin_[v] + static_cast<O>(degree_[v]));
      middle_[v] = begin_[v];
    }
    for (std::int64_t e = 0; e < edges_; ++e) ++middle_[is_before(from_[e], to_[e]) ? from_[e] : to_[e]];
    array<O, host> next(ctx_, n_);
    array<O, host> next_before(ctx_, n_);
    std::copy(begin_.begin(), begin_.begin() + n_, next.begin());
    std::copy(middle_.begin(), middle_.end(), next_before.begin());
    ends_ = {ctx_, 2 * edges_};
    ids_ = {ctx_, 2 * edges_};
    for (std::int64_t e = 0; e < edges_; ++e) {
      const bool ascends = is_before(from_[e], to_[e]);
      const I a = ascends ? from_[e] : to_[e];
      const I b = ascends ? to_[e] : from_[e];
      ends_[next[a]] = b;
      ids_[next[a]++] = static_cast<O>(e);
      ends_[next_before[b]] = a;
      ids_[next_before[b]++] = static_cast<O>(e);
    }
  }

  // Of the neighbours of entries soon after k, before `last`.
  void prefetch_behind(O k, O last) const {
    constexpr int ahead = 8;  // untuned
    if (last - k > 2 * ahead) __builtin_prefetch(begin_.data() + ends_[k + 2 * ahead]);
    if (last - k > ahead) __builtin_prefetch(ends_.data() + begin_[ends_[k + ahead]]);
  }

  // behind_[e]: triangles in which e has the least number, alone or not.
  void count() {
    behind_ = {ctx_, edges_};
    std::fill(behind_.begin(), behind_.end(), I{0});
    marks_ = {ctx_, threads_ * n_};
    std::fill(marks_.begin(), marks_.end(), O{0});
    const auto add = [&](O e, I least) {
      if (number_[e] == least) std::atomic_ref<I>(behind_[e]).fetch_add(1, std::memory_order_relaxed);
    };
    const detail::parts shares = detail::chunks_of(n_, 64);
    detail::on_threads(threads_, shares.count, [&](detail::part_taker& mine) {
      O* const marks = marks_.data() + mine.slot() * n_;
      for (std::int64_t part; mine.take(part);) {
        interruption::look();
        for (std::int64_t v = shares.first(part); v < shares.last(part); ++v) {
          for (O k = begin_[v]; k < middle_[v]; ++k) marks[ends_[k]] = static_cast<O>(ids_[k] + 1);
          for (O k = middle_[v]; begin_[v] < middle_[v] && k < begin_[v + 1]; ++k) {
            prefetch_behind(k, begin_[v + 1]);
            const I u = ends_[k];
            for (O j = begin_[u]; j < middle_[u]; ++j) {
              const O mark = marks[ends_[j]];
              if (mark == 0) continue;
              const I least = std::min({number_[ids_[k]], number_[ids_[j]], number_[mark - 1]});
              add(ids_[k], least);
              add(ids_[j], least);
              add(static_cast<O>(mark - 1), least);
            }
          }
          for (O k = begin_[v]; k < middle_[v]; ++k) marks[ends_[k]] = 0;
        }
      }
    });
  }

  // For each number separately. Edges that have a place in the order get -1 triangles behind them.
  void order_all() {
    I most = 0;
    for (const I number : number_) most = std::max(most, number);
    std::vector<std::int64_t> ends(static_cast<std::size_t>(most) + 2);  // [number + 1] of its part of the queue
    for (const I number : number_) ++ends[static_cast<std::size_t>(number) + 1];
    for (std::size_t t = 1; t < ends.size(); ++t) ends[t] += ends[t - 1];
    std::vector<std::int64_t> tails(ends.begin(), ends.end() - 1);
    queue_ = {ctx_, edges_};
    for (std::int64_t e = 0; e < edges_; ++e) {
      if (behind_[e] <= number_[e] - 2) queue_[tails[static_cast<std::size_t>(number_[e])]++] = static_cast<O>(e);
    }
    detail::on_threads(threads_, most + std::int64_t{1}, [&](detail::part_taker& mine) {
      for (std::int64_t t; mine.take(t);) {
        if (claim_.k != 0 && t == claim_.k) continue;
        order_of_number(static_cast<I>(t), ends[static_cast<std::size_t>(t)], tails[static_cast<std::size_t>(t)],
                        marks_.data() + mine.slot() * n_);
      }
    });
  }

  // Takes queue [head, tail) and what is appended: an edge taken is before those of its number that are not.
  void order_of_number(I t, std::int64_t head, std::int64_t tail, O* marks) {
    const auto is_behind = [&](O e) { return number_[e] > t || (number_[e] == t && behind_[e] >= 0); };
    const auto lower = [&](O e) {
      if (number_[e] == t && behind_[e] > t - 2 && --behind_[e] == t - 2) queue_[tail++] = e;
    };
    I marked = -1;
    const auto unmark = [&] {
      if (marked < 0) return;
      for (O k = begin_[marked]; k < begin_[marked + 1]; ++k) marks[ends_[k]] = 0;
    };
    for (; head < tail; ++head) {
      if (head % 1024 == 0) interruption::look();
      const O e = queue_[head];
      // At 0 no triangle of e is left among the edges behind it: either there never was one, or each was taken off.
      if (std::exchange(behind_[e], I{-1}) == 0) continue;
      const auto remove = [&](O a, O b) {
        if (!is_behind(a) || !is_behind(b)) return;
        lower(a);
        lower(b);
      };
      I u = from_[e];
      I v = to_[e];
      if (marked != u && (marked == v || degree_[v] < degree_[u])) std::swap(u, v);
      if (degree_[v] / 16 > degree_[u]) {  // u's neighbours are searched in v's row
        search(u, v, remove);
        continue;
      }
      if (marked != u) {
        if (degree_[u] / 16 > degree_[v]) {
          search(v, u, remove);
          continue;
        }
        unmark();
        for (O k = begin_[u]; k < begin_[u + 1]; ++k) marks[ends_[k]] = static_cast<O>(ids_[k] + 1);
        marked = u;
      }
      for (O k = begin_[v]; k < begin_[v + 1]; ++k) {
        if (const O mark = marks[ends_[k]]; mark != 0) remove(static_cast<O>(mark - 1), ids_[k]);
      }
    }
    unmark();
  }

  // Calls f(edge of u and w, edge of v and w) for each common neighbour w.
  template <class F>
  void search(I u, I v, F&& f) const {
    for (O k = begin_[u]; k < begin_[u + 1]; ++k) {
      const I w = ends_[k];
      if (w == v) continue;
      const O first = is_before(v, w) ? begin_[v] : middle_[v];
      const O last = is_before(v, w) ? middle_[v] : begin_[v + 1];
      const I* const at = std::lower_bound(ends_.data() + first, ends_.data() + last, w);
      if (at < ends_.data() + last && *at == w) f(ids_[k], ids_[at - ends_.data()]);
    }
  }

  const context<host>& ctx_;
  int threads_;
  std::int64_t n_;
  trusses_claim<I> claim_;
  std::int64_t edges_ = 0;
  array<I, host> from_;  // [edge]
  array<I, host> to_;
  array<I, host> number_;
  array<I, host> behind_;
  array<I, host> degree_;  // [vertex]
  array<O, host> begin_;
  array<O, host> middle_;
  array<I, host> ends_;   // [entry]
  array<O, host> ids_;    // its edge
  array<O, host> marks_;  // [thread slot][vertex] an edge to it, plus 1
  array<O, host> queue_;  // edges, by number
};

}  // namespace

template <index_type I, index_type O>
std::string check_trusses(const context<host>& ctx, const graph_view<I, O, host>& g,
                          const std::type_identity_t<trusses_claim<I>>& claim) try {
  return truss_proof<I, O>(ctx, g, claim).fault();
} catch (...) {
  detail::rethrow("check_trusses");
}

#define INSTANTIATE(I, O)                                                                       \
  template std::string check_trusses<I, O>(const context<host>&, const graph_view<I, O, host>&, \
                                           const std::type_identity_t<trusses_claim<I>>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
