// Rows by loads: elements of x are loaded one at a time and combined in registers.
//
// A row is processed eight entries at a time (or as many as a register has lanes), with a masked last step: one loop,
// whose end is mispredicted at most once per row, and never if rows have up to eight entries. Values and indices are
// prefetched far ahead, so that only loads of x can stall. Cost: three or four instructions per entry.
//
// The order of a sum depends on the row's length only, and products are not fused with it (-ffp-contract=off). The last
// step reads up to eight entries past the row's end; if the arrays end before that, the remaining entries are copied
// first. Nothing read past the end reaches a sum.
#pragma once

#include "sparse/simd/fetch.hpp"

#include <spargo/core/types.hpp>

#include <type_traits>

namespace spargo::detail::spmv {

struct picked_tuning {
  // Entries per step. Two threads of Zen 5, fp32, ms, 8, 4, 16: R-MAT 20 symmetric 10.3, 10.6, 10.8; uniform 1M x 20
  // 6.1, 6.0, 7.3.
  static constexpr std::int64_t most_lanes = 8;
  // Prefetch distance of values and indices in entries. Same matrices with 8 entries, fp32 and fp64: R-MAT 20 18.2 and
  // 19.9 without, 10.4 and 12.0 with 512; uniform 11.1 and 11.9, 6.2 and 6.9. 256 to 1024 differ by 5 percent.
  static constexpr std::int64_t ahead = 512;
};

template <class V, std::int64_t Lanes>
struct picked_vector {
  using type [[gnu::vector_size(Lanes * static_cast<std::int64_t>(sizeof(V)))]] = V;
};

template <class Simd>
struct picked_rows {
  using V = typename Simd::value;
  using I = typename Simd::index;
  static constexpr std::int64_t lanes =
      Simd::lanes < picked_tuning::most_lanes ? Simd::lanes : picked_tuning::most_lanes;
  static_assert(lanes == 4 || lanes == 8);
  using vector = typename picked_vector<V, lanes>::type;
  using half = typename picked_vector<V, 4>::type;
  using number = std::conditional_t<sizeof(V) == 4, std::int32_t, std::int64_t>;
  using numbers = typename picked_vector<number, lanes>::type;

  static constexpr const char* name = Simd::name;
  static constexpr std::int64_t collected = 32;  // rows summed before they are written

  // sums[l] = row first + l times x; entries from `limit` on must not be read.
  template <class O>
  [[gnu::always_inline]] static void row_sums(const O* offsets, const I* indices, const V* values, const V* x,
                                              std::int64_t first, std::int64_t count, std::int64_t limit, V* sums) {
    for (std::int64_t l = 0; l < count; ++l) {
      const std::int64_t begin = offsets[first + l];
      const std::int64_t end = offsets[first + l + 1];
      sums[l] = end + lanes <= limit ? open_sum(values + begin, indices + begin, end - begin, x)
                                     : dot(values + begin, indices + begin, end - begin, x);
    }
  }

  // Sum of values[k] * x[indices[k]], 0 <= k < count; as many entries as there are lanes may be read past the end.
  [[gnu::always_inline]] static V open_sum(const V* values, const I* indices, std::int64_t count, const V* x) {
    if (count <= lanes) {  // separately: the loop's bookkeeping is a tenth of a short row's time
      fetch_ahead(values, indices);
      return total(add_first(count, values, indices, x, vector{}));
    }
    vector sum{};
    for (; count > lanes; count -= lanes, values += lanes, indices += lanes) {
      fetch_ahead(values, indices);
      sum += product(values, indices, x);
    }
    fetch_ahead(values, indices);
    return total(add_first(count, values, indices, x, sum));
  }

  // The same bits, without reading past the end.
  static V dot(const V* values, const I* indices, std::int64_t count, const V* x) {
    if (count == 0) return V{};
    vector sum{};
    for (; count > lanes; count -= lanes, values += lanes, indices += lanes) sum += product(values, indices, x);
    V last_values[lanes] = {};
    I last_indices[lanes];
    for (std::int64_t l = 0; l < lanes; ++l) {
      last_values[l] = values[l < count ? l : 0];
      last_indices[l] = indices[l < count ? l : 0];
    }
    return total(add_first(count, last_values, last_indices, x, sum));
  }

 private:
  [[gnu::always_inline]] static void fetch_ahead(const V* values, const I* indices) {
    fetch(values, picked_tuning::ahead);
    fetch(indices, picked_tuning::ahead);
  }

  [[gnu::always_inline]] static vector product(const V* values, const I* i, const V* x) {
    vector value;
    __builtin_memcpy(&value, values, sizeof(value));
    if constexpr (lanes == 8) {
      return value * vector{x[i[0]], x[i[1]], x[i[2]], x[i[3]], x[i[4]], x[i[5]], x[i[6]], x[i[7]]};
    } else {
      return value * vector{x[i[0]], x[i[1]], x[i[2]], x[i[3]]};
    }
  }

  // For the first `count` lanes.
  [[gnu::always_inline]] static vector add_first(std::int64_t count, const V* values, const I* indices, const V* x,
                                                 vector sum) {
    numbers lane;
    for (int l = 0; l < lanes; ++l) lane[l] = l;
    return lane < static_cast<number>(count) ? sum + product(values, indices, x) : sum;
  }

  [[gnu::always_inline]] static V total(vector a) {
    half four;
    if constexpr (lanes == 8) {
      four = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
    } else {
      four = a;
    }
    return (four[0] + four[2]) + (four[1] + four[3]);
  }
};

}  // namespace spargo::detail::spmv
