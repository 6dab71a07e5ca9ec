#pragma once

#include "core/backend.hpp"
#include "primitives/histogram/bins.hpp"

#include <spargo/core/array.hpp>
#include <spargo/primitives/histogram.hpp>

namespace spargo::detail::histogram {

// Increments counts[bins(v)] for every v; ranges are not empty; `bins` is a type of bins.hpp.
template <class Bins, class Count>
void run(const context<host>& ctx, span<const typename Bins::value, host> values, const Bins& bins,
         span<Count, host> counts, histogram_algorithm algorithm);
template <class Bins, class Count>
void run(const context<device>& ctx, span<const typename Bins::value, device> values, const Bins& bins,
         span<Count, device> counts, histogram_algorithm algorithm);

}  // namespace spargo::detail::histogram
