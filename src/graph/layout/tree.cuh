// Repulsion on the device: as on the host (tree.hpp), with leaves of 32 points.
//
// One warp per leaf walks the tree from the root: each lane looks at another node, far ones are added to the lane's own
// polynomial, parts of near ones go onto the warp's stack in shared memory, and near leaves are added up point by
// point. Then the lanes' polynomials are added. Where points that follow each other lie far apart, a leaf is wide and
// most others may be near to it: its points are then walked one by one. All orders are fixed: the same bits on every
// run. O(points log points).
#pragma once

#include "core/device/plan_memory.hpp"
#include "graph/layout/series.hpp"

#include <spargo/core/array.hpp>

#include <cstdint>
#include <vector>

namespace spargo::detail::layout {

// A point with its mass, in the order of the curve.
struct alignas(16) charge {
  float x, y, mass, unused;
};

// Level 0 are the leaves. Node k of a level has the nodes fan_out * k and on of the level below.
struct tree_shape {
  static constexpr int most_levels = 16;

  std::int32_t points;
  int levels;
  std::int32_t begins[most_levels + 1];  // of a level's nodes

  [[nodiscard]] SPARGO_HD std::int32_t count(int level) const { return begins[level + 1] - begins[level]; }
};

struct tree_arrays {
  charge* charges;     // [place], padded to whole leaves with masses of 0
  disc* around;        // [node]
  bounds* boxes;       // [node]
  expansion* moments;  // [node]
  std::int32_t* wide;  // how many leaves are walked point by point, then these
};

// Asynchronous.
class device_tree {
 public:
  device_tree(const context<device>& ctx, std::int64_t points);

  // Takes the order of the points on the curve; `box` is in device memory.
  void order(const point* points, const bounds* box);
  // Moves points that share a cell apart; the order is of these points.
  void separate(point* points, const bounds* box, std::uint64_t seed);
  // forces[v] = sum over other points of mass / distance, as a vector away from them.
  void sum(const point* points, const float* masses, point* forces);

  [[nodiscard]] std::int64_t bytes() const;

 private:
  context<device> ctx_;
  tree_shape shape_;
  array<std::uint32_t, device> keys_, order_, spare_keys_, spare_order_;
  plan_memory memory_;
  tree_arrays arrays_;
};

}  // namespace spargo::detail::layout
