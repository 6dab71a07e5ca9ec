// The pipeline's checks, its choice of chunks, and its host half: a loop, since the data is there already.
#include "core/checks.hpp"
#include "core/parallel.hpp"
#include "primitives/pipeline/chunks.hpp"

#include "core/rethrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace spargo {

namespace detail {

namespace {

// Elements of the larger of the two types in `bytes`.
std::int64_t elements_of(std::int64_t bytes, element_sizes sizes) {
  return std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(std::max(sizes.in, sizes.out)));
}

}  // namespace

pipeline_options resolve(const pipeline_options& options, element_sizes sizes) {
  using tuning = pipeline_tuning;
  SPARGO_EXPECTS(options.chunk >= 0, fmt::format("pipeline: chunks of {} elements", options.chunk));
  SPARGO_EXPECTS(options.streams >= 0 && options.streams <= tuning::most_streams,
                 fmt::format("pipeline: {} streams (expected 0 to {})", options.streams, tuning::most_streams));
  return {.chunk = options.chunk != 0 ? options.chunk : elements_of(tuning::chunk_bytes, sizes),
          .streams = options.streams != 0 ? options.streams : tuning::streams};
}

std::int64_t chunk_of_run(const pipeline_options& asked, element_sizes sizes, std::int64_t size) {
  using tuning = pipeline_tuning;
  if (asked.chunk != 0) return asked.chunk;
  return std::clamp(div_up(size, tuning::chunks), elements_of(tuning::least_bytes, sizes),
                    elements_of(tuning::chunk_bytes, sizes));
}

pipeline_options fit(const pipeline_options& options, element_sizes sizes, std::int64_t size) {
  pipeline_options fitted = resolve(options, sizes);
  if (size <= 0) return {.chunk = 1, .streams = 1};
  const std::int64_t chunk = std::min(size, chunk_of_run(options, sizes, size));
  fitted.streams = static_cast<int>(std::min<std::int64_t>(fitted.streams, div_up(size, chunk)));
  fitted.chunk = chunk;
  return fitted;
}

void check_ranges(const pipeline_ranges& ranges, element_sizes sizes) {
  expect_same_size("pipeline", ranges.in_size, ranges.out_size);
  expect_range("pipeline", "the input", ranges.in, ranges.in_size);
  expect_range("pipeline", "the output", ranges.out, ranges.out_size);
  const memory_range in{ranges.in, checked_bytes(ranges.in_size, sizes.in)};
  const memory_range out{ranges.out, checked_bytes(ranges.out_size, sizes.out)};
  expect_apart("pipeline", "the output", out, "the input", in);
}

void stage(const void* from, void* to, std::size_t bytes) {
  constexpr std::size_t grain = std::size_t{256} << 10;
  if (bytes < static_cast<std::size_t>(pipeline_tuning::least_bytes)) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return;
  }
  const auto pieces = static_cast<std::int64_t>(div_up(bytes, grain));
  parallel_parts(default_threads(), pieces, [&](std::int64_t p) {
    const std::size_t first = static_cast<std::size_t>(p) * grain;
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first, std::min(grain, bytes - first));
  });
}

template <>
struct pipeline_engine<host>::state {
  context<host> ctx;
  element_sizes sizes;
  pipeline_options asked;
  pipeline_options options;
};

template <>
pipeline_engine<host>::pipeline_engine(const context<host>& ctx, element_sizes sizes,
                                       const pipeline_options& options) try
    : state_(new state{ctx, sizes, options, resolve(options, sizes)}) {
} catch (...) {
  rethrow("pipeline");
}
template <>
pipeline_engine<host>::pipeline_engine(pipeline_engine&&) noexcept = default;
template <>
pipeline_engine<host>& pipeline_engine<host>::operator=(pipeline_engine&&) noexcept = default;
template <>
pipeline_engine<host>::~pipeline_engine() = default;
template <>
std::int64_t pipeline_engine<host>::chunk() const noexcept {
  return state_->options.chunk;
}
template <>
int pipeline_engine<host>::streams() const noexcept {
  return state_->options.streams;
}

template <>
void pipeline_engine<host>::run(const pipeline_ranges& ranges, const chunk_function<host>& function) {
  const state& s = *state_;
  check_ranges(ranges, s.sizes);
  const std::int64_t chunk = chunk_of_run(s.asked, s.sizes, ranges.in_size);
  for (std::int64_t first = 0; first < ranges.in_size;) {
    const std::int64_t size = std::min(chunk, ranges.in_size - first);
    function(s.ctx, static_cast<const char*>(ranges.in) + static_cast<std::size_t>(first) * s.sizes.in,
             static_cast<char*>(ranges.out) + static_cast<std::size_t>(first) * s.sizes.out, size);
    first += size;
  }
}

}  // namespace detail

}  // namespace spargo
