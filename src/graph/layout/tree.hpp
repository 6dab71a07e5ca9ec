// Repulsion on the host: a tree over the points in the order of Hilbert's curve.
//
// Every leaf has 16 points that follow each other on the curve, every node 4 nodes that do: the tree's shape depends on
// the number of points alone, and a step only computes bounding boxes and moments anew. Points keep the order of an
// earlier step until boxes have grown, which costs time and no precision. Dense spots need no special care.
//
// From the root down, each node sorts its sources: far ones are added to its polynomial, the others are replaced by
// their parts or left to its own parts; leaves sum over the points of near leaves. Subtrees are independent, and each
// sees the same sources in the same order on any number of threads. O(points); workspace: 40 bytes per point.
#pragma once

#include "graph/layout/simd/near_loop.hpp"

#include <spargo/core/array.hpp>

#include <cstdint>
#include <vector>

namespace spargo::detail::layout {

class repulsion_tree {
 public:
  repulsion_tree(const context<host>& ctx, std::int64_t points);

  // Takes the order of the points on the curve.
  void order(const point* points, const bounds& box);
  // Moves points that share a cell apart, by up to `distance`; the order is of these points.
  void separate(point* points, float distance, std::uint64_t seed) const;
  // forces[v] = sum over other points of mass / distance, as a vector away from them. Takes a new order first if leaves
  // have become wide.
  void sum(const point* points, const float* masses, const bounds& box, point* forces);

  [[nodiscard]] std::int64_t bytes() const;

 private:
  struct node {
    disc around;
    std::int32_t first;  // child; of a leaf -1
    std::int32_t count;  // of children
  };
  struct scratch {
    std::vector<std::vector<std::int32_t>> left;  // [level] sources left to the children
    std::vector<std::int32_t> stack, near;
    std::vector<expansion> fields;  // [level]
  };

  void build(const point* points, const float* masses);
  [[nodiscard]] bool has_wide_leaves() const;
  void build_leaf(std::int64_t leaf, const point* points, const float* masses);
  void build_node(std::int64_t id);
  void visit(std::int64_t id, int level, scratch& own, point* forces) const;
  void descend(std::int64_t id, int level, scratch& own, point* forces) const;
  void finish_leaf(std::int64_t id, const expansion& field, const std::vector<std::int32_t>& near, point* forces) const;

  int threads_;
  std::int64_t points_;
  std::vector<std::int64_t> begins_;  // [level] of its first node; leaves are level 0; then the number of nodes
  array<std::uint32_t, host> order_, keys_, other_order_, other_keys_;
  array<leaf, host> leaves_;
  array<node, host> nodes_;
  array<bounds, host> boxes_;
  array<expansion, host> moments_;
  array<float, host> radii_;      // [leaf] in the step of the order
  bool is_new_ = true;            // the order, not yet built upon
  std::vector<scratch> scratch_;  // [slot]
  near_function near_forces_;
};

}  // namespace spargo::detail::layout
