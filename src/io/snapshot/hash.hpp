// xxHash (Collet), seed 0, against damage, not malice. Large arrays: the hash of the hashes of 1 MiB chunks.
#pragma once

#include "core/parallel.hpp"

#include <spargo/core/array.hpp>

#include <algorithm>
#include <cstdint>

namespace spargo::detail {

enum class hash_kind { xxh64, xxh3 };  // xxh3: the 64-bit variant

// Call only if `check_snapshots` does not throw.
[[nodiscard]] std::uint64_t hash_of(hash_kind kind, const void* data, std::size_t bytes) noexcept;

inline constexpr std::size_t hash_chunk_bytes = std::size_t{1} << 20;

// The same for any number of threads. Scratch memory: 8 bytes per chunk. Calls `look(first, bytes)` for each chunk, by
// its offset in the data, while it is in the cache of the thread that hashed it; it must not throw.
template <class Look>
[[nodiscard]] std::uint64_t chunked_hash(const context<host>& ctx, hash_kind kind, const void* data, std::size_t bytes,
                                         const Look& look) {
  const auto chunks = static_cast<std::int64_t>(div_up(bytes, hash_chunk_bytes));
  array<std::uint64_t, host> hashes(ctx, chunks);
  parallel_parts(ctx.threads(), chunks, [&](std::int64_t c) {
    const std::size_t first = static_cast<std::size_t>(c) * hash_chunk_bytes;
    const std::size_t size = std::min(hash_chunk_bytes, bytes - first);
    hashes[c] = hash_of(kind, static_cast<const char*>(data) + first, size);
    look(first, size);
  });
  return hash_of(kind, hashes.data(), static_cast<std::size_t>(chunks) * sizeof(std::uint64_t));
}

[[nodiscard]] inline std::uint64_t chunked_hash(const context<host>& ctx, hash_kind kind, const void* data,
                                                std::size_t bytes) {
  return chunked_hash(ctx, kind, data, bytes, [](std::size_t, std::size_t) {});
}

}  // namespace spargo::detail
