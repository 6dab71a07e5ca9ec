// Ways to move 256 MiB to the device and back: the cost until a kernel, or the host, has the data. Times are by the
// host clock around the whole; "of limit" is relative to a pinned copy of 1 GiB in the same direction.
//
// In: `pageable` and `pinned` copy; `managed` memory is read by a kernel, whose first accesses migrate the pages;
// `managed_prefetch` migrates them at once; in `zero_copy` a kernel reads host memory over the link. Out: the same; a
// kernel writes memory that the host then reads (managed), or writes to host memory (zero_copy).
#include "bench/check_device.hpp"
#include "bench/link_timing.hpp"

#include <cstring>

namespace spargo::bench {

namespace {

constexpr std::int64_t bytes = std::int64_t{256} << 20;
constexpr int threads = 256;
constexpr unsigned stamp = 0x9e3779b9U;

// Copies 16-byte words, grid-stride.
__global__ void __launch_bounds__(threads) copy_kernel(const uint4* from, std::int64_t size, uint4* to) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * threads) {
    to[i] = from[i];
  }
}

void copy_by_kernel(const void* from, void* to) {
  const auto& ctx = device_context();
  const unsigned blocks = static_cast<unsigned>(ctx.properties().multiprocessors) * 8;
  copy_kernel<<<blocks, threads, 0, ctx.stream()>>>(static_cast<const uint4*>(from), bytes / 16,
                                                    static_cast<uint4*>(to));
  expect(cudaGetLastError());
}

void fill_stamps(void* to, unsigned key) {
  auto* words = static_cast<unsigned*>(to);
  for (std::int64_t i = 0; i < bytes / 4; ++i) words[i] = static_cast<unsigned>(i) * stamp + key;
}

// Checks all words against fill_stamps, which also reads every page.
void check_stamps(const void* from, unsigned key) {
  const auto* words = static_cast<const unsigned*>(from);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < bytes / 4; ++i) wrong += words[i] != static_cast<unsigned>(i) * stamp + key;
  if (wrong != 0) throw wrong_result(std::to_string(wrong) + " words are wrong");
}

// Managed memory, much less than what is free, so that nothing is evicted.
class managed {
 public:
  managed() {
    int concurrent = 0;
    expect(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device_context().ordinal()));
    if (concurrent == 0) throw error(error_code::unsupported, "this device does not migrate managed memory");
    if (device_context().memory().free_bytes < 4 * bytes)
      throw error(error_code::out_of_memory, "too little free device memory");
    expect(cudaMallocManaged(&data_, static_cast<std::size_t>(bytes)));
  }
  managed(const managed&) = delete;
  managed& operator=(const managed&) = delete;
  ~managed() { cudaFree(data_); }
  [[nodiscard]] void* data() const { return data_; }

  void prefetch(direction way) const {
    cudaMemLocation place{};
    place.type = way == direction::to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    place.id = way == direction::to_device ? device_context().ordinal() : 0;
    expect(cudaMemPrefetchAsync(data_, static_cast<std::size_t>(bytes), place, 0, device_context().stream()));
  }

 private:
  void* data_ = nullptr;
};

using measurement = double (*)();

struct no_preparation {
  void operator()() const {}
};

double copies_in(const context<host>& where) {
  const auto& ctx = device_context();
  array<char, host> from(where, bytes);
  array<char, device> to(ctx, bytes);
  poison(ctx, to.view());
  fill_stamps(from.data(), 1);
  const double seconds =
      link_seconds(no_preparation{}, [&] { copy<char>(ctx, std::as_const(from).view(), to.view()); });
  check_stamps(to_host(ctx, std::as_const(to).view()).data(), 1);
  return seconds;
}

double copies_out(const context<host>& where) {
  const auto& ctx = device_context();
  array<char, host> to(where, bytes);
  fill_stamps(to.data(), 2);
  const array<char, device> from = to_device(ctx, std::as_const(to).view());
  poison(to.view());
  const double seconds = link_seconds(no_preparation{}, [&] { copy<char>(ctx, from.view(), to.view()); });
  check_stamps(to.data(), 2);
  return seconds;
}

double managed_in(bool prefetched) {
  const auto& ctx = device_context();
  const managed from;
  array<char, device> to(ctx, bytes);
  poison(ctx, to.view());
  fill_stamps(from.data(), 3);
  const double seconds = link_seconds([&] { from.prefetch(direction::to_host); },
                                      [&] {
                                        if (prefetched) from.prefetch(direction::to_device);
                                        copy_by_kernel(from.data(), to.data());
                                      });
  check_stamps(to_host(ctx, std::as_const(to).view()).data(), 3);
  return seconds;
}

// The host reads one word of every 4 KiB page, which migrates it.
unsigned read_pages(const void* from) {
  unsigned sum = 0;
  for (std::int64_t i = 0; i < bytes; i += 4096)
    sum += *reinterpret_cast<const volatile unsigned*>(static_cast<const char*>(from) + i);
  return sum;
}

double managed_out(bool prefetched) {
  const auto& ctx = device_context();
  const managed to;
  array<char, host> stamps(context<host>(), bytes);
  fill_stamps(stamps.data(), 4);
  const array<char, device> from = to_device(ctx, std::as_const(stamps).view());
  const double seconds = link_seconds(
      [&] {
        to.prefetch(direction::to_device);
        copy_by_kernel(from.data(), to.data());
      },
      [&] {
        if (prefetched) to.prefetch(direction::to_host);
        ctx.synchronize();
        benchmark::DoNotOptimize(read_pages(to.data()));
      },
      5, 1);
  check_stamps(to.data(), 4);
  return seconds;
}

double zero_copy_in() {
  const auto& ctx = device_context();
  array<char, host> from(pinned_context(), bytes);
  array<char, device> to(ctx, bytes);
  poison(ctx, to.view());
  fill_stamps(from.data(), 5);
  const double seconds = link_seconds(no_preparation{}, [&] { copy_by_kernel(from.data(), to.data()); });
  check_stamps(to_host(ctx, std::as_const(to).view()).data(), 5);
  return seconds;
}

double zero_copy_out() {
  const auto& ctx = device_context();
  array<char, host> to(pinned_context(), bytes);
  fill_stamps(to.data(), 6);
  const array<char, device> from = to_device(ctx, std::as_const(to).view());
  poison(to.view());
  const double seconds = link_seconds(no_preparation{}, [&] { copy_by_kernel(from.data(), to.data()); });
  check_stamps(to.data(), 6);
  return seconds;
}

void add(const char* rung, direction way, measurement measure) {
  const std::string group = way == direction::to_device ? "transfer/in/256MiB/cuda/" : "transfer/out/256MiB/cuda/";
  add_case(group + rung, [=](benchmark::State& state) {
    const double seconds = measure();
    const double rate = static_cast<double>(bytes) / seconds;
    state.counters[gbytes_per_second] = rate * 1e-9;
    state.counters[fraction_of_limit] = rate / link_rate(way);
    return seconds;
  });
}

void add_all() {
  if (!current_settings().device) return;
  add("pageable", direction::to_device, [] { return copies_in(context<host>()); });
  add("pinned", direction::to_device, [] { return copies_in(pinned_context()); });
  add("managed", direction::to_device, [] { return managed_in(false); });
  add("managed_prefetch", direction::to_device, [] { return managed_in(true); });
  add("zero_copy", direction::to_device, [] { return zero_copy_in(); });
  add("pageable", direction::to_host, [] { return copies_out(context<host>()); });
  add("pinned", direction::to_host, [] { return copies_out(pinned_context()); });
  add("managed", direction::to_host, [] { return managed_out(false); });
  add("managed_prefetch", direction::to_host, [] { return managed_out(true); });
  add("zero_copy", direction::to_host, [] { return zero_copy_out(); });
}

const registration here{add_all};

}  // namespace

double link_rate(direction way) {
  const auto measure = [](direction which) {
    constexpr std::int64_t size = std::int64_t{1} << 30;
    const auto& ctx = device_context();
    array<char, host> here_(pinned_context(), size);
    array<char, device> there(ctx, size);
    std::memset(here_.data(), 1, static_cast<std::size_t>(size));
    fill_zero(ctx, there.view());
    const double seconds = link_seconds(
        no_preparation{},
        [&] {
          if (which == direction::to_device) copy<char>(ctx, std::as_const(here_).view(), there.view());
          if (which == direction::to_host) copy<char>(ctx, std::as_const(there).view(), here_.view());
        },
        7);
    return static_cast<double>(size) / seconds;
  };
  static const double in = note_ceiling("link_to_device_bytes_per_second", measure(direction::to_device));
  static const double out = note_ceiling("link_to_host_bytes_per_second", measure(direction::to_host));
  return way == direction::to_device ? in : out;
}

}  // namespace spargo::bench
