// The loops for x86, compiled for three instruction sets and selected at run time: baseline, popcnt, and AVX-512, which
// looks up 16 32-bit ranks per gather and counts 512 bits at a time.
#include "core/instantiate.hpp"
#include "graph/triangles/simd/count_ranks.hpp"

#pragma GCC diagnostic push  // false positives in GCC 12's own immintrin.h (PR105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

namespace spargo::detail::triangles {

namespace {

template <class I>
std::int64_t plain_total(const count_job<I>& job, std::int64_t first, std::int64_t last) {
  return total_of_ranks<plain_lookups<I>>(job, first, last);
}
template <class I>
std::int64_t plain_per_vertex(const count_job<I>& job, std::int64_t first, std::int64_t last) {
  return counts_of_ranks<plain_lookups<I>>(job, first, last);
}
template <class I>
std::int64_t plain_links(const count_job<I>& job, std::int64_t first, std::int64_t last) {
  return links_of_ranks<plain_lookups<I>>(job, first, last);
}

template <class I>
[[gnu::target("popcnt")]] std::int64_t popcnt_total(const count_job<I>& job, std::int64_t first, std::int64_t last) {
  return total_of_ranks<plain_lookups<I>>(job, first, last);
}
template <class I>
[[gnu::target("popcnt")]] std::int64_t popcnt_per_vertex(const count_job<I>& job, std::int64_t first,
                                                         std::int64_t last) {
  return counts_of_ranks<plain_lookups<I>>(job, first, last);
}
template <class I>
[[gnu::target("popcnt")]] std::int64_t popcnt_links(const count_job<I>& job, std::int64_t first, std::int64_t last) {
  return links_of_ranks<plain_lookups<I>>(job, first, last);
}

struct avx512_bits {
  [[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] static std::int64_t common(const std::uint64_t* row,
                                                                                            const std::uint64_t* marks,
                                                                                            std::uint64_t blocks) {
    __m512i sum = _mm512_setzero_si512();
    for (; blocks != 0; blocks &= blocks - 1) {
      const std::int64_t first = __builtin_ctzll(blocks) * hub_matrix::block_words;
      const __m512i both = _mm512_and_si512(_mm512_loadu_si512(row + first), _mm512_loadu_si512(marks + first));
      sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(both));
    }
    return _mm512_reduce_add_epi64(sum);
  }
};

template <class I>
struct avx512_lookups : avx512_bits {
  using key = std::make_unsigned_t<I>;
  static kept_ends<I> keep(const I* row, std::int64_t degree, const I* rank, key r, key hubs, key* to) {
    return plain_lookups<I>::keep(row, degree, rank, r, hubs, to);
  }
  static std::int64_t marked(const std::uint64_t* marks, const key* ids, std::int64_t count) {
    return plain_lookups<I>::marked(marks, ids, count);
  }
  static std::int64_t pick(const std::uint64_t* marks, const key* ids, std::int64_t count, key* to) {
    return plain_lookups<I>::pick(marks, ids, count, to);
  }
};

template <>
struct avx512_lookups<std::int32_t> : avx512_bits {
  using key = std::uint32_t;

  // Mask of the ids (lanes in `live`) that are marked.
  [[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] static __mmask16 look_up(const std::uint64_t* marks,
                                                                                          __m512i ids, __mmask16 live) {
    const __m512i words =
        _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), live, _mm512_srli_epi32(ids, 5), marks, 4);
    const __m512i bits = _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(ids, _mm512_set1_epi32(31)));
    return _mm512_test_epi32_mask(words, bits);
  }
  [[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] static __mmask16 first_lanes(std::int64_t count) {
    return count >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1U << count) - 1);
  }

  [[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] static kept_ends<std::int32_t> keep(
      const std::int32_t* row, std::int64_t degree, const std::int32_t* rank, key r, key hubs, key* to) {
    const __m512i limit = _mm512_set1_epi32(static_cast<std::int32_t>(r));
    const __m512i first_other = _mm512_set1_epi32(static_cast<std::int32_t>(hubs));
    key* front = to;
    key* back = to + degree;
    for (std::int64_t k = 0; k < degree; k += 16) {
      const __mmask16 live = first_lanes(degree - k);
      const __m512i ends = _mm512_mask_i32gather_epi32(limit, live, _mm512_maskz_loadu_epi32(live, row + k), rank, 4);
      const __mmask16 kept = _mm512_cmplt_epu32_mask(ends, limit);
      const __mmask16 hub = _mm512_mask_cmplt_epu32_mask(kept, ends, first_other);
      const auto other = static_cast<__mmask16>(kept & ~hub);
      _mm512_mask_storeu_epi32(front, first_lanes(__builtin_popcount(hub)), _mm512_maskz_compress_epi32(hub, ends));
      front += __builtin_popcount(hub);
      back -= __builtin_popcount(other);
      _mm512_mask_storeu_epi32(back, first_lanes(__builtin_popcount(other)), _mm512_maskz_compress_epi32(other, ends));
    }
    return join_ends<std::int32_t>(to, front, back, to + degree);
  }

  [[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] static std::int64_t marked(const std::uint64_t* marks,
                                                                                            const key* ids,
                                                                                            std::int64_t count) {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < count; k += 16) {
      const __mmask16 live = first_lanes(count - k);
      sum += __builtin_popcount(look_up(marks, _mm512_maskz_loadu_epi32(live, ids + k), live));
    }
    return sum;
  }
  [[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] static std::int64_t pick(const std::uint64_t* marks,
                                                                                          const key* ids,
                                                                                          std::int64_t count, key* to) {
    std::int64_t found = 0;
    for (std::int64_t k = 0; k < count; k += 16) {
      const __mmask16 live = first_lanes(count - k);
      const __m512i some = _mm512_maskz_loadu_epi32(live, ids + k);
      const __mmask16 hits = look_up(marks, some, live);
      _mm512_storeu_si512(to + found, _mm512_maskz_compress_epi32(hits, some));
      found += __builtin_popcount(hits);
    }
    return found;
  }
};

template <class I>
[[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] std::int64_t avx512_total(const count_job<I>& job,
                                                                                         std::int64_t first,
                                                                                         std::int64_t last) {
  return total_of_ranks<avx512_lookups<I>>(job, first, last);
}
template <class I>
[[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] std::int64_t avx512_per_vertex(const count_job<I>& job,
                                                                                              std::int64_t first,
                                                                                              std::int64_t last) {
  return counts_of_ranks<avx512_lookups<I>>(job, first, last);
}
template <class I>
[[gnu::target("avx512f,avx512vl,avx512vpopcntdq,popcnt,bmi")]] std::int64_t avx512_links(const count_job<I>& job,
                                                                                         std::int64_t first,
                                                                                         std::int64_t last) {
  return links_of_ranks<avx512_lookups<I>>(job, first, last);
}

}  // namespace

template <class I>
std::vector<count_loops<I>> usable_count_loops() {
  __builtin_cpu_init();
  std::vector<count_loops<I>> all{{plain_lookups<I>::keep, plain_lookups<I>::marked, plain_total<I>,
                                   plain_per_vertex<I>, plain_links<I>, "portable"}};
  if (__builtin_cpu_supports("popcnt") != 0) {
    all.push_back({plain_lookups<I>::keep, plain_lookups<I>::marked, popcnt_total<I>, popcnt_per_vertex<I>,
                   popcnt_links<I>, "popcnt"});
  }
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512vpopcntdq") != 0) {
    all.push_back({avx512_lookups<I>::keep, avx512_lookups<I>::marked, avx512_total<I>, avx512_per_vertex<I>,
                   avx512_links<I>, "AVX-512"});
  }
  return all;
}

#define INSTANTIATE(I) template std::vector<count_loops<I>> usable_count_loops<I>();
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::triangles

#pragma GCC diagnostic pop
