// Sets of columns as words of 32 columns: in a hash table, sorted, and written as columns. By a team: a warp, or a
// block.
#pragma once

#include "core/device/block.cuh"
#include "sparse/spgemm/device/tables.cuh"

namespace spargo::detail::spgemm {

// A warp, or a block, with a table of its own.
template <bool Block>
__device__ __forceinline__ void synchronize() {
  if constexpr (Block) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}
template <bool Block>
__device__ __forceinline__ int team_size() {
  return Block ? static_cast<int>(blockDim.x) : warp_size;
}
template <bool Block>
__device__ __forceinline__ int team_rank() {
  return Block ? static_cast<int>(threadIdx.x) : lane_id();
}

// f(lane_product) for the row's products, in any order, by a team.
template <bool Block, bool Ranged, product_walk Walk, class I, class O, class Values, class F>
__device__ __forceinline__ void for_each_of_row(const device_factors<I, O>& f, const Values& values, I row,
                                                const column_range<I>& range, F use) {
  const O last = f.a_offsets[row + 1];
  if constexpr (Block) {
    for (std::int64_t q = std::int64_t{f.a_offsets[row]} + threadIdx.x / warp_size * warp_size; q < last;
         q += blockDim.x) {
      for_each_product<Ranged, Walk>(f, values, q, last - q < warp_size ? last : q + warp_size, range, use);
    }
  } else {
    for_each_product<Ranged, Walk>(f, values, f.a_offsets[row], last, range, use);
  }
}

// The place of the bit that `below` set bits precede.
__device__ __forceinline__ int place_of_bit(unsigned word, int below) {
  int place = 0;
#pragma unroll
  for (int width = 16; width > 0; width /= 2) {
    const int lower = __popc((word >> place) & ((1U << width) - 1));
    if (below < lower) continue;
    below -= lower;
    place += width;
  }
  return place;
}

// Writes the columns of each lane's word, `base` its first, in order. Lanes write a column of their word each, or,
// where words have many columns, neighbouring ones. `upto`: inclusive sums of the words' sizes.
template <class I>
__device__ __forceinline__ void write_lane_words(unsigned word, unsigned upto, I base, I* columns) {
  constexpr unsigned many = 4;
  const auto size = static_cast<unsigned>(__popc(word));
  if (!__any_sync(full_mask, size > many)) {
    for (I* to = columns + (upto - size); word != 0; word &= word - 1) {
      *to++ = base + static_cast<I>(__ffs(static_cast<int>(word)) - 1);
    }
    return;
  }
  const unsigned total = shuffle(upto, warp_size - 1);
  for (unsigned first = 0; first < total; first += warp_size) {
    const unsigned q = first + static_cast<unsigned>(lane_id());
    int owner = 0;
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2) {
      if (shuffle(upto, owner + step - 1) <= q) owner += step;
    }
    const int below = static_cast<int>(q - shuffle(upto - size, owner));
    const I column = shuffle(base, owner) + static_cast<I>(place_of_bit(shuffle(word, owner), below));
    if (q < total) columns[q] = column;
  }
}

// Writes the columns of `count` words in ascending order; word w has the columns from 32 * number(w) on.
template <bool Block, class I, class Number>
__device__ __forceinline__ void write_words(const unsigned* words, int count, Number number, I* columns) {
  __shared__ unsigned of_warps[32];
  const int rank = team_rank<Block>();
  for (int w = 0; w < count; w += team_size<Block>()) {
    const bool valid = w + rank < count;
    const unsigned word = valid ? words[w + rank] : 0;
    const unsigned upto = warp_inclusive_sum(static_cast<unsigned>(__popc(word)));
    prefix_sum<unsigned> sum{0, shuffle(upto, warp_size - 1)};
    if constexpr (Block) sum = scan_warps(upto, of_warps, warp_size - 1, static_cast<int>(blockDim.x) / warp_size);
    write_lane_words(word, upto, valid ? static_cast<I>(number(w + rank)) * 32 : I{0}, columns + sum.before);
    columns += sum.total;
    synchronize<Block>();
  }
}

// 32 columns from 32 * number on.
template <class I>
struct column_word {
  I number;
  unsigned bits;
};

// Of a product of entries, or of words.
template <class I, class D>
__device__ __forceinline__ column_word<I> word_of(const lane_product<I, D>& p) {
  if constexpr (std::is_same_v<D, unsigned>) {
    return {p.column, p.value};
  } else {
    return {static_cast<I>(p.column >> 5), 1U << (static_cast<unsigned>(p.column) & 31)};
  }
}

__device__ __forceinline__ void set_bits(unsigned* word, unsigned bits) {
  if ((*const_cast<const volatile unsigned*>(word) & bits) != bits) atomicOr(word, bits);
}

// Words of a row in a hash table: 2^log_size keys, bits, and with a mask the bits that it allows.
template <class I>
struct word_table {
  using key = key_of<I>;
  static constexpr key empty = ~key{0};
  key* keys;
  unsigned* bits;
  unsigned* allowed;
  int log_size;

  [[nodiscard]] static std::int64_t bytes(int log_size, bool masked) {
    return (static_cast<std::int64_t>(sizeof(key)) + (masked ? 8 : 4)) << log_size;
  }
  [[nodiscard]] __device__ int size() const { return 1 << log_size; }

  __device__ void add(const column_word<I>& word) {
    set_bits(bits + insert_key(keys, static_cast<key>(word.number), empty, log_size), word.bits);
  }
  __device__ void allow(I column) {
    const unsigned place = insert_key(keys, static_cast<key>(column) >> 5, empty, log_size);
    atomicOr(allowed + place, 1U << (static_cast<unsigned>(column) & 31));
  }
  __device__ void add_if_allowed(const column_word<I>& word) {
    const unsigned place = find_key(keys, static_cast<key>(word.number), empty, log_size);
    if (keys[place] == static_cast<key>(word.number)) set_bits(bits + place, word.bits & allowed[place]);
  }
};

// Moves the words that have bits to the front. Returns their number.
template <bool Block, class I>
__device__ __forceinline__ int compact(const word_table<I>& table, unsigned* found) {
  int count = 0;
  for (int s = 0; s < table.size(); s += team_size<Block>()) {
    const int place = s + team_rank<Block>();
    const auto key = table.keys[place];
    const unsigned word = table.bits[place];
    const unsigned used = __ballot_sync(full_mask, word != 0);
    unsigned to = static_cast<unsigned>(count);
    if constexpr (Block) {
      if (lane_id() == 0) to = atomicAdd(found, static_cast<unsigned>(__popc(used)));
      to = shuffle(to, 0);
    }
    to += static_cast<unsigned>(__popc(used & lanes_below()));
    count += __popc(used);
    synchronize<Block>();
    if (word != 0) {
      table.keys[to] = key;
      table.bits[to] = word;
    }
    synchronize<Block>();
  }
  return Block ? static_cast<int>(*found) : count;
}

// Bitonic sort by key (Batcher, 1968), after filling up to a power of two.
template <bool Block, class I>
__device__ __forceinline__ void sort_words(const word_table<I>& table, int count) {
  int padded = 2;
  while (padded < count) padded *= 2;
  for (int s = count + team_rank<Block>(); s < padded; s += team_size<Block>()) table.keys[s] = table.empty;
  synchronize<Block>();
  for (int size = 2; size <= padded; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      for (int k = team_rank<Block>(); k < padded / 2; k += team_size<Block>()) {
        const int low = 2 * (k & ~(step - 1)) + (k & (step - 1));
        const int high = low + step;
        const auto x = table.keys[low];
        const auto y = table.keys[high];
        if (x == y || (x > y) != ((low & size) == 0)) continue;
        table.keys[low] = y;
        table.keys[high] = x;
        const unsigned word = table.bits[low];
        table.bits[low] = table.bits[high];
        table.bits[high] = word;
      }
      synchronize<Block>();
    }
  }
}

}  // namespace spargo::detail::spgemm
