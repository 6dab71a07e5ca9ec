// All reduction algorithms on the device, beside CUB, in the form that leaves the result on the device.
#include "bench/check_device.hpp"
#include "bench/references.hpp"

#include "primitives/reduce/algorithms.hpp"

#include <spargo/primitives/reduce.hpp>

#include <cub/device/device_reduce.cuh>

#include <map>

namespace spargo::bench {

namespace {

constexpr int fill_blocks = 2048;

template <class T>
__global__ void fill_kernel(T* values, std::int64_t size, std::uint64_t key) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    values[i] = whole_number<T>(i, key);
  }
}

template <class T>
array<T, device> filled(std::int64_t size, std::uint64_t key) {
  array<T, device> values(device_context(), size);
  fill_kernel<<<fill_blocks, 256, 0, device_context().stream()>>>(values.data(), size, key);
  expect(cudaGetLastError());
  return values;
}

// Caches the last range of each type.
template <class T>
const array<T, device>& values_of(std::int64_t size) {
  static array<T, device> kept;
  if (kept.size() != size) {
    kept = {};
    kept = filled<T>(size, 0);
  }
  return kept;
}

std::int64_t expected_sum(std::int64_t size) {
  static std::map<std::int64_t, std::int64_t> known;
  const auto [at, fresh] = known.try_emplace(size, 0);
  if (fresh) at->second = whole_sum(size);
  return at->second;
}

// run() reads `reads` ranges of `size` elements and stores one number in `result`.
template <class T, class Run>
double measure(benchmark::State& state, std::int64_t size, std::int64_t reads, array<T, device>& result,
               std::int64_t expected, Run&& run) {
  poison(device_context(), result.view());
  const double seconds = device_seconds(device_context(), run);
  expect_all_on_device("the result", result, [=](std::int64_t) { return static_cast<T>(expected); });
  const double bytes = static_cast<double>(reads * size) * sizeof(T);
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_read] = bytes / seconds / device_read_rate();
  return seconds;
}

template <class T>
void add_sums(const std::string& type, int log_size) {
  const std::int64_t size = std::int64_t{1} << log_size;
  const std::string group = "reduce/sum/" + type + "/2^" + std::to_string(log_size) + "/cuda/";
  for (const auto algorithm : detail::algorithms_on<device>(detail::reduce::algorithms)) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      const auto& values = values_of<T>(size);
      array<T, device> result(device_context(), 1);
      return measure(state, size, 1, result, expected_sum(size), [&] {
        reduce_into<T, device>(device_context(), values.view(), result.view(), operation::sum,
                               {.algorithm = algorithm});
      });
    });
  }
  add_peer(group + "cub", [=](benchmark::State& state) {
    const auto& values = values_of<T>(size);
    array<T, device> result(device_context(), 1);
    std::size_t bytes = 0;
    const auto stream = device_context().stream();
    expect(cub::DeviceReduce::Sum(nullptr, bytes, values.data(), result.data(), size, stream));
    array<unsigned char, device> storage(device_context(), static_cast<std::int64_t>(bytes) + 1);
    return measure(state, size, 1, result, expected_sum(size), [&] {
      expect(cub::DeviceReduce::Sum(storage.data(), bytes, values.data(), result.data(), size, stream));
    });
  });
}

template <class T>
void add_dot(const std::string& type, int log_size) {
  const std::int64_t size = std::int64_t{1} << log_size;
  for (const auto algorithm : detail::algorithms_on<device>(detail::reduce::algorithms)) {
    add_case("reduce/dot/" + type + "/2^" + std::to_string(log_size) + "/cuda/" + std::string(to_string(algorithm)),
             [=](benchmark::State& state) {
               const auto& values = values_of<T>(size);
               const array<T, device> other = filled<T>(size, 1);
               static const std::int64_t expected = whole_dot(size, 0, 1);
               array<T, device> result(device_context(), 1);
               return measure(state, size, 2, result, expected, [&] {
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
