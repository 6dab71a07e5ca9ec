// Spanning forests on the host: Boruvka over edges in batches by weight, Kruskal for small graphs.
//
// 1. A sample gives a threshold with some two edges per vertex below it. One pass over the weights collects those
// edges. 2. Boruvka's rounds: each tree finds its first edge, in the order of keys; these edges join trees; edges
// within a tree are dropped. 3. The rows of vertices outside the largest tree hold all other edges between trees;
// the rounds go on with them. If a batch does not fit the list, its threshold is lowered, and another batch follows.
//
// Invariant: keys are a strict order of the edges, so the first edges of the trees form no cycle, but for an edge that
// is first for both ends. The list's order has no influence. Cost: the weights are read once in the plan and once in a
// run; a round reads and writes random words for the edges that are left.
#include "core/bytes_of.hpp"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/components/host_forest.hpp"
#include "graph/forest/executor.hpp"
#include "graph/frontier/row_of.hpp"
#include "graph/frontier/row_parts.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/graph/weights.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

namespace spargo::detail::forest {

namespace {

struct tuning {
  static constexpr std::int64_t part_units = std::int64_t{1} << 15;  // vertices plus entries
  static constexpr int chunk = 256;                                  // entries whose weights are compared together
  static constexpr int block = 1024;                                 // edges that a thread appends together
};

using components::host_forest;

// A list of fixed capacity that threads append to; `size` counts what did not fit, too.
template <class Edge>
class edge_list {
 public:
  edge_list(const context<host>& ctx, std::int64_t capacity) : edges_(ctx, capacity) {}

  void append(const Edge* from, std::int64_t count) {
    const std::int64_t at = size_.fetch_add(count, std::memory_order_relaxed);
    if (at + count <= edges_.size()) std::copy_n(from, count, edges_.data() + at);
  }
  void clear() { size_ = 0; }
  void swap(edge_list& other) {
    edges_.swap(other.edges_);
    size_ = other.size_.exchange(size_);
  }
  [[nodiscard]] const Edge& operator[](std::int64_t k) const { return edges_[k]; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool has_overflowed() const { return size_ > edges_.size(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(edges_); }

 private:
  array<Edge, host> edges_;
  std::atomic<std::int64_t> size_{0};
};

// A thread's edges in front of a list.
template <class Edge>
struct alignas(64) edge_block {
  int size = 0;
  std::uint16_t offsets[tuning::chunk];
  Edge edges[tuning::block];

  void push(const Edge& edge, edge_list<Edge>& to) {
    if (size == tuning::block) flush(to);
    edges[size++] = edge;
  }
  void flush(edge_list<Edge>& to) {
    to.append(edges, size);
    size = 0;
  }
};

// *at = min(*at, value). `alone`: by no other thread at the time.
void lower(std::uint64_t& at, std::uint64_t value, bool alone) {
  std::atomic_ref<std::uint64_t> word(at);
  std::uint64_t now = word.load(std::memory_order_relaxed);
  if (alone) {
    if (value < now) word.store(value, std::memory_order_relaxed);
    return;
  }
  while (value < now && !word.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
}

// The first edge of each tree, by its root. `offer` all edges, then `settle` all, if the key takes two words.
template <class Key>
class first_edges;

template <>
class first_edges<narrow_key> {
 public:
  static constexpr bool settles = false;

  first_edges(const context<host>& ctx, std::int64_t n) : bits_(ctx, n) {}
  void reset(std::int64_t root) { store(bits_[root], no_edge); }
  void offer(std::int64_t root, narrow_key key, bool alone) { lower(bits_[root], key.bits, alone); }
  [[nodiscard]] bool is_first(std::int64_t root, narrow_key key) const { return bits_[root] == key.bits; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(bits_); }

  static void store(std::uint64_t& at, std::uint64_t value) {
    std::atomic_ref<std::uint64_t>(at).store(value, std::memory_order_relaxed);
  }

 private:
  array<std::uint64_t, host> bits_;
};

template <>
class first_edges<wide_key> {
 public:
  static constexpr bool settles = true;

  first_edges(const context<host>& ctx, std::int64_t n) : weights_(ctx, n), places_(ctx, n) {}
  void reset(std::int64_t root) {
    first_edges<narrow_key>::store(weights_[root], no_edge);
    first_edges<narrow_key>::store(places_[root], no_edge);
  }
  void offer(std::int64_t root, const wide_key& key, bool alone) { lower(weights_[root], key.high, alone); }
  void settle(std::int64_t root, const wide_key& key, bool alone) {
    if (weights_[root] == key.high) lower(places_[root], key.low, alone);
  }
  [[nodiscard]] bool is_first(std::int64_t root, const wide_key& key) const {
    return weights_[root] == key.high && places_[root] == key.low;
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(weights_, places_); }

 private:
  array<std::uint64_t, host> weights_;
  array<std::uint64_t, host> places_;
};

// --- What the executors share: the marked entries and the results
// ---------------------------------------------------------------------

template <class W>
[[nodiscard]] weight_sum<W> sum_of_chunk(const auto* terms, std::int64_t count) {
  weight_sum<W> lanes[sum_shape::lanes] = {};
  for (std::int64_t k = 0; k < count; ++k) {
    lanes[k % sum_shape::lanes] = lanes[k % sum_shape::lanes] + weight_sum<W>(terms[k]);
  }
  for (int half = sum_shape::lanes / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) lanes[k] = lanes[k] + lanes[k + half];
  }
  return lanes[0];
}

template <class W, class I, class O>
class host_executor : public executor<W, I, host> {
 public:
  host_executor(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, const forest_options& options)
      : ctx_(ctx),
        threads_(ctx.threads()),
        n_(g.vertices()),
        rows_(g.out),
        given_(g.out_weights),
        flips_(options.objective == forest_objective::maximum),
        parts_(rows_, tuning::part_units),
        marked_(ctx, div_up(rows_.nnz(), std::int64_t{64})),
        parents_(ctx, n_),
        sources_(ctx, n_),
        targets_(ctx, n_),
        weights_(ctx, n_),
        before_(static_cast<std::size_t>(parts_.count())),
        sums_(static_cast<std::size_t>(div_up(n_, std::int64_t{sum_shape::chunk}))) {}

  void run() final {
    parallel_for(threads_, marked_.size(), grain::elements, [&](std::int64_t k) { marked_[k] = 0; });
    parallel_for(threads_, n_, grain::elements, [&](std::int64_t v) { parents_[v] = static_cast<I>(v); });
    mark_forest();
    list_marked();
  }

  [[nodiscard]] const found_forest<W, I, host>& found() const noexcept final { return found_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept final {
    return bytes_of(marked_, parents_, sources_, targets_, weights_) + own_bytes();
  }

 protected:
  // Marks the forest's edges. Every vertex is its own parent.
  virtual void mark_forest() = 0;
  [[nodiscard]] virtual std::int64_t own_bytes() const noexcept = 0;

  template <class Key>
  [[nodiscard]] key_order<Key, W> order() const {
    using bits = typename Key::weight_bits;
    return {flips_ ? static_cast<bits>(~bits{0}) : bits{0}};
  }
  [[nodiscard]] host_forest<I> trees() { return host_forest<I>(parents_.data()); }

  void mark(std::int64_t place, bool alone) {
    std::uint64_t& word = marked_[place / 64];
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    if (alone) {
      word |= bit;
    } else {
      std::atomic_ref<std::uint64_t>(word).fetch_or(bit, std::memory_order_relaxed);
    }
  }

  context<host> ctx_;
  int threads_;
  std::int64_t n_;
  csr_pattern_view<I, O, host> rows_;
  span<const W, host> given_;
  bool flips_;
  row_parts<I, O> parts_;
  array<std::uint64_t, host> marked_;  // a bit per entry
  array<I, host> parents_;

 private:
  // Calls f(place) for the marked entries of [first, last), ascending.
  template <class F>
  void for_each_marked(std::int64_t first, std::int64_t last, F&& f) const {
    for (std::int64_t w = first / 64; w * 64 < last; ++w) {
      std::uint64_t word = marked_[w];
      if (w * 64 < first) word &= ~std::uint64_t{0} << (first % 64);
      for (; word != 0; word &= word - 1) {
        const std::int64_t place = w * 64 + std::countr_zero(word);
        if (place >= last) return;
        f(place);
      }
    }
  }

  void list_marked() {
    parallel_parts(threads_, parts_.count(), [&](std::int64_t part) {
      std::int64_t own = 0;
      parts_.for_each(part, [&](I, std::int64_t first, std::int64_t last) {
        for_each_marked(first, last, [&](std::int64_t) { ++own; });
      });
      before_[static_cast<std::size_t>(part)] = own;
    });
    std::int64_t edges = 0;
    for (std::int64_t& before : before_) edges += std::exchange(before, edges);
    parallel_parts(threads_, parts_.count(), [&](std::int64_t part) {
      std::int64_t next = before_[static_cast<std::size_t>(part)];
      parts_.for_each(part, [&](I u, std::int64_t first, std::int64_t last) {
        for_each_marked(first, last, [&](std::int64_t place) {
          sources_[next] = u;
          targets_[next] = rows_.indices[place];
          weights_[next++] = given_[place];
        });
      });
    });
    found_ = {std::as_const(sources_).view().subspan(0, edges), std::as_const(targets_).view().subspan(0, edges),
              std::as_const(weights_).view().subspan(0, edges), total_of(sum(edges))};
  }

  [[nodiscard]] weight_sum<W> sum(std::int64_t edges) {
    constexpr std::int64_t chunk = sum_shape::chunk;
    if (edges == 0) return {};
    std::int64_t count = div_up(edges, chunk);
    parallel_for(threads_, count, grain::elements / chunk, [&](std::int64_t c) {
      sums_[static_cast<std::size_t>(c)] =
          sum_of_chunk<W>(weights_.data() + c * chunk, std::min(chunk, edges - c * chunk));
    });
    while (count > 1) {
      const std::int64_t terms = std::exchange(count, div_up(count, chunk));
      for (std::int64_t c = 0; c < count; ++c) {
        sums_[static_cast<std::size_t>(c)] =
            sum_of_chunk<W>(sums_.data() + c * chunk, std::min(chunk, terms - c * chunk));
      }
    }
    return sums_[0];
  }

  array<I, host> sources_;
  array<I, host> targets_;
  array<W, host> weights_;
  std::vector<std::int64_t> before_;  // [part] edges before it
  std::vector<weight_sum<W>> sums_;   // [chunk]
  found_forest<W, I, host> found_;
};

// --- Kruskal
// --------------------------------------------------------------------------------------------------------------------------

template <class Key, class W, class I, class O>
class kruskal final : public host_executor<W, I, O> {
 public:
  kruskal(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, const forest_options& options)
      : host_executor<W, I, O>(ctx, g, options) {
    edges_.reserve(static_cast<std::size_t>(this->rows_.nnz() / 2 + 1));
  }

 private:
  void mark_forest() override {
    const auto& rows = this->rows_;
    const auto order = this->template order<Key>();
    edges_.clear();
    for (I u = 0; u < rows.rows; ++u) {
      for (O e = rows.offsets[u]; e < rows.offsets[u + 1]; ++e) {
        const I v = rows.indices[e];
        if (u < v && !is_nan(this->given_[e])) edges_.push_back({order(this->given_[e], e), u, v});
      }
    }
    interruption::look();
    std::sort(edges_.begin(), edges_.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    interruption::look();
    const host_forest<I> trees = this->trees();
    for (const auto& edge : edges_) {
      const I u = trees.shorten(edge.u);
      const I v = trees.shorten(edge.v);
      if (u == v) continue;
      trees.set_parent(std::max(u, v), std::min(u, v));
      this->mark(edge.key.place(), true);
    }
  }
  [[nodiscard]] std::int64_t own_bytes() const noexcept override {
    return static_cast<std::int64_t>(edges_.capacity() * sizeof(tree_edge<Key, I>));
  }

  std::vector<tree_edge<Key, I>> edges_;
};

// --- Boruvka
// --------------------------------------------------------------------------------------------------------------------------

template <class Key, class W, class I, class O>
class boruvka final : public host_executor<W, I, O> {
  using base = host_executor<W, I, O>;
  using edge = tree_edge<Key, I>;

 public:
  boruvka(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, const graph_facts& facts,
          const forest_options& options)
      : base(ctx, g, options),
        order_(this->template order<Key>()),
        ascending_(facts.ascending),
        held_(held_edges(this->n_, this->rows_.nnz())),
        first_(ctx, this->n_),
        list_(ctx, held_),
        next_(ctx, held_),
        blocks_(static_cast<std::size_t>(ctx.threads())) {
    start_ = this->rows_.nnz() / 2 < held_ ? Key() : sampled_threshold(batch_tuning::light * facts.connected);
  }

 private:
  void mark_forest() override {
    Key limit = start_;
    std::int64_t target = held_;
    skipped_ = -1;
    for (bool joined = false;;) {
      collect(limit, joined);
      if (list_.has_overflowed()) {
        tries_ *= 4;
        target /= 2;
        limit = sampled_threshold(target);
        continue;
      }
      join_trees();
      if (!(limit < Key())) return;
      put_under_roots();
      skipped_ = components::sampled_largest(this->trees(), this->n_);
      joined = true;
      limit = Key();
    }
  }

  // Of edges between trees.
  [[nodiscard]] Key sampled_threshold(std::int64_t target) {
    const auto& rows = this->rows_;
    const host_forest<I> trees = this->trees();
    std::vector<Key> found;
    for (std::int64_t k = 0; k < tries_; ++k) {
      const auto e = static_cast<std::int64_t>(mixed_bits(static_cast<std::uint64_t>(tries_), k) %
                                               static_cast<std::uint64_t>(rows.nnz()));
      const auto u = static_cast<I>(row_of(this->ctx_, rows, e));
      const I v = rows.indices[e];
      if (u >= v || is_nan(this->given_[e])) continue;
      if (has_run_ && trees.root(u) == trees.root(v)) continue;
      found.push_back(order_(this->given_[e], e));
    }
    return threshold(found, tries_, rows.nnz(), target);
  }

  // Edges up to the limit; once trees have been joined, those between trees.
  void collect(const Key& limit, bool joined) {
    interruption::look();
    has_run_ = true;
    parallel_for(this->threads_, this->n_, grain::elements, [&](std::int64_t v) { first_.reset(v); });
    list_.clear();
    on_threads(this->threads_, this->parts_.count(), [&](part_taker& mine) {
      edge_block<edge>& block = blocks_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t part; mine.take(part);) {
        this->parts_.for_each(part, [&](I u, std::int64_t first, std::int64_t last) {
          if (joined) {
            collect_between(u, first, last, limit, block);
          } else {
            collect_light(u, first, last, limit, block);
          }
        });
      }
      block.flush(list_);
    });
  }

  void collect_light(I u, std::int64_t first, std::int64_t last, const Key& limit, edge_block<edge>& block) {
    const W* const weights = this->given_.data();
    const auto most = limit.weight();
    for (std::int64_t begin = first; begin < last; begin += tuning::chunk) {
      const int size = static_cast<int>(std::min<std::int64_t>(last - begin, tuning::chunk));
      int light = 0;
      for (int k = 0; k < size; ++k) {
        block.offsets[light] = static_cast<std::uint16_t>(k);
        light += order_.weight(weights[begin + k]) <= most ? 1 : 0;
      }
      for (int k = 0; k < light; ++k) {
        const std::int64_t e = begin + block.offsets[k];
        const I v = this->rows_.indices[e];
        if (v <= u || is_nan(weights[e])) continue;
        const Key key = order_(weights[e], e);
        if (!(limit < key)) block.push({key, u, v}, list_);
      }
    }
  }

  // Vertices are under their roots. An edge into the largest tree is found from its other end only, others from the
  // smaller one.
  void collect_between(I u, std::int64_t first, std::int64_t last, const Key& limit, edge_block<edge>& block) {
    const I root = this->parents_[u];
    if (root == skipped_) return;
    for (std::int64_t e = first; e < last; ++e) {
      const I v = this->rows_.indices[e];
      const I other = this->parents_[v];
      if (other == root || (v < u && other != skipped_) || is_nan(this->given_[e])) continue;
      const std::int64_t place = v < u ? mirrored(u, v, e) : e;
      if (place < 0) continue;
      const Key key = order_(this->given_[e], place);
      if (!(limit < key)) block.push({key, root, other}, list_);
    }
  }

  // The place of edge e from u in v's row: the first of parallel edges of that weight, -1 if there is none.
  [[nodiscard]] std::int64_t mirrored(I u, I v, std::int64_t e) const {
    const auto& rows = this->rows_;
    const I* const end = rows.indices.data() + rows.offsets[v + 1];
    const I* at = rows.indices.data() + rows.offsets[v];
    if (ascending_) at = std::lower_bound(at, end, u);
    const auto weight = order_.weight(this->given_[e]);
    for (; at < end; ++at) {
      const std::int64_t place = at - rows.indices.data();
      if (*at == u && !is_nan(this->given_[place]) && order_.weight(this->given_[place]) == weight) return place;
      if (ascending_ && *at != u) break;
    }
    return -1;
  }

  template <class F>
  void for_each_edge(F&& f) {
    parallel_for(this->threads_, list_.size(), grain::rows, [&](std::int64_t k) { f(list_[k]); });
  }

  // Boruvka's rounds, until no edge of the list joins two trees.
  void join_trees() {
    while (list_.size() > 0) {
      interruption::look();
      const bool alone = useful_threads(this->threads_, list_.size(), grain::rows) == 1;
      for_each_edge([&](const edge& of) {
        if (of.u != skipped_) first_.offer(of.u, of.key, alone);
        if (of.v != skipped_) first_.offer(of.v, of.key, alone);
      });
      if constexpr (first_edges<Key>::settles) {
        for_each_edge([&](const edge& of) {
          if (of.u != skipped_) first_.settle(of.u, of.key, alone);
          if (of.v != skipped_) first_.settle(of.v, of.key, alone);
        });
      }
      for_each_edge([&](const edge& of) { take_first(of, alone); });
      drop_inner_edges();
    }
  }

  void take_first(const edge& of, bool alone) {
    const bool of_u = first_.is_first(of.u, of.key);
    const bool of_v = first_.is_first(of.v, of.key);
    if (!of_u && !of_v) return;
    this->mark(of.key.place(), alone);
    const bool u_hooks = of_u && (!of_v || of.v < of.u);
    this->trees().set_parent(u_hooks ? of.u : of.v, u_hooks ? of.v : of.u);
  }

  // Also names edges by the new roots, which have no first edges yet.
  void drop_inner_edges() {
    const host_forest<I> trees = this->trees();
    const parts shares = split_loop(this->threads_, list_.size(), grain::rows);
    next_.clear();
    on_threads(this->threads_, shares.count, [&](part_taker& mine) {
      edge_block<edge>& block = blocks_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t part; mine.take(part);) {
        for (std::int64_t k = shares.first(part); k < shares.last(part); ++k) {
          const I u = trees.shorten(list_[k].u);
          const I v = trees.shorten(list_[k].v);
          if (u == v) continue;
          first_.reset(u);
          first_.reset(v);
          block.push({list_[k].key, u, v}, next_);
        }
      }
      block.flush(next_);
    });
    list_.swap(next_);
  }

  void put_under_roots() {
    const host_forest<I> trees = this->trees();
    parallel_for(this->threads_, this->n_, grain::elements,
                 [&](std::int64_t v) { trees.set_parent(static_cast<I>(v), trees.shorten(static_cast<I>(v))); });
  }

  [[nodiscard]] std::int64_t own_bytes() const noexcept override {
    return first_.bytes() + list_.bytes() + next_.bytes() +
           static_cast<std::int64_t>(blocks_.size() * sizeof(edge_block<edge>));
  }

  key_order<Key, W> order_;
  bool ascending_;
  std::int64_t held_;
  std::int64_t tries_ = batch_tuning::samples;
  bool has_run_ = false;  // parents_ are set
  Key start_;             // limit of the first batch
  I skipped_ = -1;        // root of the largest tree, which takes no edges
  first_edges<Key> first_;
  edge_list<edge> list_;
  edge_list<edge> next_;
  std::vector<edge_block<edge>> blocks_;  // [slot]
};

template <class Key, class W, class I, class O>
std::unique_ptr<executor<W, I, host>> make(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g,
                                           const graph_facts& facts, const forest_options& options) {
  if (options.algorithm == forest_algorithm::kruskal) return std::make_unique<kruskal<Key, W, I, O>>(ctx, g, options);
  return std::make_unique<boruvka<Key, W, I, O>>(ctx, g, facts, options);
}

}  // namespace

template <class W, class I, class O>
graph_facts examine_graph(const context<host>& ctx, const weighted_graph_view<W, I, O, host>& g, nan_weights nan) {
  const auto count = [&](std::int64_t size, auto is) {
    return parallel_reduce(
        ctx.threads(), size, grain::elements, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t own = 0;
          for (std::int64_t k = first; k < last; ++k) own += is(k) ? 1 : 0;
          return own;
        },
        [](std::int64_t a, std::int64_t b) { return a + b; });
  };
  const auto& offsets = g.out.offsets;
  const auto& weights = g.out_weights;
  graph_facts facts;
  facts.connected = count(g.vertices(), [&](std::int64_t v) { return offsets[v] < offsets[v + 1]; });
  // Neighbours descend between rows only.
  const auto& indices = g.out.indices;
  facts.ascending =
      count(indices.size() - 1, [&](std::int64_t e) { return indices[e] > indices[e + 1]; }) ==
      count(g.vertices(), [&](std::int64_t v) {
        return offsets[v] > 0 && offsets[v] < offsets[v + 1] && indices[offsets[v] - 1] > indices[offsets[v]];
      });
  if constexpr (sizeof(W) == 8) {
    facts.narrow = count(weights.size(), [&](std::int64_t e) { return !fits_32_bits(weights[e]); }) == 0;
  }
  if constexpr (std::floating_point<W>) {
    if (nan == nan_weights::refuse && count(weights.size(), [&](std::int64_t e) { return is_nan(weights[e]); }) > 0) {
      const auto at = std::find_if(weights.begin(), weights.end(), [](W weight) { return is_nan(weight); });
      const std::int64_t e = at - weights.begin();
      refuse_nan(row_of(ctx, g.out, e), g.out.indices[e]);
    }
  }
  return facts;
}

template <class W, class I, class O>
std::unique_ptr<executor<W, I, host>> make_executor(const context<host>& ctx,
                                                    const weighted_graph_view<W, I, O, host>& g,
                                                    const graph_facts& facts, const forest_options& options) {
  if (facts.narrow && g.out.nnz() < narrow_key::most_entries) return make<narrow_key, W, I, O>(ctx, g, facts, options);
  return make<wide_key, W, I, O>(ctx, g, facts, options);
}

#define INSTANTIATE_W(W, I, O)                                                                                      \
  template graph_facts examine_graph(const context<host>&, const weighted_graph_view<W, I, O, host>&, nan_weights); \
  template std::unique_ptr<executor<W, I, host>> make_executor(                                                     \
      const context<host>&, const weighted_graph_view<W, I, O, host>&, const graph_facts&, const forest_options&);
#define INSTANTIATE(I, O)           \
  INSTANTIATE_W(std::int32_t, I, O) \
  INSTANTIATE_W(std::int64_t, I, O) \
  INSTANTIATE_W(float, I, O)        \
  INSTANTIATE_W(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::forest
