#pragma once

#include <spargo/core/array.hpp>

#include <type_traits>
#include <vector>

namespace spargo::detail {

// Arrays that live as long as their plan; the plan keeps raw pointers to them.
class plan_memory {
 public:
  explicit plan_memory(const context<device>& ctx) : ctx_(ctx) {}

  // Uninitialised.
  template <class T>
  [[nodiscard]] T* take(std::int64_t size) {
    static_assert(std::is_trivially_copyable_v<T>);
    arrays_.emplace_back(ctx_, static_cast<std::int64_t>(checked_bytes(size, sizeof(T))));
    return reinterpret_cast<T*>(arrays_.back().data());
  }
  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t all = 0;
    for (const auto& a : arrays_) all += a.size();
    return all;
  }

 private:
  context<device> ctx_;
  std::vector<array<unsigned char, device>> arrays_;
};

}  // namespace spargo::detail
