// The last problem of all benchmarks: cases of one input share it, and large inputs fit in memory one by one.
#pragma once

#include <functional>
#include <memory>
#include <optional>

namespace spargo::bench {

// Frees the cached problem, of any type.
inline std::function<void()>& drop_cached() {
  static std::function<void()> drop;
  return drop;
}

// Problem(key). The reference holds until the next call for another type or key.
template <class Problem, class Key>
Problem& cached(const Key& key) {
  static std::optional<Key> held;
  static std::unique_ptr<Problem> kept;
  if (kept == nullptr || held != key) {
    if (drop_cached()) drop_cached()();
    held = key;
    kept = std::make_unique<Problem>(key);
    drop_cached() = [] { kept.reset(); };
  }
  return *kept;
}

}  // namespace spargo::bench
