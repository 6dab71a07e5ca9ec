#include "graph/layout/tree.cuh"

#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/device/warp.cuh"
#include "graph/layout/pace.hpp"
#include "primitives/sort/radix_sort.hpp"

namespace spargo::detail::layout {

namespace {

constexpr int leaf_size = warp_size;

struct tuning {
  static constexpr int warps = 4;           // per block of a walk, each with a stack
  static constexpr std::int32_t few = 256;  // nodes of a level that one block builds, with all above it
  static constexpr int most_near = 64;      // leaves near to a leaf; the median is 20 to 24, of wide leaves up to all
  static constexpr int wide_blocks = 8;     // per SM, at most
};

// Every round of a walk takes up to 32 nodes from the stack and puts back at most 4 parts of each, one level lower.
constexpr int stack_size = warp_size * (1 + (field_tuning::fan_out - 1) * (tree_shape::most_levels - 1));

__global__ void __launch_bounds__(block_threads)
    leaves_kernel(tree_shape shape, tree_arrays tree, const std::uint32_t* order, const point* points,
                  const float* masses) {
  const std::int64_t leaf = global_thread() / warp_size;
  if (leaf >= shape.count(0)) return;
  const int lane = lane_id();
  const std::int32_t at = static_cast<std::int32_t>(leaf) * leaf_size + lane;
  const bool used = at < shape.points;
  const std::uint32_t v = order[used ? at : shape.points - 1];
  const point z = points[v];
  const float mass = used ? masses[v] : 0;
  tree.charges[at] = {z.x, z.y, mass, 0};
  const bounds box{{warp_reduce(z.x, minimum{}), warp_reduce(z.y, minimum{})},
                   {warp_reduce(z.x, maximum{}), warp_reduce(z.y, maximum{})}};
  const disc around = disc_of(box);
  expansion moments{};
  add_moments(moments, around, z, mass);
  for (point& term : moments.terms) term = {warp_reduce(term.x, plus{}), warp_reduce(term.y, plus{})};
  if (lane != 0) return;
  tree.boxes[leaf] = box;
  tree.around[leaf] = around;
  tree.moments[leaf] = moments;
}

__device__ void build_node(const tree_shape& shape, const tree_arrays& tree, int level, std::int32_t k) {
  const std::int32_t id = shape.begins[level] + k;
  const std::int32_t first = shape.begins[level - 1] + k * field_tuning::fan_out;
  const std::int32_t last = min(first + field_tuning::fan_out, shape.begins[level]);
  bounds box = tree.boxes[first];
  for (std::int32_t part = first + 1; part < last; ++part) box.add(tree.boxes[part]);
  const disc around = disc_of(box);
  expansion moments{};
  for (std::int32_t part = first; part < last; ++part) {
    lift_moments(moments, around, tree.moments[part], tree.around[part]);
  }
  tree.boxes[id] = box;
  tree.around[id] = around;
  tree.moments[id] = moments;
}

__global__ void __launch_bounds__(block_threads) level_kernel(tree_shape shape, tree_arrays tree, int level) {
  const std::int64_t k = global_thread();
  if (k < shape.count(level)) build_node(shape, tree, level, static_cast<std::int32_t>(k));
}

// From `level` to the root, by one block.
__global__ void __launch_bounds__(block_threads) top_kernel(tree_shape shape, tree_arrays tree, int level) {
  for (; level < shape.levels; ++level) {
    for (auto k = static_cast<std::int32_t>(threadIdx.x); k < shape.count(level); k += block_threads) {
      build_node(shape, tree, level, k);
    }
    __syncthreads();
  }
}

// The force of this lane's share of a leaf's points on a unit mass at z: lanes with the same target, lane % Targets,
// share them. Points at one place do not repel each other.
template <int Targets>
__device__ __forceinline__ void add_near(point& force, point z, const charge* sources) {
  constexpr int sharers = warp_size / Targets;
  sources += lane_id() / Targets;
#pragma unroll 8
  for (int k = 0; k < leaf_size; k += sharers) {
    const float4 from = __ldg(reinterpret_cast<const float4*>(sources + k));
    const float dx = z.x - from.x;
    const float dy = z.y - from.y;
    const float strength = __fdividef(from.z, fmaxf(dx * dx + dy * dy, field_tuning::least_distance2));
    force.x += strength * dx;
    force.y += strength * dy;
  }
}

// Level of a node in the tree.
__device__ __forceinline__ int level_of(const tree_shape& shape, std::int32_t node) {
  int level = 0;
  while (node >= shape.begins[level + 1]) ++level;
  return level;
}

// The forces on `Targets` points from place `first` on, which lie in the disc `target`, by a warp: on unit masses at z,
// lane % Targets. False: more than `most_near` leaves are near, and nothing has been written.
template <int Targets>
__device__ __forceinline__ bool walk(const tree_shape& shape, const tree_arrays& tree, const std::uint32_t* order,
                                     std::int32_t* stack, std::int64_t first_place, const disc& target, int most_near,
                                     point* forces) {
  const int lane = lane_id();
  const std::int64_t at = first_place + lane % Targets;
  const charge own = tree.charges[at];
  const point z{own.x, own.y};
  point force{0, 0};
  expansion field{};
  int size = 1;
  int leaves = 0;
  __syncwarp();
  if (lane == 0) stack[0] = shape.begins[shape.levels] - 1;
  __syncwarp();
  while (size > 0) {
    const int taken = min(size, warp_size);
    size -= taken;
    const bool active = lane < taken;
    const std::int32_t node = active ? stack[size + lane] : 0;
    const disc around = tree.around[node];
    const bool far = active && are_far(around, target);
    if (far) add_field(field, target, tree.moments[node], around);
    const bool is_leaf = node < shape.begins[1];
    const unsigned all_near = __ballot_sync(full_mask, active && !far && is_leaf);
    leaves += __popc(all_near);
    if (leaves > most_near) return false;
    for (unsigned near = all_near; near != 0; near &= near - 1) {
      const std::int32_t source = __shfl_sync(full_mask, node, __ffs(static_cast<int>(near)) - 1);
      add_near<Targets>(force, z, tree.charges + std::int64_t{source} * leaf_size);
    }
    // Parts of the others.
    std::int32_t first = 0;
    int parts = 0;
    if (active && !far && !is_leaf) {
      const int level = level_of(shape, node);
      first = shape.begins[level - 1] + (node - shape.begins[level]) * field_tuning::fan_out;
      parts = min(field_tuning::fan_out, shape.begins[level] - first);
    }
    int upto = parts;
    for (int step = 1; step < warp_size; step *= 2) {
      const int other = __shfl_up_sync(full_mask, upto, step);
      if (lane >= step) upto += other;
    }
    for (int k = 0; k < parts; ++k) stack[size + upto - parts + k] = first + k;
    size += __shfl_sync(full_mask, upto, warp_size - 1);
    __syncwarp();
  }
  for (point& term : field.terms) term = {warp_reduce(term.x, plus{}), warp_reduce(term.y, plus{})};
  for (int step = Targets; step < warp_size; step *= 2) {
    force = force + point{__shfl_xor_sync(full_mask, force.x, step), __shfl_xor_sync(full_mask, force.y, step)};
  }
  if (lane < Targets && at < shape.points) forces[order[at]] = force + force_at(field, target, z);
  return true;
}

__global__ void __launch_bounds__(tuning::warps* warp_size)
    walk_kernel(tree_shape shape, tree_arrays tree, const std::uint32_t* order, point* forces) {
  __shared__ std::int32_t stacks[tuning::warps][stack_size];
  const std::int64_t leaf = global_thread() / warp_size;
  if (leaf >= shape.count(0)) return;
  const bool done = walk<leaf_size>(shape, tree, order, stacks[threadIdx.x / warp_size], leaf * leaf_size,
                                    tree.around[leaf], tuning::most_near, forces);
  if (!done && lane_id() == 0) tree.wide[1 + atomicAdd(tree.wide, 1)] = static_cast<std::int32_t>(leaf);
}

// Each point of the leaves that have too many near ones by a warp.
__global__ void __launch_bounds__(tuning::warps* warp_size)
    wide_kernel(tree_shape shape, tree_arrays tree, const std::uint32_t* order, point* forces) {
  __shared__ std::int32_t stacks[tuning::warps][stack_size];
  const std::int64_t points = std::int64_t{tree.wide[0]} * leaf_size;
  for (std::int64_t k = global_thread() / warp_size; k < points; k += grid_threads() / warp_size) {
    const std::int64_t place = std::int64_t{tree.wide[1 + k / leaf_size]} * leaf_size + k % leaf_size;
    const charge own = tree.charges[place];
    (void)walk<1>(shape, tree, order, stacks[threadIdx.x / warp_size], place, disc{{own.x, own.y}, 0}, shape.count(0),
                  forces);
  }
}

tree_shape shape_of_tree(std::int64_t points) {
  tree_shape shape{};
  shape.points = static_cast<std::int32_t>(points);
  std::int64_t count = div_up<std::int64_t>(points, leaf_size);
  std::int64_t end = 0;
  while (true) {
    end += count;
    shape.begins[++shape.levels] = static_cast<std::int32_t>(end);
    if (count <= 1) return shape;
    count = div_up<std::int64_t>(count, field_tuning::fan_out);
  }
}

}  // namespace

device_tree::device_tree(const context<device>& ctx, std::int64_t points)
    : ctx_(ctx),
      shape_(shape_of_tree(points)),
      keys_(ctx, points),
      order_(ctx, points),
      spare_keys_(ctx, points),
      spare_order_(ctx, points),
      memory_(ctx) {
  const std::int64_t nodes = shape_.begins[shape_.levels];
  arrays_.charges = memory_.take<charge>(std::int64_t{shape_.count(0)} * leaf_size);
  arrays_.around = memory_.take<disc>(nodes);
  arrays_.boxes = memory_.take<bounds>(nodes);
  arrays_.moments = memory_.take<expansion>(nodes);
  arrays_.wide = memory_.take<std::int32_t>(1 + std::int64_t{shape_.count(0)});
}

std::int64_t device_tree::bytes() const { return memory_.bytes() + bytes_of(keys_, order_, spare_keys_, spare_order_); }

void device_tree::order(const point* points, const bounds* box) {
  for_each(ctx_, shape_.points, [points, box, keys = keys_.data(), order = order_.data()] __device__(std::int64_t v) {
    keys[v] = key_in(*box, points[v]);
    order[v] = static_cast<std::uint32_t>(v);
  });
  sort_pairs(ctx_, shape_.points, keys_, order_, spare_keys_, spare_order_, 0, 32);
}

void device_tree::separate(point* points, const bounds* box, std::uint64_t seed) {
  for_each(ctx_, std::int64_t{shape_.points} - 1,
           [points, box, seed, keys = keys_.data(), order = order_.data()] __device__(std::int64_t k) {
             const std::uint32_t v = order[k + 1];
             if (keys[k] == keys[k + 1]) points[v] = parted(points[v], parting_distance(*box), seed, v);
           });
}

void device_tree::sum(const point* points, const float* masses, point* forces) {
  if (shape_.points == 0) return;
  const device_guard guard(ctx_);
  const std::int64_t leaves = shape_.count(0);
  SPARGO_CUDA_TRY(cudaMemsetAsync(arrays_.wide, 0, sizeof(std::int32_t), ctx_.stream()));
  launch_kernel(ctx_, one_thread_each(leaves * warp_size, block_threads), leaves_kernel, shape_, arrays_, order_.data(),
                points, masses);
  int level = 1;
  for (; level < shape_.levels && shape_.count(level) > tuning::few; ++level) {
    launch_kernel(ctx_, one_thread_each(shape_.count(level), block_threads), level_kernel, shape_, arrays_, level);
  }
  if (level < shape_.levels) launch_kernel(ctx_, {std::int64_t{1}, block_threads}, top_kernel, shape_, arrays_, level);
  launch_kernel(ctx_, one_thread_each(leaves * warp_size, tuning::warps * warp_size), walk_kernel, shape_, arrays_,
                order_.data(), forces);
  if (leaves <= tuning::most_near) return;
  launch_kernel(ctx_,
                {std::int64_t{ctx_.properties().multiprocessors} * tuning::wide_blocks, tuning::warps * warp_size},
                wide_kernel, shape_, arrays_, order_.data(), forces);
}

}  // namespace spargo::detail::layout
