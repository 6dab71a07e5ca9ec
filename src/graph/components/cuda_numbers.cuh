// Dense labels on the device, of smallest vertices.
#pragma once

#include "core/device/launch.cuh"

#include <spargo/primitives/scan.hpp>

namespace spargo::detail::components {

// 1 for roots, which have themselves as labels, 0 for others.
template <class I>
void mark_roots(const context<device>& ctx, const I* labels, array<I, device>& marks) {
  for_each(ctx, marks.size(),
           [labels, to = marks.data()] __device__(std::int64_t v) { to[v] = labels[v] == v ? 1 : 0; });
}

// Roots (marked by 1) get their ranks among roots, and labels the ranks of their roots.
template <class I>
void number_roots(const context<device>& ctx, I* labels, array<I, device>& marks) {
  exclusive_scan<I, device>(ctx, marks.view(), marks.view());
  for_each(ctx, marks.size(),
           [labels, numbers = marks.data()] __device__(std::int64_t v) { labels[v] = numbers[labels[v]]; });
}

}  // namespace spargo::detail::components
