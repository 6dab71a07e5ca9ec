// The ladder of the reduction on the device, beside CUB. Times are of the form that leaves the result on the device.
#include "bench/device_timing.hpp"

#include <spargo/primitives/reduce.hpp>

#include <cub/device/device_reduce.cuh>

#include <cmath>
#include <map>

namespace spargo::bench {

namespace {

constexpr int fill_blocks = 2048;

template <class T>
__global__ void fill_kernel(T* values, std::int64_t size) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    values[i] = static_cast<T>((i * 7919) % 17 - 8);  // sums of these are exact
  }
}

// The last range of each type is kept.
template <class T>
const array<T, device>& values_of(std::int64_t size) {
  static array<T, device> kept;
  if (kept.size() != size) {
    kept = {};
    kept = {device_context(), size};
    fill_kernel<<<fill_blocks, 256, 0, device_context().stream()>>>(kept.data(), size);
    expect(cudaGetLastError());
  }
  return kept;
}

std::int64_t expected_sum(std::int64_t size) {
  static std::map<std::int64_t, std::int64_t> known;
  const auto [at, fresh] = known.try_emplace(size, 0);
  if (fresh) {
    for (std::int64_t i = 0; i < size; ++i) at->second += (i * 7919) % 17 - 8;
  }
  return at->second;
}

template <class T, class Run>
double measure(benchmark::State& state, std::int64_t size, std::int64_t reads, T& result_on_device, Run&& run,
               int runs = 25) {
  const double seconds = device_seconds(device_context(), run, runs, 3);
  T result{};
  expect(cudaMemcpyAsync(&result, &result_on_device, sizeof(T), cudaMemcpyDeviceToHost, device_context().stream()));
  device_context().synchronize();
  if (reads == 1 && static_cast<std::int64_t>(result) != expected_sum(size)) throw wrong_result("wrong sum");
  const double bytes = static_cast<double>(reads * size) * sizeof(T);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_read] = bytes / seconds / device_read_rate();
  return seconds;
}

template <class T>
void add_sums(const std::string& type, int log_size) {
  const std::int64_t size = std::int64_t{1} << log_size;
  const std::string group = "reduce/sum/" + type + "/2^" + std::to_string(log_size) + "/cuda/";
  using enum reduce_algorithm;
  for (const auto algorithm : {interleaved_divergent, interleaved_strided, sequential, add_on_load, coarsened,
                               warp_shuffle, deterministic, single_pass, bulk_copies, automatic}) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      const auto& values = values_of<T>(size);
      array<T, device> result(device_context(), 1);
      return measure(state, size, 1, *result.data(), [&] {
        reduce_into<T, device>(device_context(), values.view(), result.view(), operation::sum,
                               {.algorithm = algorithm});
      });
    });
  }
  add_case(group + "cub", [=](benchmark::State& state) {
    const auto& values = values_of<T>(size);
    array<T, device> result(device_context(), 1);
    std::size_t bytes = 0;
    const auto stream = device_context().stream();
    expect(cub::DeviceReduce::Sum(nullptr, bytes, values.data(), result.data(), size, stream));
    array<unsigned char, device> storage(device_context(), static_cast<std::int64_t>(bytes) + 1);
    state.counters[is_peer] = 1;
    return measure(state, size, 1, *result.data(), [&] {
      expect(cub::DeviceReduce::Sum(storage.data(), bytes, values.data(), result.data(), size, stream));
    });
  });
}

template <class T>
void add_dot(const std::string& type, int log_size) {
  const std::int64_t size = std::int64_t{1} << log_size;
  for (const auto algorithm : {reduce_algorithm::warp_shuffle, reduce_algorithm::automatic}) {
    add_case("reduce/dot/" + type + "/2^" + std::to_string(log_size) + "/cuda/" + std::string(to_string(algorithm)),
             [=](benchmark::State& state) {
               const auto& values = values_of<T>(size);
               const array<T, device> other = clone(device_context(), values.view());
               array<T, device> result(device_context(), 1);
               return measure(state, size, 2, *result.data(), [&] {
                 dot_into<T, device>(device_context(), values.view(), other.view(), result.view(),
                                     {.algorithm = algorithm});
               });
             });
  }
}

void add_all() {
  if (!current_settings().device) return;
  add_sums<float>("float", 28);
  add_sums<double>("double", 27);
  add_sums<std::int32_t>("int32", 28);
  add_sums<float>("float", 20);
  add_dot<float>("float", 28);
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
