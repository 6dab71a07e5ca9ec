// Scans on the host.
//
// chained_blocks: threads take blocks of 128 KiB in order. A block is folded, which brings it into the thread's cache;
// then the fold of everything before it is taken from the block before, passed on with this block's own, and the block
// scanned out of the cache, while the thread's next block is fetched behind it. Blocks are taken by a counter, so that
// whoever holds the first unfinished block is running and the others' waits end. Blocks and the order within them
// depend on the number of elements only, hence the bits of the result too. n reads and n writes of memory, the writes
// past the cache when the result is large.
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
  static constexpr std::int64_t block_bytes = 128 << 10;  // 64 to 256 KiB are within 3 percent; two fit the cache
  static constexpr std::int64_t row_bytes = 4 << 10;      // of a block, scanned beside and then streamed
  static constexpr std::int64_t stream_bytes = 32 << 20;  // results from this size on: 54 GB/s, 44 by way of the cache
};

template <class T>
struct carry {
  T value;  // the fold of all blocks before
  std::int32_t ready;
};

template <scan_kind Kind, class Op, class T>
void scan_streaming(const T* in, T* out, std::int64_t n, T before, const T* upcoming) {
  constexpr std::int64_t row = tuning::row_bytes / static_cast<std::int64_t>(sizeof(T));
  alignas(64) T result[row];
  std::int64_t i = 0;
  for (; i + row <= n; i += row) {
    before = scan_vectors<Kind, Op>(in + i, result, row, before, upcoming == nullptr ? nullptr : upcoming + i);
    stream_bytes(out + i, result, sizeof result);
  }
  scan_vectors<Kind, Op>(in + i, out + i, n - i, before, static_cast<const T*>(nullptr));
}

// The value that the block before leaves; `ready` is set after it.
template <class T>
T await(carry<T>& from) {
  await_change(std::atomic_ref(from.ready), 0);
  return from.value;
}

template <scan_kind Kind, class Op, class T>
void scan_chained(const context<host>& ctx, span<const T, host> in, span<T, host> out) {
  constexpr std::int64_t block = tuning::block_bytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t n = in.size();
  const std::int64_t blocks = div_up(n, block);
  if (blocks == 1) {
    scan_vectors<Kind, Op>(in.data(), out.data(), n, Op::identity, static_cast<const T*>(nullptr));
    return;
  }
  const bool streams = in.data() != out.data() && n * static_cast<std::int64_t>(sizeof(T)) >= tuning::stream_bytes &&
                       reinterpret_cast<std::uintptr_t>(out.data()) % 16 == 0;
  array<carry<T>, host> carries(ctx, blocks + 1);
  for (auto& c : carries) c = {Op::identity, 0};
  carries[0].ready = 1;
  std::atomic<std::int64_t> next{0};
  const int threads = static_cast<int>(std::min<std::int64_t>(ctx.threads(), blocks));
  parallel_parts(threads, threads, [&](std::int64_t) {
    std::int64_t b = next.fetch_add(1, std::memory_order_relaxed);
    while (b < blocks) {
      const std::int64_t first = b * block;
      const std::int64_t size = std::min(block, n - first);
      const T* from = in.data() + first;
      const T own = fold_block<Op>(from, size);
      const std::int64_t following = next.fetch_add(1, std::memory_order_relaxed);
      const T before = await(carries[b]);
      carries[b + 1].value = Op::apply(before, own);
      std::atomic_ref(carries[b + 1].ready).store(1, std::memory_order_release);
      std::atomic_ref(carries[b + 1].ready).notify_one();
      const T* upcoming = following < blocks - 1 ? in.data() + following * block : nullptr;
      if (streams) {
        scan_streaming<Kind, Op>(from, out.data() + first, size, before, upcoming);
      } else {
        scan_vectors<Kind, Op>(from, out.data() + first, size, before, upcoming);
      }
      b = following;
    }
    if (streams) finish_streaming();
  });
}

template <scan_kind Kind, class Op, class T>
void scan_as(const context<host>& ctx, span<const T, host> in, span<T, host> out, scan_algorithm algorithm) {
  if (algorithm == scan_algorithm::sequential) {
    scan_loop<Kind, Op>(in.data(), out.data(), in.size(), Op::identity);
  } else {
    scan_chained<Kind, Op>(ctx, in, out);
  }
}

}  // namespace

template <class T>
void run(const context<host>& ctx, span<const T, host> in, span<T, host> out, scan_kind kind, operation op,
         scan_algorithm algorithm) {
  with_operation<T>("scan", op, [&](auto function) {
    using Op = decltype(function);
    if (kind == scan_kind::exclusive) {
      scan_as<scan_kind::exclusive, Op>(ctx, in, out, algorithm);
    } else {
      scan_as<scan_kind::inclusive, Op>(ctx, in, out, algorithm);
    }
  });
}

#define INSTANTIATE(T) \
  template void run(const context<host>&, span<const T, host>, span<T, host>, scan_kind, operation, scan_algorithm);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::scan
