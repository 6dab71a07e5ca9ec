// Distributed BFS by one persistent kernel per GPU: the launches (kernel: persistent.cuh).
//
// One cooperative kernel for all ranks of a GPU, launched by the first of them: all its blocks are resident at once,
// whereas two cooperative kernels on one GPU may run one after the other. The plan's constructor allocates, clears and
// loads everything, and ranks start a search together: so no driver call waits for a kernel that itself waits for that
// call. Memory besides the graph, I = int32: 17.5 bytes per own vertex, 8 more for each other rank, and a quarter of a
// byte per vertex of the graph.
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "distributed/bfs/narrow.cuh"
#include "distributed/bfs/persistent.cuh"
#include "distributed/bfs/persistent.hpp"
#include "distributed/exchange/device_events.cuh"
#include "graph/bfs/cuda_prepare.cuh"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <string>

namespace spargo::detail::distributed {

namespace {

constexpr int block = bfs::cuda_tuning::block;
static_assert(partition::grain % (4 * warp_size) == 0, "the four words that a warp pulls belong to one rank");

// The kernel for `ranks` ranks on a GPU. Loads it.
template <class I>
const void* kernel_of(std::int64_t ranks) {
  const auto kernel = ranks == 1 ? &persistent_kernel<true, I> : &persistent_kernel<false, I>;
  allow_shared(kernel, bfs::staged_bytes<I>());
  return reinterpret_cast<const void*>(kernel);
}

// Blocks per rank for `ranks` ranks on the context's device; 0: they do not fit.
template <class I>
int blocks_of_rank(const context<device>& ctx, std::int64_t ranks) {
  const device_guard guard(ctx);
  int cooperative = 0;
  int on_multiprocessor = 0;
  constexpr std::size_t staged = bfs::staged_bytes<I>();
  SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, ctx.ordinal()));
  if (cooperative == 0) return 0;
  SPARGO_CUDA_TRY(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_multiprocessor, kernel_of<I>(ranks), block, staged));
  return static_cast<int>(on_multiprocessor * ctx.properties().multiprocessors / ranks);
}

// Copies offsets, shifted by `before` entries.
void copy_offsets(const context<device>& ctx, const std::int64_t* from, std::int64_t* to, std::int64_t size,
                  std::int64_t before) {
  for_each(ctx, size, [=] __device__(std::int64_t k) { to[k] = before + from[k]; });
}

// Monotonic in the degree, with a resolution of an eighth.
__device__ unsigned char byte_of_degree(std::int64_t degree) {
  if (degree < 16) return static_cast<unsigned char>(degree);
  const int exponent = 60 - __clzll(degree);
  return static_cast<unsigned char>(min(8 * exponent + (degree >> exponent), std::int64_t{255}));
}

array<unsigned char, host> bytes_of_degrees(const context<device>& ctx, const std::int64_t* offsets, std::int64_t n) {
  array<unsigned char, device> bytes(ctx, n);
  for_each(ctx, n, [=, byte = bytes.data()] __device__(std::int64_t v) {
    byte[v] = byte_of_degree(offsets[v + 1] - offsets[v]);
  });
  return to_host(ctx, std::as_const(bytes).view());
}

struct degree_bytes {
  const unsigned char* of;  // of all vertices
  __device__ std::int64_t operator()(std::int64_t v) const { return of[v]; }
};

// A rank's graph, results and inboxes. Shared by all: a failing rank frees nothing that another one's kernel may use.
template <class I>
struct rank_memory {
  context<device> ctx;
  plan_memory memory;
  distributed_graph<I, device> g;
  array<rank_report, host> report;
  rank_search<I> search{};
  rank_search<I>* device_search = nullptr;  // copy in device memory
  event ready;                              // for the kernel of its GPU
  event done;                               // that kernel; recorded by the first rank of the GPU
  peer_memory others;                       // written by other ranks
  rank_board* board = nullptr;
  unsigned* bitmaps[2] = {};
  remote_vertex<I>* inboxes = nullptr;  // contiguous by sending rank
  std::int64_t chunks = 0;              // of hubs' edges

  rank_memory(const context<device>& on, const distributed_graph<I, device>& rows)
      : ctx(on), memory(on), g(rows), ready(on), done(on), others(on) {}
};

template <class I>
class persistent_search final : public bfs_executor<I, device> {
  static constexpr std::int64_t level_slots = whole_graph<I>::level_slots;  // later levels are counted after the search

 public:
  persistent_search(const communicator& comm, const context<device>& ctx, const distributed_graph<I, device>& g,
                    const bfs_task& task, std::string_view how, const persistence& options)
      : comm_(comm),
        ctx_(ctx),
        parts_(g.parts()),
        how_(how),
        patience_(options.patience),
        whole_bytes_(options.whole_bytes),
        ordinals_(comm.all_gather(ctx.ordinal())) {
    run_.absent_rank = options.absent_rank;
    run_.narrow_levels = options.narrow_levels;
    run_.narrow_blocks = comm.all_gather(comm.agree_on([&] { return narrow_level_blocks(); })).front();
    words_ = 4 * div_up(task.vertices, std::int64_t{4 * warp_size});
    own_ = comm.agree_on([&] { return allocate(g, task); });
    if (own_->search.own.in_offsets != nullptr) find_likely();
    const auto pointers = comm.all_gather(&own_);
    comm.agree_on([&] {
      for (const auto* each : pointers) all_.push_back(*each);
    });
    comm.agree_on([&] { connect(task); });
    comm.agree_on([&] {  // an idle run, before there is anything to wait for
      run_.source = -1;
      if (leads()) launch();
      ctx_.synchronize();
    });
  }
  ~persistent_search() override {
    const device_guard guard(ctx_.ordinal(), std::nothrow);
    cudaStreamSynchronize(ctx_.stream());
  }

  bfs_record search(std::int64_t source) override {
    if (has_failed_) throw error(error_code::device_failure, "bfs: an earlier search has failed");
    const device_guard guard(ctx_);
    static std::mutex one_at_a_time;  // the kernels of two teams on two GPUs could wait for each other
    std::unique_lock<std::mutex> turn;
    if (comm_.rank() == 0) turn = std::unique_lock(one_at_a_time);
    run_.source = source;
    run_.resumes = false;
    run_.narrow_position = nullptr;
    const rank_report& report = own_->report[0];
    std::int64_t handover_bytes = 0;  // bytes
    for (run_kernels(); report.end == search_end::paused; run_kernels()) {
      run_.resumes = true;
      if (has_whole_graph()) {
        run_narrow_levels();
        handover_bytes += comm_.rank() == 0 ? 0 : std::int64_t{sizeof(unsigned)} * (own_->search.own.words + words_);
      } else {
        run_.narrow_levels = 0;
      }
    }
    run_.previous = source;
    turn = {};
    if (report.end == search_end::none) {
      has_failed_ = true;
      throw error(error_code::device_failure, "bfs: the devices of the ranks have waited for each other for " +
                                                  std::to_string(std::chrono::duration<double>(patience_).count()) +
                                                  " s");
    }
    const auto others = static_cast<std::int64_t>(comm_.size() - 1);
    if (comm_.rank() != 0) handover_bytes += report.taken * std::int64_t{sizeof(std::int32_t) + sizeof(I)};
    comm_.add_traffic({report.sent * std::int64_t{sizeof(remote_vertex<I>)} +
                           report.shared * others * std::int64_t{sizeof(unsigned)} * own_->search.own.words +
                           handover_bytes,
                       0});
    return {sizes_of(report.search), report.search.position.reached, report.pulled, report.alone};
  }

  [[nodiscard]] span<const std::int32_t, device> found_levels() const noexcept override {
    return {own_->search.own.levels, own_->search.own.n};
  }
  [[nodiscard]] span<const I, device> found_parents() const noexcept override {
    return {own_->search.own.parents, own_->search.own.n};
  }
  [[nodiscard]] std::string_view how() const noexcept override { return how_; }
  [[nodiscard]] std::string_view steps() const noexcept override { return "by one kernel on each GPU"; }

 private:
  using memory = rank_memory<I>;

  [[nodiscard]] bool leads() const { return local_ranks_.front() == comm_.rank(); }

  [[nodiscard]] int narrow_level_blocks() const {
    const device_guard guard(ctx_);
    return bfs::narrow_launch<I, std::int64_t>(ctx_).blocks();
  }

  std::shared_ptr<memory> allocate(const distributed_graph<I, device>& g, const bfs_task& task) {
    const device_guard guard(ctx_);
    auto m = std::make_shared<memory>(ctx_, g);
    const bool pulls = task.allowed != bfs_direction::push;
    const std::int64_t rows = g.out().rows;
    const std::int64_t words = 4 * div_up(rows, std::int64_t{4 * warp_size});
    m->report = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    m->device_search = m->memory.template take<rank_search<I>>(1);
    m->board = m->others.template take<rank_board>(1);
    fill_zero(ctx_, span<rank_board, device>(m->board, 1));
    for (unsigned*& bitmap : m->bitmaps) {
      bitmap = m->others.template take<unsigned>(words_);
      fill_zero(ctx_, span<unsigned, device>(bitmap, words_));
    }
    m->inboxes = m->others.template take<remote_vertex<I>>((comm_.size() - 1) * rows);

    auto& own = m->search.own;
    own.out_offsets = g.out().offsets.data();
    own.out_indices = g.out().indices.data();
    own.in_offsets = pulls ? g.in().offsets.data() : nullptr;
    own.in_indices = pulls ? g.in().indices.data() : nullptr;
    own.weights = m->memory.template take<unsigned char>(rows);
    own.n = rows;
    own.words = words;
    own.levels = m->memory.template take<std::int32_t>(rows);
    own.parents = m->memory.template take<I>(rows);
    own.start = m->memory.template take<unsigned>(words);
    own.visited = m->bitmaps[0] + parts_.first(comm_.rank()) / 32;
    own.front = m->memory.template take<unsigned>(words);
    fill_zero(ctx_, span<unsigned, device>(own.front, words));  // as each search leaves it
    own.queue = m->memory.template take<I>(rows);
    own.level_slots = std::min(task.vertices, level_slots);
    own.level_sizes = m->memory.template take<std::int64_t>(own.level_slots);
    own.control = m->memory.template take<bfs::control_block>(1);
    own.report = &m->report[0].search;
    own.target = -1;
    own.max_depth = -1;
    own.allowed = task.allowed;
    fill_bytes(ctx_, own.levels, 0xff, static_cast<std::size_t>(rows) * sizeof(std::int32_t));
    fill_bytes(ctx_, own.parents, 0xff, static_cast<std::size_t>(rows) * sizeof(I));
    array<count64, device> chunks(ctx_, 1);
    fill_zero(ctx_, chunks.view());
    if (rows > 0) {
      launch_kernel(ctx_, one_thread_each(words * warp_size, bfs::prepare_tuning::block),
                    bfs::profile_vertices_kernel<I, std::int64_t>, own, chunks.data());
      copy_on_device(ctx_, own.start, own.visited, static_cast<std::size_t>(words) * sizeof(unsigned));
    }
    count64 wanted = 0;
    copy<count64>(ctx_, std::as_const(chunks).view(), span<count64, host>(&wanted, 1));
    ctx_.synchronize();
    m->chunks = static_cast<std::int64_t>(wanted);
    own.hubs = m->memory.template take<edge_chunk<I>>(m->chunks);
    return m;
  }

  // As in the single-device plan, from degrees exchanged as one byte each. Collective.
  void find_likely() {
    if constexpr (sizeof(I) != sizeof(std::int32_t)) return;
    const auto mine =
        comm_.agree_on([&] { return bytes_of_degrees(ctx_, own_->search.own.in_offsets, own_->search.own.n); });
    const std::vector<unsigned char> all = comm_.all_gather(mine.view());
    comm_.agree_on([&] {
      const device_guard guard(ctx_);
      auto& s = own_->search.own;
      if (s.n == 0) return;
      const auto degrees = to_device(ctx_, span<const unsigned char, host>(all));
      s.likely = own_->memory.template take<I>(s.n);
      launch_kernel(ctx_, one_thread_each(s.n * bfs::prepare_tuning::lanes, bfs::prepare_tuning::block),
                    bfs::find_likely_kernel<I, std::int64_t, degree_bytes>, s, degree_bytes{degrees.data()});
      ctx_.synchronize();
    });
  }

  // Inbox in rank r's memory.
  [[nodiscard]] remote_vertex<I>* inbox(int r, int from) const {
    return all_[r]->inboxes + (from < r ? from : from - 1) * parts_.count(r);
  }

  void connect(const bfs_task& task) {
    const device_guard guard(ctx_);
    const int rank = comm_.rank();
    rank_search<I>& s = own_->search;
    s.links.rank = rank;
    s.links.ranks = comm_.size();
    s.links.patience = static_cast<count64>(patience_.count());
    s.links.state = own_->memory.template take<grid_state>(1);
    fill_zero(ctx_, span<grid_state, device>(s.links.state, 1));
    s.vertices = task.vertices;
    s.entries = task.entries;
    s.words = words_;
    s.first = parts_.first(rank);
    std::copy(parts_.offsets.begin(), parts_.offsets.end(), s.part_offsets);
    s.control = own_->memory.template take<rank_control>(1);
    fill_zero(ctx_, span<rank_control, device>(s.control, 1));
    s.report = own_->report.data();
    for (int r = 0; r < comm_.size(); ++r) {
      if (ordinals_[r] == ctx_.ordinal()) local_ranks_.push_back(r);
      is_shared_ = is_shared_ || std::count(ordinals_.begin(), ordinals_.end(), ordinals_[r]) > 1;
      enable_peer_access(ctx_, ordinals_[r]);
      s.links.boards[r] = all_[r]->board;
      for (int set = 0; set < 2; ++set) s.bitmaps[r][set] = all_[r]->bitmaps[set];
      if (r == rank) continue;
      s.outboxes[r] = inbox(r, rank);
      s.inboxes[r] = inbox(rank, r);
    }
    run_.only = s;
    for (std::size_t k = 0; k < local_ranks_.size(); ++k) run_.ranks[k] = all_[local_ranks_[k]]->device_search;
    blocks_ = blocks_of_rank<I>(ctx_, std::ssize(local_ranks_));
    copy<rank_search<I>>(ctx_, span<const rank_search<I>, host>(&s, 1),
                         span<rank_search<I>, device>(own_->device_search, 1));
    ctx_.synchronize();
  }

  // Runs the kernels of all ranks until they end. Collective.
  void run_kernels() {
    own_->report[0].end = search_end::none;
    own_->ready.record(ctx_.stream());
    comm_.barrier();
    if (leads()) {
      for (const int r : local_ranks_) all_[r]->ready.hold(ctx_.stream());
      launch();
      own_->done.record(ctx_.stream());
    }
    if (is_shared_) {
      comm_.barrier();  // `done` has been recorded
      all_[local_ranks_.front()]->done.hold(ctx_.stream());
    }
    ctx_.synchronize();
  }

  // Whether the first rank's device has all rows; gathers them on first use if they fit. Collective.
  bool has_whole_graph() {
    if (whole_) return true;
    const std::vector<std::int64_t> entries = comm_.all_gather(own_->g.out().nnz());
    const std::int64_t chunks = comm_.all_reduce(own_->chunks, reduction::sum);
    const auto all = std::accumulate(entries.begin(), entries.end(), std::int64_t{0});
    auto made = comm_.agree_on([&]() -> std::shared_ptr<whole_graph<I>> {
      if (comm_.rank() != 0) return nullptr;
      const device_guard guard(ctx_);
      auto whole = std::make_shared<whole_graph<I>>(ctx_);
      return whole->allocate(parts_.size(), all, chunks, whole_bytes_) ? whole : nullptr;
    });
    const auto pointers = comm_.all_gather(&made);
    comm_.agree_on([&] { whole_ = *pointers.front(); });
    if (!whole_) return false;
    comm_.agree_on([&] {
      const device_guard guard(ctx_);
      const rank_search<I>& s = own_->search;
      const auto before = std::accumulate(entries.begin(), entries.begin() + comm_.rank(), std::int64_t{0});
      copy_on_device(ctx_, s.own.out_indices, whole_->indices + before,
                     static_cast<std::size_t>(own_->g.out().nnz()) * sizeof(I));
      copy_offsets(ctx_, s.own.out_offsets, whole_->offsets + s.first, s.own.n + 1, before);
      allow_shared(receive_results_kernel<I>, bfs::staged_bytes<I>());
      ctx_.synchronize();
    });
    return true;
  }

  void run_narrow_levels() {
    const bfs::search_position from = own_->report[0].search.position;
    const std::vector<std::int64_t> queued = comm_.all_gather(from.end - from.begin);
    const auto first = std::accumulate(queued.begin(), queued.begin() + comm_.rank(), std::int64_t{0});
    launch_kernel(ctx_, {blocks_for(ctx_, words_, block_threads), block_threads}, send_frontier_kernel<I>,
                  own_->device_search, whole_->search, first);
    ctx_.synchronize();
    comm_.barrier();
    if (comm_.rank() == 0) whole_->run_levels(from, std::accumulate(queued.begin(), queued.end(), std::int64_t{0}));
    comm_.barrier();
    launch_kernel(ctx_, {ctx_.properties().multiprocessors, block, bfs::staged_bytes<I>()}, receive_results_kernel<I>,
                  own_->device_search, whole_->search);
    run_.narrow_position = &whole_->search.control->position;
  }

  // Called by the first rank of a GPU.
  void launch() {
    void* arguments[] = {&run_};
    const dim3 blocks(static_cast<unsigned>(blocks_), static_cast<unsigned>(local_ranks_.size()));
    SPARGO_CUDA_TRY(cudaLaunchCooperativeKernel(kernel_of<I>(std::ssize(local_ranks_)), blocks, dim3(block), arguments,
                                                bfs::staged_bytes<I>(), ctx_.stream()));
  }

  std::vector<std::int64_t> sizes_of(const bfs::host_report& search) {
    const std::int64_t depth = search.position.level;
    const std::int64_t recorded = std::min<std::int64_t>(depth, bfs::host_report::size_slots);
    std::vector<std::int64_t> sizes(search.sizes, search.sizes + recorded);
    sizes.resize(static_cast<std::size_t>(depth));
    if (depth > level_slots) {
      const auto levels = to_host(ctx_, found_levels());
      std::fill(sizes.begin(), sizes.end(), 0);
      for (const std::int32_t level : levels) {
        if (level >= 0) ++sizes[static_cast<std::size_t>(level)];
      }
      comm_.reduce_in_place(span<std::int64_t, host>(sizes), reduction::sum);
    } else if (depth > recorded) {
      copy_to_host(ctx_, own_->search.own.level_sizes + recorded, sizes.data() + recorded,
                   static_cast<std::size_t>(depth - recorded) * sizeof(std::int64_t));
      ctx_.synchronize();
    }
    return sizes;
  }

  communicator comm_;
  context<device> ctx_;
  partition parts_;
  std::string how_;
  std::chrono::nanoseconds patience_;
  std::int64_t whole_bytes_;
  std::vector<int> ordinals_;     // of all ranks
  std::vector<int> local_ranks_;  // ranks on this device
  bool is_shared_ = false;        // some device has several ranks
  int blocks_ = 0;
  std::int64_t words_ = 0;
  persistent_run<I> run_{{}, -1, -1, -1, 0, 0, false, nullptr, {}};
  bool has_failed_ = false;
  std::shared_ptr<memory> own_;
  std::vector<std::shared_ptr<memory>> all_;
  std::shared_ptr<whole_graph<I>> whole_;
};

}  // namespace

template <class I>
bool can_persist(const communicator& comm, const context<device>& ctx, const link_choice& choice) {
  const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (choice.link != device_link::peer || comm.size() > most_persistent_ranks) return false;
  if (blocking != nullptr && std::string(blocking) != "0") return false;
  const std::vector<int> ordinals = comm.all_gather(ctx.ordinal());
  const bool fits = comm.agree_on(
      [&] { return blocks_of_rank<I>(ctx, std::count(ordinals.begin(), ordinals.end(), ctx.ordinal())) > 0; });
  return comm.all_reduce(fits ? 1 : 0, reduction::min) == 1;
}

template <class I>
std::unique_ptr<bfs_executor<I, device>> make_persistent_bfs(const communicator& comm, const context<device>& ctx,
                                                             const distributed_graph<I, device>& g,
                                                             const bfs_task& task, std::string_view how,
                                                             const persistence& options) {
  return std::make_unique<persistent_search<I>>(comm, ctx, g, task, how, options);
}

#define INSTANTIATE(I)                                                                                   \
  template bool can_persist<I>(const communicator&, const context<device>&, const link_choice&);         \
  template std::unique_ptr<bfs_executor<I, device>> make_persistent_bfs(                                 \
      const communicator&, const context<device>&, const distributed_graph<I, device>&, const bfs_task&, \
      std::string_view, const persistence&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed
