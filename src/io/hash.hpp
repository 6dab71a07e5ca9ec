// XXH64 (Collet, xxHash fast digest algorithm, specification 0.1.1), seed 0: a checksum against damage, not against
// malice. Big arrays are hashed as a hash of the hashes of 1 MiB chunks, so that threads can share them.
#pragma once

#include <spargo/core/context.hpp>

#include <cstdint>

namespace spargo::detail {

[[nodiscard]] std::uint64_t xxh64(const void* data, std::size_t bytes) noexcept;

// The same for any thread count. Scratch: 8 bytes a chunk.
[[nodiscard]] std::uint64_t chunked_hash(const context<host>& ctx, const void* data, std::size_t bytes);

}  // namespace spargo::detail
