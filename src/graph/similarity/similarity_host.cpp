// Similarities on the host.
//
// Edges: the rows' ends of higher degree are marked in a bitmap, a vertex at a time, and the row of each neighbour of
// lower degree (of equal degree: the larger id) is looked up there. So every edge is intersected once, by the shorter
// row: O(edges^1.5). Edges of directed graphs are given by their source; a row much longer than the source's is
// searched instead.
// Given pairs: both rows are merged, or the shorter one is searched in the longer one.
// The top K: a thread adds the terms of a vertex's paths of two edges into a dense array, computes the values of the
// vertices it has reached, and keeps the best K in a heap. So no pair is stored.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/frontier/row_parts.hpp"
#include "graph/similarity/executor.hpp"
#include "graph/similarity/measure.hpp"
#include "graph/triangles/simd/loops.hpp"

#include <spargo/core/interruption.hpp>

#include <atomic>
#include <limits>
#include <numeric>
#include <vector>

namespace spargo::detail::similarity {

namespace {

struct tuning {
  static constexpr std::int64_t part = std::int64_t{1} << 13;   // vertices plus entries of a part; untuned
  static constexpr std::int64_t pairs = std::int64_t{1} << 10;  // given pairs of a part; untuned
  static constexpr std::int64_t paths = std::int64_t{1} << 8;   // vertices plus entries of a part of the top K; untuned
  static constexpr std::int64_t ratio = 16;  // a list this many times longer is searched, not read; untuned
  static constexpr std::int64_t ahead = 8;   // neighbours whose rows are prefetched; untuned
  static constexpr std::int64_t dense = 8;   // every n-th vertex reached: the sums are read in order, not by the list
};

// Terms of vertices: all 1, or fixed-point numbers.
struct unit_terms {
  [[nodiscard]] std::int64_t operator()(std::int64_t) const { return 1; }
};
struct listed_terms {
  const std::int64_t* terms;
  [[nodiscard]] std::int64_t operator()(std::int64_t w) const { return terms[w]; }
};

// The sum of the terms of entries that two ascending lists share.
template <class I, class Terms>
[[nodiscard]] std::int64_t sum_of_common(const I* a, std::int64_t a_size, const I* b, std::int64_t b_size,
                                         const Terms& terms) {
  if (a_size > b_size) {
    std::swap(a, b);
    std::swap(a_size, b_size);
  }
  const I* const a_end = a + a_size;
  const I* const b_end = b + b_size;
  std::int64_t sum = 0;
  if (a_size * tuning::ratio < b_size) {
    for (; a != a_end; ++a) {
      b = std::lower_bound(b, b_end, *a);
      if (b == b_end) break;
      if (*b == *a) sum += terms(*a);
    }
    return sum;
  }
  while (a != a_end && b != b_end) {
    const I x = *a;
    const I y = *b;
    if (x == y) sum += terms(x);
    a += x <= y ? 1 : 0;
    b += y <= x ? 1 : 0;
  }
  return sum;
}

template <class I, class O>
class host_executor : public executor<I, host> {
 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const similarity_options& options)
      : ctx_(ctx),
        threads_(ctx.threads()),
        rows_(ctx, g),
        out_(rows_.view().out),
        n_(g.vertices()),
        fixed_(options.measure, rows_.longest()),
        unit_(fixed_.unit()) {
    if (has_terms(options.measure)) find_terms();
  }

  [[nodiscard]] span<const I, host> sources() const noexcept override { return sources_.view().subspan(0, found_); }
  [[nodiscard]] span<const I, host> targets() const noexcept override { return targets_.view().subspan(0, found_); }
  [[nodiscard]] span<const double, host> values() const noexcept override { return values_.view().subspan(0, found_); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return rows_.bytes() + terms_.size() * std::int64_t{sizeof(std::int64_t)} +
           (sources_.size() + targets_.size()) * std::int64_t{sizeof(I)} +
           values_.size() * std::int64_t{sizeof(double)};
  }

 protected:
  [[nodiscard]] const I* row(std::int64_t v) const { return out_.indices.data() + out_.offsets[v]; }
  [[nodiscard]] std::int64_t degree(std::int64_t v) const {
    return std::int64_t{out_.offsets[v + 1]} - out_.offsets[v];
  }
  [[nodiscard]] double value(std::int64_t sum, std::int64_t u, std::int64_t v) const {
    return value_of(fixed_.measure, unit_, sum, degree(u), degree(v));
  }
  void allocate(std::int64_t pairs) {
    sources_ = {ctx_, pairs};
    targets_ = {ctx_, pairs};
    values_ = {ctx_, pairs};
    found_ = pairs;
  }
  // Calls f with the terms of vertices.
  template <class F>
  void with_terms(F&& f) {
    if (terms_.empty()) return f(unit_terms{});
    f(listed_terms{terms_.data()});
  }

  context<host> ctx_;
  int threads_;
  sorted_rows<I, O, host> rows_;
  csr_pattern_view<I, O, host> out_;
  std::int64_t n_;
  fixed_terms fixed_;
  double unit_;
  std::int64_t found_ = 0;
  array<std::int64_t, host> terms_;  // [vertex], if the measure has some
  array<I, host> sources_;
  array<I, host> targets_;
  array<double, host> values_;

 private:
  void find_terms() {
    terms_ = {ctx_, n_};
    const graph_view<I, O, host>& g = rows_.view();
    if (g.direction == direction_kind::directed && !g.has_in_edges()) {
      parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) { terms_[v] = 0; });
      parallel_for(threads_, out_.nnz(), grain::elements, [&](std::int64_t e) {
        std::atomic_ref<std::int64_t>(terms_[out_.indices[e]]).fetch_add(1, std::memory_order_relaxed);
      });
    } else {
      const auto& in = g.direction == direction_kind::directed ? g.in : g.out;
      parallel_for(threads_, n_, grain::elements,
                   [&](std::int64_t v) { terms_[v] = std::int64_t{in.offsets[v + 1]} - in.offsets[v]; });
    }
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t v) { terms_[v] = fixed_.term(terms_[v]); });
  }
};

// --- Given pairs ----------------------------------------------------------------------------------------------------

template <class I, class O>
class given_executor final : public host_executor<I, O> {
  using base = host_executor<I, O>;

 public:
  given_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const wanted_pairs<I, host>& pairs,
                 const similarity_options& options)
      : base(ctx, g, options) {
    const auto is_vertex = [&](I v) { return v >= 0 && v < g.vertices(); };
    for (std::int64_t k = 0; k < pairs.sources.size(); ++k) {
      const I u = pairs.sources[k];
      const I v = pairs.targets[k];
      if (!is_vertex(u) || !is_vertex(v)) refuse_pair(k, u, v, g.vertices());
    }
    this->allocate(pairs.sources.size());
    std::copy(pairs.sources.begin(), pairs.sources.end(), this->sources_.begin());
    std::copy(pairs.targets.begin(), pairs.targets.end(), this->targets_.begin());
  }

  void run() override {
    this->with_terms([&](const auto& terms) {
      const parts shares = chunks_of(this->found_, tuning::pairs);
      parallel_parts(this->threads_, shares.count, [&](std::int64_t p) {
        interruption::look();
        for (std::int64_t k = shares.first(p); k < shares.last(p); ++k) {
          prefetch(std::min(k + tuning::ahead, shares.last(p) - 1));
          const I u = this->sources_[k];
          const I v = this->targets_[k];
          const std::int64_t sum = sum_of_common(this->row(u), this->degree(u), this->row(v), this->degree(v), terms);
          this->values_[k] = this->value(sum, u, v);
        }
      });
    });
  }

 private:
  void prefetch(std::int64_t k) const {
    __builtin_prefetch(this->row(this->sources_[k]));
    __builtin_prefetch(this->row(this->targets_[k]));
  }
};

// --- Edges ----------------------------------------------------------------------------------------------------------

template <class I, class O>
class edge_executor final : public host_executor<I, O> {
  using base = host_executor<I, O>;
  using base::n_;
  using base::out_;
  using base::threads_;

 public:
  edge_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const similarity_options& options)
      : base(ctx, g, options),
        directed_(g.direction == direction_kind::directed),
        words_(div_up(n_, 64)),
        firsts_(ctx, n_ + 1),
        marks_(ctx, threads_ * words_) {
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t u) { firsts_[u] = this->degree(u) - begin_of(u); });
    std::int64_t edges = 0;
    for (std::int64_t u = 0; u < n_; ++u) edges += std::exchange(firsts_[u], edges);
    firsts_[n_] = edges;
    this->allocate(edges);
    std::fill(marks_.begin(), marks_.end(), std::uint64_t{0});
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t u) {
      const std::int64_t begin = begin_of(u);
      for (std::int64_t k = firsts_[u]; k < firsts_[u + 1]; ++k) {
        this->sources_[k] = static_cast<I>(u);
        this->targets_[k] = this->row(u)[begin + k - firsts_[u]];
      }
    });
  }

  void run() override {
    this->with_terms([&](const auto& terms) {
      const row_parts<I, O> shares(out_, tuning::part);
      on_threads(threads_, shares.count(), [&](part_taker& mine) {
        for (std::int64_t part; mine.take(part);) {
          interruption::look();
          shares.for_each(part, [&](I u, std::int64_t first, std::int64_t last) {
            if (first < last) fill(u, first, last, marks_.data() + mine.slot() * words_, terms);
          });
        }
      });
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return base::workspace_bytes() + (firsts_.size() + marks_.size()) * std::int64_t{sizeof(std::int64_t)};
  }

 private:
  // The place in u's row of its first edge; edges of an undirected graph belong to the smaller end.
  [[nodiscard]] std::int64_t begin_of(std::int64_t u) const {
    const I* const first = this->row(u);
    return directed_ ? 0 : std::upper_bound(first, first + this->degree(u), static_cast<I>(u)) - first;
  }
  [[nodiscard]] bool is_followed(std::int64_t u, std::int64_t v) const {
    if (directed_) return true;
    const std::int64_t du = this->degree(u);
    const std::int64_t dv = this->degree(v);
    return dv < du || (dv == du && u < v);
  }

  // The values of entries [first, last) of u's row.
  template <class Terms>
  void fill(std::int64_t u, std::int64_t first, std::int64_t last, std::uint64_t* marks, const Terms& terms) {
    const I* const mine = this->row(u);
    const std::int64_t size = this->degree(u);
    for (std::int64_t k = 0; k < size; ++k) marks[mine[k] / 64] |= std::uint64_t{1} << mine[k] % 64;
    for (std::int64_t e = first; e < last; ++e) {
      if (e + tuning::ahead < last) __builtin_prefetch(this->row(out_.indices[e + tuning::ahead]));
      const I v = out_.indices[e];
      if (!is_followed(u, v)) continue;
      const I* const theirs = this->row(v);
      const std::int64_t their_size = this->degree(v);
      const std::int64_t sum = their_size > tuning::ratio * size ? sum_of_common(mine, size, theirs, their_size, terms)
                                                                 : sum_of_marked(marks, theirs, their_size, terms);
      this->values_[place_of(u, v, e)] = this->value(sum, u, v);
    }
    for (std::int64_t k = 0; k < size; ++k) marks[mine[k] / 64] = 0;
  }

  [[nodiscard]] std::int64_t sum_of_marked(const std::uint64_t* marks, const I* ids, std::int64_t size,
                                           const unit_terms&) const {
    return marked_(marks, reinterpret_cast<const std::make_unsigned_t<I>*>(ids), size);
  }
  [[nodiscard]] static std::int64_t sum_of_marked(const std::uint64_t* marks, const I* ids, std::int64_t size,
                                                  const listed_terms& terms) {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < size; ++k) {
      if ((marks[ids[k] / 64] >> ids[k] % 64 & 1) != 0) sum += terms(ids[k]);
    }
    return sum;
  }

  // The place of the edge of entry e, from u to v, in the results.
  [[nodiscard]] std::int64_t place_of(std::int64_t u, I v, std::int64_t e) const {
    if (directed_) return e;
    if (u < v) return firsts_[u + 1] - (out_.offsets[u + 1] - e);
    const I* const last = this->row(v) + this->degree(v);
    return firsts_[v + 1] - (last - std::lower_bound(this->row(v), last, static_cast<I>(u)));
  }

  decltype(triangles::count_loops<I>::marked) marked_ = triangles::usable_count_loops<I>().back().marked;
  bool directed_;
  std::int64_t words_;
  array<std::int64_t, host> firsts_;  // [vertex], plus one: its first edge
  array<std::uint64_t, host> marks_;  // [thread slot][word]; all 0 between vertices
};

// --- The top K ------------------------------------------------------------------------------------------------------

template <class I, class O, class Sum>
class top_executor final : public host_executor<I, O> {
  using base = host_executor<I, O>;
  using base::n_;
  using base::out_;
  using base::threads_;

 public:
  top_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const similarity_options& options)
      : base(ctx, g, options),
        in_(g.direction == direction_kind::directed ? this->rows_.view().in : out_),
        firsts_(ctx, n_ + 1),
        sizes_(ctx, n_),
        sums_(ctx, threads_ * n_),
        reached_(ctx, threads_ * n_) {
    const std::int64_t most = std::min(options.top, n_ - 1);
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t u) { firsts_[u] = std::min(most, paths_from(u)); });
    std::int64_t results = 0;
    for (std::int64_t u = 0; u < n_; ++u) results += std::exchange(firsts_[u], results);
    if (n_ > 0) firsts_[n_] = results;
    this->allocate(results);
    std::fill(sums_.begin(), sums_.end(), Sum{0});
  }

  void run() override {
    this->with_terms([&](const auto& terms) {
      const row_parts<I, O> shares(out_, tuning::paths);
      on_threads(threads_, shares.count(), [&](part_taker& mine) {
        for (std::int64_t part; mine.take(part);) {
          interruption::look();
          const auto range = shares.vertices(part);
          for (std::int64_t u = range.first; u < range.last; ++u) {
            find_top(u, sums_.data() + mine.slot() * n_, reached_.data() + mine.slot() * n_, terms);
          }
        }
      });
    });
    close_gaps();
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return base::workspace_bytes() + firsts_.size() * std::int64_t{sizeof(std::int64_t)} +
           (sizes_.size() + reached_.size()) * std::int64_t{sizeof(I)} + sums_.size() * std::int64_t{sizeof(Sum)};
  }

 private:
  [[nodiscard]] std::int64_t in_degree(std::int64_t w) const {
    return std::int64_t{in_.offsets[w + 1]} - in_.offsets[w];
  }
  // Paths of two edges from u to other vertices.
  [[nodiscard]] std::int64_t paths_from(std::int64_t u) const {
    std::int64_t paths = 0;
    for (std::int64_t k = 0; k < this->degree(u); ++k) paths += in_degree(this->row(u)[k]) - 1;
    return paths;
  }

  // `sums` is all 0 before and after.
  template <class Terms>
  void find_top(std::int64_t u, Sum* sums, I* reached, const Terms& terms) {
    const std::int64_t room = firsts_[u + 1] - firsts_[u];
    sizes_[u] = 0;
    if (room == 0) return;
    std::int64_t count = 0;
    const bool dense = paths_from(u) > n_ / tuning::dense;
    for (std::int64_t k = 0; k < this->degree(u); ++k) {
      const I w = this->row(u)[k];
      const auto term = static_cast<Sum>(terms(w));
      if (term == 0) continue;  // only u leads to w
      for (O e = in_.offsets[w]; e < in_.offsets[w + 1]; ++e) {
        const I v = in_.indices[e];
        if (!dense && sums[v] == 0) reached[count++] = v;
        sums[v] += term;
      }
    }
    sums[u] = 0;
    best_values best(this->targets_.data() + firsts_[u], this->values_.data() + firsts_[u], room);
    const auto take = [&](I v) {
      if (sums[v] == 0) return;
      best.offer(v, this->value(static_cast<std::int64_t>(sums[v]), u, v));
      sums[v] = 0;
    };
    if (dense) {
      for (std::int64_t v = 0; v < n_; ++v) take(static_cast<I>(v));
    } else {
      for (std::int64_t k = 0; k < count; ++k) take(reached[k]);
    }
    sizes_[u] = static_cast<I>(best.finish());
  }

  // The best of the values offered, in two arrays: a heap with the worst in front, then sorted.
  class best_values {
   public:
    best_values(I* ids, double* values, std::int64_t room) : ids_(ids), values_(values), room_(room) {}

    void offer(I id, double value) {
      if (size_ == room_ && !precedes(id, value, ids_[0], values_[0])) return;
      if (size_ < room_) {
        rise(size_++, id, value);
      } else {
        sink(size_, id, value);
      }
    }
    // Sorts; returns how many there are.
    [[nodiscard]] std::int64_t finish() {
      for (std::int64_t last = size_ - 1; last > 0; --last) {
        const I id = ids_[last];
        const double value = values_[last];
        ids_[last] = ids_[0];
        values_[last] = values_[0];
        sink(last, id, value);
      }
      return size_;
    }

   private:
    [[nodiscard]] static bool precedes(I a, double a_value, I b, double b_value) {
      return a_value > b_value || (a_value == b_value && a < b);
    }
    void put(std::int64_t at, I id, double value) {
      ids_[at] = id;
      values_[at] = value;
    }
    void rise(std::int64_t at, I id, double value) {
      for (; at > 0; at = (at - 1) / 2) {
        const std::int64_t parent = (at - 1) / 2;
        if (!precedes(ids_[parent], values_[parent], id, value)) break;
        put(at, ids_[parent], values_[parent]);
      }
      put(at, id, value);
    }
    // Replaces the front of the heap's first `size` entries.
    void sink(std::int64_t size, I id, double value) {
      std::int64_t at = 0;
      for (std::int64_t child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && precedes(ids_[child], values_[child], ids_[child + 1], values_[child + 1])) ++child;
        if (!precedes(id, value, ids_[child], values_[child])) break;
        put(at, ids_[child], values_[child]);
        at = child;
      }
      put(at, id, value);
    }

    I* ids_;
    double* values_;
    std::int64_t room_;
    std::int64_t size_ = 0;
  };

  // Moves the results of all vertices together.
  void close_gaps() {
    std::int64_t to = 0;
    for (std::int64_t u = 0; u < n_; ++u) {
      std::copy_n(this->targets_.data() + firsts_[u], sizes_[u], this->targets_.data() + to);
      std::copy_n(this->values_.data() + firsts_[u], sizes_[u], this->values_.data() + to);
      std::fill_n(this->sources_.data() + to, sizes_[u], static_cast<I>(u));
      to += sizes_[u];
    }
    this->found_ = to;
  }

  csr_pattern_view<I, O, host> in_;   // who has a vertex as a neighbour
  array<std::int64_t, host> firsts_;  // [vertex], plus one: room for its results
  array<I, host> sizes_;              // [vertex] results found
  array<Sum, host> sums_;             // [thread slot][vertex]; all 0 between vertices
  array<I, host> reached_;            // [thread slot][vertices reached]
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const wanted_pairs<I, host>& pairs,
                                                 const similarity_options& options) {
  if (pairs.kind == similarity_pairs::given) {
    return std::make_unique<given_executor<I, O>>(ctx, g, pairs, options);
  }
  if (pairs.kind == similarity_pairs::edges) return std::make_unique<edge_executor<I, O>>(ctx, g, options);
  if (has_terms(options.measure)) return std::make_unique<top_executor<I, O, std::int64_t>>(ctx, g, options);
  return std::make_unique<top_executor<I, O, I>>(ctx, g, options);
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            const wanted_pairs<I, host>&, const similarity_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::similarity
