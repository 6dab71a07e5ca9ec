// Scans on the host.
//
// chained_blocks: threads take blocks of 128 KiB in order from a counter. A thread folds its block, which brings it
// into cache; waits for the fold of everything before it; passes on the fold including its block; and scans the block
// from cache while prefetching its next block. Blocks are taken in order, so the first unfinished block is always being
// processed and waits end. Blocks, and the order within them, depend on the number of elements only; hence the result's
// bits do too. n reads and n writes of memory; large results bypass the cache.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "core/turns.hpp"
#include "primitives/scan/host_vector.hpp"
#include "primitives/simd/stream.hpp"

#include <atomic>

namespace spargo::detail::scan {

namespace {

// Measured on a two-core EPYC (Zen 5, 1 MiB of L2 and 32 MiB of L3 cache).
struct tuning {
  static constexpr std::int64_t block_bytes = 128 << 10;  // 64 to 256 KiB differ by 3 percent; two fit the cache
  static constexpr std::int64_t row_bytes = 4 << 10;      // of a block: scanned in cache, then streamed out
  static constexpr std::int64_t stream_bytes = 32 << 20;  // larger results are streamed: 54 GB/s, cached 44
};

template <class T>
struct carry {
  T value;  // fold of all blocks before
  std::int32_t ready;
};

// The parts of a scan compiled per kind and operation; the rest is compiled once per type.
template <class T>
struct block_functions {
  T identity;
  T (*apply)(T a, T b);
  T (*fold)(const T* in, std::int64_t n);
  T (*scan)(const T* in, T* out, std::int64_t n, T before, const T* upcoming);  // scan_vectors
  T (*scan_sequentially)(const T* in, T* out, std::int64_t n, T before);
};

template <class T>
void scan_streaming(const block_functions<T>& by, const T* in, T* out, std::int64_t n, T before, const T* upcoming) {
  constexpr std::int64_t row = tuning::row_bytes / static_cast<std::int64_t>(sizeof(T));
  alignas(64) T result[row];
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    before = by.scan(in + i, result, row, before, upcoming == nullptr ? nullptr : upcoming + i);
    stream_bytes(out + i, result, sizeof result);
  }
  by.scan(in + i, out + i, n - i, before, nullptr);
}

// Waits for the value of the previous block, which sets `ready` after it.
template <class T>
T await(carry<T>& from) {
  await_change(std::atomic_ref(from.ready), 0);
  return from.value;
}

template <class T>
void scan_chained(const context<host>& ctx, span<const T, host> in, span<T, host> out, const block_functions<T>& by) {
  constexpr std::int64_t block = tuning::block_bytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t n = in.size();
  const std::int64_t blocks = div_up(n, block);
  if (blocks == 1) {
    by.scan(in.data(), out.data(), n, by.identity, nullptr);
    return;
  }
  const bool streams = in.data() != out.data() && n * static_cast<std::int64_t>(sizeof(T)) >= tuning::stream_bytes &&
                       reinterpret_cast<std::uintptr_t>(out.data()) % 16 == 0;
  array<carry<T>, host> carries(ctx, blocks + 1);
  for (auto& c : carries) c = {by.identity, 0};
  carries[0].ready = 1;
  std::atomic<std::int64_t> next{0};
  const int threads = static_cast<int>(std::min<std::int64_t>(ctx.threads(), blocks));
  parallel_parts(threads, threads, [&](std::int64_t) {
    std::int64_t b = next.fetch_add(1, std::memory_order_relaxed);
    while (b < blocks) {
      const std::int64_t first = b * block;
      const std::int64_t size = std::min(block, n - first);
      const T* from = in.data() + first;
      const T own = by.fold(from, size);
      const std::int64_t following = next.fetch_add(1, std::memory_order_relaxed);
      const T before = await(carries[b]);
      carries[b + 1].value = by.apply(before, own);
      std::atomic_ref(carries[b + 1].ready).store(1, std::memory_order_release);
      std::atomic_ref(carries[b + 1].ready).notify_one();
      const T* upcoming = following < blocks - 1 ? in.data() + following * block : nullptr;
      if (streams) {
        scan_streaming(by, from, out.data() + first, size, before, upcoming);
      } else {
        by.scan(from, out.data() + first, size, before, upcoming);
      }
      b = following;
    }
    if (streams) finish_streaming();
  });
}

template <scan_kind Kind, class Op, class T>
constexpr block_functions<T> functions_of{Op::identity, Op::apply, fold_block<Op, T>, scan_vectors<Kind, Op, T>,
                                          scan_loop<Kind, Op, T>};

}  // namespace

template <class T>
void run(const context<host>& ctx, span<const T, host> in, span<T, host> out, scan_kind kind, operation op,
         scan_algorithm algorithm) {
  const block_functions<T> by = with_operation<T>("scan", op, [&](auto function) {
    using Op = decltype(function);
    return kind == scan_kind::exclusive ? functions_of<scan_kind::exclusive, Op, T>
                                        : functions_of<scan_kind::inclusive, Op, T>;
  });
  if (algorithm == scan_algorithm::sequential) {
    by.scan_sequentially(in.data(), out.data(), in.size(), by.identity);
  } else {
    scan_chained(ctx, in, out, by);
  }
}

#define INSTANTIATE(T) \
  template void run(const context<host>&, span<const T, host>, span<T, host>, scan_kind, operation, scan_algorithm);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::scan
