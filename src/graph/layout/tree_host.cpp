#include "graph/layout/tree.hpp"

#include "core/bytes_of.hpp"
#include "core/parallel.hpp"
#include "graph/layout/pace.hpp"

#include <algorithm>
#include <array>

namespace spargo::detail::layout {

namespace {

struct tuning {
  static constexpr std::int64_t tasks = 512;  // subtrees at least, or all leaves
  static constexpr std::int64_t leaves = 64;  // built by a thread at least
  static constexpr int digit = 11;            // bits of the keys sorted at a time
  static constexpr float growth = 1.25F;      // of a leaf's radius, that makes it wide
  static constexpr std::int64_t wide = 16;    // a new order once one leaf in `wide` is wide
};

// A stable sort of keys and payloads by `bits` bits from `shift` on.
void sort_by_digit(const array<std::uint32_t, host>& keys, const array<std::uint32_t, host>& payload,
                   array<std::uint32_t, host>& to_keys, array<std::uint32_t, host>& to_payload, int shift) {
  constexpr std::uint32_t mask = (1U << tuning::digit) - 1;
  std::array<std::int64_t, mask + 2> begins{};
  for (const std::uint32_t key : keys) ++begins[(key >> shift & mask) + 1];
  for (std::size_t d = 1; d < begins.size(); ++d) begins[d] += begins[d - 1];
  for (std::int64_t k = 0; k < keys.size(); ++k) {
    const std::int64_t to = begins[keys[k] >> shift & mask]++;
    to_keys[to] = keys[k];
    to_payload[to] = payload[k];
  }
}

}  // namespace

repulsion_tree::repulsion_tree(const context<host>& ctx, std::int64_t points)
    : threads_(ctx.threads()),
      points_(points),
      order_(ctx, points),
      keys_(ctx, points),
      other_order_(ctx, points),
      other_keys_(ctx, points),
      scratch_(static_cast<std::size_t>(ctx.threads())),
      near_forces_(near_forces()) {
  std::int64_t count = (points + leaf_points - 1) / leaf_points;
  leaves_ = array<leaf, host>(ctx, count);
  begins_ = {0, count};
  while (count > 1) {
    count = (count + field_tuning::fan_out - 1) / field_tuning::fan_out;
    begins_.push_back(begins_.back() + count);
  }
  nodes_ = array<node, host>(ctx, begins_.back());
  radii_ = array<float, host>(ctx, begins_[1]);
  boxes_ = array<bounds, host>(ctx, begins_.back());
  moments_ = array<expansion, host>(ctx, begins_.back());
  const std::size_t levels = begins_.size() - 1;
  for (std::size_t level = 0; level < levels; ++level) {
    for (std::int64_t id = begins_[level]; id < begins_[level + 1]; ++id) {
      if (level == 0) {
        nodes_[id] = {{}, -1, 0};
        continue;
      }
      const std::int64_t first = begins_[level - 1] + (id - begins_[level]) * field_tuning::fan_out;
      const std::int64_t last = std::min<std::int64_t>(first + field_tuning::fan_out, begins_[level]);
      nodes_[id] = {{}, static_cast<std::int32_t>(first), static_cast<std::int32_t>(last - first)};
    }
  }
  for (scratch& own : scratch_) {
    own.left.resize(levels + 1);
    own.fields.resize(levels + 1);
  }
}

std::int64_t repulsion_tree::bytes() const {
  return bytes_of(order_, keys_, other_order_, other_keys_, leaves_, nodes_, boxes_, moments_, radii_);
}

void repulsion_tree::order(const point* points, const bounds& box) {
  parallel_for(threads_, points_, grain::rows, [&](std::int64_t v) {
    keys_[v] = key_in(box, points[v]);
    order_[v] = static_cast<std::uint32_t>(v);
  });
  for (int shift = 0; shift < 32; shift += tuning::digit) {
    sort_by_digit(keys_, order_, other_keys_, other_order_, shift);
    keys_.swap(other_keys_);
    order_.swap(other_order_);
  }
  is_new_ = true;
}

void repulsion_tree::separate(point* points, float distance, std::uint64_t seed) const {
  parallel_for(threads_, points_ - 1, grain::rows, [&](std::int64_t k) {
    const std::uint32_t v = order_[k + 1];
    if (keys_[k] == keys_[k + 1]) points[v] = parted(points[v], distance, seed, v);
  });
}

bool repulsion_tree::has_wide_leaves() const {
  std::int64_t wide = 0;
  for (std::int64_t k = 0; k < radii_.size(); ++k) wide += nodes_[k].around.radius > tuning::growth * radii_[k] ? 1 : 0;
  return tuning::wide * wide > radii_.size();
}

void repulsion_tree::sum(const point* points, const float* masses, const bounds& box, point* forces) {
  if (points_ == 0) return;
  build(points, masses);
  if (!is_new_ && has_wide_leaves()) {
    order(points, box);
    build(points, masses);
  }
  if (is_new_) {
    for (std::int64_t k = 0; k < radii_.size(); ++k) radii_[k] = nodes_[k].around.radius;
    is_new_ = false;
  }
  int level = static_cast<int>(begins_.size()) - 2;  // of the root
  const int root = level;
  while (level > 0 &&
         begins_[static_cast<std::size_t>(level) + 1] - begins_[static_cast<std::size_t>(level)] < tuning::tasks) {
    --level;
  }
  const std::int64_t begin = begins_[static_cast<std::size_t>(level)];
  const std::int64_t tasks = begins_[static_cast<std::size_t>(level) + 1] - begin;
  on_threads(useful_threads(threads_, tasks, 8), tasks, [&](part_taker& mine) {
    scratch& own = scratch_[static_cast<std::size_t>(mine.slot())];
    for (std::int64_t task; mine.take(task);) {
      // The way from the root to the task's subtree, which other tasks also go.
      own.left[static_cast<std::size_t>(root) + 1].assign(1, static_cast<std::int32_t>(begins_.back() - 1));
      own.fields[static_cast<std::size_t>(root) + 1] = {};
      std::int64_t width = 1;
      for (int l = level; l < root; ++l) width *= field_tuning::fan_out;
      for (int l = root; l > level; --l, width /= field_tuning::fan_out) {
        visit(begins_[static_cast<std::size_t>(l)] + task / width, l, own, forces);
      }
      descend(begin + task, level, own, forces);
    }
  });
}

void repulsion_tree::descend(std::int64_t id, int level, scratch& own, point* forces) const {
  visit(id, level, own, forces);
  const node& to = nodes_[id];
  for (std::int32_t child = to.first; child < to.first + to.count; ++child) descend(child, level - 1, own, forces);
}

// Sorts the sources that the parent left; a leaf is finished.
void repulsion_tree::visit(std::int64_t id, int level, scratch& own, point* forces) const {
  const node& target = nodes_[id];
  const auto here = static_cast<std::size_t>(level);
  expansion field{};
  const bool is_root = here + 2 == begins_.size();
  if (!is_root) {
    const std::int64_t parent = begins_[here + 1] + (id - begins_[here]) / field_tuning::fan_out;
    lower_field(field, target.around, own.fields[here + 1], nodes_[parent].around);
  }
  std::vector<std::int32_t>& left = own.left[here];
  left.clear();
  own.near.clear();
  own.stack.assign(own.left[here + 1].rbegin(), own.left[here + 1].rend());
  while (!own.stack.empty()) {
    const std::int32_t source = own.stack.back();
    own.stack.pop_back();
    const node& from = nodes_[source];
    if (are_far(from.around, target.around)) {
      add_field(field, target.around, moments_[source], from.around);
    } else if (from.count == 0 && target.count == 0) {
      own.near.push_back(source);
    } else if (target.count == 0 || (from.count > 0 && from.around.radius > target.around.radius)) {
      for (std::int32_t part = from.first + from.count - 1; part >= from.first; --part) own.stack.push_back(part);
    } else {
      left.push_back(source);
    }
  }
  own.fields[here] = field;
  if (target.count == 0) finish_leaf(id, field, own.near, forces);
}

void repulsion_tree::finish_leaf(std::int64_t id, const expansion& field, const std::vector<std::int32_t>& near,
                                 point* forces) const {
  alignas(64) float fx[leaf_points], fy[leaf_points];
  const leaf& points = leaves_[id];
  near_forces_(points, leaves_.data(), near.data(), static_cast<std::int64_t>(near.size()), fx, fy);
  const std::int64_t first = id * leaf_points;
  const std::int64_t count = std::min<std::int64_t>(leaf_points, points_ - first);
  for (std::int64_t k = 0; k < count; ++k) {
    forces[order_[first + k]] = point{fx[k], fy[k]} + force_at(field, nodes_[id].around, {points.x[k], points.y[k]});
  }
}

void repulsion_tree::build(const point* points, const float* masses) {
  parallel_for(threads_, begins_[1], tuning::leaves, [&](std::int64_t k) { build_leaf(k, points, masses); });
  for (std::size_t level = 1; level + 1 < begins_.size(); ++level) {
    parallel_for(threads_, begins_[level + 1] - begins_[level], tuning::leaves,
                 [&](std::int64_t k) { build_node(begins_[level] + k); });
  }
}

void repulsion_tree::build_leaf(std::int64_t k, const point* points, const float* masses) {
  leaf& to = leaves_[k];
  const std::int64_t first = k * leaf_points;
  const std::int64_t last = std::min<std::int64_t>(first + leaf_points, points_) - 1;
  bounds box{points[order_[first]], points[order_[first]]};
  for (int j = 0; j < leaf_points; ++j) {
    const std::uint32_t v = order_[std::min(first + j, last)];
    const point z = points[v];
    to.x[j] = z.x;
    to.y[j] = z.y;
    to.mass[j] = first + j <= last ? masses[v] : 0;
    box.add(z);
  }
  boxes_[k] = box;
  nodes_[k].around = disc_of(box);
  expansion moments{};
  for (int j = 0; j < leaf_points; ++j) add_moments(moments, nodes_[k].around, {to.x[j], to.y[j]}, to.mass[j]);
  moments_[k] = moments;
}

void repulsion_tree::build_node(std::int64_t id) {
  node& to = nodes_[id];
  bounds box = boxes_[to.first];
  for (std::int64_t child = to.first + 1; child < to.first + to.count; ++child) {
    box.add(boxes_[child]);
  }
  boxes_[id] = box;
  to.around = disc_of(box);
  expansion moments{};
  for (std::int64_t child = to.first; child < to.first + to.count; ++child) {
    lift_moments(moments, to.around, moments_[child], nodes_[child].around);
  }
  moments_[id] = moments;
}

}  // namespace spargo::detail::layout
