// Host prefetches for a frontier, whose vertices come in any order, so that hardware prefetchers cannot help.
#pragma once

#include <spargo/formats/csr.hpp>

#include <cstdint>

#include <spargo/core/macros_push.hpp>

namespace spargo::detail {

struct prefetch_tuning {
  // Prefetch distance in vertices for offsets; half of it for rows. A search, two threads of a Xeon, none ahead / 16 /
  // 32 / 64: uniform 2^20 13.6 / 12.0 / 13.2 / 12.4 ms, R-MAT 20 6.8 / 6.1 / 6.0 / 6.0 ms.
  static constexpr std::int64_t ahead = 16;
};

// Prefetches for the vertices after frontier[k]. Always inlined: gcc 12 considers a function that only prefetches to
// have no effect and may drop calls to it.
template <class I, class O>
[[gnu::always_inline]] inline void prefetch_rows(const csr_pattern_view<I, O, host>& out, const I* frontier,
                                                 std::int64_t k, std::int64_t end) {
  constexpr std::int64_t far = prefetch_tuning::ahead;
  if (k + far < end) __builtin_prefetch(out.offsets.data() + frontier[k + far]);
  if (k + far / 2 < end) __builtin_prefetch(out.indices.data() + out.offsets[frontier[k + far / 2]]);
}

}  // namespace spargo::detail

#include <spargo/core/macros_pop.hpp>
