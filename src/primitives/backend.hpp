// The host and device halves behind the primitives' public templates.
#pragma once

#include "core/backend.hpp"

#include <spargo/core/array.hpp>
#include <spargo/primitives/histogram.hpp>
#include <spargo/primitives/scan.hpp>

namespace spargo::detail {

enum class scan_kind { exclusive, inclusive };

// On ranges that are not empty, with an algorithm of that backend that is not `automatic`.
template <class T>
void scan(const context<host>& ctx, span<const T, host> in, span<T, host> out, scan_kind kind, operation op,
          scan_algorithm algorithm);
template <class T>
void scan(const context<device>& ctx, span<const T, device> in, span<T, device> out, scan_kind kind, operation op,
          scan_algorithm algorithm);

// Adds to counts[bins(v)] for every v, ranges not empty; `bins` is one of primitives/histogram_bins.hpp.
template <class Bins, class Count>
void histogram(const context<host>& ctx, span<const typename Bins::value, host> values, const Bins& bins,
               span<Count, host> counts, histogram_algorithm algorithm);
template <class Bins, class Count>
void histogram(const context<device>& ctx, span<const typename Bins::value, device> values, const Bins& bins,
               span<Count, device> counts, histogram_algorithm algorithm);

}  // namespace spargo::detail
