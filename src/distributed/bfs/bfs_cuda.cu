// Distributed BFS on GPUs, one host synchronization per level. Without the host: persistent_cuda.cu.
//
// Bitmaps as on the host (bfs_host.cpp), in 32-bit words. Push: one warp per frontier vertex, the whole grid per hub.
// The first time a rank reaches a remote vertex it queues (vertex, parent) for the owner; the queues go through the
// host, which is cheap because pushed levels are small. Pull: one thread per unvisited vertex. Before it each rank's
// words are sent to all others, into peer memory if possible. The thread that sets a vertex's bit determines its
// parent.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "distributed/bfs/persistent.hpp"

namespace spargo::detail::distributed {

namespace {

struct search_tuning {
  // Vertices with more out-edges are expanded by the whole grid; a warp would take 512 rounds of dependent atomics.
  // Untuned: R-MAT 18 on two ranks of one H200 takes 0.64 ms, mostly on the host.
  static constexpr std::int64_t hub = 1 << 14;
};

// Per-level counters: local vertices found, their out-edges, hubs in the frontier, queued vertices per rank.
enum counter { found, found_edges, hubs, remote_queues };

template <class I>
struct search_arguments {
  const std::int64_t* out_offsets;
  const I* out_indices;
  const std::int64_t* in_offsets;
  const I* in_indices;
  std::int64_t rows;
  std::int64_t first;
  const std::int64_t* part_offsets;
  int parts;
  std::uint32_t* visited;  // bitmap of all vertices
  std::uint32_t* own;      // this rank's words in it
  std::uint32_t* fresh;
  std::int32_t* levels;
  I* parents;
  I* next;  // own vertices
  I* hub_list;
  I* remote;          // [any vertex] queued remote vertices, contiguous per owner
  I* remote_parents;  // their parents
  count64* counters;
};

__device__ bool test_bit(const std::uint32_t* words, std::int64_t v) { return (words[v >> 5] >> (v & 31) & 1U) != 0; }
// Sets a bit; returns whether it was 0.
__device__ bool set_bit(std::uint32_t* words, std::int64_t v) {
  const std::uint32_t bit = 1U << (v & 31);
  return (__ldcg(words + (v >> 5)) & bit) == 0 && (atomicOr(words + (v >> 5), bit) & bit) == 0;
}

template <class I>
__device__ void offer(const search_arguments<I>& a, std::int64_t local, I parent, std::int32_t level) {
  if (!set_bit(a.own, local)) return;
  a.levels[local] = level;
  a.parents[local] = parent;
  a.next[atomicAdd(a.counters + found, count64{1})] = static_cast<I>(local);
  atomicAdd(a.counters + found_edges, static_cast<count64>(a.out_offsets[local + 1] - a.out_offsets[local]));
}

template <class I>
__device__ void follow(const search_arguments<I>& a, I v, I parent, std::int32_t level) {
  const std::int64_t local = v - a.first;
  if (local >= 0 && local < a.rows) return offer(a, local, parent, level);
  if (!set_bit(a.visited, v)) return;
  int owner = 0;
  while (a.part_offsets[owner + 1] <= v) ++owner;
  const auto at =
      a.part_offsets[owner] + static_cast<std::int64_t>(atomicAdd(a.counters + remote_queues + owner, count64{1}));
  a.remote[at] = v;
  a.remote_parents[at] = parent;
}

template <class I>
__global__ void __launch_bounds__(block_threads)
    push_kernel(search_arguments<I> a, const I* frontier, std::int64_t size, std::int32_t level) {
  for (std::int64_t k = global_thread() / warp_size; k < size; k += grid_threads() / warp_size) {
    const I u = frontier[k];
    const std::int64_t begin = a.out_offsets[u];
    const std::int64_t end = a.out_offsets[u + 1];
    if (end - begin > search_tuning::hub) {
      if (lane_id() == 0) a.hub_list[atomicAdd(a.counters + hubs, count64{1})] = u;
      continue;
    }
    for (std::int64_t e = begin + lane_id(); e < end; e += warp_size) {
      follow(a, a.out_indices[e], static_cast<I>(a.first + u), level);
    }
  }
}

template <class I>
__global__ void __launch_bounds__(block_threads) push_hubs_kernel(search_arguments<I> a, std::int32_t level) {
  const auto size = static_cast<std::int64_t>(a.counters[hubs]);
  for (std::int64_t k = 0; k < size; ++k) {
    const I u = a.hub_list[k];
    for (std::int64_t e = a.out_offsets[u] + global_thread(); e < a.out_offsets[u + 1]; e += grid_threads()) {
      follow(a, a.out_indices[e], static_cast<I>(a.first + u), level);
    }
  }
}

// (vertex, parent) pairs received from other ranks.
template <class I>
__global__ void __launch_bounds__(block_threads)
    offer_kernel(search_arguments<I> a, const I* pairs, std::int64_t size, std::int32_t level) {
  for (std::int64_t k = global_thread(); k < size; k += grid_threads()) {
    offer(a, static_cast<std::int64_t>(pairs[2 * k]) - a.first, pairs[2 * k + 1], level);
  }
}

// Interleaves vertices and parents for sending.
template <class I>
__global__ void __launch_bounds__(block_threads)
    pair_kernel(const I* remote, const I* parents, std::int64_t size, I* pairs) {
  for (std::int64_t k = global_thread(); k < size; k += grid_threads()) {
    pairs[2 * k] = remote[k];
    pairs[2 * k + 1] = parents[k];
  }
}

// One thread per vertex, one warp per word. Own bits stay unchanged, so all threads see earlier levels only.
template <class I>
__global__ void __launch_bounds__(block_threads)
    pull_kernel(search_arguments<I> a, std::int64_t words, std::int32_t level) {
  count64 size = 0;
  count64 edges = 0;
  for (std::int64_t v = global_thread(); v < words * 32; v += grid_threads()) {
    bool is_found = false;
    if (!test_bit(a.own, v)) {
      const std::int64_t end = a.in_offsets[v + 1];
      for (std::int64_t e = a.in_offsets[v]; e < end && !is_found; ++e) {
        const I u = a.in_indices[e];
        if (!test_bit(a.visited, u)) continue;
        a.levels[v] = level;
        a.parents[v] = u;
        is_found = true;
      }
    }
    const std::uint32_t word = __ballot_sync(full_mask, is_found);
    if (lane_id() == 0) a.fresh[v >> 5] = word;
    if (!is_found) continue;
    ++size;
    edges += static_cast<count64>(a.out_offsets[v + 1] - a.out_offsets[v]);
  }
  size = warp_sum(size);
  edges = warp_sum(edges);
  if (lane_id() != 0 || size == 0) return;
  atomicAdd(a.counters + found, size);
  atomicAdd(a.counters + found_edges, edges);
}

// Lists the vertices of fresh bits, unordered.
template <class I>
__global__ void __launch_bounds__(block_threads) list_kernel(search_arguments<I> a, std::int64_t words) {
  for (std::int64_t w = global_thread(); w < words; w += grid_threads()) {
    const std::uint32_t word = a.fresh[w];
    if (word == 0) continue;
    count64 at = atomicAdd(a.counters + found, static_cast<count64>(__popc(word)));
    for (std::uint32_t rest = word; rest != 0; rest &= rest - 1)
      a.next[at++] = static_cast<I>(w * 32 + __ffs(rest) - 1);
  }
}

// start[w]: bits of vertices without edges and past the last vertex.
__global__ void __launch_bounds__(block_threads)
    start_kernel(const std::int64_t* out_offsets, const std::int64_t* in_offsets, std::int64_t rows, std::int64_t words,
                 std::uint32_t* start) {
  for (std::int64_t v = global_thread(); v < words * 32; v += grid_threads()) {
    const bool isolated = v >= rows || (in_offsets != nullptr && out_offsets[v] == out_offsets[v + 1] &&
                                        in_offsets[v] == in_offsets[v + 1]);
    const std::uint32_t word = __ballot_sync(full_mask, isolated);
    if (lane_id() == 0) start[v >> 5] = word;
  }
}

template <class I>
class device_search final : public stepped_bfs<I, device> {
 public:
  device_search(const communicator& comm, const context<device>& ctx, const distributed_graph<I, device>& g,
                const bfs_task& task, const link_choice& choice)
      : stepped_bfs<I, device>(comm, task),
        ctx_(ctx),
        cpu_({.threads = 1}),
        g_(g),
        parts_(g.parts()),
        first_(parts_.first(comm.rank())),
        rows_(parts_.count(comm.rank())),
        own_words_(div_up(rows_, std::int64_t{32})),
        choice_(choice),
        how_(choice_.how + "; pushed vertices through host memory") {
    comm.agree_on([&] { allocate(); });
    std::vector<device_message> sends;
    std::vector<device_message> receives;
    for (int r = 0; r < comm.size(); ++r) {
      if (r == comm.rank()) continue;
      if (own_words_ > 0) sends.push_back({r, own_words_ * 4});
      if (words_of(r) > 0) receives.push_back({r, words_of(r) * 4});
    }
    sends_ = std::ssize(sends);
    receives_ = receives;
    if (!sends.empty() || !receives.empty()) is_busy_ = true;
    channel_ = connect_devices(comm, ctx, choice_, sends, receives);
  }

  void begin(std::int64_t source) override {
    const device_guard guard(ctx_);
    fill_bytes(ctx_, levels_.data(), 0xff, static_cast<std::size_t>(rows_) * 4);
    fill_bytes(ctx_, parents_.data(), 0xff, static_cast<std::size_t>(rows_) * sizeof(I));
    fill_zero(ctx_, visited_.view());
    copy<std::uint32_t>(ctx_, std::as_const(start_).view(), own());
    gathered_ = comm_.size() == 1;
    listed_ = true;
    now_ = {};
    if (parts_.owner(source) != comm_.rank()) return;
    const std::int64_t local = source - first_;
    const search_arguments<I> a = arguments();
    clear_counters();
    // The bit of a source without edges is set already.
    for_each(ctx_, 1, [=] __device__(std::int64_t) {
      a.own[local >> 5] |= 1U << (local & 31);
      a.levels[local] = 0;
      a.parents[local] = static_cast<I>(source);
      a.next[0] = static_cast<I>(local);
      a.counters[found] = 1;
      a.counters[found_edges] = static_cast<count64>(a.out_offsets[local + 1] - a.out_offsets[local]);
    });
    read_counters();
    swap_queues();
  }

  level_sums sum_level() override { return now_; }

  void push(std::int32_t level) override {
    const device_guard guard(ctx_);
    if (!listed_) list_fresh();
    const search_arguments<I> a = arguments();
    clear_counters();
    if (now_.size > 0) {
      launch_kernel(ctx_, grid_stride(ctx_, now_.size, block_threads / warp_size), push_kernel<I>, a, frontier_.data(),
                    now_.size, level);
      launch_kernel(ctx_, grid_stride(ctx_, 1 << 30), push_hubs_kernel<I>, a, level);
    }
    read_counters();
    if (comm_.size() > 1) deliver(level);
    gathered_ = comm_.size() == 1;
    swap_queues();
  }

  void pull(std::int32_t level) override {
    const device_guard guard(ctx_);
    if (!gathered_) gather();
    clear_counters();
    if (rows_ > 0) {
      launch_kernel(ctx_, grid_stride(ctx_, rows_), pull_kernel<I>, arguments(), own_words_, level);
      for_each(ctx_, own_words_,
               [own = own().data(), fresh = fresh_.data()] __device__(std::int64_t w) { own[w] |= fresh[w]; });
    }
    read_counters();
    gathered_ = comm_.size() == 1;
    listed_ = false;
  }

  void end() override {}
  [[nodiscard]] span<const std::int32_t, device> found_levels() const noexcept override { return levels_.view(); }
  [[nodiscard]] span<const I, device> found_parents() const noexcept override { return parents_.view(); }
  [[nodiscard]] std::string_view how() const noexcept override { return how_; }

 private:
  [[nodiscard]] std::int64_t words_of(int rank) const { return div_up(parts_.count(rank), std::int64_t{32}); }
  [[nodiscard]] span<std::uint32_t, device> own() {
    return own_words_ == 0 ? span<std::uint32_t, device>() : visited_.view().subspan(first_ / 32, own_words_);
  }

  void allocate() {
    const std::int64_t n = parts_.size();
    part_offsets_ = to_device(ctx_, parts_.offsets);
    visited_ = {ctx_, div_up(n, std::int64_t{32})};
    start_ = {ctx_, own_words_};
    fresh_ = {ctx_, own_words_};
    levels_ = {ctx_, rows_};
    parents_ = {ctx_, rows_};
    frontier_ = {ctx_, rows_};
    next_ = {ctx_, rows_};
    hub_list_ = {ctx_, g_.out().nnz() / search_tuning::hub + 1};
    if (comm_.size() > 1) {
      remote_ = {ctx_, n};
      remote_parents_ = {ctx_, n};
    }
    counters_ = {ctx_, remote_queues + comm_.size()};
    counts_.resize(static_cast<std::size_t>(counters_.size()));
    if (rows_ == 0) return;
    const device_guard guard(ctx_);
    launch_kernel(ctx_, grid_stride(ctx_, rows_), start_kernel, g_.out().offsets.data(), g_.in().offsets.data(), rows_,
                  own_words_, start_.data());
    ctx_.synchronize();
  }

  [[nodiscard]] search_arguments<I> arguments() {
    return {.out_offsets = g_.out().offsets.data(),
            .out_indices = g_.out().indices.data(),
            .in_offsets = g_.in().offsets.data(),
            .in_indices = g_.in().indices.data(),
            .rows = rows_,
            .first = first_,
            .part_offsets = part_offsets_.data(),
            .parts = parts_.parts(),
            .visited = visited_.data(),
            .own = own().data(),
            .fresh = fresh_.data(),
            .levels = levels_.data(),
            .parents = parents_.data(),
            .next = next_.data(),
            .hub_list = hub_list_.data(),
            .remote = remote_.data(),
            .remote_parents = remote_parents_.data(),
            .counters = counters_.data()};
  }

  void clear_counters() { fill_zero(ctx_, counters_.view()); }
  // Synchronises.
  void read_counters() {
    copy<count64>(ctx_, std::as_const(counters_).view(), span<count64, host>(counts_));
    ctx_.synchronize();
    now_ = {static_cast<std::int64_t>(counts_[found]), static_cast<std::int64_t>(counts_[found_edges])};
  }
  void swap_queues() {
    frontier_.swap(next_);
    listed_ = true;
  }

  // Lists the pulled frontier, unordered.
  void list_fresh() {
    const search_arguments<I> a = arguments();
    clear_counters();
    if (own_words_ > 0) {
      launch_kernel(ctx_, grid_stride(ctx_, own_words_), list_kernel<I>, a, own_words_);
    }
    swap_queues();
  }

  // Sends every rank's words to all.
  void gather() {
    if (!is_busy_) return;
    channel_->begin(ctx_.stream());
    const int set = channel_->set();
    for (std::int64_t m = 0; m < sends_; ++m) {
      copy_on_device(ctx_, own().data(), channel_->outbox(static_cast<std::size_t>(m), set),
                     static_cast<std::size_t>(own_words_) * 4);
    }
    channel_->start();
    channel_->finish();
    for (std::size_t m = 0; m < receives_.size(); ++m) {
      copy_on_device(ctx_, channel_->inbox(m, set), visited_.data() + parts_.first(receives_[m].rank) / 32,
                     static_cast<std::size_t>(receives_[m].bytes));
    }
    if (choice_.link != device_link::host_memory) comm_.add_traffic({sends_ * own_words_ * 4, 0});
  }

  // Sends queued vertices to their owners and takes those received.
  void deliver(std::int32_t level) {
    std::vector<std::int64_t> sizes;
    std::int64_t total = 0;
    for (int r = 0; r < comm_.size(); ++r) {
      sizes.push_back(2 * static_cast<std::int64_t>(counts_[static_cast<std::size_t>(remote_queues + r)]));
      total += sizes.back();
    }
    pairs_.resize(static_cast<std::size_t>(total));
    if (total > 0) {
      array<I, device> packed(ctx_, total);
      std::int64_t at = 0;
      for (int r = 0; r < comm_.size(); ++r) {
        const std::int64_t size = sizes[static_cast<std::size_t>(r)] / 2;
        if (size == 0) continue;
        launch_kernel(ctx_, grid_stride(ctx_, size), pair_kernel<I>, remote_.data() + parts_.first(r),
                      remote_parents_.data() + parts_.first(r), size, packed.data() + at);
        at += 2 * size;
      }
      copy<I>(ctx_, std::as_const(packed).view(), span<I, host>(pairs_));
      ctx_.synchronize();
    }
    std::vector<std::int64_t> received;
    const array<I, host> arrived = comm_.template all_to_all<I>(cpu_, pairs_, sizes, received);
    if (arrived.empty()) return;
    const array<I, device> device_pairs = to_device(ctx_, arrived);
    const std::int64_t size = arrived.size() / 2;
    launch_kernel(ctx_, grid_stride(ctx_, size), offer_kernel<I>, arguments(), device_pairs.data(), size, level);
    read_counters();
  }

  using stepped_bfs<I, device>::comm_;
  context<device> ctx_;
  context<host> cpu_;
  distributed_graph<I, device> g_;
  partition parts_;
  std::int64_t first_;
  std::int64_t rows_;
  std::int64_t own_words_;
  link_choice choice_;
  std::string how_;
  array<std::int64_t, device> part_offsets_;
  array<std::uint32_t, device> visited_;
  array<std::uint32_t, device> start_;
  array<std::uint32_t, device> fresh_;
  array<std::int32_t, device> levels_;
  array<I, device> parents_;
  array<I, device> frontier_;
  array<I, device> next_;
  array<I, device> hub_list_;
  array<I, device> remote_;
  array<I, device> remote_parents_;
  array<count64, device> counters_;
  std::vector<count64> counts_;
  std::vector<I> pairs_;
  level_sums now_;
  bool gathered_ = false;
  bool listed_ = true;
  bool is_busy_ = false;
  std::int64_t sends_ = 0;
  std::vector<device_message> receives_;
  std::unique_ptr<device_channel> channel_;
};

}  // namespace

template <class I>
std::unique_ptr<bfs_executor<I, device>> make_bfs_executor(const communicator& comm, const context<device>& ctx,
                                                           const distributed_graph<I, device>& g, const bfs_task& task,
                                                           const exchange_options& links) {
  const link_choice choice = choose_link(comm, ctx, links.link);
  if (can_persist<I>(comm, ctx, choice)) return make_persistent_bfs(comm, ctx, g, task, choice.how);
  return make_stepped_bfs(comm, ctx, g, task, choice);
}

template <class I>
std::unique_ptr<bfs_executor<I, device>> make_stepped_bfs(const communicator& comm, const context<device>& ctx,
                                                          const distributed_graph<I, device>& g, const bfs_task& task,
                                                          const link_choice& choice) {
  return std::make_unique<device_search<I>>(comm, ctx, g, task, choice);
}

#define INSTANTIATE(I)                                                                                             \
  template std::unique_ptr<bfs_executor<I, device>> make_bfs_executor(const communicator&, const context<device>&, \
                                                                      const distributed_graph<I, device>&,         \
                                                                      const bfs_task&, const exchange_options&);   \
  template std::unique_ptr<bfs_executor<I, device>> make_stepped_bfs(const communicator&, const context<device>&,  \
                                                                     const distributed_graph<I, device>&,          \
                                                                     const bfs_task&, const link_choice&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed
