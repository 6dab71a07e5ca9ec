// Boruvka's rounds on the host, over edges in batches by weight.
//
// 1. A sample gives a threshold with some two edges per vertex below it. One pass over the weights collects those
// edges. 2. In a round each tree finds its first edge, in the order of keys; these edges join trees; edges within a
// tree are dropped. 3. The rows of vertices outside the largest tree hold all other edges between trees; the rounds go
// on with them. If a batch does not fit the list, its threshold is lowered, and another batch follows.
//
// Invariant: keys are a strict order of the edges, so the first edges of the trees form no cycle, but for an edge that
// is first for both ends. The list's order has no influence. Cost: the weights are read once in the plan and once in a
// run; a round reads and writes random words for the edges that are left.
#pragma once

#include "graph/forest/host_edges.hpp"
#include "graph/frontier/row_of.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/graph/weights.hpp>

namespace spargo::detail::forest {

struct host_rounds_tuning {
  static constexpr int chunk = 256;             // entries whose weights are compared together
  static constexpr int block = 1024;            // edges that a thread appends together
  static constexpr std::int64_t searched = 16;  // longer rows are searched for the first larger neighbour
};

// A list of fixed capacity that threads append to; `size` counts what did not fit, too.
template <class Edge>
class host_edge_list {
 public:
  host_edge_list(const context<host>& ctx, std::int64_t capacity) : edges_(ctx, capacity) {}

  void append(const Edge* from, std::int64_t count) {
    const std::int64_t at = size_.fetch_add(count, std::memory_order_relaxed);
    if (at + count <= edges_.size()) std::copy_n(from, count, edges_.data() + at);
  }
  void clear() { size_ = 0; }
  void swap(host_edge_list& other) {
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
  std::uint16_t offsets[host_rounds_tuning::chunk];
  Edge edges[host_rounds_tuning::block];

  void push(const Edge& edge, host_edge_list<Edge>& to) {
    if (size == host_rounds_tuning::block) flush(to);
    edges[size++] = edge;
  }
  void flush(host_edge_list<Edge>& to) {
    to.append(edges, size);
    size = 0;
  }
};

// *at = min(*at, value). `alone`: by no other thread at the time.
inline void lower_word(std::uint64_t& at, std::uint64_t value, bool alone) {
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
class host_first_edges;

template <>
class host_first_edges<narrow_key> {
 public:
  static constexpr bool settles = false;

  host_first_edges(const context<host>& ctx, std::int64_t n) : bits_(ctx, n) {}
  void reset(std::int64_t root) { store(bits_[root], no_edge); }
  void offer(std::int64_t root, narrow_key key, bool alone) { lower_word(bits_[root], key.bits, alone); }
  [[nodiscard]] bool is_first(std::int64_t root, narrow_key key) const { return bits_[root] == key.bits; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(bits_); }

  static void store(std::uint64_t& at, std::uint64_t value) {
    std::atomic_ref<std::uint64_t>(at).store(value, std::memory_order_relaxed);
  }

 private:
  array<std::uint64_t, host> bits_;
};

template <>
class host_first_edges<wide_key> {
 public:
  static constexpr bool settles = true;

  host_first_edges(const context<host>& ctx, std::int64_t n) : weights_(ctx, n), places_(ctx, n) {}
  void reset(std::int64_t root) {
    host_first_edges<narrow_key>::store(weights_[root], no_edge);
    host_first_edges<narrow_key>::store(places_[root], no_edge);
  }
  void offer(std::int64_t root, const wide_key& key, bool alone) { lower_word(weights_[root], key.high, alone); }
  void settle(std::int64_t root, const wide_key& key, bool alone) {
    if (weights_[root] == key.high) lower_word(places_[root], key.low, alone);
  }
  [[nodiscard]] bool is_first(std::int64_t root, const wide_key& key) const {
    return weights_[root] == key.high && places_[root] == key.low;
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(weights_, places_); }

 private:
  array<std::uint64_t, host> weights_;
  array<std::uint64_t, host> places_;
};

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
    const I* const indices = this->rows_.indices.data();
    if (ascending_ && last - first > host_rounds_tuning::searched) {
      first = std::upper_bound(indices + first, indices + last, u) - indices;
    }
    const auto most = limit.weight();
    for (std::int64_t begin = first; begin < last; begin += host_rounds_tuning::chunk) {
      const int size = static_cast<int>(std::min<std::int64_t>(last - begin, host_rounds_tuning::chunk));
      int light = 0;
      for (int k = 0; k < size; ++k) {
        block.offsets[light] = static_cast<std::uint16_t>(k);
        light += order_.weight(weights[begin + k]) <= most ? 1 : 0;
      }
      for (int k = 0; k < light; ++k) {
        const std::int64_t e = begin + block.offsets[k];
        const I v = indices[e];
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
    for (int round = 1; list_.size() > 0; ++round) {
      interruption::look();
      const bool alone = useful_threads(this->threads_, list_.size(), grain::rows) == 1;
      for_each_edge([&](const edge& of) {
        if (of.u != skipped_) first_.offer(of.u, of.key, alone);
        if (of.v != skipped_) first_.offer(of.v, of.key, alone);
      });
      if constexpr (host_first_edges<Key>::settles) {
        for_each_edge([&](const edge& of) {
          if (of.u != skipped_) first_.settle(of.u, of.key, alone);
          if (of.v != skipped_) first_.settle(of.v, of.key, alone);
        });
      }
      for_each_edge([&](const edge& of) { take_first(of, alone); });
      drop_inner_edges();
      if (skipped_ < 0 && round == batch_tuning::rounds_of_all) {
        skipped_ = components::sampled_largest(this->trees(), this->n_);
      }
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
  host_first_edges<Key> first_;
  host_edge_list<edge> list_;
  host_edge_list<edge> next_;
  std::vector<edge_block<edge>> blocks_;  // [slot]
};

}  // namespace spargo::detail::forest
