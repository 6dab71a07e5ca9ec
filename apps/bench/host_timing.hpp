// The ceiling of host cases: a triad a[i] = b[i] + s * c[i] on large arrays (McCalpin's STREAM); huge page arrays.
#pragma once

#include "bench/bench.hpp"

#include "core/parallel.hpp"

#include <spargo/core/array.hpp>

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <new>

namespace spargo::bench {

struct free_memory {
  void operator()(void* p) const { std::free(p); }
};

// `size` elements on 2 MiB boundaries with huge pages advised; uninitialised.
template <class T>
class huge_page_array {
 public:
  explicit huge_page_array(std::int64_t size) : size_(size) {
    constexpr std::size_t page = std::size_t{2} << 20;
    const std::size_t bytes = (static_cast<std::size_t>(size) * sizeof(T) + page - 1) / page * page;
    data_.reset(static_cast<T*>(std::aligned_alloc(page, std::max(bytes, page))));
    if (data_ == nullptr) throw std::bad_alloc();
    madvise(data_.get(), bytes, MADV_HUGEPAGE);
  }
  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) const { return data_.get()[i]; }
  [[nodiscard]] span<const T, host> view() const { return {data_.get(), size_}; }
  [[nodiscard]] span<T, host> view() { return {data_.get(), size_}; }

 private:
  std::unique_ptr<T, free_memory> data_;
  std::int64_t size_;
};

// Bytes per second moved by `threads` threads in a triad of doubles, 3 * 8 bytes per element; measured once per run.
inline double host_triad_rate(int threads) {
  static std::map<int, double> rates;
  const auto [at, fresh] = rates.try_emplace(threads, 0.0);
  if (!fresh) return at->second;
  const std::int64_t size = std::int64_t{1} << 25;
  huge_page_array<double> to(size);
  huge_page_array<double> left(size);
  huge_page_array<double> right(size);
  double* const a = to.data();
  double* const b = left.data();
  double* const c = right.data();
  detail::parallel_for(threads, size, detail::grain::elements, [&](std::int64_t i) {
    a[i] = 0;
    b[i] = static_cast<double>(i % 1000);
    c[i] = static_cast<double>(i % 777);
  });
  const double seconds = median_seconds(
      [&] {
        detail::parallel_for(threads, size, detail::grain::elements, [&](std::int64_t i) { a[i] = b[i] + 3.0 * c[i]; });
      },
      11, 2);
  at->second = note_ceiling("host_triad_bytes_per_second", 24.0 * static_cast<double>(size) / seconds);
  return at->second;
}

}  // namespace spargo::bench
