// Core numbers on the device: what a plan prepares, and a run in two or three launches; the kernel is in cuda_peel.cuh.
//
// A run is asynchronous: the host waits for the largest core number only when it is asked for it. Workspace: seven
// indices per vertex, and four per 1024 edges for long rows. H200: see apps/docs/decisions.md.
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/instantiate.hpp"
#include "graph/cores/cuda_peel.cuh"
#include "graph/cores/executor.hpp"
#include "graph/frontier/edge_shares.cuh"

namespace spargo::detail::cores {

namespace {

constexpr std::int64_t loop_share = 1024;  // edges of a warp that looks for loops

// Whether there are loops, and the largest degree with them.
struct survey {
  count64 loops;
  count64 degree;
};

// Calls found(v) for each loop of a vertex v.
template <class I, class O, class F>
__global__ void __launch_bounds__(block_threads)
    for_each_loop_kernel(const O* offsets, const I* indices, edge_range edges, F found) {
  for_each_edge_in_share(
      offsets, edges, loop_share, [](std::int64_t) {},
      [&](std::int64_t e, std::int64_t v) {
        if (static_cast<std::int64_t>(indices[e]) == v) found(v);
      });
}

template <class I, class O, class F>
void for_each_loop(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, F found) {
  if (rows.nnz() == 0) return;
  const device_guard guard(ctx);
  launch_kernel(ctx, one_thread_each(div_up(rows.nnz(), loop_share) * warp_size, block_threads),
                for_each_loop_kernel<I, O, F>, rows.offsets.data(), rows.indices.data(),
                edge_range{0, rows.rows, 0, rows.nnz()}, found);
}

template <class I, class O>
__device__ std::int64_t degree_with_loops(const peeling<I, O>& p, std::int64_t v) {
  std::int64_t sum = 0;
  for (const O* const offsets : p.offsets) {
    if (offsets != nullptr) sum += static_cast<std::int64_t>(offsets[v + 1]) - static_cast<std::int64_t>(offsets[v]);
  }
  return sum;
}

template <class I, class O>
void find_largest_degree(const context<device>& ctx, const peeling<I, O>& p, survey* to) {
  for_each(ctx, p.vertices, [p, to] __device__(std::int64_t v) {
    const auto degree = static_cast<count64>(degree_with_loops(p, v));
    if (degree > __ldcg(&to->degree)) atomicMax(&to->degree, degree);
  });
}

template <class I, class O>
void find_loops(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, survey* to) {
  for_each_loop(ctx, rows, [to] __device__(std::int64_t) { to->loops = 1; });
}

template <class I, class O>
void start_degrees(const context<device>& ctx, const peeling<I, O>& p) {
  for_each(ctx, p.vertices, [p] __device__(std::int64_t v) {
    const std::int64_t degree = degree_with_loops(p, v);
    p.degree[v] = static_cast<I>(degree);
    p.core[v] = degree > 0 ? I{-1} : I{0};
  });
}

template <class I, class O>
void drop_loops(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows, I* degree) {
  for_each_loop(ctx, rows, [degree] __device__(std::int64_t v) { decrement(degree + v); });
}

template <class I, class O>
void set_isolated(const context<device>& ctx, const peeling<I, O>& p) {
  for_each(ctx, p.vertices, [p] __device__(std::int64_t v) {
    if (p.degree[v] == 0) p.core[v] = 0;
  });
}

template <class I, class O>
class device_executor final : public executor<I, device> {
  using rows = csr_pattern_view<I, O, device>;

 public:
  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g)
      : ctx_(ctx), sides_{g.out, g.direction == direction_kind::directed ? g.in : rows{}}, memory_(ctx) {
    const std::int64_t n = g.vertices();
    max_core_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    max_core_[0] = 0;
    p_.vertices = n;
    p_.bucket_slots = cuda_tuning::pool_share * n;
    p_.degree = memory_.take<I>(n);
    p_.core = memory_.take<I>(n);
    for (I*& list : p_.remaining) list = memory_.take<I>(n);
    p_.buckets = memory_.take<I>(p_.bucket_slots);
    p_.passed = memory_.take<I>(n);
    p_.control = memory_.take<control_block>(1);
    for (int side = 0; side < 2; ++side) {
      if (sides_[side].offsets.empty()) continue;
      p_.offsets[side] = sides_[side].offsets.data();
      p_.indices[side] = sides_[side].indices.data();
      p_.chunks[side] = memory_.take<edge_chunk<I>>(2 * sides_[side].nnz() / cuda_tuning::chunk + 1);
    }
    if (n == 0) return;
    const device_guard guard(ctx);
    kernel_ = {ctx, peel_kernel<I, O>, cuda_tuning::block, "cores", 0, cuda_tuning::blocks};
    look_at_edges();
  }

  void run() override {
    if (p_.vertices == 0) return;
    const device_guard guard(ctx_);
    count_degrees();
    SPARGO_CUDA_TRY(cudaMemsetAsync(p_.control, 0, sizeof(control_block), ctx_.stream()));
    kernel_.launch(ctx_, p_);
    copy_to_host(ctx_, &p_.control->max_core, max_core_.data(), sizeof(count64));
  }

  [[nodiscard]] span<const I, device> cores() const noexcept override { return {p_.core, p_.vertices}; }
  [[nodiscard]] I max_core() const override {
    ctx_.synchronize();
    return static_cast<I>(max_core_[0]);
  }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override { return memory_.bytes(); }

 private:
  // Waits for the device.
  void look_at_edges() {
    array<survey, device> found(ctx_, 1);
    fill_zero<survey, device>(ctx_, found.view());
    find_largest_degree(ctx_, p_, found.data());
    for (const rows& side : sides_) find_loops(ctx_, side, found.data());
    const survey seen = to_host(ctx_, span<const survey, device>(found.view()))[0];
    has_loops_ = seen.loops != 0;
    expect_narrow_degree<I>(static_cast<std::int64_t>(seen.degree));
  }

  void count_degrees() {
    start_degrees(ctx_, p_);
    if (!has_loops_) return;
    for (const rows& side : sides_) drop_loops(ctx_, side, p_.degree);
    set_isolated(ctx_, p_);
  }

  context<device> ctx_;
  rows sides_[2];  // out-edges, and in-edges of a directed graph
  plan_memory memory_;
  peeling<I, O> p_{};
  bool has_loops_ = false;
  cooperative_kernel<peeling<I, O>> kernel_;
  array<count64, host> max_core_;
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g) {
  return std::make_unique<device_executor<I, O>>(ctx, g);
}

#define INSTANTIATE(I, O) \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::cores
