// The pipeline's checks, its choice of chunks, and its host backend.
#include "core/backend.hpp"
#include "core/checks.hpp"
#include "core/parallel.hpp"
#include "primitives/pipeline/chunks.hpp"

#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace spargo::detail {

namespace pipeline {

namespace {

// Elements of the larger type in `bytes`.
std::int64_t elements_of(std::int64_t bytes, element_sizes sizes) {
  return std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(std::max(sizes.in, sizes.out)));
}

// Throws invalid_argument for an option out of range; afterwards both are positive.
pipeline_options resolve(const pipeline_options& options, element_sizes sizes) {
  SPARGO_EXPECTS(options.chunk >= 0, fmt::format("pipeline: chunks of {} elements", options.chunk));
  SPARGO_EXPECTS(options.streams >= 0 && options.streams <= tuning::most_streams,
                 fmt::format("pipeline: {} streams (expected 0 to {})", options.streams, tuning::most_streams));
  return {.chunk = options.chunk != 0 ? options.chunk : elements_of(tuning::chunk_bytes, sizes),
          .streams = options.streams != 0 ? options.streams : tuning::streams};
}

void check_ranges(const pipeline_ranges& ranges, element_sizes sizes) {
  expect_same_size("pipeline", ranges.in_size, ranges.out_size);
  expect_range("pipeline", "the input", ranges.in, ranges.in_size);
  expect_range("pipeline", "the output", ranges.out, ranges.out_size);
  const memory_range in{ranges.in, checked_bytes(ranges.in_size, sizes.in)};
  const memory_range out{ranges.out, checked_bytes(ranges.out_size, sizes.out)};
  expect_apart("pipeline", "the output", out, "the input", in);
}

// Only a loop over chunks: the data is already in host memory.
class host_executor final : public executor<host> {
 public:
  host_executor(const context<host>& ctx, element_sizes sizes, const pipeline_options& requested)
      : ctx_(ctx), sizes_(sizes), requested_(requested) {}

  void run(const pipeline_ranges& ranges, const chunk_function<host>& function) override {
    const std::int64_t chunk = chunk_of_run(requested_, sizes_, ranges.in_size);
    for (std::int64_t first = 0; first < ranges.in_size;) {
      const std::int64_t size = std::min(chunk, ranges.in_size - first);
      function(ctx_, static_cast<const char*>(ranges.in) + static_cast<std::size_t>(first) * sizes_.in,
               static_cast<char*>(ranges.out) + static_cast<std::size_t>(first) * sizes_.out, size);
      first += size;
    }
  }

 private:
  context<host> ctx_;
  element_sizes sizes_;
  pipeline_options requested_;
};

}  // namespace

std::int64_t chunk_of_run(const pipeline_options& requested, element_sizes sizes, std::int64_t size) {
  if (requested.chunk != 0) return requested.chunk;
  return std::clamp(div_up(size, tuning::chunks), elements_of(tuning::least_bytes, sizes),
                    elements_of(tuning::chunk_bytes, sizes));
}

void stage(const void* from, void* to, std::size_t bytes) {
  constexpr std::size_t grain = std::size_t{256} << 10;
  if (bytes < static_cast<std::size_t>(tuning::least_bytes)) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return;
  }
  const auto shares = static_cast<std::int64_t>(div_up(bytes, grain));
  parallel_parts(default_threads(), shares, [&](std::int64_t share) {
    const std::size_t first = static_cast<std::size_t>(share) * grain;
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first, std::min(grain, bytes - first));
  });
}

std::unique_ptr<executor<host>> make_executor(const context<host>& ctx, element_sizes sizes,
                                              const chunk_options& options) {
  return std::make_unique<host_executor>(ctx, sizes, options.requested);
}

}  // namespace pipeline

pipeline_options fit(const pipeline_options& options, element_sizes sizes, std::int64_t size) {
  pipeline_options fitted = pipeline::resolve(options, sizes);
  if (size <= 0) return {.chunk = 1, .streams = 1};
  const std::int64_t chunk = std::min(size, pipeline::chunk_of_run(options, sizes, size));
  fitted.streams = static_cast<int>(std::min<std::int64_t>(fitted.streams, div_up(size, chunk)));
  fitted.chunk = chunk;
  return fitted;
}

template <memory_space Space>
struct pipeline_engine<Space>::state {
  element_sizes sizes;
  pipeline_options options;
  std::unique_ptr<pipeline::executor<Space>> executor;
};

template <memory_space Space>
pipeline_engine<Space>::pipeline_engine(const context<Space>& ctx, element_sizes sizes,
                                        const pipeline_options& options) try {
  const pipeline::chunk_options chunks{options, pipeline::resolve(options, sizes)};
  if constexpr (is_built<Space>) {
    state_ = new_state<state>(sizes, chunks.chosen, pipeline::make_executor(ctx, sizes, chunks));
  } else {
    no_device("pipeline");
  }
} catch (...) {
  rethrow("pipeline");
}
template <memory_space Space>
std::int64_t pipeline_engine<Space>::chunk() const noexcept {
  return state_->options.chunk;
}
template <memory_space Space>
int pipeline_engine<Space>::streams() const noexcept {
  return state_->options.streams;
}
template <memory_space Space>
void pipeline_engine<Space>::run(const pipeline_ranges& ranges, const chunk_function<Space>& function) {
  pipeline::check_ranges(ranges, state_->sizes);
  if (ranges.in_size > 0) state_->executor->run(ranges, function);
}

template class pipeline_engine<host>;
template class pipeline_engine<device>;

}  // namespace spargo::detail
