// Similarities on the device: the executors. Edges and pairs: cuda_rows.cuh; the most similar vertices: cuda_top.cuh.
// Terms of vertices are computed by the host, so that they have the same bits there. A run over pairs or edges is a
// fixed sequence of kernels; one of the most similar vertices ends with a wait for their number.
#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/similarity/cuda_rows.cuh"
#include "graph/similarity/cuda_top.cuh"
#include "graph/similarity/executor.hpp"
#include "graph/triangles/ranked.hpp"
#include "primitives/element.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <spargo/core/error.hpp>
#include <spargo/primitives/scan.hpp>

#include <bit>
#include <limits>
#include <string>
#include <utility>

namespace spargo::detail::similarity {

namespace {

constexpr std::int64_t reserved_bytes = 1024;  // of a block's shared memory, for static variables

template <class I, class O>
array<std::int64_t, device> count_references(const context<device>& ctx, const graph_view<I, O, device>& g) {
  array<std::int64_t, device> counts(ctx, g.vertices());
  if (g.direction == direction_kind::undirected || g.has_in_edges()) {
    const auto& in = g.direction == direction_kind::directed ? g.in : g.out;
    for_each(ctx, counts.size(), [offsets = in.offsets.data(), to = counts.data()] __device__(std::int64_t v) {
      to[v] = static_cast<std::int64_t>(offsets[v + 1]) - static_cast<std::int64_t>(offsets[v]);
    });
  } else {
    fill_zero(ctx, counts);
    for_each(ctx, g.out.nnz(),
             [indices = g.out.indices.data(), to = reinterpret_cast<count64*>(counts.data())] __device__(
                 std::int64_t e) { atomicAdd(to + indices[e], count64{1}); });
  }
  return counts;
}

// Terms of vertices. Synchronizes.
template <class I, class O>
array<std::int64_t, device> find_terms(const context<device>& ctx, const graph_view<I, O, device>& g,
                                       const fixed_terms& fixed) {
  const auto degrees = count_references(ctx, g);
  auto terms = to_host(ctx, degrees.view());
  parallel_for(default_threads(), terms.size(), grain::rows, [&](std::int64_t v) { terms[v] = fixed.term(terms[v]); });
  return to_device(ctx, std::as_const(terms).view());
}

// The first edge of each vertex, and their number: those to larger ids, or all. Synchronizes.
template <class I, class O>
array<std::int64_t, device> find_firsts(const context<device>& ctx, const measured_rows<I, O>& g, bool directed) {
  array<std::int64_t, device> firsts(ctx, g.vertices + 1);
  for_each(ctx, firsts.size(), [=, to = firsts.data()] __device__(std::int64_t u) {
    if (u == g.vertices) {
      to[u] = 0;
      return;
    }
    const std::int64_t size = g.degree(u);
    to[u] = directed ? size : size - lower_bound(g.row(u), size, u);
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(firsts).view(), firsts.view());
  return firsts;
}

template <class I>
struct pair_ends {
  const I* sources;
  const I* targets;
};

// The number of the first pair whose ends are not both vertices, or `pairs`. Synchronizes.
template <class I>
std::int64_t first_wrong_pair(const context<device>& ctx, const pair_ends<I>& ends, std::int64_t pairs,
                              std::int64_t vertices) {
  array<count64, device> first(ctx, 1);
  for_each(ctx, 1, [=, to = first.data()] __device__(std::int64_t) { *to = static_cast<count64>(pairs); });
  for_each(ctx, pairs, [=, to = first.data()] __device__(std::int64_t k) {
    const auto is_vertex = [&](I v) { return v >= 0 && static_cast<std::int64_t>(v) < vertices; };
    if (!is_vertex(ends.sources[k]) || !is_vertex(ends.targets[k])) atomicMin(to, static_cast<count64>(k));
  });
  return static_cast<std::int64_t>(element<count64>(ctx, std::as_const(first).view(), 0));
}

// Room for the results of each vertex. Synchronizes.
template <class I, class O>
array<std::int64_t, device> find_rooms(const context<device>& ctx, const measured_rows<I, O>& g,
                                       const std::int64_t* paths, std::int64_t top) {
  array<std::int64_t, device> firsts(ctx, g.vertices + 1);
  const std::int64_t most = top < g.vertices - 1 ? top : g.vertices - 1;
  for_each(ctx, firsts.size(), [=, to = firsts.data()] __device__(std::int64_t u) {
    to[u] = u == g.vertices ? 0 : paths[u] < most ? paths[u] : most;
  });
  exclusive_scan<std::int64_t, device>(ctx, std::as_const(firsts).view(), firsts.view());
  return firsts;
}

// Sorts pairs by their end with the longer row: these ends, and the order.
template <class I, class O>
array<std::uint64_t, device> sort_by_owner(const context<device>& ctx, const measured_rows<I, O>& g, std::int64_t pairs,
                                           const I* sources, const I* targets, array<std::uint32_t, device>& order) {
  array<std::uint64_t, device> owners(ctx, pairs);
  for_each(ctx, pairs, [g, sources, targets, owners = owners.data()] __device__(std::int64_t k) {
    owners[k] = static_cast<std::uint64_t>(g.degree(sources[k]) < g.degree(targets[k]) ? targets[k] : sources[k]);
  });
  order = iota(ctx, pairs);
  sort_pairs(ctx, owners, order, 0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(g.vertices))));
  return owners;
}

// Orders the vertices by descending number of paths; returns how many have more than light_paths. Synchronizes.
std::int64_t order_by_paths(const context<device>& ctx, std::int64_t n, const std::int64_t* paths,
                            array<std::uint32_t, device>& order) {
  array<std::uint64_t, device> keys(ctx, n);
  for_each(ctx, n,
           [paths, keys = keys.data()] __device__(std::int64_t u) { keys[u] = ~static_cast<std::uint64_t>(paths[u]); });
  order = iota(ctx, n);
  sort_pairs(ctx, keys, order, 0, 64);
  array<std::int64_t, device> heavy(ctx, 1);
  for_each(ctx, 1, [n, keys = keys.data(), to = heavy.data()] __device__(std::int64_t) {
    *to = first_where(std::int64_t{0}, n,
                      [&](std::int64_t k) { return ~keys[k] <= static_cast<std::uint64_t>(top_tuning::light_paths); });
  });
  return element<std::int64_t>(ctx, std::as_const(heavy).view(), 0);
}

// Base of the executors: the rows and the results.
template <class I, class O>
class device_executor : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const similarity_options& options)
      : ctx_(ctx), rows_(ctx, g), n_(g.vertices()), fixed_(options.measure, rows_.longest()) {
    if (has_terms(options.measure) && n_ > 0) terms_ = find_terms(ctx, rows_.view(), fixed_);
  }

  [[nodiscard]] span<const I, device> sources() const noexcept override { return sources_.view().subspan(0, found_); }
  [[nodiscard]] span<const I, device> targets() const noexcept override { return targets_.view().subspan(0, found_); }
  [[nodiscard]] span<const double, device> values() const noexcept override {
    return values_.view().subspan(0, found_);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return rows_.bytes() + bytes_of(terms_, sources_, targets_, values_);
  }

 protected:
  [[nodiscard]] measured_rows<I, O> rows() const {
    const auto& out = rows_.view().out;
    return {n_, out.offsets.data(), out.indices.data(), terms_.data(), fixed_.measure, fixed_.unit()};
  }
  [[nodiscard]] bool is_directed() const { return rows_.view().direction == direction_kind::directed; }
  void allocate(std::int64_t pairs) {
    sources_ = {ctx_, pairs};
    targets_ = {ctx_, pairs};
    values_ = {ctx_, pairs};
    found_ = pairs;
  }
  // Calls f.template operator()<Terms>().
  template <class F>
  void with_terms(F&& f) {
    if (has_terms(fixed_.measure)) return f.template operator()<true>();
    f.template operator()<false>();
  }
  [[nodiscard]] std::int64_t multiprocessors() const { return ctx_.properties().multiprocessors; }

  context<device> ctx_;
  sorted_rows<I, O, device> rows_;
  std::int64_t n_;
  fixed_terms fixed_;
  std::int64_t found_ = 0;
  array<std::int64_t, device> terms_;
  array<I, device> sources_;
  array<I, device> targets_;
  array<double, device> values_;
};

// --- Pairs ----------------------------------------------------------------------------------------------------------

// Given pairs, or the edges of a directed graph.
template <class I, class O>
class pair_executor final : public device_executor<I, O> {
  using base = device_executor<I, O>;

 public:
  pair_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const wanted_pairs<I, device>& pairs,
                const similarity_options& options)
      : base(ctx, g, options), counts_(ctx, 1), next_(ctx, 1), big_count_(ctx, 1) {
    if (pairs.kind == similarity_pairs::edges) {
      take_edges();
    } else {
      take_given(pairs);
    }
    big_ = {ctx, this->found_};
    group_pairs();
  }

  void run() override {
    if (this->found_ == 0) return;
    const device_guard guard(this->ctx_);
    fill_zero(this->ctx_, big_count_);
    fill_zero(this->ctx_, next_);
    this->with_terms([&]<bool Terms>() {
      launch_kernel(this->ctx_, {4 * this->multiprocessors(), cuda_tuning::group_block}, groups_kernel<Terms, I, O>,
                    this->rows(), this->sources_.data(), this->targets_.data(), this->values_.data(), order_.data(),
                    groups_.data(), counts_.data(), next_.data());
      launch_kernel(this->ctx_, grid_stride(this->ctx_, this->found_), pairs_kernel<Terms, I, O>, this->rows(),
                    this->sources_.data(), this->targets_.data(), this->values_.data(), searched_.data(),
                    counts_.data(), big_.data(), big_count_.data());
      launch_kernel(this->ctx_, {8 * this->multiprocessors(), block_threads}, big_pairs_kernel<Terms, I, O>,
                    this->rows(), this->sources_.data(), this->targets_.data(), this->values_.data(), big_.data(),
                    big_count_.data());
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return base::workspace_bytes() + bytes_of(big_, big_count_, order_, searched_, groups_, counts_, next_);
  }

 private:
  void take_edges() {
    if (this->n_ == 0) return this->allocate(0);
    const device_guard guard(this->ctx_);
    const auto firsts = find_firsts(this->ctx_, this->rows(), true);
    const std::int64_t entries = this->rows_.view().out.nnz();
    this->allocate(entries);
    const std::int64_t parts = div_up(entries, triangles::traversal_tuning::entries);
    launch_kernel(this->ctx_, grid_stride(this->ctx_, parts, cuda_tuning::warps), list_edges_kernel<I, O>, this->rows(),
                  parts, firsts.data(), this->sources_.data(), this->targets_.data());
  }
  void take_given(const wanted_pairs<I, device>& pairs) {
    const std::int64_t count = pairs.sources.size();
    const pair_ends<I> ends{pairs.sources.data(), pairs.targets.data()};
    const std::int64_t wrong = first_wrong_pair(this->ctx_, ends, count, this->n_);
    if (wrong < count) {
      refuse_pair(wrong, element<I>(this->ctx_, pairs.sources, wrong), element<I>(this->ctx_, pairs.targets, wrong),
                  this->n_);
    }
    this->allocate(count);
    copy<I>(this->ctx_, pairs.sources, this->sources_.view());
    copy<I>(this->ctx_, pairs.targets, this->targets_.view());
  }

  void group_pairs() {
    const std::int64_t pairs = this->found_;
    if (pairs == 0) return;
    const device_guard guard(this->ctx_);
    const auto owners =
        sort_by_owner(this->ctx_, this->rows(), pairs, this->sources_.data(), this->targets_.data(), order_);
    searched_ = {this->ctx_, pairs};
    // A vertex with groups has a long row, and starts one group.
    const std::int64_t long_rows = this->rows_.view().out.nnz() / cuda_tuning::group_row;
    groups_ = {this->ctx_, pairs / cuda_tuning::group_pairs + std::min(pairs, long_rows) + 1};
    fill_zero(this->ctx_, counts_);
    launch_kernel(this->ctx_, grid_stride(this->ctx_, pairs), list_groups_kernel<I, O>, this->rows(), pairs,
                  this->sources_.data(), this->targets_.data(), owners.data(), order_.data(), groups_.data(),
                  searched_.data(), counts_.data());
  }

  array<std::uint32_t, device> order_;     // pairs by the end with the longer row
  array<std::uint32_t, device> searched_;  // pairs outside of groups
  array<pair_group, device> groups_;
  array<pair_counts, device> counts_;
  array<count64, device> next_;
  array<std::int64_t, device> big_;  // pairs that blocks take
  array<count64, device> big_count_;
};

// --- Edges of undirected graphs -------------------------------------------------------------------------------------

// By the supports of edges, for measures without terms.
template <class I, class O>
class support_executor final : public device_executor<I, O> {
  using base = device_executor<I, O>;

 public:
  support_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const similarity_options& options)
      : base(ctx, g, options), memory_(ctx), supports_(ctx, this->rows_.view().out.nnz() / 2) {
    const std::int64_t edges = this->rows_.view().out.nnz() / 2;
    this->allocate(edges);
    if (edges == 0) return;
    const auto ints = [&](std::int64_t size) { return memory_.template take<int>(size); };
    graph_ = {this->n_,        edges,   ints(this->n_ + 1), ints(this->n_ + 1),
              ints(2 * edges), nullptr, ints(edges),        ints(edges + triangles::ranked_padding),
              ints(edges)};
    support_ = ints(edges);
    triangles::fill_ranked(ctx, this->rows_.view().out, this->rows_.longest(), this->sources_.data(),
                           this->targets_.data(), graph_);
  }

  // Whether the ranks and numbers of a graph by rank suffice.
  [[nodiscard]] static bool fits(const graph_view<I, O, device>& g) {
    return g.vertices() <= triangles::most_ranked_vertices && g.out.nnz() / 2 <= triangles::most_ranked_edges;
  }

  void run() override {
    supports_.run(graph_, support_);
    for_each(this->ctx_, graph_.edges,
             [g = graph_, rows = this->rows(), support = support_,
              values = this->values_.data()] __device__(std::int64_t e) {
               const int u = g.from[e];
               const int v = g.to[e];
               values[g.place[e]] = rows.value(static_cast<count64>(support[e]), g.offsets[u + 1] - g.offsets[u],
                                               g.offsets[v + 1] - g.offsets[v]);
             });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return base::workspace_bytes() + memory_.bytes() + supports_.bytes();
  }

 private:
  plan_memory memory_;
  triangles::support_counter supports_;
  triangles::ranked_rows graph_{};
  int* support_ = nullptr;
};

template <class I, class O>
class edge_executor final : public device_executor<I, O> {
  using base = device_executor<I, O>;
  using base::ctx_;
  using base::n_;
  using tuning = cuda_tuning;

 public:
  edge_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const similarity_options& options)
      : base(ctx, g, options), counts_(ctx, 1), next_(ctx, 1) {
    if (n_ == 0) return;
    const device_guard guard(ctx);
    firsts_ = find_firsts(ctx, this->rows(), false);
    this->allocate(element<std::int64_t>(ctx, std::as_const(firsts_).view(), n_));
    const std::int64_t entries = this->rows_.view().out.nnz();
    const std::int64_t parts = div_up(entries, triangles::traversal_tuning::entries);
    launch_kernel(ctx, grid_stride(ctx, parts, tuning::warps), list_edges_kernel<I, O>, this->rows(), parts,
                  firsts_.data(), this->sources_.data(), this->targets_.data());
    if (this->rows_.longest() <= tuning::warp_row) return;
    middle_ = {ctx, entries / tuning::warp_row + 1};
    longest_ = {ctx, 2 * entries / tuning::block_row + 1};
    fill_zero(ctx, counts_);
    launch_kernel(ctx, grid_stride(ctx, n_), list_items_kernel<I, O>, this->rows(), middle_.data(), longest_.data(),
                  counts_.data());
  }

  void run() override {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    const edge_values<I, O> results{firsts_.data(), this->values_.data()};
    this->with_terms([&]<bool Terms>() {
      launch_kernel(ctx_, grid_stride(ctx_, n_), short_rows_kernel<Terms, I, O>, this->rows(), results);
      if (this->rows_.longest() <= tuning::warp_row) return;
      launch_kernel(ctx_, {8 * this->multiprocessors(), block_threads}, middle_rows_kernel<Terms, I, O>, this->rows(),
                    results, middle_.data(), counts_.data());
      if (this->rows_.longest() <= tuning::block_row) return;
      const std::int64_t room = (ctx_.properties().shared_memory_per_block - reserved_bytes) / 4 * 32;
      const std::int64_t bits = std::min(div_up(n_, std::int64_t{32}) * 32, room);
      const auto bytes = static_cast<std::size_t>(bits / 8);
      allow_shared(long_rows_kernel<Terms, I, O>, bytes);
      fill_zero(ctx_, next_);
      launch_kernel(ctx_, {2 * this->multiprocessors(), tuning::range_block, bytes}, long_rows_kernel<Terms, I, O>,
                    this->rows(), results, bits, longest_.data(), counts_.data(), next_.data());
    });
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return base::workspace_bytes() + bytes_of(firsts_, middle_, longest_, counts_, next_);
  }

 private:
  array<std::int64_t, device> firsts_;  // [vertex], plus one: its first edge
  array<row_item, device> middle_;
  array<row_item, device> longest_;
  array<item_counts, device> counts_;
  array<count64, device> next_;
};

// --- The most similar vertices --------------------------------------------------------------------------------------

template <class I, class O>
class top_executor final : public device_executor<I, O> {
  using base = device_executor<I, O>;
  using base::ctx_;
  using base::n_;

 public:
  top_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const similarity_options& options)
      : base(ctx, g, options), paths_(ctx, n_), sizes_(ctx, n_ + 1), starts_(ctx, n_ + 1), next_(ctx, 1) {
    if (options.top > top_tuning::heavy_block) {
      throw error(error_code::unsupported, "similarity: top is " + std::to_string(options.top) +
                                               " on a device (expected at most " +
                                               std::to_string(top_tuning::heavy_block) + ")");
    }
    fill_zero(ctx, sizes_);
    if (n_ == 0) return;
    const device_guard guard(ctx);
    launch_kernel(ctx, grid_stride(ctx, n_, cuda_tuning::warps), count_paths_kernel<I, O>, this->rows(),
                  in().offsets.data(), paths_.data());
    most_ = options.top;
    heavy_ = order_by_paths(ctx, n_, paths_.data(), order_);
    firsts_ = find_rooms(ctx, this->rows(), paths_.data(), options.top);
    const std::int64_t results = element<std::int64_t>(ctx, std::as_const(firsts_).view(), n_);
    this->allocate(results);
    room_targets_ = {ctx, results};
    room_values_ = {ctx, results};
  }

  void run() override {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    const top_results<I> results{firsts_.data(),       paths_.data(),       order_.data(),
                                 room_targets_.data(), room_values_.data(), sizes_.data()};
    if (has_terms(this->fixed_.measure)) {
      launch<counter_kind::terms>(results);
    } else if (this->rows_.longest() < (1 << 16)) {  // counts are degrees at most
      launch<counter_kind::half>(results);
    } else {
      launch<counter_kind::whole>(results);
    }
    exclusive_scan<std::int64_t, device>(ctx_, std::as_const(sizes_).view(), starts_.view());
    launch_kernel(ctx_, grid_stride(ctx_, n_, cuda_tuning::warps), close_gaps_kernel<I>, n_, results, starts_.data(),
                  this->sources_.data(), this->targets_.data(), this->values_.data());
    this->found_ = element<std::int64_t>(ctx_, std::as_const(starts_).view(), n_);
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return base::workspace_bytes() +
           bytes_of(paths_, order_, firsts_, sizes_, starts_, room_targets_, room_values_, next_);
  }

 private:
  // Vertices with many paths get a block of an SM's whole shared memory, the others share it.
  template <counter_kind Kind>
  void launch(const top_results<I>& results) {
    constexpr int heavy = top_tuning::heavy_block;
    constexpr int light = top_tuning::light_block;
    const std::int64_t of_block = ctx_.properties().shared_memory_per_block - reserved_bytes;
    const std::int64_t light_bytes =
        top_list_bytes<light, I>() + top_tuning::light_slots * path_counters<Kind, I>::slot_bytes;
    const bool splits = most_ <= light && light_bytes <= of_block;
    const std::int64_t middle = splits ? heavy_ : n_;
    launch_part<Kind, heavy>(results, 0, middle, of_block, 1);
    if (!splits) return;
    constexpr std::int64_t threads = 2048;  // of an SM at most
    const std::int64_t resident =
        std::min<std::int64_t>(threads / light, std::max<std::int64_t>(1, of_block / light_bytes));
    launch_part<Kind, light>(results, middle, n_, light_bytes, resident);
  }
  template <counter_kind Kind, int Block>
  void launch_part(const top_results<I>& results, std::int64_t first, std::int64_t last, std::int64_t bytes,
                   std::int64_t blocks_per_sm) {
    using counters = path_counters<Kind, I>;
    if (first == last) return;
    const std::int64_t room = bytes - top_list_bytes<Block, I>();
    unsigned slots = 64;
    while (2 * slots * counters::slot_bytes <= room) slots *= 2;
    const std::int64_t range = room / counters::bytes / 8 * 8;
    fill_zero(ctx_, next_);
    allow_shared(top_kernel<Kind, Block, I, O>, static_cast<std::size_t>(bytes));
    launch_kernel(ctx_, {blocks_per_sm * this->multiprocessors(), Block, static_cast<std::size_t>(bytes)},
                  top_kernel<Kind, Block, I, O>, this->rows(), in().offsets.data(), in().indices.data(), results, first,
                  last, slots, range, next_.data());
  }
  [[nodiscard]] const csr_pattern_view<I, O, device>& in() const {
    return this->is_directed() ? this->rows_.view().in : this->rows_.view().out;
  }

  std::int64_t most_ = 0;               // results of a vertex
  std::int64_t heavy_ = 0;              // vertices with many paths, the first of order_
  array<std::int64_t, device> paths_;   // [vertex] of two edges
  array<std::uint32_t, device> order_;  // vertices by descending paths
  array<std::int64_t, device> firsts_;  // [vertex], plus one: room for its results
  array<std::int64_t, device> sizes_;
  array<std::int64_t, device> starts_;
  array<I, device> room_targets_;
  array<double, device> room_values_;
  array<count64, device> next_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   const wanted_pairs<I, device>& pairs,
                                                   const similarity_options& options) {
  if (pairs.kind == similarity_pairs::top) return std::make_unique<top_executor<I, O>>(ctx, g, options);
  if (pairs.kind == similarity_pairs::given || g.direction == direction_kind::directed) {
    return std::make_unique<pair_executor<I, O>>(ctx, g, pairs, options);
  }
  if (!has_terms(options.measure) && support_executor<I, O>::fits(g)) {
    return std::make_unique<support_executor<I, O>>(ctx, g, options);
  }
  return std::make_unique<edge_executor<I, O>>(ctx, g, options);
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              const wanted_pairs<I, device>&,                          \
                                                              const similarity_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::similarity
