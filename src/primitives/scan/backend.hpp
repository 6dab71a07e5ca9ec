#pragma once

#include "core/backend.hpp"

#include <spargo/core/array.hpp>
#include <spargo/primitives/scan.hpp>

namespace spargo::detail::scan {

enum class scan_kind { exclusive, inclusive };

// For non-empty ranges and an algorithm of that backend other than `automatic`.
template <class T>
void run(const context<host>& ctx, span<const T, host> in, span<T, host> out, scan_kind kind, operation op,
         scan_algorithm algorithm);
template <class T>
void run(const context<device>& ctx, span<const T, device> in, span<T, device> out, scan_kind kind, operation op,
         scan_algorithm algorithm);

}  // namespace spargo::detail::scan
