// Device contexts (a device, a non-blocking stream, a pool), the pinned host resource, byte copies.
//
// Each context owns its pool, which keeps freed memory; the process's default pool keeps its settings.
#include "core/cuda.cuh"
#include "core/device_list.hpp"

#include <spargo/core/context.hpp>

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace spargo {

namespace detail {

namespace {

// "1000 of 2000 bytes are free", for the current device.
std::string free_memory_text() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) cudaGetLastError();
  return std::to_string(free_bytes) + " of " + std::to_string(total_bytes) + " bytes are free";
}

}  // namespace

void throw_cuda_error(cudaError_t status, const char* call, const char* file, int line) {
  cudaGetLastError();  // clear the error, unless it is sticky
  std::string name(file);
  name = name.substr(name.find_last_of('/') + 1);
  const std::string what = std::string("cuda: ") + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                           ") in " + call + " at " + name + ":" + std::to_string(line);
  if (status != cudaErrorMemoryAllocation) throw error(error_code::device_failure, what);
  throw error(error_code::out_of_memory, what + " (" + free_memory_text() + ")");
}

}  // namespace detail

namespace {

// Shows whether the library holds code for a device.
__global__ void probe_kernel() {}

class pool_resource final : public memory_resource<device> {
 public:
  // Requires that `ordinal` is current.
  explicit pool_resource(int ordinal) : ordinal_(ordinal) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = ordinal;
    SPARGO_CUDA_TRY(cudaMemPoolCreate(&pool_, &properties));
    std::uint64_t keep = UINT64_MAX;
    SPARGO_CUDA_TRY(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  ~pool_resource() override { cudaMemPoolDestroy(pool_); }

  void* allocate(std::size_t bytes, stream_handle stream) override {
    const detail::device_guard guard(ordinal_);
    void* pointer = nullptr;
    const cudaError_t status = cudaMallocFromPoolAsync(&pointer, bytes, pool_, stream);
    if (status == cudaSuccess) return pointer;
    if (status != cudaErrorMemoryAllocation) {
      detail::throw_cuda_error(status, "cudaMallocFromPoolAsync", __FILE__, __LINE__);
    }
    cudaGetLastError();
    throw error(error_code::out_of_memory, "device memory: " + std::to_string(bytes) +
                                               " bytes could not be allocated (" + detail::free_memory_text() + ")");
  }

  void deallocate(void* pointer, std::size_t, stream_handle stream) noexcept override {
    const detail::device_guard guard(ordinal_, std::nothrow);
    cudaFreeAsync(pointer, stream);
  }

 private:
  int ordinal_;
  cudaMemPool_t pool_ = nullptr;
};

// Small blocks are kept for reuse: kernels report the end of a search or filter through them, and locking and freeing
// one costs 0.65 ms (H200), as much as three searches of a graph of 128 million entries.
class pinned_resource final : public memory_resource<host> {
 public:
  void* allocate(std::size_t bytes, stream_handle) override {
    if (bytes > largest_kept) return lock(bytes);
    {
      const std::lock_guard guard(mutex_);
      auto& kept = kept_[size_class_of(bytes)];
      if (!kept.empty()) {
        void* const pointer = kept.back();
        kept.pop_back();
        return pointer;
      }
    }
    return lock(std::size_t{smallest_kept} << size_class_of(bytes));
  }
  void deallocate(void* pointer, std::size_t bytes, stream_handle) noexcept override {
    if (bytes <= largest_kept && keep(pointer, size_class_of(bytes))) return;
    cudaFreeHost(pointer);
  }

 private:
  static constexpr std::size_t smallest_kept = 4096;
  static constexpr int size_classes = 5;  // powers of two
  static constexpr std::size_t largest_kept = smallest_kept << (size_classes - 1);

  static std::size_t size_class_of(std::size_t bytes) {
    std::size_t size_class = 0;
    while (smallest_kept << size_class < bytes) ++size_class;
    return size_class;
  }
  static void* lock(std::size_t bytes) {
    void* pointer = nullptr;
    const cudaError_t status = cudaMallocHost(&pointer, bytes);
    if (status == cudaSuccess) return pointer;
    cudaGetLastError();
    if (status == cudaErrorMemoryAllocation) {
      throw error(error_code::out_of_memory,
                  "pinned host memory: " + std::to_string(bytes) + " bytes could not be allocated");
    }
    throw error(error_code::device_unavailable, std::string("pinned host memory: ") + cudaGetErrorString(status));
  }
  bool keep(void* pointer, std::size_t size_class) noexcept {
    try {
      const std::lock_guard guard(mutex_);
      kept_[size_class].push_back(pointer);
      return true;
    } catch (...) {
      return false;  // no memory to record it
    }
  }

  std::mutex mutex_;
  std::array<std::vector<void*>, size_classes> kept_;
};

// A missing driver is reported as "insufficient", with version 0.
std::string no_device_reason(cudaError_t status) {
  int version = 0;
  if (status == cudaErrorNoDevice || status == cudaSuccess) return "no GPU found";
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&version) == cudaSuccess && version == 0) {
    return "no NVIDIA driver found";
  }
  return cudaGetErrorString(status);
}

int capability_of(int ordinal) {
  int major = 0;
  int minor = 0;
  SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
  SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal));
  return 10 * major + minor;
}

// Of the library's code for `ordinal`, the current device. Throws device_unavailable if there is none.
int find_code_capability(int ordinal) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (status == cudaSuccess) return attributes.ptxVersion;
  cudaGetLastError();
  const std::string device = "device " + std::to_string(ordinal) + ": ";
  if (status == cudaErrorMemoryAllocation) throw error(error_code::out_of_memory, device + cudaGetErrorString(status));
  const bool has_none = status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction;
  throw error(error_code::device_unavailable, device + (has_none ? "the library holds no code for compute capability " +
                                                                       detail::capability_text(capability_of(ordinal))
                                                                 : cudaGetErrorString(status)));
}

// Properties that can be queried without a context.
detail::device_description describe(int ordinal) {
  cudaDeviceProp raw{};
  int mode = 0;
  SPARGO_CUDA_TRY(cudaGetDeviceProperties(&raw, ordinal));
  SPARGO_CUDA_TRY(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, ordinal));
  return {raw.name, 10 * raw.major + raw.minor, mode == cudaComputeModeProhibited};
}

device_properties read_properties(int ordinal) {
  cudaDeviceProp raw{};
  SPARGO_CUDA_TRY(cudaGetDeviceProperties(&raw, ordinal));
  device_properties p;
  p.name = raw.name;
  p.compute_capability_major = raw.major;
  p.compute_capability_minor = raw.minor;
  p.code_capability = find_code_capability(ordinal);
  p.multiprocessors = raw.multiProcessorCount;
  p.max_threads_per_multiprocessor = raw.maxThreadsPerMultiProcessor;
  p.shared_memory_per_block = static_cast<std::int64_t>(raw.sharedMemPerBlockOptin);
  p.shared_memory_per_multiprocessor = static_cast<std::int64_t>(raw.sharedMemPerMultiprocessor);
  p.l2_bytes = raw.l2CacheSize;
  p.total_bytes = static_cast<std::int64_t>(raw.totalGlobalMem);
  return p;
}

}  // namespace

memory_resource<host>& pinned_host_resource() {
  static auto* const resource = new pinned_resource;  // never destroyed: static objects may free arrays in it later
  return *resource;
}

device_status query_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    cudaGetLastError();
    return {0, no_device_reason(status), {}};
  }
  try {
    std::vector<detail::device_description> devices;
    for (int d = 0; d < count; ++d) devices.push_back(describe(d));
    return detail::usable_devices(devices, config::cuda_architectures);
  } catch (const error& e) {
    return {0, e.what(), {}};
  }
}

struct [[gnu::visibility("hidden")]] context<device>::state {
  int ordinal = 0;
  cudaStream_t stream = nullptr;
  device_properties properties;
  std::unique_ptr<memory_resource<device>> own_resource;
  memory_resource<device>* resource = nullptr;

  explicit state(const device_options& options) : ordinal(options.ordinal) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
      cudaGetLastError();
      throw error(error_code::device_unavailable, "device: " + no_device_reason(status));
    }
    if (ordinal < 0 || ordinal >= count) {
      throw error(error_code::device_unavailable,
                  "device: no device " + std::to_string(ordinal) + " (" + std::to_string(count) + " found)");
    }
    const detail::device_guard guard(ordinal);
    properties = read_properties(ordinal);
    if (options.resource == nullptr) own_resource = std::make_unique<pool_resource>(ordinal);
    resource = options.resource != nullptr ? options.resource : own_resource.get();
    SPARGO_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    // The pool must outlive frees that are still queued on the stream.
    const detail::device_guard guard(ordinal, std::nothrow);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    own_resource.reset();
  }
};

context<device>::context(const device_options& options) : state_(std::make_shared<state>(options)) {}

int context<device>::ordinal() const noexcept { return state_->ordinal; }
stream_handle context<device>::stream() const noexcept { return state_->stream; }
const device_properties& context<device>::properties() const noexcept { return state_->properties; }
memory_resource<device>& context<device>::resource() const noexcept { return *state_->resource; }

device_memory context<device>::memory() const {
  const detail::device_guard guard(*this);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  SPARGO_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
  return {static_cast<std::int64_t>(free_bytes), static_cast<std::int64_t>(total_bytes)};
}

void context<device>::synchronize() const {
  const detail::device_guard guard(*this);
  SPARGO_CUDA_TRY(cudaStreamSynchronize(state_->stream));
}

void* context<device>::allocate(std::size_t bytes) const {
  return bytes == 0 ? nullptr : state_->resource->allocate(bytes, state_->stream);
}

void context<device>::deallocate(void* pointer, std::size_t bytes) const noexcept {
  if (pointer != nullptr) state_->resource->deallocate(pointer, bytes, state_->stream);
}

namespace detail {

namespace {

void copy_bytes(const context<device>& ctx, const void* from, void* to, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  const device_guard guard(ctx);
  SPARGO_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, kind, ctx.stream()));
}

}  // namespace

void copy_to_device(const context<device>& ctx, const void* from, void* to, std::size_t bytes) {
  copy_bytes(ctx, from, to, bytes, cudaMemcpyHostToDevice);
}
void copy_to_host(const context<device>& ctx, const void* from, void* to, std::size_t bytes) {
  copy_bytes(ctx, from, to, bytes, cudaMemcpyDeviceToHost);
}
void copy_on_device(const context<device>& ctx, const void* from, void* to, std::size_t bytes) {
  copy_bytes(ctx, from, to, bytes, cudaMemcpyDeviceToDevice);
}
void fill_bytes(const context<device>& ctx, void* to, int byte, std::size_t bytes) {
  const device_guard guard(ctx);
  if (bytes != 0) SPARGO_CUDA_TRY(cudaMemsetAsync(to, byte, bytes, ctx.stream()));
}

}  // namespace detail

}  // namespace spargo
