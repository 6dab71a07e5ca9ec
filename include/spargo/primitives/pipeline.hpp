// Maps a function over host data of any size on the device, chunk by chunk: while one chunk is computed, the next is
// copied in and the previous one out.
//
//   pipeline(ctx, in, [&](const context<device>& at, span<const float, device> x,
//                         span<float, device> y) { convolve(at, x, filter, y); }, out);
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/state_pointer.hpp>

#include <functional>

namespace spargo {

struct SPARGO_EXPORT pipeline_options {
  std::int64_t chunk = 0;  // elements per call of the function, at most; 0: automatic, up to 16 MiB
  int streams = 0;         // chunks in flight, 1 to 32; 0: automatic; 1: no overlap
};

namespace detail {

struct element_sizes {
  std::size_t in = 1;  // bytes
  std::size_t out = 1;
};

// Untyped host ranges of one run.
struct pipeline_ranges {
  const void* in = nullptr;
  std::int64_t in_size = 0;  // elements
  void* out = nullptr;
  std::int64_t out_size = 0;
};

template <memory_space Space>
using chunk_function = std::function<void(const context<Space>&, const void* in, void* out, std::int64_t size)>;

// Moves the chunks; see pipeline_plan.
template <memory_space Space>
class SPARGO_EXPORT pipeline_engine {
 public:
  pipeline_engine(const context<Space>& ctx, element_sizes sizes, const pipeline_options& options);

  void run(const pipeline_ranges& ranges, const chunk_function<Space>& function);
  [[nodiscard]] std::int64_t chunk() const noexcept;
  [[nodiscard]] int streams() const noexcept;

 private:
  struct [[gnu::visibility("hidden")]] state;
  state_pointer<state> state_;
};

// `options` reduced to what `size` elements need.
[[nodiscard]] SPARGO_EXPORT pipeline_options fit(const pipeline_options& options, element_sizes sizes,
                                                 std::int64_t size);

}  // namespace detail

// Streams and buffers, made once for many runs; one run at a time. In, Out: trivially copyable.
//
// On a device it holds streams * chunk * (sizeof(In) + sizeof(Out)) bytes from the context's resource; the first run
// over pageable host memory adds as much pinned memory and keeps it. On a host it holds nothing.
template <class In, class Out, memory_space Space>
class pipeline_plan {
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>);

 public:
  // Throws invalid_argument for an option out of range, and out_of_memory.
  explicit pipeline_plan(const context<Space>& ctx, const pipeline_options& options = {})
      : engine_(ctx, {sizeof(In), sizeof(Out)}, options) {}

  // Calls function(context, span<const In, Space>, span<Out, Space>) for consecutive chunks of `in`, and copies its
  // output to the same place in `out`. All chunks but the last have length chunk(); an empty range makes no call.
  //
  // On a device the function must enqueue its work on the stream of the context passed to it, which belongs to the plan
  // (every operation of this library does), and need not wait. The work runs after what the plan's context had enqueued
  // before run(), and is complete when run() returns. On a host the context is the plan's, the spans are parts of `in`
  // and `out`, and nothing is copied.
  //
  // Pinned host memory (pinned_host_resource, cudaHostRegister) is copied directly. Pageable memory is staged through
  // pinned buffers by host threads, at their speed and in parallel with the device.
  //
  // Throws invalid_argument before any work: sizes that differ, a null span of non-zero size, overlapping ranges,
  // device memory. The function's exceptions and device_failure are rethrown once nothing is in flight; `out` is then
  // unspecified, and the plan can run again. Each element crosses the link once in each direction: with enough chunks
  // the time is that of the slowest of copy-in, function and copy-out. As deterministic as the function.
  template <class Function>
  requires std::invocable < Function&, const context<Space>
  &, span<const In, Space>, span < Out,
      Space >> void run(std::type_identity_t<span<const In, host>> in, Function&& function, span<Out, host> out) {
    engine_.run({in.data(), in.size(), out.data(), out.size()},
                [&function](const context<Space>& ctx, const void* from, void* to, std::int64_t size) {
                  function(ctx, span<const In, Space>(static_cast<const In*>(from), size),
                           span<Out, Space>(static_cast<Out*>(to), size));
                });
  }

  [[nodiscard]] std::int64_t chunk() const noexcept { return engine_.chunk(); }  // elements, at most
  [[nodiscard]] int streams() const noexcept { return engine_.streams(); }

 private:
  detail::pipeline_engine<Space> engine_;
};

// Runs a temporary plan once.
template <class In, class Out, class Space, class Function>
void pipeline(const context<Space>& ctx, std::type_identity_t<span<const In, host>> in, Function&& function,
              std::type_identity_t<span<Out, host>> out, const pipeline_options& options = {}) {
  pipeline_plan<In, Out, Space> plan(ctx, detail::fit(options, {sizeof(In), sizeof(Out)}, in.size()));
  plan.run(in, std::forward<Function>(function), out);
}
template <class Space, detail::input_range<host> In, class Function, detail::output_range<host> Out>
void pipeline(const context<Space>& ctx, const In& in, Function&& function, Out&& out,
              const pipeline_options& options = {}) {
  pipeline<detail::element_of<In>, detail::element_of<Out>, Space>(ctx, in, std::forward<Function>(function), out,
                                                                   options);
}

}  // namespace spargo
