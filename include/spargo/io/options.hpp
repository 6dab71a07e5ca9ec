// Options common to all readers.
#pragma once

#include <spargo/core/types.hpp>

#include <cstdint>
#include <functional>

namespace spargo {

struct SPARGO_EXPORT read_progress {
  std::int64_t bytes_done = 0;   // of the file as stored (compressed bytes for .gz)
  std::int64_t bytes_total = 0;  // 0: unknown
};

struct SPARGO_EXPORT read_options {
  // Called occasionally from the reading thread, never concurrently; must not throw.
  std::function<void(const read_progress&)> progress;
};

}  // namespace spargo
