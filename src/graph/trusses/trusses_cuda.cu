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
#include "primitives/sort/radix_sort.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/primitives/scan.hpp>

#include <bit>
#include <limits>
#include <string>

namespace spargo::detail::trusses {

namespace {

constexpr std::int64_t few_edges = 1 << 16;  // are not copied to shorter rows; untuned

// Ranks vertices by descending degree: rank [vertex].
template <class I, class O>
array<int, device> rank_vertices(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows,
                                 std::int64_t longest) {
  const std::int64_t n = rows.rows;
  array<std::uint32_t, device> keys(ctx, n), vertices(ctx, n), spare_keys(ctx, n), spare_vertices(ctx, n);
  for_each(ctx, n,
           [offsets = rows.offsets.data(), longest, keys = keys.data(),
            vertices = vertices.data()] __device__(std::int64_t v) {
             keys[v] = static_cast<std::uint32_t>(longest - (offsets[v + 1] - offsets[v]));
             vertices[v] = static_cast<std::uint32_t>(v);
           });
  sort_pairs(ctx, n, keys, vertices, spare_keys, spare_vertices, 0,
             std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest)))));
  array<int, device> ranks(ctx, n);
  for_each(ctx, n, [vertices = vertices.data(), ranks = ranks.data()] __device__(std::int64_t r) {
    ranks[vertices[r]] = static_cast<int>(r);
  });
  return ranks;
}

// The edges of canonical rows in the order of results, and as keys (higher rank, lower rank).
template <class I, class O>
void list_edges(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, const int* ranks, int bits,
                I* sources, I* targets, std::uint64_t* keys, std::uint32_t* places) {
  const std::int64_t n = rows.rows;
  array<O, device> middles(ctx, n);  // the first entry of a higher neighbour
  array<O, device> starts(ctx, n + 1);
  for_each(ctx, n + 1,
           [n, offsets = rows.offsets.data(), indices = rows.indices.data(), middles = middles.data(),
            starts = starts.data()] __device__(std::int64_t v) {
             starts[v] = 0;
             if (v == n) return;
             middles[v] =
                 static_cast<O>(offsets[v] + lower_bound(indices + offsets[v], offsets[v + 1] - offsets[v], v));
             starts[v] = offsets[v + 1] - middles[v];
           });
  exclusive_scan<O, device>(ctx, std::as_const(starts).view(), starts.view());
  for_each(ctx, rows.nnz(),
           [=, offsets = rows.offsets.data(), indices = rows.indices.data(), middles = middles.data(),
            starts = starts.data()] __device__(std::int64_t entry) {
             const std::int64_t u = lower_bound(offsets, n + 1, entry + 1) - 1;
             const I v = indices[entry];
             if (static_cast<std::int64_t>(v) < u) return;
             const std::int64_t place = starts[u] + (entry - middles[u]);
             sources[place] = static_cast<I>(u);
             targets[place] = v;
             const auto a = static_cast<std::uint64_t>(ranks[u]);
             const auto b = static_cast<std::uint64_t>(ranks[v]);
             keys[place] = (a < b ? b : a) << bits | (a < b ? a : b);
             places[place] = static_cast<std::uint32_t>(place);
           });
}

// Fills the rows of a graph from its edges as keys, unsorted, and their places.
inline void fill_rows(const context<device>& ctx, int bits, array<std::uint64_t, device>& keys,
                      array<std::uint32_t, device>& payload, const cuda_rows& g) {
  const std::int64_t n = g.vertices;
  const std::int64_t edges = g.edges;
  sort_pairs(ctx, keys, payload, 0, 2 * bits);
  for_each(ctx, n + 1, [g, edges, bits, keys = keys.data()] __device__(std::int64_t v) {
    g.first[v] = static_cast<int>(lower_bound(keys, edges, v << bits));
  });
  for_each(ctx, edges, [g, bits, keys = keys.data(), payload = payload.data()] __device__(std::int64_t e) {
    g.from[e] = static_cast<int>(keys[e] >> bits);
    g.to[e] = static_cast<int>(keys[e] & ((std::uint64_t{1} << bits) - 1));
    g.place[e] = static_cast<int>(payload[e]);
  });
  for_each(ctx, edges, [g, keys = keys.data(), payload = payload.data()] __device__(std::int64_t e) {
    keys[e] = static_cast<std::uint64_t>(g.to[e]);
    payload[e] = static_cast<std::uint32_t>(e);
  });
  sort_pairs(ctx, keys, payload, 0, bits);
  // A row begins behind the lower and the upper entries of the rows before it.
  for_each(ctx, n + 1, [g, edges, keys = keys.data()] __device__(std::int64_t v) {
    g.offsets[v] = g.first[v] + static_cast<int>(lower_bound(keys, edges, v));
  });
  for_each(ctx, edges, [g, keys = keys.data(), payload = payload.data()] __device__(std::int64_t e) {
    const int lower = g.offsets[g.from[e]] - g.first[g.from[e]] + static_cast<int>(e);
    g.ends[lower] = g.to[e];
    g.numbers[lower] = static_cast<int>(e);
    const auto id = static_cast<int>(payload[e]);  // the e-th edge by its lower end
    const int upper = g.first[keys[e] + 1] + static_cast<int>(e);
    g.ends[upper] = g.from[id];
    g.numbers[upper] = id;
  });
}

// --- Results, by place

template <class I>
void convert_numbers(const context<device>& ctx, std::int64_t edges, const int* truss, I* to) {
  for_each(ctx, edges, [=] __device__(std::int64_t place) { to[place] = static_cast<I>(truss[place]); });
}
// kept, one more than edges: 1 for edges that were not removed, else 0.
inline void flag_kept(const context<device>& ctx, std::int64_t edges, const int* truss, int* kept) {
  for_each(ctx, edges + 1,
           [=] __device__(std::int64_t place) { kept[place] = place < edges && truss[place] == 0 ? 1 : 0; });
}
template <class I>
void copy_kept(const context<device>& ctx, std::int64_t edges, const int* truss, const int* ids, const I* from, I* to) {
  for_each(ctx, edges, [=] __device__(std::int64_t place) {
    if (truss[place] == 0) to[ids[place]] = from[place];
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
    return memory_.bytes() + bytes_of(control_, sources_, targets_, numbers_, kept_sources_, kept_targets_);
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
    {
      const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_))));
      const array<int, device> ranks = rank_vertices(ctx_, rows, longest);
      array<std::uint64_t, device> keys(ctx_, edges_);
      array<std::uint32_t, device> payload(ctx_, edges_);
      list_edges(ctx_, rows, ranks.data(), bits, sources_.data(), targets_.data(), keys.data(), payload.data());
      fill_rows(ctx_, bits, keys, payload, graph_);
    }
    for (int half = 0; half < 2; ++half) copies_[half] = take_rows(edges_ >> (half + 1));
    ids_ = memory_.take<int>(edges_ + 1);
    places_ = memory_.take<int>(2 * edges_ + 1);
    queue_ = memory_.take<int>(edges_);
    truss_ = memory_.take<int>(edges_);
    big_ = memory_.take<int>(n_);
    if (k_ == 0) {
      numbers_ = {ctx_, edges_};
    } else {
      kept_sources_ = {ctx_, edges_};
      kept_targets_ = {ctx_, edges_};
    }
  }

  cuda_rows take_rows(std::int64_t edges) {
    const auto ints = [&](std::int64_t size) { return memory_.take<int>(size); };
    return {n_,          edges,       ints(n_ + 1), ints(n_ + 1), ints(2 * edges), ints(2 * edges),
            ints(edges), ints(edges), ints(edges),  ints(edges),  ints(edges)};
  }

  void start() {
    now_ = &graph_;
    alive_ = edges_;
    level_ = static_cast<int>(k_ == 0 ? 0 : std::min<std::int64_t>(k_, n_ + 2) - 3);
    round_ = 1;
    fill(graph_.round, 0x7f, edges_);
    fill(truss_, 0, edges_);
    if (k_ != 2) count_supports();
  }
  void fill(int* to, int byte, std::int64_t size) const {
    SPARGO_CUDA_TRY(cudaMemsetAsync(to, byte, static_cast<std::size_t>(size) * sizeof(int), ctx_.stream()));
  }

  [[nodiscard]] launch_shape warps_for(std::int64_t warps) const {
    return {blocks_for(ctx_, warps, cuda_tuning::warps), cuda_tuning::block};
  }

  void count_supports() {
    fill(now_->support, 0, now_->edges);
    fill_zero(ctx_, control_);
    launch_kernel(ctx_, warps_for(div_up(n_, std::int64_t{warp_size})), count_by_warps_kernel, *now_, big_,
                  control_.data());
    launch_kernel(ctx_, {std::int64_t{8} * ctx_.properties().multiprocessors, cuda_tuning::block},
                  count_by_blocks_kernel, *now_, big_, control_.data());
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
        count_supports();
        return false;
      }
      launch_kernel(ctx_, warps_for(size), peel_kernel, *now_, level_, round_, queue_ + head, static_cast<int>(size),
                    queue_, truss_, control_.data());
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
    flag_kept(ctx_, edges_, truss_, ids_);
    scan(ids_, edges_ + 1);
    copy_kept(ctx_, edges_, truss_, ids_, sources_.data(), kept_sources_.data());
    copy_kept(ctx_, edges_, truss_, ids_, targets_.data(), kept_targets_.data());
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
  array<cuda_control, device> control_;
  array<cuda_control, host> host_control_;
  cuda_rows graph_{};      // all edges
  cuda_rows copies_[2]{};  // at most a half and a quarter of them
  int* ids_ = nullptr;     // [edge], plus one
  int* places_ = nullptr;  // [entry], plus one
  int* queue_ = nullptr;   // edges removed in this level
  int* truss_ = nullptr;   // [place] the number when the edge is removed; 0 before
  int* big_ = nullptr;     // vertices that blocks take
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
