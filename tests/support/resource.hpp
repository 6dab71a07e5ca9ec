// A memory resource for leak and exhaustion tests: counts live bytes and can fail the k-th request.
#pragma once

#include <spargo/core/context.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace spargo::test {

// Forwards to `upstream`; request `fail_at` (from 0) fails with out_of_memory.
template <memory_space Space>
class counting_resource final : public memory_resource<Space> {
 public:
  explicit counting_resource(memory_resource<Space>& upstream, std::int64_t fail_at = -1)
      : upstream_(upstream), fail_at_(fail_at) {}

  void* allocate(std::size_t bytes, stream_handle stream) override {
    if (requests_++ == fail_at_) throw error(error_code::out_of_memory, std::to_string(bytes) + " bytes refused");
    void* pointer = upstream_.allocate(bytes, stream);
    const std::int64_t now = live_ += static_cast<std::int64_t>(bytes);
    for (std::int64_t before = peak_; before < now && !peak_.compare_exchange_weak(before, now);) {
    }
    return pointer;
  }
  void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept override {
    live_ -= static_cast<std::int64_t>(bytes);
    upstream_.deallocate(pointer, bytes, stream);
  }

  [[nodiscard]] std::int64_t live() const { return live_; }  // bytes
  [[nodiscard]] std::int64_t peak() const { return peak_; }  // the most that were live at once
  [[nodiscard]] std::int64_t requests() const { return requests_; }

 private:
  memory_resource<Space>& upstream_;
  std::int64_t fail_at_;
  std::atomic<std::int64_t> requests_ = 0;
  std::atomic<std::int64_t> live_ = 0;
  std::atomic<std::int64_t> peak_ = 0;
};

// Runs `operation(context<Space>)`, failing each request to `upstream` in turn, until a run needs no more. Each failure
// must surface as out_of_memory and leave nothing allocated. Returns the requests of a complete run.
template <class Space, class Operation, class MakeContext>
std::int64_t fail_every_allocation(memory_resource<Space>& upstream, MakeContext&& make_context,
                                   Operation&& operation) {
  for (std::int64_t k = 0;; ++k) {
    counting_resource<Space> resource(upstream, k);
    bool refused = false;
    try {
      operation(make_context(resource));
    } catch (const error& e) {
      refused = true;
      EXPECT_EQ(e.code(), error_code::out_of_memory) << "request " << k << ": " << e.what();
    }
    EXPECT_EQ(resource.live(), 0) << "leak after request " << k << " was refused";
    if (resource.requests() <= k) {
      EXPECT_FALSE(refused);
      return resource.requests();
    }
    EXPECT_TRUE(refused) << "request " << k << " was refused and nobody noticed";
    if (k > 10'000) {
      ADD_FAILURE() << "more than 10000 requests";
      return k;
    }
  }
}

template <class Operation>
std::int64_t fail_every_allocation(Operation&& operation, int threads = 2) {
  return fail_every_allocation(
      default_host_resource(),
      [threads](memory_resource<host>& r) { return context<host>({.threads = threads, .resource = &r}); }, operation);
}

// The same for device memory from another context's pool.
template <class Operation>
std::int64_t fail_every_device_allocation(Operation&& operation) {
  const context<device> upstream;
  return fail_every_allocation(
      upstream.resource(), [](memory_resource<device>& r) { return context<device>(device_options{.resource = &r}); },
      operation);
}

}  // namespace spargo::test
