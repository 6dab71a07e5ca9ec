// The device backend of scans for one type: a file per type, since there are many kernels per operation.
#pragma once

#include "primitives/scan/block.cuh"
#include "primitives/scan/lookback.cuh"
#include "primitives/scan/tiles.cuh"

namespace spargo::detail::scan {

template <scan_kind Kind, class Op, class T>
void scan_as(const context<device>& ctx, span<const T, device> in, span<T, device> out, scan_algorithm algorithm) {
  switch (algorithm) {
    case scan_algorithm::kogge_stone:
      return scan_sections<Kind, kogge_stone_section, Op>(ctx, in, out);
    case scan_algorithm::kogge_stone_double_buffered:
      return scan_sections<Kind, double_buffered_section, Op>(ctx, in, out);
    case scan_algorithm::brent_kung:
      return scan_sections<Kind, brent_kung_section, Op>(ctx, in, out);
    default:
      return has_ring<T>(ctx) ? scan_by_ring<Kind, Op>(ctx, in, out) : scan_by_tiles<Kind, Op>(ctx, in, out);
  }
}

template <class T>
void run(const context<device>& ctx, span<const T, device> in, span<T, device> out, scan_kind kind, operation op,
         scan_algorithm algorithm) {
  const device_guard guard(ctx);
  with_operation<T>("scan", op, [&](auto function) {
    using Op = decltype(function);
    if (kind == scan_kind::exclusive) {
      scan_as<scan_kind::exclusive, Op>(ctx, in, out, algorithm);
    } else {
      scan_as<scan_kind::inclusive, Op>(ctx, in, out, algorithm);
    }
  });
}

}  // namespace spargo::detail::scan
