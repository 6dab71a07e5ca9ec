// What both halves of the pipeline share: the choice of chunks, and the checks of a run.
#pragma once

#include <spargo/primitives/pipeline.hpp>

namespace spargo::detail {

struct pipeline_tuning {
  // H200, 1 GiB of pinned floats in and out: see `bench pipeline`.
  static constexpr std::int64_t chunk_bytes = std::int64_t{8} << 20;  // of the larger element
  static constexpr std::int64_t least_bytes = std::int64_t{1} << 20;  // below, starting a copy costs as much as it
  static constexpr std::int64_t chunks = 32;                          // of a range that is cut finer than chunk_bytes
  static constexpr int streams = 4;
  static constexpr int most_streams = 32;
};

// Throws invalid_argument where an option is out of range; then both are positive.
[[nodiscard]] pipeline_options resolve(const pipeline_options& options, element_sizes sizes);

// The length of the chunks of a run: what was asked for, else short enough that copies overlap on small data too.
[[nodiscard]] std::int64_t chunk_of_run(const pipeline_options& asked, element_sizes sizes, std::int64_t size);

void check_ranges(const pipeline_ranges& ranges, element_sizes sizes);

// A copy between host ranges, by all threads from `least_bytes` on.
void stage(const void* from, void* to, std::size_t bytes);

}  // namespace spargo::detail
