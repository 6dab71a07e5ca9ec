// A function mapped over host data of any size: the data visits the device in chunks, and while one chunk is
// computed the next is on its way in and the one before on its way out.
//
//   pipeline(ctx, in, [&](const context<device>& at, span<const float, device> x,
//                         span<float, device> y) { convolve(at, x, filter, y); }, out);
#pragma once

#include <spargo/core/array.hpp>

#include <functional>
#include <memory>

namespace spargo {

struct SPARGO_EXPORT pipeline_options {
  std::int64_t chunk = 0;  // elements per call of the function, at most; 0: chosen, up to 16 MiB
  int streams = 0;         // chunks under way at once, 1 to 32; 0: chosen. 1: no overlap
};

namespace detail {

struct element_sizes {
  std::size_t in = 1;  // bytes
  std::size_t out = 1;
};

// The host ranges of one run, without their types.
struct pipeline_ranges {
  const void* in = nullptr;
  std::int64_t in_size = 0;  // elements
  void* out = nullptr;
  std::int64_t out_size = 0;
};

template <memory_space Space>
using chunk_function = std::function<void(const context<Space>&, const void* in, void* out, std::int64_t size)>;

// What moves the chunks; see pipeline_plan.
template <memory_space Space>
class SPARGO_EXPORT pipeline_engine {
 public:
  pipeline_engine(const context<Space>& ctx, element_sizes sizes, const pipeline_options& options);
  pipeline_engine(pipeline_engine&&) noexcept;
  pipeline_engine& operator=(pipeline_engine&&) noexcept;
  ~pipeline_engine();

  void run(const pipeline_ranges& ranges, const chunk_function<Space>& function);
  [[nodiscard]] std::int64_t chunk() const noexcept;
  [[nodiscard]] int streams() const noexcept;

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

// `options` with nothing in it that `size` elements have no use for.
[[nodiscard]] SPARGO_EXPORT pipeline_options fit(const pipeline_options& options, element_sizes sizes,
                                                 std::int64_t size);

}  // namespace detail

// Streams and buffers, made once for many runs; one run at a time.
//
// On a device it holds streams * chunk * (sizeof(In) + sizeof(Out)) bytes from the context's resource; the first run
// over pageable host memory adds as much pinned memory, kept for the next. On a host it holds nothing.
// In, Out: trivially copyable.
template <class In, class Out, memory_space Space>
class pipeline_plan {
  static_assert(std::is_trivially_copyable_v<In> && std::is_trivially_copyable_v<Out>);

 public:
  // Throws invalid_argument where an option is out of its range, and out_of_memory.
  explicit pipeline_plan(const context<Space>& ctx, const pipeline_options& options = {})
      : engine_(ctx, {sizeof(In), sizeof(Out)}, options) {}

  // Calls function(context, span<const In, Space>, span<Out, Space>) for consecutive chunks of `in` in their order,
  // and puts what it wrote into the same places of `out`. Every chunk but the last has the same length, chunk() if
  // that was asked for; there is no call for an empty range.
  //
  // On a device the function must do its work on the stream of the context that it is given (any operation of this
  // library does) and need not wait for it; that context goes with the plan. The work comes after what the plan's
  // context had queued when run() was called, and is complete when run() returns. On a host the context is the
  // plan's, the spans are parts of `in` and `out`, and nothing is copied.
  //
  // Pinned host memory (pinned_host_resource, cudaHostRegister) is copied from and to directly. Pageable memory is
  // staged through pinned buffers by the host's threads, at their speed and beside the device's work.
  //
  // Throws invalid_argument before any work: sizes that differ, a null span of non-zero size, ranges that overlap,
  // device memory. What the function throws is passed on once nothing is under way any more, as is device_failure;
  // `out` then holds anything, and the plan can run again. Each element crosses the link once in each direction:
  // with enough chunks the time is that of the slowest of copy-in, function and copy-out. The result is as
  // deterministic as the function.
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

// One run of a plan made for it.
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
