// Spanning forests on the device: the executor, the summary of the graph, and the listing of the forest's edges.
//
// Batches by weight as on the host (keys.hpp): a sample gives the first threshold, the rounds of cuda_rounds.cuh join
// trees by a batch's edges, and the next batch has the edges that are left between trees. A bit per entry marks the
// forest's edges; a count and a scan over the words put them in the order of the rows. The host waits once per round
// for the numbers that decide how it goes on.
#include "core/bytes_of.hpp"
#include "core/instantiate.hpp"
#include "graph/forest/cuda_rounds.cuh"
#include "graph/forest/executor.hpp"
#include "graph/frontier/row_of.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace spargo::detail::forest {

namespace {

// --- The summary ---

struct graph_counts {
  count64 descents;      // neighbours smaller than the entry before
  count64 row_descents;  // of these, at the start of a row
  count64 connected;
  count64 wide;
  count64 nan;  // entries behind the first NaN, and that one; 0 if there is none
};

template <class W, class I, class O>
__global__ void __launch_bounds__(block_threads) examine_kernel(weighted_rows<W, I, O> rows, graph_counts* counts) {
  unsigned descents = 0;
  unsigned row_descents = 0;
  unsigned connected = 0;
  unsigned wide = 0;
  for (std::int64_t e = global_thread(); e < rows.nnz; e += grid_threads()) {
    descents += e > 0 && rows.indices[e - 1] > rows.indices[e] ? 1 : 0;
    const W weight = rows.weights[e];
    wide += fits_32_bits(weight) ? 0 : 1;
    if (is_nan(weight)) atomicMax(&counts->nan, static_cast<count64>(rows.nnz - e));
  }
  for (std::int64_t v = global_thread(); v < rows.n; v += grid_threads()) {
    const auto begin = static_cast<std::int64_t>(rows.offsets[v]);
    if (begin == static_cast<std::int64_t>(rows.offsets[v + 1])) continue;
    ++connected;
    row_descents += begin > 0 && rows.indices[begin - 1] > rows.indices[begin] ? 1 : 0;
  }
  descents = warp_sum(descents);
  row_descents = warp_sum(row_descents);
  connected = warp_sum(connected);
  wide = warp_sum(wide);
  if (lane_id() != 0) return;
  atomicAdd(&counts->descents, static_cast<count64>(descents));
  atomicAdd(&counts->row_descents, static_cast<count64>(row_descents));
  atomicAdd(&counts->connected, static_cast<count64>(connected));
  atomicAdd(&counts->wide, static_cast<count64>(wide));
}

template <class W, class I, class O>
[[nodiscard]] weighted_rows<W, I, O> rows_of(const weighted_graph_view<W, I, O, device>& g, bool ascending) {
  return {g.vertices(), g.out.nnz(), g.out.offsets.data(), g.out.indices.data(), g.out_weights.data(), ascending};
}

// --- The forest's edges ---

// Words of marks that a warp lists.
constexpr int listed_words = warp_size;

__global__ void __launch_bounds__(block_threads)
    count_marked_kernel(std::int64_t words, const unsigned* marked, std::int64_t tiles, std::int64_t* counts) {
  for (std::int64_t tile = global_thread() / warp_size; tile < tiles; tile += grid_threads() / warp_size) {
    const std::int64_t w = tile * listed_words + lane_id();
    const int count = warp_sum(w < words ? __popc(marked[w]) : 0);
    if (lane_id() == 0) counts[tile] = count;
  }
}

template <class W, class I>
struct edge_arrays {
  I* sources;
  I* targets;
  W* weights;
};

// A warp puts the places of a tile's marks in a row before it reads their edges, 32 at a time.
template <class W, class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_marked_kernel(weighted_rows<W, I, O> rows, std::int64_t words, const unsigned* marked, std::int64_t tiles,
                       const std::int64_t* before, edge_arrays<W, I> edges) {
  __shared__ std::uint16_t places_of_warps[cuda_tuning::warps][listed_words * 32];
  std::uint16_t* const places = places_of_warps[threadIdx.x / warp_size];
  const int lane = lane_id();
  for (std::int64_t tile = global_thread() / warp_size; tile < tiles; tile += grid_threads() / warp_size) {
    const std::int64_t w = tile * listed_words + lane;
    unsigned word = w < words ? marked[w] : 0;
    const int upto = warp_inclusive_sum(__popc(word));
    const int count = shuffle(upto, warp_size - 1);
    if (count == 0) continue;
    for (int at = upto - __popc(word); word != 0; word &= word - 1) {
      places[at++] = static_cast<std::uint16_t>(lane * 32 + __ffs(static_cast<int>(word)) - 1);
    }
    __syncwarp();
    const std::int64_t begin = tile * listed_words * 32;
    const std::int64_t end = min(rows.nnz, begin + listed_words * 32);
    const std::int64_t low = rows.row_of_by_warp(begin, 0, rows.n);
    const std::int64_t high = rows.row_of_by_warp(end - 1, low, rows.n) + 1;
    const std::int64_t to = before[tile];
    for (int k = lane; k < count; k += warp_size) {
      const std::int64_t e = begin + places[k];
      edges.sources[to + k] = static_cast<I>(rows.row_of(e, low, high));
      edges.targets[to + k] = rows.indices[e];
      edges.weights[to + k] = rows.weights[e];
    }
    __syncwarp();
  }
}

// The sum of a chunk per block, in the order of sum_shape.
template <class Sum, class T>
__global__ void __launch_bounds__(sum_shape::lanes) sum_chunks_kernel(std::int64_t size, const T* terms, Sum* sums) {
  __shared__ Sum lanes[sum_shape::lanes];
  const int lane = static_cast<int>(threadIdx.x);
  const std::int64_t begin = std::int64_t{blockIdx.x} * sum_shape::chunk;
  Sum own{};
  for (int k = lane; k < sum_shape::chunk && begin + k < size; k += sum_shape::lanes) own = own + Sum(terms[begin + k]);
  lanes[lane] = own;
  for (int half = sum_shape::lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) lanes[lane] = lanes[lane] + lanes[lane + half];
  }
  if (lane == 0) sums[blockIdx.x] = lanes[0];
}

template <class I>
void sample_roots(const context<device>& ctx, std::int64_t n, const I* parents, span<I, device> samples) {
  for_each(ctx, samples.size(), [n, parents, samples] __device__(std::int64_t k) {
    I root = parents[mixed_bits(1, static_cast<std::uint64_t>(k)) % static_cast<std::uint64_t>(n)];
    for (I above = parents[root]; above != root; above = parents[root]) root = above;
    samples[k] = root;
  });
}

// --- The executor ---

template <class Key, class W, class I, class O>
class device_executor final : public executor<W, I, device> {
  using edge = tree_edge<Key, I>;
  static constexpr int root_samples = 256;

 public:
  device_executor(const context<device>& ctx, const weighted_graph_view<W, I, O, device>& g, const graph_facts& facts,
                  const forest_options& options)
      : ctx_(ctx),
        n_(g.vertices()),
        rows_(rows_of(g, facts.ascending)),
        held_(held_edges(n_, rows_.nnz)),
        words_(div_up(rows_.nnz, std::int64_t{32})),
        tiles_(div_up(words_, std::int64_t{listed_words})),
        parents_(ctx, n_),
        roots_{array<I, device>(ctx, n_), array<I, device>(ctx, n_)},
        first_bits_(ctx, n_ * first_edges<Key>::words),
        edges_{array<edge, device>(ctx, held_), array<edge, device>(ctx, held_)},
        marked_(ctx, words_),
        before_(ctx, tiles_ + 1),
        sources_(ctx, n_),
        targets_(ctx, n_),
        weights_(ctx, n_),
        sums_{array<weight_sum<W>, device>(ctx, div_up(n_, std::int64_t{sum_shape::chunk})),
              array<weight_sum<W>, device>(ctx, div_up(n_, std::int64_t{sum_shape::chunk} * sum_shape::chunk))},
        rounds_(ctx, rounds_tuning::rounds + 1),
        samples_(ctx, batch_tuning::samples),
        sampled_roots_(ctx, root_samples),
        report_(context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1) {
    using bits = typename Key::weight_bits;
    if (options.objective == forest_objective::maximum) order_.flip = static_cast<bits>(~bits{0});
    if (rows_.nnz / 2 >= held_) start_ = sampled_threshold(batch_tuning::light * facts.connected, nullptr);
  }

  void run() override {
    const device_guard guard(ctx_);
    found_ = {};
    if (n_ == 0 || rows_.nnz == 0) return;
    fill_zero<unsigned, device>(ctx_, marked_.view());
    mark_forest();
    list_marked();
  }

  [[nodiscard]] const found_forest<W, I, device>& found() const noexcept override { return found_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(parents_, roots_[0], roots_[1], first_bits_, edges_[0], edges_[1], marked_, before_, sources_,
                    targets_, weights_, sums_[0], sums_[1], rounds_, samples_, sampled_roots_);
  }

 private:
  struct report {
    round_control rounds[2];
    std::int64_t edges;
    weight_sum<W> sum;
  };

  [[nodiscard]] first_edges<Key> first() {
    if constexpr (first_edges<Key>::settles) {
      return {first_bits_.data(), first_bits_.data() + n_};
    } else {
      return {first_bits_.data()};
    }
  }
  [[nodiscard]] edge_list<Key, I> list(int which) {
    return {edges_[which].data(), held_, &rounds_.data()[round_].listed};
  }

  // Copies the controls of this round and the next. Waits for the device.
  const round_control& read_round() {
    copy_to_host(ctx_, rounds_.data() + round_, report_[0].rounds, sizeof report_[0].rounds);
    ctx_.synchronize();
    return report_[0].rounds[0];
  }

  // As the host does (forest_host.cpp).
  void mark_forest() {
    Key limit = start_;
    std::int64_t target = held_;
    I skipped = -1;
    for (bool joined = false;;) {
      interruption::look();
      collect(limit, joined, skipped);
      const auto listed = static_cast<std::int64_t>(read_round().listed);
      if (listed > held_) {
        target /= 2;
        samples_ = {ctx_, 4 * samples_.size()};
        limit = sampled_threshold(target, joined ? parents_.data() : nullptr);
        continue;
      }
      if (listed > 0) join_trees(listed, skipped);
      if (!(limit < Key())) return;
      put_under_roots(ctx_, n_, parents_.data());
      skipped = sampled_largest();
      joined = true;
      limit = Key();
    }
  }

  void collect(const Key& limit, bool joined, I skipped) {
    round_ = 0;
    fill_zero<round_control, device>(ctx_, rounds_.view());
    start_trees<Key, I>(ctx_, n_, joined ? nullptr : parents_.data(), first());
    const launch_shape shape =
        grid_stride(ctx_, div_up(rows_.nnz, std::int64_t{cuda_tuning::tile}), cuda_tuning::warps);
    if (joined) {
      launch_kernel(ctx_, shape, collect_between_kernel<Key, W, I, O>, rows_, order_, limit, parents_.data(), skipped,
                    list(0), first());
    } else {
      launch_kernel(ctx_, shape, collect_light_kernel<Key, W, I, O>, rows_, order_, limit, list(0), first());
    }
  }

  // Edges set aside, and the trees that there were.
  struct heavier_edges {
    int round = -1;  // the first one without them
    int buffer = 0;  // at its end
    std::int64_t size = 0;
    std::int64_t trees = 0;
  };

  // Rounds, until no edge of the list joins two trees.
  void join_trees(std::int64_t listed, I skipped) {
    const I* roots = nullptr;
    std::int64_t climbing = n_;
    heavier_edges aside;
    for (int which = 0;; which = 1 - which) {
      interruption::look();
      hook_and_climb(which, listed, roots, climbing, skipped);
      const round_control& seen = read_round();
      if (aside.round == round_) aside.size = static_cast<std::int64_t>(seen.set_aside);
      bool over = seen.hooked == 0;
      if (!over) {
        while (read_further(roots, climbing)) {
        }
        listed = static_cast<std::int64_t>(report_[0].rounds[0].listed);
        climbing = static_cast<std::int64_t>(report_[0].rounds[1].roots);
        over = climbing == 0;
      }
      if (over) {
        if (aside.size == 0) return;
        which = aside.buffer;
        listed = std::exchange(aside.size, 0);
        climbing = aside.trees;
        roots = roots_[0].data() + (n_ - climbing);
        const edge_list<Key, I> from{edges_[which].data() + (held_ - listed), held_,
                                     &rounds_.data()[aside.round].set_aside};
        ++round_;
        // The number of these roots is still in the round that set the edges aside.
        SPARGO_CUDA_TRY(cudaMemcpyAsync(&rounds_.data()[round_].roots, &rounds_.data()[aside.round].roots,
                                        sizeof(count64), cudaMemcpyDeviceToDevice, ctx_.stream()));
        drop_inner<drop_kind::late>(from, listed, which, skipped, Key());
        continue;
      }
      if (skipped < 0 && round_ + 1 == batch_tuning::rounds_of_all) skipped = sampled_largest();
      const edge_list<Key, I> now = list(which);
      roots = roots_[which].data();
      if (aside.round < 0 && 2 * listed >= n_ && listed >= rounds_tuning::many * climbing) {
        const Key limit = sampled_limit(now, rounds_tuning::lighter * climbing, listed);
        aside = {.round = ++round_, .buffer = 1 - which, .size = 0, .trees = climbing};
        copy<I>(ctx_, std::as_const(roots_[which]).view().subspan(0, climbing),
                roots_[0].view().subspan(n_ - climbing, climbing));
        drop_inner<drop_kind::split>(now, listed, which, skipped, limit);
      } else {
        ++round_;
        drop_inner<drop_kind::plain>(now, listed, which, skipped, Key());
      }
    }
  }

  void hook_and_climb(int which, std::int64_t listed, const I* roots, std::int64_t climbing, I skipped) {
    round_control* const round = rounds_.data() + round_;
    const launch_shape shape = grid_stride(ctx_, listed);
    if constexpr (first_edges<Key>::settles) {
      launch_kernel(ctx_, shape, settle_kernel<Key, I>, list(which), first(), skipped);
    }
    launch_kernel(ctx_, shape, hook_kernel<Key, I>, list(which), first(), skipped, parents_.data(), marked_.data(),
                  round);
    launch_kernel(ctx_, grid_stride(ctx_, climbing, block_threads * rounds_tuning::edges), climb_kernel<Key, I>, n_,
                  roots, parents_.data(), first(), roots_[which].data(), round);
  }

  // To the list of this round, in the other buffer.
  template <drop_kind Kind>
  void drop_inner(const edge_list<Key, I>& from, std::int64_t listed, int which, I skipped, const Key& limit) {
    const edge_list<Key, I> to = list(1 - which);
    edge_list<Key, I> aside = to;
    aside.size = &rounds_.data()[round_].set_aside;
    launch_kernel(ctx_, grid_stride(ctx_, listed, block_threads * rounds_tuning::edges),
                  drop_inner_edges_kernel<Kind, Key, I>, from, parents_.data(), first(), skipped, to, limit, aside);
  }

  // A key that about `target` of the listed edges lie below. Synchronizes.
  [[nodiscard]] Key sampled_limit(const edge_list<Key, I>& from, std::int64_t target, std::int64_t listed) {
    constexpr std::int64_t tries = rounds_tuning::samples;
    launch_kernel(ctx_, one_thread_each(tries, block_threads), sample_list_kernel<Key, I>, from, samples_.data());
    const array<Key, host> keys = to_host(ctx_, std::as_const(samples_).view().subspan(0, tries));
    std::vector<Key> sampled(keys.begin(), keys.end());
    return threshold(sampled, tries, listed, target);
  }

  // Another pass of the climb where one was not enough; false if it was.
  bool read_further(const I* roots, std::int64_t climbing) {
    if (report_[0].rounds[0].unfinished == 0) return false;
    interruption::look();
    round_control* const round = rounds_.data() + round_;
    SPARGO_CUDA_TRY(cudaMemsetAsync(&round->unfinished, 0, sizeof round->unfinished, ctx_.stream()));
    launch_kernel(ctx_, grid_stride(ctx_, climbing), climb_further_kernel<I>, n_, roots, parents_.data(), round);
    read_round();
    return true;
  }

  // The root of the largest tree, from a sample.
  [[nodiscard]] I sampled_largest() {
    sample_roots(ctx_, n_, parents_.data(), sampled_roots_.view());
    std::array<I, root_samples> roots{};
    copy_to_host(ctx_, sampled_roots_.data(), roots.data(), sizeof roots);
    ctx_.synchronize();
    std::sort(roots.begin(), roots.end());
    I best = roots[0];
    std::ptrdiff_t most = 0;
    for (auto at = roots.begin(); at != roots.end();) {
      const auto end = std::upper_bound(at, roots.end(), *at);
      if (end - at > most) best = *at;
      most = std::max(most, end - at);
      at = end;
    }
    return best;
  }

  [[nodiscard]] Key sampled_threshold(std::int64_t target, const I* roots) {
    const device_guard guard(ctx_);
    const std::int64_t tries = samples_.size();
    launch_kernel(ctx_, one_thread_each(tries, block_threads), sample_keys_kernel<Key, W, I, O>, rows_, order_, roots,
                  static_cast<std::uint64_t>(tries), tries, samples_.data());
    const array<Key, host> keys = to_host(ctx_, std::as_const(samples_).view());
    std::vector<Key> sampled;
    for (const Key& key : keys) {
      if (key < Key()) sampled.push_back(key);
    }
    return threshold(sampled, tries, rows_.nnz, target);
  }

  void list_marked() {
    fill_zero<std::int64_t, device>(ctx_, before_.view().subspan(tiles_, 1));
    const launch_shape shape = grid_stride(ctx_, tiles_, cuda_tuning::warps);
    launch_kernel(ctx_, shape, count_marked_kernel, words_, marked_.data(), tiles_, before_.data());
    exclusive_scan(ctx_, std::as_const(before_).view(), before_.view());
    copy_to_host(ctx_, before_.data() + tiles_, &report_[0].edges, sizeof(std::int64_t));
    launch_kernel(ctx_, shape, list_marked_kernel<W, I, O>, rows_, words_, marked_.data(), tiles_, before_.data(),
                  {sources_.data(), targets_.data(), weights_.data()});
    ctx_.synchronize();
    const std::int64_t edges = report_[0].edges;
    found_ = {std::as_const(sources_).view().subspan(0, edges), std::as_const(targets_).view().subspan(0, edges),
              std::as_const(weights_).view().subspan(0, edges), edges == 0 ? 0 : total_of(sum(edges))};
  }

  [[nodiscard]] weight_sum<W> sum(std::int64_t edges) {
    using term = weight_sum<W>;
    const auto chunks = [](std::int64_t size) { return div_up(size, std::int64_t{sum_shape::chunk}); };
    std::int64_t size = chunks(edges);
    launch_kernel(ctx_, {size, sum_shape::lanes}, sum_chunks_kernel<term, W>, edges, weights_.data(), sums_[0].data());
    int which = 0;
    while (size > 1) {
      const std::int64_t terms = std::exchange(size, chunks(size));
      launch_kernel(ctx_, {size, sum_shape::lanes}, sum_chunks_kernel<term, term>, terms, sums_[which].data(),
                    sums_[1 - which].data());
      which = 1 - which;
    }
    copy_to_host(ctx_, sums_[which].data(), &report_[0].sum, sizeof(term));
    ctx_.synchronize();
    return report_[0].sum;
  }

  context<device> ctx_;
  std::int64_t n_;
  weighted_rows<W, I, O> rows_;
  key_order<Key, W> order_;
  Key start_;  // limit of the first batch
  std::int64_t held_;
  std::int64_t words_;
  std::int64_t tiles_;
  int round_ = 0;
  array<I, device> parents_;
  array<I, device> roots_[2];
  array<std::uint64_t, device> first_bits_;
  array<edge, device> edges_[2];
  array<unsigned, device> marked_;      // a bit per entry
  array<std::int64_t, device> before_;  // [tile] edges before it
  array<I, device> sources_;
  array<I, device> targets_;
  array<W, device> weights_;
  array<weight_sum<W>, device> sums_[2];
  array<round_control, device> rounds_;
  array<Key, device> samples_;
  array<I, device> sampled_roots_;
  array<report, host> report_;
  found_forest<W, I, device> found_;
};

}  // namespace

template <class W, class I, class O>
graph_facts examine_graph(const context<device>& ctx, const weighted_graph_view<W, I, O, device>& g, nan_weights nan) {
  const device_guard guard(ctx);
  array<graph_counts, device> counts(ctx, 1);
  fill_zero<graph_counts, device>(ctx, counts.view());
  launch_kernel(ctx, grid_stride(ctx, std::max<std::int64_t>(g.out.nnz(), g.vertices())), examine_kernel<W, I, O>,
                rows_of(g, true), counts.data());
  const graph_counts all = element<graph_counts>(ctx, counts.view(), 0);
  if (all.nan != 0 && nan == nan_weights::refuse) {
    const std::int64_t e = g.out.nnz() - static_cast<std::int64_t>(all.nan);
    refuse_nan(row_of(ctx, g.out, e), element<I>(ctx, g.out.indices, e));
  }
  return {all.wide == 0, all.descents == all.row_descents, static_cast<std::int64_t>(all.connected)};
}

template <class W, class I, class O>
std::unique_ptr<executor<W, I, device>> make_executor(const context<device>& ctx,
                                                      const weighted_graph_view<W, I, O, device>& g,
                                                      const graph_facts& facts, const forest_options& options) {
  if (facts.narrow && g.out.nnz() < narrow_key::most_entries) {
    return std::make_unique<device_executor<narrow_key, W, I, O>>(ctx, g, facts, options);
  }
  return std::make_unique<device_executor<wide_key, W, I, O>>(ctx, g, facts, options);
}

#define INSTANTIATE(W, I, O)                                                                              \
  template graph_facts examine_graph(const context<device>&, const weighted_graph_view<W, I, O, device>&, \
                                     nan_weights);                                                        \
  template std::unique_ptr<executor<W, I, device>> make_executor(                                         \
      const context<device>&, const weighted_graph_view<W, I, O, device>&, const graph_facts&, const forest_options&);
SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::forest
