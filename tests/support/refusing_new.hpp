// Replaces operator new by one that fails request k, or also later ones. Include in one file per program.
#pragma once

#include <spargo/core/context.hpp>

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>

namespace spargo::test {

// Counts requests while armed; fails request `refused`, and later ones if `onwards`.
struct refusing_allocator {
  std::atomic<bool> armed = false;
  std::atomic<std::int64_t> requests = 0;
  std::atomic<std::int64_t> refused = -1;
  std::atomic<bool> onwards = false;
  std::atomic<std::int64_t> live = 0;  // bytes
};
inline refusing_allocator allocator;

inline bool refuse() {
  if (!allocator.armed) return false;
  const std::int64_t number = allocator.requests++;
  const std::int64_t refused = allocator.refused;
  return refused >= 0 && (allocator.onwards ? number >= refused : number == refused);
}

inline void* allocate(std::size_t bytes, std::size_t alignment) {
  if (refuse()) return nullptr;
  void* const pointer = alignment == 0 ? std::malloc(bytes == 0 ? 1 : bytes)
                                       : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (pointer != nullptr) allocator.live += static_cast<std::int64_t>(::malloc_usable_size(pointer));
  return pointer;
}

inline void release(void* pointer) {
  if (pointer != nullptr) allocator.live -= static_cast<std::int64_t>(::malloc_usable_size(pointer));
  std::free(pointer);
}

inline void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const pointer = allocate(bytes, alignment);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

}  // namespace spargo::test

// clang-format off
void* operator new(std::size_t n) { return spargo::test::allocate_or_throw(n, 0); }
void* operator new[](std::size_t n) { return spargo::test::allocate_or_throw(n, 0); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return spargo::test::allocate(n, 0); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return spargo::test::allocate(n, 0); }
void* operator new(std::size_t n, std::align_val_t a) { return spargo::test::allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return spargo::test::allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return spargo::test::allocate(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return spargo::test::allocate(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { spargo::test::release(p); }
void operator delete[](void* p) noexcept { spargo::test::release(p); }
void operator delete(void* p, std::size_t) noexcept { spargo::test::release(p); }
void operator delete[](void* p, std::size_t) noexcept { spargo::test::release(p); }
void operator delete(void* p, std::align_val_t) noexcept { spargo::test::release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { spargo::test::release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { spargo::test::release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { spargo::test::release(p); }
// clang-format on

namespace spargo::test {

// Arrays from the same allocator.
class refusing_resource final : public memory_resource<host> {
 public:
  void* allocate(std::size_t bytes, stream_handle) override {
    void* const pointer = test::allocate(bytes, 64);
    if (pointer == nullptr) throw error(refusal_);
    return pointer;
  }
  void deallocate(void* pointer, std::size_t, stream_handle) noexcept override { test::release(pointer); }

 private:
  const error refusal_{error_code::out_of_memory, "refused"};  // made while memory is available
};

enum class ending { done, out_of_memory, bad_alloc, another };

inline ending end_of(const std::function<void()>& run, std::string& what) {
  try {
    allocator.armed = true;
    run();
    allocator.armed = false;
    return ending::done;
  } catch (const error& e) {
    allocator.armed = false;
    what = e.what();
    return e.code() == error_code::out_of_memory ? ending::out_of_memory : ending::another;
  } catch (const std::bad_alloc&) {
    allocator.armed = false;
    return ending::bad_alloc;
  } catch (const std::exception& e) {
    allocator.armed = false;
    what = e.what();
    return ending::another;
  }
}

}  // namespace spargo::test
