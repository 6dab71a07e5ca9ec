// Bounds on the device. Each pass is one kernel over all vertices; a survey has two, and the host waits for its result.
//
// A candidate's rank is a key of 64 bits: its bound above, its degree below. The largest key comes first, then the
// smallest vertex that has it, so that the choice does not depend on the order of threads.
#include "core/bytes_of.hpp"
#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "graph/eccentricity/executor.hpp"

#include <algorithm>
#include <numeric>

namespace spargo::detail::eccentricity {

namespace {

constexpr int pick_warps = 1024;  // each lists the candidates of a range of vertices, in order

struct survey_counters {
  count64 candidates;
  int max_lower;
  int min_lower;
  int max_upper;
  int min_upper;
  int highest_upper;
  count64 high_key;
  count64 low_key;
  count64 high;  // vertices
  count64 low;
  count64 high_source;
  count64 low_source;
};

template <class I, class O>
struct bound_view {
  const O* offsets;
  const I* indices;
  const std::uint8_t* inside;
  std::int32_t* lower;
  std::int32_t* upper;
  std::int64_t n;
  bool leaves;

  [[nodiscard]] __device__ count64 degree(std::int64_t v) const {
    return static_cast<count64>(offsets[v + 1] - offsets[v]);
  }
  [[nodiscard]] __device__ bool is_leaf(std::int64_t v) const { return leaves && degree(v) == 1; }
  [[nodiscard]] __device__ I source(std::int64_t v) const {
    return is_leaf(v) ? indices[offsets[v]] : static_cast<I>(v);
  }
  [[nodiscard]] __device__ count64 low_bits(std::int64_t v) const { return min(degree(v), count64{0xffffffff}); }
  [[nodiscard]] __device__ count64 high_key(std::int64_t v) const {
    return static_cast<count64>(upper[v]) << 32 | low_bits(v);
  }
  [[nodiscard]] __device__ count64 low_key(std::int64_t v) const {
    return static_cast<count64>(no_bound - lower[v]) << 32 | low_bits(v);
  }
};

template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    survey_kernel(bound_view<I, O> g, candidate_rule rule, survey_counters* to) {
  __shared__ count64 counts[block_threads / warp_size];
  __shared__ int bounds[4][block_threads / warp_size];
  __shared__ count64 keys[2][block_threads / warp_size];
  count64 candidates = 0;
  int max_lower = 0;
  int min_lower = no_bound;
  int max_upper = 0;
  int min_upper = no_bound;
  count64 high = 0;
  count64 low = 0;
  for (std::int64_t v = global_thread(); v < g.n; v += grid_threads()) {
    if (g.inside[v] == 0) continue;
    if (g.lower[v] < g.upper[v] && g.is_leaf(v)) {  // nobody writes its neighbour's bounds: that is no leaf
      const I u = g.indices[g.offsets[v]];
      if (g.lower[u] == g.upper[u]) g.lower[v] = g.upper[v] = g.lower[u] + 1;
    }
    const int lower = g.lower[v];
    const int upper = g.upper[v];
    max_lower = max(max_lower, lower);
    min_lower = min(min_lower, lower);
    max_upper = max(max_upper, upper);
    min_upper = min(min_upper, upper);
    if (!rule.holds(lower, upper)) continue;
    ++candidates;
    high = max(high, g.high_key(v));
    low = max(low, g.low_key(v));
  }
  const auto largest = [](auto a, auto b) { return max(a, b); };
  const auto smallest = [](auto a, auto b) { return min(a, b); };
  candidates = block_sum(candidates, counts);
  max_lower = block_reduce(max_lower, bounds[0], largest);
  min_lower = block_reduce(min_lower, bounds[1], smallest);
  max_upper = block_reduce(max_upper, bounds[2], largest);
  min_upper = block_reduce(min_upper, bounds[3], smallest);
  high = block_reduce(high, keys[0], largest);
  low = block_reduce(low, keys[1], largest);
  if (threadIdx.x != 0) return;
  atomicMax(&to->max_lower, max_lower);
  atomicMin(&to->min_lower, min_lower);
  atomicMax(&to->max_upper, max_upper);
  atomicMin(&to->min_upper, min_upper);
  if (candidates == 0) return;
  atomicAdd(&to->candidates, candidates);
  atomicMax(&to->high_key, high);
  atomicMax(&to->low_key, low);
}

// The first vertices with the best keys.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    best_kernel(bound_view<I, O> g, candidate_rule rule, survey_counters* to) {
  if (to->candidates == 0) return;
  const count64 high = to->high_key;
  const count64 low = to->low_key;
  for (std::int64_t v = global_thread(); v < g.n; v += grid_threads()) {
    if (!rule.holds(g.lower[v], g.upper[v])) continue;
    if (g.high_key(v) == high) atomicMin(&to->high, static_cast<count64>(v));
    if (g.low_key(v) == low) atomicMin(&to->low, static_cast<count64>(v));
  }
}

// A warp for each range of vertices: counts its candidates with upper bound `upper`, and the others.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    count_kernel(bound_view<I, O> g, candidate_rule rule, std::int32_t upper, std::int64_t range, count64* counts) {
  const std::int64_t warp = global_thread() / warp_size;
  count64 with = 0;
  count64 without = 0;
  for (std::int64_t v = warp * range + lane_id(); v < min(g.n, (warp + 1) * range); v += warp_size) {
    if (!rule.holds(g.lower[v], g.upper[v])) continue;
    ++(g.upper[v] == upper ? with : without);
  }
  with = warp_sum(with);
  without = warp_sum(without);
  if (lane_id() != 0) return;
  counts[warp] = with;
  counts[pick_warps + warp] = without;
}

// Lists them from `first[warp]` on, up to `most` in all.
template <class I, class O>
__global__ void __launch_bounds__(block_threads)
    list_kernel(bound_view<I, O> g, candidate_rule rule, std::int32_t upper, std::int64_t range, const count64* first,
                count64 most, search_start<I>* to) {
  const std::int64_t warp = global_thread() / warp_size;
  const std::int64_t end = min(g.n, (warp + 1) * range);
  count64 at[2] = {first[warp], first[pick_warps + warp]};
  for (std::int64_t base = warp * range; base < end; base += warp_size) {
    const std::int64_t v = base + lane_id();
    const bool is = v < end && rule.holds(g.lower[v], g.upper[v]);
#pragma unroll
    for (int others = 0; others < 2; ++others) {
      const bool mine = is && (g.upper[v] == upper) == (others == 0);
      const unsigned all = __ballot_sync(full_mask, mine);
      const count64 k = at[others] + static_cast<count64>(__popc(all & ((1U << lane_id()) - 1)));
      if (mine && k < most) to[k] = {static_cast<I>(v), g.source(v)};
      at[others] += static_cast<count64>(__popc(all));
    }
  }
}

template <class I, class O>
class device_bounds final : public bound_table<I, device> {
 public:
  device_bounds(const context<device>& ctx, const csr_pattern_view<I, O, device>& edges, const component_part<I>& part)
      : ctx_(ctx), edges_(edges), leaves_(part.leaves) {
    const device_guard guard(ctx_);
    inside_ = to_device(ctx_, part.inside);
    ids_ = to_device(ctx_, part.ids);
    lower_ = {ctx_, edges.rows};
    upper_ = {ctx_, edges.rows};
    if (!ids_.empty()) {
      all_lower_ = {ctx_, part.vertices};
      all_upper_ = {ctx_, part.vertices};
    }
    counters_ = {ctx_, 1};
    counts_ = {ctx_, 2 * pick_warps};
    listed_ = {ctx_, most_listed};
    settled_ = {ctx_, most_listed};
    eccentricities_ = {ctx_, most_listed};
    const context<host> pinned({.threads = 1, .resource = &pinned_host_resource()});
    pinned_counters_ = {pinned, 1};
    pinned_counts_ = {pinned, 2 * pick_warps};
    pinned_listed_ = {pinned, most_listed};
    pinned_settled_ = {pinned, most_listed};
    pinned_eccentricities_ = {pinned, most_listed};
  }

  void reset() override {
    for_each(ctx_, lower_.size(), [g = view()] __device__(std::int64_t v) {
      g.lower[v] = g.inside[v] != 0 ? 0 : -1;
      g.upper[v] = g.inside[v] != 0 ? no_bound : -1;
    });
  }

  void apply(span<const std::int32_t, device> from, span<const std::int32_t, device> to, std::int32_t ecc,
             bool beyond) override {
    const std::int32_t step = beyond ? 1 : 0;
    for_each(ctx_, lower_.size(), [=, g = view()] __device__(std::int64_t v) {
      const std::int32_t lower = g.lower[v];
      const std::int32_t upper = g.upper[v];
      if (lower >= upper) return;
      g.lower[v] = max(max(lower, to[v] + step), ecc - from[v]);
      g.upper[v] = static_cast<std::int32_t>(min(std::int64_t{upper}, std::int64_t{to[v]} + ecc));
    });
  }

  void settle(const std::vector<I>& vertices, const std::vector<std::int32_t>& ecc) override {
    const device_guard guard(ctx_);
    ctx_.synchronize();  // the arrays may be on their way
    std::copy(vertices.begin(), vertices.end(), pinned_settled_.begin());
    std::copy(ecc.begin(), ecc.end(), pinned_eccentricities_.begin());
    copy<I>(ctx_, std::as_const(pinned_settled_).view(), settled_.view());
    copy<std::int32_t>(ctx_, std::as_const(pinned_eccentricities_).view(), eccentricities_.view());
    for_each(ctx_, std::ssize(vertices),
             [g = view(), v = settled_.data(), e = eccentricities_.data()] __device__(std::int64_t k) {
               g.lower[v[k]] = g.upper[v[k]] = e[k];
             });
  }

  [[nodiscard]] survey<I> look(const candidate_rule& rule) override {
    const device_guard guard(ctx_);
    survey_counters* const to = counters_.data();
    for_each(ctx_, 1, [=] __device__(std::int64_t) {
      *to = {};
      to->min_lower = to->min_upper = no_bound;
      to->high = to->low = ~count64{0};
    });
    const launch_shape shape = grid_stride(ctx_, lower_.size());
    launch_kernel(ctx_, shape, survey_kernel<I, O>, view(), rule, to);
    launch_kernel(ctx_, shape, best_kernel<I, O>, view(), rule, to);
    for_each(ctx_, 1, [=, g = view()] __device__(std::int64_t) {
      if (to->candidates == 0) return;
      to->high_source = static_cast<count64>(g.source(static_cast<std::int64_t>(to->high)));
      to->low_source = static_cast<count64>(g.source(static_cast<std::int64_t>(to->low)));
      to->highest_upper = g.upper[to->high];
    });
    copy_to_host(ctx_, to, pinned_counters_.data(), sizeof(survey_counters));
    ctx_.synchronize();
    const survey_counters& found = pinned_counters_[0];
    survey<I> now{static_cast<std::int64_t>(found.candidates),
                  found.max_lower,
                  found.min_lower,
                  found.max_upper,
                  found.min_upper,
                  0,
                  {},
                  {}};
    if (now.candidates == 0) return now;
    now.highest_upper = found.highest_upper;
    now.highest = {static_cast<I>(found.high), static_cast<I>(found.high_source)};
    now.lowest = {static_cast<I>(found.low), static_cast<I>(found.low_source)};
    return now;
  }

  [[nodiscard]] std::vector<search_start<I>> pick(const candidate_rule& rule, std::int32_t upper,
                                                  std::int64_t count) override {
    const device_guard guard(ctx_);
    const std::int64_t range = div_up(lower_.size(), std::int64_t{pick_warps});
    const launch_shape shape{pick_warps * warp_size / block_threads, block_threads};
    launch_kernel(ctx_, shape, count_kernel<I, O>, view(), rule, upper, range, counts_.data());
    copy_to_host(ctx_, counts_.data(), pinned_counts_.data(), 2 * pick_warps * sizeof(count64));
    ctx_.synchronize();
    const auto all = std::accumulate(pinned_counts_.begin(), pinned_counts_.end(), count64{0});
    std::exclusive_scan(pinned_counts_.begin(), pinned_counts_.end(), pinned_counts_.begin(), count64{0});
    copy<count64>(ctx_, std::as_const(pinned_counts_).view(), counts_.view());
    const auto most = std::min({static_cast<count64>(count), static_cast<count64>(most_listed), all});
    launch_kernel(ctx_, shape, list_kernel<I, O>, view(), rule, upper, range, counts_.data(), most, listed_.data());
    copy_to_host(ctx_, listed_.data(), pinned_listed_.data(), most * sizeof(search_start<I>));
    ctx_.synchronize();
    return {pinned_listed_.begin(), pinned_listed_.begin() + static_cast<std::int64_t>(most)};
  }

  [[nodiscard]] std::int64_t first_with(std::int32_t ecc) override {
    const device_guard guard(ctx_);
    count64* const to = counts_.data();
    for_each(ctx_, 1, [=] __device__(std::int64_t) { *to = ~count64{0}; });
    for_each(ctx_, lower_.size(), [=, g = view()] __device__(std::int64_t v) {
      if (g.lower[v] == ecc && g.upper[v] == ecc) atomicMin(to, static_cast<count64>(v));
    });
    for_each(ctx_, 1, [=, ids = ids_.view()] __device__(std::int64_t) {
      if (*to != ~count64{0} && !ids.empty()) *to = static_cast<count64>(ids[static_cast<std::int64_t>(*to)]);
    });
    copy_to_host(ctx_, to, pinned_counts_.data(), sizeof(count64));
    ctx_.synchronize();
    return static_cast<std::int64_t>(pinned_counts_[0]);
  }

  void finish() override {
    if (ids_.empty()) return;
    for_each(ctx_, all_lower_.size(),
             [low = all_lower_.data(), high = all_upper_.data()] __device__(std::int64_t v) { low[v] = high[v] = -1; });
    for_each(
        ctx_, ids_.size(),
        [g = view(), ids = ids_.data(), low = all_lower_.data(), high = all_upper_.data()] __device__(std::int64_t v) {
          low[ids[v]] = g.lower[v];
          high[ids[v]] = g.upper[v];
        });
  }
  [[nodiscard]] span<const std::int32_t, device> lower() const noexcept override {
    return (ids_.empty() ? lower_ : all_lower_).view();
  }
  [[nodiscard]] span<const std::int32_t, device> upper() const noexcept override {
    return (ids_.empty() ? upper_ : all_upper_).view();
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(inside_, ids_, lower_, upper_, all_lower_, all_upper_, counters_, counts_, listed_, settled_,
                    eccentricities_);
  }

 private:
  static constexpr std::int64_t most_listed = 64;

  [[nodiscard]] bound_view<I, O> view() {
    return {edges_.offsets.data(), edges_.indices.data(), inside_.data(), lower_.data(),
            upper_.data(),         lower_.size(),         leaves_};
  }

  context<device> ctx_;
  csr_pattern_view<I, O, device> edges_;
  bool leaves_;
  array<std::uint8_t, device> inside_;
  array<I, device> ids_;
  array<std::int32_t, device> lower_;
  array<std::int32_t, device> upper_;
  array<std::int32_t, device> all_lower_;  // with `ids_`: of the caller's graph
  array<std::int32_t, device> all_upper_;
  array<survey_counters, device> counters_;
  array<count64, device> counts_;
  array<search_start<I>, device> listed_;
  array<I, device> settled_;
  array<std::int32_t, device> eccentricities_;
  array<survey_counters, host> pinned_counters_;
  array<count64, host> pinned_counts_;
  array<search_start<I>, host> pinned_listed_;
  array<I, host> pinned_settled_;
  array<std::int32_t, host> pinned_eccentricities_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<bound_table<I, device>> make_bounds(const context<device>& ctx,
                                                    const csr_pattern_view<I, O, device>& edges,
                                                    const component_part<I>& part) {
  return std::make_unique<device_bounds<I, O>>(ctx, edges, part);
}

#define INSTANTIATE(I, O)                                       \
  template std::unique_ptr<bound_table<I, device>> make_bounds( \
      const context<device>&, const csr_pattern_view<I, O, device>&, const component_part<I>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::eccentricity
