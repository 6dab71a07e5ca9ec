// Passes over vectors on a device, with sums that stay there, and the loop of the host around them.
//
// A pass is one kernel: a grid-stride loop over 16-byte packs of the vectors; each block writes its sums, the block
// that finishes last adds them in the order of the blocks and updates the state in one thread. So the result depends
// on the vectors' length and the device's number of SMs only. Sums are in fp64. Cost: one read or write of each
// vector, and a launch. Over ranks that block sends its sums to all of them instead, and a second kernel, of one
// thread, adds those of all in rank order and updates the state.
#pragma once

#include "core/device/block.cuh"
#include "core/device/complex.cuh"
#include "core/device/launch.cuh"
#include "core/function_ref.hpp"
#include "solvers/krylov/device_system.hpp"
#include "solvers/krylov/halt.hpp"

#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

namespace spargo::detail::krylov {

struct device_tuning {
  static constexpr int threads = 256;
  static constexpr int blocks_per_sm = 8;  // all threads of an SM
  static constexpr int most_sums = 4;
  static constexpr int ring = 1024;  // residuals kept for the host
  // Iterations between two looks of the host, of a graph's launches and in one kernel. At most ring / 2.
  static constexpr int least_chunk = 4;
  static constexpr int first_chunk = 8;
  static constexpr int most_chunk = 64;
  static constexpr int kernel_chunk = 256;
  static constexpr int graph_steps = 4;  // iterations in a graph; divides the chunks
};

// In device memory. Thread 0 of a pass's last block writes it.
struct run_state {
  double rho;  // r'z
  double alpha;
  double beta;
  double residual;
  double wanted;
  double failed;  // the value that `stop` is about
  double result;  // of a pass for the host
  std::int64_t done;
  std::int64_t most;
  halt stop;
  int active;  // whether the rest of this iteration's passes runs
  unsigned arrived;
  alignas(16) double numbers[24];  // of methods other than cg
};

// The numbers of a method in the state.
template <class Numbers>
__device__ Numbers& numbers_of(run_state& s) {
  static_assert(sizeof(Numbers) <= sizeof(s.numbers));
  return *reinterpret_cast<Numbers*>(s.numbers);
}
template <class Numbers>
__device__ const Numbers& numbers_of(const run_state& s) {
  return *reinterpret_cast<const Numbers*>(s.numbers);
}

// Past the L1 cache, by one load: of what another SM has written.
template <class T>
__device__ T read_l2(const T* from) {
  using word = std::conditional_t<sizeof(T) == 4, unsigned, std::conditional_t<sizeof(T) == 8, uint2, uint4>>;
  const word raw = __ldcg(reinterpret_cast<const word*>(from));
  T value;
  __builtin_memcpy(&value, &raw, sizeof(value));
  return value;
}

// Whether the first pass of an iteration runs; if not, its other passes do not either.
__device__ inline bool enter_iteration(run_state& s) {
  if (s.stop == halt::none) return true;
  if (global_thread() == 0) s.active = 0;
  return false;
}

struct device_state {
  run_state run;
  unsigned long long largest;  // of largest_kernel: bits of a double that is not negative
  unsigned long long bad_row;
  double history[device_tuning::ring];  // [iteration % ring]
};

// Residual and number of an iteration that has ended.
__device__ inline void count_iteration(device_state& of, double square) {
  run_state& s = of.run;
  s.residual = sqrt(square);
  of.history[s.done % device_tuning::ring] = s.residual;
  ++s.done;
  if (!isfinite(s.residual)) {
    s.stop = halt::residual_not_finite;
  } else if (!(s.residual > s.wanted) || s.done >= s.most) {
    s.stop = halt::finished;
  }
}

// --- Elements --------------------------------------------------------------------------------------------------------

template <class D>
struct alignas(16) pack {
  static constexpr int size = static_cast<int>(16 / sizeof(D));
  D v[size];
};

// Re(conj(a) * b).
__device__ inline double dot_term(float a, float b) { return static_cast<double>(a) * static_cast<double>(b); }
__device__ inline double dot_term(double a, double b) { return a * b; }
template <class T>
__device__ double dot_term(device_complex<T> a, device_complex<T> b) {
  return static_cast<double>(a.re) * static_cast<double>(b.re) + static_cast<double>(a.im) * static_cast<double>(b.im);
}

template <class D>
struct real_part {
  using type = D;
};
template <class T>
struct real_part<device_complex<T>> {
  using type = T;
};
template <class D>
using real_part_t = typename real_part<D>::type;

// a * x + y for a real a.
template <class D>
__device__ D add_scaled(real_part_t<D> a, D x, D y) {
  if constexpr (std::is_floating_point_v<D>) {
    return multiply_add(a, x, y);
  } else {
    return {multiply_add(a, x.re, y.re), multiply_add(a, x.im, y.im)};
  }
}

// Factors whose product is 2^by, each in range.
template <class R>
struct power {
  R first;
  R second;

  explicit power(int by) : first(std::ldexp(R{1}, by / 2)), second(std::ldexp(R{1}, by - by / 2)) {}
  __device__ R operator()(R v) const { return v * first * second; }
  __device__ device_complex<R> operator()(device_complex<R> v) const {
    return {v.re * first * second, v.im * first * second};
  }
};

// --- Passes ----------------------------------------------------------------------------------------------------------

template <int N>
struct sums {
  double v[N];
};
struct add_sums {
  template <int N>
  __device__ sums<N> operator()(const sums<N>& a, const sums<N>& b) const {
    sums<N> all;
#pragma unroll
    for (int k = 0; k < N; ++k) all.v[k] = a.v[k] + b.v[k];
    return all;
  }
};

// z = M^-1 r, where M is a diagonal: r itself without M.
template <class D>
__device__ pack<D> preconditioned(const pack<D>* inverse, std::int64_t i, pack<D> r) {
  if (inverse == nullptr) return r;
  const pack<D> d = inverse[i];
#pragma unroll
  for (int k = 0; k < pack<D>::size; ++k) r.v[k] = d.v[k] * r.v[k];
  return r;
}

// Number k of all ranks, added in their order.
__device__ inline double total_of(const rank_numbers& all, std::int64_t k) {
  double sum = 0;
  const double* other = all.others + k;
  for (int r = 0; r < all.ranks; ++r) {
    if (r == all.rank) {
      sum += all.own[k];
    } else {
      sum += *other;
      other += all.stride;
    }
  }
  return sum;
}

// Pass: `count` sums, `backwards`; enter(run_state&) returns whether the kernel does anything; operator()(i, sums&) for
// each pack; finish(sums, device_state&). With a count of 0 operator()(i) alone.
template <class Pass>
__global__ void __launch_bounds__(device_tuning::threads)
    map_kernel(Pass pass, std::int64_t packs, const device_state* state) {
  if (!pass.enter(state->run)) return;
  for (std::int64_t i = global_thread(); i < packs; i += grid_threads()) pass(Pass::backwards ? packs - 1 - i : i);
}
template <class Pass>
__global__ void __launch_bounds__(device_tuning::threads)
    pass_kernel(Pass pass, std::int64_t packs, sums<Pass::count>* of_blocks, device_state* state, rank_boxes out) {
  constexpr int count = Pass::count;
  if (!pass.enter(state->run)) return;
  sums<count> mine{};
  for (std::int64_t i = global_thread(); i < packs; i += grid_threads())
    pass(Pass::backwards ? packs - 1 - i : i, mine);
  __shared__ sums<count> of_warps[device_tuning::threads / warp_size];
  mine = block_reduce(mine, of_warps, add_sums{});
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = mine;
  if (!block_arrives_last(&state->run.arrived, gridDim.x)) return;
  sums<count> all{};
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
#pragma unroll
    for (int k = 0; k < count; ++k) all.v[k] += __ldcg(&of_blocks[b].v[k]);
  }
  all = block_reduce(all, of_warps, add_sums{});
  if (threadIdx.x != 0) return;
  if (out.count == 0) return pass.finish(all, *state);
  for (int b = 0; b < out.count; ++b) *reinterpret_cast<sums<count>*>(out.boxes[b]) = all;
}
// The end of a pass over ranks.
template <class Pass>
__global__ void finish_kernel(Pass pass, rank_numbers ranks, device_state* state) {
  if (!pass.enter(state->run)) return;
  sums<Pass::count> all;
#pragma unroll
  for (int k = 0; k < Pass::count; ++k) all.v[k] = total_of(ranks, k);
  pass.finish(all, *state);
}

// --- The host --------------------------------------------------------------------------------------------------------

struct chunk_limits {
  int first;
  int least;
  int most;
};

class device_workspace {
 public:
  explicit device_workspace(const context<device>& ctx);
  device_workspace(const device_workspace&) = delete;
  device_workspace& operator=(const device_workspace&) = delete;
  ~device_workspace();

  // Null: no other ranks.
  void distribute(device_sums* ranks) { ranks_ = ranks; }

  template <class Pass>
  void run(const Pass& pass, std::int64_t packs) {
    const auto blocks = std::clamp<std::int64_t>(div_up(packs, std::int64_t{device_tuning::threads}), 1, most_blocks_);
    if constexpr (Pass::count == 0) {
      launch_kernel(ctx_, {blocks, device_tuning::threads}, map_kernel<Pass>, pass, packs, state());
    } else {
      reduce(
          [&](const rank_boxes& out) {
            launch_kernel(ctx_, {blocks, device_tuning::threads}, pass_kernel<Pass>, pass, packs,
                          reinterpret_cast<sums<Pass::count>*>(sums_.data()), state(), out);
          },
          [&](const rank_numbers& ranks) {
            launch_kernel(ctx_, {1, 1}, finish_kernel<Pass>, pass, ranks, state());
          });
    }
  }
  // enqueue(boxes): a kernel that writes its sums to the boxes, or without any takes them as they are.
  // finish(numbers): one that takes those of all ranks.
  template <class Enqueue, class Finish>
  void reduce(const Enqueue& enqueue, const Finish& finish) {
    if (ranks_ == nullptr) return enqueue(rank_boxes{});
    enqueue(ranks_->begin());
    finish(ranks_->end());
  }
  // The result of a pass for the host. Synchronises the stream.
  template <class Pass>
  [[nodiscard]] double result(const Pass& pass, std::int64_t packs) {
    run(pass, packs);
    return read().run.result;
  }
  // Synchronises the stream.
  [[nodiscard]] const device_state& read();

  // Enqueues begin(), then step() until the device stops; `captured` as a graph that later runs of the method use
  // again.
  template <class V>
  void repeat(iteration<V, device>& run, krylov_method method, bool captured, function_ref<void()> begin,
              function_ref<void()> step,
              const chunk_limits& limits = {device_tuning::first_chunk, device_tuning::least_chunk,
                                            device_tuning::most_chunk}) {
    constexpr int steps = device_tuning::graph_steps;
    const auto enqueue = [&](int count) {
      int k = 0;
      for (; captured && k + steps <= count; k += steps) launch_graph(method, step);
      for (; k < count; ++k) step();
    };
    start(run.residual, run.wanted, run.done, run.most);
    begin();
    follow(progress_of(run), enqueue, limits);
  }
  // The same where kernel(iterations) enqueues one kernel for all of them.
  template <class V>
  void follow_kernel(iteration<V, device>& run, function_ref<void()> begin, function_ref<void(int)> kernel) {
    constexpr int chunk = device_tuning::kernel_chunk;
    start(run.residual, run.wanted, run.done, run.most);
    begin();
    follow(progress_of(run), kernel, {chunk, chunk, chunk});
  }

  // Why the last run stopped.
  template <class V>
  [[nodiscard]] krylov_outcome outcome(iteration<V, device>& run) const {
    halt_report why = describe(last_.stop, last_.failed, run.is_rounding());
    run.detail = std::move(why.detail);
    return why.outcome;
  }

  // Of the last `read`.
  [[nodiscard]] const run_state& seen() const noexcept { return seen_[0].run; }

  // Room for `count` doubles of a method.
  void reserve(std::int64_t count) {
    if (numbers_.size() < count) numbers_ = array<double, device>(ctx_, count);
  }
  [[nodiscard]] double* numbers() noexcept { return numbers_.data(); }

  [[nodiscard]] device_state* state() const noexcept { return const_cast<device_state*>(state_.data()); }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return (sums_.size() + numbers_.size()) * static_cast<std::int64_t>(sizeof(double)) +
           static_cast<std::int64_t>(sizeof(device_state));
  }

 private:
  // What a run has reached, for the host.
  struct progress {
    std::vector<double>& history;
    double scale;
    std::int64_t& done;
    double& residual;
    double wanted;
    std::int64_t most;
  };
  template <class V>
  [[nodiscard]] static progress progress_of(iteration<V, device>& run) {
    return {run.history, run.scale, run.done, run.residual, run.wanted, run.most};
  }

  device_workspace(const context<device>& ctx, std::int64_t most_blocks);
  // Sets the state for a run.
  void start(double residual, double wanted, std::int64_t done, std::int64_t most);
  void follow(progress run, function_ref<void(int)> enqueue, const chunk_limits& limits);
  void launch_graph(krylov_method method, function_ref<void()> step);
  void send(int slot);
  const device_state& wait(int slot);

  context<device> ctx_;
  std::int64_t most_blocks_;
  array<double, device> sums_;
  array<device_state, device> state_;
  array<double, device> numbers_;
  device_state* seen_ = nullptr;  // two, page-locked
  std::array<cudaEvent_t, 2> copied_{};
  std::array<cudaGraphExec_t, 5> graphs_{};  // by method
  device_sums* ranks_ = nullptr;
  run_state last_{};
};

template <class V>
[[nodiscard]] std::int64_t packs_of(const system<V, device>& of) {
  return of.stride() / pack<device_value_t<V>>::size;
}
template <class V>
[[nodiscard]] pack<device_value_t<V>>* packed(V* v) {
  return reinterpret_cast<pack<device_value_t<V>>*>(v);
}
template <class V>
[[nodiscard]] const pack<device_value_t<V>>* packed(const V* v) {
  return reinterpret_cast<const pack<device_value_t<V>>*>(v);
}

}  // namespace spargo::detail::krylov
