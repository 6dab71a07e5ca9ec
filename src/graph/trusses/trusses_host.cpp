// Trusses on the host: peeling, one level after the other.
//
// The support of an edge is the number of its triangles that are left. Level s removes every edge of support s, and in
// rounds every edge whose support falls to s as others go; their truss number is s + 2. A round's edges, its frontier,
// lower the supports of the edges that they form triangles with: of a triangle with two edges in the frontier, the one
// with the smaller number lowers the third. Supports are not lowered below s. For a single k there is one level, and
// what it leaves is the k-truss.
//
// An edge (u, v) finds its triangles in one of two ways: u's row is marked, once for all edges of the frontier from u,
// and v's row looked up in the marks; or each neighbour in the shorter row is searched in the longer one. When half of
// the edges are removed, the others are copied to shorter rows; when a frontier has half of the edges that are left,
// their supports are counted again after it instead of being lowered. Small rounds run on the calling thread.
//
// Invariant: edge_state::round is below the current round for removed edges, equal to it for the frontier, and above it
// for edges that are left; those have their exact support, or the level's if they are in the next frontier.
#include "core/instantiate.hpp"
#include "core/search.hpp"
#include "graph/trusses/host_edges.hpp"

#include <spargo/core/interruption.hpp>

#include <bit>
#include <memory>
#include <utility>

namespace spargo::detail::trusses {

namespace {

struct tuning {
  static constexpr std::int64_t share = 128;       // edges of a frontier that are worth a thread; untuned
  static constexpr std::int64_t part = 32;         // edges of a frontier per part
  static constexpr std::int64_t block = 512;       // edges that a thread collects before it appends them to the queue
  static constexpr std::int64_t few_edges = 4096;  // are not copied to shorter rows
  static constexpr int ahead = 8;                  // edges whose lists are prefetched; untuned
};

enum class updates { plain, atomic };

template <class I, class O>
class host_executor final : public executor<I, host> {
  using rows = edge_rows<I, O>;

 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, std::int64_t k)
      : threads_(ctx.threads()), n_(g.vertices()), k_(k) {
    graph_ = rows_of_graph(ctx, g);
    const std::int64_t edges = graph_.edges;
    for (int half = 0; half < 2; ++half) {
      copies_[half] = {ctx, n_, edges >> (half + 1)};
      copies_[half].originals = {ctx, edges >> (half + 1)};
    }
    queue_ = {ctx, edges};
    truss_ = {ctx, edges};
    if (k == 0) {
      numbers_ = {ctx, edges};
    } else {
      kept_sources_ = {ctx, edges};
      kept_targets_ = {ctx, edges};
    }
    std::int64_t longest = 0;
    for (std::int64_t v = 0; v < n_; ++v) longest = std::max(longest, graph_.lower(v));
    longest_ = longest;
    marks_ = {ctx, threads_ * n_};
    hits_ = {ctx, threads_ * longest};
    std::fill(marks_.begin(), marks_.end(), I{0});
    scratch_.resize(static_cast<std::size_t>(threads_));
  }

  void run() override {
    start();
    if (k_ == 2) alive_ = 0;  // nothing is removed
    while (alive_ > 0) {
      const I least = find_frontier();
      if (tail_ > 0) {
        if (peel_level()) {
          if (k_ != 0) break;
          ++level_;
        }
        if (2 * alive_ <= now_->edges && now_->edges > tuning::few_edges) shorten_rows();
      } else if (k_ == 0) {
        level_ = least;
      } else {
        break;
      }
    }
    collect();
    clean_ = true;
  }

  [[nodiscard]] const truss_edges<I, host>& result() const noexcept override { return result_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return graph_.bytes() + copies_[0].bytes() + copies_[1].bytes() +
           bytes_of(order_, sources_, targets_, numbers_, kept_sources_, kept_targets_, queue_, truss_, marks_, hits_) +
           static_cast<std::int64_t>(scratch_.size() * sizeof(scratch));
  }

 private:
  // A thread's: edges for the next frontier, and the vertex whose row is marked.
  struct alignas(64) scratch {
    std::int64_t size = 0;
    O found[tuning::block];
    std::int64_t marked = -1;
  };

  rows rows_of_graph(const context<host>& ctx, const graph_view<I, O, host>& g) {
    const auto loops = triangles::usable_count_loops<I>().back();
    triangles::oriented_graph<I, O> oriented(ctx, {g.out, {}}, {}, triangles_output::total,
                                             triangles::list_order::ascending, loops);
    oriented.build();
    rows made = rows_of_lists(ctx, oriented);
    // The order of results: by the ends as the graph has them.
    array<I, host> vertices(ctx, n_);
    parallel_for(threads_, n_, grain::elements,
                 [&](std::int64_t v) { vertices[oriented.rank()[v]] = static_cast<I>(v); });
    const auto ends = [&](O e) { return std::minmax(vertices[made.from[e]], vertices[made.to[e]]); };
    const std::int64_t edges = made.edges;
    array<O, host> next(ctx, n_);
    order_ = {ctx, edges};
    sources_ = {ctx, edges};
    targets_ = {ctx, edges};
    std::fill(next.begin(), next.end(), O{0});
    for (std::int64_t e = 0; e < edges; ++e) ++next[ends(static_cast<O>(e)).first];
    O before = 0;
    for (O& count : next) before += std::exchange(count, before);
    group_edges(
        threads_, edges, n_, next.data(), order_.data(), [&](O e) { return I{ends(e).first}; },
        [&](O a, O b) { return I{ends(a).second} < I{ends(b).second}; });
    parallel_for(threads_, edges, grain::elements, [&](std::int64_t place) {
      sources_[place] = ends(order_[place]).first;
      targets_[place] = ends(order_[place]).second;
    });
    return made;
  }

  void start() {
    if (!clean_) {
      std::fill(marks_.begin(), marks_.end(), I{0});
      for (scratch& own : scratch_) own.size = 0, own.marked = -1;
    }
    clean_ = false;
    now_ = &graph_;
    alive_ = graph_.edges;
    level_ = static_cast<I>(k_ == 0 ? 0 : std::min<std::int64_t>(k_, n_ + 3) - 3);
    parallel_for(threads_, graph_.edges, grain::elements, [&](std::int64_t e) {
      graph_.states[e].round = never<I>;
      truss_[e] = 0;
    });
    round_ = 1;
    tail_ = 0;
    if (k_ != 2) count_supports();
  }

  // --- Supports

  void count_supports() {
    rows& g = *now_;
    parallel_for(threads_, g.edges, grain::elements, [&](std::int64_t e) { g.states[e].support = 0; });
    const parts shares = chunks_of(n_, edge_tuning::vertices);
    const int team = useful_threads(threads_, n_, edge_tuning::vertices);
    on_threads(team, shares.count, [&](part_taker& mine) {
      I* const marks = marks_.data() + mine.slot() * n_;
      I* const hits = hits_.data() + mine.slot() * longest_;
      for (std::int64_t part; mine.take(part);) {
        interruption::look();
        for (std::int64_t v = shares.first(part); v < shares.last(part); ++v) {
          team == 1 ? count_from<updates::plain>(v, marks, hits) : count_from<updates::atomic>(v, marks, hits);
        }
      }
    });
  }

  // The triangles whose vertex of middle rank is u: its lower neighbours are marked, and for each v above it the edges
  // of v to ranks before u are looked up.
  template <updates How>
  void count_from(std::int64_t u, I* marks, I* hits) {
    rows& g = *now_;
    const std::int64_t size = g.lower(u);
    const O above = static_cast<O>(g.offsets[u] + size);
    const O last = g.offsets[u + 1];
    if (size == 0 || above == last) return;
    const I* const ends = g.to.data() + g.first[u];
    for (std::int64_t k = 0; k < size; ++k) {
      marks[ends[k]] = static_cast<I>(k + 1);
      hits[k] = 0;
    }
    for (O at = above; at < last; ++at) {
      prefetch_edges(at, last);
      O e = g.first[g.ends[at]];
      I found = 0;
      for (; g.to[e] < u; ++e) {  // u is among them
        const I mark = marks[g.to[e]];
        if (mark == 0) continue;
        ++found;
        ++hits[mark - 1];
        add<How>(g.states[e].support, 1);
      }
      if (found > 0) add<How>(g.states[e].support, found);
    }
    for (std::int64_t k = 0; k < size; ++k) {
      marks[ends[k]] = 0;
      if (hits[k] > 0) add<How>(g.states[g.first[u] + k].support, hits[k]);
    }
  }
  // Of the ends of entries soon after `at`, before `last`.
  void prefetch_edges(O at, O last) const {
    const rows& g = *now_;
    if (last - at > 2 * tuning::ahead) __builtin_prefetch(g.first.data() + g.ends[at + 2 * tuning::ahead]);
    if (last - at > tuning::ahead) __builtin_prefetch(g.to.data() + g.first[g.ends[at + tuning::ahead]]);
  }

  template <updates How>
  static I add(I& value, I some) {
    if constexpr (How == updates::atomic) {
      return std::atomic_ref<I>(value).fetch_add(some, std::memory_order_relaxed);
    } else {
      return std::exchange(value, static_cast<I>(value + some));
    }
  }

  // --- Levels

  // Fills the queue with the edges of at most the level's support; returns the least support of the others.
  [[nodiscard]] I find_frontier() {
    rows& g = *now_;
    tail_ = 0;
    std::atomic<std::int64_t> least{never<I>};
    const parts shares = chunks_of(g.edges, grain::elements);
    on_threads(useful_threads(threads_, g.edges, grain::elements), shares.count, [&](part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      I lowest = never<I>;
      for (std::int64_t part; mine.take(part);) {
        interruption::look();
        for (std::int64_t e = shares.first(part); e < shares.last(part); ++e) {
          edge_state<I>& state = g.states[e];
          if (state.round != never<I>) continue;
          if (state.support <= level_) {
            state.round = round_;
            push(static_cast<O>(e), own);
          } else {
            lowest = std::min(lowest, state.support);
          }
        }
      }
      flush(own);
      lower_to(least, lowest);
    });
    return static_cast<I>(least.load());
  }

  void push(O e, scratch& own) {
    truss_[now_->original(e)] = static_cast<I>(level_ + 2);
    if (own.size == tuning::block) flush(own);
    own.found[own.size++] = e;
  }
  void flush(scratch& own) {
    const std::int64_t place = std::atomic_ref<std::int64_t>(tail_).fetch_add(own.size, std::memory_order_relaxed);
    std::copy_n(own.found, own.size, queue_.data() + place);
    own.size = 0;
  }

  // Returns false when supports were counted again, so the level may have more edges.
  [[nodiscard]] bool peel_level() {
    for (std::int64_t head = 0; head < tail_;) {
      const std::int64_t tail = tail_;
      const std::int64_t size = tail - head;
      alive_ -= size;
      if (alive_ == 0) return true;
      if (size >= alive_ && now_->edges > tuning::few_edges) {
        shorten_rows();
        count_supports();
        return false;
      }
      peel_round(queue_.data() + head, size);
      head = tail;
      ++round_;
    }
    return true;
  }

  void peel_round(const O* frontier, std::int64_t size) {
    const int team = useful_threads(threads_, size, tuning::share);
    if (team == 1) {
      peel_edges<updates::plain>(frontier, frontier + size, marks_.data(), scratch_[0]);
      finish(marks_.data(), scratch_[0]);
      return;
    }
    const parts shares = chunks_of(size, tuning::part);
    on_threads(team, shares.count, [&](part_taker& mine) {
      scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
      I* const marks = marks_.data() + mine.slot() * n_;
      for (std::int64_t part; mine.take(part);) {
        peel_edges<updates::atomic>(frontier + shares.first(part), frontier + shares.last(part), marks, own);
      }
      finish(marks, own);
    });
  }

  template <updates How>
  void peel_edges(const O* first, const O* last, I* marks, scratch& own) {
    interruption::look();
    const rows& g = *now_;
    for (; first < last; ++first) {
      const O e = *first;
      for_each_triangle(g.from[e], g.to[e], marks, own, [&](O a, O b) {
        const I round_a = round_of(a);
        const I round_b = round_of(b);
        if (round_a < round_ || round_b < round_) return;
        if (round_a > round_ && (round_b > round_ || e < b)) lower<How>(a, own);
        if (round_b > round_ && (round_a > round_ || e < a)) lower<How>(b, own);
      });
    }
  }
  [[nodiscard]] I round_of(O e) const {
    return std::atomic_ref<I>(now_->states[e].round).load(std::memory_order_relaxed);
  }

  template <updates How>
  void lower(O e, scratch& own) {
    edge_state<I>& state = now_->states[e];
    if (std::atomic_ref<I>(state.support).load(std::memory_order_relaxed) <= level_) return;
    if (add<How>(state.support, -1) != level_ + 1) return;
    std::atomic_ref<I>(state.round).store(static_cast<I>(round_ + 1), std::memory_order_relaxed);
    push(e, own);
  }

  // Calls f(edge of u and w, edge of v and w) for each common neighbour w.
  template <class F>
  void for_each_triangle(I u, I v, I* marks, scratch& own, F&& f) {
    const rows& g = *now_;
    const I* const ends_u = g.ends.data() + g.offsets[u];
    const I* const ends_v = g.ends.data() + g.offsets[v];
    const O* const numbers_u = g.numbers.data() + g.offsets[u];
    const O* const numbers_v = g.numbers.data() + g.offsets[v];
    const std::int64_t size_u = g.degree(u);
    const std::int64_t size_v = g.degree(v);
    const auto steps = [](std::int64_t shorter, std::int64_t longer) {
      return shorter *
             (2 * static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(longer / shorter))) + 4);
    };
    const bool is_marked = own.marked == u;
    if (steps(std::min(size_u, size_v), std::max(size_u, size_v)) < size_v + (is_marked ? 0 : 2 * size_u)) {
      if (size_u <= size_v) {
        search_each(ends_u, size_u, ends_v, size_v,
                    [&](std::int64_t a, std::int64_t b) { f(numbers_u[a], numbers_v[b]); });
      } else {
        search_each(ends_v, size_v, ends_u, size_u,
                    [&](std::int64_t b, std::int64_t a) { f(numbers_u[a], numbers_v[b]); });
      }
      return;
    }
    if (!is_marked) {
      unmark(marks, own);
      for (std::int64_t k = 0; k < size_u; ++k) marks[ends_u[k]] = static_cast<I>(k + 1);
      own.marked = u;
    }
    for (std::int64_t k = 0; k < size_v; ++k) {
      if (const I mark = marks[ends_v[k]]; mark != 0) f(numbers_u[mark - 1], numbers_v[k]);
    }
  }

  // Searches the elements of the shorter list in the longer one, by steps that double, each from the place of the last.
  template <class F>
  static void search_each(const I* shorter, std::int64_t size, const I* longer, std::int64_t longer_size, F&& f) {
    std::int64_t at = 0;
    for (std::int64_t k = 0; k < size; ++k) {
      const I wanted = shorter[k];
      std::int64_t step = 1;
      while (at + step < longer_size && longer[at + step] < wanted) step *= 2;
      at = first_where(at + step / 2, std::min(at + step, longer_size),
                       [&](std::int64_t i) { return longer[i] >= wanted; });
      if (at == longer_size) return;
      if (longer[at] == wanted) f(k, at);
    }
  }

  void unmark(I* marks, scratch& own) {
    if (own.marked < 0) return;
    for (O k = now_->offsets[own.marked]; k < now_->offsets[own.marked + 1]; ++k) marks[now_->ends[k]] = 0;
    own.marked = -1;
  }
  void finish(I* marks, scratch& own) {
    unmark(marks, own);
    flush(own);
  }

  void shorten_rows() {
    rows& left = now_ == &copies_[0] ? copies_[1] : copies_[0];
    copy_left(threads_, *now_, left, queue_.data(), places_);
    now_ = &left;
    round_ = 1;
  }

  // --- Results

  void collect() {
    const std::int64_t edges = graph_.edges;
    if (k_ == 0) {
      parallel_for(threads_, edges, grain::elements,
                   [&](std::int64_t place) { numbers_[place] = truss_[order_[place]]; });
      // The level is one beyond the last that had edges.
      result_ = {sources_.view(), targets_.view(), numbers_.view(), edges == 0 ? I{0} : static_cast<I>(level_ + 1)};
      return;
    }
    const std::int64_t kept = for_each_kept(
        threads_, edges, places_, [&](std::int64_t place) { return truss_[order_[place]] == 0; },
        [&](std::int64_t place, std::int64_t to) {
          kept_sources_[to] = sources_[place];
          kept_targets_[to] = targets_[place];
        });
    result_ = {span<const I, host>(kept_sources_.view()).subspan(0, kept),
               span<const I, host>(kept_targets_.view()).subspan(0, kept),
               {},
               kept == 0 ? I{0} : static_cast<I>(k_)};
  }

  int threads_;
  std::int64_t n_;
  std::int64_t k_;
  rows graph_;            // all edges
  rows copies_[2];        // at most a half and a quarter of them
  array<O, host> order_;  // [place in the result] the edge
  array<I, host> sources_;
  array<I, host> targets_;
  array<I, host> numbers_;
  array<I, host> kept_sources_;  // of a single k
  array<I, host> kept_targets_;
  array<O, host> queue_;  // edges removed in this level
  array<I, host> truss_;  // [edge of graph_] its number when it is removed; 0 before
  array<I, host> marks_;  // [thread slot][rank] place in the marked row, plus 1; all 0 between rounds
  std::int64_t longest_ = 0;
  array<I, host> hits_;  // [thread slot][place in a list]
  std::vector<scratch> scratch_;
  std::vector<std::int64_t> places_;
  truss_edges<I, host> result_;
  rows* now_ = nullptr;  // what is left
  std::int64_t alive_ = 0;
  std::int64_t tail_ = 0;  // of the queue
  I level_ = 0;
  I round_ = 1;
  bool clean_ = true;  // the last run ended
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 std::int64_t k) {
  return std::make_unique<host_executor<I, O>>(ctx, g, k);
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::trusses
