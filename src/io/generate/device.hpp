// What the device makes itself of what is generated.
#pragma once

#include "io/generate/spec.hpp"

#include <spargo/formats/coo.hpp>

namespace spargo::detail {

// Kinds whose entries have known places: entries.hpp.
[[nodiscard]] constexpr bool is_made_on_device(generator_kind kind) {
  return kind == generator_kind::rmat || kind == generator_kind::uniform;
}

// All entries of one of these. Asynchronous.
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, device> generate_there(const context<device>& ctx, const generator_spec& spec);

}  // namespace spargo::detail
