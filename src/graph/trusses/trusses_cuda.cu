// Trusses on the device: what a plan prepares, and the levels of a run; the kernels are in cuda_peel.cuh.
//
// The host starts every round and waits for its frontier's size. As on the host, rows without removed edges are copied
// when half of the edges are removed, and supports are counted again after a frontier of half of those that are left.
#include "core/bytes_of.hpp"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/triangles/executor.hpp"
#include "graph/trusses/cuda_peel.cuh"
#include "graph/trusses/executor.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/primitives/scan.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace spargo::detail::trusses {

namespace {

constexpr std::int64_t few_edges = 1 << 16;  // are not copied to shorter rows; untuned

// --- Results, by place

template <class I>
void convert_numbers(const context<device>& ctx, std::int64_t edges, const int* truss, I* to) {
  for_each(ctx, edges, [=] __device__(std::int64_t place) { to[place] = static_cast<I>(truss[place]); });
}
// kept [place], 0 on entry: 1 for edges that were not removed.
inline void flag_kept(const context<device>& ctx, const cuda_rows& g, int* kept) {
  for_each(ctx, g.edges, [g, kept] __device__(std::int64_t e) {
    if (g.round[e] == never_removed) kept[g.place[e]] = 1;
  });
}
// ids: the flags, scanned, plus one.
template <class I>
void copy_kept(const context<device>& ctx, std::int64_t edges, const int* ids, const I* from, I* to) {
  for_each(ctx, edges, [=] __device__(std::int64_t place) {
    if (ids[place + 1] > ids[place]) to[ids[place]] = from[place];
  });
}

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, std::int64_t k)
      : ctx_(ctx), n_(g.vertices()), k_(k), memory_(ctx), control_(ctx, 1) {
    host_control_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    const triangles::row_survey survey = triangles::survey_rows(ctx, g);
    if (survey.canonical) {
      prepare(g.out, survey.longest);
      return;
    }
    const auto pairs = to_coo(ctx, csr_view<const pattern, I, O, device>{{g.out}, {}});
    const auto copy = build_graph<std::int64_t>(ctx, coo_pattern_view<I, device>(pairs.view()),
                                                {.direction = direction_kind::undirected});
    prepare(copy.view().out, triangles::survey_rows(ctx, copy.view()).longest);
  }

  void run() override {
    if (edges_ == 0) return;
    const device_guard guard(ctx_);
    start();
    while (k_ != 2 && alive_ > 0) {
      const cuda_control found = find_frontier();
      if (found.tail > 0) {
        if (peel_level(found.tail)) {
          if (k_ != 0) break;
          ++level_;
        }
        if (2 * alive_ <= now_->edges && now_->edges > few_edges) shorten_rows();
      } else if (k_ == 0) {
        level_ = found.least;
      } else {
        break;
      }
    }
    collect();
  }

  [[nodiscard]] const truss_edges<I, device>& result() const noexcept override { return result_; }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return memory_.bytes() + (supports_ ? supports_->bytes() : 0) +
           bytes_of(control_, sources_, targets_, numbers_, kept_sources_, kept_targets_);
  }

 private:
  template <class Offset>
  void prepare(const csr_pattern_view<I, Offset, device>& rows, std::int64_t longest) {
    edges_ = rows.nnz() / 2;
    if (n_ > std::numeric_limits<std::int32_t>::max() - 1 || edges_ >= std::int64_t{1} << 30) {
      throw error(error_code::unsupported, "trusses: " + std::to_string(n_) + " vertices and " +
                                               std::to_string(edges_) +
                                               " edges on a device (at most 2147483646 and 1073741823)");
    }
    if (edges_ == 0) return;
    const device_guard guard(ctx_);
    sources_ = {ctx_, edges_};
    targets_ = {ctx_, edges_};
    graph_ = take_rows(edges_);
    graph_.edges = edges_;
    triangles::fill_ranked(ctx_, rows, longest, sources_.data(), targets_.data(), graph_);
    supports_.emplace(ctx_, edges_);
    for (int half = 0; half < 2; ++half) copies_[half] = take_rows(edges_ >> (half + 1));
    ids_ = memory_.take<int>(edges_ + 1);
    places_ = memory_.take<int>(2 * edges_ + 1);
    queue_ = memory_.take<int>(edges_);
    if (k_ == 0) {
      truss_ = memory_.take<int>(edges_);
      numbers_ = {ctx_, edges_};
    } else {
      kept_sources_ = {ctx_, edges_};
      kept_targets_ = {ctx_, edges_};
    }
  }

  cuda_rows take_rows(std::int64_t edges) {
    const auto ints = [&](std::int64_t size) { return memory_.take<int>(size); };
    return {{n_, edges, ints(n_ + 1), ints(n_ + 1), ints(2 * edges), ints(2 * edges), ints(edges),
             ints(edges + triangles::ranked_padding), ints(edges)},
            ints(edges),
            ints(edges)};
  }

  void start() {
    now_ = &graph_;
    alive_ = edges_;
    level_ = static_cast<int>(k_ == 0 ? 0 : std::min<std::int64_t>(k_, n_ + 2) - 3);
    round_ = 1;
    fill(graph_.round, 0x7f, edges_);
    if (k_ != 2) supports_->run(*now_, now_->support);
  }
  void fill(int* to, int byte, std::int64_t size) const {
    SPARGO_CUDA_TRY(cudaMemsetAsync(to, byte, static_cast<std::size_t>(size) * sizeof(int), ctx_.stream()));
  }

  [[nodiscard]] launch_shape warps_for(std::int64_t warps) const {
    return {blocks_for(ctx_, warps, cuda_tuning::warps), cuda_tuning::block};
  }

  // Waits for the device.
  [[nodiscard]] cuda_control read_control() {
    copy_to_host(ctx_, control_.data(), host_control_.data(), sizeof(cuda_control));
    ctx_.synchronize();
    interruption::look();
    return host_control_[0];
  }

  [[nodiscard]] cuda_control find_frontier() {
    fill_zero(ctx_, control_);
    fill(&control_.data()->least, 0x7f, 1);
    launch_kernel(ctx_, warps_for(div_up(now_->edges, std::int64_t{cuda_tuning::scanned} * warp_size)),
                  find_frontier_kernel, *now_, level_, round_, queue_, truss_, control_.data());
    return read_control();
  }

  // Returns false when supports were counted again, so the level may have more edges.
  [[nodiscard]] bool peel_level(std::int64_t tail) {
    for (std::int64_t head = 0; head < tail;) {
      const std::int64_t size = tail - head;
      alive_ -= size;
      if (alive_ == 0) return true;
      if (size >= alive_ && now_->edges > few_edges) {
        shorten_rows();
        supports_->run(*now_, now_->support);
        return false;
      }
      // A group of lanes follows one edge after the other, if there are more edges than groups.
      const std::int64_t groups = warp_size / cuda_tuning::lanes;
      const std::int64_t warps = std::int64_t{cuda_tuning::warps} * blocks_for(ctx_, size, 1);
      const std::int64_t share = std::clamp(div_up(size, warps), groups, std::int64_t{warp_size});
      launch_kernel(ctx_, warps_for(div_up(size, share)), peel_kernel, *now_,
                    peel_round{level_, round_, queue_, truss_, control_.data(), static_cast<int>(share)}, queue_ + head,
                    static_cast<int>(size));
      head = tail;
      tail = read_control().tail;
      ++round_;
    }
    return true;
  }

  // Asynchronous, since the host knows how many edges are left.
  void shorten_rows() {
    cuda_rows& left = now_ == &copies_[0] ? copies_[1] : copies_[0];
    left.edges = alive_;
    flag_left(ctx_, *now_, ids_);
    scan(ids_, now_->edges + 1);
    copy_edges(ctx_, *now_, ids_, left);
    flag_entries(ctx_, *now_, places_);
    scan(places_, 2 * now_->edges + 1);
    copy_rows(ctx_, *now_, ids_, places_, left);
    now_ = &left;
    round_ = 1;
  }
  void scan(int* values, std::int64_t size) const {
    exclusive_scan<std::int32_t, device>(ctx_, span<const int, device>(values, size), span<int, device>(values, size));
  }

  void collect() {
    if (k_ == 0) {
      convert_numbers(ctx_, edges_, truss_, numbers_.data());
      // The level is one beyond the last that had edges.
      result_ = {sources_.view(), targets_.view(), numbers_.view(), static_cast<I>(level_ + 1)};
      return;
    }
    result_ = {};
    if (alive_ == 0) return;
    fill(ids_, 0, edges_ + 1);
    flag_kept(ctx_, *now_, ids_);
    scan(ids_, edges_ + 1);
    copy_kept(ctx_, edges_, ids_, sources_.data(), kept_sources_.data());
    copy_kept(ctx_, edges_, ids_, targets_.data(), kept_targets_.data());
    result_ = {span<const I, device>(kept_sources_.view()).subspan(0, alive_),
               span<const I, device>(kept_targets_.view()).subspan(0, alive_),
               {},
               static_cast<I>(k_)};
  }

  context<device> ctx_;
  std::int64_t n_;
  std::int64_t k_;
  std::int64_t edges_ = 0;
  plan_memory memory_;
  std::optional<triangles::support_counter> supports_;
  array<cuda_control, device> control_;
  array<cuda_control, host> host_control_;
  cuda_rows graph_{};      // all edges
  cuda_rows copies_[2]{};  // at most a half and a quarter of them
  int* ids_ = nullptr;     // [edge], plus one
  int* places_ = nullptr;  // [entry], plus one
  int* queue_ = nullptr;   // edges removed in this level
  int* truss_ = nullptr;   // [place] the number when the edge is removed; null for a single k
  array<I, device> sources_;
  array<I, device> targets_;
  array<I, device> numbers_;
  array<I, device> kept_sources_;  // of a single k
  array<I, device> kept_targets_;
  truss_edges<I, device> result_;
  cuda_rows* now_ = nullptr;  // what is left
  std::int64_t alive_ = 0;
  int level_ = 0;
  int round_ = 1;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   std::int64_t k) {
  return std::make_unique<device_executor<I, O>>(ctx, g, k);
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              std::int64_t);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::trusses
