// Generation on the device.
#pragma once

#include "io/generate/spec.hpp"

#include <spargo/formats/coo.hpp>

namespace spargo::detail {

// All entries of a kind that devices can generate. Asynchronous.
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, device> generate_on_device(const context<device>& ctx, const generator_spec& spec);

}  // namespace spargo::detail
