// Dense labels on the device, from smallest-vertex labels.
#pragma once

#include "core/device/launch.cuh"

#include <spargo/primitives/scan.hpp>

namespace spargo::detail::components {

// 1 for roots, which are their own labels, else 0.
template <class I>
void mark_roots(const context<device>& ctx, const I* labels, array<I, device>& marks) {
  for_each(ctx, marks.size(),
           [labels, to = marks.data()] __device__(std::int64_t v) { to[v] = labels[v] == v ? 1 : 0; });
}

// Replaces each label by its root's rank among the roots (marked by 1).
template <class I>
void number_roots(const context<device>& ctx, I* labels, array<I, device>& marks) {
  exclusive_scan<I, device>(ctx, marks.view(), marks.view());
  for_each(ctx, marks.size(),
           [labels, numbers = marks.data()] __device__(std::int64_t v) { labels[v] = numbers[labels[v]]; });
}

}  // namespace spargo::detail::components
