// Makes a device current for a scope.
//
// cudaSetDevice creates a context on the device it names, including the device that a scope would restore. If the
// program never uses that device, this wastes half a gigabyte of its memory and some tenths of a second. So the guard
// pushes the device's primary context onto the thread's stack and pops it again; the runtime's choice is unchanged.
#include "core/cuda.cuh"

#include <cuda.h>

#include <mutex>
#include <vector>

namespace spargo::detail {

namespace {

// Taken from the driver that the runtime has loaded; the library does not link it.
template <class F>
F driver_function(const char* name) {
  constexpr unsigned version = 12000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  SPARGO_CUDA_TRY(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) {
    throw error(error_code::device_unavailable, std::string("device: the driver has no ") + name);
  }
  return reinterpret_cast<F>(function);
}

struct driver {
  CUresult (*device_get)(CUdevice*, int) = driver_function<CUresult (*)(CUdevice*, int)>("cuDeviceGet");
  CUresult (*retain)(CUcontext*,
                     CUdevice) = driver_function<CUresult (*)(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain");
  CUresult (*push)(CUcontext) = driver_function<CUresult (*)(CUcontext)>("cuCtxPushCurrent");
  CUresult (*pop)(CUcontext*) = driver_function<CUresult (*)(CUcontext*)>("cuCtxPopCurrent");
  CUresult (*describe)(CUresult,
                       const char**) = driver_function<CUresult (*)(CUresult, const char**)>("cuGetErrorString");

  void expect(CUresult status, int ordinal) const {
    if (status == CUDA_SUCCESS) return;
    const char* text = nullptr;
    if (describe(status, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
    throw error(status == CUDA_ERROR_OUT_OF_MEMORY ? error_code::out_of_memory : error_code::device_unavailable,
                "device " + std::to_string(ordinal) + ": " + text);
  }
};

const driver& the_driver() {
  static const driver functions;
  return functions;
}

// Retained once for the life of the process, as the runtime does.
CUcontext primary_context(int ordinal) {
  static std::mutex mutex;
  static std::vector<CUcontext> contexts;
  const std::lock_guard guard(mutex);
  const auto at = static_cast<std::size_t>(ordinal);
  if (contexts.size() <= at) contexts.resize(at + 1, nullptr);
  if (contexts[at] == nullptr) {
    CUdevice device = 0;
    the_driver().expect(the_driver().device_get(&device, ordinal), ordinal);
    the_driver().expect(the_driver().retain(&contexts[at], device), ordinal);
  }
  return contexts[at];
}

}  // namespace

device_guard::device_guard(int ordinal) { enter(ordinal); }

device_guard::device_guard(int ordinal, std::nothrow_t) noexcept {
  try {
    enter(ordinal);
  } catch (...) {
    cudaGetLastError();
  }
}

void device_guard::enter(int ordinal) {
  int current = 0;
  SPARGO_CUDA_TRY(cudaGetDevice(&current));
  if (current == ordinal) return;
  the_driver().expect(the_driver().push(primary_context(ordinal)), ordinal);
  pushed_ = true;
}

device_guard::~device_guard() {
  CUcontext popped = nullptr;
  if (pushed_) (void)the_driver().pop(&popped);
}

}  // namespace spargo::detail
