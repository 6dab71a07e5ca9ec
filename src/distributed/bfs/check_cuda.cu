// check_bfs on devices: each checks its own rows with the levels and parents of all vertices, gathered through the
// hosts. Cost: one pass over the rows with a gather per entry, one search in a row per vertex.
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "core/instantiate.hpp"
#include "distributed/bfs/check.hpp"
#include "distributed/graph/device_graph.hpp"

#include <algorithm>
#include <vector>

namespace spargo::detail::distributed {

namespace {

class device_minimum {
 public:
  device_minimum(const context<device>& ctx, std::int64_t none) : ctx_(ctx), none_(none), least_(ctx, 1) { clear(); }

  [[nodiscard]] count64* data() { return least_.data(); }
  // The minimum, and resets it; below 0: none. Synchronises.
  [[nodiscard]] std::int64_t read() {
    const auto found = static_cast<std::int64_t>(to_host(ctx_, std::as_const(least_).view())[0]);
    clear();
    return found == none_ ? -1 : found;
  }
  void clear() {
    for_each(ctx_, 1,
             [least = least_.data(), none = none_] __device__(std::int64_t) { *least = static_cast<count64>(none); });
  }

 private:
  context<device> ctx_;
  std::int64_t none_;
  array<count64, device> least_;
};

// The first row with an edge between inconsistent levels; one warp per row.
template <class I>
__global__ void __launch_bounds__(block_threads)
    check_edges_kernel(const std::int64_t* offsets, const I* indices, std::int64_t rows, std::int64_t first, bool both,
                       const std::int32_t* levels, count64* least) {
  for (std::int64_t u = global_thread() / warp_size; u < rows; u += grid_threads() / warp_size) {
    const std::int32_t from = levels[first + u];
    for (std::int64_t e = offsets[u] + lane_id(); e < offsets[u + 1]; e += warp_size) {
      if (!suits_edge(both, from, levels[indices[e]])) atomicMin(least, static_cast<count64>(u));
    }
  }
}

// Gathered results of one search, for all vertices.
template <class I>
class gathered_search {
 public:
  gathered_search(const communicator& comm, const context<device>& ctx, span<const std::int32_t, device> levels,
                  span<const I, device> parents) {
    gather(comm, ctx, levels, levels_);
    gather(comm, ctx, parents, parents_);
  }
  [[nodiscard]] const std::int32_t* levels() const { return levels_.data(); }
  [[nodiscard]] const I* parents() const { return parents_.data(); }

 private:
  template <class T>
  static void gather(const communicator& comm, const context<device>& ctx, span<const T, device> own,
                     array<T, device>& all) {
    const auto mine = comm.agree_on([&] { return to_host(ctx, own); });
    const std::vector<T> gathered = comm.all_gather(mine.view());
    comm.agree_on([&] { all = to_device(ctx, gathered); });
  }
  array<std::int32_t, device> levels_;
  array<I, device> parents_;
};

}  // namespace

std::int64_t count_traversed_on_device(const context<device>& ctx, span<const std::int64_t, device> offsets,
                                       span<const std::int32_t, device> levels) {
  array<count64, device> sum(ctx, 1);
  fill_zero(ctx, sum.view());
  const std::int64_t rows = levels.size();
  for_each(ctx, div_up(rows, std::int64_t{warp_size}) * warp_size,
           [=, offset = offsets.data(), level = levels.data(), to = sum.data()] __device__(std::int64_t v) {
             const bool counts = v < rows && level[v] >= 0;
             const count64 mine = warp_sum(counts ? static_cast<count64>(offset[v + 1] - offset[v]) : count64{0});
             if (lane_id() == 0 && mine > 0) atomicAdd(to, mine);
           });
  return static_cast<std::int64_t>(to_host(ctx, std::as_const(sum).view())[0]);
}

template <class I>
std::string check_bfs_on_device(const communicator& comm, const context<device>& ctx,
                                const distributed_graph<I, device>& g, std::int64_t source,
                                span<const std::int32_t, device> levels, span<const I, device> parents) {
  const std::int64_t n = g.vertices();
  const std::int64_t first = g.parts().first(comm.rank());
  const auto& out = g.out();
  const std::int64_t rows = out.rows;
  const bool both = g.direction() == direction_kind::undirected;
  std::string wrong;
  if (levels.size() != rows || parents.size() != rows) {
    wrong = "there are " + std::to_string(levels.size()) + " levels and " + std::to_string(parents.size()) +
            " parents for " + std::to_string(rows) + " vertices";
  }
  wrong = first_of(comm, std::move(wrong));
  if (!wrong.empty()) return wrong;

  const gathered_search<I> found(comm, ctx, levels, parents);
  const std::int32_t* const level = found.levels();
  const I* const parent = found.parents();
  const auto value = [&](const auto* from, std::int64_t at) {
    std::remove_cvref_t<decltype(*from)> one{};
    copy_to_host(ctx, from + at, &one, sizeof(one));
    ctx.synchronize();
    return one;
  };
  auto least = comm.agree_on([&] { return std::make_unique<device_minimum>(ctx, n); });

  wrong = comm.agree_on([&]() -> std::string {
    for_each(ctx, rows, [=, to = least->data()] __device__(std::int64_t v) {
      if (!suits_vertex(first + v, n, source, level[first + v], parent[first + v])) {
        atomicMin(to, static_cast<count64>(v));
      }
    });
    const std::int64_t v = least->read();
    return v < 0 ? "" : vertex_fault(first + v, n, source, value(level, first + v), value(parent, first + v));
  });
  wrong = first_of(comm, std::move(wrong));
  if (!wrong.empty()) return wrong;

  wrong = comm.agree_on([&]() -> std::string {
    if (rows == 0) return "";
    const device_guard guard(ctx);
    launch_kernel(ctx, grid_stride(ctx, rows, block_threads / warp_size), check_edges_kernel<I>, out.offsets.data(),
                  out.indices.data(), rows, first, both, level, least->data());
    const std::int64_t u = least->read();
    if (u < 0) return "";
    const std::int64_t from = value(level, first + u);
    for (std::int64_t e = value(out.offsets.data(), u), end = value(out.offsets.data(), u + 1); e < end; ++e) {
      const std::int64_t v = value(out.indices.data(), e);
      const std::int64_t to = value(level, v);
      if (!suits_edge(both, from, to)) return edge_fault(first + u, from, v, to);
    }
    return "";
  });
  wrong = first_of(comm, std::move(wrong));
  if (!wrong.empty()) return wrong;

  // Checks each vertex whose parent is this rank's.
  wrong = comm.agree_on([&]() -> std::string {
    const auto has_edge = [=, offsets = out.offsets.data(), indices = out.indices.data()] __device__(std::int64_t v) {
      const std::int64_t p = parent[v] - first;
      const std::int64_t size = offsets[p + 1] - offsets[p];
      const std::int64_t at = lower_bound(indices + offsets[p], size, v);
      return at < size && indices[offsets[p] + at] == v;
    };
    for_each(ctx, n, [=, to = least->data()] __device__(std::int64_t v) {
      if (level[v] < 1 || parent[v] < first || parent[v] >= first + rows) return;
      if (level[parent[v]] + 1 != level[v] || !has_edge(v)) atomicMin(to, static_cast<count64>(v));
    });
    const std::int64_t v = least->read();
    if (v < 0) return "";
    const std::int64_t p = value(parent, v);
    return parent_fault(v, value(level, v), p, value(level, p), false);
  });
  return first_of(comm, std::move(wrong));
}

#define INSTANTIATE(I)                                                                        \
  template std::string check_bfs_on_device(const communicator&, const context<device>&,       \
                                           const distributed_graph<I, device>&, std::int64_t, \
                                           span<const std::int32_t, device>, span<const I, device>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed
