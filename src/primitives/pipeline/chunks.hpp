// Shared by both backends of the pipeline: the choice of chunks, and the executor behind a plan.
#pragma once

#include "core/plan_executor.hpp"

#include <spargo/primitives/pipeline.hpp>

namespace spargo::detail::pipeline {

struct tuning {
  // 2, 4, 8, 16 MiB: 0.839, 0.872, 0.888, 0.894 of a copy's rate (1 GiB of pinned floats, in and out, H200).
  static constexpr std::int64_t chunk_bytes = std::int64_t{16} << 20;  // for the larger element type
  // Pinned host ranges: 1, 2, 3, 4 streams reach 0.480, 0.894, 0.876, 0.863.
  static constexpr int pinned_streams = 2;
  // Pageable ranges, staged by host threads: 2, 3, 4 streams take 42.5, 38.5, 42.9 ms.
  static constexpr int streams = 3;
  // 8, 16, 32 chunks: 64 MiB 1.54, 1.49, 1.53 ms; 256 MiB 5.97, 5.74, 5.72.
  static constexpr std::int64_t chunks = 16;
  static constexpr std::int64_t least_bytes = std::int64_t{1} << 20;
  static constexpr int most_streams = 32;
};

// The options requested, and with zeros replaced.
struct chunk_options {
  pipeline_options requested;
  pipeline_options chosen;
};

// Moves the chunks of one run; ranges are checked and not empty.
template <memory_space Space>
class executor : public executor_base {
 public:
  virtual void run(const pipeline_ranges& ranges, const chunk_function<Space>& function) = 0;
};

std::unique_ptr<executor<host>> make_executor(const context<host>& ctx, element_sizes sizes,
                                              const chunk_options& options);
std::unique_ptr<executor<device>> make_executor(const context<device>& ctx, element_sizes sizes,
                                                const chunk_options& options);

// Chunk length of a run: the one requested, else short enough that copies overlap even for small data.
[[nodiscard]] std::int64_t chunk_of_run(const pipeline_options& requested, element_sizes sizes, std::int64_t size);

// Copies between host ranges, with all threads from `least_bytes` on.
void stage(const void* from, void* to, std::size_t bytes);

}  // namespace spargo::detail::pipeline
